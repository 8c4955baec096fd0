"""The predictions and hits of every cut of sorted scores.

A cut predicts the samples with the highest scores. F1 and related metrics increase with the hits
and decrease with the predictions, so the best cut lies directly below a positive sample. There is
one candidate for each positive, and one that predicts nothing. Cuts never separate tied scores.
"""

import numpy as np

from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.ties import WEIGHED, same_scores


class CutCurves:
    """The candidate cuts of several sets of scores for one label matrix.

    Parameters
    ----------
    scores : ndarray of shape (g, m, n)
        The g sets of scores, with samples last.
    truth : ndarray of shape (m, n), bool
        The true labels.
    weights : ndarray of shape (n,), default=None
        Positive sample weights, or None if all samples count equally.

    Attributes
    ----------
    sorted : ndarray of shape (g, m, n)
        The scores in descending order.
    label : ndarray of shape (c,)
        The label of each candidate, where c is the number of all positives plus m.
    starts : ndarray of shape (m,)
        The position of the first candidate of each label, which predicts nothing.
    count : ndarray of shape (g, c)
        The number of samples that each candidate predicts.
    predicted : ndarray of shape (g, c)
        The weight of these samples.
    hits : ndarray of shape (g, c)
        The weight of the positives among these samples.
    positives : ndarray of shape (m,)
        The weight of the positives of each label.
    tied : bool
        Whether any scores of a label are tied.
    """

    def __init__(self, scores: Floats, truth: Bools, weights: Floats | None = None) -> None:
        g, m, _ = scores.shape
        order = np.argsort(scores, axis=-1)[..., ::-1]
        self.sorted = np.take_along_axis(scores, order, axis=-1)  # descending
        hit = truth[np.arange(m)[:, None], order]
        n_positive = np.count_nonzero(truth, axis=-1)
        self.starts = np.concatenate([[0], np.cumsum(n_positive + 1)[:-1]]).astype(np.intp)
        self.label = np.repeat(np.arange(m), n_positive + 1)
        rank = np.nonzero(hit)[2].reshape(g, -1) + 1
        body = np.ones(len(self.label), dtype=bool)
        body[self.starts] = False
        self.count = np.zeros((g, len(self.label)), dtype=np.intp)
        self.count[:, body] = self._tie_ends(rank, self.label[body])
        if weights is None:
            self.predicted = self.count.astype(float)
            self.positives = n_positive.astype(float)
        else:
            self.predicted = self._read(np.cumsum(weights[order], axis=-1))
            self.positives = truth @ weights
        if weights is None and not self.tied:
            self.hits = np.tile(np.arange(len(self.label)) - self.starts[self.label], (g, 1))
            self.hits = self.hits.astype(float)
        else:
            gain = hit if weights is None else hit * weights[order]
            self.hits = self._read(np.cumsum(gain, axis=-1, dtype=float))

    def _tie_ends(self, rank: Ints, label: Ints) -> Ints:
        """Move each cut below all samples that are tied with its positive."""
        same = same_scores(self.sorted)
        self.tied = bool(same.any())
        if not self.tied:
            return rank
        n = self.sorted.shape[-1]
        end = np.full(self.sorted.shape, n, dtype=np.intp)
        end[..., :-1][~same] = np.broadcast_to(np.arange(1, n), same.shape)[~same]
        end = np.minimum.accumulate(end[..., ::-1], axis=-1)[..., ::-1]
        return end[np.arange(len(end))[:, None], label, rank - 1]

    def _read(self, cumulative: Floats) -> Floats:
        """Return a cumulative sum at each candidate, zero where nothing is predicted."""
        g = np.arange(len(cumulative))[:, None]
        value = cumulative[g, self.label, np.maximum(self.count, 1) - 1]
        return np.where(self.count == 0, 0.0, value)

    def f1(self) -> Floats:
        """Return F1 of each candidate (g, c), 0 if there is neither a positive nor a prediction."""
        total = self.predicted + self.positives[self.label]
        return np.asarray(2 * self.hits / np.where(total == 0, 1.0, total))

    def best(self, value: Floats) -> Ints:
        """Return the candidate (g, m) of each label with the largest value.

        Of values that are equal up to the rounding of sums of weights, the lowest cut wins. A label
        without positives has one candidate and is never predicted.
        """
        limit = np.maximum.reduceat(value, self.starts, axis=1)
        limit -= WEIGHED * np.maximum.reduceat(np.abs(value), self.starts, axis=1)
        index = np.where(value >= limit[:, self.label], np.arange(value.shape[1]), -1)
        return np.asarray(np.maximum.reduceat(index, self.starts, axis=1))

    def at(self, array: Floats, candidate: Ints) -> Floats:
        """Return the values (g, m) of an array (g, c) at the chosen candidates."""
        return np.take_along_axis(array, candidate, axis=1)

    def thresholds(self, candidate: Ints) -> Floats:
        """Return the thresholds (g, m) of the chosen candidates."""
        return cut_thresholds(self.sorted, np.take_along_axis(self.count, candidate, axis=1))


def cut_thresholds(ordered: Floats, count: Ints) -> Floats:
    """Return thresholds t such that ``score > t`` holds for exactly the ``count`` highest scores.

    ``ordered`` (..., n) is descending, and ``count`` (...,) must not separate ties. The threshold
    is the middle of the gap; +inf predicts nothing, -inf everything. Scores of -inf stand for
    samples that are not observed and are ignored.
    """
    n = ordered.shape[-1]
    above = np.take_along_axis(ordered, np.maximum(count - 1, 0)[..., None], axis=-1)[..., 0]
    below = np.take_along_axis(ordered, np.minimum(count, n - 1)[..., None], axis=-1)[..., 0]
    last = (count == n) | np.isneginf(below)
    below = np.where(last, above, below)
    middle = below + (above - below) / 2
    middle = np.where(middle < above, middle, below)  # neighbouring floats have no middle
    return np.where(count == 0, np.inf, np.where(last, -np.inf, middle))
