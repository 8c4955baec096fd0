"""Direct solves for one matrix and many shifts."""

import numpy as np
import pytest

from eigenlabel.linalg.numerics import rank_tolerance
from eigenlabel.linalg.solvers import shifted
from eigenlabel.linalg.solvers.shifted import (
    SAFE,
    ReducedSystem,
    ShiftedSystem,
    _spectral_bound,
    diagonalise,
    smallest_eigenvectors,
    tridiagonalise,
)


def with_spectrum(lam, rng):
    Q = np.linalg.qr(rng.standard_normal((len(lam), len(lam))))[0]
    return (Q * lam) @ Q.T, Q


@pytest.mark.parametrize("count", [1, 2, 3, 20])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_every_way_satisfies_the_equation(rng, count, scale):
    M, _ = with_spectrum(scale * rng.uniform(0, 3, 20), rng)
    B = rng.standard_normal((20, 4))
    shifts = list(scale * np.geomspace(1e-3, 10, count))
    for s, y in zip(shifts, ShiftedSystem(M).solve(B, shifts), strict=True):
        np.testing.assert_allclose((M + s * np.eye(20)) @ y, B, atol=1e-10)


def test_repeated_and_unsorted_shifts_keep_their_places(rng):
    M, _ = with_spectrum(rng.uniform(1, 2, 6), rng)
    B = rng.standard_normal((6, 1))
    shifts = [3.0, 0.5, 3.0, 0.0, 1.0, 9.0]
    for s, y in zip(shifts, ShiftedSystem(M).solve(B, shifts), strict=True):
        np.testing.assert_allclose(y, np.linalg.solve(M + s * np.eye(6), B), rtol=1e-10)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("rank", [0, 1, 3, 8])
def test_shift_zero_is_the_minimum_norm_solution(rng, rank, scale):
    lam = np.concatenate([np.zeros(8 - rank), scale * rng.uniform(1, 2, rank)])
    M, Q = with_spectrum(lam, rng)
    B = rng.standard_normal((8, 3))
    y = ShiftedSystem(M).solve(B, [0.0])[0]
    pseudo = (Q[:, 8 - rank :] / lam[8 - rank :]) @ Q[:, 8 - rank :].T
    np.testing.assert_allclose(y, pseudo @ B, atol=1e-9 / scale)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_diagonalise_keeps_the_true_rank_and_rebuilds_the_matrix(rank, rng):
    A = rng.standard_normal((30, rank)) @ rng.standard_normal((rank, 5))
    M = A.T @ A
    Q, lam = diagonalise(M, rank_tolerance(30, np.float64))
    assert lam.shape == (rank,)
    np.testing.assert_allclose((Q * lam) @ Q.T, M, atol=1e-12 * np.abs(M).max())


@pytest.mark.parametrize("p", [1, 2, 3, 17])
def test_tridiagonal_form_rebuilds_the_matrix(p, rng):
    M, _ = with_spectrum(rng.uniform(0, 3, p), rng)
    f = tridiagonalise(M)
    Z = f.restore(np.eye(p))
    np.testing.assert_allclose(Z.T @ Z, np.eye(p), atol=1e-13)
    np.testing.assert_allclose(f.rotate(M), f.apply(Z.T), atol=1e-13)
    np.testing.assert_allclose(f.rotate(f.restore(M)), M, atol=1e-13)


def test_only_doubtful_shifts_are_treated_apart(rng):
    full, _ = with_spectrum(rng.uniform(0.1, 1, 9), rng)
    flat, _ = with_spectrum(np.r_[0.0, rng.uniform(0.1, 1, 8)], rng)
    B, tolerance = np.ones((9, 1)), rank_tolerance(9, np.float64)
    assert not ReducedSystem(full, B, [0.0, 1e-12, 1.0], tolerance)._special
    assert set(ReducedSystem(flat, B, [0.0, 1e-12, 1e-3], tolerance)._special) == {0.0, 1e-12}


