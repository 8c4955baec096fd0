"""The k best labels of each sample, of dense scores or of sparse predictions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.inputs.parameters import check_number
from eigenlabel.linalg._types import Bools, Floats, Ints, Matrix
from eigenlabel.metrics.checked_inputs import Weights, read_scores, sample_weights
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
