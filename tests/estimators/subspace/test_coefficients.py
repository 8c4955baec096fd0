"""Weights: full and factored ones, of features and of kernel values."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.estimators.subspace import coefficients
from eigenlabel.estimators.subspace.coefficients import Domain, Factored, Full, Spanned
from eigenlabel.kernels.kernel import Kernel


@pytest.mark.parametrize("kernel", [Kernel("linear"), Kernel("rbf", 0.5)])
def test_factored_weights_score_like_their_product(rng, kernel):
    X, Z = rng.standard_normal((20, 4)), rng.standard_normal((7, 4))
    basis, V = rng.standard_normal((4 if kernel.linear else 20, 3)), rng.standard_normal((3, 5))
    domain = Domain(kernel, X.dtype, X)
    intercept, origin = rng.standard_normal(5), rng.standard_normal(len(basis))
    factored = Factored(intercept, domain.map(basis), origin, V)
    full = Full(intercept, domain.map(basis), origin, domain.map(basis @ V))
    features = Z if kernel.linear else kernel.values(Z, X)
    np.testing.assert_allclose(full.scores(Z), features @ basis @ V + intercept, atol=1e-12)
    np.testing.assert_allclose(factored.scores(Z), full.scores(Z), atol=1e-12)
    np.testing.assert_allclose(factored.full(np.inf), full.full(0.0), atol=1e-12)
    np.testing.assert_allclose(full.embed(Z), (features - origin) @ basis, atol=1e-12)
    assert full.label_weights is None
    assert factored.label_weights is V


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("kernel", [Kernel("linear"), Kernel("rbf", 0.5)])
def test_scores_of_pieces_are_those_of_all_rows(rng, monkeypatch, kernel, make):
    X, Z = make(rng.standard_normal((20, 4))), make(rng.standard_normal((11, 4)))
    domain = Domain(kernel, X.dtype, X)
    U, b = rng.standard_normal((4 if kernel.linear else 20, 3)), rng.standard_normal(3)
    full = Full(b, domain.map(U), np.zeros(len(U)), domain.map(U))
    monkeypatch.setattr(coefficients, "CACHE_NUMBERS", 12)
    for least, rows in ((1, 4), (7, 7), (100, 11)):
        monkeypatch.setattr(coefficients, "LEAST_ROWS", least)
        pieces = list(full.scores_by_rows(Z))
        assert len(pieces[0]) == (rows if kernel.linear else 11)
        np.testing.assert_allclose(np.vstack(pieces), full.scores(Z), atol=1e-13)


def test_the_product_of_factors_must_fit_in_memory(rng):
    domain = Domain(Kernel("linear"), np.dtype(float))
    basis, V = rng.standard_normal((4, 3)), rng.standard_normal((3, 5))
    factored = Factored(np.zeros(5), domain.map(basis), np.zeros(4), V)
    with pytest.raises(MemoryError, match=r"coef_ of 4 x 5 numbers would take 160 bytes"):
        factored.full(159.0)
    assert factored.full(160.0).shape == (5, 4)


def test_weights_have_the_precision_of_the_samples(rng):
    domain = Domain(Kernel("linear"), np.dtype(np.float32))
    assert domain.map(rng.standard_normal((4, 3))).array.dtype == np.float32


def test_a_basis_that_waits_is_the_orthonormal_basis_of_the_combinations(rng):
    U, W = rng.standard_normal((6, 5)), np.linalg.qr(rng.standard_normal((5, 2)))[0]
    X, V = rng.standard_normal((4, 6)), rng.standard_normal((2, 3))
    basis = Domain(Kernel("linear"), np.dtype(float)).lazy_basis(U, W)
    assert isinstance(basis, Spanned)
    assert basis.size == 6
    assert not basis.ready
    Theta = basis.array
    assert basis.ready
    np.testing.assert_allclose(Theta @ Theta.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(Theta.T @ (Theta @ U @ W), U @ W, atol=1e-12)
    np.testing.assert_allclose(basis.product(X), X @ Theta.T, atol=1e-12)
    np.testing.assert_allclose(basis.image(X[0]), Theta @ X[0], atol=1e-12)
    np.testing.assert_allclose(basis.combine(V), V.T @ Theta, atol=1e-12)


@pytest.mark.parametrize("domain", [(Kernel("rbf", 0.5), float), (Kernel("linear"), np.float32)])
def test_the_basis_of_a_kernel_or_of_rounded_weights_does_not_wait(domain):
    assert Domain(domain[0], np.dtype(domain[1])).lazy_basis(np.eye(3), np.eye(3)) is None
