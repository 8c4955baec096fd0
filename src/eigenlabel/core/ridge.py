"""Solve ``(M + s I) y = b`` for one symmetric positive semi-definite M and many shifts s.

* A few shifts: one Cholesky factor each, p^3 / 3.
* Many shifts: M = Z J Z' with J tridiagonal (LAPACK ``sytrd``, 4 p^3 / 3 in all); every shift is
  then a tridiagonal solve, linear in p. That is accurate to eps * largest / smallest eigenvalue
  of M + s I.
* Shifts too small for that: a Cholesky factor of the matrix scaled to unit diagonal, which does
  not mind badly scaled features, if its condition allows; else the eigendecomposition cut by the
  rank rule, which gives the minimum-norm solution at s = 0.

A reduced system works in *rotated* coordinates ``Z'y``, in which inner products are the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as sl
from scipy.linalg import lapack

from eigenlabel.core._types import Floats
from eigenlabel.core.eigen import rank_tolerance

# A solve loses about eps * largest / smallest eigenvalue; what would lose more is treated apart.
SAFE = float(np.sqrt(np.finfo(np.float64).eps))
FEW_SHIFTS = 4


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

    def extremes(self) -> tuple[float, float]:
        """Give the smallest and the largest eigenvalue."""
        d, e = self.diagonal, self.off_diagonal
        if len(d) == 1:
            return float(d[0]), float(d[0])
        try:  # two bisections
            ends = [
                float(sl.eigvalsh_tridiagonal(d, e, select="i", select_range=(i, i))[0])
                for i in (0, len(d) - 1)
            ]
        except np.linalg.LinAlgError:  # they may fail on eigenvalues that are all but equal
            lam = sl.eigvalsh_tridiagonal(d, e, lapack_driver="sterf")
            ends = [float(lam[0]), float(lam[-1])]
        return ends[0], ends[1]

    def apply(self, R: Floats) -> Floats:
        """Rotated M y of a rotated y."""
        JR = self.diagonal[:, None] * R
        JR[:-1] += self.off_diagonal[:, None] * R[1:]
        JR[1:] += self.off_diagonal[:, None] * R[:-1]
        return np.asarray(JR)


def _check_lapack(name: str, info: int) -> None:
    if info != 0:
        raise np.linalg.LinAlgError(f"LAPACK {name} failed with info = {info}")


def kept(lam: Floats, tolerance: float, shift: float) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """Tell which of ascending eigenvalues of M count: those that the rank rule keeps.

    Beside a shift above the rounding of M no direction can blow up, be it rounding of the data:
    only that of M itself is cut then.
    """
    own = rank_tolerance(len(lam), np.float64)
    if shift > own * lam[-1]:
        tolerance = min(tolerance, own)
    return np.asarray((lam > tolerance * lam[-1]) & (lam > 0))


def diagonalise(M: Floats, tolerance: float, shift: float = 0.0) -> tuple[Floats, Floats]:
    """Give eigenvectors (p, t) and eigenvalues (t,) that count beside a shift; 9 p^3 or so."""
    if M.shape[0] == 0:
        return np.zeros((0, 0)), np.zeros(0)
    lam, Q = np.linalg.eigh(M)
    keep = kept(lam, tolerance, shift)
    return Q[:, keep], lam[keep]


def tridiagonalise(M: Floats) -> TridiagonalReduction:
    """Reduce M to tridiagonal form; 4 p^3 / 3."""
    p = M.shape[0]
    c, diagonal, off_diagonal, tau, info = lapack.dsytrd(M, lower=1, lwork=64 * max(1, p))
    _check_lapack("sytrd", info)
    return TridiagonalReduction(np.asfortranarray(c[1:, :-1]), tau, diagonal, off_diagonal)


def _spectral_bound(M: Floats) -> float:
    """Bound the largest eigenvalue from above by the largest absolute row sum."""
    return float(np.abs(M).sum(axis=1).max()) if M.shape[0] else 0.0


def _cholesky_solve(M: Floats, B: Floats, shift: float) -> Floats:
    """Solve with a Cholesky factor, for shifts that make it safe."""
    shifted = M.copy()
    shifted.flat[:: M.shape[0] + 1] += shift
    # The matrix is symmetric: its transpose is the same and in the order that LAPACK overwrites.
    factor = sl.cho_factor(shifted.T, lower=True, overwrite_a=True, check_finite=False)
    return np.asarray(sl.cho_solve(factor, B, check_finite=False))


def careful_solve(M: Floats, B: Floats, shift: float, tolerance: float) -> Floats:
    """Solve for a shift that may be too small: scaled Cholesky if it is sound, else by rank."""
    scaled = M.copy()
    scaled.flat[:: M.shape[0] + 1] += shift
    diagonal = np.diag(scaled)
    if diagonal.size and diagonal.min() > 0:
        d = 1 / np.sqrt(diagonal)
        scaled = d[:, None] * scaled * d
        norm = float(np.abs(scaled).sum(axis=0).max())
        factor, info = lapack.dpotrf(scaled, lower=1)
        if info == 0 and lapack.dpocon(factor, norm, uplo="L")[0] > SAFE:
            y, info = lapack.dpotrs(factor, d[:, None] * B, lower=1)
            _check_lapack("potrs", info)
            return np.asarray(d[:, None] * y)
    Q, lam = diagonalise(M, tolerance, shift)
    return np.asarray(Q @ ((Q.T @ B) / (lam + shift)[:, None]))


class ReducedSystem:
    """M and one right-hand side, reduced once for known shifts, in rotated coordinates.

    Parameters
    ----------
    M : (p, p)
    B : (p, k) right-hand side
    shifts : those that will be asked for; infinity stands for the limit ``s y`` of growing s
    tolerance : relative rank tolerance
    """

    def __init__(self, M: Floats, B: Floats, shifts: Sequence[float], tolerance: float) -> None:
        self.reduction = tridiagonalise(M)
        self.R = self.reduction.rotate(B)
        bound = _spectral_bound(M)
        doubtful = [s for s in shifts if s <= SAFE * bound]
        if doubtful:
            lam_min, lam_max = self.reduction.extremes()
            doubtful = [s for s in doubtful if lam_min + s <= SAFE * (lam_max + s)]
        self._special = {
            s: self.reduction.rotate(careful_solve(M, B, s, tolerance)) for s in doubtful
        }

    def solve(self, shift: float) -> Floats:
        """Give the rotated solution for one of the shifts."""
        if np.isinf(shift):
            return self.R
        if shift in self._special:
            return self._special[shift]
        return self.reduction.solve(self.R, shift)


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
        if len(distinct) <= FEW_SHIFTS:
            bound = _spectral_bound(self.M)
            found = {
                s: _cholesky_solve(self.M, B, s)
                if s > SAFE * bound
                else careful_solve(self.M, B, s, self.tolerance)
                for s in distinct
            }
        else:
            system = ReducedSystem(self.M, B, distinct, self.tolerance)
            found = {s: system.reduction.restore(system.solve(s)) for s in distinct}
        return np.stack([found[s] for s in shifts])
