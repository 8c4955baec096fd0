"""Metrics of the order of labels, worked by hand and by brute force."""

import numpy as np
import pytest
import sklearn.metrics as sk

from eigenlabel import metrics
from eigenlabel.metrics.rankings import ranks

# Hand-worked: 3 samples x 2 labels with an empty row.
Y = np.array([[1, 0], [1, 1], [0, 0]])
S = np.array([[0.2, 0.8], [0.5, 0.1], [0.3, 0.9]])


def test_hand_worked_ties():
    Y, S = np.array([[0, 1, 0]]), np.array([[1.0, 1.0, 0.0]])
    assert metrics.ranking_loss(Y, S) == 0.5  # the tie is an error
    assert metrics.one_error(Y, S) == 0.0  # one of the tied top is true
    assert metrics.average_precision(Y, S) == 0.5
    assert metrics.coverage(Y, S) == 1.0
    assert metrics.average_precision(Y, S, ties="index") == 1.0  # higher index first
    assert metrics.coverage(Y, S, ties="index") == 0.0
    assert metrics.average_precision(Y[:, ::-1], S[:, ::-1], ties="index") == 0.5
    assert metrics.average_precision(np.array([[1, 0, 0]]), S, ties="index") == 0.5


def test_precision_at_k_by_brute_force(problem):
    Y, S, _, _ = problem
    for k in (1, 3, 6):
        hits = [
            sum(Y[i, j] for j in sorted(range(6), key=lambda j: (-S[i, j], j))[:k])
            for i in range(len(Y))
        ]
        assert metrics.precision_at_k(Y, S, k) == pytest.approx(np.mean(hits) / k)


def test_hand_worked_ranking():
    # Only row 0 has both a true and a false label, in the wrong order.
    assert metrics.ranking_loss(Y, S) == 1.0
    assert metrics.ranking_loss(Y, S, trivial="count") == pytest.approx(1 / 3)
    assert metrics.average_precision(Y, S) == 0.5
    assert metrics.average_precision(Y, S, trivial="count") == pytest.approx((0.5 + 1 + 1) / 3)
    assert metrics.one_error(Y, S) == 1.0
    assert metrics.one_error(Y, S, trivial="count") == pytest.approx(1 / 3)
    # Row 0 needs both labels, row 1 too, row 2 has none and is left out.
    assert metrics.coverage(Y, S) == 1.0
    assert metrics.precision_at_k(Y, S, 1) == pytest.approx(1 / 3)
    assert metrics.precision_at_k(Y, S, 2) == pytest.approx(3 / 6)
    # label 0: positives .2, .5, negative .3: 1/2; label 1: positive .1 below .8, .9: 0
    np.testing.assert_allclose(metrics.auc_per_label(Y, S), [0.5, 0.0])
    assert metrics.auc_macro(Y, S) == 0.25


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.ranking_loss(Y, S, trivial="drop"), "trivial must be one of 'skip'"),
        (lambda: metrics.coverage(Y, S, ties="random"), "ties must be one of"),
        (lambda: metrics.precision_at_k(Y, S, 3), "k must be an integer between 1 and 2, got 3"),
    ],
)
def test_wrong_options_raise_an_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("ties", ["worst", "index"])
def test_ranks_count_the_labels_that_are_not_below(ties, rng):
    scores = rng.integers(0, 3, (20, 5)).astype(float)
    found = ranks(scores, ties)
    for row, places in zip(scores, found, strict=True):
        for j, place in enumerate(places):
            above = sum(row > row[j])
            tied = sum(row == row[j]) if ties == "worst" else sum(row[j:] == row[j])
            assert place == above + tied


def naive_ndcg(Y, S, k, zero_division):
    values = []
    for y, s in zip(Y, S, strict=True):
        order = sorted(range(len(y)), key=lambda j: (-s[j], j))[:k]
        gain = sum(y[j] / np.log2(r + 2) for r, j in enumerate(order))
        ideal = sum(1 / np.log2(r + 2) for r in range(min(k, int(y.sum()))))
        values.append(gain / ideal if ideal else zero_division)
    return np.array(values)


@pytest.mark.parametrize("zero_division", [0.0, 1.0, np.nan])
@pytest.mark.parametrize("k", [1, 3, 6])
def test_ndcg_at_k_by_brute_force(problem, k, zero_division):
    Y, S, _, w = problem
    values = naive_ndcg(Y, S, k, zero_division)
    kept = ~np.isnan(values)
    assert kept.all() == (zero_division == zero_division)  # noqa: PLR0124
    expected = np.average(values[kept], weights=w[kept])
    found = metrics.ndcg_at_k(Y, S, k, zero_division=zero_division, sample_weight=w)
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_ndcg_at_k_is_that_of_scikit_learn_without_ties(rng, k):
    Y, S, w = rng.random((50, 5)) < 0.3, rng.standard_normal((50, 5)), rng.uniform(1, 2, 50)
    for kw in ({}, {"sample_weight": w}):
        theirs = sk.ndcg_score(Y, S, k=k, **kw)
        assert metrics.ndcg_at_k(Y, S, k, **kw) == pytest.approx(theirs, rel=1e-12)


def test_ndcg_at_one_is_precision(problem):
    Y, S, _, _ = problem
    assert metrics.ndcg_at_k(Y, S, 1) == pytest.approx(metrics.precision_at_k(Y, S, 1), rel=1e-12)


def test_hand_worked_ndcg():
    d = 1 / np.log2(3)
    # Row 0 has its one label second, row 1 both labels, row 2 none.
    assert metrics.ndcg_at_k(Y, S, 2) == pytest.approx((d + 1 + 0) / 3)
    assert metrics.ndcg_at_k(Y, S, 2, zero_division=1) == pytest.approx((d + 1 + 1) / 3)
    assert metrics.ndcg_at_k(Y, S, 2, zero_division=np.nan) == pytest.approx((d + 1) / 2)
    partly = np.array([[1, np.nan], [np.nan, np.nan], [0, 1]])
    assert metrics.ndcg_at_k(partly, S, 2) == 1  # each label is ranked among those observed
    assert np.isnan(metrics.ndcg_at_k(np.zeros((2, 2)), S[:2], zero_division=np.nan, k=1))
    with pytest.raises(ValueError, match="zero_division must be a number between 0 and 1"):
        metrics.ndcg_at_k(Y, S, 2, zero_division=2)
    with pytest.raises(TypeError, match="zero_division must be a number"):
        metrics.ndcg_at_k(Y, S, 2, zero_division="warn")
