"""Records of runs: one line of JSON each, appended whole or not at all."""

import contextlib
import errno
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from eigenlabel.datasets import DataError

try:
    import fcntl
except ImportError:  # no such locks on Windows: do not run twice in one folder there
    fcntl = None

NAME = "records.jsonl"


def read_records(folder: Any) -> list[dict[str, Any]]:
    """Read the records of a folder; a last line that was cut off by a crash does not count."""
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
    """Append records to a folder's file, which no one else may do meanwhile."""

    def __init__(self, stream: int, path: Path) -> None:
        self.stream, self.path = stream, path

    def add(self, record: Mapping[str, Any]) -> None:
        """Write one record to the disk before going on."""
        line = json.dumps(record, allow_nan=False, sort_keys=True).encode() + b"\n"
        try:
            written = os.write(self.stream, line)
            if written != len(line):  # a full disk: take the beginning back
                os.ftruncate(self.stream, os.fstat(self.stream).st_size - written)
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self.stream)
        except OSError as error:  # it has no name of a file
            why = f"{error.strerror}; the records so far are kept"
            raise OSError(error.errno, why, str(self.path)) from error


@contextlib.contextmanager
def appending(folder: Any) -> Iterator[Appender]:
    """Open a folder's records to append to; what a crash left of a last line is cut away."""
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
            if not os.fstat(stream).st_nlink:  # which that run took away just now
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
    """Take away what a run that failed at once has made."""
    with contextlib.suppress(OSError):  # someone else has put something there
        places[0].unlink()
        for folder in places[1:]:
            folder.rmdir()
