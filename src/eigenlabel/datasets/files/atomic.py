"""Write files atomically: a file is replaced by a complete one, or not at all."""

import errno
import gzip
import io
import os
import re
import secrets
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast

from eigenlabel.datasets.files.errors import DataError

LINKS = 40  # symbolic links that are followed, as many as the kernel follows
# Writes the content of one file to an open stream.
Write: TypeAlias = Callable[[BinaryIO], Any]


@contextmanager
def writing(path: Any, encoding: str | None = None) -> Iterator[Any]:
    """Open a file for writing; an existing file is replaced only when the new one is complete.

    The new file is written in the folder of the old one, and replaces it, with the same
    permissions, when the block ends without an error. A symbolic link is followed and kept. A FIFO,
    a character device or an open descriptor such as /dev/stdout is written to directly. Every
    OSError names ``path``.

    Parameters
    ----------
    path : str or Path
        The file to write.
    encoding : str, default=None
        The encoding of a text stream, which does not translate line ends. With None the stream is
        binary.

    Yields
    ------
    stream : file object
        The open stream.
    """
    with naming(path):
        draft = None if check_target(path) else _Draft(find_place(path))
        raw = _open_special(path) if draft is None else draft.create()
    try:
        with io.BufferedWriter(_Target(raw, path)) as stream:
            out = stream if encoding is None else io.TextIOWrapper(stream, encoding, newline="")
            yield out
            out.flush()
        if draft is not None:
            with naming(path):
                draft.take_place()
    finally:
        if draft is not None:
            draft.path.unlink(missing_ok=True)


def write_files(parts: dict[Path, Write]) -> None:
    """Write several files beside their places and move them there when all are complete.

    Files with the suffix .gz are compressed. DataError is raised if a file cannot be written.
    """
    try:
        if len(parts) > 1 and (special := next(filter(check_target, parts), None)):
            raise DataError(
                special,
                f"this form has {len(parts)} files, which cannot be written to a pipe or device; "
                "name a regular file, or use .csv",
            )
        with ExitStack() as whole:
            for path in reversed(parts):  # contexts end in reverse: the last file is moved last
                _write_packed(path, parts[path], whole.enter_context(writing(path)))
    except OSError as error:
        raise DataError(error.filename, f"cannot be written ({error.strerror})") from error


def _write_packed(path: Path, write: Write, stream: BinaryIO) -> None:
    if path.suffix != ".gz":
        write(stream)
        return
    # Neither name nor time: equal data have equal bytes.
    with gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed:
        write(cast(BinaryIO, packed))


def write_text(path: Path, lines: Iterable[str]) -> Write:
    """Return a function that writes lines to a stream as UTF-8."""

    def write(stream: BinaryIO) -> None:
        try:
            for line in lines:
                stream.write(f"{line}\n".encode())
        except UnicodeEncodeError as error:
            raise DataError(path, f"half a character cannot be written ({error})") from error

    return write


def check_target(path: Any) -> bool:
    """Return True if a path is written to directly, False if it is replaced.

    OSError is raised if neither is possible.
    """
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
    """Return the file behind all symbolic links of a path; it need not exist."""
    place = os.path.realpath(path)
    if os.path.islink(place):
        raise OSError(errno.ELOOP, "Too many symbolic links", str(path))
    return Path(place)


def is_standard_output(path: Any) -> bool:
    """Return True for /dev/stdout and other names of the same open descriptor."""
    return _descriptor(path) == 1


class _Target(io.FileIO):
    """A file whose errors name the path that the user passed."""

    def __init__(self, descriptor: int, path: Any) -> None:
        super().__init__(descriptor, "wb")
        self.path = path

    def write(self, data: Any) -> int:
        with naming(self.path):
            return super().write(data)


@contextmanager
def naming(path: Any) -> Iterator[None]:
    """Add the path to every OSError of a block; without this the error of a full disk has none."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def _descriptor(path: Any) -> int | None:
    """Return the file descriptor behind a path such as /dev/stdout, or None."""
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
    """Open a path that is written to directly; a descriptor keeps its position, as after ``>>``."""
    number = _descriptor(path)
    if number is None:
        return os.open(path, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):  # so that earlier output comes first
        if stream is not None:
            stream.flush()
    return os.dup(number)


class _Draft:
    """A file that is written in the folder of another one, which it replaces in the end."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.path = place.parent / f".eigenlabel-{secrets.token_hex(8)}.part"

    def create(self) -> int:
        """Create the file and return its descriptor.

        If it will get the permissions of an existing file, only its owner can read it until then.
        Otherwise it has the permissions that the umask allows.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        return os.open(self.path, flags, 0o600 if self.place.exists() else 0o666)

    def take_place(self) -> None:
        """Move the complete file to its place, with the owner and permissions of the file there."""
        with suppress(FileNotFoundError):
            old = self.place.stat()
            if hasattr(os, "chown"):
                with suppress(PermissionError):  # only root may change the owner of a file
                    os.chown(self.path, old.st_uid, old.st_gid)
            os.chmod(self.path, stat.S_IMODE(old.st_mode))
        os.replace(self.path, self.place)
