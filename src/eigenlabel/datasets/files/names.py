"""Names of features and labels: numbered, as arrays, or in a file beside the data."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eigenlabel.datasets.files.decompression import read_bytes, stem
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.text import decode
from eigenlabel.linalg.machine import memory_limit


def number_names(path: Any, count: int) -> np.ndarray:
    """Return the numbers of columns without names; equal to ``np.arange(count).astype(str)``.

    numpy's own conversion takes 16 times as long and three times the memory, which matters from a
    million columns on.
    """
    width = len(str(max(count - 1, 0)))
    if 4.0 * width * count > memory_limit() / 8:
        raise DataError(path, f"{count:,} columns are more than this machine can name")
    points = np.zeros((count, width), dtype=np.uint32)
    for digits in range(1, width + 1):
        numbers = np.arange(10 ** (digits - 1) if digits > 1 else 0, min(10**digits, count))
        for place in range(digits):
            points[numbers, place] = ord("0") + numbers // 10 ** (digits - 1 - place) % 10
    return points.view(f"U{width}").ravel()


def name_array(path: Any, names: Sequence[str]) -> np.ndarray:
    """Return names as an array, in which each takes as much memory as the longest."""
    longest = max(map(len, names), default=0)
    if 4 * longest * len(names) > memory_limit() / 8:
        raise DataError(path, f"{len(names):,} names, one of {longest:,} characters, are too long")
    return np.array(names, dtype=str)


def read_names(path: Path) -> list[str]:
    """Read a file of names, one per line."""
    return decode(path, read_bytes(path)).removesuffix("\n").split("\n")


def names_beside(path: Path, kind: str) -> list[str] | None:
    """Read ``<stem>.<kind>.txt[.gz]`` in the folder of a file; return None if it does not exist."""
    for suffix in (".txt", ".txt.gz"):
        other = path.parent / f"{stem(path)}.{kind}{suffix}"
        if other.is_file():
            return read_names(other)
    return None
