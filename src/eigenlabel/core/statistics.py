"""Additive second-order statistics of (X, T): add, subtract, merge, per fold.

``(n, sum x, sum t, X'X, X'T)`` of two blocks of rows add up, so they merge in any order and a
block can be taken out again. Every linear method of the library is a function of them alone.
"""

from dataclasses import dataclass

import numpy as np

from eigenlabel.core._types import Floats
from eigenlabel.core.operators import CentredOperator, total_weight


@dataclass(frozen=True)
class Statistics:
    """Weighted sums over rows, about the origin that their operator subtracts."""

    n: float
    x: Floats  # (d,)
    t: Floats  # (m,)
    XX: Floats  # (d, d)
    XT: Floats  # (d, m)

    @classmethod
    def of(cls, operator: CentredOperator, T: Floats) -> "Statistics":
        """Collect the sums over the rows of an operator; n d^2 + n d m."""
        w = np.ones(operator.shape[0]) if operator.weights is None else operator.weights
        WT = w[:, None] * T
        return cls(
            n=total_weight(operator.shape[0], operator.weights),
            x=operator.rmatmat(w[:, None])[:, 0],
            t=WT.sum(axis=0),
            XX=operator.covariance(),
            XT=operator.rmatmat(WT),
        )

    def __add__(self, other: "Statistics") -> "Statistics":
        return Statistics(
            self.n + other.n,
            self.x + other.x,
            self.t + other.t,
            self.XX + other.XX,
            self.XT + other.XT,
        )

    def __sub__(self, other: "Statistics") -> "Statistics":
        return Statistics(
            self.n - other.n,
            self.x - other.x,
            self.t - other.t,
            self.XX - other.XX,
            self.XT - other.XT,
        )

    def centred(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Give Xc'WXc, Xc'WTc and the means of x and t, from the sums alone."""
        mean_x, mean_t = self.x / self.n, self.t / self.n
        M = self.XX - np.outer(mean_x, self.x)
        return M, self.XT - np.outer(mean_x, self.t), mean_x, mean_t
