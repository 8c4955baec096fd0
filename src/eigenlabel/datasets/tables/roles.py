"""Find the role of each column of a table: labels, text, names of samples or features."""

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenlabel.datasets.files.errors import DataError, show, unknown
from eigenlabel.datasets.readers import as_names
from eigenlabel.datasets.tables.columns import (
    Column,
    Lists,
    RawTable,
    Words,
    holds_codes,
    read_filled,
)
from eigenlabel.datasets.tables.texts import holds_text
from eigenlabel.inputs.messages import Message, Parameter

LABEL_NAMES = ("labels", "label", "tags")
LABEL_PREFIX, SAMPLE_NAME = "label:", "sample:name"  # in our own files
ID_NAMES = ("id", "_id")
TEXT_NAME = "text"
FEW = 20  # different ways to write 0, 1 and a missing value


@dataclass(frozen=True)
class ColumnOptions:
    """The options of a reader that describe the columns of a table.

    Attributes
    ----------
    labels : str, list of str or None
        The column or columns of the labels.
    separator : str or None
        The text between labels in a cell.
    text : str, list of str or None
        The columns whose words are counted.
    samples : str or None
        The column with the names of the samples.
    drop : str or list of str
        The columns to leave out.
    labelled : bool
        Whether labels are read.
    missing_labels : {"error", "nan"}
        What a label cell without a value means.
    strict : bool
        Whether a value of a category that ``like`` does not have is an error.
    """

    labels: Any = None
    separator: str | None = None
    text: Any = None
    samples: str | None = None
    drop: Any = ()
    labelled: bool = True
    missing_labels: str = "error"
    strict: bool = False


@dataclass(frozen=True)
class Roles:
    """The role of each column.

    Attributes
    ----------
    cells : str or None
        The column whose cells name the labels.
    columns : dict of str to str
        Label -> its column of 0 and 1. Either this is empty, or ``cells`` is None.
    text : list of str
        The columns whose words are counted.
    samples : str or None
        The column with the names of the samples.
    features : list of str
        All other columns.
    """

    cells: str | None
    columns: dict[str, str]
    text: list[str]
    samples: str | None
    features: list[str]


def check_names(path: Any, names: list[str]) -> None:
    """Raise DataError if two columns have the same name."""
    double = next((name for name, count in Counter(names).items() if count > 1), None)
    if double is not None:
        raise DataError(path, f"column {double!r} occurs twice")


def find_names(path: Any, names: list[str], wanted: Any, *, lenient: bool = False) -> list[str]:
    """Return the columns with the wanted names, in which ``*`` matches any text.

    A name without a column raises DataError unless ``lenient`` is True.
    """
    found: dict[str, None] = {}
    known = set(names)
    for name in as_names(wanted):
        matches = [name] if name in known else []
        if not matches and "*" in name:
            pattern = re.compile(".*".join(map(re.escape, name.split("*"))), re.DOTALL)
            matches = [n for n in names if pattern.fullmatch(n)]
        if not matches and not lenient:
            raise DataError(path, unknown("column", name, names))
        found.update(dict.fromkeys(matches))
    return list(found)


def kept_names(path: Any, names: list[str], options: ColumnOptions, like: Any) -> list[str]:
    """Return the columns that are not dropped; with ``like``, dropped columns may be missing."""
    check_names(path, names)
    dropped = set(find_names(path, names, options.drop, lenient=like is not None))
    return [name for name in names if name not in dropped]


def find_roles(table: RawTable, options: ColumnOptions, like: Any) -> Roles:
    """Return the role of each column."""
    names = kept_names(table.path, table.names, options, like)
    if like is None:
        names = [name for name in names if name != table.index]
    cells, columns = _find_labels(table, names, options.labels, like)
    rest = [n for n in names if n != cells and n not in columns.values()]
    samples = _find_samples(table, rest, options, like)
    if samples is not None and samples not in rest:
        raise DataError(table.path, unknown("column", samples, rest))
    rest = [n for n in rest if n != samples]
    text = _find_text(table, rest, options.text, like)
    return Roles(cells, columns, text, samples, [n for n in rest if n not in text])


