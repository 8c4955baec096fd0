"""Read comma-separated text in pieces."""

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.limits import LONGEST
from eigenlabel.datasets.files.text import read_lines
from eigenlabel.datasets.forms.batches import batches
from eigenlabel.datasets.forms.csv.header import SAMPLE, Header, read_header
from eigenlabel.datasets.forms.csv.reader import CsvTable


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
