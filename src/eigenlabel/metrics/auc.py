"""Areas under ROC curves: of each label, their mean, and of all labels together."""

from typing import Any

import numpy as np
from scipy.stats import rankdata

from eigenlabel.linalg._types import Bools, Floats
from eigenlabel.metrics.checked_inputs import Weights, average, columns, read_scores, sample_weights


def _area(y: Bools, s: Floats, w: Floats) -> float:
    """Return P(positive scored above negative), ties a half, with weights; NaN if undefined."""
    _, group = np.unique(s, return_inverse=True)
    negative = np.bincount(group, weights=w * ~y)
    positive = np.bincount(group, weights=w * y)
    total = positive.sum() * negative.sum()
    below = np.cumsum(negative) - negative / 2
    return float(positive @ below / total) if total > 0 else float("nan")


def auc_per_label(y_true: Any, scores: Any, *, sample_weight: Weights = None) -> Floats:
    """Compute the area under the ROC curve of each label.

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
    auc : ndarray of shape (n_labels,)
        The areas, NaN for a label without a positive or without a negative.
    """
    Y, F, observed = read_scores(y_true, scores)
    if sample_weight is not None or observed is not None:
        return np.array([_area(*cells) for cells in columns(Y, F, observed, sample_weight)])
    positive = Y.sum(axis=0)
    pairs = positive * (len(Y) - positive)
    below = (rankdata(F, axis=0) * Y).sum(axis=0) - positive * (positive + 1) / 2
    return np.where(pairs > 0, below / np.maximum(pairs, 1), np.nan)


def auc_macro(y_true: Any, scores: Any, *, sample_weight: Weights = None) -> float:
    """Compute the mean area under the ROC curve over labels.

    Labels without a positive or without a negative are left out.

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
        The mean area, between 0 and 1.
    """
    auc = auc_per_label(y_true, scores, sample_weight=sample_weight)
    defined = ~np.isnan(auc)
    return average(auc[defined], np.ones(defined.sum()))


def auc_micro(y_true: Any, scores: Any, *, sample_weight: Weights = None) -> float:
    """Compute the area under the ROC curve of all cells of the label matrix together.

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
        The area, between 0 and 1.
    """
    Y, F, observed = read_scores(y_true, scores)
    w = np.repeat(sample_weights(sample_weight, len(Y)), Y.shape[1])
    cells = slice(None) if observed is None else observed.ravel()
    return _area(Y.ravel()[cells], F.ravel()[cells], w[cells])