def _find_samples(
    table: RawTable, names: list[str], options: ColumnOptions, like: Any
) -> str | None:
    """Return the column of sample names: the given one, that of our own files, or one named id.

    Without ``like``, a column named id must have a different value in each row, and no fractions.
    With ``like`` it must not be a feature.
    """
    if options.samples is not None and (like is None or options.samples in names):
        return options.samples  # with like, the column may be missing
    if SAMPLE_NAME in names:
        return SAMPLE_NAME
    taken = set(as_names(options.text or ()))
    taken |= set() if like is None else set(map(str, like.feature_names))
    called = (n for n in names if n.strip().lower() in ID_NAMES and n not in taken)
    return next((n for n in called if like is not None or _has_unique_values(table, n)), None)


def _has_unique_values(table: RawTable, name: str) -> bool:
    """Return True if no two rows of a column have the same word or whole number."""
    column = table.column(name)
    if isinstance(column, Lists) or table.height < 2:
        return False
    if isinstance(column, np.ndarray) and (column % 1 != 0).any():  # also true for NaN and infinity
        return False
    return len(table.words(name).values) == table.height


def _find_labels(
    table: RawTable, names: list[str], labels: Any, like: Any
) -> tuple[str | None, dict[str, str]]:
    """Return the column whose cells name labels, and the columns of single labels.

    With ``like`` there may be neither, and the columns may have other names than in its file.
    """
    if labels is not None:
        found = find_names(table.path, names, labels, lenient=like is not None)
        if isinstance(labels, str) and found == [labels]:
            return _cells_or_column(table, labels, like)
        if found or like is None:
            return None, {name: name for name in found}
    ours = [n for n in names if n.startswith(LABEL_PREFIX)]
    if ours:
        return None, {n.removeprefix(LABEL_PREFIX): n for n in ours}
    features = set() if like is None else set(map(str, like.feature_names))
    for wanted in LABEL_NAMES:
        near = [n for n in names if n.strip().lower() == wanted and n not in features]
        if near:
            return _cells_or_column(table, wanted if wanted in near else near[0], like)
    if like is not None:
        known = set(map(str, like.label_names)) - features
        return None, {name: name for name in names if name in known}
    numbered = all(re.fullmatch(r"[-+.\deE]+", name) for name in names)
    raise DataError(
        table.path,
        Message(
            "which columns are labels? Pass ",
            Parameter("labels", "column"),
            " if the labels of a sample are in one column, ",
            Parameter("labels", ["a", "b"]),
            " or ",
            Parameter("labels", "a_*"),
            " for columns of 0 and 1. ",
            "The first line must name the columns; here it holds " if numbered else "There are ",
            show(names),
        ),
    )


def _cells_or_column(table: RawTable, name: str, like: Any) -> tuple[str | None, dict[str, str]]:
    """Return the column whose cells name labels, or the one label whose column holds 0 and 1."""
    column = table.column(name)
    if like is not None:
        one = list(map(str, like.label_names)) == [name] and not isinstance(column, Lists)
    else:
        one = _values(column) == [0, 1]
        if _values(column) == [-1, 1]:
            raise table.fault(
                f"label {name!r} holds -1 and 1; write 0 for -1, or pass the column as "
                f"frame[{name!r}] > 0 to from_frame"
            )
    return (None, {name: name}) if one else (name, {})


def _values(column: Column | None) -> list[float]:
    """Return the distinct numbers of a column without NaN; a column of words has none."""
    if isinstance(column, Words):
        named = len(column.values) > FEW or holds_codes(column)
        column = None if named else read_filled(column)
    if not isinstance(column, np.ndarray):
        return []
    found: list[float] = np.unique(column[~np.isnan(column)]).tolist()
    return found


def _find_text(table: RawTable, names: list[str], text: Any, like: Any) -> list[str]:
    """Return the columns of text: the given ones, or those that contain texts.

    A column named text that contains words is one. With ``like``, the texts are those of ``like``.
    """
    if text is not None:
        return find_names(table.path, names, text, lenient=like is not None)
    for name in names:
        if name.strip().lower() != TEXT_NAME or (like is not None and name in like.categories):
            continue
        foreign = like is not None and name not in set(map(str, like.feature_names))
        if foreign or isinstance(table.column(name), Words):
            return [name]
    if like is not None:
        return [name for name in names if name in getattr(like, "words", {})]
    return [name for name in names if holds_text(table.column(name))]
