"""What each cut of a sorted score column would predict and hit.

A cut predicts the samples with the highest scores. F1 and its relatives grow with the hits and
fall with the predictions, so the best cut lies right below a positive sample: one candidate per
positive, and one that predicts nothing. Tied scores are never cut apart.
"""

import numpy as np

from eigenlabel.linalg.ties import WEIGHED, same_scores


class CutCurves:
    """Candidate cuts of many score columns at once, for one label matrix.

    Parameters
    ----------
    scores : (g, m, n) g sets of scores, samples last
    truth : (m, n) boolean
    weights : (n,) positive or None

    Attributes
    ----------
    hits, predicted : (g, c) weight of hits and of predictions, c = sum of positives + m
    count : (g, c) number of samples predicted
    positives : (m,) weight of the positives of each label
    starts : (m,) where the candidates of each label begin; the first one predicts nothing
    """

    def __init__(
        self, scores: np.ndarray, truth: np.ndarray, weights: np.ndarray | None = None
    ) -> None:
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

    def _tie_ends(self, rank: np.ndarray, label: np.ndarray) -> np.ndarray:
        """Move each cut below all samples tied with its positive."""
        same = same_scores(self.sorted)
        self.tied = bool(same.any())
        if not self.tied:
            return rank
        n = self.sorted.shape[-1]
        end = np.full(self.sorted.shape, n, dtype=np.intp)
        end[..., :-1][~same] = np.broadcast_to(np.arange(1, n), same.shape)[~same]
        end = np.minimum.accumulate(end[..., ::-1], axis=-1)[..., ::-1]
        return end[np.arange(len(end))[:, None], label, rank - 1]

    def _read(self, cumulative: np.ndarray) -> np.ndarray:
        """Give a cumulative sum at each candidate, zero where nothing is predicted."""
        g = np.arange(len(cumulative))[:, None]
        value = cumulative[g, self.label, np.maximum(self.count, 1) - 1]
        return np.where(self.count == 0, 0.0, value)

    def f1(self) -> np.ndarray:
        """Give F1 of each candidate (g, c), 0 for neither a positive nor a prediction."""
        total = self.predicted + self.positives[self.label]
        return 2 * self.hits / np.where(total == 0, 1.0, total)

    def best(self, value: np.ndarray) -> np.ndarray:
        """Return the candidate (g, m) of largest value per label; of equal ones the lowest cut.

        Values are equal up to the rounding of sums of weights.
        A label without positives has one candidate and is never predicted.
        """
        limit = np.maximum.reduceat(value, self.starts, axis=1)
        limit -= WEIGHED * np.maximum.reduceat(np.abs(value), self.starts, axis=1)
        index = np.where(value >= limit[:, self.label], np.arange(value.shape[1]), -1)
        return np.maximum.reduceat(index, self.starts, axis=1)

    def at(self, array: np.ndarray, candidate: np.ndarray) -> np.ndarray:
        """Pick (g, m) values of a (g, c) array."""
        return np.take_along_axis(array, candidate, axis=1)

    def thresholds(self, candidate: np.ndarray) -> np.ndarray:
        """Give the threshold (g, m) of each candidate."""
        return cut_thresholds(self.sorted, self.at(self.count, candidate))


def cut_thresholds(ordered: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Give thresholds t such that ``score > t`` holds for just the ``count`` highest scores.

    ``ordered`` is (..., n), descending; ``count`` (...,) must not cut ties apart. The threshold is
    the middle of the gap; +inf predicts nothing, -inf everything. Scores of -inf stand for samples
    that are not observed and have no part in it.
    """
    n = ordered.shape[-1]
    above = np.take_along_axis(ordered, np.maximum(count - 1, 0)[..., None], axis=-1)[..., 0]
    below = np.take_along_axis(ordered, np.minimum(count, n - 1)[..., None], axis=-1)[..., 0]
    last = (count == n) | np.isneginf(below)
    below = np.where(last, above, below)
    middle = below + (above - below) / 2
    middle = np.where(middle < above, middle, below)  # neighbouring floats have no middle
    return np.where(count == 0, np.inf, np.where(last, -np.inf, middle))
