"""Write MATLAB v5 files."""

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp
from scipy.io import savemat

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.atomic import Write
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.forms.writing import label_matrix
from eigenlabel.linalg._types import Matrix
from eigenlabel.linalg.machine import readable
from eigenlabel.linalg.operators import is_sparse

LIMIT = 2**31  # bytes of a variable that MATLAB reads from a v5 file


def write_mat(data: Dataset, path: Path) -> dict[Path, Write]:
    """Return the file to write, with the function that writes it."""
    Y = label_matrix(path, data.Y)
    _check_size(path, "X", data.X)
    _check_size(path, "Y", Y)

    def write(stream: BinaryIO) -> None:
        if not stream.seekable():
            raise DataError(path, "MATLAB files cannot be written to a pipe; name a regular file")
        variables = {
            "X": sp.csc_matrix(data.X) if is_sparse(data.X) else np.asarray(data.X),
            "Y": sp.csc_matrix(Y),
            "feature_names": _cells(data.feature_names),
            "label_names": _cells(data.label_names),
        }
        target: Any = stream  # the stubs of scipy allow paths only
        savemat(target, variables, do_compression=True)

    return {path: write}


def _check_size(path: Path, name: str, A: Matrix) -> None:
    """Raise DataError if a variable is larger than v5 files allow."""
    # A sparse matrix is stored as compressed columns with indices of 32 bits.
    columns = 4 * (A.nnz + A.shape[1] + 1) if is_sparse(A) else 0
    size = A.dtype.itemsize * (A.nnz if is_sparse(A) else A.size) + columns
    if size >= LIMIT:
        raise DataError(
            path,
            f"{name} has {readable(size)}, and a variable of a MATLAB v5 file must have less than "
            f"{readable(LIMIT)}; save as .npz",
        )


def _cells(names: np.ndarray) -> np.ndarray:
    """Return names as an array of objects, which MATLAB reads as a cell array."""
    return np.array([str(name) for name in names], dtype=object)
