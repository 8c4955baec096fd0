import numpy as np
import pytest
import scipy.sparse as sp

import helpers
from eigenlabel.linalg import gram_matrices, memory
from eigenlabel.linalg.factors import factorise as choosing
from eigenlabel.linalg.factors.covariance import CovarianceFactor
from eigenlabel.linalg.factors.factorise import factorise
from eigenlabel.linalg.factors.gram import GramFactor
from eigenlabel.linalg.factors.linear_gram import LinearGramFactor
from eigenlabel.linalg.gram_matrices import centre_gram, nearest_psd, scaled_gram
from eigenlabel.linalg.memory import check_memory
from eigenlabel.linalg.numerics import rank_tolerance
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


def test_auto_takes_the_smaller_side(rng):
    assert isinstance(factorise(CentredOperator(rng.standard_normal((5, 9)))), LinearGramFactor)
    assert isinstance(factorise(CentredOperator(rng.standard_normal((9, 5)))), CovarianceFactor)


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


def test_centre_gram_equals_centred_features(rng):
    X, w = rng.standard_normal((7, 3)), rng.uniform(1, 2, 7)
    Xc = X - np.average(X, axis=0, weights=w)
    K, row_mean = centre_gram(X @ X.T, w)
    np.testing.assert_allclose(K, Xc @ Xc.T, atol=1e-13)
    np.testing.assert_allclose(row_mean, X @ np.average(X, axis=0, weights=w), atol=1e-13)


def test_symmetric_part_and_the_place_farthest_from_it(rng, monkeypatch):
    monkeypatch.setattr(gram_matrices, "TILE", 3)
    K = rng.standard_normal((8, 8))
    S, (i, j) = gram_matrices.symmetric_part(K)
    np.testing.assert_array_equal(S, (K + K.T) / 2)
    assert abs(K - K.T)[i, j] == abs(K - K.T).max()
    assert i < j
    assert gram_matrices.symmetric_part(np.eye(4))[1] == (0, 0)


def test_nearest_psd_drops_the_negative_part(rng):
    Q = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    lam = np.array([-2.0, -1e-3, 0.0, 0.5, 1.0, 4.0])
    K, kept, smallest = nearest_psd((Q * lam) @ Q.T, 1e-13)
    np.testing.assert_allclose(K, (Q * np.maximum(lam, 0)) @ Q.T, atol=1e-12)
    np.testing.assert_allclose(kept @ kept.T, Q[:, 3:] @ Q[:, 3:].T, atol=1e-12)
    assert smallest == pytest.approx(-0.5)
    good = (Q * np.abs(lam)) @ Q.T
    same, kept, none = nearest_psd(good, 1e-13)
    assert same is good
    assert kept is None
    assert none == 0.0
    assert nearest_psd(-np.eye(3), 1e-13)[1].shape == (3, 0)


def test_too_large_a_problem_is_refused_before_it_starts(monkeypatch, rng):
    monkeypatch.setattr(choosing, "memory_limit", lambda: 8.0 * 1000)
    with pytest.raises(MemoryError, match=r"Gram factor needs about .* 50 x 50"):
        factorise(CentredOperator(rng.standard_normal((50, 60))), route="gram")
    with pytest.raises(MemoryError, match="covariance factor"):
        factorise(CentredOperator(rng.standard_normal((60, 50))), route="covariance")


@pytest.mark.parametrize("weighted", [False, True])
def test_the_constant_direction_is_lifted(rng, weighted):
    X = rng.standard_normal((8, 30))
    w = rng.uniform(0.5, 2, 8) if weighted else None
    root = None if w is None else np.sqrt(w)
    K = centre_gram(X @ X.T, w)[0]
    lam = np.linalg.eigvalsh(scaled_gram(K, root, True))
    flat = np.linalg.eigvalsh(scaled_gram(K, root, False))
    assert abs(flat[0]) < 1e-12 * flat[-1]
    np.testing.assert_allclose(np.delete(lam, np.abs(lam - flat.mean()).argmin()), flat[1:])


def test_the_rank_rule_knows_the_number_of_features(rng):
    X = rng.standard_normal((5, 400))
    factor = factorise(CentredOperator(X), route="gram")
    assert factor.tolerance == rank_tolerance(400, np.float64)
    assert GramFactor(X @ X.T).tolerance == rank_tolerance(5, np.float64)


def test_five_arrays_must_fit(monkeypatch):
    monkeypatch.setattr(memory, "memory_limit", lambda: 5 * 8.0 * 100**2)
    check_memory(100, "problem")
    with pytest.raises(MemoryError, match="101 x 101"):
        check_memory(101, "problem")


@pytest.mark.parametrize("route", ["gram", "covariance"])
def test_a_large_offset_of_the_targets_costs_no_digits(rng, route):
    X = rng.standard_normal((32, 5)) + 3
    T = np.where(rng.uniform(size=(32, 4)) < 0.3, 1.0, -1.0)
    factor = factorise(CentredOperator(X), route=route)
    near, far = (factor.export(factor.solve(t, [0.1]).coefficients[0]) for t in (T, T + 2.0**30))
    np.testing.assert_allclose(far, near, atol=1e-11)
