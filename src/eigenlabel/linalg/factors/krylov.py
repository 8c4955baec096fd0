"""The same ridge solves from products alone, when neither n x n nor d x d fits in memory.

The Krylov space of ``(Xc'WXc, Xc'WT)`` does not depend on the shift, so conjugate gradients for
the smallest shift carry all others along: the residuals of the shifted systems are multiples
``zeta r`` of one another (Frommer and Maass 1999). Each iteration takes one product with X and one
with X' for all shifts; each label has a Krylov space of its own.

A preconditioner ties a shift to its own iteration. Features of very unequal variance, as words
are, gain so much by dividing by it that one shift after the other is sooner done than all at once.
"""

import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np

from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.machine import n_threads
from eigenlabel.linalg.operators import (
    CentredOperator,
    column_products,
    total_weight,
    weighted_mean,
)
from eigenlabel.linalg.sizes import readable

Product = Callable[[Floats], Floats]
ROUGH = 1e-5  # residuals that float32 reaches
CACHE = 2**16  # numbers of an array that are updated while they are in the processor's cache


class Normal(Protocol):
    """A symmetric positive semi-definite matrix as products."""

    def normal(self, P: Floats) -> tuple[Floats, Floats]:
        """Give the product with P and, for each column p, p'(product)."""


class Krylov:
    """What both sides share: bounds, and what is told of the last solve.

    Parameters
    ----------
    tol : a solve stops at residuals ``|b - (A + s) x| <= tol |b|``
    max_iter : or after so many iterations, and says so
    max_memory : bytes for the arrays of a solve, its answer among them; labels go in groups then
    report : called with a message when the tolerance is not met

    Attributes
    ----------
    residuals : (shifts, labels) of the last solve, relative, rounding included
    n_iter : iterations of the last solve
    """

    def __init__(
        self,
        tol: float,
        max_iter: int,
        max_memory: float,
        report: Callable[[str], None],
    ) -> None:
        self.tol, self.max_iter, self.max_memory = tol, max_iter, max_memory
        self.report = report
        self.residuals: Floats = np.zeros((0, 0))
        self.n_iter = 0

    def _group(self, m: int, answer: float, work: float) -> int:
        """Give how many of m columns fit at once, by bytes of the answer and of work a column."""
        room = self.max_memory - answer
        if room < work:
            raise MemoryError(
                f"A Krylov solve needs {readable(answer + work)}, of which {readable(answer)} for "
                f"the answer; max_memory, by default the machine's, has {readable(self.max_memory)}"
                " for it. Use fewer shifts, labels or features at once."
            )
        return int(min(max(m, 1), room / work))

    def _tell(self) -> None:
        worst = float(self.residuals.max(initial=0.0))
        if worst > self.tol:
            limit = "" if self.n_iter < self.max_iter else f", max_iter = {self.max_iter}"
            advice = "Raise tol" if self.n_iter < self.max_iter else "Raise max_iter or tol"
            self.report(
                f"Conjugate gradients stopped after {self.n_iter} iterations{limit} at a relative "
                f"residual of {worst:.2g}, tol = {self.tol:.2g}. {advice}, use larger penalties, "
                "or scale the features."
            )


