"""Metrics that compare the scores of samples, label by label."""

from typing import Any

import numpy as np

from eigenlabel.linalg._types import Bools, Floats
from eigenlabel.metrics.at_k import best_labels
from eigenlabel.metrics.checked_inputs import Weights, average, columns, read_scores, sample_weights


def _label_shares_at_k(
    y_true: Any, scores: Any, k: int, sample_weight: Weights
) -> tuple[Floats, Floats]:
    """Return precision and recall of the labels that occur, with k labels for each sample."""
    best = best_labels(y_true, scores, k)
    m = best.positives.shape[1]
    w = sample_weights(sample_weight, len(best.labels))
    per_cell = np.broadcast_to(w[:, None], best.labels.shape)
    hits = np.bincount(best.labels[best.true], per_cell[best.true], m)
    there = best.labels >= 0
    predicted = np.bincount(best.labels[there], per_cell[there], m)
    positives = w @ best.positives
    known = positives > 0
    precision = hits / np.where(predicted > 0, predicted, 1.0)
    return precision[known], hits[known] / positives[known]


def label_precision_at_k(
    y_true: Any, scores: Any, k: int = 5, *, sample_weight: Weights = None
) -> float:
    """Compute the mean precision over labels if each sample has its k best labels.

    This is the protocol of Xiong et al. (KGHA), Section 7.1, with k = 5. Labels without a positive
    are left out, and the precision of a label that no sample has is 0. Ties go to the first label.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    scores : array-like or sparse matrix of shape (n_samples, n_labels)
        The scores. A label with a higher score is ranked first. The stored cells of a sparse
        matrix are the labels that are predicted; no other label is ranked.
    k : int, default=5
        The number of labels with the highest scores of each sample.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    value : float
        The mean precision, between 0 and 1.
    """
    precision, _ = _label_shares_at_k(y_true, scores, k, sample_weight)
    return average(precision, np.ones(len(precision)))


def label_recall_at_k(
    y_true: Any, scores: Any, k: int = 5, *, sample_weight: Weights = None
) -> float:
    """Compute the mean recall over labels if each sample has its k best labels.

    This is the protocol of Xiong et al. (KGHA), Section 7.1, with k = 5. Labels without a positive
    are left out. Ties go to the first label.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    scores : array-like or sparse matrix of shape (n_samples, n_labels)
        The scores. A label with a higher score is ranked first. The stored cells of a sparse
        matrix are the labels that are predicted; no other label is ranked.
    k : int, default=5
        The number of labels with the highest scores of each sample.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    value : float
        The mean recall, between 0 and 1.
    """
    _, recall = _label_shares_at_k(y_true, scores, k, sample_weight)
    return average(recall, np.ones(len(recall)))


def label_f1_at_k(y_true: Any, scores: Any, k: int = 5, *, sample_weight: Weights = None) -> float:
    """Compute 2 P R / (P + R) of the mean precision P and the mean recall R over labels.

    This is the F1 of Xiong et al. (KGHA), which is not the mean of the F1 of labels. It is 0 if
    nothing is right.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    scores : array-like or sparse matrix of shape (n_samples, n_labels)
        The scores. A label with a higher score is ranked first. The stored cells of a sparse
        matrix are the labels that are predicted; no other label is ranked.
    k : int, default=5
        The number of labels with the highest scores of each sample.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    value : float
        The value, between 0 and 1.
    """
    precision, recall = _label_shares_at_k(y_true, scores, k, sample_weight)
    ones = np.ones(len(precision))
    P, R = average(precision, ones), average(recall, ones)
    return 2 * P * R / (P + R) if P + R > 0 or np.isnan(P) else 0.0


def labels_recalled_at_k(
    y_true: Any, scores: Any, k: int = 5, *, sample_weight: Weights = None
) -> float:
    """Count the labels with a recall above zero (N+) if each sample has its k best labels.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    scores : array-like or sparse matrix of shape (n_samples, n_labels)
        The scores. A label with a higher score is ranked first. The stored cells of a sparse
        matrix are the labels that are predicted; no other label is ranked.
    k : int, default=5
        The number of labels with the highest scores of each sample.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    value : float
        The number of labels.
    """
    _, recall = _label_shares_at_k(y_true, scores, k, sample_weight)
    return float((recall > 0).sum())


def _label_average_precision(y: Bools, s: Floats, w: Floats) -> float:
    """Return the mean precision at the score of each positive, with weights; NaN without one."""
    _, group = np.unique(-s, return_inverse=True)
    positive = np.bincount(group, weights=w * y)
    above, true_above = np.cumsum(np.bincount(group, weights=w)), np.cumsum(positive)
    total = positive.sum()
    shares = true_above / np.where(above > 0, above, 1.0)
    return float(positive @ shares / total) if total > 0 else float("nan")


def label_average_precision(y_true: Any, scores: Any, *, sample_weight: Weights = None) -> float:
    """Compute the mean over labels of average precision, with samples ranked by score.

    This is mean average precision by label; :func:`average_precision` is the mean by sample. Tied
    samples share the worst rank, and labels without a positive are left out. The value equals the
    mean of scikit-learn's ``average_precision_score``.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    scores : array-like of shape (n_samples, n_labels)
        The scores. A label with a higher score is ranked first.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    value : float
        Mean average precision, between 0 and 1.
    """
    labels = columns(*read_scores(y_true, scores), sample_weight)
    found = np.array([_label_average_precision(*cells) for cells in labels])
    found = found[~np.isnan(found)]
    return average(found, np.ones(len(found)))
