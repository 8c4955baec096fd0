"""Solve ``(M + s I) y = b`` for one symmetric positive semi-definite M and many shifts s.

Three ways, one answer:

* a few large shifts: one Cholesky factor each, p^3 / 3;
* many shifts: M = Z J Z' with J tridiagonal (LAPACK ``sytrd``, 4 p^3 / 3 in all); every shift is
  then a tridiagonal solve, linear in p;
* shifts too small for the rank of M: the eigendecomposition, cut by the rank rule, which gives the
  minimum-norm solution at s = 0.

A reduction works in *rotated* coordinates ``Z'y``, in which inner products are the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg as sl
from scipy.linalg import lapack

from eigenlabel.core._types import Floats
from eigenlabel.core.eigen import rank_tolerance

# A solve loses about eps * largest / smallest eigenvalue; beyond sqrt(eps) the rank rule decides.
SAFE = float(np.sqrt(np.finfo(np.float64).eps))
FEW_SHIFTS = 4


@dataclass(frozen=True)
class SpectralReduction:
    """M = Q diag(lam) Q' with lam > 0: rank-many coordinates."""

    Q: Floats  # (p, t), orthonormal columns
    lam: Floats  # (t,)

    def rotate(self, B: Floats) -> Floats:
        """Z'B."""
        return np.asarray(self.Q.T @ B)

    def restore(self, R: Floats) -> Floats:
        """Z R."""
        return np.asarray(self.Q @ R)

    def solve(self, R: Floats, shift: float) -> Floats:
        """Rotated (M + shift)^-1 of a rotated right-hand side, null space of M left out."""
        return np.asarray(R / (self.lam + shift)[:, None])

    def apply(self, R: Floats) -> Floats:
        """Rotated M y of a rotated y."""
        return np.asarray(self.lam[:, None] * R)


@dataclass(frozen=True)
class TridiagonalReduction:
    """M = Z J Z' with J tridiagonal and Z a product of Householder reflectors."""

    reflectors: Floats  # (p - 1, p - 1), as LAPACK stores them
    tau: Floats
    diagonal: Floats  # (p,)
    off_diagonal: Floats  # (p - 1,)

    def _apply(self, B: Floats, trans: str) -> Floats:
        out = np.array(B, order="F")
        if len(self.tau) and out.shape[1]:
            work = 64 * out.shape[1]
            tail, _, info = lapack.dormqr("L", trans, self.reflectors, self.tau, out[1:], work)
            _check_lapack("ormqr", info)
            out[1:] = tail
        return out

    def rotate(self, B: Floats) -> Floats:
        """Z'B."""
        return self._apply(B, "T")

    def restore(self, R: Floats) -> Floats:
        """Z R."""
        return self._apply(R, "N")

    def solve(self, R: Floats, shift: float) -> Floats:
        """Rotated (M + shift)^-1 of a rotated right-hand side."""
        if len(self.diagonal) == 1:
            return np.asarray(R / (self.diagonal + shift)[:, None])
        _, _, y, info = lapack.dptsv(self.diagonal + shift, self.off_diagonal, R)
        _check_lapack("ptsv", info)
        return np.asarray(y)

    def apply(self, R: Floats) -> Floats:
        """Rotated M y of a rotated y."""
        JR = self.diagonal[:, None] * R
        JR[:-1] += self.off_diagonal[:, None] * R[1:]
        JR[1:] += self.off_diagonal[:, None] * R[:-1]
        return np.asarray(JR)


Reduction = SpectralReduction | TridiagonalReduction


def _check_lapack(name: str, info: int) -> None:
    if info != 0:
        raise np.linalg.LinAlgError(f"LAPACK {name} failed with info = {info}")


def diagonalise(M: Floats, tolerance: float) -> SpectralReduction:
    """Eigendecompose M and keep what the rank rule keeps; 9 p^3 or so."""
    lam, Q = np.linalg.eigh(M)
    keep = lam > tolerance * max(float(lam[-1]), 0.0) if lam.size else np.zeros(0, dtype=bool)
    keep &= lam > 0
    return SpectralReduction(Q[:, keep], lam[keep])


def tridiagonalise(M: Floats) -> TridiagonalReduction:
    """Reduce M to tridiagonal form; 4 p^3 / 3."""
    p = M.shape[0]
    c, diagonal, off_diagonal, tau, info = lapack.dsytrd(M, lower=1, lwork=64 * max(1, p))
    _check_lapack("sytrd", info)
    return TridiagonalReduction(np.asfortranarray(c[1:, :-1]), tau, diagonal, off_diagonal)


def reduce(M: Floats, smallest_shift: float, tolerance: float) -> Reduction:
    """Choose the reduction of M that is accurate for every shift from ``smallest_shift`` up."""
    if M.shape[0] == 0:
        return SpectralReduction(np.zeros((0, 0)), np.zeros(0))
    if smallest_shift > SAFE * _spectral_bound(M):
        return tridiagonalise(M)
    tridiagonal = tridiagonalise(M)
    lam_min, lam_max = _extremes(tridiagonal)
    if lam_min + smallest_shift > SAFE * (lam_max + smallest_shift):
        return tridiagonal
    return diagonalise(M, tolerance)


def _extremes(reduction: TridiagonalReduction) -> tuple[float, float]:
    d, e = reduction.diagonal, reduction.off_diagonal
    ends = []
    for index in (0, len(d) - 1):
        value = sl.eigvalsh_tridiagonal(d, e, select="i", select_range=(index, index))
        ends.append(float(value[0]))
    return ends[0], ends[1]


def _spectral_bound(M: Floats) -> float:
    """Bound the largest eigenvalue from above by the largest absolute row sum."""
    return float(np.abs(M).sum(axis=1).max())


class ShiftedSystem:
    """One symmetric positive semi-definite M, solved for many shifts and right-hand sides.

    Parameters
    ----------
    M : (p, p), kept, not changed
    tolerance : relative rank tolerance of ``rank_tolerance``
    """

    def __init__(self, M: Floats, tolerance: float | None = None) -> None:
        self.M = M
        size = max(1, M.shape[0])
        self.tolerance = rank_tolerance(size, np.float64) if tolerance is None else tolerance

    def solve(self, B: Floats, shifts: Sequence[float]) -> Floats:
        """Give (len(shifts), p, k): ``(M + s I)^-1 B``, of minimum norm where that is singular."""
        if self.M.shape[0] == 0:
            return np.zeros((len(shifts), *B.shape))
        distinct = sorted(set(shifts))
        bound = _spectral_bound(self.M)
        if len(distinct) <= FEW_SHIFTS and all(s > SAFE * bound for s in distinct):
            found = {s: self._cholesky_solve(B, s) for s in distinct}
        else:
            reduction = reduce(self.M, distinct[0], self.tolerance)
            R = reduction.rotate(B)
            found = {s: reduction.restore(reduction.solve(R, s)) for s in distinct}
        return np.stack([found[s] for s in shifts])

    def _cholesky_solve(self, B: Floats, shift: float) -> Floats:
        shifted = self.M.copy()
        shifted.flat[:: self.M.shape[0] + 1] += shift
        factor = sl.cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
        return np.asarray(sl.cho_solve(factor, B, check_finite=False))