@pytest.mark.parametrize("count", [1, 9])
def test_badly_scaled_features_keep_their_digits(rng, count):
    # One column of spread 1e9 (a time in seconds) beside ordinary ones: eigenvalues of order 1
    # are rounding of the largest, 1e18. Scaling to unit diagonal restores them.
    X = rng.standard_normal((40, 5)) * np.array([1e9, 1, 1, 1, 1e-3])
    B = X.T @ rng.standard_normal((40, 2))
    d = np.linalg.norm(X, axis=0)
    for shift, y in zip(range(count), ShiftedSystem(X.T @ X).solve(B, range(count)), strict=True):
        A = X.T @ X + shift * np.eye(5)
        exact = np.linalg.solve(A / np.outer(d, d), B / d[:, None]) / d[:, None]
        # scaled by d, a fitted value; restoring from rotated coordinates costs eps * 1e9
        np.testing.assert_allclose(d[:, None] * y, d[:, None] * exact, rtol=1e-5)


def test_an_empty_system_has_an_empty_solution():
    assert ShiftedSystem(np.zeros((0, 0))).solve(np.zeros((0, 2)), [1.0]).shape == (1, 0, 2)


def test_the_matrix_is_not_changed(rng):
    M, _ = with_spectrum(rng.uniform(0, 3, 9), rng)
    before = M.copy()
    system = ShiftedSystem(M)
    system.solve(np.ones((9, 1)), [1.0])
    system.solve(np.ones((9, 1)), list(range(9)))
    np.testing.assert_array_equal(M, before)


def test_a_shift_helps_a_small_eigenvalue():
    M = np.diag([0.6 * SAFE, 1.0])
    shifts = [0.2 * SAFE, 0.6 * SAFE]
    assert set(ReducedSystem(M, np.ones((2, 1)), shifts, 1e-15)._special) == {0.2 * SAFE}


def test_spectral_bound_is_one(rng):
    A = rng.standard_normal((20, 20))
    for M in (A @ A.T, np.ones((20, 20))):
        assert _spectral_bound(M) >= np.linalg.eigvalsh(M)[-1] * (1 - 1e-12)


def test_extremes_of_nearly_equal_eigenvalues(monkeypatch, rng):
    M = np.eye(60) + 1e-14 * np.diag(rng.standard_normal(60))
    np.testing.assert_allclose(tridiagonalise(M).extremes(), (1, 1), rtol=1e-12)
    full, _ = with_spectrum(np.linspace(1, 3, 12), rng)
    original = shifted.sl.eigvalsh_tridiagonal

    def fails(*args, **kwargs):
        if "select" in kwargs:
            raise np.linalg.LinAlgError("did not converge")
        return original(*args, **kwargs)

    monkeypatch.setattr(shifted.sl, "eigvalsh_tridiagonal", fails)
    np.testing.assert_allclose(tridiagonalise(full).extremes(), (1, 3), rtol=1e-12)


def test_large_matrices_have_the_same_eigenvectors(monkeypatch, rng):
    M = rng.standard_normal((20, 20))
    M = M @ M.T
    few, Q = shifted.eigenvectors(M.copy())
    monkeypatch.setattr(shifted, "WORKSPACE", 10)
    many, P = shifted.eigenvectors(M.copy())
    np.testing.assert_allclose(many, few, rtol=1e-10)
    np.testing.assert_allclose((P * many) @ P.T, M, atol=1e-12 * few[-1])
    np.testing.assert_allclose(np.abs(P.T @ Q), np.eye(20), atol=1e-8)


@pytest.mark.parametrize("p", [1, 2, 7])
@pytest.mark.parametrize("together", [1, 10**6])
def test_columns_solved_together_or_one_by_one_solve_the_tridiagonal_equations(
    rng, p, together, monkeypatch
):
    monkeypatch.setattr(shifted, "TOGETHER", together)
    X, R, shifts = rng.standard_normal((9, p)), rng.standard_normal((p, 3)), [0.1, 2.0]
    reduction = tridiagonalise(X.T @ X)
    J = np.diag(reduction.diagonal)
    J += np.diag(reduction.off_diagonal, 1) + np.diag(reduction.off_diagonal, -1)
    found = reduction.solve(R, shifts)
    for k, s in enumerate(shifts):
        np.testing.assert_allclose(found[:, k], np.linalg.solve(J + s * np.eye(p), R), rtol=1e-8)


