"""Factor the data once, by its shape, then solve ridge regressions for any targets and shifts.

``ridge(s) = (Xc'WXc / n + s I)^-1 Xc'WT / n`` with ``n`` the total weight. Wide X and kernels go
through the n x n Gram matrix (coefficients are dual, one per sample), tall X through the d x d
covariance (coefficients are weights, one per feature), what fits neither through products
(``linalg.factors.krylov``, ``linalg.factors.kernel_krylov``). All factors have the same verbs.
"""

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from scipy.linalg import lapack

from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.factors.kernel_krylov import KernelKrylovFactor
from eigenlabel.linalg.factors.krylov import KrylovFactor
from eigenlabel.linalg.machine import memory_limit
from eigenlabel.linalg.numerics import rank_tolerance
from eigenlabel.linalg.operators import (
    TILE,
    CentredOperator,
    less_outer,
    row_blocks,
    total_weight,
    weighted_mean,
)
from eigenlabel.linalg.sizes import readable
from eigenlabel.linalg.solvers.shifted import ShiftedSystem, eigenvectors
from eigenlabel.linalg.statistics import Statistics
from eigenlabel.linalg.ties import precision


def centre_gram(
    K: Floats, weights: Floats | None, overwrite: bool = False
) -> tuple[Floats, Floats]:
    """Centre K in feature space; return it with the mean of its rows before centring."""
    row_mean = weighted_mean(K, weights)
    centred = np.subtract(K, row_mean, out=K if overwrite else None)
    centred -= weighted_mean(centred.T, weights)[:, None]
    return centred, row_mean


def weighted_gram(K: Floats, root: Floats | None, overwrite: bool = False) -> Floats:
    """Multiply rows and columns of K by the roots of the weights."""
    M = K if overwrite else K.copy()
    if root is not None:
        M *= root[:, None]
        M *= root
    return M


def scaled_gram(Kc: Floats, root: Floats | None, centred: bool, overwrite: bool = False) -> Floats:
    """Scale a centred Gram matrix by the roots of the weights and lift its constant direction.

    Centring makes ``root`` a null vector. Targets have no part along it, so any positive
    eigenvalue may stand there; the mean one keeps the matrix as well conditioned as it was.
    """
    n = Kc.shape[0]
    M = weighted_gram(Kc, root, overwrite)
    if centred and n:
        v = np.full(n, 1 / np.sqrt(n)) if root is None else root / np.linalg.norm(root)
        less_outer(M, v, -float(np.trace(M)) / n)
    return M


def symmetric_part(K: Floats) -> tuple[Floats, tuple[int, int]]:
    """Give ``(K + K') / 2`` as a new matrix, and where K is farthest from symmetric."""
    S, worst, place = np.empty_like(K), -1.0, (0, 0)
    for i in range(0, len(K), TILE):
        for j in range(i, len(K), TILE):
            rows, columns = slice(i, i + TILE), slice(j, j + TILE)
            above, below = K[rows, columns], K[columns, rows].T
            S[rows, columns] = (above + below) / 2
            S[columns, rows] = S[rows, columns].T
            off = np.abs(above - below)
            if off.max() > worst:
                a, b = np.unravel_index(off.argmax(), off.shape)
                worst, place = float(off.max()), (i + int(a), j + int(b))
    return S, place


def nearest_psd(K: Floats, tolerance: float) -> tuple[Floats, Floats | None, float]:
    """Give K without its negative eigenvalues, the eigenvectors kept, and the smallest eigenvalue.

    The last is relative to the largest. A K that is positive semi-definite up to rounding comes
    back as it is, at the price of one Cholesky factor, with None and 0.
    """
    n = K.shape[0]
    bound = max((float(np.abs(K[rows]).sum(axis=1).max()) for rows in row_blocks(n, n)), default=0)
    lifted = K.copy()
    lifted.flat[:: n + 1] += max(tolerance * bound, np.finfo(float).tiny)
    if lapack.dpotrf(lifted.T, lower=1, clean=0, overwrite_a=1)[1] == 0:  # .T: no copy
        return K, None, 0.0
    lifted[:] = K
    lam, Q = eigenvectors(lifted)
    if lam[0] >= -tolerance * bound:
        return K, None, 0.0
    first = len(lam) - int(np.count_nonzero(lam > tolerance * bound))  # they ascend
    smallest = float(lam[0] / lam[-1]) if lam[-1] > 0 else -np.inf
    kept = Q[:, first:]
    return (kept * lam[first:]) @ kept.T, kept, smallest


