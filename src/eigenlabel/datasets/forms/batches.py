"""Cut the lines of a text file into batches of samples."""

import codecs
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from eigenlabel.datasets.files.limits import EMPTIEST, too_empty
from eigenlabel.datasets.files.text import read_lines

LATIN = "latin-1"  # every byte is a character of this encoding


class Batch(NamedTuple):
    """The lines of some samples.

    Attributes
    ----------
    lines : list of str
        The lines, without line ends.
    first : int
        The number of the first line in the file, from 1.
    before : int
        The number of samples in all earlier batches.
    """

    lines: list[str]
    first: int
    before: int

    def encode(self, encoding: str) -> bytes:
        """Return the lines as bytes, each with a line end."""
        return "\n".join([*self.lines, ""]).encode(encoding)


def batches(
    path: Path, lines: Iterable[str], first: int, rows: int, ends_sample: Callable[[str], bool]
) -> Iterator[Batch]:
    """Yield batches of at most ``rows`` samples.

    Parameters
    ----------
    path : Path
        The file, for errors.
    lines : iterable of str
        Its lines.
    first : int
        The number of the first line.
    rows : int
        The largest number of samples in a batch.
    ends_sample : callable
        Returns True for a line that is the last one of a sample. Blank lines and comments belong
        to a batch, but are not counted as samples.
    """
    batch: list[str] = []
    count = before = last = 0
    for line in lines:
        batch.append(line)
        if ends_sample(line):
            count, last = count + 1, len(batch)
        elif len(batch) - last > EMPTIEST:
            raise too_empty(path, first + len(batch) - 1)
        if count == rows:
            yield Batch(batch, first, before)
            first, before = first + len(batch), before + count
            batch, count, last = [], 0, 0
    if count:
        yield Batch(batch, first, before)


def byte_lines(path: Path, max_bytes: int | None) -> Iterator[str]:
    """Yield the lines of a file whose encoding does not matter, decoded as Latin-1.

    A byte-order mark of UTF-8 is removed.
    """
    lines = read_lines(path, LATIN, max_bytes)
    yield next(lines, "").removeprefix(codecs.BOM_UTF8.decode(LATIN))
    yield from lines
