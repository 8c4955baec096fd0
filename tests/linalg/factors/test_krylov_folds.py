"""Held-out scores by solving each fold."""

import numpy as np

from eigenlabel.linalg.factors.covariance import CovarianceFactor
from eigenlabel.linalg.factors.krylov import KrylovFactor, heldout_by_solving, solve_finite
from eigenlabel.linalg.operators import CentredOperator
from helpers import evaluate_folds


def test_solving_and_reducing_agree(rng):
    X, T = rng.standard_normal((30, 5)), rng.standard_normal((30, 2))
    factor, done = CovarianceFactor(CentredOperator(X)), []
    folds = [(None, np.arange(k, 30, 3)) for k in range(3)]
    shifts, pairs = [0.1, 1.0, np.inf], [(0, 1), (0, 2)]
    solved = heldout_by_solving(factor, T, folds, shifts, pairs, done.append)
    reduced = factor.heldout(T, folds, shifts)
    assert done == [1, 1, 1]
    for a, b in zip(solved, reduced, strict=True):
        (scores, inner), (expected, products) = evaluate_folds(a, pairs), evaluate_folds(b, pairs)
        np.testing.assert_allclose(inner, products, atol=1e-10)
        for i in range(3):
            np.testing.assert_allclose(scores[i], expected[i], atol=1e-10)
        assert a.shortfall is None
        assert b.shortfall is None


def test_a_fold_that_stops_early_states_it(rng):
    X = rng.standard_normal((30, 20)) * np.logspace(0, 3, 20)
    factor = KrylovFactor(CentredOperator(X), max_iter=1)
    folds = [(None, np.arange(10))]
    block = factor.heldout(rng.standard_normal((30, 2)), folds, [1e-6], [(0, 0)])[0]
    assert block.shortfall.residual > block.shortfall.wanted


def test_an_infinite_shift_is_the_gradient(rng):
    X, T = rng.standard_normal((20, 4)), rng.standard_normal((20, 2))
    factor = CovarianceFactor(CentredOperator(X))
    solution, found = solve_finite(factor, T, [0.1, np.inf])
    assert len(solution.coefficients) == 1
    np.testing.assert_array_equal(found[1], factor.gradient(T))
