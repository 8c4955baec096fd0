"""The two steps of ASO: models for a subspace, and a subspace for the models."""

import numpy as np
import pytest
import scipy.sparse as sp

import helpers
from eigenlabel.estimators.margin.alternation import (
    AlternationProblem,
    MarginStep,
    SquaredStep,
    leading_directions,
)
from helpers import draw_labels


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("r", [0, 1, 3])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_added_features_have_the_penalty_of_the_paper(rng, loss, r, form):
    X = rng.standard_normal((60, 5))
    T = 2.0 * draw_labels(60, rng, 2) - 1
    Theta = np.linalg.qr(rng.standard_normal((5, r)))[0].T if r else np.zeros((0, 5))
    step = MarginStep(AlternationProblem(form(X), T, loss, 0.05, 0.01, True), 10**6, 0)
    step.max_iter = 10**6
    U, b = step.solve(Theta, 1e-10)
    for label in range(2):
        u, intercept = helpers.svm_near_subspace(X, T[:, label], 0.05, 0.01, Theta, loss)
        # Both are LIBLINEAR's: its gradients are good to 1e-10, its weights to the root of that.
        np.testing.assert_allclose(U[:, label], u, atol=1e-5)
        np.testing.assert_allclose(b[label], intercept, atol=1e-5)


@pytest.mark.parametrize("beta", [0.0, 1e-2])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_squared_step_solves_its_normal_equations(X_informative, rng, beta, fit_intercept):
    X, alpha = X_informative, 0.1
    n, d = X.shape
    T = 2.0 * draw_labels(n, rng) - 1
    # Directions in the row space of X, as all weights are.
    Xc = X - X.mean(axis=0) if fit_intercept else X
    Theta = np.linalg.qr(Xc.T @ rng.standard_normal((n, 2)))[0].T
    step = SquaredStep(AlternationProblem(X, T, "squared", alpha, beta, fit_intercept))
    U, b = step.solve(Theta, 0.0)
    Tc = T - T.mean(axis=0) if fit_intercept else T
    N = Xc.T @ Xc / n + (alpha + beta) * np.eye(d) - alpha * Theta.T @ Theta
    np.testing.assert_allclose(N @ U, Xc.T @ Tc / n, atol=1e-10)
    expected = T.mean(axis=0) - X.mean(axis=0) @ U if fit_intercept else 0
    np.testing.assert_allclose(b, expected, atol=1e-10)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_squared_step_without_a_penalty_is_least_squares_of_minimum_norm(rng, fit_intercept):
    X, T = rng.standard_normal((6, 10)), 2.0 * draw_labels(6, rng) - 1
    Theta = np.linalg.qr(rng.standard_normal((10, 2)))[0].T
    step = SquaredStep(AlternationProblem(X, T, "squared", 0.0, 0.0, fit_intercept))
    U, b = step.solve(Theta, 0.0)
    Xc, Tc = (A - A.mean(axis=0) if fit_intercept else A for A in (X, T))
    np.testing.assert_allclose(U, np.linalg.pinv(Xc) @ Tc, atol=1e-10)
    np.testing.assert_allclose(X @ U + b, T, atol=1e-10)


def test_leading_directions_leave_out_null_directions(rng):
    U = rng.standard_normal((8, 2)) @ rng.standard_normal((2, 5))
    Theta = leading_directions(U, 4)
    assert Theta.shape == (2, 8)
    np.testing.assert_allclose(helpers.projector(Theta.T) @ U, U)
    assert leading_directions(np.zeros((8, 5)), 3).shape == (0, 8)


@pytest.mark.parametrize("r", [0, 1, 3, 5])
@pytest.mark.parametrize("least", [0.5, 1e-2, 1e-5, 1e-12])
def test_leading_directions_are_those_of_the_svd(r, least, rng):
    """From the squares of singular values if they are close, and from U otherwise."""
    left, right = (np.linalg.qr(rng.standard_normal((n, 5)))[0] for n in (40, 5))
    s = np.geomspace(1, least, 5)
    Theta = leading_directions((left * s) @ right.T, r)
    np.testing.assert_allclose(Theta @ Theta.T, np.eye(r), atol=1e-13)
    # Directions of singular values s have errors of rounding / s^2, those of the SVD rounding / s.
    atol = 1e-9 if least > 1e-3 else 1e-12 / s[:r].min(initial=1)
    np.testing.assert_allclose(Theta.T @ Theta, helpers.projector(left[:, :r]), atol=atol)