def test_eigenvectors_of_the_tridiagonal_matrix(rng):
    X = rng.standard_normal((9, 6))
    reduction = tridiagonalise(X.T @ X)
    lam, Q = reduction.eigenvectors()
    np.testing.assert_allclose(lam, np.linalg.eigvalsh(X.T @ X), rtol=1e-10)
    np.testing.assert_allclose(reduction.apply(Q), Q * lam, atol=1e-10)
    assert tridiagonalise(np.array([[4.0]])).eigenvectors()[0] == [4.0]


def test_scaling_is_tried_only_where_it_can_help(rng, monkeypatch):
    calls = []
    original = shifted._scaled_cholesky_solve

    def spy(*arguments):
        calls.append(1)
        return original(*arguments)

    monkeypatch.setattr(shifted, "_scaled_cholesky_solve", spy)
    X = rng.standard_normal((9, 6))
    X[:, 5] = X[:, 4]  # singular, and no scale of the features changes that
    shifts = [0.0, 1.0, 2.0, 3.0, 4.0]
    found = ShiftedSystem(X.T @ X).solve(X.T, shifts)
    assert calls == []
    np.testing.assert_allclose(found[0], np.linalg.pinv(X), atol=1e-10)
    Z = rng.standard_normal((9, 6)) * np.logspace(0, 6, 6)
    ShiftedSystem(Z.T @ Z).solve(Z.T, shifts)
    assert calls


@pytest.mark.parametrize("k", [1, 3, 6])
def test_the_smallest_eigenvectors_are_those_of_a_full_decomposition(rng, k):
    M, Q = with_spectrum(np.array([-2.0, 0.0, 1.0, 1.5, 7.0, 9.0]), rng)
    lam, V = smallest_eigenvectors(M, k)
    np.testing.assert_allclose(lam, np.linalg.eigvalsh(M)[:k], atol=1e-12)
    np.testing.assert_allclose(V @ V.T, Q[:, :k] @ Q[:, :k].T, atol=1e-10)


@pytest.mark.parametrize("least", [1e-2, 1e-5, 1e-8, 1e-11])
@pytest.mark.parametrize("null", [1, 5, 20])
@pytest.mark.parametrize("shift", [0.0, 1e-12])
def test_solutions_beside_the_null_space_are_those_of_the_kept_eigenvectors(
    least, null, shift, rng, monkeypatch
):
    """With a gap above the zero eigenvalues (and few of those) no other eigenvectors are found."""
    p, tolerance = 40, 1e-12
    lam = np.concatenate([np.zeros(null), [least], np.geomspace(0.05, 1, p - null - 1)])
    Q = np.linalg.qr(rng.standard_normal((p, p)))[0]
    M, B = (Q * lam) @ Q.T, rng.standard_normal((p, 3))
    M = (M + M.T) / 2
    # With a smaller gap rounding decides whether the steps settle, else eigenvectors are found.
    if least > 1e3 * shifted.GAP and null <= p // shifted.SOME:
        monkeypatch.setattr(shifted.TridiagonalReduction, "eigenvectors", None)
    system = ReducedSystem(M, B, [shift, 1.0], tolerance)
    assert system.is_special(shift)
    assert system.leaves_out(shift)
    y = system.reduction.restore(system.solve([shift])[:, 0])
    some = Q[:, null:]
    expected = some @ ((some.T @ B) / (lam[null:] + shift)[:, None])
    # The solution has the condition of the kept eigenvalues.
    np.testing.assert_allclose(y, expected, atol=1e-13 / least * np.abs(expected).max())
    values, coordinates = system.left_out(shift)
    assert len(values) == null
    np.testing.assert_allclose(
        coordinates.T @ coordinates, B.T @ Q[:, :null] @ Q[:, :null].T @ B, atol=1e-13 / least
    )
