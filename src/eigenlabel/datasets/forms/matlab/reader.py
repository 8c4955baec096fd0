"""MATLAB files: the forms in which multi-label data circulate."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files import DataError, Limit, check_file, name_array, number_names
from eigenlabel.datasets.forms.matlab.version5 import read_v5
from eigenlabel.datasets.forms.matlab.version73 import HDF5, read_v73
from eigenlabel.datasets.like import about_labels, match, no_labels, skips_labels
from eigenlabel.datasets.reading import reader

DATA = ("data", "X", "x", "fea", "features")
TARGET = ("target", "targets", "Y", "y", "label", "labels", "gnd")
PARTS = ("train_data", "train_target", "test_data", "test_target")
KNOWN = frozenset((*DATA, *TARGET, *PARTS, "view", "feature_names", "label_names"))


def _read(path: Path, limit: Limit) -> dict[str, Any]:
    """Return the known variables of a file by name, and None for all others."""
    check_file(path)
    with path.open("rb") as stream:
        if HDF5 in stream.read(520):
            return read_v73(path, KNOWN, limit)
        data = bytearray(limit.take(path.stat().st_size, "the file"))
        stream.seek(0)
        stream.readinto(data)
    return read_v5(path, data, KNOWN, limit)


def _pick(path: Path, arrays: dict[str, Any], names: tuple[str, ...], prefix: str = "") -> Any:
    name = next((prefix + name for name in names if prefix + name in arrays), None)
    if name is not None:
        return arrays[name]
    raise DataError(path, f"no variable {prefix}{names[0]}; there are: {', '.join(arrays)}")


def _features(path: Path, X: Any, limit: Limit) -> Any:
    if sp.issparse(X):
        return X.astype(float)
    if not isinstance(X, np.ndarray) or X.ndim != 2:
        raise DataError(path, f"features must be a matrix of numbers, found {_describe(X)}")
    if X.dtype.kind != "f":
        limit.take(8 * X.size, "a matrix of whole numbers")
    return X if X.dtype == np.float32 else X.astype(float, copy=False)


def _describe(value: Any) -> str:
    """Describe a variable that is not a matrix."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}"
    kinds = {str: "text", list: "cells"}
    return kinds.get(type(value), "an object, a structure or complex numbers")


def _labels(path: Path, Y: Any, n: int, labels_first: bool) -> sp.csr_array:
    """Return Y (n, m), 0/1, from either orientation and coding."""
    if not sp.issparse(Y) and not isinstance(Y, np.ndarray):
        raise DataError(path, f"labels must be a matrix of numbers, found {_describe(Y)}")
    if Y.ndim != 2 or n not in Y.shape:
        raise DataError(path, f"labels of shape {Y.shape} for {n} samples")
    # A square matrix is read as its name suggests: the *_target form has labels as rows.
    if Y.shape[0] != n or (Y.shape[1] == n and labels_first):
        Y = Y.T
    values = set(np.unique(Y.data if sp.issparse(Y) else Y).tolist())
    if not values <= {-1, 0, 1}:
        odd = sorted(values - {-1, 0, 1})[:5]
        raise DataError(path, f"labels must be 0/1 or -1/+1, found {odd}")
    return sp.csr_array((Y > 0).astype(np.int8))


def _all_labels(path: Path, arrays: dict[str, Any], n: int, splits: Any) -> sp.csr_array:
    """Give the labels of all samples, those of a training and a test part one below the other."""
    if not splits:
        first = "view" not in arrays and "target" in arrays
        return _labels(path, _pick(path, arrays, TARGET), n, labels_first=first)
    parts = zip(("train", "test"), splits["published"], strict=True)
    return _stack(
        [
            _labels(path, _pick(path, arrays, ("target",), f"{p}_"), len(rows), labels_first=True)
            for p, rows in parts
        ]
    )


def _stack(blocks: list[Any]) -> Any:
    if any(sp.issparse(b) for b in blocks):
        return sp.csr_array(sp.vstack(blocks))
    return np.vstack(blocks)


def _names(path: Path, arrays: dict[str, Any], what: str, count: int) -> np.ndarray:
    """Take names from a cell array of words if there is one, else count the columns."""
    words = arrays.get(f"{what}_names")
    if isinstance(words, str):
        words = [words]
    if isinstance(words, list) and len(words) == count and all(isinstance(w, str) for w in words):
        return name_array(path, words)
    return number_names(path, count)


@reader()
def load_mat(
    path: Any, *, like: Any = None, labelled: bool = True, max_bytes: int | None = None
) -> Dataset:
    """Read a MATLAB file, v5 or (with h5py) v7.3.

    Known forms: ``train_data, train_target, test_data, test_target`` (samples are stacked and
    ``splits["published"]`` tells them apart), ``data, target`` or ``X, Y`` and the like, and
    multi-view ``view`` (a cell array of matrices) with ``label``. Labels are 0/1 or -1/+1, with
    samples as rows or as columns. Names may be in cell arrays ``feature_names`` and
    ``label_names``, as :func:`save` writes them. ``like`` and ``labelled`` are those of
    :func:`load`.

    At most ``max_bytes`` of memory, a quarter of the machine's by default, are taken for the
    arrays, and links and arrays of a v7.3 file that lead to other files are refused.
    """
    path = Path(path)
    limit = Limit(path, max_bytes)
    arrays = _read(path, limit)
    splits, views, notes = {}, {}, ()
    targets = (*TARGET, "train_target", "test_target")
    skips = skips_labels(path, like, labelled, there=any(name in arrays for name in targets))
    if "view" in arrays:
        views = arrays["view"] if isinstance(arrays["view"], list) else [arrays["view"]]
        parts = [_features(path, view, limit) for view in views]
        if len({p.shape[0] for p in parts}) != 1:
            raise DataError(path, f"views of {[p.shape[0] for p in parts]} samples")
        ends = np.cumsum([0, *(p.shape[1] for p in parts)])
        views = {f"view{k}": slice(ends[k], ends[k + 1]) for k in range(len(parts))}
        dense = not any(sp.issparse(p) for p in parts)
        X = np.hstack(parts) if dense else sp.csr_array(sp.hstack(parts))
    elif "train_data" in arrays:
        both = [
            _features(path, _pick(path, arrays, ("data",), f"{p}_"), limit)
            for p in ("train", "test")
        ]
        X, n = _stack(both), both[0].shape[0]
        splits = {"published": (np.arange(n), np.arange(n, X.shape[0]))}
    else:
        X = _features(path, _pick(path, arrays, DATA), limit)
    if skips:
        Y, label_names = no_labels(X.shape[0], like), like.label_names
        notes = about_labels(labelled)
    else:
        Y = _all_labels(path, arrays, X.shape[0], splits)
        label_names = _names(path, arrays, "label", Y.shape[1])
    data = Dataset(
        X=X,
        Y=Y,
        feature_names=_names(path, arrays, "feature", X.shape[1]),
        label_names=label_names,
        views=views,
        splits=splits,
        source=path.name,
        notes=notes,
    )
    return match(path, data, like)
