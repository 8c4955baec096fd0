"""Write everything that a Dataset has to an .npz file."""

import json
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.atomic import Write, write_files
from eigenlabel.linalg.operators import is_sparse


def _pack(name: str, A: Any) -> dict[str, np.ndarray]:
    """Return a matrix as arrays: itself, or the parts of a CSR matrix."""
    if not is_sparse(A):
        return {name: np.asarray(A)}
    A = sp.csr_array(A)
    return {
        f"{name}_data": A.data,
        f"{name}_indices": A.indices,
        f"{name}_indptr": A.indptr,
        f"{name}_shape": np.array(A.shape),
    }


def _write_arrays(data: Dataset, stream: BinaryIO) -> None:
    """Write all arrays of a Dataset, and the rest as JSON in an array of bytes."""
    about = {
        "source": data.source,
        "notes": list(data.notes),
        "views": {k: [int(s.start), int(s.stop)] for k, s in data.views.items()},
        "categories": {k: list(v) for k, v in data.categories.items()},
        "column_types": dict(data.column_types),
        "words": {k: [int(s.start), int(s.stop)] for k, s in data.words.items()},
        "splits": list(data.splits),
    }
    arrays: dict[str, Any] = {**_pack("X", data.X), **_pack("Y", data.Y)}
    arrays["feature_names"] = np.asarray(data.feature_names, dtype=str)
    arrays["label_names"] = np.asarray(data.label_names, dtype=str)
    if data.sample_names is not None:
        arrays["sample_names"] = np.asarray(data.sample_names, dtype=str)
    for k, (train, test) in enumerate(data.splits.values()):
        arrays[f"split{k}_train"], arrays[f"split{k}_test"] = train, test
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    np.savez_compressed(stream, **arrays)


def write_npz(data: Dataset, path: Path) -> dict[Path, Write]:
    """Return the file to write, with the function that writes it."""
    return {path: lambda stream: _write_arrays(data, stream)}


def save_npz(data: Dataset, path: Any) -> None:
    """Write a Dataset to a compressed .npz file that :func:`load_npz` reads back.

    Parameters
    ----------
    data : Dataset
        The data to write.
    path : str or Path
        The file, which is replaced if it exists.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from eigenlabel.datasets import load_npz, make_shared_subspace, save_npz
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "planted.npz"
    >>> save_npz(make_shared_subspace(30, 4, 3, 2, random_state=0), path)
    >>> load_npz(path).X.shape
    (30, 4)
    """
    write_files(write_npz(data, Path(path)))
