"""ML-LS for many labels: the top eigenvectors of S = A'B (m x m) without S.

Targets are sparse and enter by products alone. Two sides give the same verbs:

* :class:`ExactSide`: with the right sides Z = Q'Xc'WT (p x m) in the eigenvectors of the p x p
  Gram or covariance matrix, ``S = Z' diag(f) Z`` has the eigenvalues of the p x p matrix
  ``diag(f)^1/2 Z Z' diag(f)^1/2``, which adds up over pieces of labels.
* :class:`ProductSide`: ``S V = B'(A V)`` is one ridge solve of as many targets as V has columns;
  Lanczos (ARPACK) asks for such products.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg as sl
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.factors.exact import (
    CovarianceFactor,
    Factor,
    GramFactor,
    PrimalFactor,
    exact_memory,
    scaled_gram,
)
from eigenlabel.linalg.factors.kernel_krylov import KernelKrylovFactor
from eigenlabel.linalg.factors.krylov import KrylovFactor
from eigenlabel.linalg.numerics import descending_eigh, fix_signs, positive_count
from eigenlabel.linalg.operators import CentredOperator, row_blocks
from eigenlabel.linalg.solvers.shifted import diagonalise

Finish = Callable[[Floats], Floats]
SLACK = 10  # residuals of eigenvectors against those of the ridge solves they are made of
LARGE_SHARE = 3  # from m / 3 eigenvectors on Lanczos holds as much as S
RESTARTS = 50  # of Lanczos, r products or so each; a few suffice unless products are too inexact


@dataclass(frozen=True)
class TopSubspace:
    """The top eigenvectors of S, and the ridge regressions on them."""

    W: Floats  # (m, k), orthonormal; k <= r: eigenvalues of zero are left out
    eigenvalues: Floats  # (k,), descending
    directions: Floats  # A W, in the factor's coefficients


def orthonormalise(factor: Factor, directions: Floats) -> Floats:
    """Combine directions, in the factor's coefficients, into orthonormal ones of the same span.

    The first k of them span the first k directions, as a QR decomposition does.
    """
    if isinstance(factor, PrimalFactor) or factor.operator is not None:
        basis, R = np.linalg.qr(factor.primal(directions))
        return basis * _signs(R)
    # R'R = D'KD through a square root: Cholesky would break down on rounding.
    lam, E = np.linalg.eigh(factor.inner(directions, directions))
    _, R = np.linalg.qr((E * np.sqrt(np.maximum(lam, 0))).T)
    return np.asarray(sl.solve_triangular(_signs(R)[:, None] * R, directions.T, trans="T").T)


def _signs(R: Floats) -> Floats:
    """Give the signs that make the diagonal of R positive."""
    return np.where(np.diag(R) < 0, -1.0, 1.0)


def label_pieces(m: int, width: int) -> Iterator[Ints]:
    """Cut m labels into pieces of which arrays of ``width`` rows are small."""
    for piece in row_blocks(m, width):
        yield np.arange(piece.start, piece.stop)


class ExactSide:
    """The p x p side of a Gram or covariance factor; 20 p^3 or so and m p^2.

    Parameters
    ----------
    factor : of the samples
    T : (n, m) sparse targets, centred if the factor is
    shift : the smallest that will be asked for
    """

    def __init__(
        self, factor: GramFactor | CovarianceFactor, T: CentredOperator, shift: float = 0.0
    ) -> None:
        self.factor, self.T, self.total = factor, T, factor.total
        if isinstance(factor, GramFactor):
            M = scaled_gram(factor.K, factor.root, factor.centre)
        else:
            M = factor.operator.covariance()
        shift = factor.total * shift
        self.Q, self.lam = diagonalise(M, factor.tolerance, shift, overwrite=True)
        self.dual = isinstance(factor, GramFactor)
        # Dual coefficients meet in the metric of the Gram matrix.
        self.gain = self.lam if self.dual else np.ones_like(self.lam)
        self._scaled = self._scale(self.Q) if self.dual else self.Q

    def _scale(self, A: Floats) -> Floats:
        return self.factor._scale(A) if isinstance(self.factor, GramFactor) else A

    def _pieces(self) -> Iterator[tuple[Ints, Floats]]:
        """Give pieces of labels with their right sides (c, t) in the eigenvectors."""
        for labels in label_pieces(self.T.shape[1], self.Q.shape[0]):
            part = self.T.columns(labels)
            if isinstance(self.factor, GramFactor):
                yield labels, part.rmatmat(self._scaled)
            else:
                yield labels, self.factor.operator.cross_covariance(part).T @ self.Q

    def top(self, alpha: float, beta: float, r: int) -> TopSubspace:
        """Give the r top eigenvectors of S, less those whose eigenvalue is rounding."""
        light, heavy = (self.lam + self.total * s for s in (beta, alpha + beta))
        root = np.sqrt(self.gain / (light * (self.total if np.isinf(alpha) else heavy)))
        N = np.zeros((len(root), len(root)))
        for _, Z in self._pieces():
            scaled = Z * root
            N += scaled.T @ scaled
        values, E = descending_eigh(N)
        k = min(r, positive_count(values, max(self.T.shape)))
        E = root[:, None] * E[:, :k] / np.sqrt(values[:k])
        W = np.empty((self.T.shape[1], k))
        for labels, Z in self._pieces():
            W[labels] = Z @ E
        basis, R = np.linalg.qr(W)  # rounding of small eigenvalues
        W = fix_signs(basis * _signs(R))
        return TopSubspace(W, values[:k], self.ridge(W, beta))

    def ridge(self, V: Floats, shift: float) -> Floats:
        """Give the coefficients of ridge regressions on the targets T V."""
        right = (
            self.factor._targets(self.T.matmat(V))
            if isinstance(self.factor, GramFactor)
            else self.factor._right_side(self.T.matmat(V))
        )
        return self._scale(self.Q @ ((self.Q.T @ right) / (self.lam + self.total * shift)[:, None]))

    def weights(self, shift: float, P: Floats, W: Floats, finish: Finish) -> Floats:
        """Give ``finish(ridge of all labels + P W')``, piece by piece."""
        out: Floats | None = None
        for labels, Z in self._pieces():
            c = self._scale(self.Q @ (Z / (self.lam + self.total * shift)).T) + P @ W[labels].T
            done = finish(c)
            out = np.empty((done.shape[0], len(W))) if out is None else out
            out[:, labels] = done
        assert out is not None  # there is a label
        return out


class ProductSide:
    """Products alone, by conjugate gradients; 2 nnz(X) a column and iteration.

    Parameters
    ----------
    factor : of the samples
    T : (n, m) sparse targets, centred if the factor is
    """

    def __init__(self, factor: KrylovFactor | KernelKrylovFactor, T: CentredOperator) -> None:
        self.factor, self.T = factor, T
        self._report, self._told = factor.report, ""
        factor.report = self._note  # Lanczos asks for many solves: one message is enough
        self._B: Floats | None = None

    def _note(self, message: str) -> None:
        self._told = message

    def _tell(self) -> None:
        if self._told:
            self._report(self._told)
        self._told = ""

    def ridge(self, V: Floats, shift: float) -> Floats:
        """Give the coefficients of ridge regressions on the targets T V."""
        return np.asarray(self.factor.solve(self.T.matmat(V), [shift])[0])

    def _all(self, shift: float) -> Floats:
        """Give the ridge regressions of all labels."""
        n, m = self.T.shape
        side = self.factor.operator
        out = np.empty((n if side is None else side.shape[1], m))
        for labels in label_pieces(m, n + len(out)):
            dense = self.T.columns(labels).matmat(np.eye(len(labels)))
            out[:, labels] = self.factor.solve(dense, [shift])[0]
        return out

    def _against(self, AV: Floats) -> Floats:
        """Give B'(A V), or the limit of alpha B'(A V)."""
        if self._B is not None:
            return self.factor.inner(self._B, AV)
        if isinstance(self.factor, KrylovFactor):
            fitted = self.factor.operator.matmat(AV)
        else:
            fitted = self.factor._centred(AV)
        w = self.factor.weights
        return self.T.rmatmat(fitted if w is None else w[:, None] * fitted) / self.factor.total

    def top(self, alpha: float, beta: float, r: int) -> TopSubspace:
        """Give the r top eigenvectors of S, to residuals of SLACK tol times their eigenvalue.

        Those that Lanczos does not find are left out, with a message, and so are those whose
        eigenvalue is rounding, or below the accuracy of the solves.
        """
        if not np.isinf(alpha):
            self._B = self._all(alpha + beta)
        m, side = self.T.shape[1], self.factor.operator
        r = min(r, *(self.T.shape if side is None else side.shape))  # S has no higher rank
        values, W = self._eigenvectors(lambda V: self._against(self.ridge(V, beta)), m, r)
        k = positive_count(values, m, self.factor.tol)
        values, W = values[:k], W[:, :k]
        directions = self.ridge(W, beta)
        self._check(values, W, directions)
        self._tell()
        return TopSubspace(W, values, directions)

    def _eigenvectors(
        self, product: Callable[[Floats], Floats], m: int, r: int
    ) -> tuple[Floats, Floats]:
        if r == 0:
            return np.zeros(0), np.zeros((m, 0))
        if LARGE_SHARE * r >= m:
            values, W = descending_eigh(product(np.eye(m)))
            return values[:r], W[:, :r]
        S = LinearOperator(
            (m, m), matvec=lambda v: product(v.reshape(m, 1))[:, 0], dtype=np.float64
        )
        start = S @ np.random.default_rng(0).standard_normal(m)
        if not start.any():  # S is zero
            return np.zeros(0), np.zeros((m, 0))
        try:
            values, W = eigsh(
                S, r, which="LA", tol=SLACK * self.factor.tol, v0=start, maxiter=RESTARTS
            )
        except ArpackNoConvergence as error:
            values, W = np.real(error.eigenvalues), np.real(error.eigenvectors)
            self._note(
                f"Lanczos found {len(values)} of {r} eigenvectors to a residual of "
                f"{SLACK * self.factor.tol:.2g}; the others are left out. Raise tol or lower "
                "n_components."
            )
        order = np.argsort(values)[::-1]
        return values[order], fix_signs(W[:, order])

    def _check(self, values: Floats, W: Floats, directions: Floats) -> None:
        """Compare S W with W times the eigenvalues: products are inexact, Lanczos trusts them."""
        if not values.size:
            return
        left = np.linalg.norm(self._against(directions) - W * values, axis=0)
        worst = float(left.max() / values[0])
        if worst > 2 * SLACK * self.factor.tol:
            self._note(
                f"The eigenvectors of S have a residual of {worst:.2g} of its largest eigenvalue, "
                f"asked for {SLACK * self.factor.tol:.2g}. Lower tol, or use larger penalties."
            )

    def weights(self, shift: float, P: Floats, W: Floats, finish: Finish) -> Floats:
        """Give ``finish(ridge of all labels + P W')``."""
        out = self._all(shift) if self._B is None else self._B
        for rows in row_blocks(*out.shape):
            out[rows] += P[rows] @ W.T
        self._tell()
        return finish(out)


def make_side(factor: Factor, T: CentredOperator, shift: float) -> ExactSide | ProductSide:
    """Give the side that a factor of the samples works on, for shifts from the given one on."""
    if isinstance(factor, (GramFactor, CovarianceFactor)):
        return ExactSide(factor, T, shift)
    return ProductSide(factor, T)


def dense_memory(n: int, d: int, m: int) -> float:
    """Give the bytes of a fit that holds targets, all weights and S."""
    return 8.0 * (2 * n * m + 3 * min(n, d) * m + d * m + 3 * m * m)


def factored_memory(
    n: int, d: int, m: int, r: int, *, full: bool, exact: bool
) -> tuple[float, float]:
    """Give the bytes of a fit that holds none of these, and how many of them are a solve's.

    ``full`` weights are d x m; ``exact`` is the p x p side with p the smaller of n and d. Not
    counted: X and Y themselves.
    """
    p = min(n, d)
    k = min(r, p, m)
    held = 8.0 * (m * (3 * k if exact else 4 * k + 3) + 3 * n * k + 2 * d * k + full * d * m)
    solve = exact_memory(p) if exact else 8.0 * (d * k + 6 * d + 2 * n)
    return held + solve, solve
