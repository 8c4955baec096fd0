"""Read .npz files of this library: everything a Dataset has, without pickles."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.decompression import check_file
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.limits import Limit
from eigenlabel.datasets.files.names import number_names
from eigenlabel.datasets.forms.npz.metadata import read_metadata
from eigenlabel.datasets.forms.reading import reader
from eigenlabel.datasets.forms.stored_arrays import build_sparse, to_native
from eigenlabel.datasets.matching import about_labels, match, no_labels, skips_labels
from eigenlabel.linalg._types import Matrix
from eigenlabel.linalg.operators import is_sparse

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