class KrylovFactor(Krylov):
    """The ridge solves of :class:`CovarianceFactor` without its d x d matrix; weights (d, m).

    Sparse float32 X is solved in float32, with half the memory and traffic, if ``tol >= ROUGH``.
    """

    def __init__(
        self,
        operator: CentredOperator,
        centre: bool = True,
        tol: float = 1e-6,
        max_iter: int = 1000,
        max_memory: float = float("inf"),
        report: Callable[[str], None] = warnings.warn,
    ) -> None:
        super().__init__(tol, max_iter, max_memory, report)
        self.operator, self.centre = operator, centre
        self.weights = operator.weights
        self.total = total_weight(operator.shape[0], operator.weights)
        self.dtype = operator.precision if tol >= ROUGH else np.dtype(float)

    def _right_side(self, T: Floats) -> Floats:
        w = self.operator.weights
        Tc = T - weighted_mean(T, w) if self.centre else T
        Tc = Tc if w is None else w[:, None] * Tc
        return self.operator.rmatmat(Tc.astype(self.dtype, copy=False))

    def _system(self, T: Floats, part: slice) -> "tuple[Normal, Floats]":  # noqa: ARG002
        """Give the equations of some labels, whose targets are T: products and right side."""
        return self.operator, self._right_side(T)

    def solve(self, T: Floats, shifts: Sequence[float]) -> Floats:
        """Give (len(shifts), d, m) weights; of minimum norm at shift 0."""
        distinct = np.array(sorted({self.total * s for s in shifts}))
        (n, d), m = self.operator.shape, T.shape[1]
        out = np.zeros((len(distinct), d, m), dtype=self.dtype)
        work = (2 * len(distinct) + 4) * d + 2 * n
        group = self._group(m, out.nbytes, float(self.dtype.itemsize * work))
        diagonal = self._preconditioner(distinct)
        residuals = np.zeros((len(distinct), m))
        self.n_iter = 0
        for start in range(0, m, group):
            part = slice(start, start + group)
            operator, B = self._system(T[:, part], part)
            steps = self._solve_group(
                operator, B, distinct, diagonal, out[:, :, part], residuals[:, part]
            )
            self.n_iter = max(self.n_iter, steps)
        order = [int(np.searchsorted(distinct, self.total * s)) for s in shifts]
        self.residuals = residuals[order]
        self._tell()
        return out if order == list(range(len(out))) else out[order]

    def _preconditioner(self, shifts: Floats) -> Floats | None:
        """Give the diagonal (d,) of Xc'WXc if shifts one by one are the shorter way, else None.

        The condition, whose root the number of iterations goes with, gains at most the ratio of
        the largest to the smallest of diagonal and shift together.
        """
        shifts = shifts[shifts > 0]
        if not shifts.size or not self.operator.shape[1]:
            return None
        diagonal = self.operator.column_squares()
        gain = (diagonal.max() + shifts[0]) / (diagonal.min() + shifts[0])
        return diagonal if np.sqrt(gain) > len(shifts) else None

    def _solve_group(
        self,
        operator: "Normal",
        B: Floats,
        shifts: Floats,
        diagonal: Floats | None,
        out: Floats,
        residuals: Floats,
    ) -> int:
        """Fill in solutions and residuals of some labels; give the number of iterations."""
        together = len(shifts)
        if diagonal is not None:  # all but zero, whose answer is of minimum norm
            together = int(np.count_nonzero(shifts == 0))
        steps = 0
        if together:
            out[:together], residuals[:together], steps = shifted_cg(
                operator, B, shifts[:together], self.tol, self.max_iter
            )
        for i in range(together, len(shifts)):
            out[i], residuals[i], more = diagonal_cg(
                operator, B, shifts[i], np.asarray(diagonal), self.tol, self.max_iter
            )
            steps = max(steps, more)
        return steps

    def gradient(self, T: Floats) -> Floats:
        """Give the limit of ``s solve(T, s)`` for growing s."""
        return self._right_side(T) / self.total

    def inner(self, a: Floats, b: Floats) -> Floats:
        """Give A'B."""
        return np.asarray(a.T @ b, dtype=float)

    def primal(self, c: Floats) -> Floats:
        """Give the weights (d, m)."""
        return c

    def fold(self, train: Ints, test: Ints) -> "tuple[KrylovFactor, Product]":
        """Give the factor of some rows alone, centred by their own mean, and scores of others.

        Scores of coefficients are those without the intercept, at the training mean.
        """
        operator = self.operator.recentred(train, self.centre)
        bounds = self.tol, self.max_iter, self.max_memory, self.report
        offset = operator.mean - self.operator.mean
        rest = self.operator.rows(test)
        part = KrylovFactor(operator, self.centre, *bounds)
        return part, lambda c: rest.matmat(c) - offset @ c


def shifted_cg(
    operator: Normal, B: Floats, shifts: Floats, tol: float, max_iter: int
) -> tuple[Floats, Floats, int]:
    """Solve ``(Xc'WXc + s I) x = b`` for all columns b of B and all ascending shifts.

    Returns
    -------
    x : (shifts, d, m)
    residuals : (shifts, m), relative to b; at least what rounding leaves
    steps : int
    """
    S, (d, m) = len(shifts), B.shape
    delta = (shifts - shifts[0])[:, None]
    x, r = np.zeros((S, d, m), dtype=B.dtype), B.copy()
    p = np.repeat(B[None], S, axis=0)
    rho = _squares(r)
    size = np.sqrt(rho)  # |b|
    zeta, zeta_old = np.ones((S, m)), np.ones((S, m))
    alpha_old, beta, norm = np.ones(m), np.zeros(m), np.zeros(m)
    left = np.tile(size, (S, 1))  # |b - (A + s) x|
    steps = 0
    active = S if m else 0
    while active and steps < max_iter:
        q, curvature = operator.normal(p[0])
        curvature = curvature + shifts[0] * _squares(p[0])
        going = (rho > (tol * size) ** 2) & (curvature > 0)
        alpha = np.divide(rho, curvature, out=np.zeros(m), where=going)
        q += B.dtype.type(shifts[0]) * p[0]
        q *= alpha
        r -= q
        new = _squares(r)
        ratio = np.divide(new, rho, out=np.zeros(m), where=going)
        # The largest Ritz values tell the norm of the matrix, and with it what rounding leaves.
        ritz = np.divide(1.0, alpha, out=np.zeros(m), where=going) + going * beta / alpha_old
        norm = np.maximum(norm, ritz)
        bottom = alpha * beta * (zeta_old - zeta) + zeta_old * alpha_old * (1 + delta * alpha)
        step = np.divide(zeta_old * alpha_old, bottom, out=np.ones((S, m)), where=bottom != 0)
        zeta_old, zeta = zeta, zeta * step
        _advance(x, p, r, alpha * step, ratio * step * step, zeta, active)
        alpha_old, beta, rho = np.where(going, alpha, alpha_old), ratio, np.where(going, new, rho)
        steps += 1
        left[:active] = np.abs(zeta[:active]) * np.sqrt(rho)
        active = active if going.any() else 0
        while active and not (left[active - 1] > tol * size).any():
            active -= 1  # larger shifts are done earlier: leave them as they are
    lengths = np.sqrt(np.stack([_squares(part) for part in x])) if S else np.zeros((0, m))
    rounding = float(np.finfo(B.dtype).eps) * (norm + delta) * lengths
    found = np.maximum(left, rounding)
    residuals = np.divide(found, size, out=np.zeros((S, m)), where=size > 0)
    return x, residuals, steps


