"""Columns of a table of any source: numbers, words, lists of words or dates."""

import datetime
import math
import numbers
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from eigenlabel.datasets.files.errors import DataError
from eigenlabel.inputs.messages import Message, Parameter
from eigenlabel.linalg._types import Matrix

NUMBER = re.compile(
    r"[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan)", re.I | re.A
)
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)
CODE = re.compile(r"\s*0\d+\s*", re.ASCII)
_TIME = (
    r"(?:[T ](?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d))?"
    r"(?: ?(?P<half>[ap])\.?m\.?)?)?"
)
_MONTH = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?", re.ASCII)
# The other ways in which dates are written; a and b are day and month in either order.
DATES = tuple(
    re.compile(form + _TIME, re.ASCII | re.IGNORECASE)
    for form in (
        r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})",
        r"(?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})",
        rf"(?P<day>\d{{1,2}})[ -]{_MONTH}[ -](?P<year>\d{{4}})",
        rf"{_MONTH} (?P<day>\d{{1,2}}),? (?P<year>\d{{4}})",
        r"(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<year>\d{4})",
    )
)
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MISSING = ("NA", "N/A", "NULL", "null", "None", "?")
ABSENT = {"", "?", "-", "--", ".", "na", "n/a", "#n/a", "nan", "null", "none", "missing", "unknown"}
# What pandas.read_csv reads as an empty cell, besides NaN as a number.
EMPTY = {"NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "NULL", "null", "None"}
EMPTY |= {"nan", "-nan", "NaN", "-NaN", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"}
MICROSECONDS = 86_400e6  # in a day
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
# Kinds of cells beside words and numbers.
CELLS = (
    ("lists", list | tuple | set | np.ndarray),
    ("dates", datetime.date),
    ("durations", datetime.timedelta),
    ("times of day", datetime.time),
    ("objects", dict),
)
BOOLEAN = {"false": 0.0, "true": 1.0, "no": 0.0, "yes": 1.0}


@dataclass(frozen=True)
class Words:
    """A column of words.

    Attributes
    ----------
    values : list of str
        The distinct words, sorted.
    codes : int array of shape (n,)
        The position of each cell's word in ``values``, or -1 for a cell without a value.
    """

    values: list[str]
    codes: np.ndarray


@dataclass(frozen=True)
class Lists:
    """A column of lists of words.

    Attributes
    ----------
    members : Words
        The members of all lists, one after another.
    ends : int array of shape (n + 1,)
        0 and the end of each list among the members.
    absent : bool array of shape (n,)
        Whether a cell has no value; its list is empty.
    """

    members: Words
    ends: np.ndarray
    absent: np.ndarray


@dataclass(frozen=True)
class Dates:
    """A column of dates.

    Attributes
    ----------
    days : float array of shape (n,)
        Days since 1970-01-01 (UTC), with times as fractions, or NaN for a cell without a value.
    """

    days: np.ndarray


# An array contains numbers, with NaN for cells without a value.
Column: TypeAlias = np.ndarray | Words | Lists | Dates


class RawTable(ABC):
    """Rows and named columns, as they were read from a file or a frame.

    Attributes
    ----------
    path : str or Path
        The source, for errors.
    names : list of str
        The names of the columns.
    height : int
        The number of rows.
    sparse : (list of str, sparse matrix) or None
        Names and values of further features that most rows do not have.
    label_names : list of str or None
        All labels in their order, if a file beside the table lists them.
    index : str or None
        The name of a column that only numbers the rows.
    typed : bool
        Whether numbers are stored as numbers. In plain text they are words like any other.
    comma : bool
        Whether numbers may have a decimal comma.
    position : dict of str to int
        The position of each column, of tables that :meth:`rename` has named.
    mixed : bool
        Whether a column may contain numbers beside words, which makes them words.
    """

    path: Any
    names: list[str]
    height: int
    sparse: tuple[list[str], Matrix] | None = None
    label_names: list[str] | None = None
    index: str | None = None
    typed: bool = True
    comma: bool = False
    mixed: bool = False
    position: dict[str, int]

    @abstractmethod
    def column(self, name: str) -> Column:
        """Return a column."""

    def rename(self, names: list[str]) -> None:
        """Rename the columns, in their order."""
        self.names = names
        self.position = {name: j for j, name in enumerate(names)}

    def words(self, name: str) -> Words:
        """Return a column as words, as they were written if that is known."""
        column = self.column(name)
        if isinstance(column, Lists):
            raise self.fault(f"column {name!r} holds lists, not words")
        if isinstance(column, Dates):
            raise self.fault(f"column {name!r} holds dates, not words")
        return column if isinstance(column, Words) else spell(column)

    def line(self, row: int) -> int | None:  # noqa: ARG002  for tables that have lines
        """Return the number of the line of a row, or None if the source has no lines."""
        return None

    def check_infinite(self, name: str, numbers: np.ndarray) -> None:
        """Raise DataError for a number that is infinite because it is too large for a float."""
        if not np.isinf(numbers).any():
            return
        words = self.words(name)
        for row in np.flatnonzero(np.isinf(numbers)).tolist():
            word = words.values[words.codes[row]]
            if is_too_large(word):
                raise self.fault(f"the number {word.strip()[:40]!r} in {name!r} is too large", row)

    def fault(self, reason: str, row: int | None = None) -> DataError:
        """Return the error for a row, or for the whole table."""
        line = None if row is None else self.line(row)
        place = f" (row {row})" if row is not None and line is None else ""
        return DataError(self.path, reason + place, line)


def factorise(cells: Iterable[str | None]) -> Words:
    """Return cells as a column of words."""
    cells = list(cells)
    values = sorted({cell for cell in cells if cell is not None})
    position: dict[str | None, int] = {value: i for i, value in enumerate(values)}
    return Words(values, np.array([position.get(cell, -1) for cell in cells], dtype=np.int64))


def spell(column: np.ndarray) -> Words:
    """Return numbers as words, whole numbers without a decimal point."""
    return factorise(None if math.isnan(v) else _spell(v) for v in column.tolist())


def _spell(value: Any) -> str:
    whole = isinstance(value, numbers.Integral | np.bool_) or float(value).is_integer()
    return str(int(value)) if whole else repr(float(value))


def read_numbers(words: Words, comma: bool = False) -> np.ndarray | None:
    """Return a column of words as numbers, or None if one of them is not a number.

    Words for a missing value are NaN. If all other words are true and false, or yes and no, these
    are 1 and 0.
    ``comma`` allows a decimal comma.
    """
    found: list[float | None]
    if words.values and all(v.strip().lower() in BOOLEAN or v in MISSING for v in words.values):
        found = [BOOLEAN.get(v.strip().lower(), np.nan) for v in words.values]
    else:
        found = [read_number(v, comma) for v in words.values]
    if None in found:
        return None
    numbers: np.ndarray = np.array([*found, np.nan], dtype=float)
    return np.asarray(numbers[words.codes])  # the code -1 selects the last one


def read_number(word: str, comma: bool = False) -> float | None:
    """Return a word as a number, NaN if it means a missing value, or None if it is neither."""
    word = word.strip()
    if NUMBER.fullmatch(word):
        return float(word)
    if comma and DECIMAL_COMMA.fullmatch(word):
        return float(word.replace(",", "."))
    return np.nan if word in MISSING else None


def is_absent(word: str) -> bool:
    """Return True if a word among numbers or dates means a missing value."""
    return word.strip().lower() in ABSENT


def is_empty(word: str) -> bool:
    """Return True if a word stands for an empty cell, in text that pandas reads."""
    return word in EMPTY


def without(words: Words, is_dropped: Callable[[str], bool]) -> Words:
    """Return a column of words without some values; their cells have no value then."""
    kept = [i for i, value in enumerate(words.values) if not is_dropped(value)]
    if len(kept) == len(words.values):
        return words
    new = np.full(len(words.values) + 1, -1, dtype=np.int64)
    new[kept] = np.arange(len(kept))
    return Words([words.values[i] for i in kept], new[words.codes])


def read_filled(words: Words, comma: bool = False) -> np.ndarray | None:
    """Return words as numbers, with NaN for words such as n/a, or None if one is neither."""
    return read_numbers(without(words, is_absent), comma)


def holds_codes(words: Words) -> bool:
    """Return True if all words are digits and some have leading zeros, so that they are codes."""
    filled = [value.strip() for value in words.values if not is_absent(value)]
    return any(map(CODE.fullmatch, filled)) and all(v.isdecimal() and v.isascii() for v in filled)


def is_too_large(word: str) -> bool:
    """Return True if a word that was read as infinite consists of digits, such as 1e999."""
    return any(character.isdigit() for character in word)


def is_date(word: str) -> bool:
    """Return True if a word is written as a date."""
    return bool(ISO_DATE.fullmatch(word) or any(form.fullmatch(word) for form in DATES))


def looks_like_dates(words: Words) -> bool:
    """Return True if every value is written as a date."""
    return bool(words.values) and all(map(is_date, words.values))


def find_order(values: Iterable[str]) -> str | None:
    """Return what comes first in dates such as 31/1/2024, "day" or "month".

    The result is "" if no date is written in this way, and None if the order is unknown: every
    number is at most 12, or some dates have the one order and some the other.
    """
    pairs = [(int(m["a"]), int(m["b"])) for m in map(DATES[-1].fullmatch, values) if m]
    if not pairs:
        return ""
    orders = {"day" if a > 12 else "month" for a, b in pairs if max(a, b) > 12}
    return orders.pop() if len(orders) == 1 else None


def read_date(word: str, order: str = "") -> float | None:
    """Return the days from 1970-01-01 to a date, or None if the word is not a date.

    Dates are written as 2024-01-31, 2024/1/31, 31.1.2024, 31 Jan 2024 or Jan 31, 2024, with or
    without a time such as 15:05 or 3:05 PM, and as 31/1/2024 if ``order`` is "day", or 1/31/2024 if
    it is "month". A time without a zone counts as UTC.
    """
    try:
        found = next(filter(None, (form.fullmatch(word) for form in DATES)), None)
        return _days(
            datetime.datetime.fromisoformat(word) if found is None else _date(found, order)
        )
    except ValueError:
        return None


def _date(found: re.Match[str], order: str) -> datetime.datetime:
    """Return the date that a form matches."""
    parts = {key: value for key, value in found.groupdict().items() if value}
    if "a" in parts:
        if not order:
            raise ValueError("unknown order")
        parts |= {order: parts["a"], "month" if order == "day" else "day": parts["b"]}
    if "name" in parts:
        parts["month"] = str(MONTHS.index(parts["name"][:3].lower()) + 1)
    year, month, day = (int(parts[key]) for key in ("year", "month", "day"))
    hour, minute, second = (int(parts.get(key, 0)) for key in ("hour", "minute", "second"))
    if "half" in parts:
        if not 1 <= hour <= 12:
            raise ValueError("no hour of half a day")
        hour = hour % 12 + 12 * (parts["half"].lower() == "p")
    return datetime.datetime(year, month, day, hour, minute, second)


def _days(date: datetime.date) -> float:
    if not isinstance(date, datetime.datetime):
        date = datetime.datetime(date.year, date.month, date.day)
    if date.tzinfo is None:
        date = date.replace(tzinfo=datetime.UTC)
    return (date - EPOCH) / datetime.timedelta(days=1)


def kind_of(cell: Any) -> str:
    """Return the kind of a cell, as a noun for messages."""
    if isinstance(cell, str):
        return "words"
    if isinstance(cell, numbers.Number | np.bool_) and not isinstance(cell, complex):
        return "numbers"
    return next((kind for kind, types in CELLS if isinstance(cell, types)), type(cell).__name__)


def to_column(table: RawTable, name: str, cells: Sequence[Any], rows: Sequence[int]) -> Column:
    """Return cells of one kind, which belong to the given rows, as a column.

    Other rows, and rows whose cell is None, have no value.
    """
    kinds = [None if cell is None else kind_of(cell) for cell in cells]
    first = next(filter(None, kinds), "numbers")
    if table.mixed and {"words", "numbers"} == set(kinds) - {None}:
        cells = [_spell(c) if k == "numbers" else c for c, k in zip(cells, kinds, strict=True)]
        kinds, first = [k and "words" for k in kinds], "words"
    for row, kind in zip(rows, kinds, strict=True):
        if kind not in (None, first):
            raise table.fault(f"{name!r} holds {kind} here, {first} before", row)
    if first == "numbers":
        return _to_numbers(table, name, cells, rows)
    if first == "words":
        return scatter(factorise(cells), rows, table.height)
    if first == "lists":
        return _to_lists(table, name, cells, rows)
    if first == "durations":
        seconds = [None if cell is None else cell.total_seconds() for cell in cells]
        return _to_numbers(table, name, seconds, rows)
    if first == "dates":
        days = np.full(table.height, np.nan)
        days[rows] = [np.nan if cell is None else _days(cell) for cell in cells]
        return Dates(days)
    raise refusal(table, name, first)


def refusal(table: RawTable, name: str, kind: str) -> DataError:
    """Return the error for a column that can be neither features nor labels."""
    return table.fault(
        Message(
            f"column {name!r} holds {kind}; features are numbers, words, dates or durations, "
            "labels are words or lists of words. Turn it into these, or leave it out with ",
            Parameter("drop", name),
        )
    )


def scatter(words: Words, rows: Sequence[int], height: int) -> Words:
    """Return a column of some rows as a column of all rows; the others have no value."""
    codes = np.full(height, -1, dtype=np.int64)
    codes[np.asarray(rows, dtype=np.int64)] = words.codes
    return Words(words.values, codes)


def _to_numbers(
    table: RawTable, name: str, cells: Sequence[Any], rows: Sequence[int]
) -> np.ndarray:
    column = np.full(table.height, np.nan)
    try:
        column[rows] = [np.nan if cell is None else cell for cell in cells]
    except OverflowError:
        large = next(row for row, cell in zip(rows, cells, strict=True) if _overflows(cell))
        raise table.fault(f"the number in {name!r} is too large", large) from None
    return column


def _overflows(cell: Any) -> bool:
    try:
        float(cell or 0)
    except OverflowError:
        return True
    return False


def _to_lists(table: RawTable, name: str, cells: Sequence[Any], rows: Sequence[int]) -> Lists:
    counts, absent = np.zeros(table.height, dtype=np.int64), np.ones(table.height, dtype=bool)
    members: list[str] = []
    for row, cell in zip(rows, cells, strict=True):
        for member in () if cell is None else cell:
            kind = kind_of(member)
            if kind not in ("words", "numbers"):
                raise table.fault(f"a list in {name!r} holds {kind}, not words", row)
            members.append(member if kind == "words" else _spell(member))
        counts[row], absent[row] = 0 if cell is None else len(cell), cell is None
    return Lists(factorise(members), np.concatenate([[0], np.cumsum(counts)]), absent)
