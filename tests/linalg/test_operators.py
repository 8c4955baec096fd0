"""Centred matrices as products, against dense matrices."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.linalg import operators
from eigenlabel.linalg.operators import CentredOperator


def forms(X):
    return [X, sp.csr_matrix(X), sp.csr_array(X)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("centre", [False, True])
def test_products_equal_the_dense_matrix(X, rng, weighted, centre):
    w = rng.uniform(0.5, 2, len(X)) if weighted else None
    mean = np.average(X, axis=0, weights=w) if centre else np.zeros(X.shape[1])
    Xc = X - mean
    W = np.eye(len(X)) if w is None else np.diag(w)
    B, A = rng.standard_normal((X.shape[1], 3)), rng.standard_normal((len(X), 2))
    for form in forms(X):
        op = CentredOperator(form, w, centre)
        np.testing.assert_allclose(op.mean, mean, atol=1e-14)
        np.testing.assert_allclose(op.matmat(B), Xc @ B, atol=1e-12)
        np.testing.assert_allclose(op.rmatmat(A), Xc.T @ A, atol=1e-12)
        np.testing.assert_allclose(op.toarray(), Xc, atol=1e-12)
        np.testing.assert_allclose(op.gram(), Xc @ Xc.T, atol=1e-12)
        np.testing.assert_allclose(op.covariance(), Xc.T @ W @ Xc, atol=1e-11)


@pytest.mark.parametrize("weighted", [False, True])
def test_columns_and_their_products_equal_the_dense_matrix(X, rng, weighted):
    w = rng.uniform(0.5, 2, len(X)) if weighted else np.ones(len(X))
    Xc = X - np.average(X, axis=0, weights=w)
    first, second = np.array([2, 0]), np.array([1, 3, 2])
    for form in forms(X):
        op = CentredOperator(form, w if weighted else None)
        a, b = op.columns(first), op.columns(second)
        assert a.shape == (len(X), 2)
        np.testing.assert_allclose(a.matmat(np.eye(2)), Xc[:, first], atol=1e-12)
        np.testing.assert_allclose(a.mean, op.mean[first])
        expected = Xc[:, first].T @ (w[:, None] * Xc[:, second])
        np.testing.assert_allclose(a.cross_covariance(b), expected, atol=1e-11)
        np.testing.assert_allclose(op.column_squares(), w @ Xc**2, atol=1e-11)
        assert op.squared_norm() == pytest.approx((w @ Xc**2).sum(), abs=1e-11)


@pytest.mark.parametrize("weighted", [False, True])
def test_products_of_two_sparse_matrices_are_centred(rng, weighted):
    X, Z = (rng.standard_normal((12, k)) * (rng.random((12, k)) < 0.6) for k in (5, 4))
    w = rng.uniform(0.5, 2, 12) if weighted else np.ones(12)
    Xc, Zc = (A - np.average(A, axis=0, weights=w) for A in (X, Z))
    expected = Xc.T @ (w[:, None] * Zc)
    for a in forms(X):
        for b in forms(Z):
            one, other = (CentredOperator(f, w if weighted else None) for f in (a, b))
            np.testing.assert_allclose(one.cross_covariance(other), expected, atol=1e-12)


def test_the_two_products_are_adjoint(X, rng):
    u, v = rng.standard_normal((X.shape[1], 1)), rng.standard_normal((len(X), 1))
    for form in forms(X):
        op = CentredOperator(form)
        np.testing.assert_allclose(op.matmat(u).T @ v, u.T @ op.rmatmat(v), atol=1e-11)


def test_blocks_make_no_difference(rng, monkeypatch):
    X = rng.standard_normal((50, 20))
    whole = [CentredOperator(f) for f in forms(X)]
    expected = [(o.gram(), o.covariance(), o.mean) for o in whole]
    monkeypatch.setattr(operators, "BLOCK_BYTES", 8 * 70)
    for op, (gram, covariance, mean) in zip(
        [CentredOperator(f) for f in forms(X)], expected, strict=True
    ):
        np.testing.assert_allclose(op.gram(), gram, atol=1e-12)
        np.testing.assert_allclose(op.covariance(), covariance, atol=1e-12)
        np.testing.assert_allclose(op.mean, mean, atol=1e-14)


def test_sparse_outer_meets_every_strip(rng):
    A = sp.random_array((700, 40), density=0.1, rng=rng, format="csr")
    np.testing.assert_allclose(
        operators._sparse_outer(A), (A @ A.T).toarray(), rtol=1e-14, atol=1e-14
    )


def test_the_mirror_of_an_upper_triangle_meets_every_tile(rng, monkeypatch):
    monkeypatch.setattr(operators, "TILE", 3)
    A = rng.standard_normal((8, 8))  # three tiles, the last one smaller
    upper = np.triu(A)
    np.testing.assert_array_equal(operators.mirror(A), upper + np.triu(upper, 1).T)


def test_a_large_offset_in_a_full_sparse_column_costs_no_digits(rng):
    # A time stamp: 1.7e9 with a spread of 1. Rank-one corrections would leave errors of order 100.
    X = rng.standard_normal((30, 3))
    shifted = X + np.array([1.7e9, 0, 0])
    op = CentredOperator(sp.csr_array(shifted))
    exact = shifted - shifted.mean(axis=0)
    np.testing.assert_allclose(op.gram(), exact @ exact.T, atol=1e-5)  # eps * 1.7e9 = 4e-7
    np.testing.assert_allclose(op.covariance(), exact.T @ exact, atol=1e-4)


def test_float32_keeps_its_memory_and_float64_digits(rng):
    X = rng.standard_normal((40, 30)).astype(np.float32)
    X[rng.integers(0, 40, 30), np.arange(30)] = 0  # no sparse column stores every row
    exact = X.astype(float) - X.astype(float).mean(axis=0)
    for form in (X, sp.csr_array(X)):
        op = CentredOperator(form)
        assert op._X.dtype == np.float32
        np.testing.assert_allclose(op.gram(), exact @ exact.T, atol=1e-12)


def test_rows_keep_the_mean_of_all(rng):
    X, w = rng.standard_normal((20, 4)), rng.uniform(1, 2, 20)
    index = np.array([3, 7, 8])
    for form in forms(X):
        part = CentredOperator(form, w).rows(index)
        Xc = X - np.average(X, axis=0, weights=w)
        np.testing.assert_allclose(part.matmat(np.eye(4)), Xc[index], atol=1e-13)
        np.testing.assert_allclose(
            part.covariance(), Xc[index].T @ np.diag(w[index]) @ Xc[index], atol=1e-12
        )


def test_the_caller_keeps_its_matrix(rng):
    X = sp.csr_array(rng.standard_normal((10, 3)) + 5)
    before = X.copy()
    op = CentredOperator(X)
    op.gram(), op.covariance()
    assert (before != X).nnz == 0


def test_a_full_sparse_column_is_centred_to_the_last_digit(rng):
    X = rng.standard_normal((30, 3)) + np.array([1.7e9, 0, 0])
    op = CentredOperator(sp.csr_array(X))
    np.testing.assert_allclose(op.rmatmat(np.ones((30, 1))), 0, atol=1e-12)


@pytest.mark.parametrize("threads", ["1", "2", "7"])
@pytest.mark.parametrize("transposed", [False, True])
def test_threaded_products_are_the_products(rng, monkeypatch, threads, transposed):
    A = sp.random_array((60, 40), density=0.1, rng=rng, format="csr")
    A = A.T if transposed else A
    monkeypatch.setattr(operators, "PARALLEL", 1)
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    monkeypatch.setattr(operators, "STRIP_NUMBERS", 64)  # several strips for each thread
    for columns in (1, 5, operators.WIDE):
        # Other numbers for each case: freed memory may still hold the product of the case before.
        B = rng.standard_normal((A.shape[1], columns)) * int(threads)
        found = operators.sparse_product(A, B)
        np.testing.assert_allclose(found, A.toarray() @ B, atol=1e-13)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_consecutive_rows_are_those_of_an_index(rng, make):
    X = make(np.where(rng.random((30, 8)) < 0.2, rng.standard_normal((30, 8)), 0.0))
    for rows in (slice(0, 30), slice(0, 1), slice(7, 19), slice(29, 30), slice(4, 4)):
        found = operators.consecutive_rows(X, rows)
        assert type(found) is type(X)
        assert found.shape == X[rows].shape
        same = found == X[rows] if make is np.asarray else (found != X[rows]).nnz == 0
        assert np.all(same)
