"""The arrays of a metric: how they are checked, and which cells and samples count."""

import numpy as np
import pandas as pd
import pytest

from eigenlabel import metrics
from eigenlabel.metrics.checked_inputs import (
    average,
    columns,
    read_label_sets,
    read_scores,
    sample_weights,
)

Y = np.array([[1, 0], [1, 1], [0, 0]])
P = np.array([[1, 0], [0, 0], [1, 0]])
S = np.array([[0.2, 0.8], [0.5, 0.1], [0.3, 0.9]])
PARTLY = np.array([[1, np.nan], [np.nan, np.nan], [0, 1]])


def test_cells_that_are_not_observed_are_false_in_both_label_sets():
    true, predicted, observed = read_label_sets(PARTLY, np.ones((3, 2), dtype=int))
    np.testing.assert_array_equal(observed, ~np.isnan(PARTLY))
    np.testing.assert_array_equal(true, PARTLY == 1)
    np.testing.assert_array_equal(predicted, observed)


def test_cells_that_are_not_observed_have_the_lowest_score():
    true, scores, observed = read_scores(PARTLY, S)
    np.testing.assert_array_equal(true, PARTLY == 1)
    np.testing.assert_array_equal(observed, ~np.isnan(PARTLY))
    np.testing.assert_array_equal(scores, np.where(np.isnan(PARTLY), -np.inf, S))


def test_no_mask_is_made_if_all_cells_are_observed():
    assert read_label_sets(Y, P)[2] is None
    true, scores, observed = read_scores(Y.astype(float), S)
    assert observed is None
    np.testing.assert_array_equal(true, Y == 1)
    np.testing.assert_array_equal(scores, S)


def test_samples_without_an_observed_cell_have_no_weight():
    np.testing.assert_array_equal(sample_weights(None, 3), [1, 1, 1])
    observed = ~np.isnan(PARTLY)
    np.testing.assert_array_equal(sample_weights([2, 3, 4], 3, observed), [2, 0, 4])


def test_a_mean_over_nothing_is_nan():
    assert average(np.array([1.0, 4.0]), np.array([2.0, 1.0])) == 2
    assert np.isnan(average(np.array([1.0, 4.0]), np.zeros(2)))


def test_columns_contain_the_observed_samples_of_each_label():
    true, scores, observed = read_scores(PARTLY, S)
    found = list(columns(true, scores, observed, [2, 3, 4]))
    expected = [([True, False], [0.2, 0.3], [2, 4]), ([True], [0.9], [4])]
    for parts, wanted in zip(found, expected, strict=True):
        for part, each in zip(parts, wanted, strict=True):
            np.testing.assert_array_equal(part, each)


def test_predictions_must_be_known():
    Y = np.array([[1.0, np.nan]])
    with pytest.raises(ValueError, match="y_pred contains NaN, at"):
        metrics.hamming_loss(Y, Y)
    with pytest.raises(ValueError, match="scores must be finite, found nan"):
        metrics.ranking_loss(Y, Y)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.f1_macro(Y, P[:2]), r"y_true has shape \(3, 2\), y_pred \(2, 2\)"),
        (lambda: metrics.f1_macro(Y, S), "y_pred must be a label matrix of 0 and 1, found 0.2"),
        (lambda: metrics.ranking_loss(Y, S[:, :1]), r"scores has shape \(3, 1\)"),
        (lambda: metrics.ranking_loss(Y, np.full((3, 2), np.nan)), "finite, found nan"),
        (lambda: metrics.hamming_loss(Y, P, sample_weight=[1]), "sample_weight has shape"),
        (lambda: metrics.f1_macro(Y, P, sample_weight=[1, np.nan, 1]), "must be finite"),
        (lambda: metrics.f1_macro(Y[:0], P[:0]), "No samples"),
        (lambda: metrics.ranking_loss(Y, S.astype(str)), "must be numbers"),
        (lambda: metrics.ranking_loss(Y, S[0]), "must be a matrix"),
    ],
)
def test_wrong_arrays_raise_an_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_with_other_names_of_labels_are_refused(library):
    module = pytest.importorskip(library)
    y = module.DataFrame({"x": [1, 0, 1], "y": [0, 1, 0]})
    swapped = module.DataFrame({"y": [0, 1, 0], "x": [1, 0, 1]})
    with pytest.raises(ValueError, match="Column 0 is 'x' in y_true and 'y' in y_pred"):
        metrics.f1_macro(y, swapped)
    with pytest.raises(ValueError, match="'y' in scores"):
        metrics.auc_macro(y, swapped)
    assert metrics.f1_macro(y, swapped[y.columns]) == 1.0
    assert metrics.f1_macro(y, swapped[y.columns].to_numpy()) == 1.0


def test_columns_that_are_numbers_have_no_names():
    y = pd.DataFrame({"x": [1, 0, 1], "y": [0, 1, 0]})
    assert metrics.f1_macro(y, pd.DataFrame(y.to_numpy())) == 1.0
