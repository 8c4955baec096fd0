"""Columns of a table, whatever it was read from: numbers, words or lists of words."""

import datetime
import math
import numbers
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets.files import DataError
from eigenlabel.inputs.messages import Message, Parameter

NUMBER = re.compile(
    r"[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan)", re.I | re.A
)
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)
CODE = re.compile(r"\s*0\d+\s*", re.ASCII)
DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?|\d{1,2}[./]\d{1,2}[./]\d{4}", re.ASCII)
MISSING = ("NA", "N/A", "NULL", "null", "None", "?")
ABSENT = {"", "?", "-", "--", ".", "na", "n/a", "#n/a", "nan", "null", "none", "missing", "unknown"}
MICROSECONDS = 86_400e6  # of a day
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
BOOLEAN = {"false": 0.0, "true": 1.0}


@dataclass(frozen=True)
class Words:
    """A column of words: its values, sorted, and the position of each cell's value, -1 for none."""

    values: list[str]
    codes: np.ndarray


@dataclass(frozen=True)
class Lists:
    """A column of lists of words: their members one after another, and where each list ends."""

    members: Words
    ends: np.ndarray  # (n + 1,)


@dataclass(frozen=True)
class Dates:
    """A column of dates: days since 1970-01-01 (UTC), times as fractions, NaN for none."""

    days: np.ndarray


class Table(ABC):
    """Rows and named columns, with the place of each row for errors."""

    path: Any
    names: list[str]
    height: int
    sparse: tuple[list[str], sp.csr_array] | None = None  # features that most rows lack
    label_names: list[str] | None = None  # all labels in their order, if known
    index: str | None = None  # name of a column that only counts the rows
    typed = True  # words are words; in plain text they may also be numbers
    comma = False  # whether numbers may have a decimal comma

    @abstractmethod
    def column(self, name: str) -> Any:
        """Return a column: an array of numbers with NaN for none, Words, Lists or Dates."""

    def words(self, name: str) -> Words:
        """Give a column as words, as they were written if that is known."""
        column = self.column(name)
        if isinstance(column, Lists):
            raise self.fault(f"column {name!r} holds lists, not words")
        if isinstance(column, Dates):
            raise self.fault(f"column {name!r} holds dates, not words")
        return column if isinstance(column, Words) else spell(column)

    def line(self, row: int) -> int | None:  # noqa: ARG002  for tables that have lines
        """Give the line of the file where a row stands, if it has lines."""
        return None

    def check_infinite(self, name: str, numbers: np.ndarray) -> None:
        """Raise DataError for a number that is infinite only because it is too large."""
        if not np.isinf(numbers).any():
            return
        words = self.words(name)
        for row in np.flatnonzero(np.isinf(numbers)).tolist():
            word = words.values[words.codes[row]]
            if is_too_large(word):
                raise self.fault(f"the number {word.strip()[:40]!r} in {name!r} is too large", row)

    def fault(self, reason: str, row: int | None = None) -> DataError:
        """Make the error for a row."""
        line = None if row is None else self.line(row)
        place = f" (row {row})" if row is not None and line is None else ""
        return DataError(self.path, reason + place, line)


def factorise(cells: Iterable[str | None]) -> Words:
    """Find the values of a column of words."""
    cells = list(cells)
    values = sorted(set(cells) - {None})
    position = {value: i for i, value in enumerate(values)}
    return Words(values, np.array([position.get(cell, -1) for cell in cells], dtype=np.int64))


def spell(column: np.ndarray) -> Words:
    """Write numbers out, whole ones without a point."""
    return factorise(None if math.isnan(v) else _spell(v) for v in column.tolist())


def _spell(value: Any) -> str:
    whole = isinstance(value, numbers.Integral | np.bool_) or float(value).is_integer()
    return str(int(value)) if whole else repr(float(value))


def read_numbers(words: Words, comma: bool = False) -> np.ndarray | None:
    """Give the numbers that words spell, or None if one does not.

    Beside numbers, words for a missing value and either only true and false are understood;
    ``comma`` allows a decimal comma.
    """
    if words.values and all(v.strip().lower() in BOOLEAN or v in MISSING for v in words.values):
        found = [BOOLEAN.get(v.strip().lower(), np.nan) for v in words.values]
    else:
        found = [read_number(v, comma) for v in words.values]
    if None in found:
        return None
    return np.array([*found, np.nan], dtype=float)[words.codes]  # -1 is the last one


def read_number(word: str, comma: bool = False) -> float | None:
    """Give the number that a word spells, None if it spells none."""
    word = word.strip()
    if NUMBER.fullmatch(word):
        return float(word)
    if comma and DECIMAL_COMMA.fullmatch(word):
        return float(word.replace(",", "."))
    return np.nan if word in MISSING else None


def is_absent(word: str) -> bool:
    """Return True if a word among numbers or dates stands for a missing value."""
    return word.strip().lower() in ABSENT


