"""Similarity graphs: their weights."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls
from sklearn.metrics.pairwise import rbf_kernel

from eigenlabel import GaussianFields
from eigenlabel.estimators.graphs import similarity as graphs
from eigenlabel.kernels.bandwidth import mean_distance


@pytest.fixture
def data(rng):
    """Two views of 50 samples, the last ten without known labels, and labels, one never seen."""
    S = rng.standard_normal((50, 3))
    left = S @ rng.standard_normal((3, 5)) + 0.3 * rng.standard_normal((50, 5))
    right = S @ rng.standard_normal((3, 8)) + 0.6 * rng.standard_normal((50, 8))
    scores = S @ rng.standard_normal((3, 6)) + 0.5 * rng.standard_normal((50, 6))
    Y = (scores > np.linspace(0, 2, 6)).astype(float)
    Y[:40, 5] = 0
    Y[40:] = np.nan
    return {"left": left, "right": right}, Y


def naive_graph(K, k):
    """Join each sample to its k most similar ones, then scale by the roots of the degrees."""
    n = len(K)
    W = np.zeros((n, n))
    for i in range(n):
        others = [j for j in np.argsort(-K[i], kind="stable") if j != i][: n if k is None else k]
        for j in others:
            W[i, j] = W[j, i] = K[i, j]
    return W


def scaled(W):
    d = W.sum(axis=1)
    root = np.where(d > 0, 1 / np.sqrt(np.where(d > 0, d, 1)), 0)
    return root[:, None] * W * root


def kernel_of(X, Z=None):
    sigma = mean_distance(X)
    return rbf_kernel(X if Z is None else Z, X, gamma=1 / (2 * sigma**2))


@pytest.fixture(params=[7, None], ids=["sparse", "dense"])
def k(request):
    return request.param


def test_simultaneous_weights_are_one_regression_for_all_labels(data):
    views, Y = data
    Y = Y[:40]
    W = [scaled(naive_graph(kernel_of(A[:40]), 7)) for A in views.values()]
    W.append(scaled(naive_graph(np.abs(np.sin(np.add.outer(np.arange(40), np.arange(40)))), 5)))
    centred = Y - Y.mean(axis=0)
    off = ~np.eye(40, dtype=bool)
    target = (centred @ centred.T)[off]
    design = np.column_stack([*(V[off] for V in W), np.ones(off.sum()), -np.ones(off.sum())])
    expected = nnls(design, target)[0][:3]
    for form in (np.asarray, sp.csr_array):
        found = graphs.simultaneous_weights([form(V) for V in W], centred)
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
    mixed = graphs.simultaneous_weights([W[0], sp.csr_array(W[1]), W[2]], centred)
    np.testing.assert_allclose(mixed, expected, rtol=1e-7, atol=1e-9)
    model = GaussianFields(view_weights="simultaneous", n_neighbors=7)
    model.fit({name: A[:40] for name, A in views.items()}, Y)
    two = nnls(design[:, [0, 1, 3, 4]], target)[0][:2]
    np.testing.assert_allclose(model.view_weights_, two / two.sum(), rtol=1e-7)


def test_simultaneous_weights_use_labelled_samples_alone(data):
    views, Y = data
    model = GaussianFields(view_weights="simultaneous", n_neighbors=7).fit(views, Y)
    W = [scaled(naive_graph(kernel_of(A), 7))[:40, :40] for A in views.values()]
    found = graphs.simultaneous_weights(W, Y[:40].astype(float))
    np.testing.assert_allclose(model.view_weights_, found / found.sum(), rtol=1e-8)
