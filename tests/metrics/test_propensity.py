"""Propensities of labels and the metrics that use them, by the published formulas."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel import metrics

NAN = np.nan


def naive_propensities(Y, w, a, b):
    """Return equation (8) of Jain et al. (2016), with the counts of each label's observed cells."""
    found = []
    for column in Y.T:
        N = sum(v for v, y in zip(w, column, strict=True) if not math.isnan(y))
        with_label = sum(v for v, y in zip(w, column, strict=True) if y == 1)
        C = (math.log(N) - 1) * (b + 1) ** a
        found.append(1 / (1 + C * math.exp(-a * math.log(with_label + b))))
    return found


def naive_metric(Y, S, p, w, k, discounted):
    """Return the ratio of two means over samples, as pyxclib normalises."""
    found = possible = 0.0
    for y, s, v in zip(Y, S, w, strict=True):
        seen = [j for j in range(len(y)) if not math.isnan(y[j])]
        true = [j for j in seen if y[j] == 1]
        order = sorted(seen, key=lambda j: (-s[j], j))[:k]
        best = sorted(true, key=lambda j: p[j])[:k]
        if not true:
            continue
        if discounted:
            divisor = sum(1 / math.log2(r + 2) for r in range(min(k, len(true))))
            gain = [1 / math.log2(r + 2) for r in range(k)]
        else:
            divisor, gain = min(k, len(seen)), [1.0] * k
        found += v * sum(y[j] / p[j] * gain[r] for r, j in enumerate(order)) / divisor
        possible += v * sum(gain[r] / p[j] for r, j in enumerate(best)) / divisor
    return found / possible


@pytest.fixture(params=[False, True], ids=["observed", "missing"])
def table(request, rng):
    Y = (rng.random((60, 8)) < np.linspace(0.05, 0.6, 8)).astype(float)
    Y[2] = 0
    if request.param:
        Y[rng.random(Y.shape) < 0.3] = NAN
        Y[5] = NAN
    return Y, np.round(rng.standard_normal(Y.shape), 1), rng.uniform(0.5, 2, len(Y))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("a", "b"), [(0.55, 1.5), (0.5, 0.4), (0.6, 2.6)])
def test_propensities_by_the_published_formula(a, b, weighted, table):
    Y, _, w = table
    w = w if weighted else np.ones(len(Y))
    expected = naive_propensities(Y, w, a, b)
    for form in (np.asarray, sp.csr_array):
        found = metrics.label_propensities(form(Y), a, b, sample_weight=w if weighted else None)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert 0 < found.min() < found.max() < 1


def test_rare_labels_have_small_propensities():
    Y = np.arange(1000)[:, None] < [0, 1, 10, 1000]
    found = metrics.label_propensities(Y)
    assert (np.diff(found) > 0).all()
    equal = metrics.label_propensities(Y, a=0)
    np.testing.assert_allclose(equal, 1 / math.log(1000), rtol=1e-12)


def test_propensities_at_their_ends():
    np.testing.assert_array_equal(metrics.label_propensities([[1, 0]]), [1, 1])  # log N < 1
    np.testing.assert_array_equal(metrics.label_propensities([[1, 0], [0, 0]]), [1, 1])
    Y = np.array([[1, NAN], [0, NAN], [0, NAN], [0, 1]])
    found = metrics.label_propensities(Y, sample_weight=[1, 1, 1, 0])
    assert found[0] == pytest.approx(naive_propensities(Y[:3, :1], [1, 1, 1], 0.55, 1.5)[0])
    assert np.isnan(found[1])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [1, 3, 8])
@pytest.mark.parametrize("name", ["propensity_precision_at_k", "propensity_ndcg_at_k"])
def test_metrics_by_a_naive_loop(name, k, weighted, table, rng):
    Y, S, w = table
    w = w if weighted else np.ones(len(Y))
    kw = {"sample_weight": w} if weighted else {}
    function, discounted = getattr(metrics, name), "ndcg" in name
    p = rng.uniform(0.1, 1, 8)
    expected = naive_metric(Y, S, p, w, k, discounted)
    everywhere = np.indices(S.shape).reshape(2, -1)
    stored = sp.coo_array((S.ravel(), everywhere), shape=S.shape)
    for truth in (Y, sp.csr_array(Y)):
        for scores in (S, stored):
            found = function(truth, scores, k, propensities=p, **kw)
            assert found == pytest.approx(expected, rel=1e-12)
    own = naive_propensities(Y, w, 0.55, 1.5)
    expected = naive_metric(Y, S, own, w, k, discounted)
    assert function(Y, S, k, **kw) == pytest.approx(expected, rel=1e-12)


