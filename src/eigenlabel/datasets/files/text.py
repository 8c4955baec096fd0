"""Decode text files and split them into lines."""

import codecs
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eigenlabel.datasets.files.decompression import read_chunks
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.limits import LONGEST, Limit
from eigenlabel.inputs.messages import Message, Parameter

UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_lines(
    path: Any, encoding: str = "utf-8", max_bytes: int | None = None, chunk_size: int = 2**20
) -> Iterator[str]:
    """Yield the lines of a text file, decompressed, without line ends or byte-order mark.

    At most a chunk and a line are in memory. DataError is raised for a line of more than 64 Mi
    characters.
    """
    path, number, rest = Path(path), 1, ""
    chunks = read_chunks(path, Limit(path, max_bytes, default=float("inf")), chunk_size)
    decoder = None
    for chunk in chunks:
        if decoder is None:
            encoding = find_encoding(path, chunk, encoding)
            decoder = io.IncrementalNewlineDecoder(
                codecs.getincrementaldecoder(encoding)(), translate=True
            )
        text = _decode_chunk(path, decoder, chunk, encoding, number)
        lines = (rest + text).split("\n")
        rest = lines.pop()
        number += len(lines)
        if len(rest) > LONGEST:
            raise DataError(
                path, f"a line of more than {LONGEST / 2**20:.0f} Mi characters", number
            )
        yield from lines
    if decoder is not None:
        rest += _decode_chunk(path, decoder, b"", encoding, number)
    if rest:  # a final carriage return has become the end of a line
        yield from rest.removesuffix("\n").split("\n")


def _decode_chunk(
    path: Path, decoder: io.IncrementalNewlineDecoder, chunk: bytes, encoding: str, number: int
) -> str:
    try:
        text = decoder.decode(chunk, final=not chunk)
    except UnicodeDecodeError as error:
        raise _not_text(path, error, encoding, number) from error
    if "\x00" in text:
        raise _binary(path)
    return text


def _not_text(path: Any, error: UnicodeDecodeError, encoding: str, first: int = 1) -> DataError:
    line = error.object.count(b"\n", 0, error.start) + first
    byte, encoding = error.object[error.start], encoding.removesuffix("-sig")
    reason = Message(f"not {encoding} text (byte {byte:#04x}); pass ", Parameter("encoding", ...))
    return DataError(path, reason, line)


def _binary(path: Any) -> DataError:
    return DataError(path, "a binary file, not text")


def find_encoding(path: Any, head: bytes, encoding: str = "utf-8") -> str:
    """Return the encoding to decode with.

    A byte-order mark of UTF-16 overrides UTF-8. An unknown encoding raises DataError.
    """
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
        return "utf-16" if head.startswith(UTF16) else "utf-8-sig"
    try:
        "a".encode(encoding)
    except LookupError as error:
        raise DataError(path, str(error)) from error
    return encoding


def decode(path: Any, data: bytes, encoding: str = "utf-8") -> str:
    """Return bytes as text with plain line ends and without a byte-order mark."""
    encoding = find_encoding(path, data, encoding)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise _not_text(path, error, encoding) from error
    if "\x00" in text[:4096]:
        raise _binary(path)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def to_utf8(path: Any, data: bytes, encoding: str = "utf-8") -> bytes:
    """Return the bytes of a text file as UTF-8 with plain line ends."""
    if b"\x00" in data and not data.startswith(UTF16):
        raise _binary(path)
    if not data.isascii() or find_encoding(path, data, encoding) != "utf-8-sig":
        return decode(path, data, encoding).encode()
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def split_lines(block: bytes) -> Iterator[str]:
    """Yield the lines of a UTF-8 text, decoded one at a time to save memory."""
    start = 0
    while start < len(block):
        end = block.find(b"\n", start)
        end = len(block) if end < 0 else end
        yield block[start:end].decode()
        start = end + 1
