"""The d x d side: ridge regressions of tall linear data, from samples or from their statistics."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.factors.base import ExactFactor, ExactSampleFactor, Product
from eigenlabel.linalg.heldout import (
    Fold,
    FoldBlock,
    Pairs,
    counted,
    covariance_fold,
    training_statistics,
)
from eigenlabel.linalg.numerics import rank_tolerance
from eigenlabel.linalg.operators import CentredOperator, total_weight
from eigenlabel.linalg.row_space import RowSpace, principal_axes
from eigenlabel.linalg.solvers.shifted import diagonalise
from eigenlabel.linalg.statistics import Statistics
from eigenlabel.linalg.top_subspace import ExactSide


class CovarianceFactor(ExactSampleFactor):
    """Linear ridge regressions through the d x d covariance: coefficients are weights (d, m).

    ``(Xc'W Xc + n s I)^-1 Xc'W Tc``. Equivalent to ``scipy.linalg.solve(Xc'Xc + n s I, Xc'Tc)``
    without weights.

    Parameters
    ----------
    operator : the centred data, with sample weights
    centre : whether there is an intercept without penalty
    """

    dual = False

    def __init__(self, operator: CentredOperator, centre: bool = True) -> None:
        self.operator, self.centre, self.weights = operator, centre, operator.weights
        self.size = operator.shape[1]
        self.total = total_weight(operator.shape[0], operator.weights)
        self.tolerance = rank_tolerance(max(operator.shape), operator.dtype)

    @property
    def origin(self) -> Floats:
        """The mean (d,) of the features."""
        return self.operator.mean

    def matrix(self) -> Floats:
        """Return ``Xc'W Xc`` as a new array; n d^2 operations."""
        return self.operator.covariance()

    def right_side(self, T: Floats) -> Floats:
        """Return ``Xc'W Tc``."""
        return self.operator.rmatmat(self.weighted_targets(T))

    def gradient(self, T: Floats) -> Floats:
        """Return ``Xc'W Tc / n``, the limit of ``s ridge(s)``."""
        return self.right_side(T) / self.total

    def metric(self, c: Floats) -> Floats:
        """Return c itself."""
        return c

    def export(self, c: Floats) -> Floats:
        """Return the weights c themselves."""
        return c

    def variance(self) -> float:
        """Return the mean squared norm of the rows of Xc."""
        return self.operator.squared_norm() / self.total

    def scores(self, c: Floats) -> Floats:
        """Return Xc c."""
        return self.operator.matmat(c)

    def adjoint(self, t: Floats) -> Floats:
        """Return Xc't."""
        return self.operator.rmatmat(t)

    def project(self, T: CentredOperator, E: Floats) -> Floats:
        """Return ``(Xc'W T)'E``."""
        return np.asarray(self.operator.cross_covariance(T).T @ E)

    def gain(self, lam: Floats) -> Floats:
        """Return ones: coefficients are weights."""
        return np.ones_like(lam)

    def restrict(self, rows: Ints, total: float | None = None) -> "CovarianceFactor":
        """Return the factor of some samples alone; a copy of their rows of X."""
        part = CovarianceFactor(self.operator.recentred(rows, self.centre), self.centre)
        part.tolerance = self.tolerance
        part.total = part.total if total is None else total
        return part

    def fold(self, train: Ints, test: Ints) -> "tuple[CovarianceFactor, Product]":
        """Return the factor of the training rows, and a function that scores the test rows."""
        part = self.restrict(train)
        rest, offset = self.operator.rows(test), part.operator.mean - self.operator.mean
        return part, lambda c: rest.matmat(c) - offset @ c

    def heldout_by_fold(
        self,
        T: Floats,
        folds: Sequence[Fold],
        shifts: Sequence[float],
        pairs: Pairs,
        max_memory: float,
        advance: Callable[[int], Any],
    ) -> list[FoldBlock]:
        """Prepare the held-out scores by one reduction of the covariance for each fold.

        Training covariances are sums of the statistics of the other folds.
        """
        statistics = training_statistics(self.operator, T, folds, max_memory)
        rules = (shifts, self.centre, self.tolerance, pairs)
        return [  # no name keeps the statistics of the last fold
            covariance_fold(next(statistics), self.operator.rows(test, copy=False), test, *rules)
            for _, test in counted(folds, advance)
        ]

    def spectral_basis(self, shift: float) -> tuple[Floats, Floats]:
        """Return ``W^1/2 Xc V lam^-1/2`` (n, t) and lam, of the covariance ``V diag(lam) V'``."""
        V, lam = diagonalise(self.matrix(), self.tolerance, shift, overwrite=True)
        Q = self.operator.matmat(V / np.sqrt(lam))
        return (Q if self.weights is None else np.sqrt(self.weights)[:, None] * Q), lam

    def side(self, T: CentredOperator, shift: float) -> ExactSide:
        """Return the solver of many sparse targets by eigenvectors of the covariance."""
        return ExactSide(self, T, shift)

    def row_space(self) -> RowSpace:
        """Return the principal axes of the centred data; one d x d eigendecomposition."""
        values, axes = principal_axes(self.matrix(), self.tolerance)
        return RowSpace(values, axes, np.ones(len(values)), 0.0, lambda: self.operator.matmat(axes))


class StatisticsFactor(ExactFactor):
    """Linear ridge regressions from additive statistics: coefficients are weights (d, k).

    Targets are combinations (m, k) of those that the statistics were collected with; the identity
    stands for these targets themselves.

    Parameters
    ----------
    statistics : means and products of features and targets
    centre : whether there is an intercept without penalty
    """

    def __init__(self, statistics: Statistics, centre: bool = True) -> None:
        self.statistics, self.centre = statistics, centre
        self.total, self.tolerance = statistics.n, statistics.tolerance
        self._XX, self._XT = statistics.products(centre)

    @property
    def origin(self) -> Floats:
        """The mean (d,) of the features, zero without centring."""
        return self.statistics.mean if self.centre else np.zeros(len(self.statistics.x))

    def target_means(self, T: Floats) -> Floats:
        """Return the means (k,) of combined targets, zero without centring."""
        return self.statistics.t @ T if self.centre else np.zeros(T.shape[1])

    def matrix(self) -> Floats:
        """Return ``Xc'W Xc``; it belongs to the statistics."""
        return self._XX

    def right_side(self, T: Floats) -> Floats:
        """Return ``Xc'W Tc`` of combined targets; d m k operations."""
        return np.asarray(self._XT @ T)

    def gradient(self, T: Floats) -> Floats:
        """Return ``Xc'W Tc / n``, the limit of ``s ridge(s)``."""
        return self.right_side(T) / self.total

    def metric(self, c: Floats) -> Floats:
        """Return c itself."""
        return c

    def export(self, c: Floats) -> Floats:
        """Return the weights c themselves."""
        return c

    def variance(self) -> float:
        """Return the trace of the covariance."""
        return float(np.trace(self._XX)) / self.total
