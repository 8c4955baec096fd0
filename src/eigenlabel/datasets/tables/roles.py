"""Which column of a table is what: labels, text, names of samples, features."""

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenlabel.datasets.files import DataError
from eigenlabel.datasets.tables.columns import Lists, Table, Words, holds_codes, read_filled
from eigenlabel.inputs.messages import Message, Parameter

LABEL_NAMES = ("labels", "label", "tags")
LABEL_PREFIX, SAMPLE_NAME = "label:", "sample:name"  # how our own files name their columns
ID_NAMES = ("id", "_id")
TEXT_NAME = "text"
FEW = 20  # ways to write 0, 1 and a missing value
SHOWN, LONG = 20, 80  # names, and characters of a name


@dataclass(frozen=True)
class Options:
    """What the caller says about the columns."""

    labels: Any = None
    separator: str | None = None
    text: Any = None
    samples: str | None = None
    drop: Any = ()
    labelled: bool = True
    missing_labels: str = "error"
    strict: bool = False  # refuses values of categories that like does not know


@dataclass(frozen=True)
class Roles:
    """What each column is: labels stand in the cells of one column, or in 0/1 columns of names."""

    cells: str | None
    columns: dict[str, str]  # label -> column
    text: list[str]
    samples: str | None
    features: list[str]


def show(names: Iterable[str]) -> str:
    """List names for an error, the first ones."""
    names = list(names)
    more = f", ... ({len(names)} in all)" if len(names) > SHOWN else ""
    return ", ".join(map(shorten, names[:SHOWN])) + more


def shorten(name: str) -> str:
    """Quote a name for an error, the beginning of a long one."""
    return repr(name if len(name) <= LONG else name[:LONG] + "...")


def unknown(what: str, name: str, known: Sequence[str]) -> str:
    """Say that a name is not among the known ones, and which are near."""
    near = [other for other in known if len(other) <= LONG]  # the search is slow for long ones
    close = difflib.get_close_matches(name, near, n=3) if len(name) <= LONG else []
    hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"there are {show(known)}"
    return f"no {what} {shorten(name)}; {hint}"


def check_names(path: Any, names: list[str]) -> None:
    """Refuse columns of the same name."""
    double = next((name for name, count in Counter(names).items() if count > 1), None)
    if double is not None:
        raise DataError(path, f"column {double!r} stands twice")


def as_names(given: Any) -> list[str]:
    """Make a list of names of one or several."""
    return [given] if isinstance(given, str) else list(given)


def find_names(path: Any, names: list[str], wanted: Any, *, lenient: bool = False) -> list[str]:
    """Give the columns of the wanted names, in which * stands for anything."""
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


def kept_names(path: Any, names: list[str], options: Options, like: Any) -> list[str]:
    """Give the columns that are not to be dropped; those to predict may lack some that are."""
    check_names(path, names)
    dropped = set(find_names(path, names, options.drop, lenient=like is not None))
    return [name for name in names if name not in dropped]


def find_roles(table: Table, options: Options, like: Any) -> Roles:
    """Tell what each column is."""
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


def _find_samples(table: Table, names: list[str], options: Options, like: Any) -> str | None:
    """Find the column of sample names: the one given, our own, or one called id.

    In training data a column called id must have another value in each row, and no fractions. In
    data to predict it must not be a feature.
    """
    if options.samples is not None and (like is None or options.samples in names):
        return options.samples  # files like one that had the column may lack it
    if SAMPLE_NAME in names:
        return SAMPLE_NAME
    taken = set(as_names(options.text or ()))
    taken |= set() if like is None else set(map(str, like.feature_names))
    called = (n for n in names if n.strip().lower() in ID_NAMES and n not in taken)
    return next((n for n in called if like is not None or _has_unique_values(table, n)), None)


def _has_unique_values(table: Table, name: str) -> bool:
    """Return True if no two rows of a column have the same word or whole number."""
    column = table.column(name)
    if isinstance(column, Lists) or table.height < 2:
        return False
    if isinstance(column, np.ndarray) and (column % 1 != 0).any():  # NaN and infinity too
        return False
    return len(table.words(name).values) == table.height


def _find_labels(
    table: Table, names: list[str], labels: Any, like: Any
) -> tuple[str | None, dict[str, str]]:
    """Find the column of labels, or the columns; like allows that there is neither.

    The columns that its own files had may be called otherwise here.
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
            " if the labels of a sample stand in one column, ",
            Parameter("labels", ["a", "b"]),
            " or ",
            Parameter("labels", "a_*"),
            " for columns of 0 and 1. ",
            "The first line must name the columns; here it holds " if numbered else "There are ",
            show(names),
        ),
    )


def _cells_or_column(table: Table, name: str, like: Any) -> tuple[str | None, dict[str, str]]:
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


def _values(column: Any) -> list[float]:
    """Return the different numbers of a column, without the missing ones; none of words."""
    if isinstance(column, Words):
        named = len(column.values) > FEW or holds_codes(column)
        column = None if named else read_filled(column)
    if not isinstance(column, np.ndarray):
        return []
    return np.unique(column[~np.isnan(column)]).tolist()


def _find_text(table: Table, names: list[str], text: Any, like: Any) -> list[str]:
    """Find the columns of text: those named, else one called text that holds words."""
    if text is not None:
        return find_names(table.path, names, text, lenient=like is not None)
    for name in names:
        if name.strip().lower() != TEXT_NAME or (like is not None and name in like.categories):
            continue
        foreign = like is not None and name not in set(map(str, like.feature_names))
        if foreign or isinstance(table.column(name), Words):
            return [name]
    return []
