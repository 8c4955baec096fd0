"""Open data files: compressed or not, bounded in memory, with errors that name the line."""

import bz2
import gzip
import lzma
import zlib
from pathlib import Path
from typing import Any

from eigenlabel.core.spectral import memory_limit

OPENERS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
DAMAGE = (EOFError, OSError, lzma.LZMAError, zlib.error)
SUFFIXES = (".gz", ".bz2", ".xz")
CHUNK = 2**24
BOMB_BYTES, BOMB_RATIO = 2**28, 500


class DataError(ValueError):
    """A data file that cannot be read, with the file, the line where there is one, the reason."""

    def __init__(self, path: Any, reason: str, line: int | None = None) -> None:
        place = f"{path}" if line is None else f"{path}, line {line}"
        super().__init__(f"{place}: {reason}")


def stem(path: Path) -> str:
    """Give a file's name without the suffixes of compression and form."""
    name = path.name
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return name.rpartition(".")[0] or name


def _open(path: Path) -> tuple[Any, bool]:
    """Open a file for reading, decompressed by what it is, and tell whether it is compressed."""
    with path.open("rb") as plain:
        head = plain.read(6)
    opener = next((o for magic, o in OPENERS.items() if head.startswith(magic)), None)
    return (opener(path) if opener else path.open("rb")), opener is not None


def _damaged(path: Path, error: Exception) -> DataError:
    return DataError(path, f"damaged or cut off while decompressing ({error})")


def read_head(path: Path, size: int = 4096) -> bytes:
    """Read the first bytes of a file, decompressed."""
    stream, _ = _open(path)
    try:
        with stream:
            return bytes(stream.read(size))
    except DAMAGE as error:
        raise _damaged(path, error) from error


def read_bytes(path: Any, max_bytes: int | None = None) -> bytes:
    """Read a file whole, decompressed by what it is, not by its name.

    Stops where it grows beyond ``max_bytes`` (by default a quarter of the machine's memory), or
    beyond 256 MiB at more than 500 times its compressed size: no text of data does that.
    """
    path = Path(path)
    limit = int(memory_limit() / 4) if max_bytes is None else max_bytes
    size = path.stat().st_size
    stream, compressed = _open(path)
    chunks, total = [], 0
    try:
        with stream:
            while chunk := stream.read(CHUNK):
                total += len(chunk)
                if total > limit:
                    raise DataError(path, f"larger than {limit / 2**20:.0f} MiB; pass max_bytes")
                if compressed and max_bytes is None and total > max(BOMB_BYTES, BOMB_RATIO * size):
                    raise DataError(
                        path,
                        f"decompresses to over {BOMB_RATIO} times its size, which looks like a "
                        "compression bomb; pass max_bytes if it is not",
                    )
                chunks.append(chunk)
    except DAMAGE as error:
        raise _damaged(path, error) from error
    return b"".join(chunks)


def decode(path: Any, data: bytes, encoding: str = "utf-8") -> str:
    """Turn bytes into text with plain line ends and without a byte-order mark."""
    try:
        text = data.decode("utf-8-sig" if encoding == "utf-8" else encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(
            path, f"not {encoding} text (byte {data[error.start]:#04x}); pass encoding=", line
        ) from error
    if "\x00" in text[:4096]:
        raise DataError(path, "a binary file, not text")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
