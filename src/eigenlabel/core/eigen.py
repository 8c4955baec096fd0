"""Small symmetric eigenproblems, the one sign rule and the one eigenvalue floor."""

import numpy as np

from eigenlabel.core._types import Floats


def rank_tolerance(size: int, dtype: "np.dtype[np.floating] | type") -> float:
    """Give the eigenvalue, relative to the largest, below which a spectrum counts as zero.

    ``size`` is the larger side of the data matrix, ``dtype`` its precision. The eigenvalues are
    squared singular values: the data's own rounding enters squared, that of the products once.
    """
    data = size * float(np.finfo(dtype).eps)
    return max(data * data, size * float(np.finfo(np.float64).eps))


def fix_signs(W: Floats) -> Floats:
    """Flip each column so that its entry of largest absolute value is positive.

    Of entries that are equal up to rounding the first one decides.
    """
    if W.shape[-1] == 0:
        return W
    size = np.abs(W)
    lead = np.argmax(size > (1 - 1e-9) * size.max(axis=-2, keepdims=True), axis=-2)
    signs = np.sign(np.take_along_axis(W, lead[..., None, :], axis=-2))
    return np.asarray(W * np.where(signs == 0, 1.0, signs))


def descending_eigh(S: Floats) -> tuple[Floats, Floats]:
    """Diagonalise symmetric S (..., m, m): eigenvalues descending, columns with fixed signs."""
    values, vectors = np.linalg.eigh((S + np.swapaxes(S, -1, -2)) / 2)
    return values[..., ::-1], fix_signs(vectors[..., ::-1])


def positive_count(values: Floats, size: int | None = None, tol: float = 0.0) -> int:
    """Count the descending eigenvalues of a PSD matrix that are above its rounding.

    ``size`` is that of the matrix, if some of its eigenvalues are not among the values; ``tol`` is
    the accuracy of the matrix, relative to its largest eigenvalue, if it is no better than that.
    """
    if values.size == 0 or values[0] <= 0:
        return 0
    rounding = (values.size if size is None else size) * float(np.finfo(np.float64).eps) * 16
    return int(np.count_nonzero(values > values[0] * max(rounding, tol)))
