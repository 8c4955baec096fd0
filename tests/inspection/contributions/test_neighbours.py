"""Contributions of neighbours against naive sums, and the Shapley values of ML-kNN."""

from itertools import permutations

import numpy as np
import pytest

import eigenlabel as el
from eigenlabel.inspection import explain
from explained import assert_adds_up, make_data


@pytest.fixture
def data(rng):
    return make_data(rng, n=40, d=4, m=3)


def nearest(X, x, k):
    return np.argsort(((X - x) ** 2).sum(axis=1), kind="stable")[:k]


def test_mlknn_contributions_are_shapley_values(data, rng):
    X, Y = data
    model = el.MLkNN(4).fit(X, Y)
    x = rng.standard_normal((1, 4))
    near = nearest(X, x, 4)
    found = explain(model, x, n_top=None)

    def odds(j, have):
        without, with_ = model.likelihood_[:, j, have]
        p = model.prior_[j]
        return np.log(p * with_ / ((1 - p) * without))

    orders = list(permutations(near))
    for j in range(3):
        value = dict.fromkeys(near, 0.0)
        for order in orders:
            have = 0
            for i in order:  # a neighbour that is not there yet counts as one without the label
                value[i] += (odds(j, have + Y[i, j]) - odds(j, have)) / len(orders)
                have += Y[i, j]
        naive = {f"training sample {i}": v for i, v in value.items() if v}
        assert found.terms(0, j) == pytest.approx(naive)
        assert found.intercept[0, j] == pytest.approx(odds(j, 0))


def test_mlknn_with_an_index_and_with_distances(data):
    neighbors = pytest.importorskip("sklearn.neighbors")
    X, Y = data
    exact = explain(el.MLkNN(4).fit(X, Y), X[:3])
    index = el.MLkNN(4, index=neighbors.NearestNeighbors()).fit(X, Y)
    np.testing.assert_allclose(explain(index, X[:3]).score, exact.score)
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    pairs = el.MLkNN(4, metric="precomputed").fit(D, Y)
    assert explain(pairs, D[:3]).terms(1, 0) == pytest.approx(exact.terms(1, 0))


def test_jec_contributions_are_those_of_the_neighbours_that_decide(data, rng):
    X, Y = data
    model = el.JEC(4).fit(X, Y)
    samples = rng.standard_normal((6, 4))
    found = explain(model, samples, n_top=None)
    scores, steps = model.decision_function(samples), set()
    for i, x in enumerate(samples):
        first, *others = nearest(X, x, 4)
        for j in range(3):
            base = Y[:, j].mean() - 2.0
            who = [t for t in others if Y[t, j]]
            if Y[first, j]:
                naive = {f"training sample {first}": 2.0}
                steps.add("first")
            else:
                naive = {f"training sample {t}": (scores[i, j] - base) / len(who) for t in who}
                steps.add("others" if who else "none")
            assert found.terms(i, j) == pytest.approx(naive)
            assert found.intercept[i, j] == pytest.approx(base)
    assert len(steps) == 3


def test_mbrm_contributions_are_weighted_votes(data):
    X, Y = data
    model = el.MBRM(0.5, smoothing=0.2).fit(X, Y)
    found = explain(model, X[:2], n_top=None)
    d = np.sqrt(((X[:1] - X) ** 2).sum(axis=1))
    w = np.exp(-(d**2) / (2 * model.bandwidth_[0] ** 2))
    w /= w.sum()
    naive = {f"training sample {t}": 2 * 0.8 * w[t] for t in range(40) if Y[t, 1]}
    terms = found.terms(0, 1)
    assert all(terms.get(k, 0.0) == pytest.approx(v, rel=1e-6, abs=1e-12) for k, v in naive.items())
    assert found.intercept[0, 1] == pytest.approx(2 * 0.2 * Y[:, 1].mean() - 1)


@pytest.mark.parametrize("sigmoid", [True, False])
def test_tagprop_contributions_are_weighted_votes(sigmoid, data):
    X, Y = data
    model = el.TagProp(5, sigmoid=sigmoid, weights="rank").fit(X, Y)
    found = explain(model, X[:2] + 0.01, n_top=None)
    near = nearest(X, X[0] + 0.01, 5)
    slope = model.curves_[0, 2] if sigmoid else 2 * (1 - 2e-5)
    naive = {
        f"training sample {t}": slope * model.weights_[k]
        for k, t in enumerate(near)
        if Y[t, 2] and model.weights_[k]
    }
    assert found.terms(0, 2) == pytest.approx(naive)
    assert found.scale == ("log-odds" if sigmoid else "score")


@pytest.mark.parametrize(
    "make",
    [el.JEC, lambda: el.MBRM(0.5), lambda: el.TagProp(5), lambda: el.TagProp(5, sigmoid=False)],
)
def test_views_and_samples_that_no_view_has(make, data):
    X, Y = data
    views = {"left": X[:, :2], "right": X[:, 2:]}
    model = make().fit(views, Y)
    new = {"left": X[:3, :2].copy(), "right": X[:3, 2:].copy()}
    for table in new.values():
        table[1] = np.nan
    new["left"][2] = np.nan
    found = explain(model, new)
    assert_adds_up(model, new, found)
    assert not found.contributions[1].any()
