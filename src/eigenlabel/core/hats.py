"""Hat matrices ``H = K (K + c I)^-1`` of several views as products, and the scores they agree on.

KGHA (Xiong, Szedmak, Piater) looks for scores X of the samples which every view predicts:

    min over X, W_j, b_j:  sum_j w_j (|M_j X - Phi_j W_j - 1 b_j'|^2 + c_j |W_j|^2)

M_j picks the samples that view j has. At the best W_j and b_j a term is ``X'M_j'(I - H_j)M_j X``,
its trace. With ``D = sum_j w_j M_j'M_j``, scaled so that a sample which every view has counts one,
and the constraints ``1'D X = 0``, ``X'D X = I``, which are Eqs. 11 and 12 of the paper where no
view is missing, the minimum is at the top eigenvectors of ``D^-1/2 (sum_j w_j M_j'H_j M_j) D^-1/2``
in the complement of ``D^1/2 1``. The paper's alternating least squares are orthogonal iteration
with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.linalg as sl
from scipy.linalg import blas, lapack
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from eigenlabel.core._types import Floats, Ints, Matrix
from eigenlabel.core.eigen import descending_eigh, fix_signs, positive_count, rank_tolerance
from eigenlabel.core.operators import CentredOperator
from eigenlabel.core.ridge import SAFE, diagonalise
from eigenlabel.core.spectral import centre_gram

DENSE = 800  # up to so many samples LAPACK finds all eigenvectors sooner than Lanczos a few


class KernelFactor(Protocol):
    """What a hat needs of a kernel matrix, exact or approximate."""

    shape: tuple[int, int]

    def matmat(self, B: Floats) -> Floats:
        """K B."""
        ...

    def solve(self, B: Floats, shifts: Sequence[float]) -> Floats:
        """Give (len(shifts), n, k): ``(K + s I)^-1 B``, the pseudo-inverse at s = 0."""
        ...


class ExactKernel:
    """A kernel matrix whose Cholesky factor shares its memory: n^2 numbers in all.

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

    @property
    def memory(self) -> int:
        """Bytes held."""
        return int(self._A.nbytes)

    def error_estimate(self) -> float:
        """Give zero: nothing is approximated."""
        return 0.0

    def matmat(self, B: Floats) -> Floats:
        """K B."""
        out = blas.dsymm(1.0, self._A, B, lower=0)
        return np.asarray(out + (self._diagonal - np.diag(self._A))[:, None] * B)

    def _matrix(self) -> Floats:
        upper = np.triu(self._A, 1)
        K = upper + upper.T
        K.flat[:: len(K) + 1] = self._diagonal
        return K

    def regular(self, shift: float) -> bool:
        """Tell whether solves are by a Cholesky factor, and see to it; else they are by rank."""
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
                self._eigen()
                return False
        return True

    def _eigen(self) -> tuple[Floats, Floats]:
        if self._spectrum is None:
            self._spectrum = diagonalise(self._matrix(), self._tolerance)
        return self._spectrum

    def solve(self, B: Floats, shifts: Sequence[float]) -> Floats:
        """Give (len(shifts), n, k): ``(K + s I)^-1 B``, of minimum norm where that is singular."""
        out = np.empty((len(shifts), *B.shape))
        for i, shift in enumerate(shifts):
            if self.regular(shift):
                out[i] = sl.cho_solve((self._A, True), B, check_finite=False)
            else:
                Q, lam = self._eigen()
                out[i] = Q @ ((Q.T @ B) / (lam + shift)[:, None])
        return out

    def inverse(self, shift: float) -> Floats:
        """Give ``(K + s I)^-1`` itself, n^3 operations."""
        if not self.regular(shift):
            Q, lam = self._eigen()
            return np.asarray((Q / (lam + shift)) @ Q.T)
        S, info = lapack.dpotri(self._A.copy(order="F"), lower=1, overwrite_c=1)
        if info:
            raise np.linalg.LinAlgError(f"LAPACK potri failed with info = {info}")
        lower = np.tril(S, -1)
        lower += lower.T
        lower.flat[:: len(S) + 1] = np.diag(S)
        return np.asarray(lower)


