"""Metrics of the scores of one label, and their means over labels."""

import numpy as np
import pytest
import sklearn.metrics as sk

from eigenlabel import metrics


@pytest.mark.parametrize("weighted", [False, True])
def test_figures_by_label_of_the_top_labels(problem, weighted):
    """Section 7.1 of Xiong et al. (KGHA), label by label."""
    Y, S, _, w = problem
    Y = Y.copy()
    Y[:, 2] = 0  # a label without a positive is left out
    w = w if weighted else np.ones(len(Y))
    precisions, recalls = [], []
    for j in range(6):
        given = [j in sorted(range(6), key=lambda i: (-row[i], i))[:3] for row in S]
        assigned = sum(w[i] for i in range(len(Y)) if given[i])
        right = sum(w[i] for i in range(len(Y)) if given[i] and Y[i, j])
        having = sum(w[i] for i in range(len(Y)) if Y[i, j])
        if having:
            precisions.append(right / assigned if assigned else 0.0)
            recalls.append(right / having)
    P, R = np.mean(precisions), np.mean(recalls)
    kw = {"sample_weight": w}
    assert metrics.label_precision_at_k(Y, S, 3, **kw) == pytest.approx(P, rel=1e-12)
    assert metrics.label_recall_at_k(Y, S, 3, **kw) == pytest.approx(R, rel=1e-12)
    assert metrics.label_f1_at_k(Y, S, 3, **kw) == pytest.approx(2 * P * R / (P + R), rel=1e-12)
    assert metrics.labels_recalled_at_k(Y, S, 3, **kw) == sum(r > 0 for r in recalls)
    by_label = [
        sk.average_precision_score(Y[:, j], S[:, j], sample_weight=w) for j in (0, 1, 3, 4, 5)
    ]
    found = metrics.label_average_precision(Y, S, **kw)
    assert found == pytest.approx(np.mean(by_label), rel=1e-12)
    Y[3] = 0  # a row without an order, left out or perfect
    for trivial in ("skip", "count"):
        loss = metrics.ranking_loss(Y, S, trivial=trivial, **kw)
        found = metrics.ranking_accuracy(Y, S, trivial=trivial, **kw)
        assert found == pytest.approx(1 - loss, rel=1e-12)


def test_figures_by_label_at_their_ends():
    Y, S = np.eye(3, dtype=int), np.eye(3)
    assert metrics.label_f1_at_k(Y, S, 1) == metrics.label_average_precision(Y, S) == 1
    assert metrics.label_f1_at_k(Y, -S, 1) == 0
    assert metrics.labels_recalled_at_k(Y, -S, 1) == 0
    assert np.isnan(metrics.label_f1_at_k(np.zeros((3, 3), int), S, 1))
    assert np.isnan(metrics.label_average_precision(np.zeros((3, 3), int), S))
    with pytest.raises(ValueError, match="k must be"):
        metrics.label_recall_at_k(Y, S, 4)


def test_scores_that_tie_up_to_rounding_go_to_the_first_label():
    scores = np.array([[0.3, 0.1 + 0.2, 0.1], [0.1 + 0.2, 0.3, 0.1]])
    first = np.array([[1, 0, 0], [1, 0, 0]])
    assert metrics.precision_at_k(first, scores, 1) == 1
    assert metrics.label_recall_at_k(first, scores, 1) == 1
