"""Metrics that compare the order of labels by their scores, sample by sample."""

from typing import Any

import numpy as np
from scipy.stats import rankdata

from eigenlabel.inputs.parameters import check_choice
from eigenlabel.linalg._types import Bools, Floats
from eigenlabel.metrics.checked_inputs import (
    Observed,
    Weights,
    average,
    read_scores,
    sample_weights,
)


def ranks(scores: Floats, ties: str) -> Floats:
    """Return the rank of each label in its row, 1 for the highest score."""
    check_choice("ties", ties, ("worst", "index"))
    if ties == "worst":
        return rankdata(-scores, method="max", axis=1)
    return rankdata(-scores[:, ::-1], method="ordinal", axis=1)[:, ::-1]


def absent_labels(Y: Bools, observed: Observed) -> Bools:
    """Return the cells of labels that are known to be absent."""
    return ~Y if observed is None else observed & ~Y


def row_means(per_label: Floats, Y: Bools) -> Floats:
    """Return the mean over the true labels of each sample, 0 without any."""
    return np.asarray((per_label * Y).sum(axis=1) / np.maximum(Y.sum(axis=1), 1))


def mean_over_samples(
    values: Floats,
    Y: Bools,
    observed: Observed,
    perfect: float,
    trivial: str,
    sample_weight: Weights,
) -> float:
    """Return the mean over samples; ``trivial`` says what becomes of samples without an order."""
    check_choice("trivial", trivial, ("skip", "count"))
    ordered = Y.any(axis=1) & absent_labels(Y, observed).any(axis=1)
    w = sample_weights(sample_weight, len(Y), observed)
    if trivial == "skip":
        return average(values[ordered], w[ordered])
    return average(np.where(ordered, values, perfect), w)


def ranking_loss(
    y_true: Any, scores: Any, *, trivial: str = "skip", sample_weight: Weights = None
) -> float:
    """Compute the share of pairs of a true and a false label that are in the wrong order.

    A tie is an error. The loss equals scikit-learn's ``label_ranking_loss`` with
    ``trivial="count"``.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    scores : array-like of shape (n_samples, n_labels)
        The scores. A label with a higher score is ranked first.
    trivial : {"skip", "count"}, default="skip"
        Whether samples with no label or with all labels are left out or count as perfect.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    value : float
        The loss, between 0 and 1.
    """
    Y, F, observed = read_scores(y_true, scores)
    above = rankdata(-F, method="max", axis=1)  # labels scored at least as high
    true_above = rankdata(np.where(Y, -F, np.inf), method="max", axis=1)
    false = np.maximum(absent_labels(Y, observed).sum(axis=1), 1)
    loss = row_means(above - true_above, Y) / false
    return mean_over_samples(loss, Y, observed, 0.0, trivial, sample_weight)


def ranking_accuracy(
    y_true: Any, scores: Any, *, trivial: str = "skip", sample_weight: Weights = None
) -> float:
    """Compute 1 - :func:`ranking_loss`, the figure of Tables 6 and 7 of Xiong et al. (KGHA).

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    scores : array-like of shape (n_samples, n_labels)
        The scores. A label with a higher score is ranked first.
    trivial : {"skip", "count"}, default="skip"
        Whether samples with no label or with all labels are left out or count as perfect.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    value : float
        The accuracy, between 0 and 1.
    """
    return 1.0 - ranking_loss(y_true, scores, trivial=trivial, sample_weight=sample_weight)


def average_precision(
    y_true: Any,
    scores: Any,
    *,
    ties: str = "worst",
    trivial: str = "skip",
    sample_weight: Weights = None,
) -> float:
    """Compute the mean precision at the rank of each true label, averaged over samples.

    The value equals scikit-learn's ``label_ranking_average_precision_score`` with
    ``trivial="count"``.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    scores : array-like of shape (n_samples, n_labels)
        The scores. A label with a higher score is ranked first.
    ties : {"worst", "index"}, default="worst"
        Whether tied labels share the worst rank or are ranked by descending position.
    trivial : {"skip", "count"}, default="skip"
        Whether samples with no label or with all labels are left out or count as perfect.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    value : float
        Average precision, between 0 and 1.
    """
    Y, F, observed = read_scores(y_true, scores)
    rank = ranks(F, ties)
    order = np.where(Y, rank, np.inf)  # among true labels, by the same rank
    true_rank = rankdata(order, method="max", axis=1)
    return mean_over_samples(
        row_means(true_rank / rank, Y), Y, observed, 1.0, trivial, sample_weight
    )


def one_error(
    y_true: Any, scores: Any, *, trivial: str = "skip", sample_weight: Weights = None
) -> float:
    """Compute the share of samples whose label with the highest score is wrong.

    If several labels are tied for the highest score, one true label among them is enough.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    scores : array-like of shape (n_samples, n_labels)
        The scores. A label with a higher score is ranked first.
    trivial : {"skip", "count"}, default="skip"
        Whether samples with no label or with all labels are left out or count as perfect.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    value : float
        The error, between 0 and 1.
    """
    Y, F, observed = read_scores(y_true, scores)
    top = F.max(axis=1, keepdims=True) == F
    return mean_over_samples(~(top & Y).any(axis=1), Y, observed, 0.0, trivial, sample_weight)


def coverage(
    y_true: Any, scores: Any, *, ties: str = "worst", sample_weight: Weights = None
) -> float:
    """Compute how far down the ranking all true labels are, beyond the first label.

    The value is one less than scikit-learn's ``coverage_error``. Samples without labels are left
    out.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    scores : array-like of shape (n_samples, n_labels)
        The scores. A label with a higher score is ranked first.
    ties : {"worst", "index"}, default="worst"
        Whether tied labels share the worst rank or are ranked by descending position.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    value : float
        The coverage, between 0 and the number of labels less one.
    """
    Y, F, _ = read_scores(y_true, scores)
    deepest = np.where(Y, ranks(F, ties), 0).max(axis=1)
    some = Y.any(axis=1)
    return average(deepest[some] - 1.0, sample_weights(sample_weight, len(Y))[some])
