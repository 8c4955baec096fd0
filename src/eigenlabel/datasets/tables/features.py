"""Features from the columns of a table: numbers, dates and categories."""

from typing import Any

import numpy as np

from eigenlabel.datasets.files.errors import DataError, shorten, show
from eigenlabel.datasets.matching import LIKE, unknown_values
from eigenlabel.datasets.tables.columns import (
    Dates,
    Lists,
    RawTable,
    Words,
    find_order,
    is_absent,
    is_empty,
    looks_like_dates,
    read_date,
    read_number,
    refusal,
    without,
)
from eigenlabel.datasets.tables.mixed_columns import (
    Mixture,
    about_absent,
    about_empty,
    known_numbers,
    settle,
)
from eigenlabel.datasets.tables.roles import ColumnOptions
from eigenlabel.inputs.messages import Message, Parameter
from eigenlabel.linalg.machine import memory_limit

MANY_VALUES, MANY_SAMPLES = 0.5, 20


def column_block(
    table: RawTable, names: list[str], options: ColumnOptions, like: Any, notes: list[str]
) -> tuple[np.ndarray, dict[str, tuple[str, ...]], dict[str, str]]:
    """Return the features of columns, the values of categories, and the types of the columns.

    Columns that name the samples are left out, with a note.
    """
    n, d = table.height, len(names)
    if 8 * n * d > memory_limit() / 2:
        raise DataError(table.path, f"{n:,} x {d:,} values do not fit into memory; use iterate")
    X = np.empty((n, d))
    categories: dict[str, tuple[str, ...]] = {}
    types: dict[str, str] = {}
    for name in names:
        if like is None:
            column, kind, values = new_column(table, name, notes)
        else:
            column, kind, values = known_column(table, name, options.strict, like, notes)
        if column is None:
            continue
        X[:, len(types)], types[name] = column, kind
        if kind == "category":
            categories[name] = values
    return X[:, : len(types)], categories, types


def new_column(
    table: RawTable, name: str, notes: list[str]
) -> tuple[np.ndarray | None, str, tuple[str, ...]]:
    """Return a column as numbers, its type and its values; None if it names the samples."""
    column, odd = table.column(name), None
    if isinstance(column, Words):
        column, odd = settle(table, name, column, notes)
    if isinstance(column, Words) and looks_like_dates(column):
        column = _read_dates(table, name, column)
    if isinstance(column, Words) and not table.typed:
        # A frame that pandas read from the same text has no values there.
        notes += about_empty(table, name, column)
        column = without(column, is_empty)
        if not column.values:
            column = np.full(table.height, np.nan)
    if isinstance(column, Dates):
        return column.days, "date", ()
    if isinstance(column, Words):
        named = _names_samples(name, column, odd, notes)
        codes = None if named else _positions(table, name, column, odd, notes)
        return codes, "category", tuple(column.values)
    if isinstance(column, Lists):
        raise refusal(table, name, "lists")
    return column, "number", ()


def known_column(
    table: RawTable, name: str, strict: bool, like: Any, notes: list[str]
) -> tuple[np.ndarray, str, tuple[str, ...]]:
    """Return a column that ``like`` has as numbers, its type and its values."""
    if name in like.categories:
        values = tuple(like.categories[name])
        return _known_values(table, name, values, strict, notes), "category", values
    column = table.column(name)
    if getattr(like, "column_types", {}).get(name) == "date":
        if not isinstance(column, Dates):
            words = table.words(name)
            notes += about_absent(table, name, words)
            order = getattr(like, "orders", {}).get(name)
            column = _read_dates(table, name, without(words, is_absent), order)
        return column.days, "date", ()
    if isinstance(column, Words):
        numbers = known_numbers(table, name, column, notes)
        column = column if numbers is None else numbers
    if not isinstance(column, np.ndarray):
        raise _not_numbers(table, name, column)
    return column, "number", ()


