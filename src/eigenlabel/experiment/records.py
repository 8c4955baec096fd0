"""Records of runs: one line of JSON each, appended completely or not at all."""

import contextlib
import errno
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from eigenlabel.datasets import DataError

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows has no such locks: do not run twice in one folder there
    fcntl = None

NAME = "records.jsonl"


def read_records(folder: Any) -> list[dict[str, Any]]:
    """Read the records of a folder. A last line that a crash cut off is ignored.

    Parameters
    ----------
    folder : str or Path
        Folder of the file ``records.jsonl``.

    Returns
    -------
    list of dict
        The records in the order they were written. The list is empty if there is no file.

    Examples
    --------
    >>> from eigenlabel.experiment import read_records
    >>> read_records("a folder that does not exist")
    []
    """
    path = Path(folder) / NAME
    if not path.is_file():
        return []
    lines = path.read_bytes().split(b"\n")[:-1]
    records = []
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
        except ValueError as error:
            raise DataError(path, f"not a record ({error})", number) from error
        if not isinstance(record, dict) or not {"key", "data", "method", "split"} <= set(record):
            raise DataError(path, "not a record", number)
        records.append(record)
    return records


class Appender:
    """A file of records that is open to append to, and locked for other processes."""

    def __init__(self, stream: int, path: Path) -> None:
        self.stream, self.path = stream, path

    def add(self, record: Mapping[str, Any]) -> None:
        """Append a record, and return when it is on the disk."""
        line = json.dumps(record, allow_nan=False, sort_keys=True).encode() + b"\n"
        try:
            written = os.write(self.stream, line)
            if written != len(line):  # a full disk: remove the part that was written
                os.ftruncate(self.stream, os.fstat(self.stream).st_size - written)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self.stream)
        except OSError as error:  # os.write does not know the name of the file
            why = f"{error.strerror}; the records so far are kept"
            raise OSError(error.errno, why, str(self.path)) from error


@contextlib.contextmanager
def appending(folder: Any) -> Iterator[Appender]:
    """Open the records of a folder to append to, and remove a last line that a crash cut off."""
    path = _check_records(folder)
    new = [place for place in (path.parent, *path.parent.parents) if not place.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    stream = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    failed = True
    try:
        if fcntl is not None:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise DataError(path, "another run is writing to it") from None
            if not os.fstat(stream).st_nlink:  # that run has just removed the file
                raise DataError(path, "another run is writing to it")
        os.ftruncate(stream, path.read_bytes().rfind(b"\n") + 1)
        yield Appender(stream, path)
        failed = False
    finally:
        if failed and not os.fstat(stream).st_size:
            _remove_empty([path, *new])
        os.close(stream)


def _check_records(folder: Any) -> Path:
    """Return the path of a folder's records; raise DataError if it is not a regular file."""
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise DataError(place, "not a folder; records need a folder of their own")
    path = place / NAME
    if path.exists() and not path.is_file():
        raise DataError(path, "not a regular file; records cannot be appended to it")
    return Path(os.path.realpath(path))  # a symbolic link stays


def _remove_empty(places: list[Path]) -> None:
    """Remove the file and the folders that a run made before it failed."""
    with contextlib.suppress(OSError):  # another process has written something there
        places[0].unlink()
        for folder in places[1:]:
            folder.rmdir()
