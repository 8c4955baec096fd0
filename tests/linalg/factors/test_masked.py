"""Ridge regressions whose targets are observed on different samples, against one after another."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.linalg.factors.covariance import CovarianceFactor
from eigenlabel.linalg.factors.factorise import factorise
from eigenlabel.linalg.factors.gram import GramFactor
from eigenlabel.linalg.factors.krylov import KrylovFactor
from eigenlabel.linalg.factors.masked import MaskedFactor
from eigenlabel.linalg.operators import CentredOperator
from helpers import evaluate_folds, masked_intercept, masked_ridge

ROUTES = ("gram", "covariance", "krylov")


def make_factor(X, observed, route, weights=None, centre=True):
    operator = CentredOperator(X, weights, centre)
    return MaskedFactor(factorise(operator, centre, route, tol=1e-13, max_iter=5000), observed)


@pytest.fixture
def observed(rng):
    """Five columns: two on the same samples, one on all, one on some, one never observed."""

    def draw(n):
        M = rng.random((n, 5)) < 0.7
        M[:3, :4] = True
        M[:, 1], M[:, 2], M[:, 4] = M[:, 0], True, False
        return M

    return draw


@pytest.mark.parametrize("centre", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("route", ROUTES)
def test_solutions_are_ridge_regressions_on_observed_samples(
    X, rng, observed, route, weighted, centre
):
    M, T = observed(len(X)), rng.standard_normal((len(X), 5))
    w = rng.uniform(0.5, 2, len(X)) if weighted else None
    shifts = [0.1, 1e-3, 10.0]
    factor = make_factor(X, M, route, w, centre)
    found = factor.solve(T, shifts).coefficients
    for s, c in zip(shifts, found, strict=True):
        expected, intercept = masked_ridge(X, T, M, s, w, centre)
        U = factor.export(c)
        np.testing.assert_allclose(U, expected, atol=1e-8)
        np.testing.assert_allclose(factor.intercept(T, c, U), intercept, atol=1e-8)
        np.testing.assert_array_equal(c[:, 4], 0)


@pytest.mark.parametrize("route", ROUTES)
def test_many_shifts_with_zero_among_them(X_informative, rng, observed, route):
    M, T = observed(len(X_informative)), rng.standard_normal((len(X_informative), 5))
    shifts = [0.0, 1e-2, 0.1, 1.0, 10.0, 100.0]
    factor = make_factor(X_informative, M, route)
    for s, c in zip(shifts, factor.solve(T, shifts).coefficients, strict=True):
        expected = masked_ridge(X_informative, T, M, s)[0]
        # Minimum-norm solutions of a few samples: the smallest of their spectra cost digits.
        atol = 1e-8 if s else 1e-6 * max(1, np.abs(expected).max())
        np.testing.assert_allclose(factor.export(c), expected, atol=atol)


@pytest.mark.parametrize("route", ROUTES)
def test_sparse_data_have_the_same_solution(rng, observed, route):
    X = rng.standard_normal((30, 8)) * (rng.random((30, 8)) < 0.4)
    M, T = observed(30), rng.standard_normal((30, 5))
    dense, sparse = (make_factor(A, M, route) for A in (X, sp.csr_array(X)))
    a, b = (f.export(f.solve(T, [0.1]).coefficients[0]) for f in (dense, sparse))
    np.testing.assert_allclose(b, a, atol=1e-10)


@pytest.mark.parametrize("route", ROUTES)
def test_the_gradient_is_the_limit_of_large_shifts(rng, observed, route):
    X, T = rng.standard_normal((20, 6)), rng.standard_normal((20, 5))
    factor = make_factor(X, observed(20), route)
    limit = 1e8 * factor.solve(T, [1e8]).coefficients[0]
    # The next term of the limit is 1e-8 of the first.
    np.testing.assert_allclose(factor.gradient(T), limit, atol=1e-6)


@pytest.mark.parametrize("route", ROUTES)
def test_products_of_weights_are_those_of_the_weights(rng, observed, route):
    X, T = rng.standard_normal((12, 30)), rng.standard_normal((12, 5))
    factor = make_factor(X, observed(12), route)
    a, b = factor.solve(T, [0.1, 1.0]).coefficients
    expected = factor.export(a).T @ factor.export(b)
    np.testing.assert_allclose(factor.inner(a, b), expected, atol=1e-10)


def test_everything_observed_is_the_plain_factor(X, rng):
    T = rng.standard_normal((len(X), 3))
    for plain in (CovarianceFactor(CentredOperator(X)), GramFactor(X @ X.T)):
        masked = MaskedFactor(plain, np.ones((len(X), 3), dtype=bool))
        found, expected = (f.solve(T, [0.1, 1.0]).coefficients for f in (masked, plain))
        np.testing.assert_allclose(found, expected, atol=1e-10)


def test_columns_are_solved_in_groups_that_fit_in_memory(rng, observed):
    X, M, T = rng.standard_normal((30, 6)), observed(30), rng.standard_normal((30, 5))
    operator = CentredOperator(X)
    column = 8.0 * (8 * 6 + 2 * 30)  # bytes of one column with two shifts
    limits = (np.inf, 2 * 6 * 5 * 8 + 2 * column)
    found = [
        MaskedFactor(KrylovFactor(operator, tol=1e-13, max_memory=limit), M)
        .solve(T, [0.1, 1.0])
        .coefficients
        for limit in limits
    ]
    np.testing.assert_allclose(*found, atol=1e-10)


def test_a_sample_without_weight_is_not_observed(rng, observed):
    X, M, T = rng.standard_normal((30, 6)), observed(30), rng.standard_normal((30, 5))
    w = np.ones(30)
    w[::3] = 0
    kept = w > 0
    M[kept, 3] = False  # this column is observed on samples of weight zero only
    for route in ROUTES:
        weighted, rest = make_factor(X, M, route, w), make_factor(X[kept], M[kept], route)
        a, b = weighted.solve(T, [0.1]).coefficients[0], rest.solve(T[kept], [0.1]).coefficients[0]
        np.testing.assert_allclose(weighted.export(a), rest.export(b), atol=1e-10)
        np.testing.assert_array_equal(weighted.pattern_scores(a)[weighted.cells.pattern[3]], 0)


@pytest.mark.parametrize("centre", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("route", ROUTES)
def test_held_out_scores_are_those_of_a_fit_to_the_rest(rng, observed, route, weighted, centre):
    X = rng.standard_normal((30, 12)) + 1
    M, T = observed(30), rng.standard_normal((30, 5))
    M[:10, 3] = False  # never observed in the training part of the fold that follows
    M[10:, 3] = False
    M[2, 3] = True
    w = rng.uniform(0.5, 2, 30) if weighted else None
    folds = [(None, np.arange(10)), (np.arange(5, 25), np.arange(25, 30))]
    shifts, pairs = [0.01, 0.5, np.inf], [(0, 1), (0, 2)]
    blocks = make_factor(X, M, route, w, centre).heldout(T, folds, shifts, pairs)
    for block, (given, test) in zip(blocks, folds, strict=True):
        train = np.setdiff1d(np.arange(30), test) if given is None else given
        part = None if w is None else w[train]
        weights = [masked_ridge(X[train], T[train], M[train], s, part, centre) for s in shifts[:2]]
        scores, inner = evaluate_folds(block, pairs)

        def settle(F, block=block):
            return block.settle(np.swapaxes(F, 1, 2))[0].T

        for i, (U, b) in enumerate(weights):
            np.testing.assert_allclose(settle(scores[i]), X[test] @ U + b, atol=1e-8)
        np.testing.assert_allclose(inner[0, 0], weights[0][0].T @ weights[1][0], atol=1e-8)
        # Combinations of columns with different samples have intercepts of their own.
        C = rng.standard_normal((5, 5))
        U = weights[0][0] @ C
        b = masked_intercept(X[train], T[train], M[train], U, part) if centre else 0.0
        known = M[train].any(axis=0)
        found = settle(scores[0] @ C)
        np.testing.assert_allclose(found[:, known], (X[test] @ U + b)[:, known], atol=1e-8)
        flat = settle(scores[2])
        expected = masked_intercept(X[train], T[train], M[train], 0 * U, part) if centre else 0.0
        np.testing.assert_allclose(flat, np.broadcast_to(expected, flat.shape), atol=1e-10)


@pytest.mark.parametrize("route", ["gram", "covariance"])
def test_parts_go_by_the_rank_rule_of_the_whole(rng, route):
    X = rng.standard_normal((20, 30)).astype(np.float32)
    base = factorise(CentredOperator(X), True, route)
    assert base.restrict(np.arange(5)).tolerance == base.tolerance
