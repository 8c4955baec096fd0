"""A centred data matrix, dense or sparse, as products that never densify it.

``Xc = X - 1 mean'`` is never stored. Dense X is centred block by block, sparse X by rank-one
corrections. Blocks are float64 for any X, so that float32 data need no more memory and products
lose no digits. Products of sparse float32 X with float32 matrices are float32.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import blas

from eigenlabel.linalg._types import Floats, Ints, Matrix
from eigenlabel.linalg.machine import n_threads
from eigenlabel.linalg.numerics import BLOCK_BYTES, STRIP_NUMBERS
from eigenlabel.linalg.threads import adapt_threads

TILE = 512  # rows and columns of a tile that stays in the cache while it is transposed
PIECE = 2**12  # rows that are summed in the precision of the data
PARALLEL = 2**24  # multiplications from which threads make a sparse product faster
WIDE = 128  # columns from which a product by rows is faster than one that writes to all rows


def is_sparse(A: Matrix) -> bool:
    """Return whether A is a scipy sparse matrix or array (without narrowing the type)."""
    return bool(sp.issparse(A))


def total_weight(n: int, weights: Floats | None) -> float:
    """Return the sum of the sample weights, or n if there are none."""
    return float(n) if weights is None else float(weights.sum())


def weighted_mean(A: Matrix, weights: Floats | None) -> Floats:
    """Return the weighted mean of the rows of a dense or sparse A, in float64."""
    n = A.shape[0]
    w = np.ones(n) if weights is None else weights
    # A product, not A.mean(): it accumulates float32 and integer data in float64.
    if is_sparse(A):
        total = np.asarray(A.T @ w, dtype=float)
    else:
        total = np.zeros(A.shape[1])
        for rows in row_blocks(n, A.shape[1]):
            total += w[rows] @ A[rows].astype(float, copy=False)
    return total / total_weight(n, weights)


def column_sums(A: Floats) -> Floats:
    """Sum the rows; sums of pieces are added in float64, as float32 would lose digits."""
    out = np.zeros(A.shape[1])
    for start in range(0, len(A), PIECE):
        out += A[start : start + PIECE].sum(axis=0)
    return out


def column_products(A: Floats, B: Floats) -> Floats:
    """Return the inner products of the columns of A and B, summed as in column_sums."""
    out = np.zeros(A.shape[1])
    for start in range(0, len(A), PIECE):
        rows = slice(start, start + PIECE)
        out += np.einsum("ij,ij->j", A[rows], B[rows])
    return out


def row_blocks(length: int, width: int) -> Iterator[slice]:
    """Yield slices of ``length`` rows, such that rows of ``width`` numbers fit in BLOCK_BYTES."""
    step = max(1, BLOCK_BYTES // (8 * max(1, width)))
    for start in range(0, length, step):
        yield slice(start, min(length, start + step))


def consecutive_rows(X: Matrix, rows: slice) -> Matrix:
    """Return rows start to stop of X; those of a CSR matrix are copied without a search.

    Equivalent to ``X[rows]``, which looks at the column of every entry of a sparse matrix.
    """
    if not is_sparse(X):
        return X[rows]
    stored = slice(X.indptr[rows.start], X.indptr[rows.stop])
    indptr = X.indptr[rows.start : rows.stop + 1] - X.indptr[rows.start]
    shape = (rows.stop - rows.start, X.shape[1])
    return type(X)((X.data[stored], X.indices[stored], indptr), shape=shape)


def less_outer(A: Floats, x: Floats, w: float, t: Floats | None = None) -> Floats:
    """Compute ``A - w x t'`` in place, by strips; t is x by default."""
    t = x if t is None else t
    if w == 0 or not x.any():
        return A
    step = max(1, STRIP_NUMBERS // max(1, A.shape[1]))
    for start in range(0, len(x), step):
        A[start : start + step] -= np.outer(w * x[start : start + step], t)
    return A


def mirror(A: Floats) -> Floats:
    """Copy the upper triangle of a square matrix to its lower triangle, in place."""
    for i in range(0, len(A), TILE):
        rows = slice(i, i + TILE)
        tile = A[rows, rows]
        tile[:] = np.triu(tile) + np.triu(tile, 1).T
        for j in range(i + TILE, len(A), TILE):
            columns = slice(j, j + TILE)
            A[columns, rows] = A[rows, columns].T
    return A


def add_products(G: Floats, block: Floats, *, of_rows: bool) -> None:
    """Add the inner products of the columns, or rows, of a block to the upper triangle of G.

    The product is added in place, without a second array of the size of G.
    """
    if block.size:
        adapt_threads(len(G))
        blas.dsyrk(1.0, block.T, beta=1.0, c=G.T, trans=of_rows, lower=1, overwrite_c=1)


def sparse_product(A: Matrix, B: Floats) -> Floats:
    """Return A B for a sparse A; large products use all cores, as scipy releases the GIL.

    CSR matrices are split by rows. A product with a CSC matrix writes to all rows, so that the
    columns of B are split. If B is wide, a CSC matrix becomes CSR first, so that each row of the
    product is written once, unless its copy would take more memory than the product.
    """
    copied = A.nnz * (A.dtype.itemsize + A.indices.itemsize)
    if A.format == "csc" and B.shape[1] >= WIDE and copied <= A.shape[0] * B.shape[1] * 8:
        A = A.tocsr()
    threads = 1 if A.nnz * B.shape[1] < PARALLEL else n_threads()
    if threads == 1:
        return np.asarray(A @ B)
    out = np.empty((A.shape[0], B.shape[1]), dtype=np.result_type(A.dtype, B.dtype))
    by_rows, step = A.format == "csr", max(1, STRIP_NUMBERS // max(1, B.shape[1]))
    if by_rows:  # parts with equal numbers of stored values
        cuts = np.searchsorted(A.indptr, np.linspace(0, A.nnz, threads + 1)[1:-1])
        ends = [0, *cuts, A.shape[0]]
    else:
        ends = [B.shape[1] * k // threads for k in range(threads + 1)]

    def part(k: int) -> None:
        if not by_rows:
            cut = slice(ends[k], ends[k + 1])
            out[:, cut] = A @ np.ascontiguousarray(B[:, cut])
            return
        for start in range(ends[k], ends[k + 1], step):  # products that stay in the cache
            cut = slice(start, min(start + step, ends[k + 1]))
            out[cut] = A[cut] @ B

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(part, range(threads)))
    return out


def _sparse_outer(A: Matrix) -> Floats:
    """Return the dense A A' of a sparse A; each pair of rows is computed once."""
    A = A.tocsr().astype(float, copy=False)
    n = A.shape[0]
    out = np.empty((n, n))
    # Narrow strips halve the work (nothing left of the diagonal is computed) and bound the memory
    # of the sparse intermediate; each strip costs one transposition of the remaining rows.
    step = max(64, min(512, n // 8, BLOCK_BYTES // (24 * max(1, n))))
    for start in range(0, n, step):
        stop = min(n, start + step)
        strip = (A[start:stop] @ A[start:].T).toarray()
        out[start:stop, start:] = strip
        out[stop:, start:stop] = strip[:, stop - start :].T
    return out


def centre_full_columns(X: Matrix, mean: Floats) -> tuple[Matrix, Floats]:
    """Subtract the mean from sparse columns that store a value in every row.

    Such a column (a year, a time stamp) stays as sparse as it is, and a rank-one correction would
    cancel most of its digits. Returns the matrix and the subtracted offsets (d,).
    """
    stored = np.bincount(X.indices, minlength=X.shape[1]) if X.nnz else np.zeros(X.shape[1])
    full = (stored == X.shape[0]) & (mean != 0)
    if not full.any():
        return X, np.zeros(X.shape[1])
    offset = np.where(full, mean, 0.0)
    shifted = X.astype(float)
    shifted.data = shifted.data - offset[X.indices]
    return shifted, offset


class CentredOperator:
    """The matrix ``Xc = X - 1 mean'`` as products.

    Parameters
    ----------
    X : (n, d) array, or CSR matrix or array without duplicate entries
    weights : (n,) positive sample weights of the mean, or None
    centre : whether to subtract the mean

    Attributes
    ----------
    mean : (d,) mean of X, zero without centring
    """

    def __init__(self, X: Matrix, weights: Floats | None = None, centre: bool = True) -> None:
        self.shape: tuple[int, int] = X.shape
        self.dtype = np.dtype(X.dtype)
        self.weights = weights
        self.mean: Floats = weighted_mean(X, weights) if centre else np.zeros(X.shape[1])
        self._X = X
        self._index: Ints | None = None  # rows of a dense X that belong to it, if not all
        self._rest = self.mean  # to be subtracted from the stored matrix
        if is_sparse(X) and centre:
            self._X, offset = centre_full_columns(X, self.mean)
            self._rest = np.where(offset != 0, weighted_mean(self._X, weights), self.mean)

    @classmethod
    def about(cls, X: Matrix, origin: Floats) -> "CentredOperator":
        """Return the operator ``X - 1 origin'`` for a given origin (d,)."""
        operator = cls(X, centre=False)
        operator.mean = operator._rest = origin
        return operator

    def _dense(self, rows: slice, columns: slice = slice(None)) -> Floats:
        X = self._X[rows, columns] if self._index is None else self._X[self._index[rows], columns]
        block: Floats = X - self._rest[columns]
        return block

    @property
    def precision(self) -> "np.dtype[Any]":
        """The precision of products: float32 for sparse float32 values, else float64."""
        return np.dtype(self._X.dtype if is_sparse(self._X) else float)

    @property
    def dense(self) -> bool:
        """Whether X is a dense array."""
        return not is_sparse(self._X)

    def matmat(self, B: Floats) -> Floats:
        """Return Xc B; nnz(X) operations for each column."""
        if is_sparse(self._X):
            product = sparse_product(self._X, B)
            product -= self._rest.astype(product.dtype) @ B
            return product
        out = np.empty((self.shape[0], B.shape[1]))
        for rows in row_blocks(*self.shape):
            out[rows] = self._dense(rows) @ B
        return out

    def toarray(self) -> Floats:
        """Return Xc itself as a new dense array."""
        if is_sparse(self._X):
            return np.asarray(self._X.toarray() - self._rest, dtype=float)
        return np.asarray(self._dense(slice(None)), dtype=float)

    def rmatmat(self, A: Floats) -> Floats:
        """Return Xc'A; nnz(X) operations for each column."""
        if is_sparse(self._X):
            product = sparse_product(self._X.T, A)
            rest, sums = self._rest.astype(product.dtype), column_sums(A).astype(product.dtype)
            return less_outer(product, rest, 1.0, sums)
        out = np.zeros((self.shape[1], A.shape[1]))
        for rows in row_blocks(*self.shape):
            out += self._dense(rows).T @ A[rows]
        return out

    def normal(self, P: Floats) -> tuple[Floats, Floats]:
        """Return Xc'W Xc P, and p'Xc'W Xc p for each column p of P."""
        R = self.matmat(P)
        WR = R if self.weights is None else self.weights[:, None] * R
        return self.rmatmat(WR), column_products(R, WR)

    def gram(self) -> Floats:
        """Return Xc Xc' (n, n); n^2 d operations, or one sparse product."""
        if is_sparse(self._X):
            K = _sparse_outer(self._X)
            g = np.asarray(self._X @ self._rest)
            K -= g[:, None]
            K -= g
            K += self._rest @ self._rest
            return K
        K = np.zeros((self.shape[0], self.shape[0]))
        for columns in row_blocks(self.shape[1], self.shape[0]):
            add_products(K, self._dense(slice(None), columns), of_rows=True)
        return mirror(K)

    def column_squares(self) -> Floats:
        """Sum the squared entries of each column of Xc, weighted by row (d,)."""
        w = np.ones(self.shape[0]) if self.weights is None else self.weights
        if not is_sparse(self._X):
            parts = (w[rows] @ (self._dense(rows) ** 2) for rows in row_blocks(*self.shape))
            return np.asarray(sum(parts, np.zeros(self.shape[1])))
        X: Matrix = self._X.astype(float, copy=False)
        squares = np.asarray(X.multiply(X).T @ w)
        squares += self._rest * (w.sum() * self._rest - 2 * np.asarray(X.T @ w))
        return np.asarray(np.maximum(squares, 0.0))  # rounding of a constant column

    def squared_norm(self) -> float:
        """Sum the squared entries of Xc, weighted by row."""
        return float(self.column_squares().sum())

    def rows(self, index: Ints, *, copy: bool = True) -> "CentredOperator":
        """Return the operator of some rows, about the mean of all rows.

        Without ``copy``, the rows of a dense X are gathered again for each product.
        """
        part = object.__new__(CentredOperator)
        part._rest, part.mean, part.dtype = self._rest, self.mean, self.dtype
        whole = index if self._index is None else self._index[index]
        keep = self.dense and not copy
        part._X, part._index = (self._X, whole) if keep else (self._X[whole], None)
        part.shape = (len(index), self.shape[1])
        part.weights = None if self.weights is None else self.weights[index]
        return part

    def recentred(self, index: Ints, centre: bool) -> "CentredOperator":
        """Return the operator of some rows, about their own mean."""
        part = self.rows(index)
        if centre:
            left = part.rmatmat(
                np.ones((len(index), 1)) if part.weights is None else part.weights[:, None]
            )[:, 0] / total_weight(len(index), part.weights)
            part.mean, part._rest = part.mean + left, part._rest + left
        return part

    def columns(self, index: Ints) -> "CentredOperator":
        """Return the operator of some columns."""
        part = object.__new__(CentredOperator)
        part._X, part._rest, part.mean = self._X[:, index], self._rest[index], self.mean[index]
        part.dtype, part.weights, part._index = self.dtype, self.weights, self._index
        part.shape = (self.shape[0], len(index))
        return part

    def covariance(self) -> Floats:
        """Return Xc'W Xc (d, d); n d^2 operations, or one sparse product."""
        if not is_sparse(self._X):
            G = np.zeros((self.shape[1], self.shape[1]))
            for rows in row_blocks(*self.shape):
                block = self._dense(rows)
                if self.weights is not None:
                    block *= np.sqrt(self.weights[rows, None])
                add_products(G, block, of_rows=False)
            return mirror(G)
        n, weights = self.shape[0], self.weights
        root = np.ones(n) if weights is None else np.sqrt(weights)
        X: Matrix = self._X
        scaled = X if weights is None else X.multiply(root[:, None]).tocsr()
        G = _sparse_outer(scaled.T)
        total = np.asarray(scaled.T @ root)  # X' W 1
        less_outer(G, total, 1.0, self._rest)
        less_outer(G, self._rest, 1.0, total)
        return less_outer(G, self._rest, -total_weight(n, weights))

    def cross_covariance(self, other: "CentredOperator") -> Floats:
        """Return Xc'W Zc for another operator Zc with the same rows."""
        n = self.shape[0]
        w = np.ones(n) if self.weights is None else self.weights
        if not is_sparse(self._X):
            G = np.zeros((self.shape[1], other.shape[1]))
            for rows in row_blocks(n, self.shape[1] + other.shape[1]):
                if is_sparse(other._X):
                    part = other.rows(np.arange(rows.start, rows.stop))
                    G += part.rmatmat(w[rows, None] * self._dense(rows)).T
                else:
                    G += self._dense(rows).T @ (w[rows, None] * other._dense(rows))
            return G
        if not is_sparse(other._X):
            return other.cross_covariance(self).T
        X: Matrix = self._X
        Z: Matrix = other._X.astype(float, copy=False)
        G = (X.multiply(w[:, None]).tocsr().T @ Z).toarray()
        G -= np.outer(np.asarray(X.T @ w), other._rest)
        G -= np.outer(self._rest, np.asarray(Z.T @ w))
        G += w.sum() * np.outer(self._rest, other._rest)
        return np.asarray(G)
