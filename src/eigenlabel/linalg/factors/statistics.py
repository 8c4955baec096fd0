"""The d x d side from statistics, without samples."""

import numpy as np

from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.factors.exact import ExactFactor
from eigenlabel.linalg.statistics import Statistics


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
