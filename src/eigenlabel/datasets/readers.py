"""What the readers of all forms share: pipes, options that a Dataset remembers, lack of memory."""

import functools
import inspect
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.decompression import CHUNK
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.limits import Limit

Reader: TypeAlias = Callable[..., Dataset]
# Options that describe how a table is written, which apply to every file like it.
TABLE_OPTIONS = ("labels", "separator", "text", "samples", "drop", "missing_labels", "encoding")


def as_names(given: Any) -> list[str]:
    """Return one name or several as a list."""
    return [given] if isinstance(given, str) else list(given)


def kept_options(reader: Reader, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that apply to every file like the one that is read."""
    kept = {name: options[name] for name in getattr(reader, "kept", ()) if name in options}
    for name in ("labels", "text", "drop"):
        if name in kept and kept[name] is not None and not isinstance(kept[name], str):
            kept[name] = [str(value) for value in kept[name]]  # which a model file can contain
    return kept


def all_options(reader: Reader, like: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options for a file like another: those passed, then those of the other file."""
    known = kept_options(reader, dict(getattr(like, "options", {})))
    if "drop" in known and options.get("samples") is not None:
        # A column that was left out of the other file may name the samples of this one.
        known["drop"] = [n for n in as_names(known["drop"]) if n != options["samples"]]
    return {**known, **options}


def remember(reader: Reader, data: Dataset, options: dict[str, Any]) -> Dataset:
    """Return the data with the options; those that the reader found itself take precedence."""
    return replace(data, options={**kept_options(reader, options), **data.options})


def remembers(*kept: str) -> Callable[[Reader], Reader]:
    """Return a decorator for a reader whose options of these names apply to all similar data."""

    def decorate(read: Reader) -> Reader:
        @functools.wraps(read)
        def wrapper(source: Any, *, like: Any = None, **options: Any) -> Dataset:
            options = all_options(wrapper, like, options)
            return remember(wrapper, read(source, like=like, **options), options)

        wrapper.kept = kept  # type: ignore[attr-defined]
        return wrapper

    return decorate


def option_names(reader: Reader) -> list[str]:
    """Return the names of the options of a reader."""
    return [name for name in inspect.signature(reader).parameters if name != "path"]


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


def reader(*kept: str) -> Callable[[Reader], Reader]:
    """Return a decorator for the reader of a form.

    The decorated reader remembers the options named ``kept`` (see :func:`remembers`), also reads
    pipes, and raises DataError if there is not enough memory.
    """

    def decorate(read: Reader) -> Reader:
        @functools.wraps(read)
        def wrapper(path: Any, **options: Any) -> Dataset:
            try:
                with regular_file(path, options.get("max_bytes")) as file:
                    return source_of(path, read(file, **options))
            except MemoryError as error:
                raise DataError(
                    path, "needs more memory than there is; read it in pieces with iterate"
                ) from error

        return remembers(*kept)(wrapper)

    return decorate