def diagonal_cg(
    operator: Normal,
    B: Floats,
    shift: float,
    diagonal: Floats,
    tol: float,
    max_iter: int,
) -> tuple[Floats, Floats, int]:
    """Solve ``(Xc'WXc + s I) x = b`` for one shift, preconditioned by the diagonal of Xc'WXc.

    Returns x (d, m), residuals (m,) and steps as :func:`shifted_cg` does.
    """
    m = B.shape[1]
    inverse = (1 / (diagonal + shift)).astype(B.dtype)[:, None]
    s = B.dtype.type(shift)
    x, r, p = np.zeros_like(B), B.copy(), inverse * B
    rho, left = column_products(r, p), _squares(r)
    goal, size = tol**2 * left, np.sqrt(left)
    steps = 0
    while (left > goal).any() and steps < max_iter:
        q, curvature = operator.normal(p)
        curvature = curvature + shift * _squares(p)
        going = (left > goal) & (curvature > 0)
        if not going.any():
            break
        alpha = np.divide(rho, curvature, out=np.zeros(m), where=going)
        step = alpha.astype(B.dtype)

        def forward(rows: slice, q: Floats = q, step: Floats = step) -> Floats:
            P, Q, R = p[rows], q[rows], r[rows]
            Q += s * P
            x[rows] += step * P
            R -= step * Q
            squares = R * R
            weighted = np.einsum("ij,ij->j", squares, np.broadcast_to(inverse[rows], R.shape))
            return np.stack([squares.sum(axis=0), weighted])

        left, new = np.sum(_in_pieces(forward, r), axis=0, dtype=float)
        beta = np.divide(new, rho, out=np.zeros(m), where=going).astype(B.dtype)

        def turn(rows: slice, beta: Floats = beta) -> None:
            P = p[rows]
            P *= beta
            P += inverse[rows] * r[rows]

        _in_pieces(turn, r)
        rho = np.where(going, new, rho)
        steps += 1
    rounding = float(np.finfo(B.dtype).eps) * steps * diagonal.max() * np.sqrt(_squares(x))
    if (rounding > tol * size).any():  # what was carried along may be off: look
        left = _squares(B - operator.normal(x)[0] - s * x)
    return x, np.divide(np.sqrt(left), size, out=np.zeros(m), where=size > 0), steps


def _squares(A: Floats) -> Floats:
    """Sum the squares of each column."""
    return column_products(A, A)


def _advance(
    x: Floats, p: Floats, r: Floats, alpha: Floats, beta: Floats, zeta: Floats, active: int
) -> None:
    """Take a step in place: ``x += alpha p``, ``p = zeta r + beta p``, for the active shifts."""
    alpha, beta, zeta = (each.astype(r.dtype) for each in (alpha, beta, zeta))

    def piece(rows: slice) -> None:
        for s in range(active):
            P = p[s, rows]
            x[s, rows] += alpha[s] * P
            P *= beta[s]
            P += zeta[s] * r[rows]

    _in_pieces(piece, r)


def _in_pieces(work: Callable[[slice], Any], like: Floats) -> list[Any]:
    """Do work on pieces of rows that stay in the cache, on every core."""
    step = max(1, CACHE // max(1, like.shape[1]))
    pieces = [slice(start, start + step) for start in range(0, max(1, len(like)), step)]
    if len(pieces) < 8:
        return [work(rows) for rows in pieces]
    with ThreadPoolExecutor(n_threads()) as pool:
        return list(pool.map(work, pieces))
