"""Votes of neighbours for labels: weights, their likelihood, and the ascent that learns them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, log_expit, softmax

from eigenlabel.kernels.neighbours import Neighbours
from eigenlabel.linalg._types import Bools, Floats
from eigenlabel.linalg.operators import row_blocks

START = 10.0  # sum of the first weights of distances, which are at most one

# Returns the value and the gradient at a point.
Function = Callable[[Floats], tuple[float, Floats]]


@dataclass(frozen=True)
class Votes:
    """The labels that neighbours vote for. They are linear in the weights of the neighbours.

    Attributes
    ----------
    near : Neighbours
        The neighbours of the samples.
    Y : (n_training_samples, m) sparse matrix
        The labels of the training samples.
    """

    near: Neighbours
    Y: Any

    def shares(self, weights: Floats) -> Floats:
        """Return the weighted shares of neighbours with each label (n, m)."""
        n, k = weights.shape
        pointers = np.arange(0, n * k + 1, k)
        shape = (n, self.Y.shape[0])
        W = sp.csr_array((weights.ravel(), self.near.index.ravel(), pointers), shape=shape)
        return np.asarray((W @ self.Y).toarray())

    def pull(self, G: Floats) -> Floats:
        """Return the derivative by the weights (n, k), given that by the shares (n, m).

        Only labels that neighbours have are visited. Cost: n k times their mean number.
        """
        n, k = self.near.index.shape
        out = np.empty((n, k))
        for part in row_blocks(n, k * max(1, -(-self.Y.nnz // self.Y.shape[0]))):
            chosen = self.Y[self.near.index[part].ravel()]
            place = np.repeat(np.arange(chosen.shape[0]), np.diff(chosen.indptr))
            values = G[part][place // k, chosen.indices]
            sums = np.bincount(place, values, minlength=chosen.shape[0])
            out[part] = sums.reshape(-1, k)
        return np.asarray(np.where(self.near.there, out, 0.0))


@dataclass(frozen=True)
class Likelihood:
    """The log-likelihood of the labels given the shares of votes, and its derivative.

    Attributes
    ----------
    Y : (n, m) array of bool
        The labels of the samples.
    costs : tuple of float
        The weights of a label that is present and of one that is absent.
    epsilon : float
        The probability of a label that no neighbour has.
    """

    Y: Bools
    costs: tuple[float, float]
    epsilon: float

    @property
    def weights(self) -> Floats:
        """The weights (n, m)."""
        return np.asarray(np.where(self.Y, *self.costs))

    def mixture(self, x: Floats) -> tuple[float, Floats]:
        """Return value and derivative with ``p = epsilon + (1 - 2 epsilon) x``."""
        p = self.epsilon + (1 - 2 * self.epsilon) * x
        right = np.where(self.Y, p, 1.0 - p)
        slope = np.where(self.Y, 1.0, -1.0) * (1 - 2 * self.epsilon)
        return float(np.sum(self.weights * np.log(right))), self.weights * slope / right

    def sigmoid(self, x: Floats, curves: Floats) -> tuple[float, Floats]:
        """Return value and derivative with ``p = sigmoid(a x + b)``; curves (2, m) are a and b."""
        z = curves[0] * x + curves[1]
        value = np.sum(self.weights * log_expit(np.where(self.Y, z, -z)))
        return float(value), self.weights * (self.Y - expit(z)) * curves[0]


def fit_sigmoids(
    x: Floats, likelihood: Likelihood, ridge: float, start: Floats, n_steps: int = 50
) -> Floats:
    """Return a and b (2, m) that maximise the log-likelihood minus ``ridge / 2 (a^2 + b^2)``.

    All labels are fitted at once by Newton's method. Steps are halved label by label until no
    objective decreases.
    """
    C, Y = likelihood.weights, likelihood.Y

    def values(curves: Floats) -> Floats:
        z = curves[0] * x + curves[1]
        fit = (C * log_expit(np.where(Y, z, -z))).sum(axis=0)
        return np.asarray(fit - ridge / 2 * (curves**2).sum(axis=0))

    curves, value = start, values(start)
    for _ in range(n_steps):
        p = expit(curves[0] * x + curves[1])
        error, bend = C * (Y - p), C * p * (1 - p)
        g = np.stack([(error * x).sum(axis=0), error.sum(axis=0)]) - ridge * curves
        aa, ab = (bend * x * x).sum(axis=0) + ridge, (bend * x).sum(axis=0)
        bb = bend.sum(axis=0) + ridge
        step = np.stack([bb * g[0] - ab * g[1], aa * g[1] - ab * g[0]]) / (aa * bb - ab**2)
        if float((g * step).sum(axis=0).max()) <= 1e-14 * np.abs(value).max():
            break
        for _ in range(30):
            moved = values(curves + step)
            worse = moved < value
            if not worse.any():
                break
            step[:, worse] /= 2
        step[:, moved < value] = 0.0
        curves, gain, value = (
            curves + step,
            np.maximum(moved, value) - value,
            np.maximum(moved, value),
        )
        if gain.max() <= 1e-14 * np.abs(value).max():
            break
    return curves


def to_simplex(v: Floats) -> Floats:
    """Return the nearest vector of numbers >= 0 that sum to one."""
    u = np.sort(v)[::-1]
    excess = (np.cumsum(u) - 1) / np.arange(1, len(v) + 1)
    return np.asarray(np.maximum(v - excess[np.flatnonzero(u > excess)[-1]], 0.0))


def to_positive(v: Floats) -> Floats:
    """Return the nearest vector of numbers >= 0."""
    return np.maximum(v, 0.0)


class Weighting(Protocol):
    """How parameters become the weights of neighbours."""

    def start(self, near: Neighbours) -> Floats:
        """Return the parameters of equal weights."""
        ...

    def weights(self, near: Neighbours, parameters: Floats) -> Floats:
        """Return the weights of the neighbours (n, k)."""
        ...

    def slope(self, near: Neighbours, W: Floats, pull: Floats) -> Floats:
        """Return the derivative by the parameters, given that by the weights W."""
        ...

    def project(self, parameters: Floats) -> Floats:
        """Return the nearest parameters that are allowed."""
        ...


class ByRank:
    """One weight for each rank, numbers >= 0 that sum to one."""

    def start(self, near: Neighbours) -> Floats:
        """Return equal weights."""
        k = near.index.shape[1]
        return np.full(k, 1 / k)

    def weights(self, near: Neighbours, parameters: Floats) -> Floats:
        """Return the weights of the neighbours (n, k)."""
        return np.asarray(np.where(near.there, parameters, 0.0))

    def slope(self, near: Neighbours, W: Floats, pull: Floats) -> Floats:  # noqa: ARG002
        """Return the derivative by the parameters, given that by the weights W."""
        return np.asarray(pull.sum(axis=0))

    def project(self, parameters: Floats) -> Floats:
        """Return the nearest parameters that are allowed."""
        return to_simplex(parameters)


class ByDistance:
    """Weights that fall exponentially with the weighted sum of the distances of the views."""

    def start(self, near: Neighbours) -> Floats:
        """Return weights of distances with which all views contribute equally."""
        # Steps are alike in all views if the distances to neighbours are.
        spread = near.distances.max(axis=(1, 2), initial=0.0)
        return np.asarray(START / len(spread) / np.where(spread > 0, spread, 1.0))

    def weights(self, near: Neighbours, parameters: Floats) -> Floats:
        """Return the weights of the neighbours (n, k)."""
        logits = -np.tensordot(parameters, near.distances, axes=1)
        return np.asarray(softmax(np.where(near.there, logits, -np.inf), axis=1))

    def slope(self, near: Neighbours, W: Floats, pull: Floats) -> Floats:
        """Return the derivative by the parameters, given that by the weights W."""
        inner = W * (pull - (W * pull).sum(axis=1, keepdims=True))
        return np.asarray(-np.tensordot(near.distances, inner, axes=([1, 2], [0, 1])))

    def project(self, parameters: Floats) -> Floats:
        """Return the nearest parameters that are allowed."""
        return to_positive(parameters)


class Objective:
    """The log-likelihood of the labels as a function of the parameters of the weights.

    Parameters
    ----------
    votes : Votes
        The labels of the neighbours.
    likelihood : Likelihood
        The labels to predict.
    weighting : Weighting
        How parameters become weights.
    ridge : float or None
        The penalty of sigmoids, which are fitted anew for each point; None uses no sigmoids.

    Attributes
    ----------
    curves : (2, m) array or None
        The slopes and offsets of the sigmoids at the last point, from which the next ones start.
    """

    def __init__(
        self, votes: Votes, likelihood: Likelihood, weighting: Weighting, ridge: float | None
    ) -> None:
        self._votes, self._likelihood, self._weighting = votes, likelihood, weighting
        self._ridge = ridge
        self.curves = None if ridge is None else np.zeros((2, likelihood.Y.shape[1]))

    def __call__(self, parameters: Floats) -> tuple[float, Floats]:
        """Return the value and the gradient.

        Sigmoids are at their best for the parameters, so their own change does not count.
        """
        W = self._weighting.weights(self._votes.near, parameters)
        x = self._votes.shares(W)
        if self._ridge is None or self.curves is None:
            value, G = self._likelihood.mixture(x)
        else:
            self.curves = fit_sigmoids(x, self._likelihood, self._ridge, self.curves)
            value, G = self._likelihood.sigmoid(x, self.curves)
            value -= self._ridge / 2 * float(np.sum(self.curves**2))
        return value, self._weighting.slope(self._votes.near, W, self._votes.pull(G))


def ascend(
    objective: Function, z: Floats, project: Callable[[Floats], Floats]
) -> Iterator[tuple[float, Floats]]:
    """Yield values and points of projected gradient ascent, from the first on; none decreases.

    Steps have the length of Barzilai and Borwein, halved until the value rises enough (Armijo).
    """
    value, g = objective(z)
    yield value, z
    if not g.any():
        return
    length = 0.1 / max(float(np.abs(g).max()), np.finfo(float).tiny)
    while True:
        for _ in range(40):
            moved = project(z + length * g)
            new_value, new_g = objective(moved)
            if new_value >= value + 1e-4 * float(g @ (moved - z)):
                break
            length /= 2
        else:
            return
        s, turn = moved - z, g - new_g
        yield new_value, moved
        if not s.any():
            return
        curvature = float(s @ turn)
        length = float(s @ s) / curvature if curvature > 0 else 2 * length
        z, value, g = moved, new_value, new_g


@dataclass(frozen=True)
class Learnt:
    """The result of an ascent.

    Attributes
    ----------
    parameters : array
        The parameters of the weights.
    history : (steps + 1,) array
        The objective before and after each step.
    gain : float
        The relative gain of the last step; zero if no step rises.
    """

    parameters: Floats
    history: Floats
    gain: float


def learn(
    objective: Objective, weighting: Weighting, near: Neighbours, max_iter: int, tol: float
) -> Learnt:
    """Maximise the objective from equal weights on, until a step gains no more than tol of it.

    The curves of the objective are those of the result afterwards.
    """
    z = weighting.start(near)
    history: list[float] = []
    gain = np.inf
    for value, point in ascend(objective, z, weighting.project):
        z = point
        gain = (value - history[-1]) / max(abs(value), 1e-300) if history else np.inf
        history.append(value)
        if gain <= tol or len(history) > max_iter:
            break
    else:
        gain = 0.0  # no step rises
        objective(z)  # the sigmoids of this point, not of a step that was tried
    return Learnt(z, np.array(history), gain)
