"""Hat matrices as products, against their definitions."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.linalg.hats import (
    CholeskySystem,
    IndicatorHat,
    KernelHat,
    LinearHat,
    WideHat,
    centred_kernel,
)
from eigenlabel.linalg.operators import CentredOperator


def make_hat(kind, X, ridge, centre):
    if kind == "tall":
        return LinearHat(CentredOperator(X, centre=centre), ridge, centre)
    if kind == "wide":
        return WideHat(CentredOperator(X, centre=centre), ridge, centre)
    if not centre:
        return KernelHat(CholeskySystem(X @ X.T), ridge, False)
    factor, row_mean = centred_kernel(X @ X.T)
    return KernelHat(factor, ridge, True, row_mean)


@pytest.mark.parametrize("kind", ["tall", "wide", "kernel"])
@pytest.mark.parametrize("centre", [False, True])
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_hats_are_those_of_ridge_regression(X, rng, kind, centre, ridge):
    n = len(X)
    Xc = X - X.mean(axis=0) if centre else X
    H = Xc @ np.linalg.pinv(Xc.T @ Xc + ridge * np.eye(X.shape[1]), rcond=1e-12) @ Xc.T
    H += np.full((n, n), 1 / n) if centre else 0.0
    hat, B = make_hat(kind, X, ridge, centre), rng.standard_normal((n, 2))
    np.testing.assert_allclose(hat.apply(B), H @ B, atol=1e-8)
    np.testing.assert_allclose(hat.diagonal(), np.diag(H), atol=1e-8)
    C, b = hat.coefficients(B)
    fitted = (X @ X.T if kind == "kernel" else X) @ C + b
    np.testing.assert_allclose(fitted, H @ B, atol=1e-7)
    if kind == "tall":
        F = hat.root()
        np.testing.assert_allclose(F @ F.T, H, atol=1e-8)
        assert hat.dense() is None
    else:
        np.testing.assert_allclose(hat.dense(), H, atol=1e-8)
        with pytest.raises(NotImplementedError, match="root"):
            hat.root()


@pytest.mark.parametrize("shift", [0.0, 1e-3, 1.0])
@pytest.mark.parametrize("rank", [3, 8])
def test_a_system_solves_multiplies_and_inverts(rng, shift, rank):
    F = rng.standard_normal((8, rank))
    K, B = F @ F.T, rng.standard_normal((8, 2))
    inverse = np.linalg.pinv(K + shift * np.eye(8), rcond=1e-12) if shift == 0 else None
    inverse = np.linalg.inv(K + shift * np.eye(8)) if inverse is None else inverse
    system = CholeskySystem(K.copy())
    size = np.abs(inverse).max()
    np.testing.assert_allclose(system.solve(B, [shift])[0], inverse @ B, atol=1e-8 * size)
    np.testing.assert_allclose(system.matmat(B), K @ B, atol=1e-12)
    np.testing.assert_allclose(system.inverse(shift), inverse, atol=1e-8 * size)
    R = system.inverse_root(shift)
    np.testing.assert_allclose(R @ R.T, inverse, atol=1e-8 * size)


def test_an_indicator_has_the_means_of_its_categories(rng):
    place = np.array([0, 1, 0, 2, 1, 0])
    G = sp.csr_array((np.ones(6), (np.arange(6), place)), shape=(6, 3))
    B, hat = rng.standard_normal((6, 2)), IndicatorHat(G)
    expected = np.stack([B[place == k].mean(axis=0) for k in place])
    np.testing.assert_allclose(hat.apply(B), expected)
    np.testing.assert_allclose(hat.diagonal(), 1 / np.bincount(place)[place])
    with pytest.raises(NotImplementedError, match="sparse"):
        hat.root()


def test_a_cholesky_system_multiplies_solves_and_inverts(rng):
    """Products, solves and inverses from one array that holds matrix and factor."""
    A = rng.standard_normal((20, 12))
    K, B = A @ A.T, rng.standard_normal((20, 3))
    kernel = CholeskySystem(K.copy())
    for shift in (0.5, 0.1, 0.5):
        solved = kernel.solve(B, [shift])[0]
        np.testing.assert_allclose((K + shift * np.eye(20)) @ solved, B, atol=1e-10)
        np.testing.assert_allclose(kernel.matmat(B), K @ B, atol=1e-10)
        np.testing.assert_allclose(
            kernel.inverse(shift), np.linalg.inv(K + shift * np.eye(20)), atol=1e-10
        )
    np.testing.assert_allclose(kernel.solve(B, [0.0])[0], np.linalg.pinv(K) @ B, atol=1e-9)
    np.testing.assert_allclose(kernel.inverse(0.0), np.linalg.pinv(K), atol=1e-9)
    for shift in (0.3, 0.0):
        R = CholeskySystem(K.copy()).inverse_root(shift)
        wanted = np.linalg.pinv(K) if shift == 0 else np.linalg.inv(K + shift * np.eye(20))
        np.testing.assert_allclose(R @ R.T, wanted, atol=1e-9)
    assert kernel._A.nbytes == 8 * 20 * 20


@pytest.mark.parametrize("ridge", [0.0, 0.4])
@pytest.mark.parametrize("kind", ["tall", "wide", "kernel", "plain"])
def test_hats_equal_the_dense_ones(kind, ridge, rng):
    d = 5 if kind == "tall" else 90
    X = rng.standard_normal((60, 3)) @ rng.standard_normal((3, d)) + 2.0
    X += 0.5 * rng.standard_normal((60, d))
    K, B = X @ X.T, rng.standard_normal((60, 4))
    if kind == "tall":
        hat = LinearHat(CentredOperator(X), ridge)
    elif kind == "wide":
        hat = WideHat(CentredOperator(X), ridge)
    elif kind == "kernel":
        factor, row_mean = centred_kernel(K)
        hat = KernelHat(factor, ridge, True, row_mean)
    else:
        hat = KernelHat(CholeskySystem(K.copy()), ridge or 1.0)
    ridge = ridge or (1.0 if kind == "plain" else 0.0)
    A = np.c_[X, np.ones(60)]
    penalty = np.diag([ridge] * X.shape[1] + [0.0])
    H = A @ np.linalg.pinv(A.T @ A + penalty) @ A.T
    np.testing.assert_allclose(hat.apply(B), H @ B, atol=1e-9)
    np.testing.assert_allclose(hat.diagonal(), np.diag(H), atol=1e-9)
    if hat.dense() is not None:
        np.testing.assert_allclose(hat.dense(), H, atol=1e-9)
    if hat.rank is not None:
        np.testing.assert_allclose(hat.root() @ hat.root().T, H, atol=1e-9)
    C, b = hat.coefficients(B)
    design = X if kind in ("tall", "wide") else K
    np.testing.assert_allclose(design @ C + b, H @ B, atol=1e-8)


def test_a_constant_kernel_fits_the_mean(rng):
    B = rng.standard_normal((9, 2)) + 1.0
    for ridge in (0.0, 0.5):
        factor, row_mean = centred_kernel(np.full((9, 9), 3.0))
        hat = KernelHat(factor, ridge, True, row_mean)
        np.testing.assert_allclose(hat.apply(B), np.tile(B.mean(axis=0), (9, 1)), atol=1e-12)
