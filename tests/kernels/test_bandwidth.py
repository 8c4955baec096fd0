"""Bandwidth rules against distances of all pairs."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from eigenlabel import MDDM, MEKA, PCA, SharedSubspaceClassifier, SharedSubspaceClassifierCV
from eigenlabel.kernels import bandwidth
from eigenlabel.kernels.bandwidth import mean_distance
from eigenlabel.kernels.kernel import Kernel


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("block", [2**25, 512, 8])
def test_the_mean_distance_is_that_of_all_pairs(rng, form, block, monkeypatch):
    monkeypatch.setattr("eigenlabel.linalg.operators.BLOCK_BYTES", block)
    X = rng.standard_normal((23, 4)) * (rng.random((23, 4)) < 0.6)
    X[3] = X[4]
    assert mean_distance(form(X)) == pytest.approx(cdist(X, X).mean(), rel=1e-8)


@pytest.mark.parametrize("block", [2**25, 512])
def test_a_weight_counts_like_copies(rng, block, monkeypatch):
    monkeypatch.setattr("eigenlabel.linalg.operators.BLOCK_BYTES", block)
    X, copies = rng.standard_normal((15, 3)), rng.integers(0, 4, 15)
    expected = mean_distance(np.repeat(X, copies, axis=0))
    # the distance of two copies is the root of a rounding error, 1e-8
    assert mean_distance(X, copies.astype(float)) == pytest.approx(expected, rel=1e-8)


def test_samples_far_from_zero_have_the_same_distances(rng):
    X = rng.standard_normal((23, 4))
    assert mean_distance(X + 1e6) == pytest.approx(cdist(X, X).mean(), rel=1e-8)
    assert mean_distance((np.abs(X) + 1e6).astype(np.float32)) > 0


def test_many_rows_are_represented_by_evenly_spaced_ones(rng, monkeypatch):
    monkeypatch.setattr(bandwidth, "MOST_ROWS", 40)
    X, w = rng.standard_normal((121, 3)), rng.random(121)
    rows = np.linspace(0, 120, 40).astype(int)
    assert mean_distance(X) == pytest.approx(mean_distance(X[rows]), rel=1e-12)
    assert mean_distance(X, w) == pytest.approx(mean_distance(X[rows], w[rows]), rel=1e-12)


def test_equal_samples_have_a_bandwidth_of_one():
    assert Kernel("rbf").settle(np.ones((5, 2))).gamma == 1.0


@pytest.mark.parametrize(
    ("name", "gamma"),
    [("poly", 0.25), ("sigmoid", 0.25), ("laplacian", 0.25), ("chi2", 1.0), ("linear", None)],
)
def test_each_kernel_has_a_named_rule(rng, name, gamma):
    X = rng.random((9, 4))
    assert Kernel(name).settle(X).gamma == gamma
    assert Kernel(name, 0.7).settle(X).gamma == 0.7


@pytest.mark.parametrize(
    "model",
    [
        SharedSubspaceClassifier(kernel="rbf"),
        SharedSubspaceClassifierCV([0.1], [0.1], kernel="rbf"),
        PCA(kernel="rbf"),
        MDDM(kernel="rbf"),
        MEKA(5, n_blocks=1),
    ],
    ids=lambda model: type(model).__name__,
)
def test_all_methods_have_the_same_default_for_the_gaussian_kernel(rng, model):
    X, Y = rng.standard_normal((30, 4)), rng.integers(0, 2, (30, 3))
    expected = 1 / (2 * cdist(X, X).mean() ** 2)
    model.fit(X, Y)
    if isinstance(model, (SharedSubspaceClassifier, SharedSubspaceClassifierCV)):
        kernel = model._solution.weights.subspace.kernel
    else:
        kernel = model._kernel
    assert kernel.gamma == pytest.approx(expected, rel=1e-8)


def test_weights_and_copies_make_the_same_gaussian_model(rng):
    X, Y, copies = rng.standard_normal((25, 4)), rng.integers(0, 2, (25, 3)), np.arange(25) % 3
    weighted = SharedSubspaceClassifier(kernel="rbf").fit(X, Y, copies)
    repeated = SharedSubspaceClassifier(kernel="rbf").fit(
        np.repeat(X, copies, axis=0), np.repeat(Y, copies, axis=0)
    )
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-8
    )
