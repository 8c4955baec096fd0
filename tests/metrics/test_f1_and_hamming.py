"""Metrics of label sets, worked by hand and by their definitions."""

import numpy as np
import pytest

from eigenlabel import metrics
from eigenlabel.metrics.f1_and_hamming import label_counts

# Hand-worked: 3 samples x 2 labels with an empty row, and an empty column in the label sets.
Y = np.array([[1, 0], [1, 1], [0, 0]])
P = np.array([[1, 0], [0, 0], [1, 0]])


def test_hand_worked_label_sets():
    assert metrics.hamming_loss(Y, P) == pytest.approx(3 / 6)
    assert metrics.accuracy(Y, P) == pytest.approx(1 / 3)
    # label 0: TP 1, predicted 2, positives 2 -> 1/2; label 1: TP 0, predicted 0, positives 1 -> 0
    assert metrics.f1_macro(Y, P) == pytest.approx(0.25)
    assert metrics.f1_micro(Y, P) == pytest.approx(2 / 5)
    # rows: 1, 0, 0 (nothing true, one predicted)
    assert metrics.f1_samples(Y, P) == pytest.approx(1 / 3)


def test_hand_worked_zero_division():
    empty = np.zeros((3, 2), dtype=int)
    assert metrics.f1_macro(empty, empty) == 0
    assert metrics.f1_macro(empty, empty, zero_division=1) == 1
    assert metrics.f1_micro(empty, empty, zero_division=1) == 1
    assert metrics.f1_samples(Y, np.zeros_like(Y), zero_division=1) == pytest.approx(1 / 3)


def test_labels_are_counted_with_the_weights_of_their_samples():
    hits, predicted, positives = label_counts(Y == 1, P == 1, [2, 3, 5])
    np.testing.assert_array_equal(hits, [2, 0])
    np.testing.assert_array_equal(predicted, [7, 0])
    np.testing.assert_array_equal(positives, [5, 3])
    counted = metrics.f1_from_counts(hits, predicted, positives, 0.5)
    np.testing.assert_allclose(counted, [4 / 12, 0])
    assert metrics.f1_macro(Y, P, sample_weight=[2, 3, 5]) == pytest.approx(1 / 6)


def test_sets_of_different_shapes_raise_an_error():
    with pytest.raises(ValueError, match=r"y_true has shape \(3, 2\), y_pred \(3, 1\)"):
        metrics.accuracy(Y, P[:, :1])


def test_recall_and_false_discovery_by_sample():
    Y = np.array([[1, 1, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0]])
    P = np.array([[1, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0]])
    assert metrics.recall_samples(Y, P) == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert metrics.false_discovery_samples(Y, P) == pytest.approx((2 / 3 + 1 + 0) / 3)
    w = [2, 0, 1]
    assert metrics.recall_samples(Y, P, sample_weight=w) == pytest.approx((2 / 2 + 0) / 3)
    assert metrics.false_discovery_samples(Y, P, sample_weight=w) == pytest.approx(2 * 2 / 3 / 3)
    sets = [{"a"}, {"b", "c"}]
    assert metrics.recall_samples(sets, [{"a", "b"}, {"c"}]) == pytest.approx(0.75)


def test_cells_that_are_not_observed_do_not_count_by_sample():
    Y = np.array([[1, np.nan, 0], [np.nan, np.nan, np.nan]])
    P = np.array([[0, 1, 1], [1, 1, 1]])
    assert metrics.recall_samples(Y, P) == 0
    assert metrics.false_discovery_samples(Y, P) == 1
