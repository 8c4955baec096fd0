"""Gram matrices of samples: centring, weights, symmetry and positive semi-definiteness."""

import numpy as np
from scipy.linalg import lapack

from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.operators import TILE, less_outer, row_blocks, weighted_mean
from eigenlabel.linalg.solvers.shifted import eigenvectors


def centre_gram(
    K: Floats, weights: Floats | None, overwrite: bool = False
) -> tuple[Floats, Floats]:
    """Centre K in feature space, and return it with the mean of its rows before centring.

    ``(I - 1 v') K (I - v 1')`` with v the weights divided by their sum. Cost: two passes over K.
    """
    row_mean = weighted_mean(K, weights)
    centred = np.subtract(K, row_mean, out=K if overwrite else None)
    centred -= weighted_mean(centred.T, weights)[:, None]
    return centred, row_mean


def weighted_gram(K: Floats, root: Floats | None, overwrite: bool = False) -> Floats:
    """Return ``D^1/2 K D^1/2`` with ``root`` the diagonal of D^1/2; K itself if ``overwrite``."""
    M = K if overwrite else K.copy()
    if root is not None:
        M *= root[:, None]
        M *= root
    return M


def scaled_gram(Kc: Floats, root: Floats | None, centred: bool, overwrite: bool = False) -> Floats:
    """Scale a centred Gram matrix by the roots of the weights and lift its null direction.

    Centring makes ``root`` a null vector of ``D^1/2 Kc D^1/2``. Centred targets are orthogonal to
    it, so that its eigenvalue does not matter. It is set to the mean eigenvalue, which leaves the
    condition of the rest of the matrix unchanged.
    """
    n = Kc.shape[0]
    M = weighted_gram(Kc, root, overwrite)
    if centred and n:
        v = np.full(n, 1 / np.sqrt(n)) if root is None else root / np.linalg.norm(root)
        less_outer(M, v, -float(np.trace(M)) / n)
    return M


def symmetric_part(K: Floats) -> tuple[Floats, tuple[int, int]]:
    """Return ``(K + K') / 2`` as a new matrix, and the place where K is least symmetric."""
    S, worst, place = np.empty_like(K), -1.0, (0, 0)
    for i in range(0, len(K), TILE):
        for j in range(i, len(K), TILE):
            rows, columns = slice(i, i + TILE), slice(j, j + TILE)
            above, below = K[rows, columns], K[columns, rows].T
            S[rows, columns] = (above + below) / 2
            S[columns, rows] = S[rows, columns].T
            off = np.abs(above - below)
            if off.max() > worst:
                a, b = np.unravel_index(off.argmax(), off.shape)
                worst, place = float(off.max()), (i + int(a), j + int(b))
    return S, place


def nearest_psd(K: Floats, tolerance: float) -> tuple[Floats, Floats | None, float]:
    """Return the nearest positive semi-definite matrix to a symmetric K, in Frobenius norm.

    Cost: one Cholesky factor (n^3 / 3) if K is positive semi-definite up to rounding, else an
    eigendecomposition.

    Returns
    -------
    nearest : K itself if it is positive semi-definite up to rounding, else a new matrix
    kept : (n, t) eigenvectors of the positive eigenvalues, or None if nothing was left out
    smallest : the smallest eigenvalue of K relative to the largest, or 0 if nothing was left out
    """
    n = K.shape[0]
    bound = max((float(np.abs(K[rows]).sum(axis=1).max()) for rows in row_blocks(n, n)), default=0)
    lifted = K.copy()
    lifted.flat[:: n + 1] += max(tolerance * bound, np.finfo(float).tiny)
    if lapack.dpotrf(lifted.T, lower=1, clean=0, overwrite_a=1)[1] == 0:  # .T: no copy
        return K, None, 0.0
    lifted[:] = K
    lam, Q = eigenvectors(lifted)
    if lam[0] >= -tolerance * bound:
        return K, None, 0.0
    first = len(lam) - int(np.count_nonzero(lam > tolerance * bound))  # they ascend
    smallest = float(lam[0] / lam[-1]) if lam[-1] > 0 else -np.inf
    kept = Q[:, first:]
    return (kept * lam[first:]) @ kept.T, kept, smallest
