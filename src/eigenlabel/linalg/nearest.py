"""The k nearest samples by Euclidean distance, without all distances in float64."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenlabel.linalg._types import Bools, Floats, Ints, Matrix
from eigenlabel.linalg.euclidean import EuclideanDistances
from eigenlabel.linalg.operators import is_sparse, row_blocks
from eigenlabel.linalg.ties import Rounding, nearest

HALF = float(np.finfo(np.float32).eps) / 2  # relative rounding error of float32
STEPS = 8  # roundings of a product besides those of its sum
LONG = 2.0**20  # samples this many times longer than all others need float64
SMALL = 8  # strips of pairs are this many times smaller than others: they stay in the caches
AMBIGUOUS = 0.02  # share of undecided pairs above which float64 products are cheaper


@dataclass(frozen=True)
class _Candidates:
    """The columns of each row that may be among the nearest, row after row.

    Attributes
    ----------
    columns : (c,) array of int
        The columns, ascending within a row.
    counts : (rows,) array of int
        The number of columns of each row.
    edge : (c,) array of bool
        False for columns that certainly are among the nearest.
    """

    columns: Ints
    counts: Ints
    edge: Bools

    @property
    def starts(self) -> Ints:
        """The first position of each row."""
        return np.asarray(np.cumsum(self.counts) - self.counts)

    def first(self, k: int) -> Ints:
        """Return the certain columns of each row and its first undecided ones, k in all."""
        rows = np.repeat(np.arange(len(self.counts)), self.counts)
        total = np.cumsum(self.edge)
        before: Ints = (total - self.edge)[self.starts]
        certain = self.counts - np.bincount(rows, self.edge, len(self.counts)).astype(int)
        kept = ~self.edge | (total - before[rows] <= (k - certain)[rows])
        return np.asarray(self.columns[kept].reshape(len(self.counts), k))


class NearestEuclidean:
    """The k nearest of samples Z (n, d), by the same rule as :func:`ties.nearest`.

    The order of the squared distances of x is that of ``g(z) = |z|^2 - 2 x'z``. A sum of K products
    in float32 errs by at most ``e = (K + 8) u (|z|^2 + 2 |x| |z|)`` in any order of summation, with
    u = 2^-24 (Higham 2002, Section 3.1); K is one more than the number of entries of x that are not
    zero, and the longest z bounds all of them. Let q be the k-th smallest g in float32. The k-th
    smallest distance L then has ``q - e <= L^2 - |x|^2 <= q + e``. A column whose g is above
    ``q + 2 e + s`` is therefore not among the nearest, and one below ``q - 2 e - s`` is, where
    ``s = (L + slack)^2 - L^2`` for the bound ``slack`` on the rounding of L. Only columns between
    are compared in float64, unless all of them are the same sample: then the lowest indices count.

    Sparse samples, and strips of which many columns stay undecided, use all distances in float64.

    Parameters
    ----------
    Z : (n, d) array or CSR matrix
        The samples that others are compared with.
    """

    def __init__(self, Z: Matrix) -> None:
        self._Z = Z
        self._distances = EuclideanDistances(Z)
        centred, lengths = self._distances.centred, self._distances.lengths
        self._longest = float(np.sqrt(lengths.max(initial=0.0)))
        self._single = bool(not is_sparse(Z) and 0 < self._longest < np.inf)
        if self._single:
            self._scale = 2.0 ** -np.ceil(np.log2(self._longest))
            parts = [(-2 * self._scale) * centred.T, self._scale**2 * lengths[None]]
            self._right = np.concatenate(parts).astype(np.float32)
            self._groups = _equal_rows(centred, lengths)

    def __call__(self, X: Matrix, k: int, rounding: Rounding, own: slice | None = None) -> Ints:
        """Return the k nearest columns of each row of X (rows, k), in ascending order.

        Parameters
        ----------
        X : (rows, d) array or CSR matrix
            The samples.
        k : int
            The number of neighbours.
        rounding : Rounding
            The bound on the rounding errors of their distances.
        own : slice or None
            The columns that are the samples themselves, which are left out; None if none are.
        """
        if self._single and not is_sparse(X) and 0 < k < len(self._Z):
            found = self._from_single(X, k, rounding, own)
            if found is not None:
                return found
        D = self._distances(X)
        _leave_out(D, own)
        return nearest(D, k, rounding)

    def _from_single(self, X: Any, k: int, rounding: Rounding, own: slice | None) -> Ints | None:
        """Return the nearest columns, or None if products in float32 decide too little."""
        A = self._distances.centre_rows(X)
        squares = np.einsum("ij,ij->i", A, A)[:, None]
        if not np.sqrt(squares.max(initial=0.0)) <= LONG * self._longest:
            return None
        left = np.empty((len(A), A.shape[1] + 1), dtype=np.float32)
        left[:, :-1] = self._scale * A
        left[:, -1] = 1
        g = left @ self._right
        _leave_out(g, own)
        q = np.partition(g, k - 1, axis=1)[:, k - 1 : k].astype(float)
        lower, upper = self._bounds(q, squares, np.count_nonzero(left, axis=1)[:, None], rounding)
        flat = np.flatnonzero(g <= upper)
        rows, columns = np.divmod(flat, g.shape[1])
        counts = np.bincount(rows, minlength=len(A))
        if len(flat) > k * len(A) + AMBIGUOUS * g.size:
            self._single = False
            return None
        edge = ~((g.ravel()[flat] < lower[rows, 0]) | (counts == k)[rows])
        return self._decide(X, k, rounding, _Candidates(columns, counts, edge))

    def _bounds(
        self, q: Floats, squares: Floats, terms: Any, rounding: Rounding
    ) -> tuple[Floats, Any]:
        """Return the bounds (rows, 1) on g: below the first is near, above the second is far."""
        top = (self._scale * self._longest) ** 2
        lengths = np.sqrt(squares)
        e = (terms + STEPS) * HALF * (top + 2 * self._scale * lengths * np.sqrt(top))
        L = np.sqrt(np.maximum((q + e) / self._scale**2 + squares, 0.0))
        slack = rounding.at(L)
        margin = 2 * e + (2 * L + slack) * slack * self._scale**2
        upper = np.nextafter((q + margin).astype(np.float32), np.float32(np.inf))
        return q - margin, upper

    def _decide(self, X: Any, k: int, rounding: Rounding, found: _Candidates) -> Ints:
        """Compare the undecided columns in float64 where they are not all the same sample."""
        chosen = found.first(k)
        group = self._groups[found.columns]
        low = np.minimum.reduceat(np.where(found.edge, group, len(self._Z)), found.starts)
        high = np.maximum.reduceat(np.where(found.edge, group, -1), found.starts)
        open_rows = np.flatnonzero(low < high)
        if not len(open_rows):
            return chosen
        there = np.arange(found.counts[open_rows].max()) < found.counts[open_rows, None]
        flat = (found.starts[open_rows, None] + np.arange(there.shape[1]))[there]
        columns, edge = found.columns[flat], found.edge[flat]
        pairs = np.repeat(open_rows, found.counts[open_rows])[edge], columns[edge]
        values = np.full(len(flat), -np.inf)  # columns that are among the nearest already
        values[edge] = self._pairs(X, *pairs)
        D, numbers = np.full(there.shape, np.inf), np.zeros(there.shape, dtype=np.intp)
        D[there], numbers[there] = values, columns
        places = nearest(D, k, rounding.some(open_rows))
        chosen[open_rows] = np.take_along_axis(numbers, places, axis=1)
        return chosen

    def _pairs(self, X: Any, rows: Ints, columns: Ints) -> Floats:
        """Return the distances of pairs of samples, from differences."""
        found = np.empty(len(rows))
        for part in row_blocks(len(rows), SMALL * X.shape[1]):
            difference = X[rows[part]].astype(float, copy=False) - self._Z[columns[part]]
            found[part] = np.einsum("ij,ij->i", difference, difference)
        return np.sqrt(found, out=found)


def _leave_out(D: Any, own: slice | None) -> None:
    if own is not None:
        rows = np.arange(len(D))
        D[rows, own.start + rows] = np.inf


def _equal_rows(Z: Floats, lengths: Floats) -> Ints:
    """Return a number for each row (n,): rows with the same number are equal."""
    order = np.argsort(lengths, kind="stable")
    again = np.zeros(len(Z), dtype=bool)
    twins = 1 + np.flatnonzero(lengths[order[1:]] == lengths[order[:-1]])
    again[twins] = (Z[order[twins]] == Z[order[twins - 1]]).all(axis=1)
    groups = np.empty(len(Z), dtype=np.intp)
    groups[order] = np.cumsum(~again)
    return groups
