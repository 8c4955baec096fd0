"""Propensities of labels, and metrics in which rare labels count more (Jain et al. 2016).

In large label sets many true labels are not annotated, rare ones most often. The propensity of a
label is the probability that it is annotated if it is true. A true label that is found counts
1 / propensity.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.inputs.parameters import POSITIVE, check_number
from eigenlabel.linalg._types import Floats, Matrix
from eigenlabel.metrics.at_k import BestLabels, best_labels, discounts, ideal_gains
from eigenlabel.metrics.checked_inputs import Weights, sample_weights
from eigenlabel.metrics.sparse_predictions import read_true_cells, rows_by_length


def label_propensities(
    y: Any, a: float = 0.55, b: float = 1.5, *, sample_weight: Weights = None
) -> Floats:
    """Compute the propensities of labels from their frequencies (Jain et al. 2016).

    The propensity of a label that N_l of N samples have is ``1 / (1 + C exp(-a log(N_l + b)))``
    with ``C = (log N - 1) (b + 1)^a``. If N is less than e, so that C would be negative, C is 0 and
    all propensities are 1. With missing labels, N and N_l are numbers of samples for which the
    label is observed. The cost is linear in the number of cells, for a sparse matrix in the number
    of stored cells.

    Parameters
    ----------
    y : array-like or sparse matrix of shape (n_samples, n_labels)
        The 0/1 label matrix of the training samples, NaN where a label is not observed.
    a : float, default=0.55
        The exponent. Jain et al. (2016) use 0.5 for Wikipedia, 0.6 for Amazon and 0.55 for other
        data.
    b : float, default=1.5
        The number that is added to frequencies, positive. Jain et al. (2016) use 0.4 for Wikipedia,
        2.6 for Amazon and 1.5 for other data.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. A sample counts as often as its weight.

    Returns
    -------
    propensities : ndarray of shape (n_labels,)
        The propensities, greater than 0 and at most 1; NaN for a label that is never observed.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlabel import metrics
    >>> Y = np.arange(100)[:, None] < [1, 10, 80]
    >>> metrics.label_propensities(Y).round(3)
    array([0.217, 0.391, 0.653])
    """
    check_number("a", a, 0)
    POSITIVE.check("b", b)
    positives, hidden = read_true_cells(y, "y")
    w = sample_weights(sample_weight, positives.shape[0])
    total = np.full(positives.shape[1], w.sum())
    if hidden is not None:
        present = (w > 0).astype(int)
        total = np.where(present @ hidden < present.sum(), total - w @ hidden, 0.0)
    with np.errstate(divide="ignore", over="ignore"):  # N = 0, and powers of tiny b
        C = np.maximum(np.log(total) - 1, 0.0)
        found = 1.0 / (1.0 + C * ((b + 1) / (w @ positives + b)) ** a)
    return np.where(total > 0, found, np.nan)


def _read_inverse(propensities: Any, y_true: Any, best: BestLabels, sample_weight: Any) -> Floats:
    """Return what each label counts; it is NaN only for labels that do not occur."""
    if propensities is None:
        return 1.0 / label_propensities(y_true, sample_weight=sample_weight)
    p = np.asarray(propensities, dtype=float)
    m = best.positives.shape[1]
    if p.shape != (m,):
        raise ValueError(f"propensities has shape {p.shape}, needed ({m},): one for each label.")
    outside = np.flatnonzero((p <= 0) | (p > 1))
    if len(outside):
        j = outside[0]
        raise ValueError(
            f"propensities must be greater than 0 and at most 1, found {p[j]} for label {j}. Pass "
            "what label_propensities returns; of inverse propensities pass 1 / them."
        )
    unknown = np.flatnonzero(np.isnan(p) & (best.positives.sum(axis=0) > 0))
    if len(unknown):
        raise ValueError(
            f"The propensity of label {unknown[0]}, which occurs in y_true, is NaN: it was never "
            "observed where the propensities come from. Pass a number, such as the smallest one."
        )
    return 1.0 / p


def _largest_gains(positives: Matrix, inverse: Floats, k: int) -> Floats:
    """Return what the k true labels that count most count for each sample, the most first."""
    cells = sp.csr_array(positives)
    value = inverse[cells.indices]
    found = np.zeros((cells.shape[0], k))
    for rows, at in rows_by_length(cells.indptr):
        top = -np.sort(-value[at], axis=1)[:, :k]
        found[rows, : top.shape[1]] = top
    return found


def _share_of_best(
    best: BestLabels, inverse: Floats, by_rank: Floats, divisor: Floats, weights: Floats
) -> float:
    """Return the mean over samples of what is found, divided by the mean of what could be found.

    What a sample's labels count is multiplied by ``by_rank`` and divided by its ``divisor``.
    """
    counted = (weights > 0) & (divisor > 0)
    w = weights[counted] / divisor[counted]
    found = np.where(best.true, inverse[best.labels], 0.0)[counted] @ by_rank
    possible = _largest_gains(best.positives, inverse, len(by_rank))[counted] @ by_rank
    total = w @ possible
    return float(w @ found / total) if total > 0 else float("nan")


def propensity_precision_at_k(
    y_true: Any,
    scores: Any,
    k: int = 5,
    *,
    propensities: Any = None,
    sample_weight: Weights = None,
) -> float:
    """Compute the propensity-scored precision of the labels with the highest scores.

    Each true label among the k best labels counts 1 / propensity (Jain et al. 2016). The mean over
    samples is divided by the mean of the best possible predictions, those whose first labels are
    the true labels that count most: a ratio of two means, not a mean of ratios, as in pyxclib and
    in the tables of the Extreme Classification Repository. Samples without true labels change
    neither. Ties go to the first label.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    scores : array-like or sparse matrix of shape (n_samples, n_labels)
        The scores. A label with a higher score is ranked first. The stored cells of a sparse
        matrix are the labels that are predicted; no other label is ranked.
    k : int, default=5
        The number of labels with the highest scores of each sample.
    propensities : array-like of shape (n_labels,) or None, default=None
        The propensities of the labels. Published figures use those of the training labels, which
        :func:`label_propensities` computes. None computes them from ``y_true``.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    value : float
        The precision, between 0 and 1; NaN if there is no true label.

    Examples
    --------
    >>> from eigenlabel import metrics
    >>> Y, scores = [[1, 1, 0], [0, 1, 0]], [[0.9, 0.5, 0.1], [0.7, 0.2, 0.1]]
    >>> metrics.propensity_precision_at_k(Y, scores, 1, propensities=[0.25, 0.5, 0.5])
    0.6666666666666666
    """
    best = best_labels(y_true, scores, k)
    inverse = _read_inverse(propensities, y_true, best, sample_weight)
    weights = best.sample_weights(sample_weight)
    return _share_of_best(best, inverse, np.ones(k), best.sizes().astype(float), weights)


def propensity_ndcg_at_k(
    y_true: Any,
    scores: Any,
    k: int = 5,
    *,
    propensities: Any = None,
    sample_weight: Weights = None,
) -> float:
    """Compute the propensity-scored nDCG of the labels with the highest scores.

    A true label at rank r counts 1 / (propensity log2(r + 1)), and the sum over the first k ranks
    is divided by that of 1 / log2(r + 1) over as many ranks as the sample has true labels, at most
    k. The mean over samples is divided by the mean of the best possible predictions, those whose
    first labels are the true labels that count most: a ratio of two means, as in pyxclib. (Jain et
    al. 2016 divide by the sum over k ranks for every sample.) Samples without true labels change
    neither mean. Ties go to the first label. At k = 1 the value is that of
    :func:`propensity_precision_at_k`.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    scores : array-like or sparse matrix of shape (n_samples, n_labels)
        The scores. A label with a higher score is ranked first. The stored cells of a sparse
        matrix are the labels that are predicted; no other label is ranked.
    k : int, default=5
        The number of labels with the highest scores of each sample.
    propensities : array-like of shape (n_labels,) or None, default=None
        The propensities of the labels. Published figures use those of the training labels, which
        :func:`label_propensities` computes. None computes them from ``y_true``.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    value : float
        The gain, between 0 and 1; NaN if there is no true label.

    Examples
    --------
    >>> from eigenlabel import metrics
    >>> Y, scores = [[1, 1, 0], [0, 1, 0]], [[0.9, 0.5, 0.1], [0.7, 0.2, 0.1]]
    >>> round(metrics.propensity_ndcg_at_k(Y, scores, 2, propensities=[0.25, 0.5, 0.5]), 4)
    0.8588
    """
    best = best_labels(y_true, scores, k)
    inverse = _read_inverse(propensities, y_true, best, sample_weight)
    weights = best.sample_weights(sample_weight)
    ideal = ideal_gains(best.n_positives(), k)
    return _share_of_best(best, inverse, discounts(k), ideal, weights)
