"""Proper scoring rules of probabilities: log-loss and Brier score."""

from collections.abc import Callable
from typing import Any

import numpy as np

from eigenlabel.linalg._types import Floats
from eigenlabel.metrics.checked_inputs import Weights
from eigenlabel.metrics.probability_cells import Forecast, averaged, means_of_labels, read_forecast

Losses = Callable[[Floats, float], tuple[Floats, Floats]]


def _log_losses(p: Floats, eps: float) -> tuple[Floats, Floats]:
    """Return the loss of each probability if the label is present, and if it is absent."""
    p = np.clip(p, eps, 1 - eps)
    return -np.log(p), -np.log1p(-p)


def _squared_errors(p: Floats, eps: float) -> tuple[Floats, Floats]:  # noqa: ARG001
    """Return the error of each probability if the label is present, and if it is absent."""
    return (1 - p) ** 2, p**2


def _sums_by_label(forecast: Forecast, losses: Losses) -> tuple[Floats, Floats]:
    """Return the sum of losses and the weight of each label."""
    sums, weights = np.zeros(forecast.n_labels), np.zeros(forecast.n_labels)
    for block in forecast.blocks():
        present, absent = losses(block.probability, forecast.precision)
        loss = block.positive * present + (block.weight - block.positive) * absent
        sums += np.bincount(block.label, loss, forecast.n_labels)
        weights += np.bincount(block.label, block.weight, forecast.n_labels)
    return sums, weights


def log_loss(
    y_true: Any, probabilities: Any, *, average: str = "micro", sample_weight: Weights = None
) -> float:
    """Compute the mean of -log p over cells, where p is the probability of what is true.

    Probabilities are clipped to [eps, 1 - eps] with the machine precision eps of their type, as in
    scikit-learn, so that a certain but wrong probability costs 36 in float64 and 16 in float32.
    The loss of one label equals scikit-learn's ``log_loss``; scikit-learn reads a label matrix as
    classes of which each sample has one. The cost is linear in the number of cells, for sparse
    probabilities in the number of stored cells.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    probabilities : array-like or sparse matrix of shape (n_samples, n_labels)
        The probabilities of the labels. Cells that a sparse matrix does not store have the
        probability 0.
    average : {"micro", "macro"}, default="micro"
        Whether the mean is over all observed cells, or over labels of their means. The two differ
        only if labels are missing.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    value : float
        The loss, at least 0.

    Examples
    --------
    >>> from eigenlabel import metrics
    >>> round(metrics.log_loss([[1, 0], [0, 0]], [[0.8, 0.5], [0.2, 0.1]]), 4)
    0.3112
    """
    forecast = read_forecast(y_true, probabilities, sample_weight)
    return averaged(*_sums_by_label(forecast, _log_losses), average)


def log_loss_per_label(y_true: Any, probabilities: Any, *, sample_weight: Weights = None) -> Floats:
    """Compute the log-loss of each label (:func:`log_loss`).

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    probabilities : array-like or sparse matrix of shape (n_samples, n_labels)
        The probabilities of the labels. Cells that a sparse matrix does not store have the
        probability 0.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    losses : ndarray of shape (n_labels,)
        The losses, NaN for a label that is never observed.
    """
    forecast = read_forecast(y_true, probabilities, sample_weight)
    return means_of_labels(*_sums_by_label(forecast, _log_losses))


def brier_score(
    y_true: Any, probabilities: Any, *, average: str = "micro", sample_weight: Weights = None
) -> float:
    """Compute the mean squared difference of probabilities and true labels over cells.

    The score of one label equals scikit-learn's ``brier_score_loss``. The cost is linear in the
    number of cells, for sparse probabilities in the number of stored cells.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    probabilities : array-like or sparse matrix of shape (n_samples, n_labels)
        The probabilities of the labels. Cells that a sparse matrix does not store have the
        probability 0.
    average : {"micro", "macro"}, default="micro"
        Whether the mean is over all observed cells, or over labels of their means. The two differ
        only if labels are missing.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    value : float
        The score, between 0 and 1; smaller is better.

    Examples
    --------
    >>> from eigenlabel import metrics
    >>> round(metrics.brier_score([[1, 0], [0, 0]], [[0.8, 0.5], [0.2, 0.1]]), 4)
    0.085
    """
    forecast = read_forecast(y_true, probabilities, sample_weight)
    return averaged(*_sums_by_label(forecast, _squared_errors), average)


def brier_score_per_label(
    y_true: Any, probabilities: Any, *, sample_weight: Weights = None
) -> Floats:
    """Compute the Brier score of each label (:func:`brier_score`).

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    probabilities : array-like or sparse matrix of shape (n_samples, n_labels)
        The probabilities of the labels. Cells that a sparse matrix does not store have the
        probability 0.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    scores : ndarray of shape (n_labels,)
        The scores, NaN for a label that is never observed.
    """
    forecast = read_forecast(y_true, probabilities, sample_weight)
    return means_of_labels(*_sums_by_label(forecast, _squared_errors))
