"""Hat matrices ``H = K (K + c I)^-1`` of ridge regression, linear or with a kernel, as products.

H maps targets to fitted values. It is never formed unless products with it are cheaper that way.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import scipy.linalg as sl
from scipy.linalg import blas, lapack

from eigenlabel.linalg._types import Floats, Matrix
from eigenlabel.linalg.gram_matrices import centre_gram
from eigenlabel.linalg.numerics import EPS, rank_tolerance
from eigenlabel.linalg.operators import CentredOperator, row_blocks
from eigenlabel.linalg.solvers.shifted import SAFE, kept

PRODUCTS, DIFFERENCES = 1e-24, 1e-14  # rounding of x'H x from products alone, and of x'(x - c A x)


class CholeskySystem:
    """A symmetric matrix K whose Cholesky factor shares its memory: n^2 numbers in all.

    The upper triangle of one array holds K, the lower one the factor of ``K + s I``.

    Parameters
    ----------
    K : (n, n) symmetric, positive semi-definite; overwritten
    tolerance : relative rank tolerance, for shifts near zero
    """

    def __init__(self, K: Floats, tolerance: float | None = None) -> None:
        self._A = np.asfortranarray(K)  # K above the diagonal; below it, later, the factor
        self._diagonal = np.diag(K).copy()
        self.shape: tuple[int, int] = (len(K), len(K))
        size = max(1, len(K))
        self._tolerance = rank_tolerance(size, np.float64) if tolerance is None else tolerance
        self._bound = float(np.abs(K).sum(axis=1).max(initial=0.0))
        self._shift: float | None = None
        self._spectrum: tuple[Floats, Floats] | None = None

    def matmat(self, B: Floats) -> Floats:
        """Return K B; n^2 operations for each column."""
        out = blas.dsymm(1.0, self._A, B, lower=0)
        return np.asarray(out + (self._diagonal - np.diag(self._A))[:, None] * B)

    def _matrix(self) -> Floats:
        upper = np.triu(self._A, 1)
        K = upper + upper.T
        K.flat[:: len(K) + 1] = self._diagonal
        return K

    def regular(self, shift: float) -> bool:
        """Factorise ``K + s I``; return True if a Cholesky factor exists and is accurate.

        Otherwise solves for this shift use the eigenvalues above the rank tolerance. Cost: n^3 / 3
        for a new shift.
        """
        if shift <= SAFE * self._bound or self._spectrum is not None:
            return False
        if self._shift != shift:
            if self._shift is not None:
                lower = np.tril_indices(len(self._A), -1)
                self._A[lower] = self._A.T[lower]
            self._A.flat[:: len(self._A) + 1] = self._diagonal + shift
            _, info = lapack.dpotrf(self._A, lower=1, overwrite_a=1, clean=0)
            self._shift = shift
            if info:  # rounding left eigenvalues below -shift: by spectrum from now on
                self._eigen(shift)
                return False
        return True

    def _eigen(self, shift: float) -> tuple[Floats, Floats]:
        if self._spectrum is None:
            lam, Q = np.linalg.eigh(self._matrix())
            self._spectrum = Q, lam
        Q, lam = self._spectrum
        keep = kept(lam, self._tolerance, shift)
        return Q[:, keep], lam[keep]

    def solve(self, B: Floats, shifts: Sequence[float]) -> Floats:
        """Return ``(K + s I)^-1 B`` for all shifts (len(shifts), n, k).

        Solutions of singular equations have minimum norm. Equivalent to
        ``scipy.linalg.solve(K + s I, B)`` for each shift.
        """
        out = np.empty((len(shifts), *B.shape))
        for i, shift in enumerate(shifts):
            if self.regular(shift):
                out[i] = sl.cho_solve((self._A, True), B, check_finite=False)
            else:
                Q, lam = self._eigen(shift)
                out[i] = Q @ ((Q.T @ B) / (lam + shift)[:, None])
        return out

    def inverse(self, shift: float) -> Floats:
        """Return ``(K + s I)^-1``, the pseudo-inverse if that is singular; n^3 operations."""
        if not self.regular(shift):
            Q, lam = self._eigen(shift)
            return np.asarray((Q / (lam + shift)) @ Q.T)
        S, info = lapack.dpotri(self._A.copy(order="F"), lower=1, overwrite_c=1)
        if info:
            raise np.linalg.LinAlgError(f"LAPACK potri failed with info = {info}")
        lower = np.tril(S, -1)
        lower += lower.T
        lower.flat[:: len(S) + 1] = np.diag(S)
        return np.asarray(lower)

    def inverse_root(self, shift: float) -> Floats:
        """Return R (n, t) with ``R R' = (K + s I)^-1``, the pseudo-inverse at s = 0."""
        if not self.regular(shift):
            Q, lam = self._eigen(shift)
            return np.asarray(Q / np.sqrt(lam + shift))
        L, info = lapack.dtrtri(np.tril(self._A), lower=1)
        if info:
            raise np.linalg.LinAlgError(f"LAPACK trtri failed with info = {info}")
        return np.asarray(L.T)