def _read_dates(table: RawTable, name: str, words: Words, order: str | None = None) -> Dates:
    """Return words as dates; raise DataError for any other word.

    ``order`` is what comes first in dates such as 1/2/2024; None finds it in the words.
    """
    order = find_order(words.values) if order is None else order
    if order is None:
        slashes = next(value for value in words.values if "/" in value)
        raise table.fault(
            Message(
                f"column {name!r} holds dates such as {shorten(slashes)}, whose order of day and "
                "month is unknown; write 2024-01-31, or leave it out with ",
                Parameter("drop", name),
            )
        )
    days = [read_date(value, order) for value in words.values]
    if None in days:
        row = int(np.argmax(np.array([*(day is None for day in days), False])[words.codes]))
        value = shorten(words.values[words.codes[row]])
        raise table.fault(f"{name!r} is {value}, not a date such as 2024-01-31", row)
    return Dates(np.array([*days, np.nan], dtype=float)[words.codes])


def _names_samples(name: str, words: Words, odd: Mixture | None, notes: list[str]) -> bool:
    """Return True if all samples have different words, which are names or texts, not categories."""
    filled = int((words.codes >= 0).sum())
    if not MANY_SAMPLES < filled == len(words.values):
        return False
    if odd is not None:
        notes.append(odd.note("left out, as every sample has a different value"))
        return True
    notes.append(
        Message(
            f"column {name!r} has a different value in every sample: left out; pass ",
            Parameter("text", name),
            " to count its words, ",
            Parameter("samples", name),
            " if it names the samples",
        )
    )
    return True


def _positions(
    table: RawTable, name: str, words: Words, odd: Mixture | None, notes: list[str]
) -> np.ndarray:
    """Return the positions of words in their sorted list."""
    if odd is not None:
        notes.append(odd.note("read as categories"))
    elif len(words.values) > max(MANY_SAMPLES, MANY_VALUES * table.height):
        notes.append(
            Message(
                f"column {name!r} has {len(words.values):,} different values in {table.height:,} "
                "samples; pass ",
                Parameter("text", name),
                " to count words, ",
                Parameter("samples", name),
                " or ",
                Parameter("drop", name),
            )
        )
    return np.where(words.codes < 0, np.nan, words.codes)


def _known_values(
    table: RawTable, name: str, values: tuple[str, ...], strict: bool, notes: list[str]
) -> np.ndarray:
    """Return the positions of words in a known list; a word that is not in it is NaN."""
    words = table.words(name)
    position = {value: float(i) for i, value in enumerate(values)}
    if not table.typed:  # as for a new column, unless such a word is a known value
        words = without(words, lambda value: is_empty(value) and value not in position)
    new = np.array([*(position.get(v, np.nan) for v in words.values), np.nan])
    found = np.asarray(new[words.codes])
    strange = np.isnan(found) & (words.codes >= 0)
    if strange.any() and strict:
        row = int(np.argmax(strange))
        value = shorten(words.values[words.codes[row]])
        reason = f"{name!r} is {value}, not one of {show(values)}; pass "
        raise table.fault(Message(reason, Parameter("like", ...)), row)
    if strange.any():
        notes.append(unknown_values(name, int(strange.sum()), values))
    return found


def _not_numbers(table: RawTable, name: str, column: Words | Lists | Dates) -> DataError:
    """Return the error for a column that must contain numbers, as in ``like``."""
    if isinstance(column, Lists):
        return refusal(table, name, "lists")
    if isinstance(column, Dates):
        return table.fault(Message(f"column {name!r} holds dates, not numbers as in ", LIKE))
    row, value = odd_cell(column)
    return table.fault(f"{name!r} is {shorten(value)}, not a number", row)


def odd_cell(words: Words) -> tuple[int, str]:
    """Return the row and the word of the first cell that is not a number."""
    odd = [read_number(v, comma=True) is None and not is_absent(v) for v in words.values]
    row = int(np.argmax(np.array([*odd, False])[words.codes]))
    return row, words.values[words.codes[row]]
