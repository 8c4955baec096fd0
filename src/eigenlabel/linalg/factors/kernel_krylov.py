"""The dual ridge solves of a kernel from products alone, when its n x n matrix does not fit.

Conjugate gradients with a Nystrom preconditioner. The product with the kernel matrix, computed anew
in strips, is what costs: all shifts and labels share it as columns.
"""

import warnings
from collections.abc import Callable, Sequence

import numpy as np

from eigenlabel.linalg._types import Floats, Ints, Matrix
from eigenlabel.linalg.factors.krylov import Krylov, Product
from eigenlabel.linalg.lowrank import BlockKernel, Kernel, nystrom
from eigenlabel.linalg.operators import row_blocks, total_weight, weighted_mean

EPS = float(np.finfo(np.float64).eps)


class KernelKrylovFactor(Krylov):
    """The dual solves of :class:`GramFactor` without its n x n matrix.

    Conjugate gradients on ``K + n s I`` with products in strips (:class:`BlockKernel`) and a
    Nystrom preconditioner: with ``K ~ U diag(lam) U'``, the part in U is solved exactly.

    Parameters
    ----------
    kernel : takes two matrices, gives the kernel values of their rows; positive semi-definite
    X : (n, d) samples
    weights : (n,) sample weights or None
    centre : centre in feature space
    and those of :class:`Krylov`
    """

    operator = None

    def __init__(
        self,
        kernel: Kernel,
        X: Matrix,
        weights: Floats | None = None,
        centre: bool = True,
        tol: float = 1e-6,
        max_iter: int = 1000,
        max_memory: float = float("inf"),
        report: Callable[[str], None] = warnings.warn,
    ) -> None:
        super().__init__(tol, max_iter, max_memory, report)
        self._kernel, self._X, self.weights, self.centre = kernel, X, weights, centre
        n = X.shape[0]
        self.K = BlockKernel(kernel, X)
        self.total = total_weight(n, weights)
        self._w = np.ones((n, 1)) if weights is None else weights[:, None]
        self._root = np.sqrt(self._w)
        self.row_mean = self.K.matmat(self._w)[:, 0] / self.total if centre else np.zeros(n)
        self._lam, self._U = np.zeros(0), np.zeros((n, 0))
        self._prepare()

    def _prepare(self) -> None:
        """Take the preconditioner from a Nystrom factor, centred and weighted like the kernel."""
        n = self._X.shape[0]
        rank = min(n, 50 + 2 * int(np.sqrt(n)))
        Z = nystrom(self._kernel, self._X, rank, rank, np.random.default_rng(0)).features()
        if self.centre:
            Z -= weighted_mean(Z, self.weights)
        Z *= self._root
        lam, V = np.linalg.eigh(Z.T @ Z)
        keep = lam > 1e-10 * lam.max(initial=0.0)
        self._lam, self._U = lam[keep], Z @ (V[:, keep] / np.sqrt(lam[keep]))

    def _precondition(self, R: Floats, shifts: Floats) -> Floats:
        G = self._U.T @ R
        floor = self._lam[0] if self._lam.size else 0.0
        scale = (floor + shifts) / (self._lam[:, None] + shifts)
        return np.asarray(R + self._U @ ((scale - 1) * G))

    def _centred(self, B: Floats) -> Floats:
        """Kc B."""
        if not self.centre:
            return self.K.matmat(B)
        Y = self.K.matmat(B - self._w * (B.sum(axis=0) / self.total))
        return Y - weighted_mean(Y, self.weights)

    def _targets(self, T: Floats) -> Floats:
        return self._root * (T - weighted_mean(T, self.weights) if self.centre else T)

    def solve(self, T: Floats, shifts: Sequence[float]) -> Floats:
        """Give (len(shifts), n, m) dual coefficients; they sum to zero over centred samples."""
        n, m = T.shape
        B = np.tile(self._targets(T), len(shifts))
        columns = np.repeat(self.total * np.asarray(shifts, dtype=float), m)
        group = self._group(B.shape[1], 2.0 * B.nbytes, 8.0 * 6 * n)
        residuals = np.zeros(B.shape[1])
        out = np.empty_like(B)
        self.n_iter = 0
        for start in range(0, B.shape[1], group):
            part = slice(start, start + group)
            out[:, part], residuals[part], steps = preconditioned_cg(
                lambda P: self._root * self._centred(self._root * P),
                B[:, part],
                columns[part],
                self._precondition,
                self.tol,
                self.max_iter,
            )
            self.n_iter = max(self.n_iter, steps)
        self.residuals = residuals.reshape(len(shifts), m)
        self._tell()
        return np.stack(np.split(self._root * out, len(shifts), axis=1))

    def gradient(self, T: Floats) -> Floats:
        """Give the limit of ``s solve(T, s)`` for growing s."""
        return np.asarray(self._root * self._targets(T) / self.total)

    def inner(self, a: Floats, b: Floats) -> Floats:
        """Give A'B of the weights that dual a and b stand for; one product with the kernel."""
        return np.asarray(a.T @ self._centred(b))

    def dual(self, c: Floats) -> Floats:
        """Give coefficients for the kernel as it is."""
        return c

    def fold(self, train: Ints, test: Ints) -> "tuple[KernelKrylovFactor, Product]":
        """Give the factor of some samples alone, and the scores of others, as linear ones do."""
        weights = None if self.weights is None else self.weights[train]
        bounds = self.tol, self.max_iter, self.max_memory, self.report
        own, rest = self._X[train], self._X[test]
        part = KernelKrylovFactor(self._kernel, own, weights, self.centre, *bounds)

        def scores(c: Floats) -> Floats:
            out = np.empty((len(test), c.shape[1]))
            for rows in row_blocks(len(test), len(train)):
                out[rows] = np.asarray(self._kernel(rest[rows], own), dtype=float) @ c
            return np.asarray(out - part.row_mean @ c)

        return part, scores


