"""The label matrix from the columns of a table."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets.files.errors import DataError, shorten, unknown
from eigenlabel.datasets.matching import LIKE, about_labels, no_labels, skips_labels
from eigenlabel.datasets.tables.columns import Dates, Lists, RawTable, Words, read_filled, without
from eigenlabel.datasets.tables.features import odd_cell
from eigenlabel.datasets.tables.roles import ColumnOptions, Roles, find_roles
from eigenlabel.inputs.messages import Message, Parameter
from eigenlabel.inputs.parameters import check_choice
from eigenlabel.linalg._types import Matrix
from eigenlabel.linalg.machine import memory_limit, readable

SEPARATORS = ("|", ";", ",")
LIST = re.compile(r"\[.*\]", re.DOTALL)
MEMBER = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,'"]+)""", re.DOTALL)


def read_labels(
    table: RawTable, roles: Roles, options: ColumnOptions, like: Any, notes: list[str]
) -> tuple[Matrix, list[str]]:
    """Return the label matrix and the names of the labels; add notes to ``notes``."""
    known = None if like is None else list(map(str, like.label_names))
    there = roles.cells is not None or bool(roles.columns)
    if skips_labels(table.path, like, options.labelled, there):
        notes += about_labels(options.labelled)
        return no_labels(table.height, like), list(map(str, like.label_names))
    check_choice("missing_labels", options.missing_labels, ("error", "nan"))
    allowed = options.missing_labels == "nan"
    if roles.cells is not None:
        column = table.column(roles.cells)
        if isinstance(column, Lists):
            return _match_labels(table, column, known, allowed)
        if known is None and options.separator:
            notes += _about_separator(table.words(roles.cells), roles.cells, options.separator)
        lists = _label_lists(table, roles.cells, options.separator, notes)
        hint = Message("; pass ", Parameter("separator", ...), " if it was split wrongly")
        return _match_labels(table, lists, known, allowed, hint)
    return _read_columns(table, roles.columns, known, allowed)


def _read_columns(
    table: RawTable, columns: dict[str, str], known: list[str] | None, allowed: bool
) -> tuple[Matrix, list[str]]:
    """Return the labels that have a column of 0 and 1 each, in the order of the known ones."""
    names = list(columns) if known is None else known
    for name in names:
        if name not in columns:
            raise DataError(table.path, f"no column for the label {name!r}")
    wanted = set(names)
    extra = next((name for name in columns if name not in wanted), None)
    if extra is not None:
        raise DataError(table.path, unknown("label", extra, names))
    rows, values = [], []
    for name in names:
        column = _label_column(table, columns[name], allowed)
        rows.append(np.flatnonzero(column))  # these include NaN
        values.append(column[rows[-1]])
    ends = np.concatenate([[0], np.cumsum([len(r) for r in rows])])
    parts = np.concatenate(values), np.concatenate(rows), ends
    return sp.csc_array(parts, shape=(table.height, len(names))).tocsr(), names


def _label_column(table: RawTable, name: str, allowed: bool) -> np.ndarray:
    """Read a column of 0 and 1; with ``allowed``, empty cells are NaN, otherwise an error."""
    column = table.column(name)
    if isinstance(column, Lists):
        reason = f"label {name!r} holds lists, not 0 and 1; pass "
        raise table.fault(Message(reason, Parameter("labels", name)))
    if isinstance(column, Words) and (numbers := read_filled(column)) is not None:
        column = numbers
    if isinstance(column, Words):
        row, value = odd_cell(column)
        message = Message(
            f"label {name!r} must be 0 or 1, found {shorten(value)}; pass ",
            Parameter("labels", name),
            " if its cells name the labels",
        )
        raise table.fault(message, row)
    if isinstance(column, Dates):
        raise table.fault(f"label {name!r} holds dates, not 0 and 1")
    odd = ~np.isin(column, (0, 1))
    if allowed:
        odd &= ~np.isnan(column)
    if odd.any():
        row = int(np.argmax(odd))
        value = Message(f"{column[row]:g}")
        if np.isnan(column[row]):
            observe = Parameter("missing_labels", "nan")
            value = Message("nothing; pass ", observe, " if that means not observed")
        raise table.fault(Message(f"label {name!r} must be 0 or 1, found ", value), row)
    return np.asarray(column)


def _are_lists(words: Words) -> bool:
    """Return True if all cells are lists in the notation of Python and JSON."""
    return bool(words.values) and all(LIST.fullmatch(value.strip()) for value in words.values)


def _cut_list(cell: str) -> list[str]:
    """Return the members of a written list, without quotes around them."""
    inside = cell.strip()[1:-1]
    return [re.sub(r"\\(.)", r"\1", "".join(parts)) for parts in MEMBER.findall(inside)]


def _find_separator(words: Words) -> str:
    """Return the separator that occurs in most cells, or "" if there is none.

    A comma counts only if no other one occurs, because names contain commas, such as "Smith, Ann".
    """
    counts, _ = _count_separators(words)
    likely = max(SEPARATORS[:2], key=counts.__getitem__)
    return next((s for s in (likely, ",") if counts[s]), "")


def fix_separator(table: RawTable, options: ColumnOptions, like: Any) -> ColumnOptions:
    """Return the options with the separator that this piece of a table shows, for later pieces."""
    return with_separator(table, find_roles(table, options, like), options)


