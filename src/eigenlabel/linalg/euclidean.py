"""Euclidean distances that are accurate to a relative error, wherever the samples lie."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from eigenlabel.linalg._types import Floats, Ints, Matrix
from eigenlabel.linalg.operators import is_sparse, row_blocks
from eigenlabel.linalg.ties import ACCURACY, Rounding, precision

PRODUCTS = 8  # inner products err by less than this multiple of precision and squared lengths
FEW = 100  # samples whose median is the centre
MANY = 0.1  # share of inaccurate entries above which all entries are computed from differences


def _squares(X: Matrix) -> Floats:
    return np.asarray((X.multiply(X) if is_sparse(X) else X * X).sum(axis=1), dtype=float).ravel()


def _full_columns(Z: Any) -> Any:
    """Return which columns of a sparse matrix have values in more than half of the rows."""
    if not is_sparse(Z):
        return np.zeros(Z.shape[1], dtype=bool)
    return np.bincount(Z.indices, minlength=Z.shape[1]) > Z.shape[0] / 2


class EuclideanDistances:
    """The distances from any samples to samples Z (n, d), dense or CSR, in float64.

    ``|x - z|^2 = |x|^2 + |z|^2 - 2 x'z`` loses digits if the samples are close together compared
    with their lengths. Dense samples are therefore centred, by the median of some of them that no
    outlier moves, and the entries that are still inaccurate are computed from differences. The
    relative error is at most ``ACCURACY``. Columns of sparse samples that are mostly full may be
    far from zero as well: they are a dense matrix of their own, whose squared distances are added.

    Attributes
    ----------
    centred : (n, d) array or CSR matrix
        The samples Z less the centre; of sparse ones the columns that are not mostly full.
    lengths : (n,) array
        Their squared lengths.
    """

    def __init__(self, Z: Matrix) -> None:
        self._Z = Z
        self._centre = np.zeros(Z.shape[1])
        self._full = _full_columns(Z)
        self._dense_part = EuclideanDistances(self._dense(Z)) if self._full.any() else None
        if not is_sparse(Z) and Z.shape[0]:
            some = Z[:: -(-Z.shape[0] // FEW)]
            self._centre = np.median(some.astype(float), axis=0)
        self.centred = self.centre_rows(Z)
        self.lengths = _squares(self.centred)

    def centre_rows(self, X: Matrix) -> Matrix:
        """Return dense samples less the centre, or the columns of sparse ones that are not full."""
        if not is_sparse(X):
            return X - self._centre
        return (X[:, ~self._full] if self._full.any() else X).astype(float)

    def _dense(self, X: Any) -> Floats:
        return np.asarray(X[:, self._full].toarray())

    def __call__(self, X: Matrix) -> Floats:
        """Return the distances (rows of X, rows of Z); X becomes dense or sparse as Z is."""
        if is_sparse(X) != is_sparse(self._Z):
            X = X.toarray() if is_sparse(X) else sp.csr_array(X)
        centred = self.centre_rows(X)
        own = _squares(centred)
        products = (-2.0 * centred) @ self.centred.T
        D = products.toarray() if is_sparse(products) else np.asarray(products)
        D += own[:, None]
        D += self.lengths
        if self._dense_part is not None:
            D += self._dense_part(self._dense(X)) ** 2
        rows, columns = self._inaccurate(D, own)
        if len(rows) > MANY * D.size and not is_sparse(X):
            return np.asarray(cdist(X.astype(float), self._Z.astype(float)))
        for part in row_blocks(len(rows), X.shape[1]):
            D[rows[part], columns[part]] = self._differences(X, rows[part], columns[part])
        return np.asarray(np.sqrt(D, out=D))

    def _inaccurate(self, D: Floats, own: Floats) -> tuple[Ints, Ints]:
        """Return where squared distances are small compared with the squared lengths."""
        factor = PRODUCTS * precision(float) / ACCURACY
        longest = self.lengths.max(initial=0.0)
        rows, columns = np.nonzero(factor * (own[:, None] + longest) > D)  # one pass for most
        small = factor * (own[rows] + self.lengths[columns]) > D[rows, columns]
        return rows[small], columns[small]

    def _differences(self, X: Matrix, rows: Ints, columns: Ints) -> Floats:
        return _squares(X[rows].astype(float) - self._Z[columns].astype(float))


def distance_rounding(X: Matrix, dtype: Any = None) -> Rounding:
    """Return the bound on rounding of Euclidean distances from samples X.

    Every feature has the rounding of its own type, which moves a distance by about as much. The
    other sample is no larger than X and the distance together.
    """
    eps = precision(X.dtype if dtype is None else dtype)
    return Rounding(4 * eps * largest_entries(X), max(4 * eps, ACCURACY))


def largest_entries(X: Matrix) -> Floats:
    """Return the largest absolute value in each row (rows, 1)."""
    if not X.shape[1]:
        return np.zeros((X.shape[0], 1))
    size: Any = abs(X).max(axis=1)
    return np.asarray(size.toarray() if is_sparse(size) else size, dtype=float).reshape(-1, 1)
