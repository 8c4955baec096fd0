"""The conditional mean of each entry of a row given the row's other entries."""

import numpy as np
import scipy.linalg

from eigenlabel.linalg._types import Floats, Ints, Matrix

NUMBERS = 2**22  # of the inverse and of the coefficients together: 32 MiB


class ConditionalMeans:
    """Ridge regressions of each column on the other columns, without the row that is predicted.

    With the deviations ``D = B - 1 mean'``, the prediction of ``D[i, j]`` minimises
    ``|D[-i, j] - D[-i, -j] b|^2 + penalty |b|^2`` over b and equals ``D[i, -j] b``. No regression
    is solved one by one: with ``A = D'D + penalty I``, ``u = A^-1 d`` and ``h = d'u`` of row d,

        ``d_j - u_j / ((1 - h) (A^-1)_jj + u_j^2)``

    is the prediction without row i (Sherman-Morrison) and without column j (inverse of a block). If
    there are many columns, the predictors are those K of them that vary most, K (K + m) <= NUMBERS,
    and the prediction of any other column is that of its ridge regression without row i.

    The cost is ``O(K^2 (K + n))`` and that of the sparse product ``B'B``, and each row costs
    ``O(K m)``. The memory is that of ``K (K + m)`` numbers.

    Parameters
    ----------
    B : sparse matrix of shape (n, m)
        The values.
    mean : (m,)
        What is subtracted from each column.
    share : float
        The penalty as a share of the mean squared length of the predictors' columns of D.
    numbers : int
        The bound on ``K (K + m)``.
    """

    def __init__(self, B: Matrix, mean: Floats, share: float = 0.1, numbers: int = NUMBERS) -> None:
        n, m = B.shape
        self.B, self.mean = B.tocsr(), mean
        sums = np.asarray(B.sum(axis=0)).ravel()
        squares = np.asarray(B.multiply(B).sum(axis=0)).ravel()
        lengths = np.maximum(squares - 2 * mean * sums + n * mean**2, 0.0)  # diagonal of D'D
        limit = int((np.sqrt(m * m + 4.0 * numbers) - m) / 2)
        self.predictors = _largest(lengths, max(1, limit))
        self.others = np.setdiff1d(np.arange(m), self.predictors)
        if not self.predictors.size:  # no column varies
            return
        P = self.predictors
        C = (B[:, P].T @ B).toarray()  # (K, m), becomes D[:, P]'D
        C -= np.outer(sums[P], mean) + np.outer(mean[P], sums) - n * np.outer(mean[P], mean)
        A = C[:, P]
        A[np.diag_indices_from(A)] += share * lengths[P].mean()
        factor = scipy.linalg.cho_factor(A)
        self.inverse = scipy.linalg.cho_solve(factor, np.eye(len(P)))
        self.coefficients = scipy.linalg.cho_solve(factor, C[:, self.others])  # (K, m - K)

    def of_rows(self, rows: slice) -> Floats:
        """Return the predictions of D for some rows; (rows, m)."""
        D: Floats = self.B[rows].toarray() - self.mean
        if not self.predictors.size:
            return np.zeros_like(D)
        known = D[:, self.predictors]
        U = known @ self.inverse
        h = np.einsum("ij,ij->i", U, known)[:, None]
        out = np.empty_like(D)
        out[:, self.predictors] = known - U / ((1 - h) * np.diag(self.inverse) + U**2)
        if self.others.size:
            fitted = known @ self.coefficients
            out[:, self.others] = (fitted - h * D[:, self.others]) / (1 - h)
        return out


def _largest(values: Floats, limit: int) -> Ints:
    """Return the positions of at most ``limit`` largest positive values; ties are all left out."""
    if len(values) > limit:
        bound = np.partition(values, len(values) - limit - 1)[len(values) - limit - 1]
        return np.flatnonzero(values > bound)
    return np.flatnonzero(values > 0)
