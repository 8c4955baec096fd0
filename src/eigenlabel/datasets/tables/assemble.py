"""From a table and the roles of its columns to a Dataset."""

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files import DataError, name_array
from eigenlabel.datasets.like import LIKE, about_labels, no_labels, skips_labels
from eigenlabel.datasets.tables.columns import Dates, Lists, Table, Words, read_filled, without
from eigenlabel.datasets.tables.features import column_block, odd_cell
from eigenlabel.datasets.tables.roles import (
    SAMPLE_NAME,
    Options,
    Roles,
    as_names,
    check_names,
    find_roles,
    shorten,
    show,
    unknown,
)
from eigenlabel.inputs.messages import Message, Parameter, join
from eigenlabel.inputs.validation import check_choice

SEPARATORS = ("|", ";", ",")
WORD = r"(?u)\b\w\w+\b"
SUFFIX = " (word)"  # of a word that is also the name of a column; no word has a space
OF_TEXT = "="  # between the name of a text, if there are several, and a word of it
LIST = re.compile(r"\[.*\]", re.DOTALL)
MEMBER = re.compile(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,'"]+)""", re.DOTALL)


def to_dataset(table: Table, options: Options, like: Any = None, source: str = "") -> Dataset:
    """Make a Dataset of a table; with ``like``, one of the same features and labels."""
    if not table.height:
        raise DataError(table.path, "no rows")
    roles = find_roles(table, options, like)
    given, notes = options.separator, []
    options = _fixed_separator(table, roles, options)
    if like is None and given is None and options.separator:
        notes += _about_others(table.words(roles.cells), roles.cells, options.separator)
    if like is None and table.index is not None:
        notes.append("the first column has no name and counts the rows: left out")
    if like is None and roles.samples not in (None, options.samples, SAMPLE_NAME):
        notes.append(f"column {roles.samples!r} names the samples; rename it if it is a feature")
    Y, label_names = _labels(table, roles, options, like, notes)
    blocks, categories, types = _blocks(table, roles, options, like, notes)
    X, names, views, words = _join(blocks, table.height, roles.text, like)
    if X.shape[1] == 0:
        raise DataError(table.path, join("; ", ["no column is left for the features", *notes]))
    return Dataset(
        X=X,
        Y=Y,
        feature_names=name_array(table.path, names),
        label_names=name_array(table.path, label_names),
        sample_names=_sample_names(table, roles.samples),
        views=views,
        categories=categories,
        column_types=types,
        words=words,
        options={} if options.separator is None else {"separator": options.separator},
        source=source,
        notes=tuple(notes),
    )


def _sample_names(table: Table, name: str | None) -> np.ndarray | None:
    if name is None:
        return None
    words = table.words(name)
    values = [*words.values, ""]
    return name_array(table.path, [values[code] for code in words.codes])


def _labels(
    table: Table, roles: Roles, options: Options, like: Any, notes: list[str]
) -> tuple[sp.csr_array, list[str]]:
    known = None if like is None else list(map(str, like.label_names))
    there = roles.cells is not None or bool(roles.columns)
    if skips_labels(table.path, like, options.labelled, there):
        notes += about_labels(options.labelled)
        return no_labels(table.height, like), known
    if roles.cells is not None:
        column = table.column(roles.cells)
        if isinstance(column, Lists):
            return _match_labels(table, column, known)
        if known is None and options.separator:
            notes += _about_separator(table.words(roles.cells), roles.cells, options.separator)
        lists = _label_lists(table, roles.cells, options.separator, notes)
        return _match_labels(
            table,
            lists,
            known,
            Message("; pass ", Parameter("separator", ...), " if it was cut wrongly"),
        )
    names = list(roles.columns) if known is None else known
    for name in names:
        if name not in roles.columns:
            raise DataError(table.path, f"no column for the label {name!r}")
    wanted = set(names)
    extra = next((name for name in roles.columns if name not in wanted), None)
    if extra is not None:
        raise DataError(table.path, unknown("label", extra, names))
    check_choice("missing_labels", options.missing_labels, ("error", "nan"))
    allowed = options.missing_labels == "nan"
    rows, values = [], []
    for name in names:
        column = _label_column(table, roles.columns[name], allowed)
        rows.append(np.flatnonzero(column))  # NaN among them
        values.append(column[rows[-1]])
    ends = np.concatenate([[0], np.cumsum([len(r) for r in rows])])
    parts = np.concatenate(values), np.concatenate(rows), ends
    return sp.csc_array(parts, shape=(table.height, len(names))).tocsr(), names


def _label_column(table: Table, name: str, allowed: bool) -> np.ndarray:
    """Read a column of 0 and 1, and of nothing (NaN) where that is allowed."""
    column = table.column(name)
    if isinstance(column, Lists):
        reason = f"label {name!r} holds lists, not 0 and 1; pass "
        raise table.fault(Message(reason, Parameter("labels", name)))
    if isinstance(column, Words) and (numbers := read_filled(column)) is not None:
        column = numbers
    if isinstance(column, Words):
        row, value = odd_cell(column)
        reason = Message(
            f"label {name!r} must be 0 or 1, found {shorten(value)}; pass ",
            Parameter("labels", name),
            " if its cells name the labels",
        )
        raise table.fault(reason, row)
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
    return column


def _are_lists(words: Words) -> bool:
    """Tell whether cells are lists as Python and JSON write them."""
    return bool(words.values) and all(LIST.fullmatch(value.strip()) for value in words.values)


def _cut_list(cell: str) -> list[str]:
    """Give the members of a written list; quotes around them are no part of them."""
    inside = cell.strip()[1:-1]
    return [re.sub(r"\\(.)", r"\1", "".join(parts)) for parts in MEMBER.findall(inside)]


def _find_separator(words: Words) -> str:
    """Give the first separator that occurs among cells, "" if none does."""
    return next((s for s in SEPARATORS if any(s in value for value in words.values)), "")


def fix_separator(table: Table, options: Options, like: Any) -> Options:
    """Decide by the first piece of a table in which labels are separated how all others are."""
    return _fixed_separator(table, find_roles(table, options, like), options)


def _fixed_separator(table: Table, roles: Roles, options: Options) -> Options:
    """Return the options with the separator that occurs among the labels, if none is given."""
    name = roles.cells
    if options.separator is not None or not options.labelled or name is None:
        return options
    if isinstance(table.column(name), Lists) or _are_lists(words := table.words(name)):
        return options
    return replace(options, separator=_find_separator(words) or None)


def _about_separator(words: Words, name: str, separator: str) -> tuple[str, ...]:
    """Return a note if a separator occurs in no cell, but another one in many."""
    if not separator or any(separator in value for value in words.values):
        return ()
    counts, total = _count_separators(words)
    other = max(SEPARATORS, key=counts.__getitem__)
    if counts[other] <= total / 10:
        return ()
    return (
        Message(
            f"no cell of {name!r} holds the separator {separator!r}, but {counts[other]:,} of "
            f"{total:,} hold {other!r}; pass ",
            Parameter("separator", other),
            " if it stands between labels",
        ),
    )


def _about_others(words: Words, name: str, chosen: str) -> tuple[str, ...]:
    """Return notes on the other separators that occur beside the one that was chosen."""
    counts, total = _count_separators(without(words, lambda v: bool(LIST.fullmatch(v.strip()))))
    return tuple(
        Message(
            f"labels in {name!r} are cut at {chosen!r}, but {count:,} of {total:,} cells hold "
            f"{other!r}; pass ",
            Parameter("separator", other),
            " if that stands between labels, else ",
            Parameter("separator", chosen),
        )
        for other, count in counts.items()
        if count and other != chosen
    )


def _count_separators(words: Words) -> tuple[dict[str, int], int]:
    """Return the number of cells that hold each separator, and that of all cells."""
    cells = np.bincount(words.codes[words.codes >= 0], minlength=len(words.values))
    counts = {s: int(sum(cells[[s in value for value in words.values]])) for s in SEPARATORS}
    return counts, int(cells.sum())


def _label_lists(table: Table, name: str, separator: str | None, notes: list[str]) -> Lists:
    words = table.words(name)
    if separator is None and _are_lists(words):
        parts = list(map(_cut_list, words.values))
    else:
        found = _find_separator(words) if separator is None else separator
        parts = [v.split(found) if found else [v] for v in words.values]
        if separator is None and not found and sum(" " in v.strip() for v in words.values) > 1:
            cut = Parameter("separator", " ")
            notes.append(
                Message(f"labels in {name!r} may hold blanks; pass ", cut, " to cut there")
            )
    parts = [[p.strip() for p in part if p.strip()] for part in parts]
    values = sorted({p for part in parts for p in part})
    position = {value: i for i, value in enumerate(values)}
    coded = [np.array([position[p] for p in part], dtype=np.int64) for part in parts]
    coded.append(np.zeros(0, dtype=np.int64))  # of -1, a cell without a value
    rows = [coded[code] for code in words.codes]
    ends = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    return Lists(Words(values, np.concatenate(rows)), ends)


def _match_labels(
    table: Table, lists: Lists, known: list[str] | None, hint: str = ""
) -> tuple[sp.csr_array, list[str]]:
    """Give the label matrix, in the order of the known labels."""
    names, members = lists.members.values, lists.members.codes
    if known is None:
        told = table.label_names or []
        known = told if set(names) <= set(told) else names
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
        unheard = f"{unknown('label', label, known)} (labels have to be those of "
        reason = Message(unheard, LIKE, hint, ")")
        raise table.fault(reason, int(rows[at]))
    ones = np.ones(len(rows), dtype=np.int8)
    Y = sp.coo_array((ones, (rows, columns)), shape=(table.height, len(known))).tocsr()
    Y.data[:] = 1  # a label that stands twice
    return Y, known


def _blocks(
    table: Table, roles: Roles, options: Options, like: Any, notes: list[str]
) -> tuple[dict[str, tuple[list[str], Any]], dict[str, tuple[str, ...]], dict[str, str]]:
    """Return the features by where they come from: columns, sparse features and text.

    The categories and the types of the columns follow.
    """
    columns, features, words = _wanted(table, roles, options, like)
    X, categories, types = column_block(table, columns, options, like, notes)
    columns = list(types)
    blocks = {"columns": (columns, X)} if columns else {}
    if table.sparse is not None and (features or table.sparse[0]):
        check_names(table.path, [*columns, *table.sparse[0]])
        blocks["features"] = _sparse_block(table.sparse, features)
    if roles.text:
        taken = {name for names, _ in blocks.values() for name in names}
        texts = [name for name in getattr(like, "words", {}) if name in roles.text] or roles.text
        blocks["text"] = _text_block(table, texts, words, taken, notes)
    if like is not None:
        taken = set(columns)
        left_out = [name for name in roles.features if name not in taken]
        if left_out:
            absent = f" does not have them: {show(left_out)}"
            notes.append(Message("columns left out, as ", LIKE, absent))
    return blocks, categories, types


def _wanted(
    table: Table, roles: Roles, options: Options, like: Any
) -> tuple[list[str], list[str] | None, list[str] | None]:
    """Give the names of columns, of sparse features and of words; None for all there are."""
    if like is None:
        return roles.features, None, None
    names, there = list(map(str, like.feature_names)), set(roles.features)
    sparse = set(() if table.sparse is None else table.sparse[0])
    views = getattr(like, "views", {})
    if views and set(views) <= {"columns", "features", "text"}:
        columns, features, words = (
            names[views[kind]] if kind in views else [] for kind in ("columns", "features", "text")
        )
    else:
        columns = [n for n in names if n in there]
        others = [n for n in names if n not in there]
        features = [n for n in others if n in sparse or not roles.text]
        words = [n for n in others if n not in sparse and roles.text]
    if words and not roles.text and (there | sparse).intersection(words):
        features, words = [*features, *words], []  # which somebody counted before
    if words:
        _check_texts(table, roles.text, options.text, like)
    if table.sparse is None:
        columns, features = [*columns, *features], []
    elsewhere = sparse - there
    features += [n for n in columns if n in elsewhere]
    columns = [n for n in columns if n not in elsewhere]
    missing = [n for n in columns if n not in there]
    if missing:
        raise DataError(table.path, f"no column for the features {show(missing)}")
    return columns, features, words


def _check_texts(table: Table, there: list[str], text: Any, like: Any) -> None:
    """Raise DataError if a column of text is missing whose words are features of like."""
    wanted = _split_texts(like)
    if not wanted:  # one text, or several whose words are counted together
        wanted = [name for name in as_names(text or ()) if "*" not in name]
    missing = [name for name in wanted if name not in there]
    if missing or not there:
        which = f" {show(missing or getattr(like, 'words', {}))}".rstrip()
        reason = Message(
            f"no column of text{which}, whose words are features; pass ",
            Parameter("text", ...),
            " if it is called otherwise",
        )
        raise DataError(table.path, reason)


def _split_texts(like: Any) -> list[str]:
    """Return the texts of like whose words are named after their column."""
    found = []
    for text, columns in getattr(like, "words", {}).items():
        first = list(map(str, like.feature_names[columns][:1]))
        found += [text for name in first if name.startswith(text + OF_TEXT)]
    return found


def _sparse_block(
    sparse: tuple[list[str], sp.csr_array], wanted: list[str] | None
) -> tuple[list[str], sp.csr_array]:
    """Give the sparse features that are wanted; what is not there is zero."""
    names, X = sparse
    if wanted is None:
        return names, X
    position = {name: i for i, name in enumerate(wanted)}
    new = np.array([position.get(name, -1) for name in names], dtype=np.int64)
    X = X[:, np.flatnonzero(new >= 0)].tocoo()
    columns = new[new >= 0][X.col]
    return wanted, sp.csr_array((X.data, (X.row, columns)), shape=(X.shape[0], len(wanted)))


def _text_block(
    table: Table, names: list[str], words: list[str] | None, taken: set[str], notes: list[str]
) -> tuple[list[str], sp.csr_array]:
    """Count the words of columns of text, of each column by itself.

    Known words without the name of a column are counted in all columns together.
    """
    if words is not None:
        return words, _count_known(table, names, words)
    blocks = {name: _count_words(table, [name], None) for name in names}
    without = [name for name, (found, _) in blocks.items() if not found]
    if len(without) == len(names):
        raise DataError(table.path, f"no word in {show(names)}")
    notes += [f"column {name!r} has no word to count" for name in without]
    several = len(names) > 1
    found = [
        name + OF_TEXT + word if several else word
        for name, (part, _) in blocks.items()
        for word in part
    ]
    X = sp.csr_array(sp.hstack([counts for _, counts in blocks.values()]))
    return [word + SUFFIX if word in taken else word for word in found], X


def _count_known(table: Table, names: list[str], words: list[str]) -> sp.csr_array:
    """Count known words, each in the column that its name begins with, or in all columns."""
    groups: dict[str | None, list[int]] = {}
    cut = [word.removesuffix(SUFFIX).rpartition(OF_TEXT) for word in words]
    for k, (column, sign, _) in enumerate(cut):
        groups.setdefault(column if sign and column in names else None, []).append(k)
    X = sp.csr_array((table.height, len(words)))
    for column, places in groups.items():
        known = ["".join(cut[k]) if column is None else cut[k][-1] for k in places]
        _, counts = _count_words(table, names if column is None else [column], known)
        counts = counts.tocoo()
        parts = counts.data, (counts.row, np.array(places)[counts.col])
        X = X + sp.csr_array(parts, shape=X.shape)
    return X


def _count_words(
    table: Table, names: list[str], known: list[str] | None
) -> tuple[list[str], sp.csr_array]:
    """Return the words of columns, or those that are known, and their counts in each row."""
    columns = [table.words(name) for name in names]
    texts = [value.lower() for column in columns for value in column.values]
    counter = CountVectorizer(
        lowercase=False, token_pattern=WORD, vocabulary=known, dtype=np.float64
    )
    try:
        counts = sp.csr_array(counter.fit_transform(texts))
    except ValueError:  # no word
        return [], sp.csr_array((table.height, 0))
    words = counter.get_feature_names_out().tolist()
    X, start = sp.csr_array((table.height, len(words))), 0
    for column in columns:
        stop = start + len(column.values)
        nothing = sp.csr_array((1, len(words)))  # of -1, a cell without a value
        X = X + sp.vstack([counts[start:stop], nothing], format="csr")[column.codes]
        start = stop
    return words, X


def _join(
    blocks: dict[str, tuple[list[str], Any]], n: int, text: list[str], like: Any
) -> tuple[Any, list[str], dict[str, slice], dict[str, slice]]:
    """Put the blocks side by side, or in the order of like; the views and the words follow."""
    names = [name for part, _ in blocks.values() for name in part]
    if set(blocks) <= {"columns"}:
        X, views = (blocks["columns"][1] if blocks else np.zeros((n, 0))), {}
    else:
        X = sp.csr_array(sp.hstack([sp.csr_array(block) for _, block in blocks.values()]))
        ends = np.cumsum([0, *(len(part) for part, _ in blocks.values())]).tolist()
        views = {kind: slice(*ends[k : k + 2]) for k, kind in enumerate(blocks)}
    if like is None:
        return X, names, views, _word_ranges(names, text, views["text"]) if text else {}
    wanted = list(map(str, like.feature_names))
    if wanted != names:
        position = {name: i for i, name in enumerate(names)}
        X = X[:, [position[name] for name in wanted]]
    return X, wanted, dict(getattr(like, "views", {})), dict(getattr(like, "words", {}))


def _word_ranges(names: list[str], text: list[str], columns: slice) -> dict[str, slice]:
    """Return the columns of X that count the words of each text."""
    if len(text) == 1:
        return {text[0]: columns}
    counts = Counter(name.rpartition(OF_TEXT)[0] for name in names[columns])
    ends = np.cumsum([columns.start, *counts.values()]).tolist()
    return {name: slice(*ends[k : k + 2]) for k, name in enumerate(counts)}