class GramFactor:
    """The n x n side: dual coefficients, for wide X and for kernels.

    Parameters
    ----------
    K : (n, n) positive semi-definite kernel matrix, centred or not
    weights : (n,) positive sample weights or None
    centre : centre in feature space, which makes the intercept unpenalised
    dtype, d : precision and number of features of the data behind K, for the rank rule
    operator : the data itself if the kernel is linear
    positive : (n, t) eigenvectors that were kept of a kernel that was not positive semi-definite
    overwrite : K may be centred in place
    """

    def __init__(
        self,
        K: Floats,
        weights: Floats | None = None,
        centre: bool = True,
        dtype: "np.dtype[np.floating] | type" = np.float64,
        d: int = 0,
        operator: CentredOperator | None = None,
        positive: Floats | None = None,
        overwrite: bool = False,
    ) -> None:
        self.weights, self.centre, self.operator = weights, centre, operator
        self._positive = positive
        self.total = total_weight(K.shape[0], weights)
        self.root = None if weights is None else np.sqrt(weights)
        self.tolerance = rank_tolerance(max(K.shape[0], d), dtype)
        self.precision = precision(dtype)
        self.K, self.row_mean = K, np.zeros(K.shape[0])
        if centre:
            self.K, self.row_mean = centre_gram(K, weights, overwrite)
        self._system: ShiftedSystem | None = None

    def _scale(self, A: Floats) -> Floats:
        return A if self.root is None else self.root[:, None] * A

    def _targets(self, T: Floats) -> Floats:
        return self._scale(T - weighted_mean(T, self.weights) if self.centre else T)

    def solve(self, T: Floats, shifts: Sequence[float]) -> Floats:
        """Give (len(shifts), n, m) dual coefficients; they sum to zero over centred samples."""
        if self._system is None:
            self._system = ShiftedSystem(
                scaled_gram(self.K, self.root, self.centre), self.tolerance
            )
        scaled = self._system.solve(self._targets(T), [self.total * s for s in shifts])
        return np.stack([self._scale(c) for c in scaled])

    def gradient(self, T: Floats) -> Floats:
        """Give the limit of ``s solve(T, s)`` for growing s."""
        return self._scale(self._targets(T)) / self.total

    def inner(self, a: Floats, b: Floats) -> Floats:
        """Give A'B of the weights that dual a and b stand for."""
        return np.asarray(a.T @ (self.K @ b))

    def dual(self, c: Floats) -> Floats:
        """Give coefficients for the kernel as it is, which may have a negative part.

        On training samples that part is left out; the projection leaves it out on new ones too.
        """
        return c if self._positive is None else self._positive @ (self._positive.T @ c)

    def primal(self, c: Floats) -> Floats:
        """Turn dual coefficients of a linear problem into weights (d, m)."""
        if self.operator is None:
            raise ValueError("a kernel factor has no primal weights")
        return self.operator.rmatmat(c)


class PrimalFactor:
    """What factors on the d x d side share: coefficients are the weights themselves.

    Subclasses set ``total``, ``tolerance`` and ``centre``.
    """

    total: float
    tolerance: float
    centre: bool
    _system: ShiftedSystem | None = None

    def _covariance(self) -> Floats:
        raise NotImplementedError

    def _right_side(self, T: Floats) -> Floats:
        raise NotImplementedError

    def solve(self, T: Floats, shifts: Sequence[float]) -> Floats:
        """Give (len(shifts), d, m) weights."""
        if self._system is None:
            self._system = ShiftedSystem(self._covariance(), self.tolerance)
        return self._system.solve(self._right_side(T), [self.total * s for s in shifts])

    def gradient(self, T: Floats) -> Floats:
        """Give the limit of ``s solve(T, s)`` for growing s."""
        return self._right_side(T) / self.total

    def inner(self, a: Floats, b: Floats) -> Floats:
        """Give A'B."""
        return np.asarray(a.T @ b)

    def primal(self, c: Floats) -> Floats:
        """Give the weights (d, m)."""
        return c


