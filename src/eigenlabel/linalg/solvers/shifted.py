"""Solve ``(M + s I) y = b`` for one symmetric positive semi-definite M and many shifts s.

* A few shifts: one Cholesky factor for each, p^3 / 3.
* Many shifts: M = Z J Z' with J tridiagonal (LAPACK ``sytrd``, 4 p^3 / 3 for all shifts); every
  shift is then a tridiagonal solve, linear in p. The relative error is eps times the ratio of the
  largest to the smallest eigenvalue of M + s I.
* Shifts that are too small for that: a Cholesky factor of the matrix scaled to unit diagonal, on
  which badly scaled features have no effect, if its condition allows. Otherwise the
  eigendecomposition (of J, if M is reduced) without the eigenvalues below the rank tolerance,
  which is the minimum-norm solution at s = 0.

A reduced system works in *rotated* coordinates ``Z'y``, which leave inner products unchanged.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg as sl
from scipy.linalg import lapack

from eigenlabel.linalg._types import Bools, Floats
from eigenlabel.linalg.numerics import EPS, rank_tolerance, significant
from eigenlabel.linalg.operators import mirror, row_blocks
from eigenlabel.linalg.threads import adapt_threads

# A solve has a relative error of about eps * largest / smallest eigenvalue. Systems for which that
# exceeds SAFE are treated separately.
SAFE = float(np.sqrt(EPS))
GAP = 1e-6  # share of the largest eigenvalue above which eigenvalues are clearly not zero
STEPS = 8  # at most, of a solve beside the null space
SETTLED = 1e-12  # relative size of its last step; what is missing is a thousandth of that
SOME = 4  # all eigenvectors are as fast as one in this many
FEW_SHIFTS = 4  # shifts for which one Cholesky factor each is faster than a reduction
COLUMNS = 1024  # columns that are rotated at once, so that their copy is small
TOGETHER = 512  # columns from which on they are eliminated together
WORKSPACE = 32_000  # rows up to which the size of SciPy's workspace fits in 32 bits


@dataclass(frozen=True)
class TridiagonalReduction:
    """M = Z J Z' with J tridiagonal and Z a product of Householder reflectors."""

    reflectors: Floats  # (p, p - 1), as LAPACK stores them; the last row is unused
    tau: Floats
    diagonal: Floats  # (p,)
    off_diagonal: Floats  # (p - 1,)

    def _apply(self, B: Floats, trans: str) -> Floats:
        out = np.array(B, order="F")
        for start in range(0, out.shape[1] if len(self.tau) else 0, COLUMNS):
            tail = np.asfortranarray(out[1:, start : start + COLUMNS])
            tail, _, info = lapack.dormqr(
                "L", trans, self.reflectors, self.tau, tail, 64 * tail.shape[1], overwrite_c=1
            )
            _check_lapack("ormqr", info)
            out[1:, start : start + COLUMNS] = tail
        return out

    def rotate(self, B: Floats) -> Floats:
        """Return Z'B; 2 p^2 operations for each column."""
        return self._apply(B, "T")

    def restore(self, R: Floats) -> Floats:
        """Return Z R; 2 p^2 operations for each column."""
        return self._apply(R, "N")

    def solve(self, R: Floats, shifts: Sequence[float]) -> Floats:
        """Return ``(J + s I)^-1 R`` (p, shifts, k) for a rotated right side R; linear in p.

        Few columns are solved by LAPACK, one column after the other. Many columns are eliminated
        together, one row after the other, which uses vector instructions.
        """
        p, k = R.shape
        y = np.empty((p, len(shifts), k))
        if p == 1 or k * len(shifts) >= TOGETHER:
            return self._eliminate(R, np.asarray(shifts, dtype=float), y)
        for i, shift in enumerate(shifts):
            _, _, y[:, i], info = lapack.dptsv(self.diagonal + shift, self.off_diagonal, R)
            _check_lapack("ptsv", info)
        return y

    def _eliminate(self, R: Floats, shifts: Floats, y: Floats) -> Floats:
        """Solve ``L D L' y = R`` for all shifts and columns at once; y is overwritten."""
        e = self.off_diagonal
        d = self.diagonal[:, None] + shifts  # (p, shifts)
        ratio = np.empty((len(e), len(shifts)))
        for j, off in enumerate(e):
            np.divide(off, d[j], out=ratio[j])
            d[j + 1] -= off * ratio[j]
        y[:] = R[:, None]
        term = np.empty(y.shape[1:])
        for j in range(len(e)):
            y[j + 1] -= np.multiply(ratio[j, :, None], y[j], out=term)
        y /= d[:, :, None]
        for j in range(len(e) - 1, -1, -1):
            y[j] -= np.multiply(ratio[j, :, None], y[j + 1], out=term)
        return y

    def extremes(self) -> tuple[float, float]:
        """Return the smallest and the largest eigenvalue."""
        d, e = self.diagonal, self.off_diagonal
        if len(d) == 1:
            return float(d[0]), float(d[0])
        try:  # two bisections
            ends = [
                float(sl.eigvalsh_tridiagonal(d, e, select="i", select_range=(i, i))[0])
                for i in (0, len(d) - 1)
            ]
        except np.linalg.LinAlgError:  # bisection may fail on nearly equal eigenvalues
            lam = sl.eigvalsh_tridiagonal(d, e, lapack_driver="sterf")
            ends = [float(lam[0]), float(lam[-1])]
        return ends[0], ends[1]

    def eigenvectors(self) -> tuple[Floats, Floats]:
        """Return ascending eigenvalues and the eigenvectors (p, p) of J; about p^3 operations."""
        adapt_threads(len(self.diagonal))
        if len(self.diagonal) == 1:
            return self.diagonal, np.ones((1, 1))
        driver: Any = "stevd" if len(self.diagonal) <= WORKSPACE else "stemr"
        lam, Q = sl.eigh_tridiagonal(self.diagonal, self.off_diagonal, lapack_driver=driver)
        return np.asarray(lam), np.asarray(Q)

    def eigenvectors_below(self, limit: float) -> tuple[Floats, Floats | None]:
        """Return the eigenvalues of J up to a limit and their eigenvectors (p, t).

        The eigenvectors are None if LAPACK does not find them, or if there are so many that all of
        them are as fast.
        """
        d, e = self.diagonal, self.off_diagonal
        if len(d) < 2:
            return np.zeros(0), None
        least = -float(np.abs(d).max() + 2 * np.abs(e).max())
        try:
            lam, N = sl.eigh_tridiagonal(
                d, e, select="v", select_range=(least, limit), lapack_driver="stemr"
            )
        except np.linalg.LinAlgError:
            return np.zeros(0), None
        return np.asarray(lam), np.asarray(N) if SOME * len(lam) <= len(d) else None

    def without_rotation(self) -> "TridiagonalReduction":
        """Return J alone, for work in rotated coordinates; Z needs as much memory as M."""
        return replace(self, reflectors=self.reflectors[:0, :0].copy())

    def apply(self, R: Floats) -> Floats:
        """Return J R, the rotated M y of a rotated y."""
        JR = self.diagonal[:, None] * R
        JR[:-1] += self.off_diagonal[:, None] * R[1:]
        JR[1:] += self.off_diagonal[:, None] * R[:-1]
        return np.asarray(JR)


