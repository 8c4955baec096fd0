"""MLSI against its eigenproblem."""

import numpy as np
import scipy.linalg as sl

from eigenlabel import (
    MLSI,
    PCA,
)
from helpers import centre, labels_of


def test_mlsi_equals_its_eigenproblem(rng):
    X = rng.standard_normal((40, 7))
    Y = labels_of(X, rng)
    Xc, Yc = centre(X), centre(Y)
    Sxx, Sxy = Xc.T @ Xc, Xc.T @ Yc
    A = 0.7 * Sxx @ Sxx + 0.3 * Sxy @ Sxy.T
    B = Sxx + 0.5 * np.eye(7)
    model = MLSI(beta=0.3, reg=0.5).fit(X, Y)
    P = model.components_.T
    np.testing.assert_allclose(model.eigenvalues_, sl.eigh(A, B, eigvals_only=True)[::-1])
    np.testing.assert_allclose(A @ P, B @ P * model.eigenvalues_, atol=1e-7 * np.abs(A).max())
    np.testing.assert_allclose(np.linalg.norm(P, axis=0), 1)
    wide = rng.standard_normal((15, 40))
    Yw = labels_of(wide, rng)
    P = MLSI(3).fit(wide, Yw).components_.T
    Sxx, Sxy = centre(wide).T @ centre(wide), centre(wide).T @ centre(Yw)
    A, B = 0.5 * Sxx @ Sxx + 0.5 * Sxy @ Sxy.T, Sxx + 1e-3 * np.eye(40)
    values = sl.eigh(A, B, eigvals_only=True)[::-1][:3]
    np.testing.assert_allclose(A @ P, B @ P * values, atol=1e-7 * np.abs(A).max())


def test_mlsi_without_labels_finds_the_principal_components(rng):
    X = rng.standard_normal((40, 5)) * np.linspace(3, 1, 5)
    found = MLSI(3, beta=0.0, reg=0.0).fit(X, labels_of(X, rng)).components_
    np.testing.assert_allclose(np.abs(found), np.abs(PCA(3).fit(X).components_), atol=1e-8)
