"""Read MATLAB files with the variable names that multi-label data use."""

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.decompression import check_file
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.limits import Limit
from eigenlabel.datasets.files.names import name_array, number_names
from eigenlabel.datasets.forms.matlab.version5 import read_v5
from eigenlabel.datasets.forms.matlab.version73 import HDF5, read_v73
from eigenlabel.datasets.matching import about_labels, match, no_labels, skips_labels
from eigenlabel.datasets.readers import reader
from eigenlabel.linalg._types import Matrix
from eigenlabel.linalg.operators import is_sparse

Variables: TypeAlias = dict[str, Any]
Splits: TypeAlias = dict[str, tuple[np.ndarray, np.ndarray]]

DATA = ("data", "X", "x", "fea", "features")
TARGET = ("target", "targets", "Y", "y", "label", "labels", "gnd")
PARTS = ("train_data", "train_target", "test_data", "test_target")
KNOWN = frozenset((*DATA, *TARGET, *PARTS, "view", "feature_names", "label_names"))


def _read(path: Path, limit: Limit) -> Variables:
    """Return the known variables of a file by name, and None for all others."""
    check_file(path)
    with path.open("rb") as stream:
        if HDF5 in stream.read(520):
            return read_v73(path, KNOWN, limit)
        data = bytearray(limit.take(path.stat().st_size, "the file"))
        stream.seek(0)
        stream.readinto(data)
    return read_v5(path, data, KNOWN, limit)


def _pick(path: Path, arrays: Variables, names: tuple[str, ...], prefix: str = "") -> Any:
    """Return the first variable of these names that is there."""
    name = next((prefix + name for name in names if prefix + name in arrays), None)
    if name is not None:
        return arrays[name]
    raise DataError(path, f"no variable {prefix}{names[0]}; there are: {', '.join(arrays)}")


def _features(path: Path, X: Any, limit: Limit) -> Matrix:
    """Return a variable as a matrix of floats."""
    if is_sparse(X):
        return X.astype(float)
    if not isinstance(X, np.ndarray) or X.ndim != 2:
        raise DataError(path, f"features must be a matrix of numbers, found {_describe(X)}")
    if X.dtype.kind != "f":
        limit.take(8 * X.size, "a matrix of whole numbers")
    return X if X.dtype == np.float32 else X.astype(float, copy=False)


def _describe(value: Any) -> str:
    """Return a description of a variable that is not a matrix."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}"
    if isinstance(value, str | list):
        return "text" if isinstance(value, str) else "cells"
    return "an object, a structure or complex numbers"


def _read_features(
    path: Path, arrays: Variables, limit: Limit
) -> tuple[Matrix, dict[str, slice], Splits]:
    """Return the features, the columns of the views, and the split into training and test rows."""
    if "view" in arrays:
        X, views = _join_views(path, arrays["view"], limit)
        return X, views, {}
    if "train_data" not in arrays:
        return _features(path, _pick(path, arrays, DATA), limit), {}, {}
    train, test = (
        _features(path, _pick(path, arrays, ("data",), f"{p}_"), limit) for p in ("train", "test")
    )
    X, n = _stack([train, test]), train.shape[0]
    return X, {}, {"published": (np.arange(n), np.arange(n, X.shape[0]))}


def _join_views(path: Path, views: Any, limit: Limit) -> tuple[Matrix, dict[str, slice]]:
    """Return the matrices of a cell array side by side, and the columns of each."""
    parts = [
        _features(path, view, limit) for view in (views if isinstance(views, list) else [views])
    ]
    if len({p.shape[0] for p in parts}) != 1:
        raise DataError(path, f"views of {[p.shape[0] for p in parts]} samples")
    ends = np.cumsum([0, *(p.shape[1] for p in parts)]).tolist()
    columns = {f"view{k}": slice(ends[k], ends[k + 1]) for k in range(len(parts))}
    if any(map(is_sparse, parts)):
        return sp.csr_array(sp.hstack(parts)), columns
    return np.hstack(parts), columns


def _labels(path: Path, Y: Any, n: int, labels_first: bool) -> Matrix:
    """Return the 0/1 label matrix of n samples; Y may be transposed or contain -1 for 0."""
    if not is_sparse(Y) and not isinstance(Y, np.ndarray):
        raise DataError(path, f"labels must be a matrix of numbers, found {_describe(Y)}")
    if Y.ndim != 2 or n not in Y.shape:
        raise DataError(path, f"labels of shape {Y.shape} for {n} samples")
    # The name of a square matrix decides: *_target has labels as rows.
    if Y.shape[0] != n or (Y.shape[1] == n and labels_first):
        Y = Y.T
    values = set(np.unique(Y.data if is_sparse(Y) else Y).tolist())
    if not values <= {-1, 0, 1}:
        odd = sorted(values - {-1, 0, 1})[:5]
        raise DataError(path, f"labels must be 0/1 or -1/+1, found {odd}")
    return sp.csr_array((Y > 0).astype(np.int8))


def _all_labels(path: Path, arrays: Variables, n: int, splits: Splits) -> Matrix:
    """Return the labels of all samples, those of the training part first."""
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


def _stack(blocks: list[Matrix]) -> Matrix:
    if any(map(is_sparse, blocks)):
        return sp.csr_array(sp.vstack(blocks))
    return np.vstack(blocks)


def _names(path: Path, arrays: Variables, what: str, count: int) -> np.ndarray:
    """Return the names in a cell array of text, or numbers if there is none."""
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

    The variables may be ``train_data, train_target, test_data, test_target`` (the test samples
    follow the training samples, and ``splits["published"]`` contains their rows), ``data, target``
    or ``X, Y`` and similar names, or ``view`` (a cell array of matrices, one for each view) and
    ``label``. Labels are 0/1 or -1/+1, with samples as rows or as columns. The cell arrays
    ``feature_names`` and ``label_names`` contain the names, as :func:`save` writes them. Links and
    arrays of a v7.3 file that lead to other files are an error.

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
    >>> from eigenlabel.datasets import load_mat, make_shared_subspace, save
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "planted.mat"
    >>> save(make_shared_subspace(30, 4, 3, 2, random_state=0), path)
    >>> load_mat(path)
    Dataset(30 samples, 4 features, 3 labels; planted.mat)
    """
    path = Path(path)
    limit = Limit(path, max_bytes)
    arrays = _read(path, limit)
    X, views, splits = _read_features(path, arrays, limit)
    targets = (*TARGET, "train_target", "test_target")
    notes: tuple[str, ...] = ()
    if skips_labels(path, like, labelled, there=any(name in arrays for name in targets)):
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
