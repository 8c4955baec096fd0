"""Our own form: one .npz with everything a Dataset has, and no pickles."""

import json
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files import DataError, Limit, check_file, number_names
from eigenlabel.datasets.forms.npz.about import read_about
from eigenlabel.datasets.forms.stored import build_sparse, to_native
from eigenlabel.datasets.like import about_labels, match, no_labels, skips_labels
from eigenlabel.datasets.output import write_files
from eigenlabel.datasets.reading import reader

PARTS = ("data", "indices", "indptr", "shape")


def _pack(name: str, A: Any) -> dict[str, np.ndarray]:
    if not sp.issparse(A):
        return {name: np.asarray(A)}
    A = sp.csr_array(A)
    return {
        f"{name}_data": A.data,
        f"{name}_indices": A.indices,
        f"{name}_indptr": A.indptr,
        f"{name}_shape": np.array(A.shape),
    }


def _unpack(path: Path, arrays: dict[str, np.ndarray], name: str, size: int) -> Any:
    """Return a dense or sparse matrix of numbers."""
    if name not in arrays:
        try:
            *parts, shape = (arrays[f"{name}_{part}"] for part in PARTS)
        except KeyError:
            raise DataError(path, f"no array {name!r}; there are: {', '.join(arrays)}") from None
        if shape.ndim != 1 or shape.dtype.kind not in "iu":
            raise DataError(path, f"{name}_shape must be two whole numbers, found {shape!r:.80}")
        return build_sparse(path, name, tuple(parts), tuple(shape.tolist()), file_size=size)
    A = arrays[name]
    if A.ndim != 2 or A.dtype.kind not in "biuf":
        reason = f"{name} must be a matrix and hold numbers, found {A.dtype} of shape {A.shape}"
        raise DataError(path, reason)
    return to_native(A)


def write_npz(data: Dataset, stream: BinaryIO) -> None:
    """Write everything a Dataset has to an open file."""
    about = {
        "source": data.source,
        "notes": list(data.notes),
        "views": {k: [int(s.start), int(s.stop)] for k, s in data.views.items()},
        "categories": {k: list(v) for k, v in data.categories.items()},
        "column_types": dict(data.column_types),
        "words": {k: [int(s.start), int(s.stop)] for k, s in data.words.items()},
        "splits": list(data.splits),
    }
    arrays = {**_pack("X", data.X), **_pack("Y", data.Y)}
    arrays["feature_names"] = np.asarray(data.feature_names, dtype=str)
    arrays["label_names"] = np.asarray(data.label_names, dtype=str)
    if data.sample_names is not None:
        arrays["sample_names"] = np.asarray(data.sample_names, dtype=str)
    for k, (train, test) in enumerate(data.splits.values()):
        arrays[f"split{k}_train"], arrays[f"split{k}_test"] = train, test
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    np.savez_compressed(stream, **arrays)


def save_npz(data: Dataset, path: Any) -> None:
    """Write a Dataset to a compressed .npz file that :func:`load_npz` reads back."""
    write_files({Path(path): lambda stream: write_npz(data, stream)})


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
    """Return the stored names, one for each column, or number the columns."""
    names = arrays.get(f"{what}_names")
    return number_names(path, count) if names is None else _checked(path, what, names, count)


def _checked(path: Path, what: str, names: np.ndarray, count: int) -> np.ndarray:
    if names.shape != (count,) or names.dtype.kind != "U":
        found = f"{names.dtype} of shape {names.shape}"
        raise DataError(path, f"{what}_names must be text, one for each of {count}, found {found}")
    return names.astype(names.dtype.newbyteorder("="), copy=False)


def _check_values(path: Path, Y: Any) -> None:
    """Raise DataError unless all labels are 0, 1 or NaN."""
    stored = Y.data if sp.issparse(Y) else Y
    odd = ~np.isin(stored, (0, 1))
    if stored.dtype.kind == "f":
        odd &= ~np.isnan(stored)
    if odd.any():
        raise DataError(path, f"labels in Y must be 0 or 1, found {stored[odd][0]}")


@reader()
def load_npz(
    path: Any, *, like: Any = None, labelled: bool = True, max_bytes: int | None = None
) -> Dataset:
    """Read an .npz file with X and Y, dense or as the parts of a CSR matrix; nothing is unpickled.

    NaN in Y is a label that was not observed. Only X and Y are needed; names, views, splits and the
    rest are taken if they are there. ``like`` and ``labelled`` are those of :func:`load`.
    """
    path = Path(path)
    check_file(path)
    limit = Limit(path, max_bytes)
    arrays, notes = _read_arrays(path, limit), ()
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
    about = read_about(path, arrays)
    feature_names = _names(path, arrays, "feature", X.shape[1])
    samples = arrays.get("sample_names")
    data = Dataset(
        X=X,
        Y=Y,
        feature_names=feature_names,
        label_names=_names(path, arrays, "label", Y.shape[1]),
        sample_names=None if samples is None else _checked(path, "sample", samples, X.shape[0]),
        views=about.slices("views", X.shape[1]),
        splits=about.splits(arrays, X.shape[0]),
        categories=about.categories(feature_names.tolist()),
        column_types=about.column_types(feature_names.tolist()),
        words=about.slices("words", X.shape[1]),
        source=about.text("source", path.name),
        notes=(*about.notes(), *notes),
    )
    return match(path, data, like)
