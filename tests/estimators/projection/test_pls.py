"""Partial least squares against scikit-learn and SIMPLS written out."""

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.sparse as sp
from sklearn import cross_decomposition

from eigenlabel import (
    MDDM,
    PLS,
)
from helpers import centre, labels_of


def test_pls_of_one_label_equals_scikit_learn(X, rng):
    y = labels_of(X, rng, 1)
    theirs = cross_decomposition.PLSRegression(3, scale=False).fit(X, y.astype(float))
    scores = theirs.transform(X)
    ours = PLS(3).fit(X, y).transform(X)
    np.testing.assert_allclose(
        np.abs(ours), np.abs(scores / np.linalg.norm(scores, axis=0)), atol=1e-8
    )


def test_pls_scores_are_orthonormal_and_begin_with_mddm(X, rng):
    Y = labels_of(X, rng)
    model = PLS().fit(X, Y)
    Z = model.transform(X)
    np.testing.assert_allclose(Z.T @ Z, np.eye(4), atol=1e-8)
    first = MDDM(1).fit(X, Y).transform(X)
    np.testing.assert_allclose(np.abs(Z[:, :1]), np.abs(first / np.linalg.norm(first)), atol=1e-8)
    # The k-th maximises the covariance among scores uncorrelated with the first k - 1.
    Xc, Yc = centre(X), centre(Y)
    left = Xc - Z[:, :1] @ (Z[:, :1].T @ Xc)
    V = sl.null_space((Xc.T @ Z[:, :1]).T)
    best = np.linalg.svd(V.T @ Xc.T @ Yc, compute_uv=False)[0] ** 2
    assert model.eigenvalues_[1] == pytest.approx(best)
    assert np.linalg.norm(left) > 0


def naive_pls(Xc, Yc, count):
    """SIMPLS written out: singular vectors of what is left of ``Xc'Yc``."""
    S, V, weights, values = Xc.T @ Yc, np.zeros((Xc.shape[1], 0)), [], []
    for _ in range(count):
        U, s, _ = np.linalg.svd(S, full_matrices=False)
        t = Xc @ U[:, 0]
        weights.append(U[:, 0] / np.linalg.norm(t))
        values.append(s[0] ** 2)
        V = np.linalg.qr(np.column_stack([V, Xc.T @ t]))[0]
        S = S - V @ (V.T @ S)
    return np.array(weights), np.array(values)


@pytest.mark.parametrize(("shape", "least"), [((60, 9), 1e-3), ((20, 45), 1e-16)])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_pls_equals_simpls_written_out(rng, shape, least, form):
    X = rng.standard_normal(shape) * np.maximum(np.geomspace(10, least, shape[1]), 1e-4)
    Y = labels_of(X, rng, 3)
    model = PLS(8).fit(form(X), Y)
    weights, values = naive_pls(centre(X), centre(Y), 8)
    assert values[-1] < 1e-4 * values[0]  # the last ones stand on the rounding of the first
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-6)
    weights *= np.sign((weights * model.components_).sum(axis=1, keepdims=True))
    for ours, theirs in zip(model.components_, weights, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-6 * np.abs(theirs).max())


def test_kernel_pls_equals_pls_of_features_with_that_kernel(rng):
    X = rng.standard_normal((40, 6)) * np.geomspace(10, 1e-2, 6)
    Y, new = labels_of(X, rng), rng.standard_normal((7, X.shape[1]))
    linear = PLS(5).fit(X, Y)
    assert linear.eigenvalues_[-1] < 1e-4 * linear.eigenvalues_[0]
    for model, train, test in (
        (PLS(5, kernel="precomputed"), X @ X.T, new @ X.T),
        (PLS(5, kernel="poly", gamma=1.0, degree=1, coef0=0), X, new),
    ):
        model.fit(train, Y)
        ours, theirs = np.abs(model.transform(test)), np.abs(linear.transform(new))
        # a kernel matrix knows squared lengths to eps of the largest one
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(model.eigenvalues_, linear.eigenvalues_, rtol=1e-6)


def test_pls_stops_when_nothing_is_left_to_explain(rng):
    X = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 9))
    Y = labels_of(X, rng)
    assert PLS(8).fit(X, Y).n_components_ == 3
    assert PLS(8, kernel="precomputed").fit(X @ X.T, Y).n_components_ == 3
