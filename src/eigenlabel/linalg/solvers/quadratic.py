"""Quadratic forms ``H = S + shift I + tie 11'`` with S = Xc'W Xc: products, and solves on blocks.

If S is stored, a block is a copy and a solve is a Cholesky factor. Otherwise both are products with
X: small blocks are formed, and large ones are solved by conjugate gradients, which the one large
eigenvalue of the tie does not slow down.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.linalg as sl

from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.numerics import rank_tolerance
from eigenlabel.linalg.operators import CentredOperator
from eigenlabel.linalg.solvers.shifted import careful_solve

DIRECT = 400  # larger blocks are solved by conjugate gradients, unless S is stored
CG_ITERATIONS = 300  # iterations after which a factorisation is used instead
JITTER = 1e-10  # share of the mean diagonal that is added to a singular H_AA


class Curvature(Protocol):
    """The matrix S (p, p) of some features."""

    def block(self, A: Ints) -> Floats:
        """Return S_AA."""
        ...

    def times(self, A: Ints, b: Floats) -> Floats:
        """Return S v for the vector v that is b on A and zero elsewhere."""
        ...

    def data(self, A: Ints) -> CentredOperator | None:
        """Return Xc_A if S_AA is not stored and too large to be formed, else None."""
        ...


@dataclass(frozen=True)
class StoredCurvature:
    """S as a matrix."""

    S: Floats

    def block(self, A: Ints) -> Floats:
        """Return S_AA."""
        return np.asarray(self.S[np.ix_(A, A)])

    def times(self, A: Ints, b: Floats) -> Floats:
        """Return S v for the vector v that is b on A and zero elsewhere."""
        return np.asarray(b @ self.S[A])

    def data(self, A: Ints) -> CentredOperator | None:  # noqa: ARG002
        """Return None: S is stored."""
        return None


@dataclass(frozen=True)
class ProductCurvature:
    """S as products with X."""

    operator: CentredOperator

    def block(self, A: Ints) -> Floats:
        """Return S_AA."""
        return self.operator.columns(A).covariance()

    def times(self, A: Ints, b: Floats) -> Floats:
        """Return S v for the vector v that is b on A and zero elsewhere."""
        return weighted_product(self.operator, self.operator.columns(A), b[:, None])[:, 0]

    def data(self, A: Ints) -> CentredOperator | None:
        """Return Xc_A for large A, else None."""
        return self.operator.columns(A) if len(A) > DIRECT else None


def weighted_product(left: CentredOperator, right: CentredOperator, B: Floats) -> Floats:
    """Return Xl'W Xr B for the operators Xl (left) and Xr (right)."""
    XB = right.matmat(B)
    if left.weights is not None:
        XB *= left.weights[:, None]
    return left.rmatmat(XB)


@dataclass(frozen=True)
class Quadratic:
    """``H = S + shift I + tie 11'``, positive semi-definite."""

    curvature: Curvature
    shift: float
    tie: float

    def gradient(self, c: Floats, b: Floats) -> Floats:
        """Return c - H b, the negative gradient of ``b'H b / 2 - c'b``."""
        A = np.flatnonzero(b)
        if not A.size:
            return c.copy()
        g = c - self.curvature.times(A, b[A]) - self.tie * b[A].sum()
        g[A] -= self.shift * b[A]
        return np.asarray(g)

    def solver(self, A: Ints) -> "PartSolver":
        """Return a solver for H_AA and for blocks of it."""
        part = self.curvature.data(A) if self.shift > 0 else None
        if part is not None:
            return ProductSolver(part, self.shift, self.tie)
        H = self.curvature.block(A) + self.tie
        H.flat[:: len(A) + 1] += self.shift
        return BlockSolver(H)


class PartSolver(Protocol):
    """Solves equations with blocks of H."""

    def solve(self, keep: Ints, right: Floats, guess: Floats, tol: float) -> Floats:
        """Solve with the rows and columns ``keep`` of H, to a largest residual of ``tol``.

        ``guess`` is where iterations start.
        """
        ...


@dataclass(frozen=True)
class BlockSolver:
    """H as a matrix."""

    H: Floats

    def solve(self, keep: Ints, right: Floats, guess: Floats, tol: float) -> Floats:  # noqa: ARG002
        """Solve by a Cholesky factor; a singular H gets a small multiple of I added."""
        H = self.H if len(keep) == len(self.H) else self.H[np.ix_(keep, keep)]
        size = float(np.diag(H).mean())
        for jitter in (0.0, JITTER, 1e4 * JITTER):
            M = H.copy()
            M.flat[:: len(H) + 1] += jitter * size
            try:
                # M is symmetric, and LAPACK can overwrite its transpose.
                factor = sl.cho_factor(M.T, lower=True, overwrite_a=True, check_finite=False)
            except np.linalg.LinAlgError:
                continue
            return np.asarray(sl.cho_solve(factor, right, check_finite=False))
        return np.asarray(np.linalg.lstsq(H, right, rcond=None)[0])


@dataclass(frozen=True)
class ProductSolver:
    """``H = X'W X + shift I + tie 11'`` with shift > 0, as products with X."""

    X: CentredOperator
    shift: float
    tie: float

    def solve(self, keep: Ints, right: Floats, guess: Floats, tol: float) -> Floats:
        """Solve by conjugate gradients, or by a factor of the smaller side if they are slow."""
        X = self.X if len(keep) == self.X.shape[1] else self.X.columns(keep)
        b = guess.copy()
        r = right - self._apply(X, b)
        d, rr = r.copy(), float(r @ r)
        for _ in range(CG_ITERATIONS):
            if np.abs(r).max() <= tol:
                return b
            Hd = self._apply(X, d)
            step = rr / float(d @ Hd)
            b += step * d
            r -= step * Hd
            rr, before = float(r @ r), rr
            d = r + rr / before * d
        return self._solve_directly(X, right)

    def _apply(self, X: CentredOperator, b: Floats) -> Floats:
        XWXb = weighted_product(X, X, b[:, None])[:, 0]
        return np.asarray(XWXb + self.shift * b + self.tie * b.sum())

    def _solve_directly(self, X: CentredOperator, right: Floats) -> Floats:
        """Solve by H itself, or by the Woodbury formula on the rows.

        The tie is added by the Sherman-Morrison formula.
        """
        if X.shape[1] <= X.shape[0]:
            H = X.covariance() + self.tie
            H.flat[:: len(H) + 1] += self.shift
            return BlockSolver(H).solve(np.arange(len(H)), right, right, 0.0)
        V = np.column_stack([right, np.ones(len(right))])
        U = V - X.rmatmat(_weighted_dual(X, X.matmat(V), self.shift))
        u, ones = U.T / self.shift
        return np.asarray(u - self.tie * u.sum() / (1 + self.tie * ones.sum()) * ones)


def _weighted_dual(X: CentredOperator, T: Floats, shift: float) -> Floats:
    """Return ``W^1/2 (W^1/2 X X'W^1/2 + s I)^-1 W^1/2 T``."""
    root = np.ones(len(T)) if X.weights is None else np.sqrt(X.weights)
    K = root[:, None] * X.gram() * root
    tolerance = rank_tolerance(max(X.shape), np.float64)
    return np.asarray(root[:, None] * careful_solve(K, root[:, None] * T, shift, tolerance))
