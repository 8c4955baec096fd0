"""Read ARFF in pieces: the header once, then some rows at a time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.limits import LONGEST
from eigenlabel.datasets.files.text import read_lines
from eigenlabel.datasets.forms.arff.reader import ArffReader
from eigenlabel.datasets.forms.arff.rows import list_rows
from eigenlabel.datasets.forms.batches import batches


def arff_pieces(path: Path, rows: int, like: Any, options: dict[str, Any]) -> Iterator[Dataset]:
    """Yield Datasets of at most ``rows`` samples."""
    options = dict(options)
    xml, labelled = options.pop("xml", None), options.pop("labelled", True)
    missing = options.pop("missing_labels", "error")
    lines = read_lines(path, **options)
    reader = ArffReader(path, "\n".join(_head(path, lines)), xml, like, labelled, missing)
    for batch in batches(path, lines, reader.first + 1, rows, _is_row):
        found, numbers = list_rows("\n".join(batch.lines), 0)
        yield reader.read(found, [batch.first - 1 + number for number in numbers])


def _head(path: Path, lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines up to the one after which the data begin."""
    length = 0
    for line in lines:
        yield line
        length += len(line) + 1
        if length > LONGEST:
            raise DataError(path, "no @data line among the first 64 Mi characters")
        if line.lstrip().lower().startswith("@data"):
            yield ""
            return


def _is_row(line: str) -> bool:
    """Return True if a line of the data is a sample, not blank and not a comment."""
    line = line.strip()
    return bool(line) and not line.startswith("%")
