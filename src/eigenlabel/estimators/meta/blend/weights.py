"""Weights of members: the non-negative minimiser of the held-out log-loss of blended log-odds.

With the log-odds ``z_k`` of K members, the blend has the log-odds ``s = b + sum_k w_k z_k``. Its
log-loss over all cells (samples x labels) is convex in b and w, so that a projected Newton method
finds the minimum in a few steps of K + 1 variables.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from eigenlabel.linalg._types import Bools, Floats
from eigenlabel.thresholds.logistic import softplus

# The penalty ``SHRINK / 2`` times the squared distance from equal weights, on the summed log-loss.
# It matters for some hundred cells of positives and less, where equal weights are steadier.
SHRINK = 3.0
# The same for the weights of a label, which are drawn to the weights that all labels share.
SHRINK_LABELS = 30.0
NOTHING = 1e-3  # sum of weights below which the blend is constant
SMALL = 0.03  # members with a smaller share of all weights are dropped
MOST_CELLS = 3_000_000  # weights are fitted to at most this many cells
MOST_STEPS = 100
CONVERGED = 1e-14  # bound on the Newton decrement, relative to the objective
SUFFICIENT = 1e-4  # share of the predicted decrease that a step must reach (Armijo)
SMALLEST_STEP = 1e-10


@dataclass(frozen=True)
class BlendCells:
    """The cells (samples x labels) whose log-loss is minimised.

    Attributes
    ----------
    Z : (K, N) array
        The log-odds of the members.
    y : (N,) array
        1 where the label is present, 0 where it is not.
    c : (N,) array
        The weights of the cells.
    """

    Z: Floats
    y: Floats
    c: Floats

    @classmethod
    def of(
        cls, logits: list[Floats], Y: Bools, weights: Floats | None, usable: Bools
    ) -> "BlendCells":
        """Return the usable cells of log-odds (n, m); if there are too many, those of some rows.

        Parameters
        ----------
        logits : list of (n, m) arrays
            The held-out log-odds of each member.
        Y : (n, m) array of bool
            The labels.
        weights : (n,) array or None
            The sample weights.
        usable : (n, m) array of bool
            The cells that are observed, and have log-odds of all members.
        """
        step = max(1, -(-usable.size // MOST_CELLS))
        rows = slice(None, None, step)
        at = usable[rows]
        w = np.ones(len(Y)) if weights is None else weights
        c = np.broadcast_to(w[rows, None], at.shape)[at]
        return cls(np.stack([z[rows][at] for z in logits]), Y[rows][at].astype(float), c)

    def both_signs(self) -> "BlendCells":
        """Return the cells and their mirror images, for the log-odds of two classes."""
        Z, y, c = self.Z, self.y, self.c
        return BlendCells(np.hstack([-Z, Z]), np.r_[1 - y, y], np.r_[c, c] / 2)

    def loss(self, point: Floats) -> float:
        """Return the summed log-loss at ``point = (b, w)``."""
        s = point[0] + point[1:] @ self.Z
        return float(self.c @ (softplus(s) - self.y * s))

    def derivatives(self, point: Floats) -> tuple[Floats, Floats]:
        """Return the gradient (K + 1,) and the Hessian (K + 1, K + 1) of the summed log-loss."""
        p = expit(point[0] + point[1:] @ self.Z)
        off, bend = self.c * (p - self.y), self.c * p * (1 - p)
        g = np.r_[off.sum(), self.Z @ off]
        ZB = self.Z * bend
        first = np.r_[bend.sum(), ZB.sum(axis=1)]
        H = np.empty((len(g), len(g)))
        H[0], H[:, 0], H[1:, 1:] = first, first, ZB @ self.Z.T
        return g, H


def minimise(cells: BlendCells, prior: Floats, penalty: Floats) -> Floats:
    """Return ``(b, w)`` with w >= 0 that minimises the summed log-loss plus a penalty.

    The penalty is ``sum_k penalty_k (point_k - prior_k)^2 / 2``. An infinite one fixes a variable
    at its prior. The method is Newton's on the variables that are positive or want to grow,
    projected on w >= 0, with a line search (Bertsekas 1982).
    """
    movable = np.isfinite(penalty)
    pull = np.where(movable, penalty, 0.0)
    bounded = np.arange(len(prior)) > 0

    def objective(point: Floats) -> float:
        return cells.loss(point) + 0.5 * float(pull @ (point - prior) ** 2)

    point = np.where(bounded, np.maximum(prior, 0.0), prior)
    now = objective(point)
    for _ in range(MOST_STEPS):
        g, H = cells.derivatives(point)
        g += pull * (point - prior)
        free = movable & (~bounded | (point > 0) | (g < 0))
        d = np.zeros_like(point)
        if free.any():
            d[free] = _solve(H[np.ix_(free, free)] + np.diag(pull[free]), g[free])
        if float(d @ g) <= CONVERGED * (abs(now) + 1e-300):
            break
        moved = _search(objective, point, now, d, g, bounded)
        if moved is None:
            break
        point, now = moved
    return point


def _solve(H: Floats, g: Floats) -> Floats:
    """Solve ``H d = g``; a ridge of rounding size keeps equal members from dividing by zero."""
    ridge = 1e-12 * float(np.trace(H)) / len(g) + 1e-300
    return np.asarray(np.linalg.solve(H + ridge * np.eye(len(g)), g))


def _search(
    objective: Callable[[Floats], float],
    point: Floats,
    now: float,
    d: Floats,
    g: Floats,
    bounded: Bools,
) -> tuple[Floats, float] | None:
    """Return the next point and its objective, or None if no step decreases it."""
    size = 1.0
    while size > SMALLEST_STEP:
        new = point - size * d
        new = np.where(bounded, np.maximum(new, 0.0), new)
        value = objective(new)
        if value <= now - SUFFICIENT * float(g @ (point - new)) and value < now:
            return new, value
        size /= 2
    return None


def equal_point(k: int) -> Floats:
    """Return ``(b, w)`` of equal weights of k members that sum to one."""
    return np.append(0.0, np.full(k, 1.0 / k))


def fit_shared(cells: BlendCells, intercept: bool = True) -> Floats:
    """Return the ``(b, w)`` that all labels share, drawn to equal weights by SHRINK.

    Parameters
    ----------
    cells : BlendCells
        The cells.
    intercept : bool
        Whether b is fitted; if not it is zero.
    """
    k = len(cells.Z)
    penalty = np.r_[0.0 if intercept else np.inf, np.full(k, SHRINK)]
    return minimise(cells, equal_point(k), penalty)


def fit_by_label(
    logits: list[Floats], Y: Bools, weights: Floats | None, usable: Bools, shared: Floats
) -> Floats:
    """Return ``(b_j, w_j)`` of each label (m, K + 1), drawn to the shared ones by SHRINK_LABELS.

    A label without usable cells has the shared weights.
    """
    penalty = np.full(len(shared), SHRINK_LABELS)
    out = np.tile(shared, (Y.shape[1], 1))
    for j in range(Y.shape[1]):
        column = slice(j, j + 1)
        cells = BlendCells.of(
            [z[:, column] for z in logits], Y[:, column], weights, usable[:, column]
        )
        if cells.y.size:
            out[j] = minimise(cells, shared, penalty)
    return out


def kept_members(w: Floats) -> Bools:
    """Return the members whose weight is not small; that of a label is the mean over labels."""
    mean = w if w.ndim == 1 else w.mean(axis=0)
    total = float(mean.sum())
    if total <= NOTHING:  # no member says anything, and one of them is enough
        kept = np.zeros(len(mean), dtype=bool)
        kept[0] = True
        return kept
    return np.asarray(mean >= SMALL * total)
