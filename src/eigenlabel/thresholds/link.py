"""One monotone curve for the log-odds of all labels, which corrects the shape of the sigmoid.

Least-squares scores of rare labels bend: the log-odds rise faster than the score where a label is
improbable, and more slowly where it is probable. Three parameters that all labels share are enough.
"""

import numpy as np

from eigenlabel.linalg._types import Bools, Floats
from eigenlabel.linalg.numerics import CACHE_NUMBERS
from eigenlabel.thresholds.score_bins import Bins

IDENTITY = np.array([0.0, 1.0, 1.0])  # the curve that changes nothing
PENALTY = 10.0  # on half the squared distance from the identity
STEP, END = 0.1, 40.0  # the curve is fitted to log-odds in bins of this width
MOST_STEPS = 100
CONVERGED = 1e-24  # bound on the squared Newton decrement, which is the square of a rounding error
ROUNDING = 1e-12  # relative rounding error of the objective


def softplus(z: Floats) -> Floats:
    """Return ``log(1 + exp(z))`` without overflow."""
    return np.asarray(np.log1p(np.exp(-np.abs(z))) + np.maximum(z, 0.0))


def apply_link(z: Floats, link: Floats) -> Floats:
    """Return the corrected log-odds ``c - d softplus(-z) + e softplus(z)``, link (c, d, e)."""
    soft = np.log1p(np.exp(-np.abs(z)))
    low, high = soft - np.minimum(z, 0.0), soft + np.maximum(z, 0.0)
    return np.asarray(link[0] - link[1] * low + link[2] * high)


def fit_link(bins: Bins, pairs: Floats) -> Floats:
    """Fit the curve (c, d, e) of :func:`apply_link` to the cells of all labels; d, e >= 0.

    This is the beta calibration of Kull et al. (2017), applied to the log-odds of all labels at
    once: d and e are the slopes for improbable and for probable labels. It never changes the order
    of two cells. The penalty PENALTY holds it at the identity (0, 1, 1) if cells are few.
    """
    z, w, y = _bin_log_odds(bins, pairs)
    X = np.stack([np.ones_like(z), -softplus(-z), softplus(z)], axis=1)
    link, free = IDENTITY, np.ones(3, dtype=bool)
    for _ in range(3):  # a slope that would be negative is zero, then the others are fitted again
        link = _fit_features(X, w, y, np.where(free, link, 0.0), free)
        negative = free & (link < 0) & [False, True, True]
        if not negative.any():
            break
        free &= ~negative
        link = IDENTITY
    return link


def _bin_log_odds(bins: Bins, pairs: Floats) -> tuple[Floats, Floats, Floats]:
    """Return log-odds, weights and positives of all cells, in bins of width STEP."""
    size = int(2 * END / STEP) + 1
    sums = np.zeros((3, size))
    step = max(1, CACHE_NUMBERS // max(1, bins.scores.shape[1]))
    for low in range(0, len(pairs), step):
        T, W, Y = (each[low : low + step] for each in bins.arrays())
        z = np.clip(pairs[low : low + step, :1] * T + pairs[low : low + step, 1:], -END, END)
        at = np.rint((z + END) / STEP).astype(np.intp).ravel()
        sums += np.stack([np.bincount(at, each.ravel(), size) for each in (W * z, W, Y)])
    used = sums[1] > 0
    return sums[0, used] / sums[1, used], sums[1, used], sums[2, used]


def _fit_features(X: Floats, w: Floats, y: Floats, link: Floats, free: Bools) -> Floats:
    """Return the penalised logistic regression on features (k, 3), some coefficients at zero."""
    penalty = PENALTY * np.eye(3)

    def value(link: Floats) -> float:
        z = X @ link
        off = link - IDENTITY
        return float(w @ softplus(z) - y @ z + 0.5 * PENALTY * (off @ off))

    now = value(link)
    for _ in range(MOST_STEPS):
        p = 1 / (1 + np.exp(-np.clip(X @ link, -700, 700)))
        g = X.T @ (w * p - y) + PENALTY * (link - IDENTITY)
        H = (X * (w * p * (1 - p))[:, None]).T @ X + penalty
        d = np.zeros(3)
        d[free] = np.linalg.solve(H[np.ix_(free, free)], g[free])
        decrement, size = float(d @ g), 1.0
        if decrement <= CONVERGED * (1 + abs(now)):
            break
        while (
            size > 1e-10
            and not value(link - size * d) <= now + ROUNDING * abs(now) - 1e-4 * size * decrement
        ):
            size /= 2
        link = link - size * d
        now = value(link)
    return link
