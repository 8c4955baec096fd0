"""Exact held-out scores of every ridge shift, for many small folds, from one factorisation.

With the eigendecomposition ``K = Q diag(lam) Q'`` of the Gram matrix of all samples, ``N`` the
weight of a training part and ``P`` the projector on the complement of Q and the constant vector,
the held-out residual z of a fold f solves

    E_ff z = (E T)_f,    E = P + Q diag(N s / (lam + N s)) Q',

and the scores are ``T_f - z``, intercept included. The weights that are fitted on the other
samples have coordinates ``diag(1 / (lam + N s)) (Q'T - Q_f'z)``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.heldout import Fold, FoldBlock, Shifted
from eigenlabel.linalg.numerics import BLOCK_BYTES
from eigenlabel.linalg.solvers.shifted import SAFE


def prefers_one_factorisation(p: int, n: int, folds: Sequence[Fold], n_shifts: int) -> bool:
    """Return whether one factorisation of all samples takes less time than one for each fold.

    Operation counts are compared. Half of a tridiagonal reduction is rank-two updates, which run at
    a fraction of the speed of matrix products.
    """
    sizes = np.array([len(test) for _, test in folds], dtype=float)
    by_fold = 4 * (4 / 3) * float((np.minimum(n - sizes, p) ** 3).sum())
    at_once = 9.0 * p**3 + 2.0 * n_shifts * float((sizes**2).sum()) * p + 2.0 * n * p * p
    return at_once < by_fold


@dataclass(frozen=True)
class SmallFolds(FoldBlock):
    """Folds of one size and one training weight, from the factorisation of all samples."""

    rows: Ints  # (folds, size)
    shifts: Sequence[float]
    total: float  # weight of each training part
    lam: Floats  # (t,)
    Q: Floats  # (folds, size, t), rows of the eigenvectors
    QtT: Floats  # (t, m)
    P: Floats  # (folds, size, size), projector on the complement
    PT: Floats  # (folds, size, m)
    T: Floats  # (folds, size, m), scaled
    root: Floats  # (folds, size)

    def _residuals(self, i: int) -> Floats:
        shift = self.total * self.shifts[i]
        if np.isinf(shift):
            keep = np.ones_like(self.lam)
        elif shift > SAFE * (self.lam[-1] if self.lam.size else 0.0):
            keep = shift / (self.lam + shift)
        else:
            return self._small_shift_residuals(shift)
        Qk = self.Q * keep
        E = self.P + Qk @ np.swapaxes(self.Q, 1, 2)
        return np.asarray(np.linalg.solve(E, self.PT + Qk @ self.QtT))

    def _small_shift_residuals(self, shift: float) -> Floats:
        """Solve ``(P + s R) z = P T + s R T`` with R = Q diag(1 / (lam + s)) Q', for s down to 0.

        Both sides shrink with s on the null space of P. The rows of that space are divided by s.
        """
        QD = self.Q / (self.lam + shift)
        R, RT = QD @ np.swapaxes(self.Q, 1, 2), QD @ self.QtT
        p, U = np.linalg.eigh(self.P)
        big = p > SAFE
        scale = np.where(big, shift, 1.0)[..., None]
        Ut = np.swapaxes(U, 1, 2)
        E = scale * (Ut @ R @ U)
        E += np.where(big, p, 0.0)[..., None] * np.eye(p.shape[1])
        right = scale * (Ut @ RT) + big[..., None] * (Ut @ self.PT)
        return np.asarray(U @ np.linalg.solve(E, right))

    def shifted(self, indices: Sequence[int]) -> list[Shifted]:
        """Return the scores of some shifts; each is a small solve for each fold."""
        found = []
        for i in indices:
            z = self._residuals(i)
            scores = (self.T - z) / self.root[..., None]
            found.append(Shifted(i, np.swapaxes(scores, 1, 2), z))
        return found

    def _inverse(self, i: int) -> Floats:
        if np.isinf(self.shifts[i]):
            return np.full_like(self.lam, 1 / self.total)
        return 1 / (self.lam + self.total * self.shifts[i])

    def inner(self, a: Shifted, b: Shifted) -> Floats:
        """Return the inner products of two shifts from their residuals."""
        za, zb = a.products, b.products
        d = self._inverse(a.index) * self.lam * self._inverse(b.index)
        Qd = self.Q * d
        B = Qd @ self.QtT  # (folds, size, m)
        zat = np.swapaxes(za, 1, 2)
        QdQ = Qd @ np.swapaxes(self.Q, 1, 2)
        whole = self.QtT.T @ (d[:, None] * self.QtT)
        return np.asarray(whole - np.swapaxes(B, 1, 2) @ zb - zat @ B + zat @ (QdQ @ zb))


def small_folds(
    basis: tuple[Floats, Floats],
    weights: Floats | None,
    T: Floats,
    folds: Sequence[Fold],
    shifts: Sequence[float],
    centre: bool,
) -> list[SmallFolds]:
    """Group folds by size and training weight, from one factorisation of all samples.

    Parameters
    ----------
    basis : eigenvectors (n, t) and eigenvalues (t,) of the scaled, centred Gram matrix
    weights : (n,) sample weights or None
    T : (n, m) targets
    folds : a partition of the samples
    shifts : shifts that will be evaluated
    centre : whether there is an intercept
    """
    Q, lam = basis
    n = T.shape[0]
    root = np.ones(n) if weights is None else np.sqrt(weights)
    v = root / np.linalg.norm(root) if centre else np.zeros(n)
    Ts = root[:, None] * T
    QtT = Q.T @ Ts
    PT = Ts - np.outer(v, v @ Ts) - Q @ QtT
    total = float((root**2).sum())
    groups: dict[tuple[int, float], list[Ints]] = {}
    for _, test in folds:
        rest = total - float((root[test] ** 2).sum())
        groups.setdefault((len(test), rest), []).append(test)
    blocks = []
    for (size, rest), tests in groups.items():
        # Eigenvector rows, and the inner products of all pairs, are bounded each.
        room = BLOCK_BYTES // 8
        pairs = 2 * len(shifts) * T.shape[1] ** 2
        step = max(1, min(room // max(1, size * Q.shape[1]), room // pairs))
        for start in range(0, len(tests), step):
            rows = np.stack(tests[start : start + step])
            q, vf = Q[rows], v[rows]
            P = np.eye(size) - vf[:, :, None] * vf[:, None, :] - q @ np.swapaxes(q, 1, 2)
            blocks.append(
                SmallFolds(rows, shifts, rest, lam, q, QtT, P, PT[rows], Ts[rows], root[rows])
            )
    return blocks
