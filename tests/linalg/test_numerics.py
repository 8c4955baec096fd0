"""The rules of rank, sign and equal eigenvalues."""

import numpy as np
import pytest

from eigenlabel.linalg.numerics import (
    descending_eigh,
    fix_signs,
    positive_count,
    positive_qr,
    rank_tolerance,
    significant,
    turn_equal,
)


def test_descending_eigh_diagonalises(rng):
    A = rng.standard_normal((4, 6, 6))
    S = A @ np.swapaxes(A, 1, 2)
    values, W = descending_eigh(S)
    assert (np.diff(values, axis=-1) <= 0).all()
    np.testing.assert_allclose(S @ W, W * values[:, None, :], atol=1e-11)


def test_signs_do_not_depend_on_the_solver(rng):
    W = np.linalg.qr(rng.standard_normal((7, 7)))[0]
    flipped = W * np.array([1, -1, 1, -1, -1, 1, -1])
    np.testing.assert_array_equal(fix_signs(W), fix_signs(flipped))
    lead = np.abs(W).argmax(axis=0)
    assert (fix_signs(W)[lead, range(7)] > 0).all()


def test_sign_of_a_tie_is_that_of_the_first():
    W = np.array([[-1.0, 0.0], [1.0 + 1e-14, 0.0]])
    np.testing.assert_array_equal(fix_signs(W)[:, 0], -W[:, 0])
    np.testing.assert_array_equal(fix_signs(W)[:, 1], [0, 0])


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_positive_count_is_relative(scale):
    assert positive_count(scale * np.array([1.0, 1e-3, 1e-18, -1e-17])) == 2
    assert positive_count(np.zeros(3)) == 0
    assert positive_count(np.zeros(0)) == 0


def test_rank_tolerance_squares_the_rounding_of_the_data():
    assert rank_tolerance(1000, np.float64) == 1000 * np.finfo(float).eps
    eps = float(np.finfo(np.float32).eps)
    assert rank_tolerance(1000, np.float32) == (1000 * eps) ** 2


def test_rounding_in_either_triangle_counts_alike():
    S = np.array([[2.0, 1.0], [0.0, 2.0]])
    np.testing.assert_allclose(descending_eigh(S)[0], [2.5, 1.5])
    np.testing.assert_allclose(descending_eigh(S.T)[0], [2.5, 1.5])


def test_close_eigenvalues_of_a_smooth_spectrum_keep_their_vectors(rng):
    values = np.logspace(0, -11, 300)
    Q = np.linalg.qr(rng.standard_normal((300, 300)))[0]
    found, W = descending_eigh(Q * values @ Q.T)
    inner = (W.T @ Q * values) @ (W.T @ Q).T / np.sqrt(np.outer(values, values))
    np.testing.assert_allclose(inner, np.eye(300), atol=1e-3)  # S has an error of about 1e-15
    np.testing.assert_allclose(found, values, rtol=1e-3)


def test_eigenvalues_are_not_equal_in_chains(rng):
    values = 1 - 1e-13 * np.arange(200.0)  # neighbours are equal up to rounding, the ends are not
    Q = np.linalg.qr(rng.standard_normal((200, 200)))[0]
    W = turn_equal(values, Q)
    spread = np.abs(W.T @ Q * (values - 1) @ (W.T @ Q).T - np.diag(values - 1)).max()
    assert spread <= 16 * 200 * np.finfo(float).eps


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_significant_values_are_relative_and_positive(scale):
    values = scale * np.array([2.0, 1e-5, 1e-13, 0.0, -1.0])
    assert significant(values, 1e-10).tolist() == [True, True, False, False, False]
    assert not significant(0 * values, 1e-10).any()
    assert not significant(-np.abs(values), 1e-10).any()
    assert significant(np.zeros(0), 1e-10).shape == (0,)


def test_positive_qr_is_a_qr_decomposition(rng):
    A = rng.standard_normal((7, 3))
    Q, R = positive_qr(A)
    np.testing.assert_allclose(Q @ R, A, atol=1e-13)
    np.testing.assert_allclose(Q.T @ Q, np.eye(3), atol=1e-13)
    assert (np.diag(R) > 0).all()
