"""Open data files: compressed or not, bounded in memory, with errors that name the line."""

import bz2
import codecs
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from eigenlabel.inputs.messages import Message, Parameter
from eigenlabel.inputs.progress import progress
from eigenlabel.linalg.machine import memory_limit

OPENERS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
DAMAGE = (EOFError, OSError, lzma.LZMAError, zlib.error)
SUFFIXES = (".gz", ".bz2", ".xz")
CHUNK = 2**24
BOMB_BYTES, BOMB_RATIO = 2**28, 500
LONGEST = 2**26  # characters of one line that is read in pieces
EMPTIEST = 2**20  # lines one after another that hold no sample
WATCHED = 2**26  # bytes of a file that takes long enough for a progress bar
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class DataError(ValueError):
    """A data file that cannot be read, with the file, the line where there is one, the reason."""

    def __init__(self, path: Any, reason: str, line: int | None = None) -> None:
        place = f"{path}" if line is None else f"{path}, line {line}"
        super().__init__(Message(f"{place}: ", reason))
        self.path, self.reason, self.line = path, reason, line


class Limit:
    """The bytes of memory that the content of a file may take.

    Without ``max_bytes`` it is a quarter of the machine's, and content that is over 256 MiB and
    500 times as large as what is stored of it is refused too.
    """

    def __init__(
        self, path: Any, max_bytes: int | None = None, default: float | None = None
    ) -> None:
        self.path, self.trusted = path, max_bytes is not None
        default = memory_limit() / 4 if default is None else default
        self.size = self.left = default if max_bytes is None else max_bytes

    def take(self, count: int, what: str) -> int:
        """Return the number of bytes, or raise DataError if there is no room for them."""
        self.left -= count
        if self.left < 0:
            raise DataError(
                self.path,
                f"{what} is larger than {self.size / 2**20:.0f} MiB; pass max_bytes if it is right",
            )
        return count

    def check_ratio(self, size: int, stored: int) -> None:
        """Raise DataError if content of this size looks like a compression bomb."""
        if not self.trusted and size > max(BOMB_BYTES, BOMB_RATIO * stored):
            raise DataError(
                self.path,
                f"decompresses to over {BOMB_RATIO} times its size, which looks like a "
                "compression bomb; pass max_bytes if it is not",
            )


def plain_name(path: Path) -> str:
    """Give a file's name without the suffix of compression."""
    name = path.name
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return name


def stem(path: Path) -> str:
    """Give a file's name without the suffixes of compression and form."""
    name = plain_name(path)
    return name.rpartition(".")[0] or name


def _opener(path: Path) -> Any:
    """Tell how to decompress a file, by its first bytes; None if it is not compressed."""
    with path.open("rb") as plain:
        head = plain.read(6)
    return next((o for magic, o in OPENERS.items() if head.startswith(magic)), None)


def is_compressed(path: Path) -> bool:
    """Tell whether a file is compressed, by its first bytes."""
    return _opener(path) is not None


def text_size(path: Any) -> int:
    """Give the most bytes that a file should hold, decompressed."""
    return Path(path).stat().st_size * (BOMB_RATIO if is_compressed(Path(path)) else 1)


def _damaged(path: Path, error: Exception) -> DataError:
    return DataError(path, f"damaged or cut off while decompressing ({error})")


def read_head(path: Path, size: int = 4096) -> bytes:
    """Read the first bytes of a file, decompressed."""
    try:
        with (_opener(path) or open)(path, "rb") as stream:
            return bytes(stream.read(size))
    except DAMAGE as error:
        raise _damaged(path, error) from error


def check_file(path: Path) -> None:
    """Raise DataError unless there is a file that can be read more than once."""
    if path.is_file():
        return
    reason = "no such file"
    if path.is_dir():
        reason = "a folder, not a file"
    elif path.is_fifo():
        reason = "a pipe, which can be read only once; load and iterate read pipes"
    elif path.exists():
        reason = "a device or socket; pipe its content in, or write it to a file first"
    raise DataError(path, reason)


def _read_chunks(path: Path, limit: Limit, chunk_size: int) -> Iterator[bytes]:
    """Yield a file's content, decompressed by what it is; a large one shows its progress."""
    check_file(path)
    size, opener, total, seen = path.stat().st_size, _opener(path), 0, 0
    bar = progress(size, path.name, "B") if size > WATCHED else nullcontext()
    try:
        with bar, path.open("rb") as raw, opener(raw) if opener else nullcontext(raw) as stream:
            while chunk := stream.read(chunk_size):
                total += limit.take(len(chunk), "the content")
                if opener:
                    limit.check_ratio(total, size)
                if size > WATCHED:
                    bar.update(raw.tell() - seen)
                    seen = raw.tell()
                yield chunk
    except DAMAGE as error:
        raise _damaged(path, error) from error


def read_bytes(path: Any, max_bytes: int | None = None) -> bytes:
    """Read a file whole, decompressed by what it is, not by its name.

    Stops where it grows beyond ``max_bytes`` (by default a quarter of the machine's memory), or
    beyond 256 MiB at more than 500 times its compressed size: no text of data does that.
    """
    return b"".join(_read_chunks(Path(path), Limit(path, max_bytes), CHUNK))


