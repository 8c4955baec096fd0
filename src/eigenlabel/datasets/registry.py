"""The registry of known data sets: their files, sizes, licences and defects."""

import difflib
import hashlib
import os
import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eigenlabel.datasets.files.errors import DataError

REGISTRY = Path(__file__).with_name("registry.toml")
SAFE_PATH = re.compile(r"(?!\.)[\w.-]+(/(?!\.)[\w.-]+)*", re.ASCII)


@dataclass(frozen=True)
class Counts:
    """The size of a data set or of a part of it.

    Attributes
    ----------
    samples : int
        The number of samples.
    features : int
        The number of features.
    labels : int
        The number of labels.
    cardinality : float
        The mean number of labels of a sample.
    """

    samples: int
    features: int
    labels: int
    cardinality: float


@dataclass(frozen=True)
class File:
    """One file of a data set.

    Attributes
    ----------
    path : str
        The path in the data folder.
    size : int
        The size in bytes.
    sha256 : str
        The checksum.
    url : str
        The address to download from. A file without one is made from other files, so that its
        bytes may differ from the registered ones and still be right.
    """

    path: str
    size: int
    sha256: str
    url: str = ""

    def __post_init__(self) -> None:
        # Only plain names: no "..", drive, root or backslash may lead out of the data folder.
        if not SAFE_PATH.fullmatch(self.path):
            raise DataError(self.path, "not a path inside the data folder")

    def state(self, folder: Path, *, check: bool = False) -> str:
        """Return "there", "missing" or "damaged", by the size or, with ``check``, by the checksum.

        A file without a URL is never "damaged"; with ``check`` it may be "different".
        """
        place = folder / self.path
        if not place.is_file():
            return "missing"
        same = place.stat().st_size == self.size and (not check or digest(place) == self.sha256)
        if same or not (self.url or check):
            return "there"
        return "damaged" if self.url else "different"


@dataclass(frozen=True)
class Entry:
    """A known data set.

    Attributes
    ----------
    name : str
        The name to pass to :func:`find` and :func:`fetch`.
    title : str
        One line that says what the data are.
    home : str
        The web page of the data.
    licence : str
        The terms of use.
    counts : mapping of str to Counts
        The sizes of its parts: "all", "train" and "test", or the names of several sets.
    files : tuple of File
        The files.
    serves : tuple of str
        The tables of papers that use the data, such as "mddm-table1".
    defects : tuple of str
        What is wrong with the data, and how they differ from those that the papers used.
    how : str
        How to get the data if they cannot be downloaded.
    """

    name: str
    title: str
    home: str
    licence: str
    counts: Mapping[str, Counts]
    files: tuple[File, ...]
    serves: tuple[str, ...]
    defects: tuple[str, ...]
    how: str = ""

    def advice(self) -> str:
        """Return a sentence that says how to get the data."""
        return self.how or f"Run: eigenlabel datasets fetch {self.name}"

    def here(self, folder: Path) -> bool:
        """Return True if all files are in a folder, with the right names and sizes."""
        return all(file.state(folder) == "there" for file in self.files)


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _entry(name: str, table: Mapping[str, Any]) -> Entry:
    base = table.get("base", "")
    files = []
    for file in table["files"]:
        source = file.get("source", file["path"].rpartition("/")[2])
        url = base + source if base else ""
        files.append(File(file["path"], file["size"], file["sha256"], url))
    return Entry(
        name=name,
        title=table["title"],
        home=table["home"],
        licence=table["licence"],
        counts={part: Counts(**counts) for part, counts in table["counts"].items()},
        files=tuple(files),
        serves=tuple(table["serves"]),
        defects=tuple(table["defects"]),
        how=table.get("how", ""),
    )


def known() -> dict[str, Entry]:
    """Return all known data sets by name.

    Returns
    -------
    entries : dict of str to Entry
        The data sets of the registry.

    Examples
    --------
    >>> from eigenlabel.datasets import known
    >>> known()["emotions"].counts["all"]
    Counts(samples=593, features=72, labels=6, cardinality=1.8685)
    >>> [name for name, entry in known().items() if "mddm-table1" in entry.serves]
    ['yahoo-lamda']
    """
    tables = tomllib.loads(REGISTRY.read_text(encoding="utf-8"))
    return {name: _entry(name, table) for name, table in tables.items()}


def get(name: str) -> Entry:
    """Return a known data set; raise DataError with similar names if there is none."""
    entries = known()
    if name == "debtags":
        raise DataError(
            name, "built in, without files; commands accept it as DATA, in Python load_debtags()"
        )
    if name not in entries:
        close = ", ".join(difflib.get_close_matches(name, entries, n=3))
        hint = f"did you mean {close}?" if close else "'eigenlabel datasets list' lists them"
        raise DataError(name, f"no known data set; {hint}")
    return entries[name]


def owner(path: str) -> Entry | None:
    """Return the known data set that a file in the data folder belongs to, or None."""
    return next((e for e in known().values() if path in {f.path for f in e.files}), None)


def data_folder() -> Path:
    """Return the folder of data sets: EIGENLABEL_DATA if set, else the user's cache.

    The cache is ``$XDG_CACHE_HOME/eigenlabel`` or ``~/.cache/eigenlabel``, on Windows
    ``%LOCALAPPDATA%\\eigenlabel``. The folder need not exist.

    Returns
    -------
    folder : Path
        The folder.

    Examples
    --------
    >>> import os
    >>> from unittest import mock
    >>> from eigenlabel.datasets import data_folder
    >>> with mock.patch.dict(os.environ, {"EIGENLABEL_DATA": "/data"}):
    ...     print(data_folder().as_posix())
    /data
    """
    if given := os.environ.get("EIGENLABEL_DATA"):
        return Path(given).expanduser()
    cache = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "eigenlabel"


def find(name: str) -> list[Path]:
    """Return the paths of the files of a known data set in :func:`data_folder`.

    If a file is missing or has the wrong size, a DataError says how to get it.

    Parameters
    ----------
    name : str
        The name of the data set, a key of :func:`known`.

    Returns
    -------
    paths : list of Path
        The files, in the order of the registry.

    Examples
    --------
    >>> from eigenlabel.datasets import find
    >>> find("emotion")
    Traceback (most recent call last):
    ...
    eigenlabel.datasets.files.errors.DataError: emotion: no known data set; did you mean ...
    """
    entry, folder = get(name), data_folder()
    for file in entry.files:
        state = file.state(folder)
        if state != "there":
            raise DataError(folder / file.path, f"{state}, a file of {name}. {entry.advice()}")
    return [folder / file.path for file in entry.files]
