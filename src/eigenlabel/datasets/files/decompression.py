"""Open data files, compressed or not, and read their bytes."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.limits import BOMB_RATIO, WATCHED, Limit
from eigenlabel.inputs.progress import progress

# How to open a compressed file, by its first bytes.
OPENERS: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
DAMAGE = (EOFError, OSError, lzma.LZMAError, zlib.error)
SUFFIXES = (".gz", ".bz2", ".xz")
CHUNK = 2**24


def plain_name(path: Path) -> str:
    """Return the name of a file without the suffix of its compression."""
    name = path.name
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return name


def stem(path: Path) -> str:
    """Return the name of a file without the suffixes of its compression and form."""
    name = plain_name(path)
    return name.rpartition(".")[0] or name


def _find_opener(path: Path) -> Callable[..., Any] | None:
    """Return the function that opens a compressed file, or None if it is not compressed."""
    with path.open("rb") as plain:
        head = plain.read(6)
    return next((o for magic, o in OPENERS.items() if head.startswith(magic)), None)


def is_compressed(path: Path) -> bool:
    """Return True if a file is compressed, judging by its first bytes."""
    return _find_opener(path) is not None


def text_size(path: Any) -> int:
    """Return an upper bound on the decompressed size of a file, unless it is a compression bomb."""
    return Path(path).stat().st_size * (BOMB_RATIO if is_compressed(Path(path)) else 1)


def _damaged(path: Path, error: Exception) -> DataError:
    return DataError(path, f"damaged or cut off while decompressing ({error})")


def read_head(path: Path, size: int = 4096) -> bytes:
    """Read the first bytes of a file, decompressed."""
    try:
        with (_find_opener(path) or open)(path, "rb") as stream:
            return bytes(stream.read(size))
    except DAMAGE as error:
        raise _damaged(path, error) from error


def check_file(path: Path) -> None:
    """Raise DataError unless the path is a regular file, which can be read more than once."""
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


def read_chunks(path: Path, limit: Limit, chunk_size: int) -> Iterator[bytes]:
    """Yield the decompressed content of a file; a large file shows its progress."""
    check_file(path)
    size, opener, total, seen = path.stat().st_size, _find_opener(path), 0, 0
    bar = progress(size, path.name, "B", shown=None if size > WATCHED else False)
    try:
        with bar, path.open("rb") as raw, opener(raw) if opener else nullcontext(raw) as stream:
            while chunk := stream.read(chunk_size):
                total += limit.take(len(chunk), "the content")
                if opener:
                    limit.check_ratio(total, size)
                bar.update(raw.tell() - seen)
                seen = raw.tell()
                yield chunk
    except DAMAGE as error:
        raise _damaged(path, error) from error


def read_bytes(path: Any, max_bytes: int | None = None) -> bytes:
    """Read a whole file, decompressed if its content, not its name, says that it is compressed.

    DataError is raised if the content grows beyond ``max_bytes`` (by default a quarter of the
    machine's memory), or beyond 256 MiB and 500 times its compressed size, which no text of data
    reaches.
    """
    return b"".join(read_chunks(Path(path), Limit(path, max_bytes), CHUNK))
