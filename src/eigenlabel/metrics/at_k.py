"""Precision at k and NDCG at k, from the k best labels of each sample; ties go to the first label.

Scores are dense, or sparse predictions.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.inputs.parameters import check_number
from eigenlabel.linalg._types import Bools, Floats, Ints, Matrix
from eigenlabel.metrics.checked_inputs import (
    Weights,
    average,
    read_scores,
    sample_weights,
)
from eigenlabel.metrics.sparse_predictions import ROOM, Stored, read_stored, rows_by_length
from eigenlabel.thresholds import top_labels


@dataclass(frozen=True)
class BestLabels:
    """The k observed labels with the highest scores of each sample, the best first.

    Attributes
    ----------
    labels : ndarray of shape (n_samples, k)
        The labels. -1 follows if fewer are observed or, in sparse predictions, stored.
    true : ndarray of shape (n_samples, k), bool
        Whether the sample has the label.
    positives : ndarray or csr_array of shape (n_samples, n_labels), bool
        The true cells.
    observed : ndarray of shape (n_samples,) or None
        The number of observed labels of each sample, None if all labels are observed.
    """

    labels: Ints
    true: Bools
    positives: Matrix
    observed: Ints | None

    def sample_weights(self, sample_weight: Weights) -> Floats:
        """Return the weights of samples, zero for those without an observed label."""
        some = None if self.observed is None else self.observed[:, None] > 0
        return sample_weights(sample_weight, len(self.labels), some)

    def sizes(self) -> Ints:
        """Return how many labels each sample could have here: k, or fewer observed ones."""
        k = self.labels.shape[1]
        if self.observed is None:
            return np.full(len(self.labels), k)
        return np.clip(self.observed, 1, k)

    def n_positives(self) -> Ints:
        """Return the number of true labels of each sample."""
        return np.asarray(self.positives.sum(axis=1))


def best_labels(y_true: Any, scores: Any, k: int) -> BestLabels:
    """Return the k best labels of each sample; ties go to the first label.

    ``scores`` may be dense or sparse. Memory besides the result is proportional to the input.
    """
    if sp.issparse(scores):
        return _best_stored(read_stored(y_true, scores, "scores"), k)
    Y, F, observed = read_scores(y_true, scores)
    check_number("k", k, 1, Y.shape[1], integer=True)
    labels = np.empty((len(Y), k), dtype=np.intp)
    step = max(1, ROOM // Y.shape[1])
    for start in range(0, len(Y), step):
        block = slice(start, start + step)
        top = top_labels(F[block], k)
        seen = np.isfinite(np.take_along_axis(F[block], top, axis=1))
        labels[block] = np.where(seen, top, -1)
    true = np.take_along_axis(Y, labels, axis=1) & (labels >= 0)
    return BestLabels(labels, true, Y, None if observed is None else observed.sum(axis=1))


def _best_stored(given: Stored, k: int) -> BestLabels:
    n, m = given.positives.shape
    check_number("k", k, 1, m, integer=True)
    labels, true = np.full((n, k), -1, dtype=np.intp), np.zeros((n, k), dtype=bool)
    for rows, cells in rows_by_length(given.starts):
        top = top_labels(np.where(given.known[cells], given.value[cells], -np.inf), k)
        at = np.take_along_axis(cells, top, axis=1)
        labels[rows, : at.shape[1]] = np.where(given.known[at], given.label[at], -1)
        true[rows, : at.shape[1]] = given.true[at]
    observed = None if given.hidden is None else m - np.diff(given.hidden.indptr)
    return BestLabels(labels, true, given.positives, observed)


def discounts(k: int) -> Floats:
    """Return the weights 1 / log2(rank + 1) of the first k ranks."""
    return 1.0 / np.log2(np.arange(2, k + 2))


def ideal_gains(positives: Ints, k: int) -> Floats:
    """Return the sum of discounts of samples whose true labels are all ranked first."""
    sums = np.concatenate([[0.0], np.cumsum(discounts(k))])
    return sums[np.minimum(positives, k)]


def precision_at_k(y_true: Any, scores: Any, k: int = 5, *, sample_weight: Weights = None) -> float:
    """Compute the share of true labels among the labels with the highest scores.

    Ties go to the first label. The denominator is k for every sample, as in the Extreme
    Classification Repository; for samples with fewer observed labels it is their number.

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
        The precision, between 0 and 1.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from eigenlabel import metrics
    >>> Y = csr_array([[1, 0, 1], [0, 1, 0]])
    >>> best = csr_array([[0.9, 0.0, 0.4], [0.3, 0.7, 0.0]])  # two labels of each sample
    >>> metrics.precision_at_k(Y, best, 2)
    0.75
    """
    best = best_labels(y_true, scores, k)
    hits = best.true.sum(axis=1) / best.sizes()
    return average(hits, best.sample_weights(sample_weight))


def ndcg_at_k(
    y_true: Any,
    scores: Any,
    k: int = 5,
    *,
    zero_division: float = 0.0,
    sample_weight: Weights = None,
) -> float:
    """Compute the normalised discounted cumulative gain of the labels with the highest scores.

    A true label at rank r counts 1 / log2(r + 1). The sum over the first k ranks is divided by the
    largest one possible, that of a sample whose true labels are all ranked first, and averaged over
    samples. Ties go to the first label. Without ties the value equals scikit-learn's
    ``ndcg_score``, which averages over the orders of tied labels. At k = 1 it is
    :func:`precision_at_k`.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    scores : array-like or sparse matrix of shape (n_samples, n_labels)
        The scores. A label with a higher score is ranked first. The stored cells of a sparse
        matrix are the labels that are predicted; no other label is ranked.
    k : int, default=5
        The number of labels with the highest scores of each sample.
    zero_division : float, default=0.0
        The value of a sample without true labels (0/0). NaN leaves such samples out.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    value : float
        The gain, between 0 and 1.

    Examples
    --------
    >>> from eigenlabel import metrics
    >>> round(metrics.ndcg_at_k([[1, 0, 1]], [[0.9, 0.5, 0.1]], 2), 4)  # 1 / (1 + 1 / log2(3))
    0.6131
    """
    left_out = isinstance(zero_division, float) and np.isnan(zero_division)
    if not left_out:
        check_number("zero_division", zero_division, 0, 1)
    best = best_labels(y_true, scores, k)
    positives = best.n_positives()
    ideal = ideal_gains(positives, k)
    some = positives > 0
    gains = np.where(some, best.true @ discounts(k) / np.where(some, ideal, 1.0), zero_division)
    weights = best.sample_weights(sample_weight)
    if left_out:
        return average(gains[some], weights[some])
    return average(gains, weights)