def centred_kernel(K: Floats, tolerance: float | None = None) -> tuple[ExactKernel, Floats]:
    """Centre K in feature space; give it with the mean of its rows before.

    The constant direction, which centring leaves without any weight, is lifted to the mean
    eigenvalue: a hat with an intercept treats it apart, and the matrix stays well conditioned.
    """
    Kc, row_mean = centre_gram(K, None)
    n = len(Kc)
    Kc += np.trace(Kc) / max(1, n) ** 2
    return ExactKernel(Kc, tolerance), row_mean


class Hat(Protocol):
    """The fit of ridge regression on one view, as products."""

    n: int

    def apply(self, B: Floats) -> Floats:
        """H B: the fitted values of targets B."""
        ...

    def coefficients(self, B: Floats) -> tuple[Floats, Floats]:
        """Give dual coefficients or weights, and intercepts, of targets B."""
        ...

    def dense(self) -> Floats | None:
        """Give H itself where products with it are cheaper, else None."""
        ...

    def diagonal(self) -> Floats:
        """Give the diagonal of H."""
        ...


class KernelHat:
    """The hat matrix of kernel ridge regression, ``(K + c I) A + 1 b' = B``, ``1'A = 0``.

    Parameters
    ----------
    factor : the kernel matrix
    ridge : c >= 0
    centre : an intercept b without penalty (True), or none
    row_mean : (n,), what was subtracted from the rows of a kernel centred before, or None
    positive : (n, t) eigenvectors that were kept of a kernel that was not positive semi-definite
    """

    def __init__(
        self,
        factor: KernelFactor,
        ridge: float,
        centre: bool = True,
        row_mean: Floats | None = None,
        positive: Floats | None = None,
    ) -> None:
        self.factor, self.ridge, self.n = factor, ridge, factor.shape[0]
        self._row_mean, self._positive = row_mean, positive
        self._u = factor.solve(np.ones((self.n, 1)), [ridge])[0] if centre else None
        # A solution by rank has no part outside the kernel's range, where B - c A would keep B.
        by_rank = isinstance(factor, ExactKernel) and not factor.regular(ridge)
        self._by_products = ridge == 0 or by_rank

    def _solve(self, B: Floats) -> tuple[Floats, Floats]:
        A = self.factor.solve(B, [self.ridge])[0]
        if self._u is None:
            return A, np.zeros(B.shape[1])
        total = float(self._u.sum())
        # A kernel of constants solves nothing at c = 0: what is left is the mean.
        b = (self._u.T @ B)[0] / total if total > 0 else B.mean(axis=0)
        return A - self._u * b, b

    def apply(self, B: Floats) -> Floats:
        """H B, n^2 operations a column."""
        A, b = self._solve(B)
        return self.factor.matmat(A) + b if self._by_products else B - self.ridge * A

    def coefficients(self, B: Floats) -> tuple[Floats, Floats]:
        """Give dual coefficients A and intercepts: a new sample's fit is ``k'A + b``."""
        A, b = self._solve(B)
        if self._row_mean is not None:
            b = b - self._row_mean @ A
        if self._positive is not None:  # the part left out in training is left out of new samples
            A = self._positive @ (self._positive.T @ A)
        return A, b

    def dense(self) -> Floats | None:
        """Give H, n^3 operations, if the kernel is exact; low-rank ones have cheap products."""
        if not isinstance(self.factor, ExactKernel):
            return None
        if self._by_products:
            return self.apply(np.eye(self.n))
        H = self.factor.inverse(self.ridge)
        if self._u is not None:
            H -= self._u @ (self._u.T / self._u.sum())
        H *= -self.ridge
        H.flat[:: self.n + 1] += 1.0
        return H

    def diagonal(self) -> Floats:
        """Give the diagonal of H."""
        H = self.dense()
        return np.diag(self.apply(np.eye(self.n)) if H is None else H).copy()


