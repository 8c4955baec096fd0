"""MDDM: its limits, its dimension, its label kernels and its random directions."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel import (
    CCA,
    MDDM,
    metrics,
)
from eigenlabel.labels.similarity import label_correlation, square_root
from eigenlabel.linalg import directions as core_projection
from helpers import centre, labels_of


def span(A):
    return A @ np.linalg.pinv(A)


def test_uncorrelated_at_mu_zero_is_orthonormal(X, rng):
    Y = labels_of(X, rng)
    a = MDDM(4).fit(X, Y)
    b = MDDM(4, projection="uncorrelated", mu=0.0).fit(X, Y)
    np.testing.assert_allclose(a.components_, b.components_, atol=1e-8)
    np.testing.assert_allclose(a.eigenvalues_[:4], b.eigenvalues_[:4])


def test_uncorrelated_at_mu_one_on_whitened_labels_is_cca(rng):
    X = rng.standard_normal((80, 6))
    Y = labels_of(X, rng)
    B = np.linalg.inv(np.cov(Y.T, bias=True) * len(Y))
    a = MDDM(4, projection="uncorrelated", mu=1.0, label_kernel=B).fit(X, Y)
    b = CCA(reg=0.0).fit(X, Y)
    np.testing.assert_allclose(a.eigenvalues_, b.eigenvalues_)
    np.testing.assert_allclose(span(a.transform(X)), span(b.transform(X)), atol=1e-8)


def test_the_dimension_keeps_the_share_of_dependence(rng):
    X = rng.standard_normal((60, 9))
    Y = labels_of(X, rng, 6)
    whole = MDDM(6).fit(X, Y)
    shares = np.cumsum(whole.eigenvalues_) / whole.eigenvalues_.sum()
    for share in (0.1, 0.5, 0.9, 0.999):
        expected = 1 + int((shares < share).sum())
        assert MDDM(variance=share).fit(X, Y).n_components_ == expected
    assert MDDM(variance=1.0).fit(X, Y).n_components_ == 6
    assert MDDM(2).fit(X, Y).n_components_ == 2
    assert MDDM(100).fit(X, Y).n_components_ == 6


def test_the_attribute_hsic_is_the_hsic_of_the_projection(rng):
    X = rng.standard_normal((50, 8))
    Y = labels_of(X, rng)
    for model in (MDDM(2), MDDM(2, projection="uncorrelated"), MDDM(2, kernel="rbf")):
        Z = model.fit_transform(X, Y)
        assert model.hsic_ == pytest.approx(metrics.hsic(Z @ Z.T, Y @ Y.T))


def test_the_complement_is_orthonormal_and_seeded(rng):
    X = rng.standard_normal((40, 9))
    Y = labels_of(X, rng, 3)
    Xc = centre(X)
    for projection, N in (
        ("orthonormal", np.eye(9)),
        ("uncorrelated", 0.5 * Xc.T @ Xc + 0.5 * np.eye(9)),
    ):
        model = MDDM(7, projection=projection, complement=True, random_state=0).fit(X, Y)
        P = model.components_.T
        np.testing.assert_allclose(P.T @ N @ P, np.eye(7), atol=1e-8)
        plain = MDDM(7, projection=projection).fit(X, Y)
        np.testing.assert_allclose(model.components_[:3], plain.components_)
        assert plain.n_components_ == 3
        again = MDDM(7, projection=projection, complement=True, random_state=0).fit(X, Y)
        np.testing.assert_array_equal(model.components_, again.components_)
        np.testing.assert_allclose(model.transform(X), Xc @ P, atol=1e-9)
    assert MDDM(50, complement=True).fit(X, Y).n_components_ == 9
    with pytest.raises(ValueError, match="complement=True needs n_components"):
        MDDM(complement=True).fit(X, Y)


@pytest.mark.parametrize("kind", ["rbf", "rbf_unit", "cosine", "conditional", "shrunk"])
def test_a_named_label_kernel_equals_its_matrix(kind, rng):
    X = rng.standard_normal((50, 8))
    Y = labels_of(X, rng)
    B = label_correlation(Y, kind, 0.7)
    np.testing.assert_allclose(B, B.T)
    np.testing.assert_allclose(np.diag(B), 1)
    named = MDDM(3, label_kernel=kind, label_gamma=0.7).fit(X, Y)
    given = MDDM(3, label_kernel=B).fit(X, Y)
    np.testing.assert_allclose(named.components_, given.components_, atol=1e-8)
    R = square_root(B)
    whole = MDDM(3, label_kernel=Y @ (R @ R.T) @ Y.T).fit(X, Y)
    np.testing.assert_allclose(named.components_, whole.components_, atol=1e-7)


def test_a_wrong_label_kernel_raises_an_error(rng):
    X = rng.standard_normal((20, 3))
    Y = labels_of(X, rng)
    with pytest.raises(ValueError, match="between the 4 labels or between the 20 samples"):
        MDDM(label_kernel=np.eye(5)).fit(X, Y)
    with pytest.raises(ValueError, match="label_kernel must be symmetric"):
        MDDM(label_kernel=np.triu(np.ones((4, 4)))).fit(X, Y)
    with pytest.raises(ValueError, match="no positive eigenvalue"):
        MDDM(label_kernel=-np.eye(4)).fit(X, Y)
    with pytest.raises(ValueError, match="label_kernel must be one of"):
        MDDM(label_kernel="tanh").fit(X, Y)


@pytest.mark.parametrize("mu", [0.0, 0.5, 1.0])
def test_the_complement_in_blocks_is_gram_schmidt_one_by_one(rng, monkeypatch, mu):
    monkeypatch.setattr(core_projection, "BLOCK", 4)
    X = sp.csr_array(rng.standard_normal((8, 15)) * (rng.random((8, 15)) < 0.5))
    Y = labels_of(X.toarray(), rng, 2)
    draws = {"projection": "uncorrelated", "mu": mu, "complement": True}
    model = MDDM(15, **draws, random_state=3).fit(X, Y)
    Xc, drawn = centre(X.toarray()), np.random.RandomState(3)
    N, P = mu * Xc.T @ Xc + (1 - mu) * np.eye(15), model.components_[:2].T
    while P.shape[1] < model.n_components_:
        p = drawn.standard_normal(15)
        for _ in range(3):
            p = p - P @ (P.T @ N @ p)
        P = np.column_stack([P, p / np.sqrt(p @ N @ p)])
    np.testing.assert_allclose(
        model.components_.T, P, atol=1e-6
    )  # the last ones are hard to separate
    assert model.n_components_ == np.linalg.matrix_rank(N) == (7 if mu == 1 else 15)
    fewer = MDDM(6, **draws, random_state=3).fit(X, Y)
    np.testing.assert_allclose(fewer.components_, model.components_[:6], atol=1e-10)


@pytest.mark.parametrize("mu", [0.0, 0.5, 1.0])
def test_the_complement_of_a_kernel_is_that_of_its_feature_space(rng, mu):
    X = rng.standard_normal((40, 9))
    Y = labels_of(X, rng, 3)
    settings = {"projection": "uncorrelated", "mu": mu, "complement": True, "random_state": 0}
    model = MDDM(7, kernel=lambda A, B: A @ B.T, **settings).fit(X, Y)
    assert model.dual_coef_.shape == (40, 7)
    Xc = centre(X)
    P = Xc.T @ (model.dual_coef_ - model.dual_coef_.mean(axis=0))
    np.testing.assert_allclose(model.transform(X), Xc @ P, atol=1e-9)
    N = mu * Xc.T @ Xc + (1 - mu) * np.eye(9)
    np.testing.assert_allclose(P.T @ N @ P, np.eye(7), atol=1e-9)
    first = MDDM(3, kernel=lambda A, B: A @ B.T, projection="uncorrelated", mu=mu).fit(X, Y)
    np.testing.assert_allclose(model.dual_coef_[:, :3], first.dual_coef_, atol=1e-12)
    every = MDDM(50, kernel=lambda A, B: A @ B.T, **settings).fit(X, Y)
    assert every.n_components_ == 9, "the rank of the feature space"
    dual = MDDM(30, kernel="rbf", complement=True, random_state=0).fit(X, Y)
    assert dual.transform(X).shape == (40, 30)
    K = dual._kernel(X, X)
    A = dual.dual_coef_ - dual.dual_coef_.mean(axis=0)
    np.testing.assert_allclose(A.T @ K @ A, np.eye(30), atol=1e-7)  # weak axes of the kernel


@pytest.mark.parametrize("size", [1e-6, 1e6, 1e9])
def test_the_complement_goes_beyond_the_rows_of_large_data(rng, size):
    X = size * rng.standard_normal((30, 100))
    Y = labels_of(X, rng, 5)
    model = MDDM(60, projection="uncorrelated", complement=True, random_state=0).fit(X, Y)
    assert model.n_components_ == 60
    P, Z = model.components_.T, model.transform(X)
    # weights are known to eps, scores to eps times the size of X
    atol = 1e-14 * max(size, 1.0)
    np.testing.assert_allclose(0.5 * Z.T @ Z + 0.5 * P.T @ P, np.eye(60), atol=atol)


def test_random_directions_count_as_directions(rng):
    X = rng.standard_normal((50, 7))
    model = MDDM(2, complement=True, random_state=0).fit(X, np.ones((50, 3), int))
    assert model.transform(X).shape == (50, 2)


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"label_kernel": None}, ValueError, "label_kernel must be one of 'linear'"),
        ({"label_kernel": object()}, TypeError, "label_kernel must be one of .* or a matrix"),
        ({"complement": "no"}, TypeError, "complement must be True or False, got 'no'"),
        ({"random_state": "a"}, ValueError, "'a' cannot be used to seed"),
    ],
)
def test_wrong_parameters_raise_an_error(parameters, error, words, rng):
    with pytest.raises(error, match=words):
        MDDM(2, **parameters).fit(rng.standard_normal((20, 4)), rng.integers(0, 2, (20, 3)))
