"""Ridge regressions from statistics alone."""

import numpy as np

from eigenlabel.linalg.factors.covariance import StatisticsFactor
from eigenlabel.linalg.operators import CentredOperator
from eigenlabel.linalg.statistics import Statistics
from helpers import ridge


def test_statistics_of_two_blocks_solve_for_both(rng):
    X, T = rng.standard_normal((30, 5)) + 2.0, rng.standard_normal((30, 3))
    blocks = (slice(0, 12), slice(12, 30))
    first, second = (Statistics.of(CentredOperator(X[b]), T[b]) for b in blocks)
    for centre in (False, True):
        factor = StatisticsFactor(first + second, centre)
        c = factor.solve(np.eye(3), [0.1]).coefficients[0]
        U, b = ridge(X, T, 0.1, centre=centre)
        np.testing.assert_allclose(c, U, atol=1e-10)
        np.testing.assert_allclose(factor.intercept(np.eye(3), c, c), b, atol=1e-10)