class LinearHat:
    """The hat matrix of linear ridge regression through the d x d covariance, for tall X."""

    def __init__(self, operator: CentredOperator, ridge: float, centre: bool = True) -> None:
        self.operator, self.n, self._centre = operator, operator.shape[0], centre
        G = operator.covariance()
        V, lam = diagonalise(G, rank_tolerance(max(operator.shape), operator.dtype))
        self._V, self._lam = V, lam + ridge

    def _weights(self, B: Floats) -> Floats:
        V = self._V
        return np.asarray(V @ ((V.T @ self.operator.rmatmat(B)) / self._lam[:, None]))

    def apply(self, B: Floats) -> Floats:
        """H B, nnz(X) + d^2 operations a column."""
        fitted = self.operator.matmat(self._weights(B))
        return fitted + B.mean(axis=0) if self._centre else fitted

    def coefficients(self, B: Floats) -> tuple[Floats, Floats]:
        """Give weights W (d, p) and intercepts: a new sample's fit is ``x'W + b``."""
        W = self._weights(B)
        b = B.mean(axis=0) - self.operator.mean @ W if self._centre else np.zeros(B.shape[1])
        return W, b

    def dense(self) -> Floats | None:
        """Give None: products are cheaper."""
        return None

    def diagonal(self) -> Floats:
        """Give the diagonal of H."""
        Z = self.operator.matmat(self._V / np.sqrt(self._lam))
        return np.asarray((Z * Z).sum(axis=1) + (1 / self.n if self._centre else 0.0))


class WideHat(KernelHat):
    """The hat matrix of linear ridge regression through the n x n Gram matrix, for wide X."""

    def __init__(self, operator: CentredOperator, ridge: float, centre: bool = True) -> None:
        self.operator = operator
        tolerance = rank_tolerance(max(operator.shape), operator.dtype)
        K = operator.gram()
        if centre:
            K += np.trace(K) / len(K) ** 2  # as in centred_kernel
        super().__init__(ExactKernel(K, tolerance), ridge, centre)

    def coefficients(self, B: Floats) -> tuple[Floats, Floats]:
        """Give weights W (d, p) and intercepts: a new sample's fit is ``x'W + b``."""
        A, b = self._solve(B)
        W = self.operator.rmatmat(A)
        return W, b - self.operator.mean @ W


class IndicatorHat:
    """Category means: the hat matrix of regression on a sparse indicator matrix G (n, k)."""

    def __init__(self, G: Matrix) -> None:
        self.n = G.shape[0]
        self._G, self._Gt = G, G.T.tocsr()
        self._sizes = np.asarray(G.sum(axis=0), dtype=float).ravel()

    def apply(self, B: Floats) -> Floats:
        """H B, n operations a column."""
        return np.asarray(self._G @ self.coefficients(B)[0])

    def coefficients(self, B: Floats) -> tuple[Floats, Floats]:
        """Give the means of B in each category (k, p); there are no intercepts."""
        return np.asarray(self._Gt @ B) / self._sizes[:, None], np.zeros(B.shape[1])

    def dense(self) -> Floats | None:
        """Give None: products are cheaper."""
        return None

    def diagonal(self) -> Floats:
        """Give the diagonal of H."""
        return np.asarray(self._G @ (1 / self._sizes))


@dataclass(frozen=True)
class Term:
    """A view's part in the sum: its hat, its weight, and the samples it has (None: all)."""

    hat: Hat
    weight: float
    rows: Ints | None = None


class HatSum:
    """``D^-1/2 (sum_j w_j M_j'H_j M_j) D^-1/2`` in the complement of ``D^1/2 1``, as products.

    Parameters
    ----------
    n : samples
    terms : the views' parts; one at least has every sample and a positive weight

    Attributes
    ----------
    coverage : (n,), the diagonal of D
    constant : (n, 1), ``D^1/2 1`` of unit length
    total : the sum of the weights, which bounds the eigenvalues
    """

    def __init__(self, n: int, terms: Sequence[Term]) -> None:
        self.n, self.total = n, float(sum(term.weight for term in terms))
        self.coverage = np.zeros(n)
        self._terms: list[Term] = []
        self._sum: Floats | None = None  # of the hats that are dense
        for term in terms:
            self.coverage[_all_or(term.rows)] += term.weight / self.total
            if term.weight:
                self._terms.append(term)
        self._root = np.sqrt(self.coverage)[:, None]
        self.constant = self._root / np.linalg.norm(self._root)

    def fold(self) -> None:
        """Add up the hats that are better dense, so that a product costs n^2, not n^2 a view."""
        loose = []
        for term in self._terms:
            H = term.hat.dense()
            if H is None:
                loose.append(term)
                continue
            if self._sum is None:
                self._sum = np.zeros((self.n, self.n))
            H *= term.weight
            if term.rows is None:
                self._sum += H
            else:
                self._sum[np.ix_(term.rows, term.rows)] += H
        self._terms = loose

    def project(self, Z: Floats) -> Floats:
        """Leave out what lies along ``D^1/2 1``."""
        return np.asarray(Z - self.constant @ (self.constant.T @ Z))

    def matmat(self, Z: Floats) -> Floats:
        """Apply the operator to Z (n, k)."""
        X = self.project(Z) / self._root
        out = np.zeros_like(X) if self._sum is None else self._sum @ X
        for term in self._terms:
            rows = _all_or(term.rows)
            out[rows] += term.weight * term.hat.apply(X[rows])
        return self.project(out / self._root)

    def scores(self, Z: Floats) -> Floats:
        """Turn eigenvectors into scores X with ``1'D X = 0`` and ``X'D X = I``."""
        return np.asarray(Z / self._root)


