"""Bounds on the memory that the content of a data file may take."""

from pathlib import Path
from typing import Any

from eigenlabel.datasets.files.errors import DataError
from eigenlabel.linalg.machine import memory_limit

# Content is taken for a compression bomb if it exceeds both bounds.
BOMB_BYTES = 2**28
BOMB_RATIO = 500  # of the content to what is stored of it
LONGEST = 2**26  # characters of one line that is read in pieces
EMPTIEST = 2**20  # consecutive lines without a sample
WATCHED = 2**26  # bytes of a file that takes long enough for a progress bar


class Limit:
    """The bytes of memory that the content of a file may take.

    Parameters
    ----------
    path : str or Path
        The file, for errors.
    max_bytes : int, default=None
        The limit. With None it is ``default``, and content that is larger than 256 MiB and than
        500 times its stored size is an error too, as it looks like a compression bomb.
    default : float, default=None
        The limit if ``max_bytes`` is None; a quarter of the machine's memory if this is None.

    Attributes
    ----------
    size : float
        The limit.
    left : float
        What is left of it.
    trusted : bool
        Whether the limit was passed, so that the file is not searched for compression bombs.
    """

    def __init__(
        self, path: Any, max_bytes: int | None = None, default: float | None = None
    ) -> None:
        self.path, self.trusted = path, max_bytes is not None
        default = memory_limit() / 4 if default is None else default
        self.size = self.left = default if max_bytes is None else max_bytes

    def take(self, count: int, what: str) -> int:
        """Subtract a number of bytes and return it; raise DataError if fewer are left."""
        self.left -= count
        if self.left < 0:
            raise DataError(
                self.path,
                f"{what} is larger than {self.size / 2**20:.0f} MiB; pass max_bytes if it is right",
            )
        return count

    def check_ratio(self, size: int, stored: int) -> None:
        """Raise DataError if content of this size looks like a compression bomb."""
        if not self.trusted and size > max(BOMB_BYTES, BOMB_RATIO * stored):
            raise DataError(
                self.path,
                f"decompresses to over {BOMB_RATIO} times its size, which looks like a "
                "compression bomb; pass max_bytes if it is not",
            )


def check_room(path: Any, text: bytes, weights: dict[bytes, int], max_bytes: int | None) -> None:
    """Raise DataError if a parsed text would take more than half of the memory.

    ``weights`` maps characters to the bytes of memory that each occurrence costs while the text is
    parsed. With ``max_bytes`` nothing is checked.
    """
    if max_bytes is not None:
        return
    needed = sum(text.count(mark) * weight for mark, weight in weights.items())
    if needed > memory_limit() / 2:
        lines = text.count(b"\n")
        raise DataError(
            path,
            f"{lines:,} lines need about {needed / 2**30:.1f} GiB, more than half of the memory; "
            "read it in pieces with iterate, or pass max_bytes to try",
        )


def too_empty(path: Path, line: int) -> DataError:
    """Return the error for a file of blank lines, which would take long to skip."""
    return DataError(path, f"over {EMPTIEST} lines without a sample", line)
