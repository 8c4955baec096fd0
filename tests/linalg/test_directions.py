"""Directions of features that are related to targets, against dense eigenproblems."""

import numpy as np
import pytest
import scipy.linalg as sl

from eigenlabel.linalg.directions import (
    complement,
    covariance_directions,
    directions,
    generalised_directions,
    leading_axes,
    orthonormal_directions,
    without_constants,
)
from eigenlabel.linalg.factors.covariance import CovarianceFactor
from eigenlabel.linalg.factors.factorise import factorise
from eigenlabel.linalg.factors.gram import GramFactor
from eigenlabel.linalg.factors.krylov import KrylovFactor
from eigenlabel.linalg.operators import CentredOperator
from helpers import centre


@pytest.mark.parametrize("route", ["gram", "covariance", "krylov"])
@pytest.mark.parametrize(("scale", "ridge"), [(1.0, 0.5), (0.0, 2.0), (0.3, 0.7)])
def test_directions_maximise_under_their_constraint(X_informative, rng, route, scale, ridge):
    X, T = X_informative, rng.standard_normal((len(X_informative), 3))
    Xc, Tc = X - X.mean(axis=0), T - T.mean(axis=0)
    factor = factorise(CentredOperator(X), True, route, tol=1e-13, max_iter=5000)
    found = directions(factor, T, scale, ridge)
    P = factor.export(found.coefficients)
    N = scale * Xc.T @ Xc + ridge * np.eye(X.shape[1])
    np.testing.assert_allclose(P.T @ N @ P, np.eye(P.shape[1]), atol=1e-8)
    A = Xc.T @ Tc @ Tc.T @ Xc
    expected = sl.eigh(A, N, eigvals_only=True)[::-1][: P.shape[1]]
    np.testing.assert_allclose(found.eigenvalues[: P.shape[1]], expected, rtol=1e-7)
    np.testing.assert_allclose(A @ P, N @ P * expected, atol=1e-7 * expected[0])


def test_a_solve_that_stops_early_is_stated(rng):
    X, T = rng.standard_normal((40, 20)) * np.logspace(0, 3, 20), rng.standard_normal((40, 2))
    factor = KrylovFactor(CentredOperator(X), max_iter=1)
    assert directions(factor, T, 1.0, 1e-6).shortfall is not None
    assert directions(CovarianceFactor(CentredOperator(X)), T, 1.0, 1e-6).shortfall is None


def test_no_constraint_on_the_data_takes_singular_vectors(X_informative, rng):
    X, T = X_informative, rng.standard_normal((len(X_informative), 2))
    found = orthonormal_directions(CentredOperator(X), T)
    P, C = found.coefficients, (X - X.mean(axis=0)).T @ (T - T.mean(axis=0))
    np.testing.assert_allclose(P.T @ P, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(P @ (P.T @ C), C, atol=1e-10)
    np.testing.assert_allclose(found.eigenvalues, np.linalg.svd(C, compute_uv=False) ** 2)


def test_constant_columns_become_zero(rng):
    T = np.column_stack([np.full(30, 0.1), rng.standard_normal(30)])
    Tc = without_constants(T)
    np.testing.assert_array_equal(Tc[:, 0], 0)
    np.testing.assert_allclose(Tc[:, 1], T[:, 1] - T[:, 1].mean())


@pytest.mark.parametrize("constraint", [(0.0, 1.0), (1.0, 0.5), (1.0, 0.0)])
def test_the_complement_keeps_the_constraint(rng, constraint):
    X = rng.standard_normal((30, 8))
    Xc, (scale, ridge) = X - X.mean(axis=0), constraint
    N = scale * Xc.T @ Xc + ridge * np.eye(8)
    start = np.linalg.inv(np.linalg.cholesky(N)).T[:, :1]
    P = complement(CentredOperator(X), start, 8, constraint, np.random.RandomState(0))
    np.testing.assert_allclose(P.T @ N @ P, np.eye(8), atol=1e-9)
    np.testing.assert_array_equal(P[:, :1], start)


@pytest.mark.parametrize("shape", [(60, 20), (20, 60)])
def test_leading_axes_are_principal_components(rng, shape):
    X = rng.standard_normal(shape) * np.linspace(1, 5, shape[1])
    found = leading_axes(CentredOperator(X), 3)
    _, s, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(found.eigenvalues, s[:3] ** 2, rtol=1e-9)
    Q = found.coefficients
    np.testing.assert_allclose(Q @ Q.T, Vt[:3].T @ Vt[:3], atol=1e-8)


def test_covariance_directions_of_a_linear_kernel_are_those_of_the_features(rng):
    X, T = rng.standard_normal((30, 6)), rng.standard_normal((30, 2))
    linear = covariance_directions(CovarianceFactor(CentredOperator(X)), T, 4)
    kernel = covariance_directions(GramFactor(X @ X.T), T, 4)
    Xc = X - X.mean(axis=0)
    scores = Xc @ linear.coefficients
    np.testing.assert_allclose(scores.T @ scores, np.eye(4), atol=1e-10)
    np.testing.assert_allclose(linear.eigenvalues, kernel.eigenvalues, rtol=1e-9)
    other = Xc @ (Xc.T @ kernel.coefficients)
    np.testing.assert_allclose(np.abs(scores.T @ other), np.eye(4), atol=1e-8)


def test_generalised_directions_solve_the_pencil(rng):
    A, F = rng.standard_normal((5, 5)), rng.standard_normal((5, 9))
    A, B = A + A.T, F @ F.T
    for largest in (True, False):
        found = generalised_directions(A, B, largest=largest)
        P, values = found.coefficients, found.eigenvalues
        np.testing.assert_allclose(A @ P, B @ P * values, atol=1e-9)
        np.testing.assert_allclose(P.T @ B @ P, np.eye(5), atol=1e-10)
        assert (np.diff(values) * (-1 if largest else 1) >= 0).all()


@pytest.mark.parametrize("constraint", [(0.0, 1.0), (0.5, 0.5), (1.0, 0.0)])
def test_the_complement_is_orthonormal_to_rounding(rng, constraint):
    X = rng.standard_normal((200, 300)) * np.geomspace(1e-2, 1e2, 300)
    Xc, (scale, ridge) = centre(X), constraint
    N = scale * Xc.T @ Xc + ridge * np.eye(300)
    P = complement(
        CentredOperator(X), np.empty((300, 0)), 300, constraint, np.random.RandomState(0)
    )
    assert P.shape[1] == (300 if ridge else 199)
    if not ridge:  # what rounding leaves of a direction that is not there is positive or negative
        operator, begun = CentredOperator(X[:20]), np.empty((300, 0))
        draws = [np.random.RandomState(seed) for seed in range(40)]
        found = [complement(operator, begun, 25, constraint, d) for d in draws]
        assert [p.shape[1] for p in found] == [19] * 40
    # N itself is known to eps of its largest eigenvalue, which is 1e7 and more of P's columns
    np.testing.assert_allclose(P.T @ N @ P, np.eye(P.shape[1]), atol=1e-12 if not scale else 1e-9)
