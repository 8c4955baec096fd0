"""The k best labels of each sample: dense, sparse, with ties and labels that are not observed."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel import metrics
from eigenlabel.metrics import at_k
from eigenlabel.metrics.at_k import best_labels, discounts, ideal_gains

NAN = np.nan


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
