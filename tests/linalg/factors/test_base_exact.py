"""Direct ridge regressions on both sides."""

import numpy as np
import pytest
import scipy.sparse as sp

import helpers
from eigenlabel.linalg.factors.factorise import factorise
from eigenlabel.linalg.operators import CentredOperator

SHIFTS = [1e-3, 0.1, 2.0]


def targets(n, rng):
    return np.where(rng.uniform(size=(n, 4)) < 0.3, 1.0, -1.0)


@pytest.mark.parametrize("route", ["gram", "covariance"])
@pytest.mark.parametrize("centre", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_both_routes_solve_the_ridge_equations(X, rng, route, centre, weighted, scale):
    T, w = targets(len(X), rng), rng.uniform(0.5, 2, len(X)) if weighted else None
    shifts = [s * scale**2 for s in (0.0, *SHIFTS)]
    for form in (scale * X, sp.csr_array(scale * X)):
        factor = factorise(CentredOperator(form, w, centre), centre, route)
        found = factor.solve(T, shifts).coefficients
        for s, c in zip(shifts, found, strict=True):
            U = helpers.ridge(scale * X, T, s, w, centre)[0]
            # Shift 0 goes through the squared spectrum: half the digits of its condition.
            np.testing.assert_allclose(factor.export(c), U, atol=1e-8 * np.abs(U).max() + 1e-300)


@pytest.mark.parametrize("route", ["gram", "covariance"])
def test_inner_and_gradient_equal_those_of_the_weights(X, rng, route):
    T, w = targets(len(X), rng), rng.uniform(0.5, 2, len(X))
    factor = factorise(CentredOperator(X, w), route=route)
    a, b = factor.solve(T, [0.1, 1.0]).coefficients
    A, B = factor.export(a), factor.export(b)
    np.testing.assert_allclose(factor.inner(a, b), A.T @ B, atol=1e-11)
    huge = 1e9
    limit = huge * factor.export(factor.solve(T, [huge]).coefficients[0])
    # (G + s)^-1 s = 1 - G / s + ...: the limit is met to |G| / s.
    np.testing.assert_allclose(factor.export(factor.gradient(T)), limit, atol=1e-6)


def test_weights_count_like_copies(rng):
    X, T = rng.standard_normal((8, 5)), targets(8, rng)
    w = rng.integers(0, 4, 8).astype(float)
    w[0] = 2.0
    copies = np.repeat(np.arange(8), w.astype(int))
    for route in ("gram", "covariance"):
        weighted = factorise(CentredOperator(X, w), route=route)
        repeated = factorise(CentredOperator(X[copies]), route=route)
        np.testing.assert_allclose(
            weighted.export(weighted.solve(T, [0.1]).coefficients[0]),
            repeated.export(repeated.solve(T[copies], [0.1]).coefficients[0]),
            atol=1e-11,
        )


@pytest.mark.parametrize("route", ["gram", "covariance"])
def test_a_large_offset_of_the_targets_costs_no_digits(rng, route):
    X = rng.standard_normal((32, 5)) + 3
    T = np.where(rng.uniform(size=(32, 4)) < 0.3, 1.0, -1.0)
    factor = factorise(CentredOperator(X), route=route)
    near, far = (factor.export(factor.solve(t, [0.1]).coefficients[0]) for t in (T, T + 2.0**30))
    np.testing.assert_allclose(far, near, atol=1e-11)
