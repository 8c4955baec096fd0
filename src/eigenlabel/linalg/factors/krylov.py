"""Ridge regressions of linear data by products alone, and held-out scores of iterative solvers."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.factors.base import Factor, Product, SampleFactor
from eigenlabel.linalg.factors.solution import Shortfall, Solution
from eigenlabel.linalg.heldout import (
    Fold,
    FoldBlock,
    Pairs,
    SolvedFold,
    counted,
    training_rows,
)
from eigenlabel.linalg.machine import readable
from eigenlabel.linalg.observed_cells import Cells, MaskedOperator
from eigenlabel.linalg.operators import CentredOperator, total_weight
from eigenlabel.linalg.solvers.conjugate_gradients import Normal, diagonal_cg, shifted_cg
from eigenlabel.linalg.top_subspace import ProductSide


@dataclass(frozen=True)
class Bounds:
    """When a solver stops, and how much memory it may use.

    Attributes
    ----------
    tol : a solve stops at residuals ``|b - (A + s) x| <= tol |b|``
    max_iter : upper bound on the number of iterations
    max_memory : upper bound on the bytes of the arrays of a solve, its result included; targets
        are solved in groups if necessary
    """

    tol: float = 1e-6
    max_iter: int = 1000
    max_memory: float = float("inf")

    def group(self, m: int, answer: float, work: float) -> int:
        """Return how many of m columns fit at once.

        ``answer`` is the number of bytes of the result, ``work`` that of one column in a solve.
        """
        room = self.max_memory - answer
        if room < work:
            raise MemoryError(
                f"A Krylov solve needs {readable(answer + work)}, of which {readable(answer)} for "
                f"the answer; max_memory, by default the machine's, has {readable(self.max_memory)}"
                " for it. Use fewer shifts, targets or features at once."
            )
        return int(min(max(m, 1), room / work))

    def shortfall(self, residuals: Floats, n_iter: int) -> Shortfall | None:
        """Return the shortfall of a solve, or None if all residuals are within ``tol``."""
        worst = float(residuals.max(initial=0.0))
        if worst <= self.tol:
            return None
        limit = "" if n_iter < self.max_iter else f", max_iter = {self.max_iter}"
        advice = "Raise tol" if n_iter < self.max_iter else "Raise max_iter or tol"
        return Shortfall(
            worst,
            self.tol,
            f"Conjugate gradients stopped after {n_iter} iterations{limit} at a relative "
            f"residual of {worst:.2g}, tol = {self.tol:.2g}. {advice}, use larger penalties, "
            "or scale the features.",
        )


def heldout_by_solving(
    factor: SampleFactor,
    T: Floats,
    folds: Sequence[Fold],
    shifts: Sequence[float],
    pairs: Pairs,
    advance: Callable[[int], Any],
) -> list[FoldBlock]:
    """Solve each training part for all shifts; see :meth:`SampleFactor.heldout`."""
    return [_solved_fold(factor, T, fold, shifts, pairs) for fold in counted(folds, advance)]


def _solved_fold(
    factor: SampleFactor, T: Floats, fold: Fold, shifts: Sequence[float], pairs: Pairs
) -> SolvedFold:
    train, test = training_rows(T.shape[0], fold), fold[1]
    part, predict = factor.fold(train, test)
    solution, solved = solve_finite(part, T[train], shifts)
    mean = part.target_means(T[train])
    flat = np.broadcast_to(mean[None, :, None], (1, len(mean), len(test)))
    scores = [(predict(c) + mean).T[None] for c in solution.coefficients]
    scores += [flat] * (len(shifts) - len(scores))
    inner = {(i, j): part.inner(solved[i], solved[j])[None] for i, j in set(pairs)}
    return SolvedFold(test[None], scores, inner, shortfall=solution.shortfall)


def solve_finite(
    factor: SampleFactor, T: Floats, shifts: Sequence[float]
) -> tuple[Solution, list[Floats]]:
    """Solve for the finite shifts; return the solution, and the coefficients of all shifts.

    For an infinite shift, which must be the last, the limit of ``s ridge(s)`` is returned.
    """
    finite = [s for s in shifts if np.isfinite(s)]
    solution = factor.solve(T, finite)
    limit = [factor.gradient(T)] if len(finite) < len(shifts) else []
    return solution, [*solution.coefficients, *limit]


ROUGH = 1e-5  # residuals that float32 reaches
System = Callable[[slice], tuple[Normal, Floats]]  # products and right sides of some columns


class NormalData(Normal, Protocol):
    """Data X as far as conjugate gradients need them."""

    shape: tuple[int, int]
    mean: Floats

    def column_squares(self) -> Floats:
        """Sum the squared entries of each column of Xc, weighted by row (d,)."""
        ...


class NormalFactor(Factor):
    """Ridge regressions by conjugate gradients on ``Xc'W Xc``: coefficients are weights (d, m).

    Cost: one product with X and one with X' for each iteration and column.

    Parameters
    ----------
    data : products with the centred data
    total : total weight of the samples
    centre : whether there is an intercept without penalty
    bounds : when to stop, and memory
    """

    dtype: "np.dtype[Any]" = np.dtype(float)

    def __init__(self, data: NormalData, total: float, centre: bool, bounds: Bounds) -> None:
        self._data, self.total, self.centre, self.bounds = data, total, centre, bounds
        self.accuracy = bounds.tol

    @property
    def origin(self) -> Floats:
        """The mean (d,) of the features."""
        return self._data.mean

    @abstractmethod
    def right_side(self, T: Floats) -> Floats:
        """Return ``Xc'W Tc`` (d, m)."""

    def gradient(self, T: Floats) -> Floats:
        """Return ``Xc'W Tc / n``, the limit of ``s ridge(s)``."""
        return self.right_side(T) / self.total

    def metric(self, c: Floats) -> Floats:
        """Return c itself."""
        return c

    def export(self, c: Floats) -> Floats:
        """Return the weights c themselves."""
        return c

    def variance(self) -> float:
        """Return the mean squared norm of the rows of Xc."""
        return float(self._data.column_squares().sum()) / self.total

    def solve(self, T: Floats, shifts: Sequence[float]) -> Solution:
        """Solve by conjugate gradients; solutions at shift 0 have minimum norm."""
        return self._solve(
            lambda part: (self._data, self.right_side(T[:, part])),
            T.shape[1],
            [self.total * s for s in shifts],
            self.dtype,
        )

    def _solve(
        self, system: System, m: int, shifts: Sequence[float], dtype: "np.dtype[Any]"
    ) -> Solution:
        """Solve the equations of m columns, in groups that fit in memory."""
        distinct = np.array(sorted(set(shifts)))
        n, d = self._data.shape
        out = np.zeros((len(distinct), d, m), dtype=dtype)
        work = (2 * len(distinct) + 4) * d + 2 * n
        group = self.bounds.group(m, out.nbytes, float(dtype.itemsize * work))
        diagonal = self._preconditioner(distinct)
        residuals, n_iter = np.zeros((len(distinct), m)), 0
        for start in range(0, m, group):
            part = slice(start, start + group)
            steps = self._solve_group(
                *system(part), distinct, diagonal, out[:, :, part], residuals[:, part]
            )
            n_iter = max(n_iter, steps)
        order = [int(np.searchsorted(distinct, s)) for s in shifts]
        found = out if order == list(range(len(out))) else out[order]
        shortfall = self.bounds.shortfall(residuals, n_iter)
        return Solution(found, residuals[order], n_iter, shortfall)

    def _preconditioner(self, shifts: Floats) -> Floats | None:
        """Return the diagonal (d,) of Xc'W Xc if one shift at a time takes less time, else None.

        The number of iterations grows with the root of the condition. The condition gains at most
        the ratio of the largest to the smallest of diagonal and shift together.
        """
        shifts = shifts[shifts > 0]
        if not shifts.size or not self._data.shape[1]:
            return None
        diagonal = self._data.column_squares()
        gain = (diagonal.max() + shifts[0]) / (diagonal.min() + shifts[0])
        return diagonal if np.sqrt(gain) > len(shifts) else None

    def _solve_group(
        self,
        operator: Normal,
        B: Floats,
        shifts: Floats,
        diagonal: Floats | None,
        out: Floats,
        residuals: Floats,
    ) -> int:
        """Fill in solutions and residuals of some columns; return the number of iterations."""
        together, (tol, max_iter) = len(shifts), (self.bounds.tol, self.bounds.max_iter)
        if diagonal is not None:  # all but zero, whose solution must have minimum norm
            together = int(np.count_nonzero(shifts == 0))
        steps = 0
        if together:
            out[:together], residuals[:together], steps = shifted_cg(
                operator, B, shifts[:together], tol, max_iter
            )
        for i in range(together, len(shifts)):
            out[i], residuals[i], more = diagonal_cg(
                operator, B, shifts[i], np.asarray(diagonal), tol, max_iter
            )
            steps = max(steps, more)
        return steps


