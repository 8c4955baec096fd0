"""MEKA as a transformer: kernel methods behind the map, new samples and wrong input."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline

from eigenlabel import (
    CCA,
    MDDM,
    MEKA,
    SharedSubspaceClassifier,
)
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.linalg import operators


@pytest.fixture
def labelled():
    return make_shared_subspace(150, 10, 5, random_state=1)


@pytest.mark.parametrize("method", [SharedSubspaceClassifier, MDDM, CCA])
def test_linear_methods_behind_an_exact_map_are_kernel_methods(labelled, method):
    X, Y = labelled.X, labelled.Y
    exact = method(kernel="rbf", gamma=0.05, n_components=2).fit(X[:100], Y[:100])
    mapped = make_pipeline(
        MEKA(100, n_blocks=4, n_landmarks=100, gamma=0.05, random_state=0), method(n_components=2)
    ).fit(X[:100], Y[:100])
    if method is SharedSubspaceClassifier:
        found, wanted = (m.decision_function(X[:100]) for m in (mapped, exact))
    else:
        found, wanted = (abs(m.transform(X[:100])) for m in (mapped, exact))
    # The map leaves out eigenvalues below 1e-12 of the largest.
    np.testing.assert_allclose(found, wanted, atol=1e-6)


@pytest.mark.parametrize("method", [SharedSubspaceClassifier, MDDM, CCA])
@pytest.mark.parametrize("n_blocks", [1, 4])
def test_maps_approximate_every_kernel_method(labelled, method, n_blocks):
    X, Y = labelled.X[:100], labelled.Y[:100]

    def found(rank, gamma):
        features = MEKA(rank, n_blocks=n_blocks, n_landmarks=rank, gamma=gamma, random_state=0)
        return projected(make_pipeline(features, method(n_components=2)).fit(X, Y), X)

    def wanted(gamma):
        return projected(method(kernel="rbf", gamma=gamma, n_components=2).fit(X, Y), X)

    # Full rank, well conditioned: the kernel itself. Low rank of a smooth kernel: near it, less so
    # with blocks, which are joined by a sample of entries.
    np.testing.assert_allclose(found(100, 0.5), wanted(0.5), atol=1e-8)
    exact = wanted(1e-3)
    errors = [np.linalg.norm(found(r, 1e-3) - exact) / np.linalg.norm(exact) for r in (8, 60)]
    assert errors[1] < min(0.05 if n_blocks == 1 else 0.3, errors[0])


def projected(model, X):
    """Return scores, or coordinates up to their sign."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return abs(model.transform(X))


def test_nystrom_predicts_new_samples_by_its_formula(labelled):
    X = labelled.X
    model = MEKA(80, n_blocks=1, n_landmarks=40, gamma=0.05, random_state=0).fit(X[:100])
    L = model.landmarks_[0]
    C, C_new, W = (rbf_kernel(A, L, gamma=0.05) for A in (X[:100], X[100:], L))
    found = model.transform(X[100:]) @ model.transform(X[:100]).T
    np.testing.assert_allclose(found, C_new @ np.linalg.pinv(W) @ C.T, atol=1e-8)


def test_new_samples_approximate_the_kernel(labelled):
    X = labelled.X
    model = MEKA(100, n_blocks=3, n_landmarks=100, gamma=0.02, random_state=0).fit(X[:100])
    found = model.transform(X[100:]) @ model.transform(X[:100]).T
    wanted = rbf_kernel(X[100:], X[:100], gamma=0.02)
    assert np.linalg.norm(found - wanted) < 0.1 * np.linalg.norm(wanted)
    assert model.error_ < 1e-6  # on the samples that all are landmarks


def test_sparse_and_dense_samples_map_alike(labelled):
    X = labelled.X * (abs(labelled.X) > 0.5)
    models = [MEKA(30, n_blocks=3, random_state=0).fit(A) for A in (X, sp.csr_array(X))]
    assert models[1].landmarks_[0].format == "csr"
    found = [m.transform(A) for m, A in zip(models, (X, sp.csr_matrix(X)), strict=True)]
    np.testing.assert_allclose(found[0] @ found[0].T, found[1] @ found[1].T, atol=1e-8)


def test_map_does_not_depend_on_how_new_samples_are_cut(labelled, monkeypatch):
    model = MEKA(30, n_blocks=3, random_state=0).fit(labelled.X)
    whole = model.transform(labelled.X)
    monkeypatch.setattr(operators, "BLOCK_BYTES", 8 * 100)
    np.testing.assert_allclose(model.transform(labelled.X), whole, atol=1e-12)


def test_attributes_describe_the_map(labelled):
    model = MEKA(50, n_blocks=4, random_state=0).fit(labelled.X)
    assert 0 < model.error_ < 0.5
    assert 0 <= model.clipped_ < 0.2
    assert model.n_components_ <= 50
    assert model.transform(labelled.X).shape == (150, model.n_components_)
    assert model.nbytes_ < 8 * 150**2
    assert len(model.landmarks_) == len(model.centres_) == len(model.maps_) == 4
    assert sum(len(L) for L in model.landmarks_) <= 100


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be an integer >= 1, got 0"),
        ({"n_blocks": 0}, "n_blocks must be an integer >= 1, got 0"),
        ({"n_landmarks": 0}, "n_landmarks must be an integer >= 1, got 0"),
        ({"kernel": "precomputed"}, "fits in memory"),
        ({"kernel": "what"}, "kernel must be one of"),
        ({"kernel": lambda A, B: np.full((A.shape[0], B.shape[0]), np.nan)}, "NaN or infinity"),
        ({"kernel": lambda A, B: np.zeros((A.shape[0], B.shape[0]))}, "no positive part"),
        ({"kernel": lambda A, B: np.zeros((1, 1))}, "expected shape"),
    ],
)
def test_wrong_input_raises_an_error(labelled, parameters, message):
    with pytest.raises(ValueError, match=message):
        MEKA(**parameters).fit(labelled.X)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_samples_are_enough(rng, n):
    X = rng.standard_normal((n, 3))
    Z = MEKA(gamma=0.3, random_state=0).fit(X).transform(X)
    np.testing.assert_allclose(Z @ Z.T, rbf_kernel(X, gamma=0.3), atol=1e-9)


def test_duplicated_samples_are_accepted(rng):
    X = np.repeat(rng.standard_normal((5, 3)), 8, axis=0)
    Z = MEKA(n_blocks=8, gamma=0.3, random_state=0).fit_transform(X)
    np.testing.assert_allclose(Z @ Z.T, rbf_kernel(X, gamma=0.3), atol=1e-9)


def test_a_kernel_without_a_positive_part_advises_to_rescale(rng):
    with pytest.raises(ValueError, match="Rescale X"):
        MEKA(kernel=lambda A, B: -np.ones((A.shape[0], B.shape[0])), n_blocks=1).fit(
            rng.random((30, 4))
        )


def test_blocks_of_large_float32_samples_are_found():
    X = make_shared_subspace(60, 4, 3, random_state=0).X
    large = (X * (1e37 / np.abs(X).max())).astype(np.float32)
    found = MEKA(5, n_blocks=3, gamma=1e-74, random_state=0).fit_transform(large)
    assert np.isfinite(found).all()
