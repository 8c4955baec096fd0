"""Matrices of targets of which only some cells are observed."""

from functools import cached_property

import numpy as np

from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.operators import CentredOperator

NEVER = -1.0  # the mean of targets that are never observed


def number_patterns(observed: Bools) -> Ints:
    """Number the distinct columns of a boolean matrix (n, m), and return the numbers (m,)."""
    packed = np.ascontiguousarray(np.packbits(observed, axis=0).T)
    keys = packed.view(np.dtype((np.void, max(1, packed.shape[1]))))[:, 0]
    return np.unique(keys, return_inverse=True)[1].ravel()


class Cells:
    """Which cells of a matrix (n, m) are observed, with sample weights.

    Parameters
    ----------
    observed : (n, m)
    weights : (n,) non-negative, or None; a cell with weight zero counts as not observed

    Attributes
    ----------
    totals : (m,) total weight of the observed cells of each column
    total : mean of the totals over the columns that are observed at all
    """

    def __init__(self, observed: Bools, weights: Floats | None) -> None:
        self.observed = observed if weights is None else observed & (weights > 0)[:, None]
        self.weights = weights
        w = np.ones(len(observed)) if weights is None else weights
        self.totals: Floats = w @ self.observed  # (m,)
        positive = self.totals[self.totals > 0]
        self.total = float(positive.mean()) if positive.size else 1.0

    @cached_property
    def pattern(self) -> Ints:
        """The number (m,) of each column's pattern: columns observed on the same rows share it."""
        return number_patterns(self.observed)

    @property
    def n_patterns(self) -> int:
        """The number of patterns."""
        return int(self.pattern.max(initial=-1)) + 1

    def patterns(self) -> list[tuple[Ints, Ints]]:
        """List the columns and the observed rows of each pattern that has observed rows."""
        groups = [np.flatnonzero(self.pattern == k) for k in range(self.n_patterns)]
        pairs = [(columns, np.flatnonzero(self.observed[:, columns[0]])) for columns in groups]
        return [(columns, rows) for columns, rows in pairs if rows.size]

    def rows(self, index: Ints) -> "Cells":
        """Restrict to some rows."""
        return Cells(self.observed[index], None if self.weights is None else self.weights[index])

    def columns(self, part: slice) -> "Cells":
        """Restrict to some columns."""
        return Cells(self.observed[:, part], self.weights)

    def weigh(self, A: Floats) -> Floats:
        """Multiply rows by the weights, and set cells that are not observed to zero."""
        kept = np.where(self.observed, A, 0.0)
        return kept if self.weights is None else self.weights[:, None] * kept

    def means(self, A: Floats, never: float = 0.0) -> Floats:
        """Average each column over its observed cells (m,); ``never`` if there are none."""
        sums = self.weigh(A).sum(axis=0)
        known = self.totals > 0
        out = np.full(len(sums), never)
        return np.asarray(np.divide(sums, self.totals, out=out, where=known))

    def pattern_means(self, A: Floats) -> Floats:
        """Average all columns of A over the rows of each pattern; (patterns, m)."""
        out = np.zeros((self.n_patterns, A.shape[1]))
        for columns, rows in self.patterns():
            w = np.ones(len(rows)) if self.weights is None else self.weights[rows]
            out[self.pattern[columns[0]]] = w @ A[rows] / w.sum()
        return out


class MaskedOperator:
    """``Xj'D_j Xj p_j`` for each column j, with the centred rows that column j is observed on.

    Equivalent to one :meth:`CentredOperator.normal` for each column, at the cost of one for all.
    """

    def __init__(self, operator: CentredOperator, cells: Cells, centre: bool) -> None:
        self.operator, self.cells, self.centre = operator, cells, centre

    def normal(self, P: Floats) -> tuple[Floats, Floats]:
        """Return the products (d, m), and p'(product) for each column p of P."""
        R = self.operator.matmat(P)
        if self.centre:
            R -= self.cells.means(R)
        DR = self.cells.weigh(R)
        return self.operator.rmatmat(DR), np.asarray(np.einsum("ij,ij->j", R, DR))
