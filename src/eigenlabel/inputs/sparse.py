"""Checks of sparse matrices.

Compiled code follows the pointers and indices of a sparse matrix without a check, so that a wrong
one reads or writes anywhere in memory. SciPy does not check the indices that a matrix is
constructed from.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_selection import SelectorMixin as SklearnSelectorMixin

from eigenlabel.linalg._types import Ints, Matrix


def check_sparse(A: Any, name: str) -> None:
    """Raise ValueError if a sparse A is not a matrix, or if its arrays point outside of it.

    Anything that is not sparse is accepted. SciPy's own ``check_format`` is not used because it
    changes its matrix.
    """
    if sp.issparse(A):
        _check_matrix(A, name)


def _check_matrix(A: Matrix, name: str) -> None:
    if A.ndim != 2:
        raise ValueError(
            f"{name} must have two dimensions, found a sparse array of shape {A.shape}: reshape it,"
            " for instance to (n, 1)."
        )
    try:
        if A.format == "coo":
            for places, size in zip(A.coords, A.shape, strict=True):
                _check_places(places, len(A.data), size)
        elif A.format in ("csr", "csc", "bsr"):
            block = A.blocksize if A.format == "bsr" else (1, 1)
            _check_compressed(A, (A.shape[0] // block[0], A.shape[1] // block[1]))
    except ValueError as error:
        raise ValueError(
            f"{name} is a damaged sparse matrix of shape {A.shape}: {error}. Build it again from "
            "its entries."
        ) from error


def check_sparse_format(matrix: Any) -> None:
    """Raise ValueError unless a sparse matrix, every part of which a file set, is CSR or CSC."""
    if not isinstance(matrix, (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.csc_matrix)):
        raise ValueError(f"a sparse matrix must be CSR or CSC, found {type(matrix).__name__}")
    shape = getattr(matrix, "_shape", None)
    if not isinstance(shape, tuple) or len(shape) != 2:
        raise ValueError(f"a sparse matrix must have two dimensions, found shape {shape!r}")
    if not all(isinstance(n, (int, np.integer)) and n >= 0 for n in shape):
        raise ValueError(f"a sparse matrix must have a shape of integers, found {shape!r}")
    data = getattr(matrix, "data", None)
    if not isinstance(data, np.ndarray) or data.ndim != 1 or data.dtype.kind not in "biufc":
        raise ValueError("the data of a sparse matrix must be a vector of numbers")
    _check_compressed(matrix, shape)
    type(matrix).check_format(matrix)  # one type of integers, native numbers


def _check_compressed(matrix: Matrix, shape: tuple[int, ...]) -> None:
    """Raise ValueError unless the pointers and indices of a compressed matrix fit its shape."""
    for name in ("indptr", "indices"):
        part = getattr(matrix, name, None)
        if not isinstance(part, np.ndarray) or part.ndim != 1 or part.dtype.kind != "i":
            raise ValueError(f"the {name} of a sparse matrix must be a vector of numbers")
    rows, columns = shape[::-1] if matrix.format == "csc" else shape
    indptr = matrix.indptr
    # SciPy's own check does not look at the pointers if the last one is not above zero.
    if len(indptr) != rows + 1 or indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        raise ValueError(f"the indptr must be {rows + 1} numbers from 0 that do not decrease")
    if indptr[-1] > len(matrix.indices):
        raise ValueError(
            f"{indptr[-1]} entries are announced, but there are {len(matrix.indices)} indices"
        )
    _check_places(matrix.indices, len(matrix.data), columns)


def _check_places(places: Ints, stored: int, size: int) -> None:
    """Raise ValueError unless there is one place from 0 to size - 1 for each stored value."""
    if len(places) != stored:
        raise ValueError(f"there are {len(places)} indices for {stored} entries")
    outside = places[(places < 0) | (places >= size)]
    if outside.size:
        raise ValueError(f"the indices must be between 0 and {size - 1}, found {outside[0]}")


def canonical(X: Matrix) -> Matrix:
    """Return sparse X without duplicate entries, with 32-bit indices if they suffice.

    Dense X is returned unchanged. The argument is never modified.
    """
    sparse = sp.issparse(X)
    if not sparse:
        return X
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.indices.dtype == np.int64 and max(X.nnz, *X.shape) < 2**31:
        # Some compiled kernels accept 32-bit indices only.
        indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        X = type(X)((X.data, indices, indptr), shape=X.shape)
    return X


class SelectorMixin(SklearnSelectorMixin):  # type: ignore[misc]
    """Mixin of feature selectors that checks sparse input."""

    def transform(self, X: Any) -> Any:
        """Select features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        selected : ndarray or sparse matrix of shape (n_samples, n_selected_features)
            The selected features of the samples.
        """
        check_sparse(X, "X")
        return super().transform(X)
