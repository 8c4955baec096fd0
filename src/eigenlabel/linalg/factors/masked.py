"""Ridge regressions whose targets are observed on different samples."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.factors.base import Product, SampleFactor, Side
from eigenlabel.linalg.factors.krylov import solve_finite
from eigenlabel.linalg.factors.solution import Solution
from eigenlabel.linalg.heldout import (
    Fold,
    FoldBlock,
    MaskedFold,
    Pairs,
    counted,
    training_rows,
)
from eigenlabel.linalg.observed_cells import NEVER, Cells
from eigenlabel.linalg.operators import CentredOperator


class MaskedFactor(SampleFactor):
    """A factor of all samples, with targets that are observed on some of them.

    Column j counts on the samples O_j where it is observed. With N the mean weight of O_j over
    the columns that are observed at all,

        ridge(s)_j = (Xj'W Xj + N s I)^-1 Xj'W tj

    with the rows O_j of X and T, centred by their own mean. That is the minimiser of the squared
    errors over all observed cells, divided by N, plus s |u_j|^2. Columns that are observed on the
    same samples (a *pattern*) share a factor of these samples; a base that iterates solves all
    columns at once.

    Parameters
    ----------
    base : factor of all samples
    observed : (n, m) boolean; the base's sample weights of zero count as not observed

    Attributes
    ----------
    total : N
    """

    symmetric = False

    def __init__(self, base: SampleFactor, observed: Bools) -> None:
        self.base, self.centre, self.weights = base, base.centre, base.weights
        self.dual, self.size, self.accuracy = base.dual, base.size, base.accuracy
        self.cells = Cells(observed, base.weights)
        self.total = self.cells.total

    @property
    def origin(self) -> Floats:
        """The origin of the base: the mean of all samples."""
        return self.base.origin

    def solve(self, T: Floats, shifts: Sequence[float]) -> Solution:
        """Solve each column on its own samples; columns never observed have coefficients zero."""
        return self.base.solve_masked(T, shifts, self.cells, self.total)

    def gradient(self, T: Floats) -> Floats:
        """Return the limit of ``s ridge(s)`` for growing s."""
        right = self.cells.weigh(T - self.cells.means(T) if self.centre else T) / self.total
        return self.base.adjoint(right)

    def metric(self, c: Floats) -> Floats:
        """Return the base's metric applied to c."""
        return self.base.metric(c)

    def export(self, c: Floats) -> Floats:
        """Return the weights that the base exports."""
        return self.base.export(c)

    def orthonormalise(self, directions: Floats) -> tuple[Floats, Floats]:
        """Return the base's orthonormal basis of directions, and R."""
        return self.base.orthonormalise(directions)

    def target_means(self, T: Floats) -> Floats:
        """Return the means (m,) of observed targets, -1 if never observed; 0 without centring."""
        return self.cells.means(T, NEVER) if self.centre else np.zeros(T.shape[1])

    def variance(self) -> float:
        """Return the variance of the base: that of all samples."""
        return self.base.variance()

    def offsets(self, c: Floats) -> Floats:
        """Return the mean (m,) of each column's scores over its own samples."""
        return self.cells.means(self.scores(c)) if self.centre else np.zeros(c.shape[1])

    def intercept(self, T: Floats, c: Floats, weights: Floats) -> Floats:
        """Return the intercepts (m,) with which each column's residuals sum to zero."""
        return super().intercept(T, c, weights) - self.offsets(c)

    def scores(self, c: Floats) -> Floats:
        """Return the scores (n, k) of all samples about the mean of all samples."""
        return self.base.scores(c)

    def adjoint(self, t: Floats) -> Floats:
        """Return ``Xc't`` in the coefficients of the base."""
        return self.base.adjoint(t)

    def pattern_scores(self, c: Floats) -> Floats:
        """Return the mean scores of all columns over the samples of each pattern (patterns, m)."""
        if not self.centre:
            return np.zeros((self.cells.n_patterns, c.shape[1]))
        return self.cells.pattern_means(self.scores(c))

    def restrict(self, rows: Ints, total: float | None = None) -> "MaskedFactor":
        """Return the factor of some samples alone, with their observed cells."""
        part = MaskedFactor(self.base.restrict(rows), self.cells.observed[rows])
        part.total = part.total if total is None else total
        return part

    def fold(self, train: Ints, test: Ints) -> "tuple[MaskedFactor, Product]":
        """Return the factor of the training rows, and a function that scores the test rows."""
        part, predict = self.base.fold(train, test)
        return MaskedFactor(part, self.cells.observed[train]), predict

    def heldout(
        self,
        T: Floats,
        folds: Sequence[Fold],
        shifts: Sequence[float],
        pairs: Pairs = (),
        max_memory: float = float("inf"),  # noqa: ARG002
        advance: Callable[[int], Any] = int,
    ) -> list[FoldBlock]:
        """Solve each fold for all shifts; see :meth:`SampleFactor.heldout`."""
        return [self._heldout_fold(T, fold, shifts, pairs) for fold in counted(folds, advance)]

    def _heldout_fold(
        self, T: Floats, fold: Fold, shifts: Sequence[float], pairs: Pairs
    ) -> MaskedFold:
        train, test = training_rows(T.shape[0], fold), fold[1]
        part, predict = self.fold(train, test)
        solution, solved = solve_finite(part, T[train], shifts)
        scores = [
            np.vstack([predict(c), part.pattern_scores(c)]).T[None] for c in solution.coefficients
        ]
        zero = np.zeros((1, T.shape[1], len(test) + part.cells.n_patterns))
        scores += [zero] * (len(shifts) - len(scores))
        inner = {(i, j): part.inner(solved[i], solved[j])[None] for i, j in set(pairs)}
        mean, pattern = part.target_means(T[train]), part.cells.pattern
        return MaskedFold(test[None], scores, inner, mean, pattern, shortfall=solution.shortfall)

    def side(self, T: CentredOperator, shift: float) -> Side:
        """Raise NotImplementedError: sparse targets are observed everywhere."""
        raise NotImplementedError("Sparse targets are observed on all samples.")