def _check_lapack(name: str, info: int) -> None:
    if info != 0:
        raise np.linalg.LinAlgError(f"LAPACK {name} failed with info = {info}")


def kept(lam: Floats, tolerance: float, shift: float) -> Bools:
    """Return which ascending eigenvalues of M count beside a shift.

    Beside a shift above the rounding of M, no direction is amplified, not even rounding of the
    data. Only the rounding of M itself is left out then.
    """
    own = rank_tolerance(len(lam), np.float64)
    if shift > own * lam[-1]:
        tolerance = min(tolerance, own)
    return significant(lam, tolerance)


def own_copy(M: Floats) -> Floats:
    """Return a copy of M whose transpose LAPACK can overwrite."""
    return np.array(M, dtype=float, order="C")


def eigenvectors(M: Floats) -> tuple[Floats, Floats]:
    """Return ascending eigenvalues and the eigenvectors of a symmetric M, which is overwritten.

    Equivalent to ``numpy.linalg.eigh``. The workspace of LAPACK takes two more arrays of the size
    of M. SciPy stores its size 2 p^2 in 32 bits; NumPy, which copies M, uses 64 bits.
    """
    adapt_threads(len(M))
    if len(M) > WORKSPACE:
        lam, Q = np.linalg.eigh(M)
        return np.asarray(lam), np.asarray(Q)
    lam, Q = sl.eigh(M.T, overwrite_a=True, driver="evd", check_finite=False)
    return np.asarray(lam), np.asarray(Q)