class CovarianceFactor(PrimalFactor):
    """The d x d side, for tall X."""

    def __init__(self, operator: CentredOperator, centre: bool = True) -> None:
        self.operator, self.centre = operator, centre
        self.total = total_weight(operator.shape[0], operator.weights)
        self.tolerance = rank_tolerance(max(operator.shape), operator.dtype)

    def _covariance(self) -> Floats:
        return self.operator.covariance()

    def _right_side(self, T: Floats) -> Floats:
        w = self.operator.weights
        # Centring T changes nothing in exact arithmetic once X is centred, but keeps digits.
        Tc = T - weighted_mean(T, w) if self.centre else T
        return self.operator.rmatmat(Tc if w is None else w[:, None] * Tc)


class StatisticsFactor(PrimalFactor):
    """The d x d side from statistics, without samples.

    Targets are combinations (m, k) of those that the statistics were collected with; the
    identity stands for themselves.
    """

    def __init__(self, statistics: Statistics, centre: bool = True) -> None:
        self.statistics, self.centre = statistics, centre
        self.total, self.tolerance = statistics.n, statistics.tolerance
        self._XX, self._XT = statistics.products(centre)

    def _covariance(self) -> Floats:
        return self._XX

    def _right_side(self, T: Floats) -> Floats:
        return np.asarray(self._XT @ T)


Factor = GramFactor | CovarianceFactor | KrylovFactor | KernelKrylovFactor


# Square arrays of one exact fit: the Gram matrix, a scaled one and its Cholesky factor; if that is
# singular, its eigenvectors and LAPACK's workspace. Measured by benchmarks/bench_memory.py.
ARRAYS = 5


def exact_memory(p: int, arrays: float = ARRAYS) -> float:
    """Return the bytes of ``arrays`` p x p arrays, by default those of one exact fit."""
    return arrays * 8.0 * p * p


ADVICE = (
    "Use solver='krylov', eigenlabel.MEKA in front of a linear method for kernels, fewer samples, "
    "or fewer features (feature hashing, feature selection)."
)


def check_memory(
    p: int,
    what: str,
    advice: str = ADVICE,
    limit: float | None = None,
    arrays: float = ARRAYS,
) -> None:
    """Raise MemoryError if a p x p problem does not fit in ``limit`` bytes.

    The default limit is the free memory.
    """
    limit, needed = memory_limit() if limit is None else limit, exact_memory(p, arrays)
    if needed > limit:
        raise MemoryError(
            f"The {what} needs about {readable(needed)} for its {p} x {p} matrices, but the limit "
            f"is {readable(limit)} (max_memory, or the free memory by default). {advice}"
        )


def factorise(
    operator: CentredOperator,
    centre: bool = True,
    route: str = "auto",
    tol: float = 1e-6,
    max_iter: int = 1000,
    max_memory: float | None = None,
    report: Callable[[str], None] = warnings.warn,
    arrays: float = ARRAYS,
) -> Factor:
    """Factor a linear problem by its shape.

    ``route`` is "gram" (n x n), "covariance" (d x d), "krylov" (products alone) or "auto": the
    smaller side, or products if ``arrays`` matrices of that side do not fit in ``max_memory``, by
    default the free memory. Other routes raise MemoryError if they do not fit.
    """
    n, d = operator.shape
    limit = memory_limit() if max_memory is None else max_memory
    if route == "auto":
        route = "gram" if n <= d else "covariance"
        if exact_memory(min(n, d), arrays) > limit:
            route = "krylov"
    if route == "krylov":
        return KrylovFactor(operator, centre, tol, max_iter, limit, report)
    if route == "gram":
        check_memory(n, "Gram factor", limit=limit, arrays=arrays)
        return GramFactor(
            operator.gram(),
            operator.weights,
            centre,
            operator.dtype,
            d,
            operator=operator,
            overwrite=True,
        )
    check_memory(d, "covariance factor", limit=limit, arrays=arrays)
    return CovarianceFactor(operator, centre)