def centred_kernel(K: Floats, tolerance: float | None = None) -> tuple[CholeskySystem, Floats]:
    """Centre K in feature space, and return it with the mean of its rows before centring.

    Centring makes the constant vector a null vector. Its eigenvalue is set to the mean eigenvalue:
    a hat with an intercept treats that direction separately, and the matrix stays well
    conditioned. A constant kernel leaves nothing but rounding, which is set to zero.
    """
    Kc, row_mean = centre_gram(K, None)
    n = len(Kc)
    if np.trace(Kc) <= n * EPS * np.abs(np.diag(K)).sum():
        Kc[:] = 0.0
    Kc += np.trace(Kc) / max(1, n) ** 2
    return CholeskySystem(Kc, tolerance), row_mean


class Hat(Protocol):
    """The fit of ridge regression on one set of features, as products with H (n, n).

    Attributes
    ----------
    n : number of samples
    rank : number of columns of the root without the intercept; None if there is no small root
    rounding : share of the squared length of targets below which their fit may be rounding
    """

    n: int
    rank: int | None
    rounding: float

    def apply(self, B: Floats) -> Floats:
        """Return H B, the fitted values of targets B."""
        ...

    def coefficients(self, B: Floats) -> tuple[Floats, Floats]:
        """Return the dual coefficients or weights, and the intercepts, for targets B."""
        ...

    def dense(self) -> Floats | None:
        """Return H itself if products with it are cheaper that way, else None."""
        ...

    def diagonal(self) -> Floats:
        """Return the diagonal (n,) of H."""
        ...

    def root(self) -> Floats:
        """Return F (n, k) with ``F F' = H`` and k at most rank + 1."""
        ...


class KernelHat:
    """The hat matrix of kernel ridge regression.

    The dual coefficients A and intercepts b of targets B solve ``(K + c I) A + 1 b' = B`` with
    ``1'A = 0``, and ``H B = K A + 1 b' = B - c A``.

    Parameters
    ----------
    factor : the kernel matrix
    ridge : c >= 0
    centre : whether there is an intercept without penalty
    row_mean : (n,) mean that was subtracted from the rows of a kernel centred before, or None
    positive : (n, t) eigenvectors that were kept of a kernel that is not positive semi-definite
    """

    rank: int | None = None

    def __init__(
        self,
        factor: CholeskySystem,
        ridge: float,
        centre: bool = True,
        row_mean: Floats | None = None,
        positive: Floats | None = None,
    ) -> None:
        self.factor, self.ridge, self.n = factor, ridge, factor.shape[0]
        self._row_mean, self._positive = row_mean, positive
        self._u = factor.solve(np.ones((self.n, 1)), [ridge])[0] if centre else None
        # A solution by rank has no part outside the kernel's range, where B - c A would keep B.
        self._by_products = ridge == 0 or not factor.regular(ridge)
        self.rounding = PRODUCTS if self._by_products else DIFFERENCES

    def _solve(self, B: Floats) -> tuple[Floats, Floats]:
        A = self.factor.solve(B, [self.ridge])[0]
        if self._u is None:
            return A, np.zeros(B.shape[1])
        total = float(self._u.sum())
        # The pseudo-inverse of a constant kernel is zero at c = 0: the fit is the mean.
        b = (self._u.T @ B)[0] / total if total > 0 else B.mean(axis=0)
        return A - self._u * b, b

    def apply(self, B: Floats) -> Floats:
        """Return H B; n^2 operations for each column."""
        A, b = self._solve(B)
        return self.factor.matmat(A) + b if self._by_products else B - self.ridge * A

    def coefficients(self, B: Floats) -> tuple[Floats, Floats]:
        """Return dual coefficients A and intercepts b: the fit of a new sample is ``k'A + b``."""
        A, b = self._solve(B)
        if self._row_mean is not None:
            b = b - self._row_mean @ A
        if self._positive is not None:  # leaves the negative part out for new samples as well
            A = self._positive @ (self._positive.T @ A)
        return A, b

    def dense(self) -> Floats:
        """Return H; n^3 operations."""
        if self._by_products:
            return self.apply(np.eye(self.n))
        H = self.factor.inverse(self.ridge)
        if self._u is not None:
            H -= self._u @ (self._u.T / self._u.sum())
        H *= -self.ridge
        H.flat[:: self.n + 1] += 1.0
        return H

    def diagonal(self) -> Floats:
        """Return the diagonal of H."""
        return np.diag(self.dense()).copy()

    def root(self) -> Floats:
        """Raise NotImplementedError: a root is as large as the kernel matrix."""
        raise NotImplementedError("the root of a kernel's hat matrix is as large as the kernel")


