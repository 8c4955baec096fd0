"""What the readers of all forms share: options that a Dataset remembers, pipes, lack of memory."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.pipes import regular_file, source_of

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