def check_room(path: Any, text: bytes, weights: dict[bytes, int], max_bytes: int | None) -> None:
    """Raise DataError if a text takes over half of the memory once it is read.

    ``weights`` are the bytes that each of some characters costs in the end. Not checked with
    ``max_bytes``.
    """
    if max_bytes is not None:
        return
    needed = sum(text.count(mark) * weight for mark, weight in weights.items())
    if needed > memory_limit() / 2:
        lines = text.count(b"\n")
        raise DataError(
            path,
            f"{lines:,} lines need about {needed / 2**30:.1f} GiB, more than half of the memory; "
            "read it in pieces with iterate, or pass max_bytes to try",
        )


def read_lines(
    path: Any, encoding: str = "utf-8", max_bytes: int | None = None, chunk_size: int = 2**20
) -> Iterator[str]:
    """Yield the lines of a text file, decompressed, without line ends or byte-order mark.

    At most a chunk and a line are in memory, and a line of more than 64 Mi characters is refused.
    """
    path, number, rest = Path(path), 1, ""
    chunks = _read_chunks(path, Limit(path, max_bytes, default=float("inf")), chunk_size)
    decoder = None
    for chunk in chunks:
        if decoder is None:
            encoding = find_encoding(path, chunk, encoding)
            decoder = io.IncrementalNewlineDecoder(
                codecs.getincrementaldecoder(encoding)(), translate=True
            )
        text = _decode_some(path, decoder, chunk, encoding, number)
        lines = (rest + text).split("\n")
        rest = lines.pop()
        number += len(lines)
        if len(rest) > LONGEST:
            raise DataError(
                path, f"a line of more than {LONGEST / 2**20:.0f} Mi characters", number
            )
        yield from lines
    if decoder is not None:
        rest += _decode_some(path, decoder, b"", encoding, number)
    if rest:  # which ends with the end of a line if that is a carriage return
        yield from rest.removesuffix("\n").split("\n")


def _decode_some(path: Path, decoder: Any, chunk: bytes, encoding: str, number: int) -> str:
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
    """Give the encoding to read with: what is asked for, unless a byte-order mark tells better."""
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
        return "utf-16" if head.startswith(UTF16) else "utf-8-sig"
    try:
        "a".encode(encoding)
    except LookupError as error:
        raise DataError(path, str(error)) from error
    return encoding


def decode(path: Any, data: bytes, encoding: str = "utf-8") -> str:
    """Turn bytes into text with plain line ends and without a byte-order mark."""
    encoding = find_encoding(path, data, encoding)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise _not_text(path, error, encoding) from error
    if "\x00" in text[:4096]:
        raise _binary(path)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def to_utf8(path: Any, data: bytes, encoding: str = "utf-8") -> bytes:
    """Turn the bytes of a text file into UTF-8 with plain line ends."""
    if b"\x00" in data and not data.startswith(UTF16):
        raise _binary(path)
    if not data.isascii() or find_encoding(path, data, encoding) != "utf-8-sig":
        return decode(path, data, encoding).encode()
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def split_lines(block: bytes) -> Iterator[str]:
    """Yield the lines of a text, one after another."""
    start = 0
    while start < len(block):
        end = block.find(b"\n", start)
        end = len(block) if end < 0 else end
        yield block[start:end].decode()
        start = end + 1


def too_empty(path: Path, line: int) -> DataError:
    """Make the error for a file of blank lines, which would take long to pass over."""
    return DataError(path, f"over {EMPTIEST} lines without a sample", line)


def number_names(path: Any, count: int) -> np.ndarray:
    """Give the names of columns that have none, their numbers: np.arange(count).astype(str).

    numpy's own way takes 16 times as long and three times the memory, which counts from a million.
    """
    width = len(str(max(count - 1, 0)))
    if 4.0 * width * count > memory_limit() / 8:
        raise DataError(path, f"{count:,} columns are more than this machine can name")
    points = np.zeros((count, width), dtype=np.uint32)
    for digits in range(1, width + 1):
        numbers = np.arange(10 ** (digits - 1) if digits > 1 else 0, min(10**digits, count))
        for place in range(digits):
            points[numbers, place] = ord("0") + numbers // 10 ** (digits - 1 - place) % 10
    return points.view(f"U{width}").ravel()


def name_array(path: Any, names: Sequence[str]) -> np.ndarray:
    """Make an array of names, in which each takes the room of the longest."""
    longest = max(map(len, names), default=0)
    if 4 * longest * len(names) > memory_limit() / 8:
        raise DataError(path, f"{len(names):,} names, one of {longest:,} characters, are too long")
    return np.array(names, dtype=str)


def read_names(path: Path) -> list[str]:
    """Read names, one a line."""
    return decode(path, read_bytes(path)).removesuffix("\n").split("\n")


def names_beside(path: Path, kind: str) -> list[str] | None:
    """Read ``<stem>.<kind>.txt[.gz]`` if it lies beside a file."""
    for suffix in (".txt", ".txt.gz"):
        other = path.parent / f"{stem(path)}.{kind}{suffix}"
        if other.is_file():
            return read_names(other)
    return None
