"""Logistic maps from the scores of each label to probabilities, fitted together.

The map of label j is ``sigmoid(a_j t + b_j)`` with ``a_j >= 0``. Few positives do not determine a
pair (a_j, b_j), therefore the pairs are drawn from one normal distribution, whose mean and
covariance are estimated from all labels (empirical Bayes): a label with few positives has nearly
the mean pair, and one with many its own. Because slope and intercept are correlated across labels,
the covariance is a full 2 x 2 matrix. Then one curve, the same for all labels, corrects the shape
of the sigmoid (:func:`apply_link`). Least-squares scores of rare labels bend: the log-odds rise
faster than the score where a label is improbable, and more slowly where it is probable. Three
parameters that all labels share are enough.

Symmetric 2 x 2 matrices are stored as their entries (aa, ab, bb) along the last axis.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from eigenlabel.linalg._types import Bools, Floats
from eigenlabel.linalg.numerics import CACHE_NUMBERS
from eigenlabel.thresholds.score_bins import OFF, Bins, pool, standardise

IDENTITY = np.array([0.0, 1.0, 1.0])  # the curve that changes nothing
PENALTY = 10.0  # on half the squared distance from the identity
STEP, END = 0.1, 40.0  # the curve is fitted to log-odds in bins of this width


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


POOLED_BINS = 512  # of each class
POOLED_PENALTY = 0.1
SPREAD = 0.1  # prior covariance of the pairs: that of an estimate from 1 / SPREAD positives
PRIOR_LABELS = 2.0  # the prior covariance counts as much as this many labels
PRIOR_MEANS = 1.0  # and the pooled pair as much as this many labels for the mean
ROUNDS = 4  # of the estimation of mean and covariance; more do not change figures
STEPS, UPDATES = 2, 5  # Newton steps and updates of mean and covariance in a round
MOST_STEPS = 100
HALVINGS = 40
CONVERGED = 1e-24  # bound on the squared Newton decrement, which is the square of a rounding error
ROUNDING = 1e-12  # relative rounding error of the objective


@dataclass(frozen=True)
class Prior:
    """The normal distribution of the pairs (a, b): mean (2,) and precision (3,)."""

    mean: Floats
    precision: Floats

    def penalty(self, pairs: Floats) -> Floats:
        """Return half the squared distance (m,) of pairs from the mean."""
        off = pairs - self.mean
        return np.asarray(0.5 * np.sum(off * product(self.precision, off), axis=-1))


def product(H: Floats, v: Floats) -> Floats:
    """Return the products (..., 2) of symmetric matrices (..., 3) with vectors (..., 2)."""
    a, b = v[..., 0], v[..., 1]
    first = H[..., 0] * a + H[..., 1] * b
    return np.stack([first, H[..., 1] * a + H[..., 2] * b], axis=-1)


def inverse(H: Floats) -> Floats:
    """Return the inverses (..., 3) of symmetric positive definite matrices (..., 3)."""
    inner = H[..., 1] / H[..., 0]
    d = 1 / (H[..., 2] - inner * H[..., 1])
    return np.stack([1 / H[..., 0] + inner * inner * d, -inner * d, d], axis=-1)


def likelihood(bins: Bins, pairs: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the log-loss (m,) of each label's map, its gradient (m, 2) and its Hessian (m, 3)."""
    m, k = bins.scores.shape
    f, g, H = np.empty(m), np.empty((m, 2)), np.empty((m, 3))
    step = max(1, CACHE_NUMBERS // max(1, k))
    for low in range(0, m, step):
        at = slice(low, low + step)
        T, W, Y = (each[at] for each in bins.arrays())
        z = pairs[at, :1] * T
        z += pairs[at, 1:]
        far, above, other = np.abs(z), z >= 0, W - Y
        e = np.exp(-far)
        q = 1 / (1 + e)
        small = e * q  # of p and 1 - p, the one below a half: no digits cancel
        v = W * small
        v *= q
        r = other * np.where(above, q, small) - Y * np.where(above, small, q)
        f[at] = np.einsum("jk,jk->j", W, np.log1p(e))
        f[at] += np.einsum("jk,jk->j", np.where(above, other, Y), far)
        g[at, 0], g[at, 1] = np.einsum("jk,jk->j", r, T), r.sum(axis=1)
        vT = v * T
        H[at, 0], H[at, 1] = np.einsum("jk,jk->j", vT, T), vT.sum(axis=1)
        H[at, 2] = v.sum(axis=1)
    return f, g, H


def fit_pairs(
    bins: Bins, prior: Prior, pairs: Floats, steps: int = MOST_STEPS, *, slopes: bool = True
) -> tuple[Floats, Floats, Floats]:
    """Minimise the log-loss plus the penalty of the prior for each label, by Newton's method.

    Parameters
    ----------
    bins : Bins of shape (m, k)
    prior : Prior
    pairs : (m, 2), where to start
    steps : largest number of steps; a step is halved until it lowers the objective
    slopes : whether the slopes move too, not the intercepts alone

    Returns
    -------
    The pairs (m, 2), and the gradient (m, 2) and the Hessian (m, 3) of the log-loss there.
    """
    pairs = pairs.copy()
    f, g, H = likelihood(bins, pairs)
    value = f + prior.penalty(pairs)
    moving = np.ones(len(pairs), dtype=bool)
    for _ in range(steps):
        G = g + product(prior.precision, pairs - prior.mean)
        K = H + prior.precision
        if not slopes:
            G[:, 0], K[:, 0], K[:, 1] = 0.0, 1.0, 0.0
        d = product(inverse(K), G)
        decrement = np.sum(d * G, axis=1)
        moving &= decrement > CONVERGED * (1 + np.abs(value))
        at = np.flatnonzero(moving)
        if not at.size:
            break
        size = 1.0
        for _ in range(HALVINGS):
            new = pairs[at] - size * d[at]
            part = bins if len(at) == len(pairs) else bins.part(at)
            fn, gn, Hn = likelihood(part, new)
            vn = fn + prior.penalty(new)
            limit = value[at] + ROUNDING * np.abs(value[at]) - 1e-4 * size * decrement[at]
            lower = vn <= limit
            low = at[lower]
            pairs[low], g[low], H[low], value[low] = (each[lower] for each in (new, gn, Hn, vn))
            at = at[~lower]
            if not at.size:
                break
            size /= 2
        moving[at] = False  # rounding decides from here on
    return pairs, g, H


def locate(pooled: Bins) -> tuple[float, float]:
    """Return the median of pooled scores (1, k), ascending, and a measure of their spread.

    The spread is half the distance of the quantiles 0.05 and 0.95; if it is zero, the standard
    deviation; and zero if all scores are equal. Both are units only: maps do not depend on them.
    """
    T, W, _ = (each[0] for each in pooled.arrays())
    T, W = T[W > 0], W[W > 0]
    if not T.size:
        return 0.0, 0.0
    below = np.cumsum(W)
    at = np.searchsorted(below, (np.array([0.05, 0.5, 0.95]) + OFF) * below[-1])
    low, centre, high = (float(each) for each in T[np.minimum(at, len(T) - 1)])
    spread = high / 2 - low / 2
    if spread > 0:
        return centre, spread
    far = float(np.abs(T - centre).max())
    if far == 0:
        return centre, 0.0
    return centre, far * float(np.sqrt(np.average(((T - centre) / far) ** 2, weights=W)))


def fit_pooled(pooled: Bins) -> tuple[Floats, Floats]:
    """Fit one map to the cells of all labels (1, k); return its pair (2,) and its Hessian (3,).

    A weak penalty on its distance from the share of positives, ``(N1 + 1) / (N0 + 1)`` as odds,
    makes the pair finite even if a cut separates the labels without error. A single large score,
    unlike in the smoothed targets of Platt (1999), has no weight in it.
    """
    _, W, Y = pooled.arrays()
    N1, N = float(Y.sum()), float(W.sum())
    start = np.array([[0.0, np.log((N1 + 1) / (N - N1 + 1))]])
    weak = Prior(start[0], np.array([POOLED_PENALTY, 0.0, POOLED_PENALTY]))
    pairs = fit_rising_pairs(pooled, weak, start)
    return pairs[0], likelihood(pooled, pairs)[2][0] + weak.precision


def estimate_prior(bins: Bins, pair: Floats, H: Floats) -> tuple[Prior, Floats]:
    """Estimate the distribution of the pairs of all labels; return it and the pairs (m, 2).

    Rounds of two parts approach the maximum of the marginal likelihood in Laplace's approximation:
    Newton steps for all pairs, and updates of mean and covariance by expectation-maximisation,
    for which each log-loss is replaced by its quadratic approximation. The covariance that is
    expected beforehand is that of an estimate from ``1 / SPREAD`` positives by the pooled map.

    Parameters
    ----------
    bins : Bins of shape (m, k)
    pair, H : pair (2,) and Hessian (3,) of the pooled map
    """
    m = len(bins.scores)
    rare = max(1.0, min(bins.positives.sum(), (bins.weights - bins.positives).sum()))
    expected = SPREAD * inverse(H / rare)
    prior, pairs = Prior(pair, inverse(expected)), np.tile(pair, (m, 1))
    for _ in range(ROUNDS):
        pairs, g, H = fit_pairs(bins, prior, pairs, STEPS)
        u = product(H, pairs) - g
        for _ in range(UPDATES):
            C = inverse(prior.precision + H)
            near = product(C, product(prior.precision, prior.mean) + u)
            mean = (near.sum(axis=0) + PRIOR_MEANS * pair) / (m + PRIOR_MEANS)
            off = near - mean
            S = C.sum(axis=0) + PRIOR_LABELS * expected
            S += (off[:, [0, 0, 1]] * off[:, [0, 1, 1]]).sum(axis=0)
            prior = Prior(mean, inverse(S / (m + PRIOR_LABELS)))
    return prior, pairs


@dataclass(frozen=True)
class Maps:
    """Monotone maps from scores to log-odds: ``g(a_j (s - centre) / spread + b_j)``.

    Attributes
    ----------
    centre : float
        The median of the scores of all labels.
    spread : float
        The unit of the slopes: half the distance of their quantiles 0.05 and 0.95.
    pairs : ndarray of shape (m, 2)
        The slope, which is not negative, and the intercept of each label.
    link : ndarray of shape (3,)
        The curve g that all labels share, see :func:`fit_link`.
    """

    centre: float
    spread: float
    pairs: Floats
    link: Floats = field(default_factory=IDENTITY.copy)

    def with_link(self, bins: Bins) -> "Maps":
        """Return the maps with the curve fitted to bins (m, k)."""
        if not self.pairs[:, 0].any():
            return self
        link = fit_link(bins.standardised(self.centre, self.spread), self.pairs)
        return replace(self, link=link)

    def log_odds(self, scores: Floats) -> Floats:
        """Return the log-odds (..., m) of scores (..., m)."""
        z = standardise(scores, self.centre, self.spread)
        z *= self.pairs[:, 0]
        z += self.pairs[:, 1]
        return apply_link(z, self.link)


def fit_maps(bins: Bins) -> tuple[Maps, Prior | None]:
    """Fit the pairs of all labels to bins (m, k); the cost is about 50 passes over them.

    The distribution of the pairs is returned too, or None if all scores are equal.
    """
    pooled = pool(bins, POOLED_BINS)
    centre, spread = locate(pooled.sorted())
    if spread == 0:
        return _constant_maps(bins, centre), None
    unit = bins.standardised(centre, spread)
    prior, pairs = estimate_prior(unit, *fit_pooled(pooled.standardised(centre, spread)))
    return Maps(centre, spread, fit_rising_pairs(unit, prior, pairs)), prior


def fit_rising_pairs(bins: Bins, prior: Prior, pairs: Floats) -> Floats:
    """Return the pairs (m, 2) of smallest penalised log-loss whose slopes are not negative.

    The objective is convex: where its minimum has a negative slope, the best slope is zero.
    """
    pairs = fit_pairs(bins, prior, pairs)[0]
    falling = np.flatnonzero(pairs[:, 0] < 0)
    if falling.size:
        part = bins.part(falling)
        start = np.stack([np.zeros(len(falling)), pairs[falling, 1]], axis=1)
        pairs[falling] = fit_pairs(part, prior, start, slopes=False)[0]
    return pairs


def _constant_maps(bins: Bins, centre: float) -> Maps:
    """Return the shares of labels, shrunk to the share of all cells, if all scores are equal."""
    positives, weights = bins.positives.sum(axis=1), bins.weights.sum(axis=1)
    share = (positives.sum() + 1) / (weights.sum() + 2)
    smooth = (positives + PRIOR_LABELS * share) / (weights + PRIOR_LABELS)
    pairs = np.stack([np.zeros(len(smooth)), np.log(smooth / (1 - smooth))], axis=1)
    return Maps(centre, 1.0, pairs)
