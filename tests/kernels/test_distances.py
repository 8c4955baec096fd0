"""Distances by name and by a function."""

import numpy as np
import pytest
from sklearn.metrics import pairwise_distances

from eigenlabel.kernels import distances


@pytest.fixture
def data(rng):
    """Two views of 50 samples, histograms and numbers, ten new ones, and labels, one never seen."""
    S = rng.standard_normal((60, 3))
    histograms = rng.poisson(np.exp(S @ rng.standard_normal((3, 6)) + 1)).astype(float)
    numbers = S @ rng.standard_normal((3, 8)) + 0.3 * rng.standard_normal((60, 8))
    scores = S @ rng.standard_normal((3, 7)) + 0.5 * rng.standard_normal((60, 7))
    Y = (scores > np.linspace(0, 2, 7)).astype(int)
    Y[:50, 6] = 0
    views = {"histograms": histograms, "numbers": numbers}
    train = {name: A[:50] for name, A in views.items()}
    new = {name: A[50:] for name, A in views.items()}
    return train, Y[:50], new


def naive_distance(metric, x, z):
    if metric == "chi2":
        return sum((a - b) ** 2 / (a + b) for a, b in zip(x, z, strict=True) if a + b > 0)
    if metric == "kl":
        p, q = x / x.sum() + 1e-10, z / z.sum() + 1e-10
        p, q = p / p.sum(), q / q.sum()
        return sum(a * np.log(a / b) for a, b in zip(p, q, strict=True))
    return pairwise_distances([x], [z], metric=metric)[0, 0]


def naive_distances(metric, X, Z):
    return np.array([[naive_distance(metric, x, z) for z in Z] for x in X])


@pytest.mark.parametrize("metric", ["l1", "l2", "cosine", "chi2", "kl"])
def test_distances_are_their_definitions(metric, data):
    train, _, new = data
    X, Z = new["histograms"], train["histograms"]
    found = distances.distances_to(Z, metric)(X)
    np.testing.assert_allclose(found, naive_distances(metric, X, Z), rtol=1e-9, atol=1e-9)


def test_a_callable_must_return_finite_distances_of_all_pairs(rng):
    X, Z = rng.random((4, 3)), rng.random((6, 3))
    with pytest.raises(ValueError, match=r"expected shape \(4, 6\), got \(4, 3\)"):
        distances.distances_to(Z, lambda A, _: A)(X)
    with pytest.raises(ValueError, match=r"Distances are finite and >= 0, but .* returns -1"):
        distances.distances_to(Z, lambda A, B: -np.ones((len(A), len(B))))(X)
    almost = np.ones((4, 6))
    almost[0, 0] = -1e-12  # rounding, such as that of one minus a cosine
    assert distances.distances_to(Z, lambda *_: almost)(X)[0, 0] == 0
