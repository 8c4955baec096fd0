"""Metrics of the order of labels, worked by hand and by brute force."""

import numpy as np
import pytest

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
