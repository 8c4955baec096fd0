"""Columns of words that are mostly numbers or dates, and the notes about them."""

import re
from typing import NamedTuple

import numpy as np

from eigenlabel.datasets.files.errors import shorten
from eigenlabel.datasets.tables.columns import (
    CODE,
    MISSING,
    RawTable,
    Words,
    holds_codes,
    is_absent,
    is_date,
    is_empty,
    read_filled,
    read_number,
    without,
)
from eigenlabel.inputs.messages import Doubt, Message, Parameter

MOST = 0.9  # share of numbers from which the other cells of a column look like mistakes
LONGEST = 40  # characters of a number that a person wrote
SIGN = r"(?:[$€£¥%]|USD|EUR|GBP|CHF)"
GROUPED = r"\d{1,3}([.,' \u00a0\u202f])\d{3}(?:\1\d{3})*(?:[.,]\d+)?"
# Numbers with a sign of money or per cent, and with commas between thousands.
SIGNED = re.compile(
    r"(?P<minus>-?)(?P<before>[$€£¥%]?) ?"
    r"(?P<digits>(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)(?:\.\d+)?)"
    r" ?(?P<after>[$€£¥%]?)",
    re.ASCII,
)
# Everything that looks like a number with signs or separators, also where its value is unclear.
WRITTEN = re.compile(
    rf"[+-]?{SIGN}?\s?[+-]?(?:{GROUPED}|\d+[.,]?\d*|[.,]\d+)\s?{SIGN}?", re.ASCII | re.IGNORECASE
)


class Mixture(NamedTuple):
    """Why a column of words looks like numbers or dates.

    Attributes
    ----------
    reason : str
        What the column contains.
    advice : str
        What the user can do about it.
    meant : bool
        Whether the column is probably meant to be words, such as codes.
    """

    reason: str
    advice: str
    meant: bool = False

    def note(self, fate: str) -> str:
        """Return the note that says how the column was used."""
        kind = Message if self.meant else Doubt
        return kind(self.reason, f": it is {fate}; ", self.advice)


def settle(
    table: RawTable, name: str, words: Words, notes: list[str]
) -> tuple[Words | np.ndarray, Mixture | None]:
    """Return a column of words as numbers if it is text that contains them, else as words.

    These may have signs, such as $1,200 or 12%, also where plain numbers are stored as numbers.
    Words such as n/a mean missing values among numbers and among dates. Columns that remain words,
    but consist mostly of numbers or dates, are returned with a Mixture that says so.
    """
    filled = without(words, is_absent)
    if not filled.values:
        return words, None
    if all(map(is_date, filled.values)):
        notes += about_absent(table, name, words)
        return filled, None
    signed = signed_numbers(words, table.comma)
    if signed is None and (table.typed or holds_codes(filled)):
        return words, _find_odd(table, name, words if table.typed else filled)
    numbers = read_filled(words, table.comma) if signed is None else signed
    if numbers is None:
        return words, _find_odd(table, name, filled)
    table.check_infinite(name, numbers)
    notes += about_absent(table, name, words, MISSING)
    return numbers, None


def known_numbers(table: RawTable, name: str, words: Words, notes: list[str]) -> np.ndarray | None:
    """Return a column that is numeric in ``like`` as numbers, or None if it has other words."""
    numbers = read_filled(words, table.comma)
    if numbers is None:
        numbers = signed_numbers(words, table.comma)
    if numbers is None:
        return None
    table.check_infinite(name, numbers)
    notes += about_absent(table, name, words, MISSING)
    if holds_codes(words):
        notes.append(
            Message(
                f"column {name!r} holds codes with leading zeros, which are read as numbers as in ",
                Parameter("like"),
            )
        )
    return numbers


def signed_numbers(words: Words, comma: bool) -> np.ndarray | None:
    """Return words such as $1,200 or 12% as numbers; None if they are anything else.

    The words have one sign, and some may be plain numbers or mean a missing value. Plain numbers
    alone are read elsewhere. If ``comma`` allows decimal commas, 1,200 has no clear value.
    """
    numbers, units, special = [], set[str](), False
    for word in words.values:
        found = SIGNED.fullmatch(word.strip()) if len(word) <= LONGEST else None
        if found is None and not is_absent(word):
            return None
        if found is None:
            numbers.append(np.nan)
            continue
        unit, digits = found["before"] + found["after"], found["digits"]
        if comma and digits.count(",") == 1 and "." not in digits:
            return None
        units |= {unit} - {""}
        special = special or bool(unit) or "," in digits
        numbers.append(float(found["minus"] + digits.replace(",", "")))
    if not special or len(units) > 1:
        return None
    return np.asarray(np.array([*numbers, np.nan])[words.codes])


def about_absent(
    table: RawTable, name: str, words: Words, usual: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Return a note on the words that mean missing values, unless all of them are usual ones."""
    odd = [is_absent(v) and v.strip() not in usual for v in words.values]
    return _about_missing(table, name, words, odd)


def about_empty(table: RawTable, name: str, words: Words) -> tuple[str, ...]:
    """Return a note on the words of a category that stand for empty cells."""
    return _about_missing(table, name, words, list(map(is_empty, words.values)))


def _about_missing(
    table: RawTable, name: str, words: Words, missing: list[bool]
) -> tuple[str, ...]:
    found = _first(table, words, missing)
    return (f"column {name!r} has {found}, read as missing",) if found else ()


def _find_odd(table: RawTable, name: str, words: Words) -> Mixture | None:
    """Return a Mixture if most cells of a column are numbers or dates, else None."""
    plain = [read_number(value, table.comma) is not None for value in words.values]
    advice = "correct or empty these cells"
    if all(plain) and table.typed:
        return None
    if all(plain):
        found = _first(table, words, [CODE.fullmatch(v) is not None for v in words.values])
        reason = f"column {name!r} holds codes with leading zeros, {found}"
        drop = Parameter("drop", name)
        advice = Message("remove the zeros if they are numbers, or pass ", drop)
        return Mixture(reason, advice, meant=True)
    if table.typed:
        advice += " and turn the column into numbers or dates"
    for kind, fits in (
        ("numbers", plain),
        ("dates", [is_date(value) for value in words.values]),
    ):
        if _share(words, fits) >= MOST:
            others = _first(table, words, [not fit for fit in fits])
            return Mixture(f"column {name!r} holds {kind} except for {others}", advice)
    written = [_spells_number(value) for value in words.values]
    if _share(words, written) < MOST:
        return None
    odd = [w and not p for w, p in zip(written, plain, strict=True)]
    reason = f"column {name!r} holds numbers with signs or commas, {_first(table, words, odd)}"
    return Mixture(reason, "write numbers such as 1234.5")


def _spells_number(word: str) -> bool:
    """Return True for a number with signs or commas; long words would take quadratic time."""
    return len(word) <= LONGEST and WRITTEN.fullmatch(word.strip()) is not None


def _share(words: Words, fits: list[bool]) -> float:
    """Return the share of cells whose word fits, among those that have a word."""
    there = words.codes[words.codes >= 0]
    return float(np.mean(np.array(fits)[there])) if there.size else 0.0


def _first(table: RawTable, words: Words, wanted: list[bool]) -> str:
    """Return the number of wanted cells, with the first as an example, or "" if there is none."""
    cells = np.flatnonzero(np.array([*wanted, False])[words.codes])
    if not cells.size:
        return ""
    row = int(cells[0])
    line = table.line(row)
    place = f"row {row}" if line is None else f"line {line}"
    example = shorten(words.values[words.codes[row]])
    return f"{cells.size:,} cell{'s' * (cells.size > 1)} such as {example} ({place})"
