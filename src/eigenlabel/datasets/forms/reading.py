"""What the readers of all forms share: pipes, remembered options, lack of memory."""

import functools
from collections.abc import Callable
from typing import Any

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.pipes import regular_file, source_of
from eigenlabel.datasets.reader_options import Reader, remembers


def reader(*kept: str) -> Callable[[Reader], Reader]:
    """Return a decorator for the reader of a form.

    The decorated reader remembers the options named ``kept`` (see
    :func:`eigenlabel.datasets.reader_options.remembers`), also reads pipes, and raises DataError
    if there is not enough memory.
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