class LinearHat:
    """The hat matrix of linear ridge regression through the d x d covariance, for tall X.

    ``H = Xc (Xc'Xc + c I)^-1 Xc'``, plus ``11' / n`` with an intercept.

    Parameters
    ----------
    operator : the centred data
    ridge : c >= 0
    centre : whether there is an intercept without penalty
    """

    rounding = PRODUCTS

    def __init__(self, operator: CentredOperator, ridge: float, centre: bool = True) -> None:
        self.operator, self.n, self._centre = operator, operator.shape[0], centre
        tolerance = rank_tolerance(max(operator.shape), operator.dtype)
        self._system = CholeskySystem(operator.covariance(), tolerance)
        self._ridge = ridge
        # The root is a dense n x d matrix: sparse X has none.
        self.rank = operator.shape[1] if operator.dense else None

    def _weights(self, B: Floats) -> Floats:
        return np.asarray(self._system.solve(self.operator.rmatmat(B), [self._ridge])[0])

    def apply(self, B: Floats) -> Floats:
        """Return H B; nnz(X) + d^2 operations for each column."""
        fitted = self.operator.matmat(self._weights(B))
        return fitted + B.mean(axis=0) if self._centre else fitted

    def coefficients(self, B: Floats) -> tuple[Floats, Floats]:
        """Return weights W (d, p) and intercepts b: the fit of a new sample is ``x'W + b``."""
        W = self._weights(B)
        b = B.mean(axis=0) - self.operator.mean @ W if self._centre else np.zeros(B.shape[1])
        return W, b

    def dense(self) -> Floats | None:
        """Return None: products are cheaper."""
        return None

    def diagonal(self) -> Floats:
        """Return the diagonal (n,) of H; n d^2 operations, by blocks of rows."""
        R = self._system.inverse_root(self._ridge)
        out = np.full(self.n, 1 / self.n if self._centre else 0.0)
        for part in row_blocks(self.n, R.shape[1]):
            rows = np.arange(part.start, part.stop)
            out[rows] += (self.operator.rows(rows).matmat(R) ** 2).sum(axis=1)
        return out

    def root(self) -> Floats:
        """Return ``Xc (Xc'Xc + c I)^-1/2``, and a constant column for the intercept."""
        F = self.operator.matmat(self._system.inverse_root(self._ridge))
        return np.column_stack([F, np.full(self.n, self.n**-0.5)]) if self._centre else F


class WideHat(KernelHat):
    """The hat matrix of linear ridge regression through the n x n Gram matrix, for wide X.

    Parameters
    ----------
    operator : the centred data
    ridge : c >= 0
    centre : whether there is an intercept without penalty
    """

    def __init__(self, operator: CentredOperator, ridge: float, centre: bool = True) -> None:
        self.operator = operator
        tolerance = rank_tolerance(max(operator.shape), operator.dtype)
        K = operator.gram()
        if centre:
            K += np.trace(K) / len(K) ** 2  # as in centred_kernel
        super().__init__(CholeskySystem(K, tolerance), ridge, centre)

    def coefficients(self, B: Floats) -> tuple[Floats, Floats]:
        """Return weights W (d, p) and intercepts b: the fit of a new sample is ``x'W + b``."""
        A, b = self._solve(B)
        W = self.operator.rmatmat(A)
        return W, b - self.operator.mean @ W


class IndicatorHat:
    """The hat matrix ``G (G'G)^-1 G'`` of a sparse indicator matrix G (n, k): category means."""

    rank: int | None = None
    rounding = PRODUCTS

    def __init__(self, G: Matrix) -> None:
        self.n = G.shape[0]
        self._G, self._Gt = G, G.T.tocsr()
        self._sizes = np.asarray(G.sum(axis=0), dtype=float).ravel()

    def apply(self, B: Floats) -> Floats:
        """Return H B, the category mean of each sample; n operations for each column."""
        return np.asarray(self._G @ self.coefficients(B)[0])

    def coefficients(self, B: Floats) -> tuple[Floats, Floats]:
        """Return the means of B in each category (k, p), and intercepts of zero."""
        return np.asarray(self._Gt @ B) / self._sizes[:, None], np.zeros(B.shape[1])

    def dense(self) -> Floats | None:
        """Return None: products are cheaper."""
        return None

    def diagonal(self) -> Floats:
        """Return the diagonal (n,) of H, the inverse of the category sizes."""
        return np.asarray(self._G @ (1 / self._sizes))

    def root(self) -> Floats:
        """Raise NotImplementedError: the indicator matrix stays sparse."""
        raise NotImplementedError("the root of an indicator's hat matrix is sparse")
