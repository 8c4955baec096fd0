"""Isotonic curves on top of the logistic maps, for labels with enough positives and negatives.

The isotonic regression of a label is fitted to its 0/1 values, mixed with its probabilities by the
logistic map, which count as much as PRIOR positives. Its values therefore lie strictly between 0
and 1, and it differs from the logistic map only as far as the positives are many. Each step of the
regression becomes one knot, and the curve is linear between knots.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import xlog1py, xlogy
from sklearn.isotonic import isotonic_regression

from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.ties import WEIGHED
from eigenlabel.thresholds.score_bins import Bins

PRIOR = 100.0  # the logistic map counts as much as this many samples of the rarer class
LEAST = 20.0  # weight of the positives, and of the negatives, below which a label has no curve
TOGETHER = 256  # labels of one regression: their targets differ by 2, so that none are pooled


@dataclass(frozen=True)
class IsotonicCurves:
    """Increasing, piecewise linear curves from (0, 0) to (1, 1), one for each of m labels.

    Attributes
    ----------
    starts : ndarray of shape (m + 1,)
        The position of the first knot of each label, and the number of knots.
    x : ndarray of shape (number of knots,)
        The probability by the logistic map at each knot.
    y : ndarray of shape (number of knots,)
        The value of the curve at each knot.
    """

    starts: Ints
    x: Floats
    y: Floats

    def apply(self, p: Floats, label: Ints) -> Floats:
        """Return the values of the curves of some labels at probabilities, both of one shape."""
        # A damaged model file must not make an array of any size.
        if self.starts[-1] != len(self.x) or (np.diff(self.starts) < 0).any() or self.starts[0]:
            raise ValueError(
                f"The isotonic curves have {len(self.x)} knots, but their labels count "
                f"{self.starts.tolist()[-1]}: the model is damaged. Fit it again."
            )
        # Labels are searched together: two apart, none of their knots mix.
        owner = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        right = np.searchsorted(self.x + 2.0 * owner, p + 2.0 * label, side="right")
        right = np.clip(right, self.starts[label] + 1, self.starts[label + 1] - 1)
        left = right - 1
        x, y = self.x[left], self.y[left]
        slope = (self.y[right] - y) / (self.x[right] - x)
        return np.clip(y + slope * (p - x), y, self.y[right])


def has_curve(positives: Floats, negatives: Floats, slopes: Floats) -> Bools:
    """Return the labels (m,) that have enough of both classes, and scores that inform."""
    return np.asarray((np.minimum(positives, negatives) >= LEAST) & (slopes > 0))


def fit_curves(p: Floats, bins: Bins) -> IsotonicCurves:
    """Fit the curve of each label to probabilities (m, k) by the logistic maps and their bins."""
    m = len(p)
    W, Y = bins.weights, bins.positives
    rarer = np.minimum(Y.sum(axis=1), (W - Y).sum(axis=1))
    share = (PRIOR / np.where(rarer > 0, rarer, 1.0))[:, None]
    order = np.argsort(np.where(W > 0, p, np.inf), axis=1, kind="stable")
    p, W, Y = (np.take_along_axis(each, order, axis=1) for each in (p, W, Y))
    found = [(np.empty(0), np.empty(0), np.empty(0, dtype=np.intp))]
    for low in range(0, m, TOGETHER):
        part = slice(low, low + TOGETHER)
        label = np.broadcast_to(np.arange(m)[part, None], p[part].shape)
        found.append(_fit_together(p[part], W[part], Y[part], share[part], label))
    x, y, owner = (np.concatenate(each) for each in zip(*found, strict=True))
    return _with_ends(x, y, owner, m)


def _fit_together(
    p: Floats, W: Floats, Y: Floats, share: Floats, label: Ints
) -> tuple[Floats, Floats, Ints]:
    """Return the knots of a few labels: probabilities, values and labels."""
    used = W > 0
    full = W * (1 + share)
    target = Y + share * W * p
    p, w, full, target, label = p[used], W[used], full[used], target[used], label[used]
    if not p.size:
        return p, p, label
    new = np.ones(len(p), dtype=bool)  # equal probabilities of a label have one value
    new[1:] = (p[1:] != p[:-1]) | (label[1:] != label[:-1])
    first = np.flatnonzero(new)
    p, label = p[first], label[first]
    w, full, target = (np.add.reduceat(each, first) for each in (w, full, target))
    offset = 2.0 * (label - label[0])
    value = isotonic_regression(target / full + offset, sample_weight=full)
    step = np.flatnonzero(np.r_[True, value[1:] != value[:-1]])
    total = np.add.reduceat(full, step)
    x = np.add.reduceat(full * p, step) / total
    y = np.add.reduceat(target, step) / total
    return x, y, label[step]


def _with_ends(x: Floats, y: Floats, owner: Ints, m: int) -> IsotonicCurves:
    """Return curves with knots at (0, 0) and (1, 1); knots at which x or y does not rise go."""
    keep = (x > 0) & (x < 1) & (y > 0) & (y < 1)
    x, y, owner = x[keep], y[keep], owner[keep]
    same = np.zeros(len(x), dtype=bool)
    same[1:] = (owner[1:] == owner[:-1]) & ((x[1:] <= x[:-1]) | (y[1:] <= y[:-1]))
    x, y, owner = x[~same], y[~same], owner[~same]
    starts = np.r_[0, np.cumsum(np.bincount(owner, minlength=m) + 2)]
    X, V = np.zeros(starts[-1]), np.zeros(starts[-1])
    at = np.arange(len(x)) + 2 * owner + 1
    X[at], V[at] = x, y
    X[starts[1:] - 1] = V[starts[1:] - 1] = 1.0
    return IsotonicCurves(starts, X, V)


def log_loss(q: Floats, W: Floats, Y: Floats) -> Floats:
    """Return the log-loss (m,) of probabilities (m, k) of bins with weights and positives."""
    q = np.clip(q, np.finfo(float).tiny, 1 - np.finfo(float).epsneg)
    return np.asarray(-np.sum(xlogy(Y, q) + xlog1py(W - Y, -q), axis=1))


def prefer_curves(p: Floats, bins: Bins) -> Bools:
    """Return the labels (m,) whose curve has the lower log-loss on samples that it has not seen.

    Parameters
    ----------
    p : (m, folds, k), probabilities by the logistic maps
    bins : Bins of shape (m, folds, k); curves are fitted to all folds but one, in turn
    """
    m, folds, k = p.shape
    label = np.broadcast_to(np.arange(m)[:, None], (m, k))
    gain, size = np.zeros(m), np.zeros(m)
    for fold in range(folds):
        rest = np.arange(folds) != fold
        train = Bins(*(each[:, rest] for each in bins.arrays())).joined()
        curves = fit_curves(p[:, rest].reshape(m, -1), train)
        W, Y = bins.weights[:, fold], bins.positives[:, fold]
        plain = log_loss(p[:, fold], W, Y)
        gain += plain - log_loss(curves.apply(p[:, fold], label), W, Y)
        size += plain
    return np.asarray(gain > WEIGHED * size)
