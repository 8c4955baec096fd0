"""The top eigenvectors of ``S = A'B`` (m x m) of many sparse targets, without forming S.

``A = ridge(beta)`` and ``B = ridge(alpha + beta)`` are ridge regressions on the same targets T.
The targets enter through products alone. There are two ways with the same verbs:

* :class:`ExactSide`: with the right sides Z = Q'Xc'WT (p x m) in the eigenvectors of the p x p
  Gram or covariance matrix, ``S = Z' diag(f) Z`` has the eigenvalues of the p x p matrix
  ``diag(f)^1/2 Z Z' diag(f)^1/2``, which adds up over pieces of columns.
* :class:`ProductSide`: ``S V = B'(A V)`` is one ridge solve with as many targets as V has columns.
  Lanczos' method (ARPACK) needs nothing but such products.
"""

from collections.abc import Callable, Iterator

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.factors.base import ExactSampleFactor, SampleFactor, Side, TopSubspace
from eigenlabel.linalg.factors.solution import Shortfall
from eigenlabel.linalg.machine import exact_memory
from eigenlabel.linalg.numerics import descending_eigh, fix_signs, positive_count, positive_qr
from eigenlabel.linalg.operators import CentredOperator, row_blocks

SLACK = 10  # residuals of eigenvectors relative to those of the ridge solves they are made of
LARGE_SHARE = 3  # from m / 3 eigenvectors on, Lanczos' method holds as much as S
RESTARTS = 50  # of Lanczos' method, about r products each; a few suffice for exact products


def column_pieces(m: int, width: int) -> Iterator[Ints]:
    """Cut m columns into pieces for which arrays of ``width`` rows are small."""
    for piece in row_blocks(m, width):
        yield np.arange(piece.start, piece.stop)


class ExactSide(Side):
    """Many sparse targets by the eigenvectors of a p x p matrix; 20 p^3 or so and m p^2.

    Parameters
    ----------
    factor : factor of the samples
    T : (n, m) sparse targets, centred if the factor is
    shift : the smallest shift that will be asked for
    """

    n_iter = 1
    shortfall = None

    def __init__(self, factor: ExactSampleFactor, T: CentredOperator, shift: float = 0.0) -> None:
        self.factor, self.T, self.total = factor, T, factor.total
        self.Q, self.lam = factor.eigenvectors(shift)
        self.gain = factor.gain(self.lam)
        self._E = factor.finish(self.Q)

    def _pieces(self) -> Iterator[tuple[Ints, Floats]]:
        """Yield pieces of columns with their right sides (c, t) in the eigenvectors."""
        for columns in column_pieces(self.T.shape[1], self.Q.shape[0]):
            yield columns, self.factor.project(self.T.columns(columns), self._E)

    def top(self, alpha: float, beta: float, r: int) -> TopSubspace:
        """Return the r top eigenvectors of S, without those whose eigenvalue is rounding."""
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
        for columns, Z in self._pieces():
            W[columns] = Z @ E
        W = fix_signs(positive_qr(W)[0])  # rounding of small eigenvalues
        return TopSubspace(W, values[:k], self.ridge(W, beta))

    def ridge(self, V: Floats, shift: float) -> Floats:
        """Return the coefficients of ridge regressions on the combined targets T V."""
        right = self.Q.T @ self.factor.right_side(self.T.matmat(V))
        return self.factor.finish(self.Q @ (right / (self.lam + self.total * shift)[:, None]))

    def weights(self, shift: float, P: Floats, W: Floats) -> Floats:
        """Return the exported weights of ``ridge(shift) of all targets + P W'``, by pieces."""
        out: Floats | None = None
        for columns, Z in self._pieces():
            Y = self.Q @ (Z / (self.lam + self.total * shift)).T
            done = self.factor.export(self.factor.finish(Y) + P @ W[columns].T)
            out = np.empty((done.shape[0], len(W))) if out is None else out
            out[:, columns] = done
        assert out is not None  # there is a column
        return out