def diagonalise(
    M: Floats, tolerance: float, shift: float = 0.0, overwrite: bool = False
) -> tuple[Floats, Floats]:
    """Return the eigenvectors (p, t) and eigenvalues (t,) of M that count beside a shift.

    See :func:`kept`. Cost: about 9 p^3. If ``overwrite``, M is used as workspace.
    """
    if M.shape[0] == 0:
        return np.zeros((0, 0)), np.zeros(0)
    lam, Q = eigenvectors(M if overwrite else own_copy(M))
    first = len(lam) - int(np.count_nonzero(kept(lam, tolerance, shift)))  # lam is ascending
    return Q[:, first:], lam[first:]


def tridiagonalise(M: Floats, overwrite: bool = False) -> TridiagonalReduction:
    """Reduce M to tridiagonal form; 4 p^3 / 3.

    If ``overwrite``, the reflectors replace the diagonal and upper triangle of M, and its lower
    triangle is not changed.
    """
    p = M.shape[0]
    A = M if overwrite else own_copy(M)
    adapt_threads(p)
    c, diagonal, off_diagonal, tau, info = lapack.dsytrd(
        A.T, lower=1, lwork=64 * max(1, p), overwrite_a=1
    )
    _check_lapack("sytrd", info)
    # Reflector j starts at c[j + 1, j]. In the same memory without its first number, these starts
    # are on the diagonal, as LAPACK expects them, so that no copy is needed.
    reflectors = c.ravel(order="F")[1 : 1 + p * (p - 1)].reshape(p, p - 1, order="F")
    return TridiagonalReduction(reflectors, tau, diagonal, off_diagonal)


def smallest_eigenvectors(M: Floats, k: int) -> tuple[Floats, Floats]:
    """Return the k smallest eigenvalues, ascending, and eigenvectors (p, k) of a symmetric M.

    Equivalent to ``scipy.linalg.eigh(M, subset_by_index=(0, k - 1))``, at two thirds of its time
    for some hundred rows. Cost: 4 p^3 / 3.
    """
    reduction = tridiagonalise(M)
    lam, Q = sl.eigh_tridiagonal(
        reduction.diagonal,
        reduction.off_diagonal,
        select="i",
        select_range=(0, k - 1),
        lapack_driver="stemr",
        check_finite=False,
    )
    return np.asarray(lam), reduction.restore(np.asarray(Q, dtype=np.float64))


def _spectral_bound(M: Floats) -> float:
    """Return an upper bound on the largest eigenvalue, the largest absolute row sum."""
    sums = (float(np.abs(M[rows]).sum(axis=1).max()) for rows in row_blocks(*M.shape))
    return max(sums, default=0.0)


def _cholesky_solve(M: Floats, B: Floats, shift: float) -> Floats:
    """Solve by a Cholesky factor, for shifts above SAFE times the largest eigenvalue."""
    shifted = own_copy(M)
    adapt_threads(len(M))
    shifted.flat[:: M.shape[0] + 1] += shift
    # The matrix is symmetric: its transpose is the same and in the order that LAPACK overwrites.
    factor = sl.cho_factor(shifted.T, lower=True, overwrite_a=True, check_finite=False)
    return np.asarray(sl.cho_solve(factor, B, check_finite=False))


def careful_solve(M: Floats, B: Floats, shift: float, tolerance: float) -> Floats:
    """Solve ``(M + s I) y = B`` for a shift that may be too small for a Cholesky factor.

    A Cholesky factor of the matrix scaled to unit diagonal is used if it is accurate, else the
    eigenvalues above the rank tolerance, which is the minimum-norm solution at s = 0.
    """
    y = _scaled_cholesky_solve(own_copy(M), B, shift)
    if y is not None:
        return y
    Q, lam = diagonalise(M, tolerance, shift)
    return np.asarray(Q @ ((Q.T @ B) / (lam + shift)[:, None]))


