"""Read comma-separated text as a table."""

import re
from pathlib import Path
from typing import Any

from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.opening import read_bytes
from eigenlabel.datasets.files.text import split_lines, to_utf8
from eigenlabel.datasets.forms.csv.header import Header, read_header
from eigenlabel.datasets.forms.csv.records import find_rows
from eigenlabel.datasets.tables.columns import Column, RawTable, Words, holds_codes, read_numbers
from eigenlabel.datasets.tables.engines import PandasCells, PolarsCells, find_engine
from eigenlabel.linalg.machine import memory_limit


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
