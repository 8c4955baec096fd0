"""The solver against LARS on the paper's augmented matrix, on every road through it."""

import numpy as np
import pytest
import scipy.sparse as sp

from conftest import SHAPES, make_matrix
from eigenlabel.linalg.operators import CentredOperator
from eigenlabel.linalg.solvers import elastic_net as module
from eigenlabel.linalg.solvers import quadratic
from eigenlabel.linalg.solvers.elastic_net import ElasticNets, minimise, optimality_gap
from eigenlabel.linalg.solvers.quadratic import Quadratic, StoredCurvature
from helpers import equicorrelation, paper_elastic_net

ROADS = ("whole S", "growing S", "products", "conjugate gradients", "factor of rows")


def take(road, monkeypatch):
    """Solve small problems in the way of large ones."""
    if road == "whole S":
        return
    monkeypatch.setattr(module, "FIRST_WORKING_SET", 2)
    if road == "growing S":
        return
    monkeypatch.setattr(module, "GRAM_BYTES", 8)
    if road == "products":
        return
    monkeypatch.setattr(quadratic, "DIRECT", 0)
    if road == "factor of rows":
        monkeypatch.setattr(quadratic, "CG_ITERATIONS", 1)


def solve(X, T, l1, l2, rho, weights=None, start=None, nets=None):
    operator = CentredOperator(X, weights)
    nets = ElasticNets(operator) if nets is None else nets
    WT = T if weights is None else weights[:, None] * T
    C = operator.rmatmat(WT)
    B = np.zeros(C.shape) if start is None else start
    return nets.solve(C, l2 * (1 - rho), l2 * rho, l1 / 2, B)


def targets(X, rng, q=3):
    T = X @ rng.standard_normal((X.shape[1], q)) + rng.standard_normal((len(X), q))
    return T - T.mean(axis=0)


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rho", [0.0, 0.6, -0.03])
@pytest.mark.parametrize("sparse", [False, True])
def test_it_equals_lars_on_the_augmented_matrix(road, shape, rho, sparse, rng, monkeypatch):
    take(road, monkeypatch)
    X = make_matrix(shape, rng)
    T = targets(X, rng)
    l2 = 0.7
    largest = 2 * np.abs((X - X.mean(axis=0)).T @ T).max()
    for l1 in largest * np.array([0.5, 0.1, 0.01]) + 1e-9:
        found = solve(sp.csr_array(X) if sparse else X, T, l1, l2, rho)
        assert found.residual <= 1e-9
        expected = np.column_stack(
            [paper_elastic_net(X - X.mean(axis=0), t, l1, l2, rho) for t in T.T]
        )
        np.testing.assert_allclose(found.B, expected, atol=1e-8 * max(1, np.abs(expected).max()))
        assert ((found.B != 0).sum(axis=0) == (np.abs(expected) > 1e-10).sum(axis=0)).all()


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_scaled_data_have_scaled_weights(scale, rng):
    X = make_matrix("wide", rng)
    T = targets(X, rng)
    plain = solve(X, T, 3.0, 0.5, 0.2).B
    scaled = solve(scale * X, T, 3.0 * scale, 0.5 * scale**2, 0.2).B
    np.testing.assert_allclose(scale * scaled, plain, atol=1e-9)


@pytest.mark.parametrize("road", ROADS)
def test_a_weight_counts_like_copies(road, rng, monkeypatch):
    take(road, monkeypatch)
    X = make_matrix("wide", rng)
    T = targets(X, rng)
    weights = rng.integers(1, 4, len(X))
    twice, T_twice = np.repeat(X, weights, axis=0), np.repeat(T, weights, axis=0)
    found = solve(X, T, 2.0, 0.3, 0.1, weights.astype(float)).B
    np.testing.assert_allclose(found, solve(twice, T_twice, 2.0, 0.3, 0.1).B, atol=1e-9)


@pytest.mark.parametrize("shape", ["wide", "deficient", "duplicates"])
@pytest.mark.parametrize("rho", [0.0, 1.0])
def test_a_singular_quadratic_still_has_a_minimiser(shape, rho, rng):
    X = make_matrix(shape, rng)
    X = np.hstack([X, X[:, :2]])  # two features twice over
    T = targets(X, rng)
    l2 = 0.0 if rho == 0 else 0.5
    found = solve(X, T, 1.0, l2, rho)
    Xc = X - X.mean(axis=0)
    g = Xc.T @ (T - Xc @ found.B) - l2 * rho * found.B.sum(axis=0)
    assert optimality_gap(g, found.B, 0.5).max() <= 1e-8 * np.abs(Xc.T @ T).max()


