"""ARFF in pieces: the header once, then some rows at a time, read as in a whole file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files import LONGEST, DataError
from eigenlabel.datasets.forms.arff.reader import ArffReader, list_rows


class ArffRows(ArffReader):
    """A reader that takes its header from the first lines, and then lines as they come."""

    def __init__(self, path: Path, lines: Iterator[str], *options: Any) -> None:
        super().__init__(path, "\n".join(_head(path, lines)), *options)

    def read_lines(self, lines: list[str], first: int) -> Dataset:
        """Read lines, the first of a given number."""
        rows, numbers = list_rows("\n".join(lines), 0)
        return self.read(rows, [first - 1 + number for number in numbers])


def _head(path: Path, lines: Iterator[str]) -> Iterator[str]:
    """Yield lines up to the one that says the data begin."""
    length = 0
    for line in lines:
        yield line
        length += len(line) + 1
        if length > LONGEST:
            raise DataError(path, "no @data line among the first 64 Mi characters")
        if line.lstrip().lower().startswith("@data"):
            yield ""
            return


def is_row(line: str) -> bool:
    """Tell whether a line of the data holds a sample."""
    line = line.strip()
    return bool(line) and not line.startswith("%")
