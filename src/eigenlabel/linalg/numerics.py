"""Small symmetric eigenproblems, the one sign rule and the one eigenvalue floor."""

import numpy as np
import scipy.linalg

from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.ties import SAFETY, same_as_next

EPS = float(np.finfo(np.float64).eps)
ALIKE = 1e-4  # share by which entries of an eigenvector may differ and still count as equal


def rank_tolerance(size: int, dtype: "np.dtype[np.floating] | type") -> float:
    """Give the eigenvalue, relative to the largest, below which a spectrum counts as zero.

    ``size`` is the larger side of the data matrix, ``dtype`` its precision. The eigenvalues are
    squared singular values: the data's own rounding enters squared, that of the products once.
    """
    data = size * float(np.finfo(dtype).eps)
    return max(data * data, size * EPS)


def fix_signs(W: Floats) -> Floats:
    """Flip each column so that its entry of largest absolute value is positive.

    Entries within a share ALIKE of the largest count as equally large, and the first of them
    decides: vectors of close eigenvalues, or of float32 data, have larger errors than rounding.
    """
    if W.shape[-1] == 0:
        return W
    size = np.abs(W)
    lead = np.argmax(size > (1 - ALIKE) * size.max(axis=-2, keepdims=True), axis=-2)
    signs = np.sign(np.take_along_axis(W, lead[..., None, :], axis=-2))
    return np.asarray(W * np.where(signs == 0, 1.0, signs))


def descending_eigh(S: Floats) -> tuple[Floats, Floats]:
    """Diagonalise symmetric S (..., m, m): eigenvalues descending, columns with fixed signs.

    Eigenvectors of equal eigenvalues are those of ``turn_equal``.
    """
    values, vectors = np.linalg.eigh((S + np.swapaxes(S, -1, -2)) / 2)
    values, vectors = values[..., ::-1], vectors[..., ::-1]
    return values, fix_signs(turn_equal(values, vectors))


def turn_equal(values: Floats, W: Floats) -> Floats:
    """Replace eigenvectors of equal eigenvalues by a basis that depends on their space alone.

    ``values`` (..., k) are monotonic, with orthonormal columns W (..., n, k). Eigenvalues are equal
    if the largest and the smallest of them differ by no more than rounding; any rotation of their
    eigenvectors would do, and the one that a solver returns depends on rounding. Eigenvalues so
    small that rounding is a share of more than ALIKE of them are left alone: they may differ.
    """
    size = np.abs(values)
    floor = SAFETY * max(values.shape[-1], 1) * EPS * size.max(axis=-1, initial=0.0, keepdims=True)
    large = ALIKE * np.minimum(size[..., 1:], size[..., :-1]) > floor
    equal = same_as_next(values, np.where(large, floor, 0.0)) & large
    if not equal.any():
        return W
    W = W.copy()
    for place in np.ndindex(values.shape[:-1]):
        edges = np.flatnonzero(np.diff(np.r_[False, equal[place], False]))
        for start, stop in edges.reshape(-1, 2):
            W[place][:, start : stop + 1] = _own_basis(W[place][:, start : stop + 1])
    return W


def _own_basis(Z: Floats) -> Floats:
    """Return the orthonormal basis of Z's columns in which chosen rows are triangular.

    The rows are those in which the space has the largest part, one after the other (QR with
    pivoting); falling weights prefer the first of rows that are equal up to rounding.
    """
    n, k = Z.shape
    weights = np.linspace(1.0, 1.0 - ALIKE * 10, n)[:, None]
    pivots = scipy.linalg.qr((Z * weights).T, mode="r", pivoting=True)[1][:k]
    Q, R = np.linalg.qr(Z[pivots].T)
    return np.asarray(Z @ (Q * np.where(np.diag(R) < 0, -1.0, 1.0)))


def positive_count(values: Floats, size: int | None = None, tol: float = 0.0) -> int:
    """Count the descending eigenvalues of a PSD matrix that are above its rounding.

    ``size`` is that of the matrix, if some of its eigenvalues are not among the values; ``tol`` is
    the accuracy of the matrix, relative to its largest eigenvalue, if it is no better than that.
    """
    if values.size == 0 or values[0] <= 0:
        return 0
    rounding = SAFETY * (values.size if size is None else size) * EPS
    return int(np.count_nonzero(values > values[0] * max(rounding, tol)))
