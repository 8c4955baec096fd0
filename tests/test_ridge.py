import numpy as np
import pytest

from eigenlabel.core.eigen import rank_tolerance
from eigenlabel.core.ridge import (
    ShiftedSystem,
    SpectralReduction,
    TridiagonalReduction,
    diagonalise,
    reduce,
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
def test_shift_zero_gives_the_minimum_norm_solution(rng, rank, scale):
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
    f = diagonalise(M, rank_tolerance(30, np.float64))
    assert f.lam.shape == (rank,)
    np.testing.assert_allclose((f.Q * f.lam) @ f.Q.T, M, atol=1e-12 * np.abs(M).max())


@pytest.mark.parametrize("p", [1, 2, 3, 17])
def test_tridiagonal_form_rebuilds_the_matrix(p, rng):
    M, _ = with_spectrum(rng.uniform(0, 3, p), rng)
    f = tridiagonalise(M)
    Z = f.restore(np.eye(p))
    np.testing.assert_allclose(Z.T @ Z, np.eye(p), atol=1e-13)
    np.testing.assert_allclose(f.rotate(M), f.apply(Z.T), atol=1e-13)
    np.testing.assert_allclose(f.rotate(f.restore(M)), M, atol=1e-13)


def test_reduction_falls_back_to_eigenvectors_only_where_it_must(rng):
    full, _ = with_spectrum(rng.uniform(0.1, 1, 9), rng)
    flat, _ = with_spectrum(np.r_[0.0, rng.uniform(0.1, 1, 8)], rng)
    tolerance = rank_tolerance(9, np.float64)
    assert isinstance(reduce(full, 0.0, tolerance), TridiagonalReduction)
    assert isinstance(reduce(flat, 1e-3, tolerance), TridiagonalReduction)
    assert isinstance(reduce(flat, 0.0, tolerance), SpectralReduction)
    assert isinstance(reduce(np.zeros((4, 4)), 0.0, tolerance), SpectralReduction)


def test_nothing_to_solve():
    assert ShiftedSystem(np.zeros((0, 0))).solve(np.zeros((0, 2)), [1.0]).shape == (1, 0, 2)


def test_the_matrix_is_not_changed(rng):
    M, _ = with_spectrum(rng.uniform(0, 3, 9), rng)
    before = M.copy()
    system = ShiftedSystem(M)
    system.solve(np.ones((9, 1)), [1.0])
    system.solve(np.ones((9, 1)), list(range(9)))
    np.testing.assert_array_equal(M, before)
