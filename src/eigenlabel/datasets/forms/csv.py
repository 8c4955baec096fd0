"""Comma-separated text: its delimiter, its header, and a strict look at rows and quotes.

The engines forgive ragged rows and stray quotes, each in its own way. Here both are errors, so
that either engine gives the same table.
"""

import csv
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from eigenlabel.datasets.files import LONGEST, DataError
from eigenlabel.datasets.tables.columns import Table, Words, holds_codes, read_numbers
from eigenlabel.datasets.tables.engines import PandasCells, PolarsCells, find_engine
from eigenlabel.linalg.machine import memory_limit

DELIMITERS = (",", "\t", ";")
SAMPLE = 20  # lines by which the delimiter is found
SEGMENT = 2**22
QUOTE, NEWLINE = ord('"'), ord("\n")
BLANKS = " \t\n\r\v\f"
QUOTED = re.compile(r'"[^"]*"')


class Header(NamedTuple):
    """The names of the columns, what separates them, and how many lines they take."""

    names: list[str]
    delimiter: str
    lines: int

    def is_blank(self, line: str) -> bool:
        """Tell whether a line is no row: empty, or of blanks that are not empty values."""
        if len(self.names) == 1 or not line:
            return not line
        return not line.strip(BLANKS) and line.count(self.delimiter) != len(self.names) - 1


class CsvTable(Table):
    """Some rows of a file of comma-separated text, the first of them on line ``first``."""

    typed = False

    def __init__(self, path: Any, header: Header, block: bytes, first: int) -> None:
        width, delimiter = len(header.names), header.delimiter
        n_lines = block.count(b"\n")
        if 8 * n_lines * (width + 4) > memory_limit() / 4:  # places of rows, and their numbers
            reason = f"{n_lines:,} lines of {width:,} values do not fit into memory; use iterate"
            raise DataError(path, reason)
        starts, ends, n_records = _find_rows(path, block, delimiter, width, first)
        self.path, self.names, self.height = path, header.names, len(starts)
        self.block, self.starts, self.first = block, starts, first
        self.comma = delimiter != ","
        self.has_codes = _find_code(delimiter).search(block) is not None
        self.position = {name: i for i, name in enumerate(header.names)}
        if not self.height:
            return
        if self.height < n_records:
            spans = zip(starts.tolist(), ends.tolist(), strict=True)
            block = b"\n".join(block[start:end] for start, end in spans) + b"\n"
        engine = PolarsCells if find_engine(path) == "polars" else PandasCells
        self.cells = engine(path, block, delimiter)
        if (self.cells.height, self.cells.width) != (self.height, width):
            raise DataError(path, f"{self.cells.height} rows read, there are {self.height}")
        if self.names[0] == "" and self.height > 1 and self._counts_rows():
            self.index = ""

    def _counts_rows(self) -> bool:
        words = self.words("")
        if len(words.values) != self.height:
            return False
        return [words.values[code] for code in words.codes] == list(map(str, range(self.height)))

    def column(self, name: str) -> Any:
        """Return a column, of numbers if all its cells are and none has leading zeros."""
        index = self.position[name]
        numbers = self.cells.numbers(index)
        if numbers is None or (self.has_codes and self.cells.holds_codes(index)):
            words = self.words(name)
            numbers = None if holds_codes(words) else read_numbers(words, self.comma)
            if numbers is None:
                return words
        self.check_infinite(name, numbers)
        return numbers

    def words(self, name: str) -> Words:
        """Give a column as it is written."""
        return self.cells.words(self.position[name])

    def line(self, row: int) -> int:
        """Give the line where a row begins."""
        return self.first + self.block.count(b"\n", 0, self.starts[row])


def _find_code(delimiter: str) -> re.Pattern[bytes]:
    """Return the pattern of a value of any column that has leading zeros."""
    edge = re.escape(delimiter.encode()) + rb'\s"'
    return re.compile(rb"(?:\A|[" + edge + rb"])0[0-9]+(?:[" + edge + rb"]|\Z)")


