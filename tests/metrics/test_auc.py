"""Areas under ROC curves, by hand and against pairs of samples."""

import numpy as np
import pytest

from eigenlabel import metrics


def test_labels_without_auc_are_left_out():
    Y = np.array([[0, 1, 1], [0, 1, 0]])
    S = np.array([[1.0, 2, 3], [2, 1, 0]])
    np.testing.assert_array_equal(metrics.auc_per_label(Y, S), [np.nan, np.nan, 1.0])
    assert metrics.auc_macro(Y, S) == 1.0
    assert np.isnan(metrics.auc_macro(Y[:, :2], S[:, :2]))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_area_is_the_share_of_pairs_in_the_right_order(problem, weighted):
    Y, S, _, w = problem
    w = w if weighted else np.ones(len(Y))
    expected = []
    for y, s in zip(Y.T, S.T, strict=True):
        pairs = np.outer(w * (y == 1), w * (y == 0))
        right = (s[:, None] > s) + 0.5 * (s[:, None] == s)
        expected.append((pairs * right).sum() / pairs.sum())
    found = metrics.auc_per_label(Y, S, sample_weight=w)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert metrics.auc_macro(Y, S, sample_weight=w) == pytest.approx(np.mean(expected), rel=1e-12)
