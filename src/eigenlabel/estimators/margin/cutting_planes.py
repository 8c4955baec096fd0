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


class Planes:
    """The cutting planes of one label, lower bounds ``loss - w'gradient``, and their QP.

    Parameters
    ----------
    n_features : int
        The length of w.
    C : float
        Weight of the planes against the penalty of w.
    tol : float
        A plane is active if it is at most this much below the highest one.
    """

    def __init__(self, n_features: int, C: float, tol: float) -> None:
        self.C, self.tol, self.size = C, tol, 0
        self._gradients = np.empty((16, n_features))
        self._gram = np.empty((16, 16), order="F")
        self._losses, self._idle = np.empty(16), np.zeros(16, dtype=int)

    def add(self, gradient: Floats, loss: float) -> None:
        """Add a plane; it replaces a plane that has long been inactive, if there is one."""
        slot = int(self._idle[: self.size].argmax()) if self.size else 0
        if not self.size or self._idle[slot] < IDLE:
            slot = self.size
            self.size += 1
        if slot == len(self._losses):
            self._grow()
        self._gradients[slot], self._losses[slot], self._idle[slot] = gradient, loss, 0
        row = self._gradients[: self.size] @ gradient
        self._gram[slot, : self.size] = row
        self._gram[: self.size, slot] = row

    def _grow(self) -> None:
        more = len(self._losses)
        self._gradients = np.pad(self._gradients, ((0, more), (0, 0)))
        self._gram = np.asfortranarray(np.pad(self._gram, (0, more)))
        self._losses, self._idle = np.pad(self._losses, (0, more)), np.pad(self._idle, (0, more))

    def solve(self) -> tuple[Floats, float]:
        """Return the best w for the planes so far and the value of their dual, divided by C."""
        some = slice(self.size)
        Q, losses = self.C * self._gram[some, some], self._losses[some]
        weights = _solve_simplex(Q, losses)
        heights = losses - Q @ weights
        # By height and not by weight: with a large C even the smallest weight moves w.
        self._idle[some] = np.where(heights > heights.max() - self.tol, 0, self._idle[some] + 1)
        value = weights @ losses - weights @ Q @ weights / 2
        return self.C * (weights @ self._gradients[some]), float(value)


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
    planes = Planes(X.shape[1] + 1, C, tol)
    w = best = np.zeros(X.shape[1] + 1)
    lowest = gap = np.inf
    n_iter = 0
    while n_iter < max_iter and not gap <= tol:
        n_iter += 1
        w = (w + best) / 2
        scores = X @ w[:-1] + constant * w[-1]
        coefficients, loss = find(scores)
        value = w @ w / (2 * C) + max(0.0, loss - scores @ coefficients)
        if value < lowest:
            best, lowest = w, value
        planes.add(np.append(X.T @ coefficients, constant * coefficients.sum()), loss)
        w, bound = planes.solve()
        gap = lowest - bound
    return DualSolution(best, float(gap), n_iter)
