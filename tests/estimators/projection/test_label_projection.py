"""The problem that label projections share, against naive generalised eigenproblems."""

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from eigenlabel import (
    CCA,
    LDA,
    MDDM,
    OPLS,
    HypergraphSpectral,
    OrthogonalCentroid,
)
from helpers import centre, labels_of


def factors(Y):
    """Return every label factor T written out sample by sample."""
    n, m = Y.shape
    e = Y.sum(axis=0)
    clique, star, zhou = np.zeros((3, n, m))
    for i in range(n):
        for j in range(m):
            clique[i, j] = Y[i, j] / np.sqrt(sum(Y[i, k] * e[k] for k in range(m)) or 1)
            star[i, j] = Y[i, j] / e[j] / np.sqrt(sum(Y[i, k] / e[k] for k in range(m)) or 1)
            zhou[i, j] = Y[i, j] / np.sqrt(Y[i].sum() or 1) / np.sqrt(e[j])
    Yc = centre(Y.astype(float))
    return {
        "labels": Y.astype(float),
        "whitened": Yc @ sl.fractional_matrix_power(Yc.T @ Yc, -0.5),
        "indicator": Y / np.sqrt(e),
        "clique": clique,
        "star": star,
        "zhou": zhou,
    }


CASES = [
    (MDDM(4), "labels", (0.0, 1.0)),
    (MDDM(4, projection="uncorrelated", mu=0.3), "labels", (0.3, 0.7)),
    (CCA(reg=0.1), "whitened", (1.0, 0.1)),
    (OPLS(reg=0.1), "labels", (1.0, 0.1)),
    (LDA(reg=0.1), "indicator", (1.0, 0.1)),
    (OrthogonalCentroid(), "indicator", (0.0, 1.0)),
    *(
        (HypergraphSpectral(laplacian=kind, reg=0.1), kind, (1.0, 0.1))
        for kind in ("clique", "star", "zhou")
    ),
]


IDS = ["MDDM_p", "MDDM_f", "CCA", "OPLS", "LDA", "centroid", "clique", "star", "zhou"]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("model", "factor", "constraint"), CASES, ids=IDS)
def test_linear_equals_the_generalised_eigenproblem(model, factor, constraint, X, form, rng):
    Y = labels_of(X, rng)
    Xc, T = centre(X), centre(factors(Y)[factor])
    scale, ridge = constraint
    N = scale * Xc.T @ Xc + ridge * np.eye(X.shape[1])
    A = Xc.T @ T @ T.T @ Xc
    values = sl.eigh(A, N, eigvals_only=True)[::-1]
    model.fit(form(X), Y)
    P = model.components_.T
    r = model.n_components_
    np.testing.assert_allclose(P.T @ N @ P, np.eye(r), atol=1e-8)
    np.testing.assert_allclose(model.eigenvalues_[:r], values[:r], rtol=1e-8)
    np.testing.assert_allclose(A @ P, N @ P * values[:r], atol=1e-7 * np.abs(A).max())
    assert r == np.linalg.matrix_rank(T), "all directions that the labels have"
    np.testing.assert_allclose(model.transform(form(X)), Xc @ P, atol=1e-9)


@pytest.mark.parametrize(("model", "factor", "constraint"), CASES, ids=IDS)
def test_kernel_equals_the_dual_eigenproblem(model, factor, constraint, rng):
    X = rng.standard_normal((40, 5))
    Y = labels_of(X, rng)
    K = rbf_kernel(X, gamma=0.3)
    H = np.eye(40) - 1 / 40
    Q, T = H @ K @ H, centre(factors(Y)[factor])
    scale, ridge = constraint
    model = model.__class__(**{**model.get_params(), "kernel": "rbf", "gamma": 0.3}).fit(X, Y)
    # Eq. 20 of the paper: Q L Q c = lambda (scale Q Q + ridge Q) c.
    C = H @ model.dual_coef_
    N = scale * Q @ Q + ridge * Q
    values = model.eigenvalues_[: model.n_components_]
    np.testing.assert_allclose(C.T @ N @ C, np.eye(model.n_components_), atol=1e-8)
    np.testing.assert_allclose(Q @ T @ T.T @ Q @ C, N @ C * values, atol=1e-8)
    total = np.trace(np.linalg.pinv(N, rcond=1e-12, hermitian=True) @ Q @ T @ T.T @ Q)
    np.testing.assert_allclose(values.sum(), total, rtol=1e-5)  # the pseudo-inverse is ill-posed
    new = rng.standard_normal((6, 5))
    k = rbf_kernel(new, X, gamma=0.3)
    np.testing.assert_allclose(model.transform(new), (k - K.mean(axis=0)) @ C, atol=1e-8)
    pre = model.__class__(**{**model.get_params(), "kernel": "precomputed"}).fit(K, Y)
    np.testing.assert_allclose(np.abs(pre.transform(k)), np.abs(model.transform(new)), atol=1e-7)


@pytest.mark.parametrize("projection", [LDA(), OrthogonalCentroid(), HypergraphSpectral(), MDDM()])
def test_constant_labels_leave_no_direction(projection, rng):
    X = rng.standard_normal((50, 7))
    constant = np.column_stack([np.zeros(50, int), np.ones(50, int)])
    with pytest.warns(UserWarning, match="found no direction: the features or the labels do not"):
        assert projection.fit(X, constant).n_components_ == 0
    assert projection.transform(X).shape == (50, 0)
