"""Our own form: one .npz with everything a Dataset has, and no pickles."""

import json
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from eigenlabel._validation import check_sparse_format
from eigenlabel.core.spectral import memory_limit
from eigenlabel.datasets._dataset import Dataset
from eigenlabel.datasets._files import DataError, number_names
from eigenlabel.datasets._like import about_labels, match, no_labels, skips_labels
from eigenlabel.datasets._output import write_files


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


def _unpack(path: Path, arrays: dict[str, np.ndarray], name: str) -> Any:
    if name in arrays:
        return arrays[name]
    try:
        data, indices, indptr, shape = (
            arrays[f"{name}_{part}"] for part in ("data", "indices", "indptr", "shape")
        )
    except KeyError:
        raise DataError(path, f"no array {name!r}; there are: {', '.join(arrays)}") from None
    try:
        matrix = sp.csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
        check_sparse_format(matrix)
    except (ValueError, TypeError) as error:
        raise DataError(path, f"{name} is not a valid sparse matrix ({error})") from error
    return matrix


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


def _names(path: Path, arrays: dict[str, np.ndarray], what: str, count: int) -> np.ndarray:
    """Give the names that are there, one for each column, or number the columns."""
    names = arrays.get(f"{what}_names")
    if names is None:
        return number_names(path, count)
    if names.shape != (count,) or names.dtype.kind != "U":
        raise DataError(path, f"{what}_names of shape {names.shape} for {count} {what}s")
    return names


def _check_values(path: Path, X: Any, Y: Any) -> None:
    """Refuse features that are no numbers, and labels that are not 0 or 1."""
    if X.dtype.kind not in "biuf":
        raise DataError(path, f"X must hold numbers, found {X.dtype}")
    stored = Y.data if sp.issparse(Y) else Y
    odd = ~np.isin(stored, (0, 1))
    if stored.dtype.kind == "f":
        odd &= ~np.isnan(stored)
    if odd.any():
        raise DataError(path, f"labels in Y must be 0 or 1, found {stored[odd][0]}")


def load_npz(
    path: Any, *, like: Any = None, labelled: bool = True, max_bytes: int | None = None
) -> Dataset:
    """Read an .npz file with X and Y, dense or as the parts of a CSR matrix; nothing is unpickled.

    NaN in Y is a label that was not observed. Only X and Y are needed; names, views, splits and the
    rest are taken if they are there. ``like`` and ``labelled`` are those of :func:`load`.
    """
    path = Path(path)
    limit = memory_limit() / 4 if max_bytes is None else max_bytes
    try:
        with zipfile.ZipFile(path) as archive:
            total = sum(item.file_size for item in archive.infolist())
        if total > limit:
            raise DataError(path, f"{total / 2**20:.0f} MiB of arrays; pass max_bytes")
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except DataError:
        raise
    except Exception as error:  # zip, header and decompression errors come in many classes
        raise DataError(path, f"not an .npz file without pickles ({error})") from error
    X, notes = _unpack(path, arrays, "X"), ()
    if skips_labels(path, like, labelled, there="Y" in arrays or "Y_data" in arrays):
        Y, notes = no_labels(X.shape[0], like), about_labels(labelled)
        arrays["label_names"] = np.asarray(like.label_names, dtype=str)
    else:
        Y = _unpack(path, arrays, "Y")
    if X.ndim != 2 or Y.ndim != 2 or X.shape[0] != Y.shape[0]:
        raise DataError(path, f"X of shape {X.shape} and Y of shape {Y.shape} do not fit")
    _check_values(path, X, Y)
    about = json.loads(arrays["about"].tobytes()) if "about" in arrays else {}
    splits = {
        name: (arrays[f"split{k}_train"], arrays[f"split{k}_test"])
        for k, name in enumerate(about.get("splits", ()))
    }
    data = Dataset(
        X=X,
        Y=Y,
        feature_names=_names(path, arrays, "feature", X.shape[1]),
        label_names=_names(path, arrays, "label", Y.shape[1]),
        sample_names=arrays.get("sample_names"),
        views={k: slice(*v) for k, v in about.get("views", {}).items()},
        splits=splits,
        categories={k: tuple(v) for k, v in about.get("categories", {}).items()},
        column_types=about.get("column_types", {}),
        words={k: slice(*v) for k, v in about.get("words", {}).items()},
        source=about.get("source", path.name),
        notes=(*about.get("notes", ()), *notes),
    )
    return match(path, data, like)