def test_equal_propensities_make_plain_metrics(rng):
    Y = rng.random((50, 6)) < 0.4
    Y[:, 0] |= ~Y.any(axis=1)
    S, half = rng.standard_normal(Y.shape), np.full(6, 0.5)
    best = np.minimum(Y.sum(axis=1), 3).mean() / 3
    found = metrics.propensity_precision_at_k(Y, S, 3, propensities=half)
    assert found == pytest.approx(metrics.precision_at_k(Y, S, 3) / best, rel=1e-12)
    found = metrics.propensity_ndcg_at_k(Y, S, 3, propensities=half)
    assert found == pytest.approx(metrics.ndcg_at_k(Y, S, 3), rel=1e-12)


def test_worked_by_hand():
    Y, S = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 0]]), [[9, 5, 1], [7, 2, 1], [1, 2, 3]]
    p = [0.25, 0.5, 0.5]
    # Found 4 and 0, at best 4 and 2; the third sample changes nothing.
    assert metrics.propensity_precision_at_k(Y, S, 1, propensities=p) == pytest.approx(4 / 6)
    assert metrics.propensity_ndcg_at_k(Y, S, 1, propensities=p) == pytest.approx(4 / 6)
    # Two labels: found (4 + 2) / 2 and 2 / 2, at best the same.
    assert metrics.propensity_precision_at_k(Y, S, 2, propensities=p) == pytest.approx(1)
    d = 1 / math.log2(3)
    first = (4 + 2 * d) / (1 + d)
    expected = (first + 2 * d) / (first + 2)
    assert metrics.propensity_ndcg_at_k(Y, S, 2, propensities=p) == pytest.approx(expected)


def test_the_best_predictions_have_the_value_one(rng):
    Y = rng.random((40, 7)) < 0.3
    p = rng.uniform(0.1, 1, 7)
    for function in (metrics.propensity_precision_at_k, metrics.propensity_ndcg_at_k):
        assert function(Y, Y / p, 3, propensities=p) == pytest.approx(1, rel=1e-12)
        assert function(Y, -(Y / p), 1, propensities=p) == 0
        assert np.isnan(function(np.zeros((3, 7)), np.ones((3, 7)), 3, propensities=p))


def test_a_propensity_that_no_true_label_needs_may_be_unknown():
    Y, S = np.array([[1, 0], [1, 0]]), np.array([[1.0, 2.0], [2.0, 1.0]])
    found = metrics.propensity_precision_at_k(Y, S, 1, propensities=[0.5, NAN])
    assert found == 0.5
    with pytest.raises(ValueError, match="The propensity of label 1, which occurs in y_true"):
        metrics.propensity_ndcg_at_k(Y[:, ::-1], S, 1, propensities=[0.5, NAN])
    # A label that is observed in samples without weight alone has no propensity, and no part.
    Y, w = np.array([[1, NAN], [0, 1]]), [1, 0]
    assert metrics.propensity_precision_at_k(Y, S, 1, sample_weight=w) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: metrics.label_propensities(np.eye(2), a=-1), "a must be a number >= 0, got -1"),
        (lambda p: metrics.label_propensities(np.eye(2), b=0), "b must be a number > 0, got 0"),
        (lambda p: metrics.label_propensities([[0.5]]), "y must be a label matrix of 0 and 1"),
        (lambda p: p([0.5]), r"propensities has shape \(1,\), needed \(2,\)"),
        (lambda p: p([0.5, 0]), "greater than 0 and at most 1, found 0.0 for label 1"),
        (lambda p: p([4.5, 0.5]), "found 4.5 for label 0. Pass what label_propensities returns"),
    ],
)
def test_wrong_propensities_raise_an_error(call, message):
    def measure(propensities):
        return metrics.propensity_precision_at_k(np.eye(2), np.eye(2), 1, propensities=propensities)

    with pytest.raises(ValueError, match=message):
        call(measure)