def without(words: Words, is_dropped: Callable[[str], bool]) -> Words:
    """Return words without some values, whose cells then have none."""
    kept = [i for i, value in enumerate(words.values) if not is_dropped(value)]
    if len(kept) == len(words.values):
        return words
    new = np.full(len(words.values) + 1, -1, dtype=np.int64)
    new[kept] = np.arange(len(kept))
    return Words([words.values[i] for i in kept], new[words.codes])


def read_filled(words: Words, comma: bool = False) -> np.ndarray | None:
    """Return the numbers that words spell, NaN for words such as n/a; None if one is neither."""
    return read_numbers(without(words, is_absent), comma)


def holds_codes(words: Words) -> bool:
    """Return True if words are digits only, some with leading zeros, as codes have them."""
    filled = [value.strip() for value in words.values if not is_absent(value)]
    return any(map(CODE.fullmatch, filled)) and all(v.isdecimal() and v.isascii() for v in filled)


def is_too_large(word: str) -> bool:
    """Return True if a word that was read as infinite is written in digits, as 1e999 is."""
    return any(character.isdigit() for character in word)


def looks_like_dates(words: Words) -> bool:
    """Tell whether every value is written as a date."""
    return bool(words.values) and all(DATE.fullmatch(v) for v in words.values)


def read_date(word: str) -> float | None:
    """Return the days from 1970-01-01 to a date, or None if the word is not a date.

    Dates are written as 2024-01-31, with or without a time, or as 31.1.2024. A time without a
    zone counts as UTC.
    """
    try:
        if "." in word[:3]:
            day, month, year = map(int, word.split("."))
            return _days(datetime.datetime(year, month, day))
        return _days(datetime.datetime.fromisoformat(word))
    except ValueError:
        return None


def _days(date: datetime.date) -> float:
    if not isinstance(date, datetime.datetime):
        date = datetime.datetime(date.year, date.month, date.day)
    if date.tzinfo is None:
        date = date.replace(tzinfo=datetime.UTC)
    return (date - EPOCH) / datetime.timedelta(days=1)


def _kind(cell: Any) -> str:
    """Name what a cell holds."""
    if isinstance(cell, str):
        return "words"
    if isinstance(cell, numbers.Number | np.bool_) and not isinstance(cell, complex):
        return "numbers"
    if isinstance(cell, list | tuple | set | np.ndarray):
        return "lists"
    if isinstance(cell, datetime.date):
        return "dates"
    if isinstance(cell, datetime.time | datetime.timedelta):
        return "times"
    return "objects" if isinstance(cell, dict) else type(cell).__name__


def to_column(table: Table, name: str, cells: Sequence[Any], rows: Sequence[int]) -> Any:
    """Make a column of cells of one kind that stand in some of the rows; None is no cell."""
    kinds = [None if cell is None else _kind(cell) for cell in cells]
    first = next(filter(None, kinds), "numbers")
    for row, kind in zip(rows, kinds, strict=True):
        if kind not in (None, first):
            raise table.fault(f"{name!r} holds {kind} here, {first} before", row)
    if first == "numbers":
        return _to_numbers(table, name, cells, rows)
    if first == "words":
        return scatter(factorise(cells), rows, table.height)
    if first == "lists":
        return _to_lists(table, name, cells, rows)
    if first == "dates":
        days = np.full(table.height, np.nan)
        days[rows] = [np.nan if cell is None else _days(cell) for cell in cells]
        return Dates(days)
    raise refusal(table, name, first)


def refusal(table: Table, name: str, kind: str) -> DataError:
    """Make the error for a column that can be neither features nor labels."""
    return table.fault(
        Message(
            f"column {name!r} holds {kind}; features are numbers, words or dates, labels are words "
            "or lists of words. Turn it into these, or leave it out with ",
            Parameter("drop", name),
        )
    )


def scatter(words: Words, rows: Sequence[int], height: int) -> Words:
    """Spread a column over all rows; those that are not named have no value."""
    codes = np.full(height, -1, dtype=np.int64)
    codes[np.asarray(rows, dtype=np.int64)] = words.codes
    return Words(words.values, codes)


def _to_numbers(table: Table, name: str, cells: Sequence[Any], rows: Sequence[int]) -> np.ndarray:
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


def _to_lists(table: Table, name: str, cells: Sequence[Any], rows: Sequence[int]) -> Lists:
    counts = np.zeros(table.height, dtype=np.int64)
    members: list[str] = []
    for row, cell in zip(rows, cells, strict=True):
        for member in () if cell is None else cell:
            kind = _kind(member)
            if kind not in ("words", "numbers"):
                raise table.fault(f"a list in {name!r} holds {kind}, not words", row)
            members.append(member if kind == "words" else _spell(member))
        counts[row] = 0 if cell is None else len(cell)
    return Lists(factorise(members), np.concatenate([[0], np.cumsum(counts)]))