def _all_or(rows: Ints | None) -> "Ints | slice":
    return slice(None) if rows is None else rows


def top_eigenvectors(P: HatSum, p: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Give the p largest eigenvalues, descending, and their eigenvectors Z (n, p).

    LAPACK for few samples or many eigenvectors, else Lanczos with products alone. Eigenvalues
    that are zero up to rounding are left out.
    """
    P.fold()
    if P.n <= DENSE or 5 * p > P.n:
        values, Z = _all_at_once(P, p)
    else:
        operator = LinearOperator(
            (P.n, P.n),
            matvec=lambda z: P.matmat(z.reshape(-1, 1))[:, 0],
            matmat=P.matmat,
            dtype=np.float64,
        )
        start = P.project(rng.standard_normal((P.n, 1)))[:, 0]
        try:
            values, Z = eigsh(operator, p, which="LA", v0=start, ncv=min(P.n, 2 * p + 20))
        except ArpackError:  # many eigenvalues that are equal, as of projections
            values, Z = _all_at_once(P, p)
    order = np.argsort(values)[::-1]
    keep = values[order] > P.total * P.n * float(np.finfo(np.float64).eps)
    return values[order][keep], _orthonormal(P, fix_signs(Z[:, order][:, keep]))


def _all_at_once(P: HatSum, p: int) -> tuple[Floats, Floats]:
    M = P.matmat(np.eye(P.n))
    M -= P.total * P.constant @ P.constant.T  # the left-out direction goes to the far end
    values, Z = sl.eigh((M + M.T) / 2, subset_by_index=(P.n - p, P.n - 1))
    return values, Z


def _orthonormal(P: HatSum, Z: Floats) -> Floats:
    """Orthonormalise inside the complement, so that the constraints hold to the last digit."""
    Q, R = np.linalg.qr(P.project(Z))
    Q = P.project(Q)
    return np.asarray(Q * np.where(np.diag(R) < 0, -1.0, 1.0))


@dataclass(frozen=True)
class Sweeps:
    """What alternating least squares arrived at."""

    values: Floats  # (p,), Ritz values, descending
    Z: Floats  # (n, p)
    objective: Floats  # (sweeps + 1,), from the start on
    change: float  # of the subspace in the last sweep, the sine of its largest angle


def alternate(P: HatSum, p: int, n_sweeps: int, tol: float, rng: np.random.Generator) -> Sweeps:
    """Alternate between the views' regressions and the scores (Eqs. 26, 27 and 15 of the paper).

    Each sweep is one step of orthogonal iteration. It never raises the objective
    ``p sum_j w_j - tr(Z'P Z)``, and ends when the subspace changes by less than ``tol``.
    """
    P.fold()
    Z = _orthonormal(P, rng.standard_normal((P.n, p)))
    objective, change = [], np.inf
    PZ = P.matmat(Z)
    for _ in range(n_sweeps):
        objective.append(P.total * p - float(np.einsum("ij,ij->", Z, PZ)))
        new = _orthonormal(P, PZ)
        change = float(np.linalg.norm(new - Z @ (Z.T @ new), 2))
        Z = new
        PZ = P.matmat(Z)
        if change < tol:
            break
    objective.append(P.total * p - float(np.einsum("ij,ij->", Z, PZ)))
    values, V = descending_eigh(Z.T @ PZ)
    keep = positive_count(np.maximum(values, 0.0))
    return Sweeps(values[:keep], fix_signs(Z @ V[:, :keep]), np.array(objective), change)