class ProductSide(Side):
    """Many sparse targets by products alone; 2 nnz(X) for each column and iteration.

    Parameters
    ----------
    factor : factor of the samples
    T : (n, m) sparse targets, centred if the factor is
    """

    def __init__(self, factor: SampleFactor, T: CentredOperator) -> None:
        self.factor, self.T = factor, T
        self.n_iter = 0
        self.shortfall: Shortfall | None = None  # of many solves the last is enough
        self._B: Floats | None = None

    def _solve(self, T: Floats, shift: float) -> Floats:
        solution = self.factor.solve(T, [shift])
        self.n_iter = solution.n_iter
        self.shortfall = solution.shortfall or self.shortfall
        return np.asarray(solution.coefficients[0])

    def ridge(self, V: Floats, shift: float) -> Floats:
        """Return the coefficients of ridge regressions on the combined targets T V."""
        return self._solve(self.T.matmat(V), shift)

    def _all(self, shift: float) -> Floats:
        """Return the ridge regressions of all targets."""
        n, m = self.T.shape
        out = np.empty((self.factor.size, m))
        for columns in column_pieces(m, n + len(out)):
            dense = self.T.columns(columns).matmat(np.eye(len(columns)))
            out[:, columns] = self._solve(dense, shift)
        return out

    def _against(self, AV: Floats) -> Floats:
        """Return B'(A V), or the limit of alpha B'(A V)."""
        if self._B is not None:
            return self.factor.inner(self._B, AV)
        fitted, w = self.factor.scores(AV), self.factor.weights
        return self.T.rmatmat(fitted if w is None else w[:, None] * fitted) / self.factor.total

    def top(self, alpha: float, beta: float, r: int) -> TopSubspace:
        """Return the r top eigenvectors of S, to residuals of SLACK tol times their eigenvalue.

        Eigenvectors that Lanczos' method does not find are left out, with a shortfall, as are
        those whose eigenvalue is rounding, or below the accuracy of the solves.
        """
        if not np.isinf(alpha):
            self._B = self._all(alpha + beta)
        n, m = self.T.shape
        r = min(r, n, m, self.factor.size)  # S has no higher rank
        values, W = self._eigenvectors(lambda V: self._against(self.ridge(V, beta)), m, r)
        k = positive_count(values, m, self.factor.accuracy)
        values, W = values[:k], W[:, :k]
        directions = self.ridge(W, beta)
        self._check(values, W, directions)
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
        wanted = SLACK * self.factor.accuracy
        try:
            values, W = eigsh(S, r, which="LA", tol=wanted, v0=start, maxiter=RESTARTS)
        except ArpackNoConvergence as error:
            values, W = np.real(error.eigenvalues), np.real(error.eigenvectors)
            self.shortfall = Shortfall(
                np.inf,
                wanted,
                f"Lanczos found {len(values)} of {r} eigenvectors to a residual of "
                f"{wanted:.2g}; the others are left out. Raise tol or lower n_components.",
            )
        order = np.argsort(values)[::-1]
        return values[order], fix_signs(W[:, order])

    def _check(self, values: Floats, W: Floats, directions: Floats) -> None:
        """Compare S W with W times the eigenvalues: products are inexact, Lanczos trusts them."""
        if not values.size:
            return
        left = np.linalg.norm(self._against(directions) - W * values, axis=0)
        residual, wanted = float(left.max() / values[0]), SLACK * self.factor.accuracy
        if residual > 2 * wanted:
            self.shortfall = Shortfall(
                residual,
                wanted,
                f"The eigenvectors of S have a residual of {residual:.2g} of its largest "
                f"eigenvalue, asked for {wanted:.2g}. Lower tol, or use larger penalties.",
            )

    def weights(self, shift: float, P: Floats, W: Floats) -> Floats:
        """Return the exported weights of ``ridge(shift) of all targets + P W'``."""
        out = self._all(shift) if self._B is None else self._B
        for rows in row_blocks(*out.shape):
            out[rows] += P[rows] @ W.T
        return self.factor.export(out)


def dense_memory(n: int, d: int, m: int) -> float:
    """Return the bytes of a fit that holds targets, all weights and S."""
    return 8.0 * (2 * n * m + 3 * min(n, d) * m + d * m + 3 * m * m)


def factored_memory(
    n: int, d: int, m: int, r: int, *, full: bool, exact: bool
) -> tuple[float, float]:
    """Return the bytes of a fit that does not hold S, and how many of them are for solves.

    Parameters
    ----------
    n : number of samples
    d : number of features
    m : number of targets
    r : number of eigenvectors
    full : whether the weights are stored as a d x m matrix
    exact : whether the p x p side is used, with p the smaller of n and d

    X and the targets themselves are not counted.
    """
    p = min(n, d)
    k = min(r, p, m)
    held = 8.0 * (m * (3 * k if exact else 4 * k + 3) + 3 * n * k + 2 * d * k + full * d * m)
    solve = exact_memory(p) if exact else 8.0 * (d * k + 6 * d + 2 * n)
    return held + solve, solve
