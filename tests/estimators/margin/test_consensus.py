"""The SVMs of all labels at once, against one SVM at a time and dense normal equations."""

import numpy as np
import pytest

import helpers
from eigenlabel.estimators.margin.alternation import AlternationProblem
from eigenlabel.estimators.margin.consensus import CHECK, ConsensusStep, Ridge
from helpers import draw_labels

ALPHA, BETA = 0.05, 0.01


@pytest.fixture
def Z(rng):
    """Return features with orthogonal columns of different lengths."""
    return np.linalg.qr(rng.standard_normal((60, 5)))[0] * [20.0, 9.0, 5.0, 2.0, 0.5]


def draw_subspace(rng, r):
    return np.linalg.qr(rng.standard_normal((5, r)))[0].T if r else np.zeros((0, 5))


def make_problem(Z, rng, fit_intercept=True, alpha=ALPHA):
    T = 2.0 * draw_labels(60, rng, 3) - 1
    return AlternationProblem(Z, T, "hinge", alpha, BETA, fit_intercept)


@pytest.mark.parametrize("r", [0, 1, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, ALPHA])
def test_ridge_solves_the_normal_equations(Z, rng, r, fit_intercept, alpha):
    problem, Theta, rho = make_problem(Z, rng, fit_intercept, alpha), draw_subspace(rng, r), 0.3
    V = rng.standard_normal((60, 3))
    U, b = Ridge(problem, (Z**2).sum(axis=0), Theta, rho).fit(V)
    N = (alpha + BETA) * np.eye(5) - alpha * Theta.T @ Theta
    rest = Z @ U + b - V
    np.testing.assert_allclose(2 * N @ U + rho * Z.T @ rest, 0, atol=1e-10)
    if fit_intercept:
        np.testing.assert_allclose(2 * BETA * b + rho * rest.sum(axis=0), 0, atol=1e-10)
    else:
        np.testing.assert_array_equal(b, 0)


@pytest.mark.parametrize("r", [0, 1, 3])
def test_all_labels_at_once_are_the_svms_of_the_labels(Z, rng, r):
    problem, Theta = make_problem(Z, rng), draw_subspace(rng, r)
    step = ConsensusStep(problem, 10**5)
    step.max_iter = 10**5
    U, b = step.solve(Theta, 1e-10)
    assert step.unsolved == 0
    for label in range(3):
        u, intercept = helpers.svm_near_subspace(
            Z, problem.T[:, label], ALPHA, BETA, Theta, "hinge"
        )
        # LIBLINEAR's gradients are good to 1e-10, weights to the root of that.
        np.testing.assert_allclose(U[:, label], u, atol=1e-5)
        np.testing.assert_allclose(b[label], intercept, atol=1e-5)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_bounds_are_below_every_objective_and_meet_the_least(Z, rng, fit_intercept):
    problem, Theta = make_problem(Z, rng, fit_intercept), draw_subspace(rng, 2)
    step = ConsensusStep(problem, 10**5)
    for _ in range(3):
        step.solve(Theta, 0.0)
        bounds = step._bounds(Theta)
        for scale in (0.0, 0.1, 1.0):
            U, b = scale * rng.standard_normal((5, 3)), scale * rng.standard_normal(3)
            b = b if fit_intercept else np.zeros(3)
            assert (bounds <= problem.plain_values(U, b) - problem.gains(U, Theta)).all()
    step.max_iter = 10**5
    U, b = step.solve(Theta, 1e-9)
    least = problem.plain_values(U, b) - problem.gains(U, Theta)
    np.testing.assert_allclose(step._bounds(Theta), least, rtol=1e-7)  # the gap is 1e-9 of them


def test_a_round_goes_on_where_the_last_one_ended(Z, rng):
    problem, Theta = make_problem(Z, rng), draw_subspace(rng, 2)
    often, once = ConsensusStep(problem, 1000), ConsensusStep(problem, 1000)
    for _ in range(5):
        found = often.solve(Theta, 0.0)
    once.max_iter = 5 * CHECK
    np.testing.assert_allclose(found[0], once.solve(Theta, 0.0)[0], atol=1e-12)


def test_iterations_grow_up_to_the_limit(Z, rng):
    step = ConsensusStep(make_problem(Z, rng), 500)
    assert step.max_iter == CHECK
    assert [step.persist() for _ in range(3)] == [True, True, False]
    assert step.max_iter == 500
