"""Directions of features that are most related to targets, from one factor of the data.

Maximise ``tr(P'Xc'T T'Xc P)`` subject to ``P'N P = I`` with ``N = scale Xc'Xc + ridge I``. With
the ridge solve ``C = N^-1 Xc'T`` and the eigendecomposition ``(Xc'T)'C = W diag(s) W'``, whose size
is the number of targets, the solution is ``P = C W diag(s)^-1/2``.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, eigsh

from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.factors.base import Factor, SampleFactor
from eigenlabel.linalg.factors.solution import Shortfall
from eigenlabel.linalg.numerics import (
    EPS,
    descending_eigh,
    positive_count,
    rank_tolerance,
    significant,
    turn_equal,
)
from eigenlabel.linalg.operators import CentredOperator, row_blocks


@dataclass(frozen=True)
class Directions:
    """Directions in the data, best first.

    Attributes
    ----------
    coefficients : (features or samples, r)
    eigenvalues : (k,) all eigenvalues, descending
    shortfall : accuracy that an iterative solver missed, or None
    """

    coefficients: Floats
    eigenvalues: Floats
    shortfall: Shortfall | None = None


def without_constants(T: Floats) -> Floats:
    """Centre the columns of T; columns that are constant up to rounding become zero."""
    Tc = T - T.mean(axis=0)
    rounding = 4 * EPS * np.linalg.norm(T, axis=0)
    Tc[:, np.linalg.norm(Tc, axis=0) <= rounding] = 0.0
    return np.asarray(Tc)


def orthonormal_directions(operator: CentredOperator, T: Floats) -> Directions:
    """Return the directions for N = I: the left singular vectors of ``Xc'T``.

    Cost: one product with X for each column of T and a thin SVD (d k^2). X is not factorised.
    """
    Tc = without_constants(T)
    U, s, _ = scipy.linalg.svd(operator.rmatmat(Tc), full_matrices=False)
    r = int(np.count_nonzero(significant(s, max(operator.shape) * EPS)))
    return Directions(turn_equal(s[:r], U[:, :r]), s * s)


BLOCK = 128  # random directions that are orthonormalised together
SPANNED = 1e-12  # a direction is new if more than this share of its squared length is new


def complement(
    operator: CentredOperator,
    P: Floats,
    count: int,
    constraint: tuple[float, float],
    rng: np.random.RandomState,
) -> Floats:
    """Add random directions to P until there are ``count`` with ``P'N P = I``.

    If N has a smaller rank, as many directions as that are returned. Gram-Schmidt by blocks, each
    block twice because of rounding. Cost: six products with X for each direction if scale > 0, and
    4 d count^2 operations.

    Parameters
    ----------
    operator : the centred data
    P : (d, k) directions with ``P'N P = I``
    count : number of directions
    constraint : scale and ridge of ``N = scale Xc'Xc + ridge I``
    rng : random numbers for the new directions
    """
    scale, ridge = constraint

    def image(G: Floats) -> Floats:
        return scale * operator.rmatmat(operator.matmat(G)) + ridge * G if scale else ridge * G

    d, k = P.shape
    P, drawn = np.hstack([P, np.empty((d, count - k))]), np.empty((d, 0))
    while k < count:
        if not drawn.shape[1]:
            drawn = rng.standard_normal((min(BLOCK, count - k), d)).T
        G = drawn
        # With a ridge every direction has at least its length in N.
        lengths = np.einsum("ij,ij->j", G, ridge * G if ridge else image(G))
        for _ in range(2):
            G = G - P[:, :k] @ (P[:, :k].T @ image(G))
            G = _orthonormal(G, G.T @ image(G), lengths)
            fresh = G.shape[1]
            if not fresh:
                return P[:, :k]
            lengths = np.ones(fresh)
        P[:, k : k + fresh] = G
        k, drawn = k + fresh, drawn[:, fresh:]  # the others are tried again after these
    return P


def _orthonormal(G: Floats, inner: Floats, lengths: Floats) -> Floats:
    """Orthonormalise columns with these inner products, up to the first one that is not new."""
    R, stopped = scipy.linalg.lapack.dpotrf(inner)
    new = np.diag(R) ** 2 > SPANNED * lengths
    if stopped:
        new[stopped - 1 :] = False
    fresh = len(new) if new.all() else int(np.argmin(new))
    if not fresh:
        return G[:, :0]
    return np.asarray(scipy.linalg.solve_triangular(R[:fresh, :fresh], G[:, :fresh].T, trans=1).T)


def directions(factor: Factor, T: Floats, scale: float, ridge: float) -> Directions:
    """Return the directions for ``N = scale Xc'Xc + ridge I``; ``scale=0`` needs ``ridge > 0``.

    Cost: one ridge solve and an eigendecomposition whose size is the number of targets.
    """
    T = without_constants(T)
    G = factor.gradient(T) * factor.total  # Xc'T in the factor's coefficients
    shortfall = None
    if scale:
        solution = factor.solve(T, [ridge / scale / factor.total])
        C, shortfall = solution.coefficients[0] / scale, solution.shortfall
    else:
        C = G / ridge
    values, W = descending_eigh(factor.inner(G, C))
    r = positive_count(values)
    return Directions(C @ W[:, :r] / np.sqrt(values[:r]), np.maximum(values, 0.0), shortfall)


FEW = 30  # Lanczos' method is faster for less than a share 1 / FEW of all axes


def leading_axes(operator: CentredOperator, count: int) -> Directions:
    """Find the first principal axes of centred data by Lanczos' method, from products alone.

    Equivalent to the leading eigenvectors of ``Xc'Xc``. Raises scipy's ArpackError if the method
    does not converge. Cost: 2 to 5 products with X and with X' for each axis.
    """
    n, d = operator.shape
    if operator.squared_norm() <= 0:  # no sample differs from another
        return Directions(np.zeros((d, 0)), np.zeros(0))

    def product(v: Floats) -> Floats:
        column = v.reshape(-1, 1)
        if n <= d:
            return operator.matmat(operator.rmatmat(column)).ravel()
        return operator.rmatmat(operator.matmat(column)).ravel()

    size = min(n, d)
    start = np.random.RandomState(0).standard_normal(size)
    square = LinearOperator((size, size), matvec=product, dtype=np.float64)
    values, axes = eigsh(square, k=count, v0=start)
    values, axes = values[::-1], axes[:, ::-1]
    tolerance = rank_tolerance(max(operator.shape), operator.dtype)
    rank = int(np.count_nonzero(significant(values, tolerance)))
    values, axes = values[:rank], axes[:, :rank]
    return Directions(operator.rmatmat(axes) / np.sqrt(values) if n <= d else axes, values)


FADED = 1e-4  # a deflated matrix that has shrunk to this share is computed again


def covariance_directions(factor: SampleFactor, T: Floats, count: int) -> Directions:
    """Return the directions of largest covariance with T by SIMPLS (de Jong 1993).

    Each direction is the leading left singular vector of ``S = Xc'T``, found from the k x k matrix
    ``S'S``; then S is projected on the complement of the loading ``Xc't`` of its scores t, which
    have unit length. Cost for each direction: two products of X, or the kernel matrix, with one
    vector, a few operations for each entry of S and an eigenvector of a k x k matrix.
    """
    null = factor.metric_rounding()
    S, fresh = factor.adjoint(without_constants(T)), np.inf
    image_S = factor.metric(S)  # S'image_S is S'S of the weights of S
    floor = float(np.vdot(S, image_S)) * (max(len(S), len(T)) * EPS) ** 2
    W, V = np.zeros((2, len(S), count))
    image_V = V if image_S is S else np.zeros_like(V)
    M = S.T @ image_S
    values: list[float] = []
    for k in range(count):
        top, q = _leading(M)
        if top <= FADED * fresh:  # M may be the rounding of larger numbers
            M = S.T @ image_S
            fresh, q = _leading(M)
            top = fresh
        r = S @ q
        if top <= max(floor, null * float(np.vdot(r, r))):
            break
        r = r / np.sqrt(top)
        t = factor.scores(r)
        t, length = t / np.linalg.norm(t), np.linalg.norm(t)
        p = factor.adjoint(t)
        for _ in range(2):  # twice because of rounding
            p = p - V[:, :k] @ (image_V[:, :k].T @ p)
        image_p = factor.metric(p)
        norm = np.sqrt(np.vdot(p, image_p))
        W[:, k : k + 1], V[:, k : k + 1] = r / length, p / norm
        image_V[:, k : k + 1] = image_p / norm
        share = image_V[:, k] @ S
        M -= np.outer(share, share)
        _deduct(S, V[:, k], share)
        if image_S is not S:
            _deduct(image_S, image_V[:, k], share)
        values.append(top)
    return Directions(W[:, : len(values)], np.array(values))


def _leading(M: Floats) -> tuple[float, Floats]:
    """Return the largest eigenvalue of a symmetric M, or 0 if negative, and its eigenvector."""
    last = len(M) - 1
    values, vectors = scipy.linalg.eigh((M + M.T) / 2, subset_by_index=[last, last])
    return max(float(values[0]), 0.0), vectors


def _deduct(A: Floats, v: Floats, a: Floats) -> None:
    """Subtract the outer product of v and a from A, in place, by blocks of rows."""
    for rows in row_blocks(len(A), 16 * A.shape[1]):
        A[rows] -= np.outer(v[rows], a)


ROW_SPACE_ARRAYS = 12  # square arrays of a projection by row_space and generalised_directions


def generalised_directions(A: Floats, B: Floats, *, largest: bool = True) -> Directions:
    """Solve ``A p = lambda B p`` for symmetric A and positive definite B, with ``p'B p = 1``.

    Equivalent to ``scipy.linalg.eigh(A, B)``; the largest eigenvalues come first by default.
    """
    own = (((A + A.T) / 2).T, ((B + B.T) / 2).T)  # in the order that LAPACK overwrites
    values, P = scipy.linalg.eigh(*own, overwrite_a=True, overwrite_b=True, check_finite=False)
    if largest:
        values, P = values[::-1], P[:, ::-1]
    return Directions(P, values)
