"""What all readers share: pipes, the options of files like another one, and lack of memory."""

import functools
import inspect
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files import CHUNK, DataError, Limit
from eigenlabel.datasets.tables.roles import as_names

Reader = Callable[..., Dataset]
# Options that say how a table is written, and hold for every file like it.
TABLE = ("labels", "separator", "text", "samples", "drop", "missing_labels", "encoding")


@contextmanager
def spooled(path: Path, limit: Limit) -> Iterator[Path]:
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


def read_once(path: Any, max_bytes: int | None, read: Callable[[Path], Dataset]) -> Dataset:
    """Read a file, or a pipe, which is copied into a temporary file first."""
    path = Path(path)
    if not path.is_fifo():
        return read(path)
    with spooled(path, Limit(path, max_bytes)) as file:
        return replace(read(file), source=path.name)


def pipe_pieces(
    path: Path, max_bytes: int | None, read: Callable[[Path], Iterator[Dataset]]
) -> Iterator[Dataset]:
    """Read a pipe in pieces; its copy may take half of the room that there is on the disk."""
    room = shutil.disk_usage(tempfile.gettempdir()).free / 2
    with spooled(path, Limit(path, max_bytes, default=room)) as file:
        for piece in read(file):
            yield replace(piece, source=path.name)


def kept_options(reader: Reader, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that hold for every file like the one that is read."""
    kept = {name: options[name] for name in getattr(reader, "kept", ()) if name in options}
    for name in ("labels", "text", "drop"):
        if name in kept and kept[name] is not None and not isinstance(kept[name], str):
            kept[name] = [str(value) for value in kept[name]]  # which a model file can hold
    return kept


def all_options(reader: Reader, like: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a file like another: those given, then those of the other file."""
    known = kept_options(reader, dict(getattr(like, "options", {})))
    if "drop" in known and options.get("samples") is not None:
        # A column that was left out may name the samples.
        known["drop"] = [n for n in as_names(known["drop"]) if n != options["samples"]]
    return {**known, **options}


def remember(reader: Reader, data: Dataset, options: dict[str, Any]) -> Dataset:
    """Note the options on the data; what the reader found out itself says more than they do."""
    return replace(data, options={**kept_options(reader, options), **data.options})


def remembers(*kept: str) -> Callable[[Reader], Reader]:
    """Decorate a reader whose options of these names hold for all data like those it reads."""

    def decorate(read: Reader) -> Reader:
        @functools.wraps(read)
        def wrapper(source: Any, *, like: Any = None, **options: Any) -> Dataset:
            options = all_options(wrapper, like, options)
            return remember(wrapper, read(source, like=like, **options), options)

        wrapper.kept = kept  # type: ignore[attr-defined]
        return wrapper

    return decorate


def reader(*kept: str) -> Callable[[Reader], Reader]:
    """Decorate the reader of a form, as :func:`remembers` does.

    The reader also reads pipes, and raises DataError where memory does not suffice.
    """

    def decorate(read: Reader) -> Reader:
        @functools.wraps(read)
        def wrapper(path: Any, **options: Any) -> Dataset:
            def read_file(file: Path) -> Dataset:
                return read(file, **options)

            try:
                return read_once(path, options.get("max_bytes"), read_file)
            except MemoryError as error:
                raise DataError(
                    path, "needs more memory than there is; read it in pieces with iterate"
                ) from error

        return remembers(*kept)(wrapper)

    return decorate


def option_names(reader: Reader) -> list[str]:
    """Return the names of a reader's options."""
    return [name for name in inspect.signature(reader).parameters if name != "path"]
