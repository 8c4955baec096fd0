"""The numerical rules of the library: ranks, signs, equal eigenvalues and memory budgets.

* *Rank*: eigenvalues count if they are positive and above a tolerance relative to the largest
  (:func:`significant`). The tolerance of a data matrix is :func:`rank_tolerance`.
* *Sign*: the entry of largest absolute value of an eigenvector is positive (:func:`fix_signs`),
  and so is the diagonal of R in a QR decomposition (:func:`positive_qr`).
* *Memory*: work arrays beside those that a method states are bounded by the budgets below.
"""

import numpy as np
import scipy.linalg

from eigenlabel.linalg._types import Bools, Floats
from eigenlabel.linalg.ties import SAFETY, same_as_next

EPS = float(np.finfo(np.float64).eps)

# Memory budgets. Larger blocks are hardly faster, and smaller ones are slower.
BLOCK_BYTES = 32 * 2**20  # rows of a matrix that are processed together
WAITING_BYTES = 16 * 2**20  # rows that wait until their statistics are collected together
GRAM_BYTES = 64 * 2**20  # Gram matrix of the features that elastic nets have needed so far
STRIP_NUMBERS = 2**18  # of a matrix that is updated by strips
CACHE_NUMBERS = 2**16  # of an array that is updated while it is in the processor's cache

ALIKE = 1e-4  # share by which entries of an eigenvector may differ and still count as equal


def rank_tolerance(size: int, dtype: "np.dtype[np.floating] | type") -> float:
    """Return the share of the largest eigenvalue up to which eigenvalues count as zero.

    The eigenvalues are those of a Gram or covariance matrix, which are squared singular values of
    the data: the rounding of the data enters squared, that of the products once.

    Parameters
    ----------
    size : larger side of the data matrix
    dtype : precision of the data
    """
    data = size * float(np.finfo(dtype).eps)
    return max(data * data, size * EPS)


def significant(values: Floats, tolerance: float) -> Bools:
    """Return which values are positive and above ``tolerance`` times the largest value.

    This is the one rank rule. It is relative and strict: rescaled data have the same rank, and no
    value of an all-zero matrix is significant.
    """
    return np.asarray((values > tolerance * values.max(initial=0.0)) & (values > 0))


def fix_signs(W: Floats) -> Floats:
    """Flip each column (..., n, k) so that its entry of largest absolute value is positive.

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
    """Return the eigenvalues of a symmetric S (..., m, m), descending, and its eigenvectors.

    Equivalent to ``numpy.linalg.eigh`` of the symmetric part, in reverse order, with the signs of
    :func:`fix_signs` and the eigenvectors of equal eigenvalues chosen by :func:`turn_equal`.
    """
    values, vectors = np.linalg.eigh((S + np.swapaxes(S, -1, -2)) / 2)
    values, vectors = values[..., ::-1], vectors[..., ::-1]
    return values, fix_signs(turn_equal(values, vectors))


def turn_equal(values: Floats, W: Floats) -> Floats:
    """Replace eigenvectors of equal eigenvalues by a basis that depends on their space alone.

    Eigenvalues are equal if the largest and the smallest of them differ by no more than rounding.
    Any rotation of their eigenvectors is a solution, and which one a solver returns depends on
    rounding. Eigenvalues so small that rounding is a share of more than ALIKE of them are not
    changed: they may differ.

    Parameters
    ----------
    values : (..., k), monotonic
    W : (..., n, k), orthonormal columns
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
    return np.asarray(Z @ positive_qr(Z[pivots].T)[0])


def positive_count(values: Floats, size: int | None = None, tol: float = 0.0) -> int:
    """Count the eigenvalues of a positive semi-definite matrix that are above its rounding.

    Parameters
    ----------
    values : eigenvalues, all or the largest
    size : size of the matrix, if some of its eigenvalues are not among the values
    tol : accuracy of the matrix, relative to its largest eigenvalue, if worse than rounding
    """
    rounding = SAFETY * (values.size if size is None else size) * EPS
    return int(np.count_nonzero(significant(values, max(rounding, tol))))


def positive_qr(A: Floats) -> tuple[Floats, Floats]:
    """Return the QR decomposition of A whose R has a diagonal that is not negative.

    Equivalent to ``numpy.linalg.qr`` up to the signs of the columns of Q.
    """
    Q, R = np.linalg.qr(A)
    signs = np.where(np.diag(R) < 0, -1.0, 1.0)
    return Q * signs, signs[:, None] * R
