"""Projections that make features say most about targets, from one factor of the data.

Maximise ``tr(P'Xc'T T'Xc P)`` subject to ``P'N P = I`` with ``N = scale Xc'Xc + ridge I``. With
``C = N^-1 Xc'T``, a ridge solve, and ``(Xc'T)'C = W diag(s) W'`` of the size of T's columns, the
answer is ``P = C W diag(s)^-1/2``.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from eigenlabel.core._types import Floats
from eigenlabel.core.eigen import descending_eigh, positive_count, rank_tolerance
from eigenlabel.core.kernel_krylov import KernelKrylovFactor
from eigenlabel.core.krylov import KrylovFactor
from eigenlabel.core.operators import CentredOperator
from eigenlabel.core.spectral import CovarianceFactor, Factor, GramFactor


@dataclass(frozen=True)
class Directions:
    """Coefficients (features or samples, r), best first, and all eigenvalues (k,)."""

    coefficients: Floats
    eigenvalues: Floats


def without_constants(T: Floats) -> Floats:
    """Centre the columns of T; what rounding leaves of constant ones is zero."""
    Tc = T - T.mean(axis=0)
    rounding = 4 * np.finfo(float).eps * np.linalg.norm(T, axis=0)
    Tc[:, np.linalg.norm(Tc, axis=0) <= rounding] = 0.0
    return np.asarray(Tc)


def orthonormal_directions(operator: CentredOperator, T: Floats) -> Directions:
    """Solve with N = I for features: the left singular vectors of ``Xc'T``.

    Cost: one product with X per column of T and a thin SVD (d k^2); nothing is factored.
    """
    Tc = without_constants(T)
    U, s, _ = scipy.linalg.svd(operator.rmatmat(Tc), full_matrices=False)
    floor = s[0] * max(operator.shape) * float(np.finfo(float).eps) if s.size else 0.0
    r = int(np.count_nonzero(s > floor))
    return Directions(U[:, :r], s * s)


BLOCK = 128  # random directions made orthonormal together
SPANNED = 1e-12  # a direction is not new if no more of its squared length than this is


def complement(
    operator: CentredOperator,
    P: Floats,
    count: int,
    constraint: tuple[float, float],
    rng: np.random.RandomState,
) -> Floats:
    """Add random directions until there are ``count``, ``P'N P = I``; all there are if fewer.

    Gram-Schmidt by blocks, each twice: once more for what rounding left. Cost: six products with
    X a direction if scale > 0, and 4 d count^2 operations.
    """
    scale, ridge = constraint

    def image(G: Floats) -> Floats:
        return scale * operator.rmatmat(operator.matmat(G)) + ridge * G if scale else ridge * G

    d, k = P.shape
    P, room = np.hstack([P, np.empty((d, count - k))]), True
    while k < count and room:
        G = rng.standard_normal((min(BLOCK, count - k), d)).T
        asked, lengths = G.shape[1], np.einsum("ij,ij->j", G, image(G))
        for _ in range(2):
            G = G - P[:, :k] @ (P[:, :k].T @ image(G))
            G = _orthonormal(G, G.T @ image(G), lengths)
            lengths = np.ones(G.shape[1])
        P[:, k : k + G.shape[1]] = G
        k, room = k + G.shape[1], G.shape[1] == asked
    return P[:, :k]


def _orthonormal(G: Floats, inner: Floats, lengths: Floats) -> Floats:
    """Make columns with these inner products orthonormal, up to the first that is not new."""
    R, stopped = scipy.linalg.lapack.dpotrf(inner)
    new = np.diag(R) ** 2 > SPANNED * lengths
    if stopped:
        new[stopped - 1 :] = False
    fresh = len(new) if new.all() else int(np.argmin(new))
    return np.asarray(scipy.linalg.solve_triangular(R[:fresh, :fresh], G[:, :fresh].T, trans=1).T)


def directions(factor: Factor, T: Floats, scale: float, ridge: float) -> Directions:
    """Solve with N = scale Xc'Xc + ridge I; ``scale=0`` needs ``ridge > 0``."""
    T = without_constants(T)
    G = factor.gradient(T) * factor.total  # Xc'T in the factor's coefficients
    C = factor.solve(T, [ridge / scale / factor.total])[0] / scale if scale else G / ridge
    values, W = descending_eigh(factor.inner(G, C))
    r = positive_count(values)
    return Directions(C @ W[:, :r] / np.sqrt(values[:r]), np.maximum(values, 0.0))


@dataclass(frozen=True)
class RowSpace:
    """Centred data in coordinates of their own rank: ``Z Z' = Xc Xc'`` with Z of full rank.

    ``lift(P)`` turns directions for Z into the coefficients of the factor: ``Xc lift(P) = Z P``.
    """

    Z: Floats  # (n, p), orthogonal columns, longest first
    basis: Floats  # coefficients (features or samples, p)

    def lift(self, P: Floats) -> Floats:
        """Give the coefficients of directions in Z."""
        return np.asarray(self.basis @ P)


def row_space(factor: Factor) -> RowSpace:
    """Rotate centred data to their principal axes, dropping the null ones.

    Cost: one eigendecomposition of the smaller side.
    """
    if isinstance(factor, (KrylovFactor, KernelKrylovFactor)):
        raise MemoryError(
            "The principal axes of the data need the smaller of its n x n and d x d matrices, "
            "which does not fit in memory. Use fewer samples or features, or a projection that "
            "is a ridge solve: MDDM, CCA, OPLS, LDA."
        )
    if isinstance(factor, GramFactor):
        values, U = descending_eigh(factor.K)
        keep = values > max(factor.tolerance * values[0], 0.0)
        s = np.sqrt(values[keep])
        return RowSpace(U[:, keep] * s, U[:, keep] / s)
    return _covariance_row_space(factor)


def _covariance_row_space(factor: CovarianceFactor) -> RowSpace:
    operator = factor.operator
    values, V = descending_eigh(operator.covariance())
    tolerance = rank_tolerance(max(operator.shape), operator.dtype)
    keep = values > max(tolerance * values[0], 0.0)
    return RowSpace(operator.matmat(V[:, keep]), V[:, keep])


def generalised_directions(A: Floats, B: Floats, *, largest: bool = True) -> Directions:
    """Solve ``A p = lambda B p`` for symmetric A and positive definite B, ``p'B p = 1``."""
    values, P = scipy.linalg.eigh((A + A.T) / 2, (B + B.T) / 2)
    if largest:
        values, P = values[::-1], P[:, ::-1]
    return Directions(P, values)
