"""GaussianFields: the energy that its scores minimise."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from eigenlabel import GaussianFields
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


def test_gaussian_fields_minimise_their_energy(data, k):
    views, Y = data
    model = GaussianFields(0.7, 0.3, n_neighbors=k, tol=1e-12).fit(views, Y)
    W = sum(scaled(naive_graph(kernel_of(A), k)) for A in views.values()) / 2
    known = np.arange(50) < 40
    s = np.where(known, 1.0, 0.3)
    for label in range(6):
        y = Y[known, label]
        bias = (y.sum() - (1 - y).sum()) / len(y)
        t = np.where(known, 2 * Y[:, label] - 1, bias)
        A = np.diag(s) + 0.7 * (np.diag(W.sum(axis=1)) - W)
        expected = np.linalg.solve(A, s * t)
        np.testing.assert_allclose(model.transduction_[:, label], expected, rtol=1e-8, atol=1e-9)


def test_samples_that_a_view_lacks_have_no_edges_in_it(data, k):
    views, Y = data
    hidden = {"left": views["left"].copy(), "right": views["right"]}
    hidden["left"][[2, 7]] = np.nan
    there = np.setdiff1d(np.arange(50), [2, 7])
    model = GaussianFields(n_neighbors=k, tol=1e-12).fit(hidden, Y)
    W = scaled(naive_graph(kernel_of(views["right"]), k))
    W[np.ix_(there, there)] += scaled(naive_graph(kernel_of(views["left"][there]), k))
    bias = 2 * Y[:40].mean(axis=0) - 1
    targets = np.where(np.arange(50)[:, None] < 40, 2 * Y - 1, bias)
    L = np.diag(W.sum(axis=1)) - W
    expected = np.linalg.solve(np.eye(50) + L / 2, targets)
    np.testing.assert_allclose(model.transduction_, expected, rtol=1e-8, atol=1e-9)
