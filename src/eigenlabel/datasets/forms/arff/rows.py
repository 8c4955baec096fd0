"""The data rows of an ARFF file, dense or sparse, as numbers.

Rows are read in blocks, all words of a block at once. A block that does not fit is read again row
by row, to find the line that is wrong.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.forms.arff.attributes import Attributes, split_values, unquote
from eigenlabel.datasets.forms.arff.tokens import DIGITS, NEWLINE, SPACE, cut, read_indices
from eigenlabel.linalg._types import Matrix

PADDED = re.compile(r"\s\s|[^\S ]|\s,")  # more white space than one after a comma
# An index and a value; a quoted value may contain commas.
QUOTED = re.compile(r"""\s*(\d+\s+(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"))\s*,""")
OPENED = re.compile(r"""\s*\d+\s+['"]""")
BLOCK = 2**18  # characters read at once: a compromise between speed and memory


def list_rows(text: str, first: int) -> tuple[list[str], list[int]]:
    """Return the rows after the line of the given number, and the numbers of their lines."""
    lines = [line.strip() for line in text.split("\n")[first:]]
    kept = [i for i, line in enumerate(lines) if line and line[0] != "%"]
    return [lines[i] for i in kept], [first + 1 + i for i in kept]


def _blocks(rows: list[str], numbers: list[int]) -> Iterator[tuple[list[str], list[int]]]:
    """Yield rows of about BLOCK characters in total, and the numbers of their lines."""
    block = np.cumsum([len(row) for row in rows]) // BLOCK
    bounds = [0, *(np.flatnonzero(np.diff(block)) + 1), len(rows)]
    for start, end in pairwise(bounds):
        yield rows[start:end], numbers[start:end]


def _code(path: Any, columns: Attributes, j: int, word: str, line: int) -> float:
    try:
        return columns.types[j].code(word)
    except ValueError as error:
        raise DataError(path, f"{columns.names[j]!r} is {word!r}, {error}", line) from None


def read_dense(path: Any, columns: Attributes, rows: list[str], numbers: list[int]) -> np.ndarray:
    """Return rows with one value for each attribute."""
    out, at = np.empty((len(rows), len(columns))), 0
    for block, lines in _blocks(rows, numbers):
        try:
            values = _dense_block(columns, block)
        except ValueError:
            values = _dense_slowly(path, columns, block, lines)
        out[at : at + len(block)] = values
        at += len(block)
    return out


def _dense_block(columns: Attributes, rows: list[str]) -> np.ndarray:
    """Return rows that are read all at once; raise ValueError if that is not possible."""
    n, d = len(rows), len(columns)
    if any(row.count(",") >= d for row in rows if len(row) > BLOCK):
        raise ValueError("a row with too many values")
    if PADDED.search(rows[0]):
        rows = [",".join(map(str.strip, row.split(","))) for row in rows]
    words = cut("\n".join([*rows, ""]), NEWLINE)
    if words.bytes_at(words.ends).tobytes() != (b"," * (d - 1) + b"\n") * n:
        raise ValueError("rows of another length, or quoted commas")
    return columns.read(words).reshape(n, d)


def _dense_slowly(
    path: Any, columns: Attributes, rows: list[str], numbers: list[int]
) -> np.ndarray:
    """Return rows that are read one by one: commas may be quoted, and errors name the line."""
    out = np.empty((len(rows), len(columns)))
    for i, (row, number) in enumerate(zip(rows, numbers, strict=True)):
        words = split_values(row)
        if len(words) != len(columns):
            raise DataError(path, f"{len(words)} values for {len(columns)} attributes", number)
        out[i] = [_code(path, columns, j, word, number) for j, word in enumerate(words)]
    return out


def read_sparse(path: Any, columns: Attributes, rows: list[str], numbers: list[int]) -> Matrix:
    """Return rows ``{index value, ...}``.

    An attribute that is left out is 0, which is the first value of a named list.
    """
    parts = []
    for block, lines in _blocks(rows, numbers):
        try:
            parts.append(_sparse_block(columns, block))
        except ValueError:
            parts.append(_sparse_slowly(path, columns, block, lines))
    values, indices, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
    ends = np.concatenate([[0], np.cumsum(counts)])
    return sp.csr_array((values, indices, ends), shape=(len(rows), len(columns)))


def _sparse_block(
    columns: Attributes, rows: list[str]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the values, their columns, and the number of values of each row."""
    text = "\n".join(rows)
    inside = text[1:-1].split("}\n{")
    if text[0] != "{" or text[-1] != "}" or len(inside) != len(rows):
        raise ValueError("a row without braces")
    counts = np.array([row.count(",") + bool(row) for row in inside])
    if counts.max() > len(columns):
        raise ValueError("more values than attributes")
    if PADDED.search(inside[0]):
        inside = [" ".join(row.split()).replace(" ,", ",") for row in inside]
    words = cut(",".join([*filter(None, inside), ""]), SPACE)
    if words.bytes_at(words.ends).tobytes() != b" ," * counts.sum():
        raise ValueError("not an index, a space, a value and a comma in turn")
    indices, odd = read_indices(words[::2])
    ends = np.cumsum(counts)
    rises = np.diff(indices) > 0
    rises[ends[:-1][(counts[1:] > 0) & (ends[:-1] > 0)] - 1] = True  # where a new row starts
    if odd.any() or not rises.all() or indices.max(initial=0) >= len(columns):
        raise ValueError("indices that do not rise or are too large")
    return columns.read(words[1::2], indices), indices, counts


def _split_pairs(text: str) -> list[str]:
    """Split the inside of a sparse row at commas outside quotes."""
    if "'" not in text and '"' not in text:
        return [pair.strip() for pair in text.split(",")]
    pairs: list[str] = []
    at, text = 0, text + ","
    while at < len(text):
        match = QUOTED.match(text, at)
        if match is None and OPENED.match(text, at):  # a quote that is never closed
            return [*pairs, text[at:-1].strip()]
        end = text.index(",", at) + 1 if match is None else match.end()
        pairs.append(text[at : end - 1].strip() if match is None else match[1])
        at = end
    return pairs


def _sparse_slowly(
    path: Any, columns: Attributes, rows: list[str], numbers: list[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows that are read one by one: indices may be unsorted, and errors name the line."""
    values, indices, counts = [], [], []
    for row, number in zip(rows, numbers, strict=True):
        if not (row.startswith("{") and row.endswith("}")):
            raise DataError(path, "a sparse row must be in braces", number)
        seen: dict[int, float] = {}
        for pair in filter(None, _split_pairs(row[1:-1])):
            index, *rest = pair.split(maxsplit=1)
            word = rest[0] if rest else ""
            if not (index.isascii() and index.isdigit() and word):
                raise DataError(path, f"expected 'index value', found {pair[:40]!r}", number)
            if len(index) > DIGITS or int(index) >= len(columns):
                raise DataError(path, f"index {index} beyond the {len(columns)} attributes", number)
            j = int(index)
            if j in seen:
                raise DataError(path, f"index {index} occurs twice", number)
            seen[j] = _code(path, columns, j, unquote(word), number)
        indices += sorted(seen)
        values += [seen[j] for j in sorted(seen)]
        counts.append(len(seen))
    return np.array(values), np.array(indices, dtype=np.int64), np.array(counts)
