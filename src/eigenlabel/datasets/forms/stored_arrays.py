"""Matrices as files store them: every part is checked before it is used.

The compiled code of scipy reads and writes wherever the stored indices point, so an index outside
the matrix can crash the process.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.datasets.files.errors import DataError
from eigenlabel.inputs.data import check_sparse_format
from eigenlabel.linalg._types import Matrix

# Rows or columns that a file of any size may declare. Larger shapes need a file of as many
# bytes: a wrong size in a small file must not take the memory of a large one.
MANY = 2**22


def build_sparse(
    path: Any,
    name: str,
    parts: tuple[Any, Any, Any],
    shape: tuple[int, ...],
    *,
    by_columns: bool = False,
    file_size: int | None = None,
) -> Matrix:
    """Return stored parts ``(data, indices, indptr)`` as a CSR matrix after checking all of them.

    Parameters
    ----------
    path : str or Path
        The file, for errors.
    name : str
        The name of the matrix, for errors.
    parts : tuple of three arrays
        Values, indices and pointers of compressed rows or columns. Values at the same position are
        added.
    shape : tuple of int
        The shape that the file declares.
    by_columns : bool, default=False
        Whether the parts are compressed columns instead of rows.
    file_size : int, default=None
        The size of the file in bytes. A matrix with more than 2**22 rows or columns must be in a
        file of as many bytes. None means that the size is not checked.
    """
    form = sp.csc_array if by_columns else sp.csr_array
    try:
        checked = _checked_parts(*parts)
        matrix: Matrix = form(checked, shape=_checked_shape(shape, file_size))
        check_sparse_format(matrix)
        count = len(checked[1])
        if matrix.indptr[-1] != count:
            raise ValueError(f"{matrix.indptr[-1]} entries are announced, {count} are there")
    except ValueError as error:
        raise DataError(path, f"{name} is not a valid sparse matrix: {error}") from None
    matrix = matrix.tocsr(copy=True)
    matrix.sum_duplicates()
    return matrix


def _checked_parts(
    data: Any, indices: Any, indptr: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the parts as vectors, with indices and pointers as 64-bit integers."""
    return (
        _vector("values", data, "biuf"),
        _vector("indices", indices, "iu").astype(np.int64),
        _vector("pointers", indptr, "iu").astype(np.int64),
    )


def _vector(what: str, part: Any, kinds: str) -> np.ndarray:
    part = np.asarray(part)
    if part.ndim != 1 or part.dtype.kind not in kinds:
        raise ValueError(f"its {what} are {part.dtype} of shape {part.shape}")
    if part.dtype.kind == "u" and part.size and part.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{part.max()} among its {what} is too large")
    return to_native(part)


def to_native(numbers: np.ndarray) -> np.ndarray:
    """Return numbers in native byte order, and floats of 4 or 8 bytes, for compiled code."""
    if numbers.dtype.kind == "f" and numbers.dtype.itemsize not in (4, 8):
        return numbers.astype(float)
    return numbers.astype(numbers.dtype.newbyteorder("="), copy=False)


def _checked_shape(shape: tuple[int, ...], file_size: int | None) -> tuple[int, int]:
    if len(shape) != 2 or min(shape) < 0:
        raise ValueError(f"its shape is {shape}")
    most = np.iinfo(np.int64).max if file_size is None else max(MANY, file_size)
    if max(shape) > most:
        raise ValueError(f"its shape is {shape}, in a file of {file_size:,} bytes")
    return int(shape[0]), int(shape[1])
