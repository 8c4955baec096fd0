"""The one way files are written: whole or not at all, and never over a device or a link."""

import errno
import io
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

LINKS = 40  # followed at most, as the kernel does


@contextmanager
def writing(path: Any, encoding: str | None = None) -> Iterator[Any]:
    """Open a file to write to; an existing file is replaced only when the new one is whole.

    The new file is written beside the old one, gets its permissions, and takes its place when the
    block ends without an error. A symbolic link is followed and stays. A FIFO, a character device
    or an open descriptor such as /dev/stdout is written into. An OSError names ``path``.

    Parameters
    ----------
    path : str or Path
    encoding : of text, written without translation of line ends; None opens a binary stream
    """
    with naming(path):
        special = check_target(path)
        place = None if special else find_place(path)
        draft = None if place is None else place.parent / f".eigenlabel-{secrets.token_hex(8)}.part"
        raw = _open_special(path) if draft is None else _open_new(draft, place)
    try:
        with io.BufferedWriter(_Target(raw, path)) as stream:
            out = stream if encoding is None else io.TextIOWrapper(stream, encoding, newline="")
            yield out
            out.flush()
        if draft is not None:
            with naming(path):
                _take_place(draft, place)
    finally:
        if draft is not None:
            draft.unlink(missing_ok=True)


def check_target(path: Any) -> bool:
    """Return True if a path is written into, False if it is replaced; raise OSError if neither."""
    if str(path).endswith(("/", os.sep)):
        raise IsADirectoryError(errno.EISDIR, "Is a folder; name a file in it", str(path))
    if _descriptor(path) is not None:
        return True
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "Is a folder; name a file in it", str(path))
    if stat.S_ISREG(mode):
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, "Is a file that may not be changed", str(path))
        return False
    if not (stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)):
        kind = "block device" if stat.S_ISBLK(mode) else "socket"
        raise OSError(errno.EINVAL, f"Is a {kind}; write to a file", str(path))
    return True


def find_place(path: Any) -> Path:
    """Return the file that a path stands for after all symbolic links; it need not exist."""
    place = os.path.realpath(path)
    if os.path.islink(place):
        raise OSError(errno.ELOOP, "Too many symbolic links", str(path))
    return Path(place)


def is_standard_output(path: Any) -> bool:
    """Return True for /dev/stdout and other names of the same open descriptor."""
    return _descriptor(path) == 1


class _Target(io.FileIO):
    """A file whose errors name the path that the user asked for."""

    def __init__(self, descriptor: int, path: Any) -> None:
        super().__init__(descriptor, "wb")
        self.path = path

    def write(self, data: Any) -> int:
        with naming(self.path):
            return super().write(data)


@contextmanager
def naming(path: Any) -> Iterator[None]:
    """Put a path's name into the OSErrors of a block: those of a full disk have none."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def _descriptor(path: Any) -> int | None:
    """Return the number of the open file that a path such as /dev/stdout means, or None."""
    own = re.compile(rf"(?:/dev|/proc/(?:self|{os.getpid()}))/fd/(\d+)")
    name = os.path.abspath(path)
    for _ in range(LINKS):
        if found := own.fullmatch(name):
            return int(found[1])
        if not os.path.islink(name):
            return None
        name = os.path.abspath(os.path.join(os.path.dirname(name), os.readlink(name)))
    return None


def _open_special(path: Any) -> int:
    """Open what is written into; a descriptor keeps its position, as after ``>>``."""
    number = _descriptor(path)
    if number is None:
        return os.open(path, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):  # what was printed before comes before
        if stream is not None:
            stream.flush()
    return os.dup(number)


def _open_new(draft: Path, place: Path) -> int:
    """Create the draft of a file; only its owner may read it if it gets an old file's permissions.

    A new file has the permissions that the umask leaves.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.open(draft, flags, 0o600 if place.exists() else 0o666)


def _take_place(draft: Path, place: Path) -> None:
    """Move a finished file to its place, with the owner and permissions of the file there."""
    with suppress(FileNotFoundError):
        old = place.stat()
        if hasattr(os, "chown"):
            with suppress(PermissionError):  # only root may give files away
                os.chown(draft, old.st_uid, old.st_gid)
        os.chmod(draft, stat.S_IMODE(old.st_mode))
    os.replace(draft, place)