def with_separator(table: RawTable, roles: Roles, options: ColumnOptions) -> ColumnOptions:
    """Return the options with the separator between labels, found in the cells if not given."""
    name = roles.cells
    if options.separator is not None or not options.labelled or name is None:
        return options
    if isinstance(table.column(name), Lists) or _are_lists(words := table.words(name)):
        return options
    return replace(options, separator=_find_separator(words) or None)


def _about_separator(words: Words, name: str, separator: str) -> tuple[str, ...]:
    """Return a note if a separator occurs in no cell, but another one occurs in many."""
    if not separator or any(separator in value for value in words.values):
        return ()
    counts, total = _count_separators(words)
    other = max(SEPARATORS, key=counts.__getitem__)
    if counts[other] <= total / 10:
        return ()
    return (
        Message(
            f"no cell of {name!r} contains the separator {separator!r}, but {counts[other]:,} of "
            f"{total:,} contain {other!r}; pass ",
            Parameter("separator", other),
            " if it separates labels",
        ),
    )


def about_others(words: Words, name: str, chosen: str) -> tuple[str, ...]:
    """Return notes on the other separators that occur beside the one that was chosen."""
    counts, total = _count_separators(without(words, lambda v: bool(LIST.fullmatch(v.strip()))))
    return tuple(
        Message(
            f"labels in {name!r} are split at {chosen!r}, but {count:,} of {total:,} cells contain "
            f"{other!r}; pass ",
            Parameter("separator", other),
            " if that separates labels, else ",
            Parameter("separator", chosen),
        )
        for other, count in counts.items()
        if count and other != chosen
    )


def _count_separators(words: Words) -> tuple[dict[str, int], int]:
    """Return the number of cells that contain each separator, and that of all cells."""
    cells = np.bincount(words.codes[words.codes >= 0], minlength=len(words.values))
    counts = {s: int(sum(cells[[s in value for value in words.values]])) for s in SEPARATORS}
    return counts, int(cells.sum())


def _label_lists(table: RawTable, name: str, separator: str | None, notes: list[str]) -> Lists:
    words = table.words(name)
    if separator is None and _are_lists(words):
        parts = list(map(_cut_list, words.values))
    else:
        found = _find_separator(words) if separator is None else separator
        parts = [v.split(found) if found else [v] for v in words.values]
        if separator is None and not found and sum(" " in v.strip() for v in words.values) > 1:
            blank = Parameter("separator", " ")
            notes.append(
                Message(f"labels in {name!r} contain blanks; pass ", blank, " to split there")
            )
    parts = [[p.strip() for p in part if p.strip()] for part in parts]
    values = sorted({p for part in parts for p in part})
    position = {value: i for i, value in enumerate(values)}
    coded = [np.array([position[p] for p in part], dtype=np.int64) for part in parts]
    coded.append(np.zeros(0, dtype=np.int64))  # for the code -1, a cell without a value
    rows = [coded[code] for code in words.codes]
    ends = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    absent = np.array([*(not value.strip() for value in words.values), True])
    return Lists(Words(values, np.concatenate(rows)), ends, absent[words.codes])


def _match_labels(
    table: RawTable, lists: Lists, known: list[str] | None, allowed: bool, hint: str = ""
) -> tuple[Matrix, list[str]]:
    """Return the label matrix from lists of labels, in the order of the known ones.

    With ``allowed``, the labels of a cell without a value are NaN; otherwise it has no label.
    """
    names, members = lists.members.values, lists.members.codes
    if known is None:
        listed = table.label_names or []
        known = listed if set(names) <= set(listed) else names
    if not known:
        raise DataError(table.path, "no sample has a label")
    position = {name: i for i, name in enumerate(known)}
    new = np.array([*(position.get(name, -1) for name in names), -1], dtype=np.int64)
    rows = np.repeat(np.arange(table.height), np.diff(lists.ends))[members >= 0]
    members = members[members >= 0]
    columns = new[members]
    if (columns < 0).any():
        at = int(np.argmax(columns < 0))
        label = names[members[at]]
        reason = f"{unknown('label', label, known)} (labels must be those of "
        raise table.fault(Message(reason, LIKE, hint, ")"), int(rows[at]))
    ones = np.ones(len(rows), dtype=np.int8)
    Y = sp.coo_array((ones, (rows, columns)), shape=(table.height, len(known))).tocsr()
    Y.data[:] = 1  # even if a cell names a label twice
    return _without_observation(table, Y, lists.absent) if allowed else Y, known


def _without_observation(table: RawTable, Y: Matrix, absent: np.ndarray) -> Matrix:
    """Return a label matrix whose rows without labels are NaN where no label was observed."""
    gone, m = np.flatnonzero(absent), Y.shape[1]
    if not gone.size:
        return Y
    needed = 16 * gone.size * m
    if needed > memory_limit() / 2:
        raise DataError(
            table.path,
            f"{gone.size:,} samples without observed labels and {m:,} labels need "
            f"{readable(needed)}; leave these samples out",
        )
    parts = np.full(gone.size * m, np.nan), (np.repeat(gone, m), np.tile(np.arange(m), gone.size))
    return sp.csr_array(Y + sp.coo_array(parts, shape=Y.shape))