def test_the_start_does_not_matter(rng):
    X = make_matrix("wide", rng)
    T = targets(X, rng)
    cold = solve(X, T, 1.0, 0.4, 0.3).B
    start = rng.standard_normal(cold.shape)
    before = start.copy()
    np.testing.assert_allclose(solve(X, T, 1.0, 0.4, 0.3, start=start).B, cold, atol=1e-9)
    assert (start == before).all()
    again = solve(X, T, 1.0, 0.4, 0.3, start=cold)
    assert again.steps == 0


def test_problems_share_what_was_computed(rng, monkeypatch):
    take("growing S", monkeypatch)
    X = make_matrix("wide", rng)
    T = targets(X, rng)
    nets = ElasticNets(CentredOperator(X))
    for l1 in (80.0, 40.0, 20.0):
        for rho in (0.0, 0.5):
            shared = solve(X, T, l1, 0.4, rho, nets=nets).B
            np.testing.assert_allclose(shared, solve(X, T, l1, 0.4, rho).B, atol=1e-9)
    assert 0 < len(nets.features) < X.shape[1]
    Xc = X - X.mean(axis=0)
    np.testing.assert_allclose(nets.S, (Xc.T @ Xc)[np.ix_(nets.features, nets.features)])


def test_the_line_search_alone_lowers_the_objective_to_the_minimum(rng, monkeypatch):
    """The fallback of Newton steps, which hardly ever fail."""
    X = make_matrix("wide", rng)
    Xc = X - X.mean(axis=0)
    t = targets(X, rng)[:, 0]
    H = Quadratic(StoredCurvature(Xc.T @ Xc), 0.3, 0.2)
    c, mu = Xc.T @ t, 1.0
    expected = minimise(H, c, mu, np.zeros(len(c))).b
    values = []
    original = module._search_line

    def spy(*given):
        b, g = given[3], given[4]
        values.append(module._objective(c, g, b, mu))
        return original(*given)

    monkeypatch.setattr(module, "_newton", lambda *given: given[3])
    monkeypatch.setattr(module, "_search_line", spy)
    found = minimise(H, c, mu, rng.standard_normal(len(c)))
    np.testing.assert_allclose(found.b, expected, atol=1e-8)
    assert len(values) > 5
    assert (np.diff(values) < 0).all()


def test_it_stops_after_the_steps_it_may_take(rng):
    X = make_matrix("wide", rng)
    Xc = X - X.mean(axis=0)
    H = Quadratic(StoredCurvature(Xc.T @ Xc), 0.3, 0.0)
    found = minimise(H, Xc.T @ targets(X, rng)[:, 0], 0.1, np.zeros(X.shape[1]), max_steps=1)
    assert found.steps == 1
    assert found.residual > 1e-6


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rho", [0.0, 0.6, -0.03])
def test_without_l1_it_is_ridge(shape, weighted, rho, rng):
    X = make_matrix(shape, rng)
    T = targets(X, rng)
    w = rng.uniform(0.5, 2, len(X)) if weighted else np.ones(len(X))
    operator = CentredOperator(X, w if weighted else None)
    Xc = X - operator.mean
    found = ElasticNets(operator).ridge(T, 0.7 * (1 - rho), 0.7 * rho)
    H = Xc.T @ (w[:, None] * Xc) + 0.7 * equicorrelation(X.shape[1], rho)
    expected = np.linalg.solve(H, Xc.T @ (w[:, None] * T))
    np.testing.assert_allclose(found, expected, atol=1e-9 * max(1, np.abs(expected).max()))


@pytest.mark.parametrize("shape", SHAPES)
def test_without_any_penalty_it_is_the_least_squares_of_minimum_norm(shape, rng):
    X = make_matrix(shape, rng)
    T = targets(X, rng)
    found = ElasticNets(CentredOperator(X)).ridge(T, 0.0, 0.0)
    expected = np.linalg.lstsq(X - X.mean(axis=0), T, rcond=None)[0]
    np.testing.assert_allclose(found, expected, atol=1e-9 * max(1, np.abs(expected).max()))


def test_a_penalty_that_ignores_common_shifts_has_the_least_norm_solution(rng):
    """At rho = -1 / (p - 1) with rows that sum to zero, H is singular along 1."""
    p = 20
    X = rng.standard_normal((8, p))
    X -= X.mean(axis=1, keepdims=True)
    T = targets(X, rng)
    rho = -1 / (p - 1)
    found = ElasticNets(CentredOperator(X)).ridge(T, 0.5 * (1 - rho), 0.5 * rho)
    Xc = X - X.mean(axis=0)
    H = Xc.T @ Xc + 0.5 * equicorrelation(p, rho)
    np.testing.assert_allclose(found, np.linalg.pinv(H) @ Xc.T @ T, atol=1e-8)
