"""Read .npz files of this library: everything a Dataset has, with its metadata, without pickles."""

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.decompression import check_file
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.limits import Limit
from eigenlabel.datasets.files.names import number_names
from eigenlabel.datasets.forms.stored_arrays import build_sparse, to_native
from eigenlabel.datasets.matching import about_labels, match, no_labels, skips_labels
from eigenlabel.datasets.readers import reader
from eigenlabel.linalg._types import Matrix
from eigenlabel.linalg.operators import is_sparse

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


PARTS = ("data", "indices", "indptr", "shape")


def _unpack(path: Path, arrays: dict[str, np.ndarray], name: str, size: int) -> Matrix:
    """Return a dense or sparse matrix of numbers."""
    if name not in arrays:
        try:
            data, indices, indptr, shape = (arrays[f"{name}_{part}"] for part in PARTS)
        except KeyError:
            raise DataError(path, f"no array {name!r}; there are: {', '.join(arrays)}") from None
        if shape.ndim != 1 or shape.dtype.kind not in "iu":
            raise DataError(path, f"{name}_shape must be two whole numbers, found {shape!r:.80}")
        parts = (data, indices, indptr)
        return build_sparse(path, name, parts, tuple(shape.tolist()), file_size=size)
    A = arrays[name]
    if A.ndim != 2 or A.dtype.kind not in "biuf":
        reason = f"{name} must be a matrix and hold numbers, found {A.dtype} of shape {A.shape}"
        raise DataError(path, reason)
    return to_native(A)


def _read_arrays(path: Path, limit: Limit) -> dict[str, np.ndarray]:
    """Read all arrays of a file; nothing is unpickled."""
    try:
        with zipfile.ZipFile(path) as archive:
            limit.take(sum(item.file_size for item in archive.infolist()), "the content")
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except DataError:
        raise
    except Exception as error:  # zip, header and decompression errors come in many classes
        raise DataError(path, f"not an .npz file without pickles ({error})") from error
    odd = next((name for name, A in arrays.items() if not isinstance(A, np.ndarray)), None)
    if odd is not None:
        raise DataError(path, f"{odd!r} in it is not an array")
    return arrays


def _names(path: Path, arrays: dict[str, np.ndarray], what: str, count: int) -> np.ndarray:
    """Return the stored names, or numbers if there are none."""
    names = arrays.get(f"{what}_names")
    return number_names(path, count) if names is None else _checked(path, what, names, count)


def _checked(path: Path, what: str, names: np.ndarray, count: int) -> np.ndarray:
    """Return stored names; raise DataError unless they are text of the right number."""
    if names.shape != (count,) or names.dtype.kind != "U":
        found = f"{names.dtype} of shape {names.shape}"
        raise DataError(path, f"{what}_names must be text, one for each of {count}, found {found}")
    return names.astype(names.dtype.newbyteorder("="), copy=False)


def _check_values(path: Path, Y: Matrix) -> None:
    """Raise DataError unless all labels are 0, 1 or NaN."""
    stored = Y.data if is_sparse(Y) else Y
    odd = ~np.isin(stored, (0, 1))
    if stored.dtype.kind == "f":
        odd &= ~np.isnan(stored)
    if odd.any():
        raise DataError(path, f"labels in Y must be 0 or 1, found {stored[odd][0]}")


@reader()
def load_npz(
    path: Any, *, like: Any = None, labelled: bool = True, max_bytes: int | None = None
) -> Dataset:
    """Read an .npz file with X and Y, dense or as the parts of a CSR matrix.

    NaN in Y is a label that was not observed. Only X and Y are required; names, views, splits and
    other parts are optional. Nothing is unpickled.

    Parameters
    ----------
    path : str or Path
        The file.
    like : Dataset, default=None
        A data set whose features, categories and labels this one must have. If the file has no
        labels, Y is zero, with a note.
    labelled : bool, default=True
        Whether labels are read. With False, as in prediction, the labels in the file are ignored;
        this needs ``like``.
    max_bytes : int, default=None
        The largest size of the arrays, in bytes. By default it is a quarter of the memory.

    Returns
    -------
    data : Dataset
        The content of the file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from eigenlabel.datasets import load_npz
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.npz"
    >>> np.savez(path, X=np.eye(3), Y=np.eye(3, 2))
    >>> load_npz(path)
    Dataset(3 samples, 3 features, 2 labels; small.npz)
    """
    path = Path(path)
    check_file(path)
    limit = Limit(path, max_bytes)
    arrays = _read_arrays(path, limit)
    notes: tuple[str, ...] = ()
    size = int(limit.size if limit.trusted else limit.size - limit.left)
    X = _unpack(path, arrays, "X", size)
    if skips_labels(path, like, labelled, there="Y" in arrays or "Y_data" in arrays):
        Y, notes = no_labels(X.shape[0], like), about_labels(labelled)
        arrays["label_names"] = np.asarray(like.label_names, dtype=str)
    else:
        Y = _unpack(path, arrays, "Y", size)
    if X.shape[0] != Y.shape[0]:
        raise DataError(path, f"X of shape {X.shape} and Y of shape {Y.shape} do not fit")
    if 0 in X.shape:
        raise DataError(path, f"X of shape {X.shape} has no samples or no features")
    _check_values(path, Y)
    metadata = read_metadata(path, arrays)
    feature_names = _names(path, arrays, "feature", X.shape[1])
    samples = arrays.get("sample_names")
    data = Dataset(
        X=X,
        Y=Y,
        feature_names=feature_names,
        label_names=_names(path, arrays, "label", Y.shape[1]),
        sample_names=None if samples is None else _checked(path, "sample", samples, X.shape[0]),
        views=metadata.slices("views", X.shape[1]),
        splits=metadata.splits(arrays, X.shape[0]),
        categories=metadata.categories(feature_names.tolist()),
        column_types=metadata.column_types(feature_names.tolist()),
        words=metadata.slices("words", X.shape[1]),
        source=metadata.text("source", path.name),
        notes=(*metadata.notes(), *notes),
    )
    return match(path, data, like)