def preconditioned_cg(
    matmat: Callable[[Floats], Floats],
    B: Floats,
    shifts: Floats,
    precondition: Callable[[Floats, Floats], Floats],
    tol: float,
    max_iter: int,
) -> tuple[Floats, Floats, int]:
    """Solve ``(A + s_j I) x_j = b_j`` for each column with its own shift.

    Returns
    -------
    x : like B
    residuals : (columns,), relative to b
    steps : int
    """
    x, R = np.zeros_like(B), B.copy()
    size = np.linalg.norm(B, axis=0)
    Z = precondition(R, shifts)
    P, rz = Z.copy(), np.einsum("ij,ij->j", R, Z)
    going = np.flatnonzero(size > 0)
    steps = 0
    while going.size and steps < max_iter:
        D = P[:, going]
        Q = matmat(D) + shifts[going] * D
        curvature = np.einsum("ij,ij->j", D, Q)
        lengths = np.linalg.norm(D, axis=0) * np.linalg.norm(Q, axis=0)
        if (curvature < -np.sqrt(EPS) * lengths).any():
            raise ValueError(
                "The kernel is not positive semi-definite on these samples: conjugate gradients "
                "need one that is. Use solver='gram', which leaves the negative part out."
            )
        alpha = np.divide(rz[going], curvature, out=np.zeros(going.size), where=curvature > 0)
        x[:, going] += alpha * D
        R[:, going] -= alpha * Q
        Z = precondition(R[:, going], shifts[going])
        new = np.einsum("ij,ij->j", R[:, going], Z)
        P[:, going] = Z + new / rz[going] * D
        rz[going] = new
        steps += 1
        done = (np.linalg.norm(R[:, going], axis=0) <= tol * size[going]) | (alpha == 0)
        going = going[~done]
    residuals = np.divide(np.linalg.norm(R, axis=0), size, out=np.zeros(len(size)), where=size > 0)
    return x, residuals, steps
