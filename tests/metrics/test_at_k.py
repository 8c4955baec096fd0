"""The k best labels of each sample: dense, sparse, with ties and labels that are not observed."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.metrics as sk

from eigenlabel import metrics
from eigenlabel.metrics import at_k
from eigenlabel.metrics.at_k import best_labels, discounts, ideal_gains

NAN = np.nan
# Hand-worked: 3 samples x 2 labels with an empty row.
Y = np.array([[1, 0], [1, 1], [0, 0]])
S = np.array([[0.2, 0.8], [0.5, 0.1], [0.3, 0.9]])


def test_the_best_labels_of_dense_scores():
    Y = np.array([[1, 0, NAN], [0, 1, 1], [NAN, NAN, NAN]])
    scores = np.array([[0.2, 0.4, 0.9], [0.5, 0.5, 0.1], [1.0, 2.0, 3.0]])
    best = best_labels(Y, scores, 2)
    np.testing.assert_array_equal(best.labels, [[1, 0], [0, 1], [-1, -1]])
    np.testing.assert_array_equal(best.true, [[False, True], [False, True], [False, False]])
    np.testing.assert_array_equal(best.observed, [2, 3, 0])
    np.testing.assert_array_equal(best.sizes(), [2, 2, 1])
    np.testing.assert_array_equal(best.n_positives(), [1, 2, 0])
    np.testing.assert_array_equal(best.sample_weights([2, 3, 4]), [2, 3, 0])


def test_the_best_labels_of_sparse_scores_are_stored_ones():
    Y = sp.csr_array([[1, 0, 1, 0], [0, 1, 0, 0]])
    # The first sample has a stored zero and a negative score; the second has one label only.
    scores = sp.csr_array(([0.0, -1.0, 0.7], [0, 2, 1], [0, 2, 3]), shape=(2, 4))
    best = best_labels(Y, scores, 3)
    np.testing.assert_array_equal(best.labels, [[0, 2, -1], [1, -1, -1]])
    np.testing.assert_array_equal(best.true, [[True, True, False], [True, False, False]])
    np.testing.assert_array_equal(best.n_positives(), [2, 1])
    np.testing.assert_array_equal(best.sizes(), [3, 3])


@pytest.mark.parametrize("room", [1, 50, 2**20])
def test_sparse_scores_of_all_labels_are_dense_scores(rng, room, monkeypatch):
    monkeypatch.setattr(at_k, "ROOM", room)
    Y = np.where(rng.random((40, 7)) < 0.2, NAN, rng.random((40, 7)) < 0.4)
    scores = np.round(rng.standard_normal((40, 7)), 1)  # with ties
    everywhere = np.indices(Y.shape).reshape(2, -1)
    stored = sp.coo_array((scores.ravel(), everywhere), shape=Y.shape)
    dense, sparse = best_labels(Y, scores, 4), best_labels(Y, stored, 4)
    np.testing.assert_array_equal(sparse.labels, dense.labels)
    np.testing.assert_array_equal(sparse.true, dense.true)
    np.testing.assert_array_equal(sparse.observed, dense.observed)
    np.testing.assert_array_equal(sparse.n_positives(), dense.n_positives())


def test_of_stored_scores_that_tie_up_to_rounding_the_first_label_is_best():
    scores = sp.csr_array([[0.3, 0.1 + 0.2, 0.1], [0.1 + 0.2, 0.3, 0.1]])
    np.testing.assert_array_equal(best_labels(np.zeros((2, 3)), scores, 2).labels, [[0, 1], [0, 1]])


AT_K = (
    metrics.precision_at_k,
    metrics.ndcg_at_k,
    metrics.propensity_precision_at_k,
    metrics.propensity_ndcg_at_k,
    metrics.label_precision_at_k,
    metrics.label_recall_at_k,
    metrics.label_f1_at_k,
    metrics.labels_recalled_at_k,
)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("function", AT_K, ids=lambda f: f.__name__)
def test_metrics_of_sparse_scores_rank_other_labels_below_all_stored_ones(function, missing, rng):
    Y = (rng.random((60, 9)) < 0.3).astype(float)
    Y[3] = 0
    if missing:
        Y[rng.random(Y.shape) < 0.3] = NAN
        Y[7] = NAN
    scores, stored = rng.standard_normal(Y.shape), rng.random(Y.shape) < 0.7
    w = rng.uniform(0.5, 2, len(Y))
    given = sp.csr_array(np.where(stored, scores, 0))
    for k in (1, 3):
        # At most 3 labels are ranked here, and where fewer are stored any other label is wrong.
        enough = (stored & ~np.isnan(Y)).sum(axis=1) >= k
        expected = function(Y[enough], np.where(stored, scores, -9)[enough], k, **weight(w, enough))
        found = function(Y[enough], given[enough], k, **weight(w, enough))
        assert found == pytest.approx(expected, rel=1e-12)
        labels = sp.csr_array(Y)  # NaN is stored
        assert function(labels[enough], given[enough], k, **weight(w, enough)) == pytest.approx(
            expected, rel=1e-12
        )


def weight(w, rows):
    return {"sample_weight": w[rows]}


def test_a_sample_with_fewer_predictions_than_k_has_wrong_ones_in_their_place():
    Y, scores = sp.csr_array([[1, 1, 0], [1, 0, 0]]), sp.csr_array([[0.5, 0, 0], [0, 0, 0]])
    assert metrics.precision_at_k(Y, scores, 2) == (1 / 2 + 0) / 2
    assert metrics.ndcg_at_k(Y, scores, 2) == pytest.approx(1 / (1 + 1 / np.log2(3)) / 2)
    assert metrics.label_precision_at_k(Y, scores, 2) == 1 / 2  # the second label: none is 0
    assert metrics.label_recall_at_k(Y, scores, 2) == (1 / 2 + 0) / 2


def test_gains_of_ranks():
    np.testing.assert_allclose(discounts(3), [1, 1 / np.log2(3), 0.5], rtol=1e-15)
    found = ideal_gains(np.array([0, 1, 2, 9]), 2)
    np.testing.assert_allclose(found, [0, 1, 1 + 1 / np.log2(3), 1 + 1 / np.log2(3)], rtol=1e-15)


def test_precision_at_k_by_brute_force(problem):
    Y, S, _, _ = problem
    for k in (1, 3, 6):
        hits = [
            sum(Y[i, j] for j in sorted(range(6), key=lambda j: (-S[i, j], j))[:k])
            for i in range(len(Y))
        ]
        assert metrics.precision_at_k(Y, S, k) == pytest.approx(np.mean(hits) / k)


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