def join_records(path: Any, lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield records, of several lines where a quoted value holds line breaks, with their lines."""
    parts: list[str] = []
    open_quote, length = False, 0
    for number, line in enumerate(lines, 1):
        parts.append(line)
        length += len(line)
        open_quote ^= line.count('"') % 2 == 1
        if length > LONGEST:
            raise DataError(path, "a quote is never closed", number - len(parts) + 1)
        if not open_quote:
            yield len(parts), "\n".join(parts)
            parts, length = [], 0
    if parts:
        yield len(parts), "\n".join(parts)


def read_header(path: Any, lines: Iterable[str]) -> Header:
    """Read the names of the columns from the first lines, and find the delimiter by them."""
    records = list(join_records(path, islice(lines, SAMPLE)))
    taken = 0
    while records and not records[0][1].strip():
        taken += records.pop(0)[0]
    if not records:
        raise DataError(path, "empty")
    delimiter = find_delimiter([text for _, text in records])
    size, first = records[0]
    try:
        (names,) = csv.reader([first], delimiter=delimiter, strict=True)
    except (csv.Error, ValueError) as error:
        raise DataError(
            path, f"cannot read the names of the columns ({error})", taken + 1
        ) from None
    return Header(names, delimiter, taken + size)


def find_delimiter(records: list[str]) -> str:
    """Find what separates the values: what every row has as often as the first, else the first.

    Rows may be ragged, and then the error about them is worth more than one about the delimiter.
    """
    plain = [QUOTED.sub("", record) for record in records if record.strip()]
    head = {d: plain[0].count(d) for d in DELIMITERS}
    even = {d: all(row.count(d) == head[d] for row in plain) for d in DELIMITERS}
    return max(DELIMITERS, key=lambda d: (head[d] > 0, even[d], head[d]))


def _find_rows(
    path: Any, block: bytes, delimiter: str, width: int, first: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Give where rows that are not blank begin and end, and their number with the blank ones."""
    starts, ends, counts = _find_records(path, block, ord(delimiter), first)
    keep = ends > starts
    for row in np.flatnonzero(keep & (counts != width - 1)):
        if block[starts[row] : ends[row]].strip(BLANKS.encode()):
            line = first + block.count(b"\n", 0, starts[row])
            raise DataError(path, f"{counts[row] + 1} values for {width} columns", line)
        keep[row] = False
    return starts[keep], ends[keep], len(keep)


def _find_records(
    path: Any, block: bytes, delimiter: int, first: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give where records begin and end and how many delimiters each has, outside quotes."""
    data = np.frombuffer(block, dtype=np.uint8)
    ends, totals, total, inside = [], [], 0, False
    for start in range(0, len(data), SEGMENT):
        part = data[start : start + SEGMENT]
        quotes = part == QUOTE
        within = np.bitwise_and(np.cumsum(quotes, dtype=np.uint8), 1) != inside
        _check_quotes(path, block, np.flatnonzero(quotes) + start, within[quotes], delimiter, first)
        found = np.flatnonzero((part == NEWLINE) & ~within)
        sums = np.cumsum((part == delimiter) & ~within) + total
        ends.append(found + start)
        totals.append(sums[found])
        total, inside = sums[-1], within[-1]
    if inside:
        line = first + block.count(b"\n", 0, block.rfind(b'"'))
        raise DataError(path, "a quote is never closed", line)
    if block and not block.endswith(b"\n"):
        ends.append(np.array([len(block)]))
        totals.append(np.array([total]))
    if not ends:
        return (np.zeros(0, dtype=np.int64),) * 3
    stops = np.concatenate(ends)
    counts = np.diff(np.concatenate(totals), prepend=0)
    return np.concatenate([[0], stops[:-1] + 1]).astype(np.int64), stops, counts


def _check_quotes(
    path: Any, block: bytes, at: np.ndarray, opening: np.ndarray, delimiter: int, first: int
) -> None:
    """Refuse a quote that neither begins nor ends a value, nor is doubled inside one."""
    if not len(at):
        return
    data, last = np.frombuffer(block, dtype=np.uint8), len(block) - 1
    outer = np.where(opening, at == 0, at == last)  # of the whole text
    beside = data[np.where(opening, np.maximum(at - 1, 0), np.minimum(at + 1, last))]
    odd = ~outer & ~np.isin(beside, (delimiter, NEWLINE, QUOTE))
    if odd.any():
        line = first + block.count(b"\n", 0, int(at[np.argmax(odd)]))
        raise DataError(
            path,
            "a quote inside a value; put the whole value in quotes and double those in it, or "
            "read the file yourself and pass the frame to from_frame",
            line,
        )
