"""BiRelationGraph: walks over samples and labels."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from eigenlabel import BiRelationGraph
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


def naive_walks(W, Y, known, alpha, beta, directed, n_steps=3000):
    """Iterate the two equations of samples and labels."""
    m = Y.shape[1]
    T = np.where(known[:, None], Y, 0).astype(float)
    C = np.zeros((m, m))
    for i in range(m):
        for j in range(m):
            norm = np.sqrt((T[:, i] ** 2).sum() * (T[:, j] ** 2).sum())
            C[i, j] = T[:, i] @ T[:, j] / norm if norm and i != j else 0
    R = scaled(C)
    degree = T.sum(axis=1)[:, None] * T.sum(axis=0)
    E = np.where(T > 0, 1 / np.sqrt(np.where(degree > 0, degree, 1)), 0)
    start = np.c_[T, known.astype(float)]
    F, G = start, np.eye(m, m + 1)
    for _ in range(n_steps):
        back = 0 if directed else beta * E.T @ F
        F, G = (
            alpha * ((1 - beta) * W @ F + beta * E @ G) + (1 - alpha) * start,
            alpha * ((1 - beta) * R @ G + back) + (1 - alpha) * np.eye(m, m + 1),
        )
    return F


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("combine", ["scores", "graphs"])
def test_walks_over_samples_and_labels(data, k, directed, combine):
    views, Y = data
    model = BiRelationGraph(
        *(0.8, 0.3),
        combine=combine,
        directed=directed,
        view_weights={"left": 1, "right": 3},
        n_neighbors=k,
        tol=1e-13,
    ).fit(views, Y)
    known = np.arange(50) < 40
    W = [scaled(naive_graph(kernel_of(A), k)) for A in views.values()]
    weights, parts = (0.25, 0.75), W
    if combine == "graphs":
        weights, parts = (1.0,), [0.25 * W[0] + 0.75 * W[1]]
    F = sum(
        w * naive_walks(V, Y, known, 0.8, 0.3, directed)
        for w, V in zip(weights, parts, strict=True)
    )
    np.testing.assert_allclose(
        model.transduction_, 2 * F[:, :-1] / F[:, -1:] - 1, rtol=1e-7, atol=1e-8
    )


def test_without_label_relations_it_is_local_and_global_consistency(data):
    views, Y = data
    model = BiRelationGraph(0.6, 0, n_neighbors=None, tol=1e-12).fit(views["left"], Y)
    S = scaled(naive_graph(kernel_of(views["left"]), None))
    known = np.arange(50) < 40
    T = np.c_[np.where(known[:, None], Y, 0), known]
    F = np.linalg.solve(np.eye(50) - 0.6 * S, T)
    expected = 2 * F[:, :-1] / F[:, -1:] - 1
    np.testing.assert_allclose(model.transduction_, expected, rtol=1e-9, atol=1e-10)


def test_a_warning_states_how_many_samples_rounding_hides(data):
    views, Y = data
    model = BiRelationGraph(1 - 1e-8, 0.2, n_neighbors=7, combine="graphs").fit(views, Y)
    W = sum(scaled(naive_graph(kernel_of(A), 7)) for A in views.values()) / 2
    F = naive_walks(W, Y, np.arange(50) < 40, 1 - 1e-8, 0.2, True)
    np.testing.assert_allclose(
        model.transduction_, 2 * F[:, :-1] / F[:, -1:] - 1, atol=1e-6
    )  # conjugate gradients end at 1e-8 of scores
    path = sp.diags_array([np.ones(199), np.ones(199)], offsets=[-1, 1], shape=(200, 200)).tocsr()
    Y = np.full((200, 2), np.nan)
    Y[:2] = [[1, 0], [0, 1]]
    with pytest.warns(UserWarning, match="of 200 samples are so far .* Lower tol") as met:
        model = BiRelationGraph(0.5, kernel="precomputed").fit(path, Y)
    shares = (model.transduction_ == 0).all(axis=1)
    assert str(met[0].message).startswith(f"{shares.sum()} of 200")
    assert 0 < shares.sum() < 200
