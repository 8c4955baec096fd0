"""The problem of MtSDA: its score steps, its bound on l1 and its penalty."""

import numpy as np
import pytest

from eigenlabel import MtSDA
from eigenlabel.estimators.discriminant.optimal_scoring import (
    Penalty,
    ScoreProblem,
)
from helpers import (
    centre,
    with_equal_first_label_sets,
)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_equation_9_for_dependent_first_label_sets(rng, intercept, weighted):
    X, Y = with_equal_first_label_sets(rng)
    w = rng.uniform(0.5, 2, 200) if weighted else None
    problem = ScoreProblem(X, Y, w, intercept, None)
    theta = problem.start(True)
    B = problem.nets.ridge(problem.T, 1.0, 0.0) @ theta
    assert np.linalg.matrix_rank(B, 1e-9 * np.linalg.norm(B, 2)) == 1
    R, root = problem.polar_factor(B), np.sqrt(np.ones(200) if w is None else w)[:, None]
    Z = root * ((X - (np.average(X, axis=0, weights=w) if intercept else 0.0)) @ B)
    np.testing.assert_allclose(R.T @ R, np.eye(4), atol=1e-12)
    # R maximises tr(R'Z) over orthonormal R: it is U V' of some singular value decomposition.
    assert np.sum(R * Z) == pytest.approx(np.linalg.norm(Z, "nuc"), rel=1e-10)
    labels = Y - (np.average(Y, axis=0, weights=w) if intercept else 0.0)
    total = 200 if w is None else w.sum()
    expected = np.sqrt(total) * np.linalg.pinv(labels * root) @ R
    np.testing.assert_allclose(problem.rescore_by_paper(B), expected, atol=1e-10)
    assert np.linalg.matrix_rank(expected, 1e-6) == 4


def test_no_feasible_scores_fit_better(data, rng):
    X, Y = (centre(data.X), centre(data.Y))
    problem = ScoreProblem(data.X, data.Y, None, True, None)
    B = rng.standard_normal((20, 5))
    B[:, 3] = 0
    theta = problem.start(False)
    best = np.sum((Y @ problem.rescore(B, theta) - X @ B) ** 2)
    for _ in range(200):
        Q = np.linalg.qr(rng.standard_normal((5, 5)))[0]
        assert np.sum((Y @ theta @ Q - X @ B) ** 2) >= best


def test_scores_that_no_feature_predicts_do_not_change(data):
    problem = ScoreProblem(data.X, data.Y, None, True, None)
    theta = problem.start(False)
    np.testing.assert_allclose(problem.rescore(np.zeros((20, 5)), theta), theta, atol=1e-12)


def test_the_largest_l1_is_where_the_first_weight_appears(wide):
    problem = ScoreProblem(wide.X, wide.Y, None, True, 1)
    # One score, the best one for its feature: the bound is met.
    feature = np.linalg.norm(problem.XtT @ problem.root, axis=1).argmax()
    direction = (problem.XtT @ problem.root)[feature]
    theta = problem.root @ (direction / np.linalg.norm(direction))[:, None]
    C = problem.XtT @ theta
    for share, expected in ((1.0001, 0), (0.9999, 1)):
        mu = share * problem.largest_l1() / 2
        found = problem.nets.solve(C, 1.0, 0.0, mu, np.zeros_like(C))
        assert np.count_nonzero(found.B) == expected
    model = MtSDA(ScoreProblem(wide.X, wide.Y, None, True, None).largest_l1()).fit(wide.X, wide.Y)
    assert model.n_features_selected_ == 0
    np.testing.assert_allclose(model.decision_function(wide.X), wide.Y.mean(axis=0) + 0 * wide.Y)


def test_a_penalty_is_a_multiple_of_the_identity_and_a_matrix_of_ones():
    penalty = Penalty(1.0, 4.0, 0.25)
    assert (penalty.shift, penalty.tie) == (3.0, 1.0)
