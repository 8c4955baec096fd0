"""Kernel ridge regressions from products alone, when the n x n matrix does not fit in memory."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from eigenlabel.linalg._types import Floats, Ints, Matrix
from eigenlabel.linalg.factors.base import Product, SampleFactor
from eigenlabel.linalg.factors.gram import orthonormalise_dual
from eigenlabel.linalg.factors.krylov import Bounds, heldout_by_solving
from eigenlabel.linalg.factors.solution import Solution
from eigenlabel.linalg.heldout import Fold, FoldBlock, Pairs
from eigenlabel.linalg.lowrank import BlockKernel, KernelFunction, kernel_diagonal, nystrom
from eigenlabel.linalg.numerics import rank_tolerance, significant
from eigenlabel.linalg.operators import CentredOperator, row_blocks, total_weight, weighted_mean
from eigenlabel.linalg.solvers.conjugate_gradients import preconditioned_cg
from eigenlabel.linalg.top_subspace import ProductSide

FLOOR = 1e-10  # eigenvalues of the preconditioner below this share of the largest are left out


class KernelKrylovFactor(SampleFactor):
    """The dual solves of :class:`GramFactor` without its n x n matrix.

    Conjugate gradients on ``K + n s I``, with products in strips (:class:`BlockKernel`) and a
    Nystrom preconditioner: with ``K ~ U diag(lam) U'``, the part in U is solved exactly. Most of
    the time is spent on the kernel values, which are computed again for each product; all shifts
    and targets share them as columns.

    Parameters
    ----------
    kernel : function of two matrices that returns the kernel values of their rows; it must be
        positive semi-definite
    X : (n, d) samples
    weights : (n,) sample weights or None
    centre : centre in feature space
    tol : relative residual at which a solve stops
    max_iter : upper bound on the number of iterations
    max_memory : upper bound on the bytes of the arrays of a solve
    """

    dual = True

    def __init__(
        self,
        kernel: KernelFunction,
        X: Matrix,
        weights: Floats | None = None,
        centre: bool = True,
        tol: float = 1e-6,
        max_iter: int = 1000,
        max_memory: float = float("inf"),
    ) -> None:
        self.bounds, self.accuracy = Bounds(tol, max_iter, max_memory), tol
        self._kernel, self._X, self.weights, self.centre = kernel, X, weights, centre
        n = self.size = X.shape[0]
        self.K = BlockKernel(kernel, X)
        self.total = total_weight(n, weights)
        self._w = np.ones((n, 1)) if weights is None else weights[:, None]
        self._root = np.sqrt(self._w)
        self.row_mean = self.K.matmat(self._w)[:, 0] / self.total if centre else np.zeros(n)
        self._lam, self._U = self._nystrom_basis()

    def _nystrom_basis(self) -> tuple[Floats, Floats]:
        """Return lam and U of a Nystrom factor, centred and weighted like the kernel."""
        n = self._X.shape[0]
        rank = min(n, 50 + 2 * int(np.sqrt(n)))
        Z = nystrom(self._kernel, self._X, rank, rank, np.random.default_rng(0)).features()
        if self.centre:
            Z -= weighted_mean(Z, self.weights)
        Z *= self._root
        lam, V = np.linalg.eigh(Z.T @ Z)
        keep = significant(lam, FLOOR)
        return lam[keep], Z @ (V[:, keep] / np.sqrt(lam[keep]))

    def _precondition(self, R: Floats, shifts: Floats) -> Floats:
        G = self._U.T @ R
        floor = self._lam[0] if self._lam.size else 0.0
        scale = (floor + shifts) / (self._lam[:, None] + shifts)
        return np.asarray(R + self._U @ ((scale - 1) * G))

    @property
    def origin(self) -> Floats:
        """The mean (n,) of the rows of the kernel matrix before centring."""
        return self.row_mean

    def metric(self, c: Floats) -> Floats:
        """Return Kc c; one product with the kernel."""
        if not self.centre:
            return self.K.matmat(c)
        Y = self.K.matmat(c - self._w * (c.sum(axis=0) / self.total))
        return Y - weighted_mean(Y, self.weights)

    def variance(self) -> float:
        """Return the weighted mean of the diagonal of Kc."""
        centred = kernel_diagonal(self._kernel, self._X) - self.row_mean
        return float(self._w[:, 0] @ centred) / self.total

    def metric_rounding(self) -> float:
        """Return the rank tolerance times the largest eigenvalue of the Nystrom factor."""
        largest = float(self._lam.max(initial=0.0))
        return rank_tolerance(self.size, np.float64) * largest

    def solve(self, T: Floats, shifts: Sequence[float]) -> Solution:
        """Solve by preconditioned conjugate gradients, all shifts and targets at once."""
        n, m = T.shape
        B = np.tile(self._root * (T - self.target_means(T) if self.centre else T), len(shifts))
        columns = np.repeat(self.total * np.asarray(shifts, dtype=float), m)
        group = self.bounds.group(B.shape[1], 2.0 * B.nbytes, 8.0 * 6 * n)
        residuals, n_iter = np.zeros(B.shape[1]), 0
        out = np.empty_like(B)
        for start in range(0, B.shape[1], group):
            part = slice(start, start + group)
            out[:, part], residuals[part], steps = preconditioned_cg(
                lambda P: self._root * self.metric(self._root * P),
                B[:, part],
                columns[part],
                self._precondition,
                self.bounds.tol,
                self.bounds.max_iter,
            )
            n_iter = max(n_iter, steps)
        found = np.stack(np.split(self._root * out, len(shifts), axis=1))
        shortfall = self.bounds.shortfall(residuals, n_iter)
        return Solution(found, residuals.reshape(len(shifts), m), n_iter, shortfall)

    def gradient(self, T: Floats) -> Floats:
        """Return ``D Tc / n``, the limit of ``s ridge(s)``."""
        return self.weighted_targets(T) / self.total

    def export(self, c: Floats) -> Floats:
        """Return the dual coefficients c themselves."""
        return c

    def orthonormalise(self, directions: Floats) -> tuple[Floats, Floats]:
        """Return an orthonormal basis and R: directions = basis R; see :class:`Factor`."""
        return orthonormalise_dual(self, directions)

    def scores(self, c: Floats) -> Floats:
        """Return Kc c."""
        return self.metric(c)

    def adjoint(self, t: Floats) -> Floats:
        """Return t itself."""
        return t

    def restrict(self, rows: Ints, total: float | None = None) -> "KernelKrylovFactor":
        """Return the factor of some samples alone, with a preconditioner of its own."""
        weights = None if self.weights is None else self.weights[rows]
        bounds = self.bounds.tol, self.bounds.max_iter, self.bounds.max_memory
        part = KernelKrylovFactor(self._kernel, self._X[rows], weights, self.centre, *bounds)
        part.total = part.total if total is None else total
        return part

    def fold(self, train: Ints, test: Ints) -> "tuple[KernelKrylovFactor, Product]":
        """Return the factor of the training rows, and a function that scores the test rows."""
        part, rest = self.restrict(train), self._X[test]

        def scores(c: Floats) -> Floats:
            out = np.empty((len(test), c.shape[1]))
            for rows in row_blocks(len(test), len(train)):
                out[rows] = np.asarray(self._kernel(rest[rows], part._X), dtype=float) @ c
            return np.asarray(out - part.row_mean @ c)

        return part, scores

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
