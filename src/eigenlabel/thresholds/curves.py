"""The predictions and hits of every cut of sorted scores.

A cut predicts the samples with the highest scores. F1 and related metrics increase with the hits
and decrease with the predictions, so the best cut lies directly below a positive sample. There is
one candidate for each positive, and one that predicts nothing. Cuts never separate tied scores.
"""

import numpy as np

from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.ties import (
    WEIGHED,
    finite_size,
    same_scores,
    score_share,
    typical_size,
)

CACHED = 2**16  # scores that are sorted at a time


def _sort_with_truth(scores: Floats, truth: Bools) -> tuple[Floats, Bools]:
    """Return the scores (g, m, n) in descending order, up to their last bits, and their truth.

    The truth must be False where a score is infinite. Some labels at a time pass through all steps,
    so that they stay in the caches.
    """
    ordered, hit = np.empty(scores.shape), np.empty(scores.shape, dtype=bool)
    step = max(1, CACHED // max(1, scores.shape[-1]))
    for k, each in enumerate(scores):
        for start in range(0, len(truth), step):
            some = slice(start, start + step)
            part = np.negative(each[some], out=ordered[k, some])
            bits = part.view(np.int64)
            bits &= ~np.int64(1)
            bits |= truth[some]
            part.sort(axis=-1)
            hit[k, some] = bits & 1
            bits &= ~np.int64(1)
            np.negative(part, out=part)
    return ordered, hit


class CutCurves:
    """The candidate cuts of several sets of scores for one label matrix.

    Without weights, the truth is written into the last bit of each score, so that one sort of
    numbers, without positions, also sorts the truth. The last bit is rounding, and cuts never lie
    between scores that differ by rounding alone.

    Parameters
    ----------
    scores : ndarray of shape (g, m, n)
        The g sets of scores, with samples last; -inf for samples that are not observed.
    truth : ndarray of shape (m, n), bool
        The true labels.
    weights : ndarray of shape (n,), default=None
        Positive sample weights, or None if all samples count equally.

    Attributes
    ----------
    sorted : ndarray of shape (g, m, n)
        The scores in descending order, up to their last bits.
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
    tied : ndarray of shape (g, m), bool
        The labels with a positive whose score equals the next lower score.
    """

    def __init__(self, scores: Floats, truth: Bools, weights: Floats | None = None) -> None:
        g, m, n = scores.shape
        self.share = score_share(scores.dtype)
        n_positive = np.count_nonzero(truth, axis=-1)
        self.starts = np.concatenate([[0], np.cumsum(n_positive + 1)[:-1]]).astype(np.intp)
        self.label = np.repeat(np.arange(m), n_positive + 1)
        self.body = np.ones(len(self.label), dtype=bool)
        self.body[self.starts] = False
        order = None
        if weights is None:
            self.sorted, hit = _sort_with_truth(scores, truth)
        else:
            order = np.argsort(scores, axis=-1)[..., ::-1]
            self.sorted = np.take_along_axis(scores, order, axis=-1)
            hit = truth[np.arange(m)[:, None], order]
        self.count = np.zeros((g, len(self.label)), dtype=np.intp)
        self.count[:, self.body] = np.flatnonzero(hit).reshape(g, -1) % max(n, 1) + 1
        self.tied = self._find_ties()
        self._move_below_ties()
        self.positives = n_positive.astype(float) if weights is None else truth @ weights
        if weights is not None:
            self.predicted = self._read(np.cumsum(weights[order], axis=-1))
            self.hits = self._read(np.cumsum(hit * weights[order], axis=-1))
            return
        self.predicted = self.count.astype(float)
        self.hits = np.tile(
            np.arange(len(self.label), dtype=float) - self.starts[self.label], (g, 1)
        )
        for i, j in np.argwhere(self.tied):
            some = self.label == j
            hits = np.concatenate([[0.0], np.cumsum(hit[i, j], dtype=float)])
            self.hits[i, some] = hits[self.count[i, some]]

    def _find_ties(self) -> Bools:
        """Return the labels (g, m) with a cut between equal scores."""
        g, m, n = self.sorted.shape
        out = np.zeros((g, m), dtype=bool)
        below = self.count[:, self.body]
        if not below.size:
            return out
        which, sets = self.label[self.body], np.arange(g)[:, None]
        above = self.sorted[sets, which, below - 1]
        inside = below < n
        next_one = self.sorted[sets, which, np.minimum(below, n - 1)]
        typical = typical_size(self.sorted)[sets, which]
        slack = self.share * (np.maximum(finite_size(above), finite_size(next_one)) + typical)
        with np.errstate(invalid="ignore"):  # two infinite values are equal
            same = ~(above - next_one > slack) & inside
        at = np.nonzero(same)
        out[at[0], which[at[1]]] = True
        return out

    def _move_below_ties(self) -> None:
        """Move each cut below all samples that are tied with its positive."""
        n = self.sorted.shape[-1]
        for i, j in np.argwhere(self.tied):
            last = np.r_[~same_scores(self.sorted[i, j], self.share), True]
            end = np.where(last, np.arange(1, n + 1), n)
            end = np.minimum.accumulate(end[::-1])[::-1]
            some = self.body & (self.label == j)
            self.count[i, some] = end[self.count[i, some] - 1]

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
