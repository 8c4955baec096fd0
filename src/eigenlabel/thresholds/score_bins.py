"""Held-out scores and labels in bounded memory: a few bins of each label.

A logistic map or an isotonic regression of one label needs its scores in fine detail where few
samples lie, and hardly any where many lie. The samples of a label are sorted by score and put into
at most k bins, each with its mean score, its weight and the weight of its positives. A bin holds a
share of the samples that is small at both ends, where the positives of rare labels are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.numerics import BLOCK_BYTES

FOLDS = 4  # parts of the samples that are summarised apart, so that maps can be cross-fitted
MOST_BINS = 32  # of a label and fold: up to FOLDS * MOST_BINS samples are kept as they are
LEAST_BINS = 12
LARGEST = 1e150  # larger scores count as this large, so that sums and squares stay finite
OFF = 1e-9  # the middle sample of a label would lie on the edge of two bins, up to rounding
ARRAYS = 8  # temporary arrays of a block of cells


@dataclass(frozen=True)
class Bins:
    """Bins of samples with similar scores; the last axis is that of the bins.

    Attributes
    ----------
    scores : ndarray of shape (..., k)
        The mean score of each bin, 0 for an empty bin.
    weights : ndarray of shape (..., k)
        The total weight of the samples of each bin.
    positives : ndarray of shape (..., k)
        The total weight of the positive samples of each bin.
    """

    scores: Floats
    weights: Floats
    positives: Floats

    def standardised(self, centre: float, spread: float) -> "Bins":
        """Return the bins with the scores ``(s - centre) / spread``, 0 for empty bins."""
        unit = standardise(self.scores, centre, spread)
        return Bins(np.where(self.weights > 0, unit, 0.0), self.weights, self.positives)

    def times(self, factor: float) -> "Bins":
        """Return the bins with weights that are multiplied by a factor."""
        if factor == 1:
            return self
        return Bins(self.scores, self.weights * factor, self.positives * factor)

    def joined(self) -> "Bins":
        """Return bins (m, folds, k) as (m, folds k)."""
        m, folds, k = self.scores.shape
        return Bins(*(each.reshape(m, folds * k) for each in self.arrays()))

    def part(self, labels: Any) -> "Bins":
        """Return the bins of some labels."""
        return Bins(*(each[labels] for each in self.arrays()))

    def arrays(self) -> tuple[Floats, Floats, Floats]:
        """Return the scores, weights and positives."""
        return self.scores, self.weights, self.positives

    def sorted(self) -> "Bins":
        """Return the bins in ascending order of their scores, empty ones last.

        Only equal scores of unequal weights need a stable order, which takes far longer.
        """
        full = self.weights > 0
        key = np.where(full, self.scores, np.inf)
        equal = np.all(self.weights == np.where(full, self.weights.max(initial=0.0), 0.0))
        order = np.argsort(key, axis=-1, kind=None if equal else "stable")
        return Bins(*(np.take_along_axis(each, order, axis=-1) for each in self.arrays()))


def standardise(scores: Floats, centre: float, spread: float) -> Floats:
    """Return ``(scores - centre) / spread``, between -LARGEST and LARGEST."""
    with np.errstate(over="ignore"):  # the spread may be subnormal
        unit = (scores - centre) / spread
    return np.clip(unit, -LARGEST, LARGEST, out=unit)


def counting_rows(scores: Floats, weights: Floats | None) -> Ints:
    """Return the samples of positive weight that have some score other than NaN."""
    known = ~np.isnan(scores).all(axis=1)
    if weights is not None:
        known &= weights > 0
    return np.flatnonzero(known)


def label_blocks(n: int, m: int) -> Iterator[slice]:
    """Yield slices of the m labels whose temporary arrays (n, labels) fit in BLOCK_BYTES."""
    step = max(1, BLOCK_BYTES // (8 * ARRAYS * max(1, n)))
    for low in range(0, m, step):
        yield slice(low, min(m, low + step))


def read_cells(
    scores: Floats, truth: Bools, weights: Floats | None, observed: Bools | None, part: slice
) -> Bins:
    """Return the samples of some labels as bins (labels, n) of one sample each."""
    T = np.ascontiguousarray(scores[:, part].T, dtype=float)
    W = np.ones(T.shape) if weights is None else np.repeat(weights[None], len(T), axis=0)
    W[np.isnan(T)] = 0.0
    if observed is not None:
        W[~observed[:, part].T] = 0.0
    T = np.where(W > 0, np.clip(T, -LARGEST, LARGEST), 0.0)
    return Bins(T, W, np.where(truth[:, part].T, W, 0.0))


def coarsen(bins: Bins, k: int) -> Bins:
    """Return bins (m, 2 k) of samples or finer bins (m, n): k of negatives, then k of positives.

    With the share q of the weight of its class that lies below the middle of a sample, and d = 1 /
    (2 c) for c samples of that class, the bin of the sample is the integer part of ``k x + OFF``,
    where x in [0, 1] is linear in ``log((q + d) / (1 - q + d))``. The cost is that of sorting. Up
    to 2 k samples stay as they are, but for empty bins.
    """
    m, n = bins.scores.shape
    if n <= 2 * k:
        return bins
    T, W, Y = bins.sorted().arrays()
    used = int(np.count_nonzero(W, axis=1).max(initial=0))
    if used <= 2 * k:
        return Bins(T[:, :used], W[:, :used], Y[:, :used])
    positive = Y > 0
    below = np.where(positive, 0.0, W)  # the weight of negatives, then of each sample's class
    np.cumsum(below, axis=1, out=below)
    total = np.where(positive, Y.sum(axis=1)[:, None], below[:, -1:])
    np.copyto(below, np.cumsum(Y, axis=1), where=positive)
    below -= W / 2
    below /= np.where(total > 0, total, 1.0)
    count = np.count_nonzero(positive, axis=1)[:, None]
    d = 0.5 / np.maximum(np.where(positive, count, np.count_nonzero(W, axis=1)[:, None] - count), 1)
    place = np.log((below + d) / (np.maximum(1 - below, 0.0) + d)) / (2 * np.log((1 + d) / d))
    part = np.clip((k * (0.5 + place) + OFF).astype(np.intp), 0, k - 1)
    part += k * positive
    part += 2 * k * np.arange(m)[:, None]
    at, size = part.ravel(), 2 * k * m

    def collect(values: Floats) -> Floats:
        sums: Floats = np.bincount(at, values.ravel(), size).astype(float)
        return sums.reshape(m, 2 * k)

    weights, positives, scores = collect(W), collect(Y), collect(W * T)
    return Bins(np.divide(scores, weights, out=scores, where=weights > 0), weights, positives)


def pool(bins: Bins, k: int) -> Bins:
    """Return all cells of bins (m, n) as the bins (1, 2 k) of one label, in BLOCK_BYTES."""
    m, n = bins.scores.shape
    found = []
    for labels in label_blocks(n, m):
        flat = Bins(*(each[labels].reshape(1, -1) for each in bins.arrays()))
        found.append(coarsen(flat, k).arrays())
    return coarsen(Bins(*(np.concatenate(each, axis=1) for each in zip(*found, strict=True))), k)


class ScoreBins:
    """Collect the held-out scores of a label matrix piece by piece, in bounded memory.

    Each label has at most FOLDS * MOST_BINS bins, and fewer if there are so many labels that the
    bins would not fit in BLOCK_BYTES (at least FOLDS * LEAST_BINS). Sample number i belongs to the
    fold i modulo FOLDS.

    Parameters
    ----------
    n_labels : int
        The number of labels m.

    Attributes
    ----------
    bins : Bins of shape (m, FOLDS, k)
        The bins of each fold and label.
    n_samples : ndarray of shape (m,)
        The number of samples of positive weight that were added, for each label.
    """

    def __init__(self, n_labels: int) -> None:
        room = BLOCK_BYTES // (8 * 3 * FOLDS * n_labels)
        self.k = int(min(MOST_BINS, max(LEAST_BINS, room)))
        empty = np.zeros((n_labels, FOLDS, 0))
        self.bins = Bins(empty, empty, empty)
        self.n_samples = np.zeros(n_labels, dtype=np.intp)
        self._weight = np.zeros(n_labels)

    def add(
        self,
        scores: Floats,
        truth: Bools,
        weights: Floats | None,
        observed: Bools | None,
        labels: slice,
    ) -> None:
        """Add samples of some labels, all arrays (n, m) or (n,); scores of NaN do not count.

        The work is done for a few labels at a time, in BLOCK_BYTES.
        """
        rows = counting_rows(scores, weights)
        w = None if weights is None else weights[rows]
        scores, truth = scores[rows], truth[rows]
        observed = None if observed is None else observed[rows]
        fold = (int(self.n_samples[labels][0]) + np.arange(len(rows))) % FOLDS
        self.n_samples[labels] += len(rows)
        self._weight[labels] += len(rows) if w is None else w.sum()
        first = range(len(self.n_samples))[labels][0]
        parts = []
        for part in label_blocks(*scores.shape):
            new = read_cells(scores, truth, w, observed, part)
            parts.append(self._merge(new, fold, slice(first + part.start, first + part.stop)))
        self._store(parts, labels)

    def _merge(self, new: Bins, fold: Ints, labels: slice) -> Bins:
        """Return the bins (m', FOLDS, k) of some labels together with those of new samples."""
        found = []
        for f in range(FOLDS):
            pairs = zip(self.bins.arrays(), new.arrays(), strict=True)
            joined = (np.concatenate([old[labels, f], x[:, fold == f]], axis=1) for old, x in pairs)
            found.append(coarsen(Bins(*joined), self.k).arrays())
        k = max(each[0].shape[1] for each in found)
        return Bins(
            *(np.stack([_widen(x, k) for x in each], axis=1) for each in zip(*found, strict=True))
        )

    def _store(self, parts: list[Bins], labels: slice) -> None:
        """Replace the bins of some labels."""
        found = [np.concatenate(each) for each in zip(*(p.arrays() for p in parts), strict=True)]
        if len(self.n_samples) == len(found[0]):
            self.bins = Bins(*found)
            return
        k = max(found[0].shape[2], self.bins.scores.shape[2])
        whole = [_widen(old, k).copy() for old in self.bins.arrays()]
        for old, new in zip(whole, found, strict=True):
            old[labels] = _widen(new, k)
        self.bins = Bins(*whole)

    def scaled(self) -> Bins:
        """Return the bins (m, FOLDS, k) with weights that count as numbers of samples.

        Weights whose mean is below one are scaled to a mean of one.
        """
        return self.bins.times(self.factor)

    @property
    def factor(self) -> float:
        """What weights are multiplied by, so that their mean is at least one."""
        n, total = float(self.n_samples.max(initial=0)), float(self._weight.max(initial=0.0))
        return max(1.0, n / total) if total > 0 else 1.0


def _widen(array: Floats, k: int) -> Floats:
    """Return an array with zeros at the end of the last axis, which then has length k."""
    if array.shape[-1] == k:
        return array
    wide = np.zeros((*array.shape[:-1], k))
    wide[..., : array.shape[-1]] = array
    return wide
