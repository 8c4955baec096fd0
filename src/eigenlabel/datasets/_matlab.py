"""MATLAB files: the forms in which multi-label data circulate."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.io import loadmat

from eigenlabel.core.spectral import memory_limit
from eigenlabel.datasets._dataset import Dataset
from eigenlabel.datasets._files import DataError, number_names
from eigenlabel.datasets._like import about_labels, match, no_labels, skips_labels

HDF5 = b"\x89HDF\r\n\x1a\n"
DATA = ("data", "X", "x", "fea", "features")
TARGET = ("target", "targets", "Y", "y", "label", "labels", "gnd")


def _read(path: Path) -> dict[str, Any]:
    with path.open("rb") as stream:
        head = stream.read(520)
    if HDF5 in head:
        return _read_hdf5(path)
    try:
        return loadmat(path)
    except Exception as error:  # the parser raises what it pleases on damaged files
        raise DataError(path, f"not a MATLAB file, or damaged ({error})") from error


def _read_hdf5(path: Path) -> dict[str, Any]:
    """Read a v7.3 file; matrices lie transposed in it, sparse ones as compressed columns."""
    try:
        import h5py  # noqa: PLC0415  an extra
    except ImportError as error:
        raise DataError(
            path, "a MATLAB v7.3 file, which needs h5py: pip install 'eigenlabel[data]'"
        ) from error
    found: dict[str, Any] = {}
    try:
        with h5py.File(path, "r") as file:
            for name, item in file.items():
                if isinstance(item, h5py.Dataset) and item.dtype.kind in "biuf":
                    found[name] = _whole(path, item).T
                elif isinstance(item, h5py.Group) and {"data", "ir", "jc"} <= set(item):
                    shape = (int(item.attrs["MATLAB_sparse"]), len(item["jc"]) - 1)
                    parts = tuple(_whole(path, item[k]) for k in ("data", "ir", "jc"))
                    found[name] = sp.csc_array(parts, shape=shape)
    except DataError:
        raise
    except Exception as error:  # as above
        raise DataError(path, f"not a MATLAB file, or damaged ({error})") from error
    return found


def _whole(path: Path, item: Any) -> np.ndarray:
    """Read an array, which may be far larger than its file says it is."""
    if item.nbytes > memory_limit() / 4:
        raise DataError(path, f"an array of {item.nbytes / 2**30:.0f} GiB does not fit into memory")
    return item[()]


def _pick(path: Path, arrays: dict[str, Any], names: tuple[str, ...], prefix: str = "") -> Any:
    name = next((prefix + name for name in names if prefix + name in arrays), None)
    if name is not None:
        return arrays[name]
    raise DataError(path, f"no variable {prefix}{names[0]}; there are: {', '.join(arrays)}")


def _features(path: Path, X: Any) -> Any:
    if sp.issparse(X):
        return sp.csr_array(X).astype(float)
    X = np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise DataError(path, f"features must be a matrix of numbers, found {X.dtype} {X.shape}")
    return X if X.dtype == np.float32 else X.astype(float)


def _labels(path: Path, Y: Any, n: int, labels_first: bool) -> sp.csr_array:
    """Give Y (n, m), 0/1, from either orientation and coding."""
    Y = Y.toarray() if sp.issparse(Y) else np.asarray(Y)
    if Y.ndim != 2 or n not in Y.shape:
        raise DataError(path, f"labels of shape {Y.shape} for {n} samples")
    # A square matrix is read as its name suggests: the *_target form has labels as rows.
    if Y.shape[0] != n or (Y.shape[1] == n and labels_first):
        Y = Y.T
    values = set(np.unique(Y).tolist())
    if not values <= {0, 1} and not values <= {-1, 1} and not values <= {-1, 0, 1}:
        raise DataError(path, f"labels must be 0/1 or -1/+1, found {sorted(values)[:5]}")
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
    cells = np.asarray(arrays.get(f"{what}_names", ()), dtype=object).ravel()
    words = [np.asarray(cell).ravel() for cell in cells]
    if len(words) == count and all(w.dtype.kind == "U" and w.size < 2 for w in words):
        return np.array([str(w[0]) if w.size else "" for w in words])
    return number_names(path, count)


def load_mat(path: Any, *, like: Any = None, labelled: bool = True) -> Dataset:
    """Read a MATLAB file, v5 or (with h5py) v7.3.

    Known forms: ``train_data, train_target, test_data, test_target`` (samples are stacked and
    ``splits["published"]`` tells them apart), ``data, target`` or ``X, Y`` and the like, and
    multi-view ``view`` (a cell array of matrices) with ``label``. Labels are 0/1 or -1/+1, with
    samples as rows or as columns. Names may be in cell arrays ``feature_names`` and
    ``label_names``, as :func:`save` writes them. ``like`` and ``labelled`` are those of
    :func:`load`.
    """
    path = Path(path)
    arrays = {k: v for k, v in _read(path).items() if not k.startswith("__")}
    splits, views, notes = {}, {}, ()
    targets = (*TARGET, "train_target", "test_target")
    skips = skips_labels(path, like, labelled, there=any(name in arrays for name in targets))
    if "view" in arrays:
        parts = [_features(path, v) for v in np.asarray(arrays["view"]).ravel()]
        if len({p.shape[0] for p in parts}) != 1:
            raise DataError(path, f"views of {[p.shape[0] for p in parts]} samples")
        ends = np.cumsum([0, *(p.shape[1] for p in parts)])
        views = {f"view{k}": slice(ends[k], ends[k + 1]) for k in range(len(parts))}
        dense = not any(sp.issparse(p) for p in parts)
        X = np.hstack(parts) if dense else sp.csr_array(sp.hstack(parts))
    elif "train_data" in arrays:
        both = [_features(path, _pick(path, arrays, ("data",), f"{p}_")) for p in ("train", "test")]
        X, n = _stack(both), both[0].shape[0]
        splits = {"published": (np.arange(n), np.arange(n, X.shape[0]))}
    else:
        X = _features(path, _pick(path, arrays, DATA))
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