def _scaled_cholesky_solve(M: Floats, B: Floats, shift: float) -> Floats | None:
    """Solve by the Cholesky factor of M scaled to unit diagonal; M is overwritten.

    Returns None if the factor does not exist or is not accurate.
    """
    M.flat[:: M.shape[0] + 1] += shift
    diagonal = np.diag(M)
    if not diagonal.size or diagonal.min() <= 0:
        return None
    d = 1 / np.sqrt(diagonal)
    M *= d[:, None]
    M *= d
    norm = _spectral_bound(M)
    adapt_threads(len(M))
    factor, info = lapack.dpotrf(M.T, lower=1, clean=0, overwrite_a=1)
    if info != 0 or lapack.dpocon(factor, norm, uplo="L")[0] <= SAFE:
        return None
    y, info = lapack.dpotrs(factor, d[:, None] * B, lower=1)
    _check_lapack("potrs", info)
    return np.asarray(d[:, None] * y)


def _condition(extremes: tuple[float, float], shift: float) -> float:
    """Return the ratio of the smallest to the largest eigenvalue beside a shift; 0 for no range."""
    low, high = extremes
    return (low + shift) / (high + shift) if high + shift > 0 else 0.0


class ReducedSystem:
    """M and one right side, reduced once for known shifts, in rotated coordinates.

    Parameters
    ----------
    M : (p, p) symmetric positive semi-definite
    B : (p, k) right side
    shifts : shifts that will be asked for
    tolerance : relative rank tolerance
    overwrite : whether M may be used as workspace; the reflectors then replace it
    """

    def __init__(
        self,
        M: Floats,
        B: Floats,
        shifts: Sequence[float],
        tolerance: float,
        overwrite: bool = False,
    ) -> None:
        A = M if overwrite else own_copy(M)
        bound, diagonal = _spectral_bound(A), np.diag(A).copy()
        self.reduction = tridiagonalise(A, overwrite=True)
        self.R = self.reduction.rotate(B)
        self._special: dict[float, Floats] = {}
        self._left_out: dict[float, tuple[Floats, Floats]] = {}
        doubtful = [s for s in shifts if s <= SAFE * bound]
        if doubtful:
            extremes = self.reduction.extremes()
            doubtful = [s for s in doubtful if _condition(extremes, s) <= SAFE]
            # Scaling to unit diagonal improves the condition at most by the ratio of the diagonal.
            ratio = diagonal.max() / diagonal.min() if diagonal.min() > 0 else np.inf
            known = len(A) * EPS  # what rounding hides of the smallest eigenvalue
            scaled = [s for s in doubtful if max(_condition(extremes, s), known) * ratio > SAFE]
            self._special = self._solve_scaled(A, diagonal, B, scaled)
            rest = [s for s in doubtful if s not in self._special]
            if rest and not self._solve_beside_null_space(rest, tolerance, extremes[1]):
                self._solve_by_eigenvectors(rest, tolerance)

    def _solve_scaled(
        self, A: Floats, diagonal: Floats, B: Floats, shifts: Sequence[float]
    ) -> dict[float, Floats]:
        """Solve by Cholesky factors of the matrix scaled to unit diagonal, if they are accurate.

        The triangle of A that the reduction did not change, and the diagonal, are those of M.
        """
        found: dict[float, Floats] = {}
        for s in shifts:
            M = mirror(own_copy(A.T))
            M.flat[:: len(M) + 1] = diagonal
            y = _scaled_cholesky_solve(M, B, s)
            if y is not None:
                found[s] = self.reduction.rotate(y)
        return found

    def _solve_beside_null_space(
        self, shifts: Sequence[float], tolerance: float, high: float
    ) -> bool:
        """Solve without the eigenvectors N of eigenvalues that are zero, if there is a gap.

        All eigenvalues have to be either zero under every rank rule or above GAP times the largest
        one. Then ``y <- y + (J + s + g)^-1 P (R - (J + s) y)``, with ``P = I - N N'`` before and
        after, converges to the solution of minimum norm. Its error falls by a factor of at least
        1000 in each step, because g is a thousandth of the smallest eigenvalue that is kept.
        Returns False if there is no gap or the steps do not end.
        """
        zero = min(tolerance, rank_tolerance(len(self.R), np.float64)) * high
        if tolerance > GAP or high <= 0:
            return False
        lam, N = self.reduction.eigenvectors_below(GAP * high)
        if N is None or (lam > zero).any():
            return False
        coordinates = N.T @ self.R
        right = self.R - N @ coordinates
        found = {}
        for s in shifts:
            y, change = np.zeros_like(right), right
            for _ in range(STEPS):
                change = self.reduction.solve(change, [s + GAP * high / 1000])[:, 0]
                change -= N @ (N.T @ change)
                y += change
                if np.abs(change).max(initial=0.0) <= SETTLED * np.abs(y).max(initial=0.0):
                    break
                change = right - self.reduction.apply(y) - s * y
                change -= N @ (N.T @ change)
            else:
                return False
            found[s] = y
        self._special |= found
        self._left_out |= dict.fromkeys(found, (lam, coordinates))
        return True

    def _solve_by_eigenvectors(self, shifts: Sequence[float], tolerance: float) -> None:
        """Solve without the eigenvalues below the rank tolerance.

        The eigenvectors are those of J, which take a fraction of the time of those of M.
        """
        lam, Q = self.reduction.eigenvectors()
        coordinates = Q.T @ self.R
        for s in shifts:
            some = kept(lam, tolerance, s)
            inverse = np.divide(1.0, lam + s, out=np.zeros_like(lam), where=some)
            self._special[s] = np.asarray(Q @ (inverse[:, None] * coordinates))
            self._left_out[s] = lam[~some], coordinates[~some]

    def drop_rotation(self) -> None:
        """Discard Z, which is as large as M; rotated solutions need J alone."""
        self.reduction = self.reduction.without_rotation()

    def is_special(self, shift: float) -> bool:
        """Return whether a shift was too small for a tridiagonal solve."""
        return shift in self._special

    def leaves_out(self, shift: float) -> bool:
        """Return whether a shift was solved by eigenvectors, some of which may be left out."""
        return shift in self._left_out

    def left_out(self, shift: float) -> tuple[Floats, Floats]:
        """Return the eigenvalues (t,) that a shift leaves out, and N'R (t, k) of their vectors N.

        There are none if the shift is solved with all of them.
        """
        nothing = np.zeros(0), np.zeros((0, self.R.shape[1]))
        return self._left_out.get(shift, nothing)

    def solve(self, shifts: Sequence[float]) -> Floats:
        """Return the rotated solutions (p, shifts, k) for some of the finite shifts."""
        if not any(s in self._special for s in shifts):
            return self.reduction.solve(self.R, shifts)
        y = np.empty((len(self.R), len(shifts), self.R.shape[1]))
        usual = [k for k, s in enumerate(shifts) if s not in self._special]
        y[:, usual] = self.reduction.solve(self.R, [shifts[k] for k in usual])
        for k, s in enumerate(shifts):
            if s in self._special:
                y[:, k] = self._special[s]
        return y


class ShiftedSystem:
    """One symmetric positive semi-definite M, for many shifts and right sides.

    Parameters
    ----------
    M : (p, p), stored and not changed
    tolerance : relative rank tolerance, by default that of a float64 matrix of the size of M
    """

    def __init__(self, M: Floats, tolerance: float | None = None) -> None:
        self.M = M
        size = max(1, M.shape[0])
        self.tolerance = rank_tolerance(size, np.float64) if tolerance is None else tolerance

    def solve(self, B: Floats, shifts: Sequence[float]) -> Floats:
        """Return ``(M + s I)^-1 B`` for all shifts (len(shifts), p, k).

        Solutions of singular equations have minimum norm. Equivalent to
        ``scipy.linalg.solve(M + s I, B)`` for each shift.
        """
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
            found = {s: system.reduction.restore(system.solve([s])[:, 0]) for s in distinct}
        return np.stack([found[s] for s in shifts])
