"""Principal components against scikit-learn and against each other."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError
from sklearn import decomposition
from sklearn.metrics.pairwise import rbf_kernel

from eigenlabel import (
    PCA,
)
from eigenlabel.estimators.projection import pca
from helpers import centre


def test_pca_equals_scikit_learn(X):
    ours, theirs = PCA().fit(X), decomposition.PCA(svd_solver="full").fit(X)
    r = ours.n_components_
    assert r == np.linalg.matrix_rank(centre(X))
    np.testing.assert_allclose(ours.eigenvalues_, theirs.singular_values_[:r] ** 2)
    np.testing.assert_allclose(
        np.abs(ours.transform(X)), np.abs(theirs.transform(X)[:, :r]), atol=1e-7
    )
    sparse = PCA().fit(sp.csr_array(X))
    np.testing.assert_allclose(sparse.transform(sp.csr_array(X)), ours.transform(X), atol=1e-7)


def test_kernel_pca_is_the_centred_kernels_eigenvectors(rng):
    X = rng.standard_normal((20, 3))
    H = np.eye(20) - 1 / 20
    Q = H @ rbf_kernel(X, gamma=0.5) @ H
    model = PCA(4, kernel="rbf", gamma=0.5).fit(X)
    Z = model.transform(X)
    np.testing.assert_allclose(Q @ Z, Z * model.eigenvalues_[:4], atol=1e-8)
    np.testing.assert_allclose((Z * Z).sum(axis=0), model.eigenvalues_[:4])


@pytest.mark.parametrize("shape", [(200, 90), (90, 200)])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_few_principal_components_equal_the_first_of_all(rng, monkeypatch, shape, form):
    X = rng.standard_normal(shape) * (rng.random(shape) < 0.3) + rng.random(shape[1])
    calls = []
    monkeypatch.setattr(pca, "factorise_samples", lambda *_: calls.append(1))
    few = PCA(3).fit(form(X))
    assert not calls
    monkeypatch.undo()
    every = PCA().fit(form(X))
    np.testing.assert_allclose(few.eigenvalues_, every.eigenvalues_[:3])
    np.testing.assert_allclose(few.components_, every.components_[:3], atol=1e-9)
    np.testing.assert_allclose(few.transform(form(X)), every.transform(form(X))[:, :3], atol=1e-8)
    np.testing.assert_array_equal(PCA(3).fit(form(X)).components_, few.components_)
    line = np.outer(rng.standard_normal(200), rng.standard_normal(90))
    assert PCA(3).fit(line).n_components_ == 1
    with pytest.warns(UserWarning, match="PCA found no direction"):
        assert PCA(2).fit(np.ones((70, 60))).n_components_ == 0

    def fail(*_):
        raise ArpackError(3)

    monkeypatch.setattr(pca, "leading_axes", fail)
    np.testing.assert_allclose(PCA(3).fit(form(X)).components_, every.components_[:3], atol=1e-9)


def test_principal_components_of_a_smooth_spectrum_are_uncorrelated(rng):
    Q = np.linalg.qr(rng.standard_normal((300, 300)))[0]
    X = rng.standard_normal((700, 300)) * np.logspace(0, -5.5, 300) @ Q.T
    Z = PCA().fit(X).transform(X)
    # The smallest eigenvalues are 1e-11 of the largest and have an error of about 1e-15.
    np.testing.assert_allclose(np.corrcoef(Z, rowvar=False), np.eye(Z.shape[1]), atol=1e-3)
