"""Read comma-separated text as a table: whole, or in pieces."""

import csv
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from eigenlabel.datasets.files.decompression import read_bytes
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.limits import LONGEST
from eigenlabel.datasets.files.text import read_lines, split_lines, to_utf8
from eigenlabel.datasets.forms.batches import batches
from eigenlabel.datasets.tables.columns import Column, RawTable, Words, holds_codes, read_numbers
from eigenlabel.datasets.tables.polars_and_pandas import (
    PandasCells,
    PolarsCells,
    TableCells,
    find_engine,
)
from eigenlabel.linalg.machine import memory_limit

DELIMITERS = (",", "\t", ";")
SAMPLE = 20  # lines that are searched for the delimiter
BLANKS = " \t\n\r\v\f"
QUOTED = re.compile(r'"[^"]*"')


class Header(NamedTuple):
    """The first line of comma-separated text.

    Attributes
    ----------
    names : list of str
        The names of the columns.
    delimiter : str
        The character between values.
    lines : int
        The number of lines up to the end of the names.
    """

    names: list[str]
    delimiter: str
    lines: int

    def is_blank(self, line: str) -> bool:
        """Return True if a line is not a row: empty, or blanks that are not empty values."""
        if len(self.names) == 1 or not line:
            return not line
        return not line.strip(BLANKS) and line.count(self.delimiter) != len(self.names) - 1


def join_records(path: Any, lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the number of lines and the text of each record; quoted values may have line breaks."""
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
    """Return the names of the columns and the delimiter, found in the first lines."""
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
    """Return the delimiter: one that all rows contain equally often if there is one.

    Rows may be ragged. Then the error about them is more useful than one about the delimiter.
    """
    plain = [QUOTED.sub("", record) for record in records if record.strip()]
    head = {d: plain[0].count(d) for d in DELIMITERS}
    even = {d: all(row.count(d) == head[d] for row in plain) for d in DELIMITERS}
    return max(DELIMITERS, key=lambda d: (head[d] > 0, even[d], head[d]))


SEGMENT = 2**22  # bytes that are searched at once
QUOTE, NEWLINE = ord('"'), ord("\n")


def find_rows(
    path: Any, block: bytes, delimiter: str, width: int, first: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the starts and ends of rows that are not blank, and the number of all rows."""
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
    """Return the start, the end and the number of delimiters outside quotes of each record."""
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
    """Raise DataError for a quote inside a value that is not doubled."""
    if not len(at):
        return
    data, last = np.frombuffer(block, dtype=np.uint8), len(block) - 1
    outer = np.where(opening, at == 0, at == last)  # at the edge of the whole text
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


class CsvTable(RawTable):
    """Some rows of a file of comma-separated text, the first of them on line ``first``."""

    typed = False

    def __init__(self, path: Any, header: Header, block: bytes, first: int) -> None:
        width, delimiter = len(header.names), header.delimiter
        n_lines = block.count(b"\n")
        if 8 * n_lines * (width + 4) > memory_limit() / 4:  # positions of rows, and their values
            reason = f"{n_lines:,} lines of {width:,} values do not fit into memory; use iterate"
            raise DataError(path, reason)
        starts, ends, n_records = find_rows(path, block, delimiter, width, first)
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
        self.cells: TableCells = engine(path, block, delimiter)
        if (self.cells.height, self.cells.width) != (self.height, width):
            raise DataError(path, f"{self.cells.height} rows read, there are {self.height}")
        if self.names[0] == "" and self.height > 1 and self._counts_rows():
            self.index = ""

    def _counts_rows(self) -> bool:
        words = self.words("")
        if len(words.values) != self.height:
            return False
        return [words.values[code] for code in words.codes] == list(map(str, range(self.height)))

    def column(self, name: str) -> Column:
        """Return a column, as numbers if all its cells are numbers and none has leading zeros."""
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
        """Return a column as it is written."""
        return self.cells.words(self.position[name])

    def line(self, row: int) -> int:
        """Return the line in which a row starts."""
        return self.first + self.block.count(b"\n", 0, self.starts[row])


def _find_code(delimiter: str) -> re.Pattern[bytes]:
    """Return the pattern of a value with leading zeros, in any column."""
    edge = re.escape(delimiter.encode()) + rb'\s"'
    return re.compile(rb"(?:\A|[" + edge + rb"])0[0-9]+(?:[" + edge + rb"]|\Z)")


def read_csv(path: Path, encoding: str, max_bytes: int | None) -> CsvTable:
    """Read comma-separated text whole, with the names of its columns in the first line."""
    data = to_utf8(path, read_bytes(path, max_bytes), encoding)
    header = read_header(path, split_lines(data))
    block = data[_after_lines(data, header.lines) :]
    del data
    return CsvTable(path, header, block, header.lines + 1)


def _after_lines(block: bytes, count: int) -> int:
    """Return the position after the first ``count`` lines."""
    at = 0
    for _ in range(count):
        at = block.find(b"\n", at) + 1 or len(block)
    return at


class _RecordEnds:
    """Finds the lines that end a record; a quoted value may contain line breaks."""

    def __init__(self, path: Path, header: Header) -> None:
        self.path, self.header = path, header
        self.line = self.start = header.lines + 1
        self.open, self.length = False, 0

    def __call__(self, line: str) -> bool:
        blank = not self.open and self.header.is_blank(line)
        self.open ^= line.count('"') % 2 == 1
        self.length += len(line)
        self.line += 1
        if self.length > LONGEST:
            raise DataError(self.path, "a quote is never closed, or a row is too long", self.start)
        if self.open:
            return False
        self.start, self.length = self.line, 0
        return not blank


def csv_pieces(path: Path, rows: int, reading: dict[str, Any]) -> Iterator[CsvTable]:
    """Yield tables of at most ``rows`` rows; ``reading`` are options of ``read_lines``."""
    lines = read_lines(path, **reading)
    sample = list(islice(lines, SAMPLE))
    header = read_header(path, sample)
    rest = chain(sample[header.lines :], lines)
    records = _RecordEnds(path, header)
    for batch in batches(path, rest, header.lines + 1, rows, records):
        yield CsvTable(path, header, batch.encode("utf-8"), batch.first)
    if records.open:
        raise DataError(path, "a quote is never closed", records.start)
