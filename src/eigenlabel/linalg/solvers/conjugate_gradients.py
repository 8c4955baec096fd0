"""Conjugate gradients for symmetric positive semi-definite systems with shifts.

* :func:`shifted_cg`: many shifts at once. The Krylov space of ``(A, B)`` does not depend on the
  shift, so that the iteration for the smallest shift carries all others along: the residuals of
  the shifted systems are multiples ``zeta r`` of one another (Frommer and Maass 1999). Each
  iteration takes one product with A for all shifts; each column has a Krylov space of its own.
* :func:`diagonal_cg`: one shift, preconditioned by the diagonal of A. A preconditioner ties a
  shift to its own iteration. Features of very unequal variance, such as word counts, gain so much
  by it that one shift after the other takes less time than all at once.
* :func:`preconditioned_cg`: any preconditioner, and a shift of its own for each column.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np

from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.machine import n_threads
from eigenlabel.linalg.numerics import CACHE_NUMBERS, EPS
from eigenlabel.linalg.operators import column_products


class Normal(Protocol):
    """A symmetric positive semi-definite matrix as products."""

    def normal(self, P: Floats) -> tuple[Floats, Floats]:
        """Return the product with P, and p'(product) for each column p of P."""


def shifted_cg(
    operator: Normal, B: Floats, shifts: Floats, tol: float, max_iter: int
) -> tuple[Floats, Floats, int]:
    """Solve ``(A + s I) x = b`` for all columns b of B and all shifts at once.

    Cost: one product with A for each iteration, and six operations for each number of x.

    Parameters
    ----------
    operator : products with A
    B : (d, m) right sides
    shifts : ascending
    tol : relative residual at which a column is finished
    max_iter : upper bound on the number of iterations

    Returns
    -------
    x : (shifts, d, m); of minimum norm if ``A + s I`` is singular
    residuals : (shifts, m) relative to b, not smaller than the rounding error
    steps : number of iterations
    """
    S, (d, m) = len(shifts), B.shape
    delta = (shifts - shifts[0])[:, None]
    x, r = np.zeros((S, d, m), dtype=B.dtype), B.copy()
    p = np.repeat(B[None], S, axis=0)
    rho = _squares(r)
    size = np.sqrt(rho)  # |b|
    zeta, zeta_old = np.ones((S, m)), np.ones((S, m))
    alpha_old, beta, norm = np.ones(m), np.zeros(m), np.zeros(m)
    left = np.tile(size, (S, 1))  # |b - (A + s) x|
    steps = 0
    active = S if m else 0
    while active and steps < max_iter:
        q, curvature = operator.normal(p[0])
        curvature = curvature + shifts[0] * _squares(p[0])
        going = (rho > (tol * size) ** 2) & (curvature > 0)
        alpha = np.divide(rho, curvature, out=np.zeros(m), where=going)
        q += B.dtype.type(shifts[0]) * p[0]
        q *= alpha
        r -= q
        new = _squares(r)
        ratio = np.divide(new, rho, out=np.zeros(m), where=going)
        # The largest Ritz values estimate the norm of the matrix, which bounds the rounding error.
        ritz = np.divide(1.0, alpha, out=np.zeros(m), where=going) + going * beta / alpha_old
        norm = np.maximum(norm, ritz)
        bottom = alpha * beta * (zeta_old - zeta) + zeta_old * alpha_old * (1 + delta * alpha)
        step = np.divide(zeta_old * alpha_old, bottom, out=np.ones((S, m)), where=bottom != 0)
        zeta_old, zeta = zeta, zeta * step
        _advance(x, p, r, alpha * step, ratio * step * step, zeta, active)
        alpha_old, beta, rho = np.where(going, alpha, alpha_old), ratio, np.where(going, new, rho)
        steps += 1
        left[:active] = np.abs(zeta[:active]) * np.sqrt(rho)
        active = active if going.any() else 0
        while active and not (left[active - 1] > tol * size).any():
            active -= 1  # larger shifts are finished first
    lengths = np.sqrt(np.stack([_squares(part) for part in x])) if S else np.zeros((0, m))
    rounding = float(np.finfo(B.dtype).eps) * (norm + delta) * lengths
    found = np.maximum(left, rounding)
    residuals = np.divide(found, size, out=np.zeros((S, m)), where=size > 0)
    return x, residuals, steps


