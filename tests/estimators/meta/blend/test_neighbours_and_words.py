import math

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators.meta.blend import neighbours_and_words as module
from eigenlabel.estimators.meta.blend.neighbours_and_words import NeighbourShares, WordRatios
from eigenlabel.model_selection import MultilabelStratifiedKFold


@pytest.fixture(scope="module")
def data():
    return make_shared_subspace(60, 5, 4, prevalence=0.3, noise=0.3, random_state=0)


@pytest.fixture
def counts(rng):
    X = rng.poisson(0.7, (50, 12)).astype(float)
    Y = (X[:, :3] + rng.random((50, 3)) > 1.5).astype(int)
    return X, Y


def naive_votes(X, Y, new, k, w=None, seen=None):
    """Return the scores of new samples, neighbour by neighbour."""
    w = np.ones(len(X)) if w is None else w / w.mean()
    seen = np.ones(Y.shape) if seen is None else seen
    prior = (w @ (Y * seen)) / np.maximum(w @ seen, 1e-300)
    out = np.empty((len(new), Y.shape[1]))
    for i, x in enumerate(new):
        d = [math.dist(x, z) ** 2 for z in X]
        near = sorted(range(len(X)), key=lambda j: (d[j], j))[: min(k, len(X))]
        first = min(d[j] for j in near)
        mean = sum(d[j] - first for j in near) / len(near)
        v = {j: w[j] * math.exp(-(d[j] - first) / (mean if mean > 0 else 1)) for j in near}
        for m in range(Y.shape[1]):
            votes = sum(v[j] * Y[j, m] * seen[j, m] for j in near)
            total = sum(v[j] * seen[j, m] for j in near)
            out[i, m] = 2 * (votes + prior[m]) / (total + 1) - 1
    return out


def test_neighbours_vote_by_their_distance(data):
    scale = data.X.std(axis=0)
    model = NeighbourShares(7).fit(data.X, data.Y)
    new = data.X[:10] + 0.3
    expected = naive_votes(data.X / scale, data.Y, new / scale, 7)
    np.testing.assert_allclose(model._scores(new), expected, atol=1e-10)
    for train, test in MultilabelStratifiedKFold(5).split(data.X, data.Y):
        held_out = naive_votes(data.X[train] / scale, data.Y[train], data.X[test] / scale, 7)
        np.testing.assert_allclose(model.oof_scores_[test], held_out, atol=1e-10)


def test_neighbours_with_weights_and_missing_labels(data, rng):
    w = rng.integers(1, 4, 60).astype(float)
    seen = rng.random(data.Y.shape) < 0.7
    Y = np.where(seen, data.Y, np.nan)
    model = NeighbourShares(9).fit(data.X, Y, sample_weight=w)
    scale = data.X.std(axis=0)
    expected = naive_votes(data.X / scale, data.Y, data.X[:5] / scale, 9, w, seen)
    np.testing.assert_allclose(model._scores(data.X[:5]), expected, atol=1e-10)


def test_rows_of_sparse_samples_have_unit_length(counts):
    X, Y = counts
    model = NeighbourShares(5).fit(sp.csr_array(X), Y)
    unit = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)
    expected = naive_votes(unit, Y, unit[:5], 5)
    np.testing.assert_allclose(model._scores(sp.csr_array(X[:5])), expected, atol=1e-10)
    longer = model._scores(sp.csr_array(3 * X[:5]))
    np.testing.assert_allclose(longer, model._scores(sp.csr_array(X[:5])), atol=1e-10)


def test_few_of_many_samples_are_compared(data, monkeypatch):
    monkeypatch.setattr(module, "MOST_REFERENCES", 20)
    model = NeighbourShares(5, random_state=0).fit(data.X, data.Y)
    assert model._references.Z.shape == (20, 5)
    assert np.isfinite(model.oof_scores_).all()


def test_equal_samples_have_equal_scores():
    X = np.ones((20, 3))
    Y = np.arange(20)[:, None] % [2, 4] == 0
    model = NeighbourShares(6).fit(X, Y)
    scores = model._scores(X)
    np.testing.assert_array_equal(scores, scores[:1].repeat(20, axis=0))


def naive_ratios(X, Y, smoothing, w=None, seen=None):
    """Return weights and intercepts of naive Bayes, label by label."""
    n, d = X.shape
    w = np.ones(n) if w is None else w
    seen = np.ones(Y.shape, dtype=bool) if seen is None else seen
    total = w @ X
    coef = np.zeros((Y.shape[1], d))
    intercept = np.zeros(Y.shape[1])
    for j in range(Y.shape[1]):
        shares = []
        for present in (True, False):
            rows = [i for i in range(n) if seen[i, j] and bool(Y[i, j]) == present]
            counts = sum((w[i] * X[i] for i in rows), np.zeros(d)) + smoothing * total / w.sum()
            shares.append(counts / counts.sum())
            intercept[j] += (1 if present else -1) * math.log(sum(w[i] for i in rows) + w.mean())
        for k in range(d):
            if total[k] > 0:
                coef[j, k] = math.log(shares[0][k] / shares[1][k])
    return coef, intercept


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_words_of_a_label_are_those_it_uses_more(counts, kind):
    X, Y = counts
    X[:, 11] = 0  # a word that no sample has
    model = WordRatios(4.0).fit(kind(X), Y)
    coef, intercept = naive_ratios(X, Y, 4.0)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, intercept, atol=1e-12)
    np.testing.assert_allclose(model._scores(kind(X)), X @ coef.T + intercept, atol=1e-10)
    for train, test in MultilabelStratifiedKFold(5).split(X, Y):
        coef, intercept = naive_ratios(X[train], Y[train], 4.0)
        expected = X[test] @ coef.T + intercept
        np.testing.assert_allclose(model.oof_scores_[test], expected, atol=1e-10)


def test_words_with_weights_and_missing_labels(counts, rng):
    X, Y = counts
    w, seen = rng.integers(1, 4, 50).astype(float), rng.random(Y.shape) < 0.7
    model = WordRatios().fit(X, np.where(seen, Y, np.nan), sample_weight=w)
    coef, intercept = naive_ratios(X, Y, 10.0, w, seen)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, intercept, atol=1e-12)


def test_negative_values_are_not_words(counts):
    X, Y = counts
    X[3, 4] = -2.5
    with pytest.raises(ValueError, match=r"contains -2\.5: values must be 0 or more"):
        WordRatios().fit(sp.csr_array(X), Y)


def test_labels_of_none_or_all_samples_have_finite_scores(counts):
    X, Y = counts
    Y[:, 0], Y[:, 1] = 0, 1
    scores = WordRatios().fit(X, Y).oof_scores_
    assert np.isfinite(scores).all()
    assert scores[:, 0].mean() < scores[:, 2].mean() < scores[:, 1].mean()
