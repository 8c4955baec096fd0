"""Metrics that compare label sets: Hamming loss, accuracy and the F1 family."""

from typing import Any

import numpy as np

from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.metrics.checked_inputs import Weights, average, read_label_sets, sample_weights


def f1_from_counts(
    hits: Floats | Ints,
    predicted: Floats | Ints,
    positives: Floats | Ints,
    zero_division: float = 0.0,
) -> Floats:
    """Compute F1, 2 hits / (predicted + positives), from numbers of samples.

    Parameters
    ----------
    hits : ndarray
        The numbers, or weights, of positives that are predicted.
    predicted : ndarray
        The numbers, or weights, of predictions.
    positives : ndarray
        The numbers, or weights, of positives.
    zero_division : float, default=0.0
        The value of F1 if there is neither a positive nor a prediction (0/0).

    Returns
    -------
    f1 : ndarray
        F1, of the common shape of the counts.
    """
    total = predicted + positives
    return np.where(total > 0, 2 * hits / np.where(total > 0, total, 1.0), zero_division)


def hamming_loss(y_true: Any, y_pred: Any, *, sample_weight: Weights = None) -> float:
    """Compute the share of wrong cells of the label matrix.

    All observed cells count equally.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    y_pred : array-like or sparse matrix of shape (n_samples, n_labels)
        The predicted labels, 0 and 1.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    value : float
        The loss, between 0 and 1.
    """
    Y, P, observed = read_label_sets(y_true, y_pred)
    w = sample_weights(sample_weight, len(Y))
    if observed is None:
        return average((Y != P).mean(axis=1), w)
    size = observed.sum(axis=1)
    return average((Y != P).sum(axis=1) / np.maximum(size, 1), w * size)


def accuracy(y_true: Any, y_pred: Any, *, sample_weight: Weights = None) -> float:
    """Compute the share of samples whose whole label set is right.

    Only the observed labels of a sample are compared. Samples without observed labels are left out.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    y_pred : array-like or sparse matrix of shape (n_samples, n_labels)
        The predicted labels, 0 and 1.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    value : float
        The accuracy, between 0 and 1.
    """
    Y, P, observed = read_label_sets(y_true, y_pred)
    return average((Y == P).all(axis=1), sample_weights(sample_weight, len(Y), observed))


def label_counts(Y: Bools, P: Bools, sample_weight: Weights) -> tuple[Floats, Floats, Floats]:
    """Return the weights of hits, predictions and positives of each label."""
    w = sample_weights(sample_weight, len(Y))
    return w @ (Y & P), w @ P, w @ Y


def f1_macro(
    y_true: Any, y_pred: Any, *, zero_division: float = 0.0, sample_weight: Weights = None
) -> float:
    """Compute the mean of F1 over labels.

    Labels that are never observed are left out.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    y_pred : array-like or sparse matrix of shape (n_samples, n_labels)
        The predicted labels, 0 and 1.
    zero_division : float, default=0.0
        The value of F1 if there is neither a positive nor a prediction (0/0).
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    value : float
        Macro F1, between 0 and 1.
    """
    Y, P, observed = read_label_sets(y_true, y_pred)
    hits, predicted, positives = label_counts(Y, P, sample_weight)
    f1 = f1_from_counts(hits, predicted, positives, zero_division)
    if observed is None:
        return float(f1.mean())
    known = sample_weights(sample_weight, len(Y)) @ observed > 0
    return average(f1[known], np.ones(known.sum()))


def f1_micro(
    y_true: Any, y_pred: Any, *, zero_division: float = 0.0, sample_weight: Weights = None
) -> float:
    """Compute F1 of all cells of the label matrix together.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    y_pred : array-like or sparse matrix of shape (n_samples, n_labels)
        The predicted labels, 0 and 1.
    zero_division : float, default=0.0
        The value of F1 if there is neither a positive nor a prediction (0/0).
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    value : float
        Micro F1, between 0 and 1.
    """
    Y, P, _ = read_label_sets(y_true, y_pred)
    hits, predicted, positives = (np.asarray(c.sum()) for c in label_counts(Y, P, sample_weight))
    return float(f1_from_counts(hits, predicted, positives, zero_division))


def f1_samples(
    y_true: Any, y_pred: Any, *, zero_division: float = 0.0, sample_weight: Weights = None
) -> float:
    """Compute the mean over samples of F1 of their label sets.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    y_pred : array-like or sparse matrix of shape (n_samples, n_labels)
        The predicted labels, 0 and 1.
    zero_division : float, default=0.0
        The value of F1 if there is neither a positive nor a prediction (0/0).
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    value : float
        F1 by sample, between 0 and 1.
    """
    Y, P, observed = read_label_sets(y_true, y_pred)
    f1 = f1_from_counts((Y & P).sum(axis=1), P.sum(axis=1), Y.sum(axis=1), zero_division)
    return average(f1, sample_weights(sample_weight, len(Y), observed))


def recall_samples(y_true: Any, y_pred: Any, *, sample_weight: Weights = None) -> float:
    """Compute the mean over samples of the share of their labels that are predicted.

    It is the figure that ``RiskControl(recall=...)`` bounds. A sample without labels counts as 1.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels), or list of label sets
        The true labels, NaN where a label is not observed.
    y_pred : array-like or sparse matrix of shape (n_samples, n_labels), or list of label sets
        The predicted labels, 0 and 1.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    value : float
        Recall by sample, between 0 and 1.
    """
    Y, P, observed = read_label_sets(y_true, y_pred)
    found, total = (Y & P).sum(axis=1), Y.sum(axis=1)
    recall = np.where(total > 0, found / np.maximum(total, 1), 1.0)
    return average(recall, sample_weights(sample_weight, len(Y), observed))


def false_discovery_samples(y_true: Any, y_pred: Any, *, sample_weight: Weights = None) -> float:
    """Compute the mean over samples of the share of their predicted labels that are wrong.

    It is the figure that ``RiskControl(false_discovery=...)`` bounds. A sample without predicted
    labels counts as 0.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels), or list of label sets
        The true labels, NaN where a label is not observed.
    y_pred : array-like or sparse matrix of shape (n_samples, n_labels), or list of label sets
        The predicted labels, 0 and 1.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    value : float
        The false-discovery proportion by sample, between 0 and 1.
    """
    Y, P, observed = read_label_sets(y_true, y_pred)
    share = (P & ~Y).sum(axis=1) / np.maximum(P.sum(axis=1), 1)
    return average(share, sample_weights(sample_weight, len(Y), observed))