def diagonal_cg(
    operator: Normal,
    B: Floats,
    shift: float,
    diagonal: Floats,
    tol: float,
    max_iter: int,
) -> tuple[Floats, Floats, int]:
    """Solve ``(A + s I) x = b`` for one shift, preconditioned by the diagonal of A.

    Parameters
    ----------
    operator : products with A
    B : (d, m) right sides
    shift : s
    diagonal : (d,) diagonal of A
    tol : relative residual at which a column is finished
    max_iter : upper bound on the number of iterations

    Returns
    -------
    x : (d, m)
    residuals : (m,) relative to b
    steps : number of iterations
    """
    m = B.shape[1]
    inverse = (1 / (diagonal + shift)).astype(B.dtype)[:, None]
    s = B.dtype.type(shift)
    x, r, p = np.zeros_like(B), B.copy(), inverse * B
    rho, left = column_products(r, p), _squares(r)
    goal, size = tol**2 * left, np.sqrt(left)
    steps = 0
    while (left > goal).any() and steps < max_iter:
        q, curvature = operator.normal(p)
        curvature = curvature + shift * _squares(p)
        going = (left > goal) & (curvature > 0)
        if not going.any():
            break
        alpha = np.divide(rho, curvature, out=np.zeros(m), where=going)
        step = alpha.astype(B.dtype)

        def forward(rows: slice, q: Floats = q, step: Floats = step) -> Floats:
            P, Q, R = p[rows], q[rows], r[rows]
            Q += s * P
            x[rows] += step * P
            R -= step * Q
            squares = R * R
            weighted = np.einsum("ij,ij->j", squares, np.broadcast_to(inverse[rows], R.shape))
            return np.stack([squares.sum(axis=0), weighted])

        left, new = np.sum(_in_pieces(forward, r), axis=0, dtype=float)
        beta = np.divide(new, rho, out=np.zeros(m), where=going).astype(B.dtype)

        def turn(rows: slice, beta: Floats = beta) -> None:
            P = p[rows]
            P *= beta
            P += inverse[rows] * r[rows]

        _in_pieces(turn, r)
        rho = np.where(going, new, rho)
        steps += 1
    rounding = float(np.finfo(B.dtype).eps) * steps * diagonal.max() * np.sqrt(_squares(x))
    if (rounding > tol * size).any():  # the recurrence may be inaccurate: compute the residual
        left = _squares(B - operator.normal(x)[0] - s * x)
    return x, np.divide(np.sqrt(left), size, out=np.zeros(m), where=size > 0), steps


def preconditioned_cg(
    matmat: Callable[[Floats], Floats],
    B: Floats,
    shifts: Floats,
    precondition: Callable[[Floats, Floats], Floats],
    tol: float,
    max_iter: int,
) -> tuple[Floats, Floats, int]:
    """Solve ``(A + s_j I) x_j = b_j``, with a shift of its own for each column.

    Parameters
    ----------
    matmat : function that returns the product of A with a matrix
    B : (n, m) right sides
    shifts : (m,) shift of each column
    precondition : function of residuals (n, k) and their shifts (k,)
    tol : relative residual at which a column is finished
    max_iter : upper bound on the number of iterations

    Returns
    -------
    x : (n, m)
    residuals : (m,) relative to b
    steps : number of iterations

    Raises
    ------
    ValueError
        If A is not positive semi-definite.
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


def _squares(A: Floats) -> Floats:
    """Sum the squares of each column."""
    return column_products(A, A)


def _advance(
    x: Floats, p: Floats, r: Floats, alpha: Floats, beta: Floats, zeta: Floats, active: int
) -> None:
    """Compute ``x += alpha p`` and ``p = zeta r + beta p`` in place, for the active shifts."""
    alpha, beta, zeta = (each.astype(r.dtype) for each in (alpha, beta, zeta))

    def piece(rows: slice) -> None:
        for s in range(active):
            P = p[s, rows]
            x[s, rows] += alpha[s] * P
            P *= beta[s]
            P += zeta[s] * r[rows]

    _in_pieces(piece, r)


def _in_pieces(work: Callable[[slice], Any], like: Floats) -> list[Any]:
    """Call ``work`` with pieces of rows that stay in the cache, on all cores."""
    step = max(1, CACHE_NUMBERS // max(1, like.shape[1]))
    pieces = [slice(start, start + step) for start in range(0, max(1, len(like)), step)]
    if len(pieces) < 8:
        return [work(rows) for rows in pieces]
    with ThreadPoolExecutor(n_threads()) as pool:
        return list(pool.map(work, pieces))
