"""Projections that make features say most about targets, from one factor of the data.

Maximise ``tr(P'Xc'T T'Xc P)`` subject to ``P'N P = I`` with ``N = scale Xc'Xc + ridge I``. With
``C = N^-1 Xc'T``, a ridge solve, and ``(Xc'T)'C = W diag(s) W'`` of the size of T's columns, the
answer is ``P = C W diag(s)^-1/2``.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, eigsh

from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.factors.protocol import Factor, SampleFactor
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
    """Centre the columns of T; what rounding leaves of constant ones is zero."""
    Tc = T - T.mean(axis=0)
    rounding = 4 * EPS * np.linalg.norm(T, axis=0)
    Tc[:, np.linalg.norm(Tc, axis=0) <= rounding] = 0.0
    return np.asarray(Tc)


def orthonormal_directions(operator: CentredOperator, T: Floats) -> Directions:
    """Solve with N = I for features: the left singular vectors of ``Xc'T``.

    Cost: one product with X per column of T and a thin SVD (d k^2); nothing is factored.
    """
    Tc = without_constants(T)
    U, s, _ = scipy.linalg.svd(operator.rmatmat(Tc), full_matrices=False)
    r = int(np.count_nonzero(significant(s, max(operator.shape) * EPS)))
    return Directions(turn_equal(s[:r], U[:, :r]), s * s)


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
        k, drawn = k + fresh, drawn[:, fresh:]  # those left are tried with the new ones known
    return P


def _orthonormal(G: Floats, inner: Floats, lengths: Floats) -> Floats:
    """Make columns with these inner products orthonormal, up to the first that is not new."""
    R, stopped = scipy.linalg.lapack.dpotrf(inner)
    new = np.diag(R) ** 2 > SPANNED * lengths
    if stopped:
        new[stopped - 1 :] = False
    fresh = len(new) if new.all() else int(np.argmin(new))
    if not fresh:
        return G[:, :0]
    return np.asarray(scipy.linalg.solve_triangular(R[:fresh, :fresh], G[:, :fresh].T, trans=1).T)


def directions(factor: Factor, T: Floats, scale: float, ridge: float) -> Directions:
    """Solve with N = scale Xc'Xc + ridge I; ``scale=0`` needs ``ridge > 0``."""
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


FEW = 30  # Lanczos' method pays for less than a share 1 / FEW of all axes


def leading_axes(operator: CentredOperator, count: int) -> Directions:
    """Find the first principal axes of centred data by Lanczos' method; nothing is formed.

    Raises scipy's ArpackError where it does not converge. Cost: some 2 to 5 products with X and
    with X' for each axis.
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


FADED = 1e-4  # a matrix of which no more than this is left is computed anew


def covariance_directions(factor: SampleFactor, T: Floats, count: int) -> Directions:
    """Give SIMPLS's directions of largest covariance with T; scores have unit length.

    Each is the leading left singular vector of ``S = Xc'T``, found from the k x k matrix ``S'S``;
    then the direction that its scores have in X is taken out of S. Cost for each: two products of
    X, or the kernel matrix, with one vector, a few operations for each entry of S and an
    eigenvector of a k x k matrix.
    """
    null = factor.metric_rounding()
    S, fresh = factor.adjoint(without_constants(T)), np.inf
    image_S = factor.metric(S)  # S'image_S is S'S of the weights that S stands for
    floor = float(np.vdot(S, image_S)) * (max(len(S), len(T)) * EPS) ** 2
    W, V = np.zeros((2, len(S), count))
    image_V = V if image_S is S else np.zeros_like(V)
    M = S.T @ image_S
    values: list[float] = []
    for k in range(count):
        top, q = _leading(M)
        if top <= FADED * fresh:  # rounding of what M once was
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
        for _ in range(2):  # once more for what rounding left
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
    """Give the largest eigenvalue of a symmetric matrix, at least 0, and its vector as a column."""
    last = len(M) - 1
    values, vectors = scipy.linalg.eigh((M + M.T) / 2, subset_by_index=[last, last])
    return max(float(values[0]), 0.0), vectors


def _deduct(A: Floats, v: Floats, a: Floats) -> None:
    """Take the outer product of v and a off A, in place and by rows."""
    for rows in row_blocks(len(A), 16 * A.shape[1]):
        A[rows] -= np.outer(v[rows], a)


ROW_SPACE_ARRAYS = 12  # square arrays of a projection by row_space and generalised_directions


def generalised_directions(A: Floats, B: Floats, *, largest: bool = True) -> Directions:
    """Solve ``A p = lambda B p`` for symmetric A and positive definite B, ``p'B p = 1``."""
    own = (((A + A.T) / 2).T, ((B + B.T) / 2).T)  # in the order that LAPACK overwrites
    values, P = scipy.linalg.eigh(*own, overwrite_a=True, overwrite_b=True, check_finite=False)
    if largest:
        values, P = values[::-1], P[:, ::-1]
    return Directions(P, values)
