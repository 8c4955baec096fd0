"""Elastic nets that share one design, with a penalty that ties all weights to each other.

    min_b  1/2 b'H b - c'b + mu |b|_1,     H = S + shift I + tie 11',   S = Xc' W Xc

is the elastic net with an equicorrelation penalty: ``shift = l2 (1 - rho)``, ``tie = l2 rho``. For
tie >= 0 it is an elastic net on X with one more row, for tie < 0 that row has a negative weight.
The row is never formed: H is used in products and solves only.

Each problem is solved by Newton steps on its support: with signs s on a set A, the minimiser
solves ``H_AA b_A = c_A - mu s``. A step keeps the support, adds the features that violate
optimality most, and removes those with the wrong sign. It is accepted if it lowers the objective.
Otherwise an exact line search on the support and one more feature is done, which always lowers it.
The result is exact up to rounding, however correlated the features are; coordinate descent is slow
if the tie is large. A step costs at most ``|A|^3 / 3``.

Problems with the same S and different right sides or penalties share the part of S that their
supports need.
"""

from dataclasses import dataclass

import numpy as np

from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.numerics import EPS, GRAM_BYTES, rank_tolerance
from eigenlabel.linalg.operators import CentredOperator
from eigenlabel.linalg.solvers.quadratic import (
    ProductCurvature,
    Quadratic,
    StoredCurvature,
    weighted_product,
)
from eigenlabel.linalg.solvers.shifted import careful_solve

FIRST_FEATURES = 64  # features that the first step may add to a support; doubled in each step
FIRST_WORKING_SET = 512  # features that the first working set may have


@dataclass(frozen=True)
class Minimum:
    """The solution of one problem, and how far it is from optimal."""

    b: Floats  # (p,)
    residual: float  # largest violation of optimality, relative to the largest |c|
    steps: int


def optimality_gap(g: Floats, b: Floats, mu: float) -> Floats:
    """Return by how much each feature violates optimality.

    A solution has g = mu sign(b) where b is not zero, and abs(g) <= mu where b is zero.
    """
    gap = np.maximum(np.abs(g) - mu, 0.0)
    A = np.nonzero(b)
    gap[A] = np.abs(g[A] - mu * np.sign(b[A]))
    return gap


def _objective(c: Floats, g: Floats, b: Floats, mu: float) -> float:
    return float(mu * np.abs(b).sum() - 0.5 * b @ (c + g))


