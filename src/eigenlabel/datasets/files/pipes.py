"""Read pipes, through a temporary copy."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.decompression import CHUNK
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.limits import Limit


@contextmanager
def _spooled(path: Path, limit: Limit) -> Iterator[Path]:
    """Copy a pipe into a temporary file of the same name; errors name the pipe."""
    with tempfile.TemporaryDirectory(prefix="eigenlabel-") as folder:
        file = Path(folder) / path.name
        try:
            _copy(path, file, limit)
        except OSError as error:
            raise DataError(path, f"cannot copy the pipe to a temporary file ({error})") from error
        try:
            yield file
        except DataError as error:
            if error.path != file:
                raise
            raise DataError(path, error.reason, error.line) from error


def _copy(path: Path, file: Path, limit: Limit) -> None:
    with path.open("rb") as source, file.open("wb") as target:
        while chunk := source.read(CHUNK):
            limit.take(len(chunk), "the content of the pipe")
            target.write(chunk)


@contextmanager
def regular_file(path: Any, max_bytes: int | None) -> Iterator[Path]:
    """Yield a file, or the temporary copy of a pipe."""
    path = Path(path)
    if path.is_fifo():
        with _spooled(path, Limit(path, max_bytes)) as file:
            yield file
    else:
        yield path


def source_of(path: Any, data: Dataset) -> Dataset:
    """Return the data of a file; what was read from a pipe is named after the pipe."""
    path = Path(path)
    return replace(data, source=path.name) if path.is_fifo() else data


def pipe_pieces(
    path: Path, max_bytes: int | None, read: Callable[[Path], Iterator[Dataset]]
) -> Iterator[Dataset]:
    """Yield the pieces of a pipe; its copy may take half of the free space of the disk."""
    room = shutil.disk_usage(tempfile.gettempdir()).free / 2
    with _spooled(path, Limit(path, max_bytes, default=room)) as file:
        for piece in read(file):
            yield replace(piece, source=path.name)
