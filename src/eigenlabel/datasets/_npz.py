"""Our own form: one .npz with everything a Dataset has, and no pickles."""

import json
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from eigenlabel.core.spectral import memory_limit
from eigenlabel.datasets._dataset import Dataset
from eigenlabel.datasets._files import DataError
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
        matrix.check_format(full_check=True)
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


def load_npz(path: Any, *, max_bytes: int | None = None) -> Dataset:
    """Read an .npz file with X and Y, dense or as the parts of a CSR matrix; nothing is unpickled.

    Only X and Y are needed; names, views, splits and the rest are taken if they are there.
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
    X, Y = _unpack(path, arrays, "X"), _unpack(path, arrays, "Y")
    if X.ndim != 2 or Y.ndim != 2 or X.shape[0] != Y.shape[0]:
        raise DataError(path, f"X of shape {X.shape} and Y of shape {Y.shape} do not fit")
    about = json.loads(arrays["about"].tobytes()) if "about" in arrays else {}
    splits = {
        name: (arrays[f"split{k}_train"], arrays[f"split{k}_test"])
        for k, name in enumerate(about.get("splits", ()))
    }
    return Dataset(
        X=X,
        Y=Y,
        feature_names=arrays.get("feature_names", np.arange(X.shape[1]).astype(str)),
        label_names=arrays.get("label_names", np.arange(Y.shape[1]).astype(str)),
        sample_names=arrays.get("sample_names"),
        views={k: slice(*v) for k, v in about.get("views", {}).items()},
        splits=splits,
        categories={k: tuple(v) for k, v in about.get("categories", {}).items()},
        source=about.get("source", path.name),
        notes=tuple(about.get("notes", ())),
    )
