"""The distances of views and the neighbours by all of them."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise_distances

from eigenlabel import JEC, MBRM, TagProp
from eigenlabel.kernels import distances

TAGGERS = [JEC, MBRM, TagProp]


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


@pytest.mark.parametrize("tagger", TAGGERS)
def test_strips_do_not_change_the_scores(tagger, data, monkeypatch):
    train, Y, new = data
    train["numbers"][[3, 20, 21]] = np.nan
    new["histograms"][[0, 5]] = np.nan
    whole = tagger(threshold="f1").fit(train, Y)
    monkeypatch.setattr("eigenlabel.linalg.operators.BLOCK_BYTES", 8 * 300)
    parts = tagger(threshold="f1").fit(train, Y)
    # an ascent enlarges the rounding of distances
    near = {"rtol": 1e-8, "atol": 1e-4 if tagger is TagProp else 1e-8}
    np.testing.assert_allclose(parts.decision_function(new), whole.decision_function(new), **near)
    np.testing.assert_allclose(parts.thresholds_, whole.thresholds_, **near)


@pytest.mark.parametrize("tagger", TAGGERS)
def test_sparse_distances_list_the_only_neighbours(tagger, data):
    train, Y, _ = data
    D = pairwise_distances(train["numbers"])
    graph = np.where(np.quantile(D, 0.3) > D, D, 0)
    graph[0] = graph[:, 0] = 0  # a sample without neighbours
    model = tagger(metric="precomputed").fit(sp.csr_array(graph), Y)
    full = np.where(graph > 0, D, 1e6)
    near = tagger(metric="precomputed").fit(full, Y)
    found = model.decision_function(sp.csr_array(graph))
    assert np.isfinite(found).all()
    if tagger is JEC:
        lists = (graph > 0).sum(axis=1) >= 5
        np.testing.assert_array_equal(found[lists], near.decision_function(full)[lists])
    assert (np.argsort(-found[0], kind="stable") == np.argsort(-Y.mean(0), kind="stable")).all()


@pytest.mark.parametrize("tagger", TAGGERS)
def test_distances_may_be_one_sided(tagger, data):
    train, Y, _ = data
    D = naive_distances("kl", train["histograms"], train["histograms"])
    assert np.abs(D - D.T).max() > 0.01
    given = tagger(metric="precomputed").fit(D, Y).decision_function(D)
    named = tagger(metric="kl").fit(train["histograms"], Y).decision_function(train["histograms"])
    np.testing.assert_allclose(given, named, rtol=1e-6, atol=1e-6)


def test_no_square_array_of_samples(rng, monkeypatch):
    """Distances of 3000 samples stay in strips of some hundred rows."""
    monkeypatch.setattr("eigenlabel.linalg.operators.BLOCK_BYTES", 8 * 2**18)
    sizes = []
    measure = distances.FUNCTIONS["l1"]
    monkeypatch.setitem(
        distances.FUNCTIONS,
        "l1",
        lambda X, Z: sizes.append(X.shape[0] * Z.shape[0]) or measure(X, Z),
    )
    X, Y = rng.standard_normal((3000, 2)), rng.random((3000, 4)) < 0.3
    for tagger in TAGGERS:
        tagger(metric="l1", threshold="f1").fit({"a": X, "b": X[:, ::-1]}, Y).predict(
            {"a": X[:5], "b": X[:5]}
        )
    assert max(sizes) <= 2**18


@pytest.mark.parametrize("tagger", TAGGERS)
def test_distances_of_callables_are_checked_like_precomputed_ones(tagger, data):
    train, Y, _ = data
    A = train["numbers"]

    def spoilt(value):
        def metric(X, Z):
            D = pairwise_distances(X, Z)
            D[0, -1] = value
            return D

        return metric

    for value in (np.nan, np.inf, -1.0):
        with pytest.raises(ValueError, match=r"Distances are finite and >= 0, but .* returns"):
            tagger(metric=spoilt(value)).fit(A, Y).predict(A[:2])
    with pytest.raises(ValueError, match="A callable metric takes two matrices"):
        tagger(metric=lambda X, Z: pairwise_distances(X, Z)[:, :-1]).fit(A, Y).predict(A[:2])
    nearly = tagger(metric=lambda X, Z: pairwise_distances(X, Z) - 1e-16).fit(A, Y)  # rounding
    assert np.isfinite(nearly.decision_function(A[:2])).all()


def test_distances_are_averaged_over_the_views_that_both_samples_have(data):
    """Each sample has a label of its own, by which its neighbours are recognised."""
    train, _, new = data
    hidden = {"histograms": train["histograms"], "numbers": train["numbers"].copy()}
    hidden["numbers"][:5] = np.nan
    model = JEC(1, metric=["l1", "l2"]).fit(hidden, np.eye(50, dtype=int))
    first = naive_distances("l1", new["histograms"], train["histograms"])
    first /= naive_distances("l1", train["histograms"], train["histograms"]).max()
    there = train["numbers"][5:]
    second = naive_distances("l2", new["numbers"], there)
    second /= naive_distances("l2", there, there).max()
    mean = first.copy()
    mean[:, 5:] = (first[:, 5:] + second) / 2
    nearest = mean.argmin(axis=1)
    assert (nearest < 5).any()
    assert (model.predict(new).argmax(axis=1) == nearest).all()
