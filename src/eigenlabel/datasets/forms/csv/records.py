"""Find the rows of comma-separated text, with a strict check of their length and quotes.

The engines accept ragged rows and stray quotes, each in its own way. Here both are errors, so that
either engine returns the same table.
"""

from typing import Any

import numpy as np

from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.forms.csv.header import BLANKS

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