def minimise(
    H: Quadratic,
    c: Floats,
    mu: float,
    start: Floats,
    tol: float = 1e-9,
    max_steps: int = 1000,
) -> Minimum:
    """Minimise ``1/2 b'H b - c'b + mu |b|_1``.

    Parameters
    ----------
    H : the quadratic part
    c : (p,) the linear part
    mu : positive penalty
    start : (p,) zero, or the solution of a similar problem
    tol : largest violation of optimality, relative to the largest |c|
    max_steps : number of steps after which the best point so far is returned
    """
    b = start
    scale = float(np.abs(c).max(initial=0.0))
    g = H.gradient(c, b)
    value = _objective(c, g, b, mu)
    room, steps = FIRST_FEATURES, 0
    while True:
        gap = optimality_gap(g, b, mu)
        residual = float(gap.max(initial=0.0))
        if residual <= tol * scale or steps == max_steps:
            break
        steps += 1
        for propose in (_newton, _search_line):
            new = propose(H, c, mu, b, g, gap, room, tol * scale / 10)
            new_g = H.gradient(c, new)
            new_value = _objective(c, new_g, new, mu)
            # If the gain is below rounding, the violation of optimality decides.
            level = value + 4 * EPS * abs(value)
            better = new_value < value or (
                new_value <= level and optimality_gap(new_g, new, mu).max() < residual
            )
            if better:
                break
            room = max(1, room // 4)
        if not better:
            break
        room *= 2
        b, g, value = new, new_g, new_value
    return Minimum(b, residual / scale if scale > 0 else 0.0, steps)


def _signs(b: Floats, g: Floats) -> Floats:
    """Return the signs of weights, and for zero weights the signs they would have if changed."""
    return np.where(b != 0, np.sign(b), np.sign(g))


def _newton(
    H: Quadratic, c: Floats, mu: float, b: Floats, g: Floats, gap: Floats, room: int, tol: float
) -> Floats:
    """Solve on the support and the worst ``room`` other features; remove wrong signs."""
    others = np.flatnonzero((gap > 0) & (b == 0))
    if len(others) > room:
        others = others[np.argpartition(-gap[others], room)[:room]]
    A = np.concatenate([np.flatnonzero(b), others])
    s = _signs(b[A], g[A])
    solver, right, guess = H.solver(A), c[A] - mu * s, b[A]
    new = np.zeros_like(b)
    keep = np.arange(len(A))
    while keep.size:
        found = solver.solve(keep, right[keep], guess[keep], tol)
        sound = found * s[keep] > 0
        if sound.all():
            new[A[keep]] = found
            break
        guess[keep] = found
        keep = keep[sound]
    return new


def _search_line(
    H: Quadratic,
    c: Floats,  # noqa: ARG001
    mu: float,
    b: Floats,
    g: Floats,
    gap: Floats,
    room: int,  # noqa: ARG001
    tol: float,
) -> Floats:
    """Return the lowest point on the line from b to the minimiser for its support and signs.

    If a feature outside the support violates optimality most, it is added. The slope along the
    line starts at -d'Hd, grows by d'Hd to the end, and jumps where a weight changes its sign.
    """
    worst = int(gap.argmax())
    A = np.flatnonzero(b)
    if b[worst] == 0:
        A = np.append(A, worst)
    down = g[A] - mu * _signs(b[A], g[A])
    d = H.solver(A).solve(np.arange(len(A)), down, np.zeros(len(A)), tol)
    dHd = float(d @ down)
    crossing = np.flatnonzero(b[A] * d < 0)
    times = -b[A][crossing] / d[crossing]
    order = np.argsort(times)
    crossing, times = crossing[order], times[order]
    jumps = np.cumsum(2 * mu * np.abs(d[crossing]))
    past = np.flatnonzero(dHd * (times - 1) + jumps >= 0)  # the slope is positive after these
    new = b.copy()
    k = int(past[0]) if past.size else len(times)
    gained = float(jumps[k - 1]) if k else 0.0
    stop = 1 - gained / dHd if dHd > 0 else 0.0
    if k < len(times) and times[k] <= stop:  # at the kink
        new[A] += times[k] * d
        new[A[crossing[k]]] = 0.0
    else:
        new[A] += stop * d
    return new


@dataclass(frozen=True)
class Minima:
    """The solutions of several problems, and how far the worst of them is from optimal."""

    B: Floats  # (p, q)
    residual: float  # largest violation of optimality, relative to the largest |c| of its problem
    steps: int


class ElasticNets:
    """Elastic nets of one design, for any right sides and penalties.

    S is stored for the features that a support has needed so far, if it fits in GRAM_BYTES.

    Parameters
    ----------
    operator : Xc (n, p) with sample weights W
    """

    def __init__(self, operator: CentredOperator) -> None:
        self.operator = operator
        p = operator.shape[1]
        self.limit = int(np.sqrt(GRAM_BYTES / 8))
        self.place: Ints = np.full(p, -1, dtype=np.intp)  # in the working set
        self.features: Ints = np.zeros(0, dtype=np.intp)
        self.S: Floats = np.zeros((0, 0))
        if p <= min(self.limit, 2 * FIRST_WORKING_SET):
            self._include(np.arange(p))

    def _include(self, features: Ints) -> bool:
        """Add features to the working set; return False if S would not fit."""
        more = features[self.place[features] < 0]
        k = len(self.features)
        if k + len(more) > self.limit:
            return False
        if more.size:
            self.features = np.concatenate([self.features, more])
            self.place[more] = np.arange(k, len(self.features))
            S = np.empty((len(self.features), len(self.features)))
            whole, part = (self.operator.columns(f) for f in (self.features, more))
            S[:, k:] = whole.cross_covariance(part)
            S[:k, :k] = self.S
            S[k:, :k] = S[:k, k:].T
            self.S = S
        return True

    def apply(self, B: Floats, shift: float, tie: float) -> Floats:
        """Return H B."""
        SB = np.empty_like(B)
        if len(self.features) == len(B):
            SB[self.features] = self.S @ B[self.features]
        else:
            SB = weighted_product(self.operator, self.operator, B)
        return np.asarray(SB + shift * B + tie * B.sum(axis=0))

    def solve(
        self,
        C: Floats,
        shift: float,
        tie: float,
        mu: float,
        start: Floats,
        tol: float = 1e-9,
    ) -> Minima:
        """Solve for the right sides C (p, q) and mu > 0, starting from ``start`` (p, q).

        The problems are solved on a working set of features, to which those that violate
        optimality are added until there are none. If its S does not fit in memory any more,
        products with X are used instead.
        """
        B, steps = start.copy(), 0
        fits = self._include(np.flatnonzero(B.any(axis=1)))
        scale = np.abs(C).max(axis=0, initial=0.0)
        scale[scale == 0] = 1.0
        last = np.inf
        while True:
            gap = optimality_gap(C - self.apply(B, shift, tie), B, mu) / scale
            residual = float(gap.max(initial=0.0))
            worst = gap.max(axis=1, initial=0.0)
            wanted = np.flatnonzero((worst > tol) & (self.place < 0))
            if residual <= tol or (residual >= last and not wanted.size):
                return Minima(B, residual, steps)
            last = residual
            room = max(FIRST_WORKING_SET, len(self.features))
            if len(wanted) > room:
                wanted = wanted[np.argpartition(-worst[wanted], room)[:room]]
            fits = fits and self._include(wanted)
            open_ones = np.flatnonzero(gap.max(axis=0, initial=0.0) > tol)
            if wanted.size and fits:
                open_ones = np.flatnonzero(gap[[*wanted, *self.features]].max(axis=0) > tol)
            at: Ints | slice = self.features if fits else slice(None)
            H = Quadratic(
                StoredCurvature(self.S) if fits else ProductCurvature(self.operator), shift, tie
            )
            for j in open_ones:
                found = minimise(H, C[at, j], mu, B[at, j], tol / 2)
                B[at, j] = found.b
                steps += found.steps

    def ridge(self, T: Floats, shift: float, tie: float) -> Floats:
        """Return the minimisers for mu = 0 and right sides Xc'W T, of minimum norm."""
        n, p = self.operator.shape
        tolerance = rank_tolerance(max(n, p), np.float64)
        if p <= n:
            H = self.operator.covariance() + tie
            H.flat[:: p + 1] += shift
            WT = T if self.operator.weights is None else self.operator.weights[:, None] * T
            return careful_solve(H, self.operator.rmatmat(WT), 0.0, tolerance)
        if tie < 0:
            return self._negatively_tied_ridge(T, shift, tie)
        root = np.ones(n) if self.operator.weights is None else np.sqrt(self.operator.weights)
        row = np.sqrt(tie) * root * self.operator.matmat(np.ones((p, 1)))[:, 0]
        K = np.empty((n + 1, n + 1))
        K[:n, :n] = root[:, None] * self.operator.gram() * root
        K[n, :n] = K[:n, n] = row
        K[n, n] = tie * p
        T = np.vstack([root[:, None] * T, np.zeros((1, T.shape[1]))])
        A = careful_solve(K, T, shift, tolerance)
        return np.asarray(self.operator.rmatmat(root[:, None] * A[:n]) + np.sqrt(tie) * A[n])

    def _negatively_tied_ridge(self, T: Floats, shift: float, tie: float) -> Floats:
        """Correct the solution without tie by Sherman-Morrison; H^-1 1 is a ridge solution too."""
        p = self.operator.shape[1]
        sums = self.operator.matmat(np.ones((p, 1)))
        U = self.ridge(np.hstack([T, sums]), shift, 0.0)
        ones = (1 - U[:, -1]) / shift
        rest = 1 + tie * ones.sum()  # zero if the whole of H is singular along 1
        if rest <= p * EPS:
            return U[:, :-1]
        return np.asarray(U[:, :-1] - np.outer(ones, tie / rest * U[:, :-1].sum(axis=0)))
