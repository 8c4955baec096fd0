"""The metadata of an .npz file: views, splits, categories, source and notes."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eigenlabel.datasets.files.errors import DataError

KEYS: dict[str, type] = {"source": str, "notes": list, "splits": list}
KEYS |= dict.fromkeys(("views", "categories", "column_types", "words"), dict)
TYPES = ("number", "date", "category")
NOUNS: dict[type, str] = {str: "text", list: "a list", dict: "an object"}


@dataclass(frozen=True)
class Metadata:
    """The metadata of a file; each part is checked when it is read.

    Attributes
    ----------
    path : Path
        The file, for errors.
    found : dict of str to object
        The decoded JSON, with values of the right types.
    """

    path: Path
    found: dict[str, Any]

    def fault(self, reason: str) -> DataError:
        """Return the error about a part of the metadata."""
        return DataError(self.path, f"its metadata are damaged: {reason}")

    def text(self, key: str, default: str) -> str:
        """Return a text, or the default if there is none."""
        return str(self.found.get(key, default))

    def notes(self) -> tuple[str, ...]:
        """Return the notes."""
        return tuple(self._words("notes"))

    def _words(self, key: str) -> list[str]:
        words: list[str] = self.found.get(key, [])
        if not all(isinstance(word, str) for word in words):
            raise self.fault(f"{key!r} must be a list of text, found {words!r:.80}")
        return words

    def slices(self, key: str, d: int) -> dict[str, slice]:
        """Return the columns, among d, of each view or of the words of each text."""
        found = self.found.get(key, {})
        for name, bounds in found.items():
            whole = isinstance(bounds, list) and all(type(b) is int for b in bounds)
            if not whole or len(bounds) != 2 or not 0 <= bounds[0] <= bounds[1] <= d:
                raise self.fault(
                    f"{name!r} in {key!r} must be two column numbers from 0 to {d}, found "
                    f"{bounds!r:.80}"
                )
        return {name: slice(*bounds) for name, bounds in found.items()}

    def column_types(self, names: list[str]) -> dict[str, str]:
        """Return the types of columns, which must be features of these names."""
        known, found = set(names), self.found.get("column_types", {})
        for name, kind in found.items():
            if name not in known or kind not in TYPES:
                raise self.fault(f"the column {name!r} is of type {kind!r:.80}; types are {TYPES}")
        return dict(found)

    def splits(
        self, arrays: dict[str, np.ndarray], n: int
    ) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return the training and test rows, among n, of each split."""
        names = self._words("splits")
        if len(set(names)) < len(names):
            raise self.fault(f"a split occurs twice in {names!r:.80}")
        return {
            name: (
                self._rows(arrays, f"split{k}_train", n),
                self._rows(arrays, f"split{k}_test", n),
            )
            for k, name in enumerate(names)
        }

    def _rows(self, arrays: dict[str, np.ndarray], name: str, n: int) -> np.ndarray:
        if name not in arrays:
            raise self.fault(f"no array {name!r}, which 'splits' promises")
        rows = arrays[name]
        if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
            reason = f"{name!r} must be a list of row numbers, found {rows.dtype} {rows.shape}"
            raise self.fault(reason)
        if rows.size and not 0 <= rows.min() <= rows.max() < n:
            odd = rows.min() if rows.min() < 0 else rows.max()
            raise self.fault(f"{name!r} names row {odd}; rows lie between 0 and {n - 1}")
        return rows.astype(np.int64)

    def categories(self, names: list[str]) -> dict[str, tuple[str, ...]]:
        """Return the values of each category, which must be a feature of one of these names."""
        known, found = set(names), self.found.get("categories", {})
        for name, values in found.items():
            if name not in known:
                raise self.fault(f"category {name!r} is not a feature")
            if not isinstance(values, list) or not all(isinstance(v, str) for v in values):
                raise self.fault(f"category {name!r} must be a list of text, found {values!r:.80}")
        return {name: tuple(values) for name, values in found.items()}


def read_metadata(path: Path, arrays: dict[str, np.ndarray]) -> Metadata:
    """Read the metadata of a file; it may have none."""
    if "about" not in arrays:
        return Metadata(path, {})
    stored = arrays["about"]
    if stored.dtype != np.uint8 or stored.ndim != 1:
        found = f"{stored.dtype} of shape {stored.shape}"
        raise DataError(path, f"the array 'about' must be JSON as bytes, found {found}")
    try:
        about = json.loads(stored.tobytes())
    except (ValueError, RecursionError) as error:
        raise DataError(path, f"the array 'about' is not JSON ({error})") from error
    metadata = Metadata(path, about)
    if not isinstance(about, dict):
        raise metadata.fault(f"an object is expected, found {about!r:.80}")
    for key, kind in KEYS.items():
        if key in about and not isinstance(about[key], kind):
            raise metadata.fault(f"{key!r} must be {NOUNS[kind]}, found {about[key]!r:.80}")
    return metadata
