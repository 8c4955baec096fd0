"""The names of the columns of comma-separated text, and the delimiter between them."""

import csv
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.limits import LONGEST

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
