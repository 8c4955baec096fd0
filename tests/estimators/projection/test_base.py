"""What holds for every projection: invariances, types, planted subspaces."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from eigenlabel import (
    CCA,
    LDA,
    LPP,
    MDDM,
    MLSI,
    OPLS,
    PCA,
    PLS,
    HypergraphSpectral,
    MLkNN,
    OrthogonalCentroid,
)
from eigenlabel.datasets import make_shared_subspace
from helpers import labels_of

ALL = [
    MDDM(2),
    MDDM(2, projection="uncorrelated"),
    CCA(2, reg=0.1),
    OPLS(2, reg=0.1),
    LDA(2, reg=0.1),
    OrthogonalCentroid(2),
    HypergraphSpectral(2, reg=0.1),
    PCA(2),
    PLS(2),
    MLSI(2),
    LPP(2),
]


@pytest.mark.parametrize("model", ALL, ids=lambda m: type(m).__name__)
def test_rotated_features_and_permuted_labels_change_nothing(model, rng):
    X = rng.standard_normal((40, 6))
    Y = labels_of(X, rng)
    R = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    a = model.fit(X, Y).transform(X)
    b = model.fit(X @ R, Y[:, [2, 0, 3, 1]]).transform(X @ R)
    np.testing.assert_allclose(np.abs(a), np.abs(b), atol=1e-7)


@pytest.mark.parametrize("model", ALL, ids=lambda m: type(m).__name__)
def test_projections_accept_float32_and_deficient_features(model, rng):
    X = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 9))
    Y = labels_of(X, rng)
    assert np.isfinite(model.fit(X, Y).transform(X)).all()
    small = X.astype(np.float32)
    assert model.fit(small, Y).transform(small).dtype == np.float32


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_float32_far_from_zero_keeps_its_digits(rng, form):
    X = (rng.standard_normal((60, 4)) + 1e4).astype(np.float32)
    Y = labels_of(X - 1e4, rng)
    for model in (MDDM(2), CCA(2), PCA(2), MDDM(4, complement=True, random_state=0)):
        exact = model.fit(X.astype(float), Y).transform(X.astype(float))
        found = model.fit(form(X), Y).transform(form(X))
        assert found.dtype == np.float32
        # directions are rounded to 6e-8, and the mean is taken off in rounded directions too
        np.testing.assert_allclose(found, exact, atol=2e-6)


@pytest.mark.parametrize("model", ALL, ids=lambda m: type(m).__name__)
def test_projections_work_in_a_grid_search(model):
    data = make_shared_subspace(90, 8, 4, 2, prevalence=0.3, random_state=0)
    name = type(model).__name__.lower()
    search = GridSearchCV(
        make_pipeline(model, MLkNN(5)), {f"{name}__n_components": [1, 3]}, scoring="f1_micro", cv=3
    )
    search.fit(data.X, data.Y)
    assert search.best_params_[f"{name}__n_components"] in (1, 3)
    assert 0 < search.best_score_ <= 1


def test_the_planted_subspace_is_found():
    data = make_shared_subspace(4000, 30, 12, 3, noise=0.1, random_state=0)
    truth = data.truth["components"]
    for model in (MDDM(3), CCA(3), OPLS(3), LDA(3)):
        found = np.linalg.qr(model.fit(data.X, data.Y).components_.T)[0]
        cosines = np.linalg.svd(truth @ found, compute_uv=False)
        assert cosines.min() > 0.95


def test_one_sample_raises_an_error():
    with pytest.raises(ValueError, match="at least 2 samples"):
        MDDM().fit([[1.0, 2.0]], [[1, 0]])
