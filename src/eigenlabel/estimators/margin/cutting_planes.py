"""Minimisation by cutting planes with one slack variable (Joachims et al. 2009).

The function ``|w|^2 / (2 C) + max_i (loss_i - w'gradient_i)`` is minimised, where the maximum is
over planes that are found one by one. A QP over the planes found so far returns the next w.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenlabel.linalg._types import Floats, Matrix

IDLE = 10  # rounds below the other planes after which a plane may be replaced


@dataclass(frozen=True)
class Point:
    """A vector w, as it is or by its coefficients on the samples.

    Attributes
    ----------
    vector : (p,) array
        The vector w, with p = d + 1, or coefficients a of the samples, with p = n and
        ``w = sum_i a_i x_i``.
    image : (p,) array
        What makes ``vector @ other.image`` the inner product with another vector: w again, or the
        scores of all samples.
    """

    vector: Floats
    image: Floats

    def halfway(self, other: "Point") -> "Point":
        """Return the point in the middle between this one and another."""
        return Point((self.vector + other.vector) / 2, (self.image + other.image) / 2)


class SampleVectors:
    """The samples with a constant feature, and the form in which vectors w are kept.

    Few samples with many features keep w by its n coefficients. A round then costs two products
    with X and as many operations as the planes have numbers.

    Parameters
    ----------
    X : (n, d) array or sparse matrix
        The samples.
    constant : float
        The value of the constant feature, 0 for none.
    """

    def __init__(self, X: Matrix, constant: float) -> None:
        self.X, self.constant = X, constant
        self.by_coefficients = X.shape[0] <= X.shape[1]
        self.size = X.shape[0] if self.by_coefficients else X.shape[1] + 1

    def combine(self, coefficients: Floats) -> Point:
        """Return the combination of the samples, with the constant feature, as a point."""
        w = self._weights(coefficients)
        return Point(coefficients, self._scores(w)) if self.by_coefficients else Point(w, w)

    def scores(self, point: Point) -> Floats:
        """Return the scores (n,) of the samples."""
        return point.image if self.by_coefficients else self._scores(point.vector)

    def weights(self, point: Point) -> Floats:
        """Return w (d + 1,); the last entry belongs to the constant feature."""
        return self._weights(point.vector) if self.by_coefficients else point.vector

    def _weights(self, coefficients: Floats) -> Floats:
        return np.append(self.X.T @ coefficients, self.constant * coefficients.sum())

    def _scores(self, w: Floats) -> Floats:
        return np.asarray(self.X @ w[:-1] + self.constant * w[-1])


class Planes:
    """The cutting planes of one label, lower bounds ``loss - w'gradient``, and their QP.

    Parameters
    ----------
    samples : SampleVectors
        What the gradients are combinations of.
    C : float
        Weight of the planes against the penalty of w.
    tol : float
        A plane is active if it is at most this much below the highest one.
    """

    def __init__(self, samples: SampleVectors, C: float, tol: float) -> None:
        self.C, self.tol, self.size = C, tol, 0
        self._vectors = np.empty((16, samples.size))
        # Vectors that are kept as they are equal their images: one array serves both.
        self._images = np.empty((16, samples.size)) if samples.by_coefficients else self._vectors
        self._gram = np.empty((16, 16), order="F")
        self._losses, self._idle = np.empty(16), np.zeros(16, dtype=int)

    def add(self, gradient: Point, loss: float) -> None:
        """Add a plane; it replaces a plane that has long been inactive, if there is one."""
        slot = int(self._idle[: self.size].argmax()) if self.size else 0
        if not self.size or self._idle[slot] < IDLE:
            slot = self.size
            self.size += 1
        if slot == len(self._losses):
            self._grow()
        self._vectors[slot], self._images[slot] = gradient.vector, gradient.image
        self._losses[slot], self._idle[slot] = loss, 0
        row = self._vectors[: self.size] @ gradient.image
        self._gram[slot, : self.size] = row
        self._gram[: self.size, slot] = row

    def _grow(self) -> None:
        more = len(self._losses)
        twofold = self._images is not self._vectors
        self._vectors = np.pad(self._vectors, ((0, more), (0, 0)))
        self._images = np.pad(self._images, ((0, more), (0, 0))) if twofold else self._vectors
        self._gram = np.asfortranarray(np.pad(self._gram, (0, more)))
        self._losses, self._idle = np.pad(self._losses, (0, more)), np.pad(self._idle, (0, more))

    def solve(self) -> tuple[Point, float]:
        """Return the best w for the planes so far and the value of their dual, divided by C."""
        some = slice(self.size)
        Q, losses = self.C * self._gram[some, some], self._losses[some]
        weights = _solve_simplex(Q, losses)
        heights = losses - Q @ weights
        # By height and not by weight: with a large C even the smallest weight moves w.
        self._idle[some] = np.where(heights > heights.max() - self.tol, 0, self._idle[some] + 1)
        value = weights @ losses - weights @ Q @ weights / 2
        vector = image = self.C * (weights @ self._vectors[some])
        if self._images is not self._vectors:
            image = self.C * (weights @ self._images[some])
        return Point(vector, image), float(value)


def _solve_simplex(Q: Floats, c: Floats) -> Floats:
    """Maximise ``c'v - v'Qv / 2`` over v >= 0 whose sum is at most 1."""
    solver = qp_solver()
    k, one = len(c), np.ones(1)
    solver.setup(Q, -c, None, None, np.ones((1, k)), -np.inf * one, one, np.zeros(k))
    solver.solve()
    # Interior points are inside up to rounding only; on the simplex the dual value is a bound.
    v = np.maximum(solver.result.x, 0)
    return np.asarray(v / max(1.0, v.sum()))


def qp_solver() -> Any:
    """Return a solver of dense QPs; raise ImportError if piqp is not installed."""
    try:
        import piqp  # noqa: PLC0415  an extra
    except ImportError as error:
        raise ImportError(
            "SVMPerfClassifier needs the QP solver piqp: pip install 'eigenlabel[margin]'."
        ) from error
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-9
    return solver


@dataclass(frozen=True)
class DualSolution:
    """The minimiser for one label.

    Attributes
    ----------
    w : (d + 1,) array
        The weights; the last one belongs to the constant feature.
    gap : float
        The difference between the value of w and its lower bound.
    n_iter : int
        The number of rounds.
    """

    w: Floats
    gap: float
    n_iter: int


def minimise(
    X: Matrix,
    find: Callable[[Floats], tuple[Floats, float]],
    C: float,
    constant: float,
    tol: float,
    max_iter: int,
) -> DualSolution:
    """Minimise ``|w|^2 / (2 C) + max(loss - w'gradient)`` over the planes that ``find`` returns.

    Each round uses the plane halfway between the best w so far and the minimiser of the planes. It
    lowers the best value, or, by convexity, cuts off the minimiser of the planes by at least the
    gap: every round makes progress, and fewer rounds are needed than with planes at the minimiser.

    Parameters
    ----------
    X : (n, d) array or sparse matrix
        The samples.
    find : callable
        A function that receives scores (n,) and returns the coefficients (n,) of the gradient, and
        the loss.
    C : float
        Weight of the planes against the penalty of w.
    constant : float
        The value of the constant feature, 0 for none.
    tol : float
        The gap at which the rounds end.
    max_iter : int
        Upper bound on the number of rounds.
    """
    samples = SampleVectors(X, constant)
    planes = Planes(samples, C, tol)
    w = best = Point(np.zeros(samples.size), np.zeros(samples.size))
    lowest = gap = np.inf
    n_iter = 0
    while n_iter < max_iter and not gap <= tol:
        n_iter += 1
        w = w.halfway(best)
        scores = samples.scores(w)
        coefficients, loss = find(scores)
        value = float(w.vector @ w.image) / (2 * C) + max(0.0, float(loss - scores @ coefficients))
        if value < lowest:
            best, lowest = w, value
        planes.add(samples.combine(coefficients), loss)
        w, bound = planes.solve()
        gap = lowest - bound
    return DualSolution(samples.weights(best), float(gap), n_iter)
