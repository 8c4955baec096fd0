"""What the readers of all forms share: pipes, remembered options, lack of memory."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.pipes import read_once
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