class KrylovFactor(NormalFactor, SampleFactor):
    """The ridge regressions of :class:`CovarianceFactor` without its d x d matrix.

    Sparse float32 X is solved in float32, with half the memory, if ``tol >= ROUGH``.

    Parameters
    ----------
    operator : the centred data, with sample weights
    centre : whether there is an intercept without penalty
    tol : relative residual at which a solve stops
    max_iter : upper bound on the number of iterations
    max_memory : upper bound on the bytes of the arrays of a solve
    """

    dual = False

    def __init__(
        self,
        operator: CentredOperator,
        centre: bool = True,
        tol: float = 1e-6,
        max_iter: int = 1000,
        max_memory: float = float("inf"),
    ) -> None:
        total = total_weight(operator.shape[0], operator.weights)
        super().__init__(operator, total, centre, Bounds(tol, max_iter, max_memory))
        self.operator, self.weights, self.size = operator, operator.weights, operator.shape[1]
        self.dtype = operator.precision if tol >= ROUGH else np.dtype(float)

    def right_side(self, T: Floats) -> Floats:
        """Return ``Xc'W Tc`` (d, m), in the precision of the solves."""
        return self.operator.rmatmat(self.weighted_targets(T).astype(self.dtype, copy=False))

    def scores(self, c: Floats) -> Floats:
        """Return Xc c."""
        return self.operator.matmat(c)

    def adjoint(self, t: Floats) -> Floats:
        """Return Xc't."""
        return self.operator.rmatmat(t)

    def restrict(self, rows: Ints, total: float | None = None) -> "KrylovFactor":
        """Return the factor of some samples alone; a copy of their rows of X."""
        bounds = self.bounds.tol, self.bounds.max_iter, self.bounds.max_memory
        part = KrylovFactor(self.operator.recentred(rows, self.centre), self.centre, *bounds)
        part.total = part.total if total is None else total
        return part

    def fold(self, train: Ints, test: Ints) -> "tuple[KrylovFactor, Product]":
        """Return the factor of the training rows, and a function that scores the test rows."""
        part = self.restrict(train)
        rest, offset = self.operator.rows(test), part.operator.mean - self.operator.mean
        return part, lambda c: rest.matmat(c) - offset @ c

    def heldout(
        self,
        T: Floats,
        folds: Sequence[Fold],
        shifts: Sequence[float],
        pairs: Pairs = (),
        max_memory: float = float("inf"),  # noqa: ARG002
        advance: Callable[[int], Any] = int,
    ) -> list[FoldBlock]:
        """Solve each fold for all shifts at once; see :meth:`SampleFactor.heldout`."""
        return heldout_by_solving(self, T, folds, shifts, pairs, advance)

    def side(self, T: CentredOperator, shift: float) -> ProductSide:  # noqa: ARG002
        """Return the solver of many sparse targets by products."""
        return ProductSide(self, T)

    def solve_masked(
        self, T: Floats, shifts: Sequence[float], cells: Cells, total: float
    ) -> Solution:
        """Solve ridge regressions whose targets are observed on different samples, all at once.

        The products ``X'(M o (X P))`` leave out the cells that are not observed.
        """

        def system(part: slice) -> tuple[Normal, Floats]:
            some, t = cells.columns(part), T[:, part]
            right = some.weigh(t - some.means(t) if self.centre else t)
            operator = MaskedOperator(self.operator, some, self.centre)
            return operator, self.operator.rmatmat(right)

        return self._solve(system, T.shape[1], [total * s for s in shifts], np.dtype(float))
