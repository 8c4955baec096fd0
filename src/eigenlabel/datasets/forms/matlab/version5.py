"""The MATLAB v5 format, of files that may be damaged or hostile.

Only matrices, sparse matrices, text and cell arrays are read. Every length in the file is compared
with the data that are there before memory is allocated for it.
"""

import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.limits import Limit
from eigenlabel.datasets.forms.stored_arrays import build_sparse

CHUNK = 2**22
HEADER, HEAD = (
    128,
    2**16,
)  # bytes of the header of the file, and bytes that contain the name of a variable
ORDERS = {b"IM": "little", b"MI": "big"}
MATRIX, COMPRESSED = 14, 15
NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4"}
NUMBERS |= {7: "f4", 9: "f8", 12: "i8", 13: "u8"}
CELL, CHAR, SPARSE, NUMERIC = 1, 4, 5, range(6, 16)
COMPLEX = 0x800


class Elements:
    """The data elements in a buffer, read one after another."""

    def __init__(self, buffer: Any, order: Any) -> None:
        self.buffer, self.order, self.at = memoryview(buffer), order, 0

    def __bool__(self) -> bool:
        return self.at < len(self.buffer)

    def _word(self) -> int:
        return int.from_bytes(self._bytes(4), self.order)

    def _bytes(self, count: int) -> memoryview:
        if count > len(self.buffer) - self.at:
            raise ValueError(f"{count} bytes expected, {len(self.buffer) - self.at} left")
        self.at += count
        return self.buffer[self.at - count : self.at]

    def next(self) -> tuple[int, memoryview]:
        """Return the type and the content of the next element."""
        kind, start = self._word(), self.at
        if kind >> 16:  # up to four bytes are stored in place of their number
            content = self._bytes(4)[: kind >> 16]
            if len(content) < kind >> 16:
                raise ValueError(f"{kind >> 16} bytes in a short element")
            return kind & 0xFFFF, content
        content = self._bytes(self._word())
        if kind != COMPRESSED:
            self.at = min(start - 4 + 8 + -(-len(content) // 8) * 8, len(self.buffer))
        return kind, content

    def integers(self) -> list[int]:
        """Read an element of whole numbers."""
        return [int(v) for v in self.numbers(wanted="iu")]

    def numbers(self, wanted: str = "iuf") -> np.ndarray:
        """Read an element of numbers."""
        kind, content = self.next()
        dtype = np.dtype(NUMBERS.get(kind, "V1")).newbyteorder("<" if self._little else ">")
        if dtype.kind not in wanted or len(content) % dtype.itemsize:
            raise ValueError(f"{len(content)} bytes of type {kind} where numbers are expected")
        return np.frombuffer(content, dtype=dtype).astype(dtype.newbyteorder("="), copy=False)

    @property
    def _little(self) -> bool:
        return bool(self.order == "little")

    def text(self) -> str:
        """Read an element of characters."""
        kind, content = self.next()
        wide = "-le" if self._little else "-be"
        encodings = {1: "latin-1", 2: "latin-1", 4: "utf-16" + wide, 16: "utf-8"}
        encodings |= {17: "utf-16" + wide, 18: "utf-32" + wide}
        if kind not in encodings:
            raise ValueError(f"characters of type {kind}")
        return bytes(content).decode(encodings[kind])


class Head(NamedTuple):
    """What precedes the values of an array."""

    kind: int
    is_complex: bool
    shape: tuple[int, ...]
    name: str

    @property
    def size(self) -> int:
        """Return the number of values."""
        size = 1
        for length in self.shape:
            size *= length
        return size


def _read_head(elements: Elements) -> Head:
    flags = elements.integers()
    shape = tuple(elements.integers())
    if not flags or len(shape) < 2 or min(shape) < 0:
        raise ValueError(f"an array with the flags {flags} and the shape {shape}")
    name = elements.text()
    return Head(flags[0] & 0xFF, bool(flags[0] & COMPLEX), shape, name)


def _read_array(path: Path, content: Any, order: Any, nested: bool = False) -> Any:
    """Return an array: a matrix, a CSR matrix, a list of cells, text, or None for other types."""
    elements = Elements(content, order)
    if not elements:
        return np.zeros((0, 0))
    head = _read_head(elements)
    if head.kind == CHAR:
        return _read_text(elements.text(), head)
    if head.kind == CELL and not nested:
        return _read_cells(path, elements, head)
    if head.kind == SPARSE and not head.is_complex:
        indices, indptr, values = elements.numbers(), elements.numbers(), elements.numbers()
        stored = int(indptr[-1]) if len(indptr) else 0  # more may be allocated
        if not 0 <= stored <= min(len(indices), len(values)):
            raise ValueError(f"{stored} entries in room for {min(len(indices), len(values))}")
        parts = (values[:stored], indices[:stored], indptr)
        size = len(content)
        return build_sparse(path, head.name, parts, head.shape, by_columns=True, file_size=size)
    if head.kind in NUMERIC and not head.is_complex:
        values = elements.numbers()
        if len(values) != head.size:
            raise ValueError(f"{len(values)} values for the shape {head.shape}")
        return values.reshape(head.shape, order="F")
    return None


def _read_text(text: str, head: Head) -> Any:
    """Return a line of text, or a list of the lines of a matrix of characters."""
    if len(head.shape) != 2 or head.size != len(text) or head.shape[0] == 1:
        return text
    return ["".join(text[i :: head.shape[0]]) for i in range(head.shape[0])] if text else ""


def _read_cells(path: Path, elements: Elements, head: Head) -> list[Any]:
    cells = []
    while elements:
        kind, content = elements.next()
        if kind != MATRIX:
            raise ValueError(f"a cell of type {kind}")
        cells.append(_read_array(path, content, elements.order, nested=True))
    if len(cells) != head.size:
        raise ValueError(f"{len(cells)} cells for the shape {head.shape}")
    return cells


def _inflate(stream: Any, head: bytes, size: int, limit: Limit) -> bytearray:
    """Decompress the rest of an element of ``size`` bytes, in chunks that the limit allows."""
    whole, rest = bytearray(head), stream.unconsumed_tail
    while rest and not stream.eof:
        chunk = stream.decompress(rest, CHUNK)
        limit.take(len(chunk), "a compressed array")
        whole += chunk
        limit.check_ratio(len(whole), size)
        rest = stream.unconsumed_tail
    return whole


def _variables(data: Any, order: Any, wanted: Any, limit: Limit) -> Iterator[tuple[str, Any]]:
    """Yield the names of arrays, and the content of the wanted ones."""
    top = Elements(memoryview(data)[HEADER:], order)
    while top:
        kind, content = top.next()
        stream, size, start = None, len(content), b""
        if kind == COMPRESSED:
            stream = zlib.decompressobj()
            start = stream.decompress(content, HEAD)
            kind, content = int.from_bytes(start[:4], order), memoryview(start)[8:]
        if kind != MATRIX or not content:
            continue
        name = _read_head(Elements(content, order)).name
        if name not in wanted:
            yield name, None
            continue
        if stream is not None:
            _, content = Elements(_inflate(stream, start, size, limit), order).next()
        yield name, content


def read_v5(path: Path, data: Any, wanted: Collection[str], limit: Limit) -> dict[str, Any]:
    """Return the wanted variables of a v5 file by name, and None for all others.

    A matrix is an array, a sparse one a CSR matrix, a cell array a list, text a string.
    """
    order = ORDERS.get(bytes(data[HEADER - 2 : HEADER]))
    if order is None:
        raise DataError(path, "not a MATLAB v5 file, or damaged (no byte-order mark)")
    found: dict[str, Any] = {}
    try:
        for name, content in _variables(data, order, wanted, limit):
            found[name] = None if content is None else _read_array(path, content, order)
    except DataError:
        raise
    except (ValueError, OverflowError, zlib.error) as error:
        raise DataError(path, f"not a MATLAB file, or damaged ({error})") from error
    return found
