"""Exact held-out scores of every ridge shift, and what the shared subspace needs of each fold.

Two ways to the same numbers, chosen by their cost:

* *fold by fold*: the training part of each fold is reduced once
  (``linalg.solvers.shifted.reduce``) and every shift is a tridiagonal solve;
* *from one factorisation*, for many small folds and leave-one-out: with ``K = Q diag(lam) Q'`` on
  all samples, ``N`` the weight of the training part and ``P`` the projector on what neither Q nor
  the constant vector spans, the held-out residual z of a fold f solves

      E_ff z = (E T)_f,    E = P + Q diag(N s / (lam + N s)) Q',

  and the scores are ``T_f - z``, intercept included. The weights fitted on the rest have
  coordinates ``diag(1 / (lam + N s)) (Q'T - Q_f'z)``.

Where no factor fits in memory, each fold is solved for all shifts at once by its own products.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eigenlabel.linalg._types import Floats, Ints, Matrix
from eigenlabel.linalg.factors.solution import Shortfall
from eigenlabel.linalg.gram_matrices import centre_gram, scaled_gram
from eigenlabel.linalg.memory import exact_memory
from eigenlabel.linalg.numerics import BLOCK_BYTES
from eigenlabel.linalg.operators import CentredOperator, weighted_mean
from eigenlabel.linalg.solvers.shifted import SAFE, ReducedSystem
from eigenlabel.linalg.statistics import Statistics, leave_out, left_out

Fold = tuple[Ints | None, Ints]  # training rows (None: all the others), test rows
Pairs = Sequence[tuple[int, int]]
# Square arrays of the smaller side of X that exist at once while folds are reduced, beside the
# rotated rows of all folds. Measured by benchmarks/bench_memory.py.
TUNING_ARRAYS = 7
COLUMNS = 256  # of coefficients whose scores are predicted at once


class FoldBlock(ABC):
    """Some folds of equal size, whose training parts are prepared for all shifts.

    Attributes
    ----------
    rows : (folds, size) test rows
    shortfall : accuracy that an iterative solver missed, or None
    """

    rows: Ints
    shortfall: Shortfall | None = None

    @abstractmethod
    def evaluate(self, pairs: Pairs) -> tuple[dict[int, Floats], Floats]:
        """Return the scores of all shifts in some pairs, and the inner products of the pairs.

        Returns
        -------
        scores : shift index -> (folds, size, m); shift infinity is the mean of training targets
        inner : (len(pairs), folds, m, m), A'B; for shift infinity the limit of ``s B`` stands for B
        """

    def settle(self, F: Floats) -> Floats:
        """Turn combinations of the columns of scores into final scores with intercepts.

        Here the intercepts of combined columns are the combined intercepts, and F is returned.
        """
        return F


@dataclass(frozen=True)
class SingleFold(FoldBlock):
    """One fold, its training part reduced."""

    rows: Ints  # (1, size)
    shifts: Sequence[float]
    total: float
    system: ReducedSystem  # of the right-hand side (p, m)
    mean: Floats  # (m,)
    predict: Callable[[Floats], Floats]  # rotated coefficients (p, k) -> scores (size, k)
    metric: Callable[[Floats], Floats]  # b -> M b with a'M b = A'B, all rotated

    def _solve(self, i: int) -> Floats:
        y = self.system.solve(self.total * self.shifts[i])
        return y / self.total if np.isinf(self.shifts[i]) else y

    def evaluate(self, pairs: Pairs) -> tuple[dict[int, Floats], Floats]:
        """Return scores and inner products; each shift is a tridiagonal solve."""
        solved = {i: self._solve(i) for i in sorted({i for pair in pairs for i in pair})}
        finite = [i for i in solved if np.isfinite(self.shifts[i])]
        flat = np.broadcast_to(self.mean, (1, self.rows.shape[1], len(self.mean)))
        scores = dict.fromkeys(solved, flat)
        step = max(1, COLUMNS // max(1, len(self.mean)))
        for start in range(0, len(finite), step):
            some = finite[start : start + step]
            stacked = self.predict(np.hstack([solved[i] for i in some]))
            for i, part in zip(some, np.split(stacked, len(some), axis=1), strict=True):
                scores[i] = (part + self.mean)[None]
        images = {j: self.metric(solved[j]) for j in {j for _, j in pairs}}
        return scores, np.stack([(solved[i].T @ images[j])[None] for i, j in pairs])


def gram_fold(
    K: Floats,
    weights: Floats | None,
    T: Floats,
    fold: Fold,
    shifts: Sequence[float],
    centre: bool,
    tolerance: float,
) -> SingleFold:
    """Reduce the training part of a fold of samples with Gram matrix K; 4 n^3 / 3."""
    train, test = training_rows(T.shape[0], fold), fold[1]
    weights = None if weights is None else weights[train]
    root = None if weights is None else np.sqrt(weights)
    own, cross = K[np.ix_(train, train)], K[np.ix_(train, test)]
    mean = np.zeros(T.shape[1])
    if centre:
        own, row_mean = centre_gram(own, weights, overwrite=True)
        cross -= row_mean[:, None]
        mean = weighted_mean(T[train], weights)
    right = T[train] - mean
    if root is not None:
        right, cross = root[:, None] * right, root[:, None] * cross
    total = float(len(train)) if weights is None else float(weights.sum())
    M = scaled_gram(own, root, centre, overwrite=True)
    system = ReducedSystem(M, right, [total * s for s in shifts], tolerance, overwrite=True)
    C = system.reduction.rotate(cross)
    system.drop_rotation()
    return SingleFold(
        rows=test[None],
        shifts=shifts,
        total=total,
        system=system,
        mean=mean,
        predict=lambda y: C.T @ y,
        metric=system.reduction.apply,
    )


def covariance_fold(
    statistics: Statistics,
    tested: CentredOperator,
    test: Ints,
    shifts: Sequence[float],
    centre: bool,
    tolerance: float,
    pairs: Pairs = (),
) -> "SingleFold | SolvedFold":
    """Reduce a training part given by its statistics; ``tested`` is about their origin.

    The products of the statistics are overwritten. If the scores of all shifts are smaller than
    the rows and the rotation, they are computed at once, and neither of these stays.
    """
    M, right = statistics.products(centre)
    system = ReducedSystem(M, right, [statistics.n * s for s in shifts], tolerance, overwrite=True)
    settle = bool(pairs) and right.shape[1] * len(shifts) <= min(tested.shape)
    by_rows = not settle and tested.shape[0] < tested.shape[1]
    fold = SingleFold(
        rows=test[None],
        shifts=shifts,
        total=statistics.n,
        system=system,
        mean=statistics.t if centre else np.zeros(right.shape[1]),
        predict=_predictor(system, tested, statistics.x if centre else None, by_rows),
        metric=lambda b: b,
    )
    if not settle:
        return fold
    scores, inner = fold.evaluate(pairs)
    return SolvedFold(fold.rows, scores, dict(zip(pairs, inner, strict=True)))


def _predictor(
    system: ReducedSystem, tested: CentredOperator, offset: Floats | None, by_rows: bool
) -> Callable[[Floats], Floats]:
    """Return the function from rotated coefficients to scores of ``tested``, less the offset.

    ``by_rows`` rotates the rows themselves and drops the rotation, which is larger.
    """
    if not by_rows:

        def predict(y: Floats) -> Floats:
            U = system.reduction.restore(y)
            scores = tested.matmat(U)
            return scores if offset is None else scores - offset @ U

        return predict
    rows = tested.rmatmat(np.eye(tested.shape[0]))  # (d, size)
    if offset is not None:
        rows -= offset[:, None]
    C = system.reduction.rotate(rows)
    system.drop_rotation()
    return lambda y: np.asarray(C.T @ y)


def tuning_arrays(n: int, d: int, folds: Sequence[Fold]) -> float:
    """Return how many square arrays, of the smaller side of X, :func:`heldout` holds at most.

    Each fold keeps its rotated test rows, or one square array if that is smaller. Samples that
    several folds test count each time.
    """
    tested = sum(len(test) for _, test in folds)
    return TUNING_ARRAYS + min(tested / min(n, d), len(folds))


def training_statistics(
    operator: CentredOperator, T: Floats, folds: Sequence[Fold], max_memory: float
) -> Iterator[Statistics]:
    """Collect the statistics of each training part.

    The rows of a partition are read once if the statistics of all its parts fit in memory and
    reading them takes a large share of the time; else about log2(folds) times.
    """
    n, d = operator.shape
    if not is_partition(n, folds):
        parts_of = (training_rows(n, fold) for fold in folds)
        return (Statistics.of(operator.rows(train, copy=False), T[train]) for train in parts_of)
    tests = [test for _, test in folds]

    def collect(start: int, stop: int) -> Statistics:
        rows = np.sort(np.concatenate(tests[start:stop]))
        return Statistics.of(operator.rows(rows, copy=False), T[rows])

    stored = tuning_arrays(n, d, folds) + len(folds)
    if n > 2 * d and exact_memory(d, stored) <= max_memory:
        return left_out([collect(k, k + 1) for k in range(len(folds))])
    return leave_out(collect, len(folds))


@dataclass(frozen=True)
class SmallFolds(FoldBlock):
    """Folds of one size and one training weight, from the factorisation of all samples."""

    rows: Ints  # (folds, size)
    shifts: Sequence[float]
    total: float  # weight of each training part
    lam: Floats  # (t,)
    Q: Floats  # (folds, size, t), rows of the eigenvectors
    QtT: Floats  # (t, m)
    P: Floats  # (folds, size, size), the complement's projector
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
        """Solve ``(P + s R) z = P T + s R T``, R = Q diag(1 / (lam + s)) Q', for s down to 0.

        On the null space of P both sides shrink with s: its rows are divided by it.
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

    def evaluate(self, pairs: Pairs) -> tuple[dict[int, Floats], Floats]:
        """Return scores and inner products; each shift is a small solve for each fold."""
        solved = {i: self._residuals(i) for i in sorted({i for pair in pairs for i in pair})}
        scores = {i: (self.T - z) / self.root[..., None] for i, z in solved.items()}
        return scores, np.stack([self._inner(i, j, solved[i], solved[j]) for i, j in pairs])

    def _inverse(self, i: int) -> Floats:
        if np.isinf(self.shifts[i]):
            return np.full_like(self.lam, 1 / self.total)
        return 1 / (self.lam + self.total * self.shifts[i])

    def _inner(self, i: int, j: int, za: Floats, zb: Floats) -> Floats:
        d = self._inverse(i) * self.lam * self._inverse(j)
        Qd = self.Q * d
        B = Qd @ self.QtT  # (folds, size, m)
        zat = np.swapaxes(za, 1, 2)
        QdQ = Qd @ np.swapaxes(self.Q, 1, 2)
        whole = self.QtT.T @ (d[:, None] * self.QtT)
        return np.asarray(whole - np.swapaxes(B, 1, 2) @ zb - zat @ B + zat @ (QdQ @ zb))


@dataclass(frozen=True)
class SolvedFold(FoldBlock):
    """One fold, solved for all shifts; what is asked for is kept, the solutions are not."""

    rows: Ints  # (1, size)
    scores: dict[int, Floats]  # shift -> (1, size, m)
    inner: dict[tuple[int, int], Floats]  # pair of shifts -> (1, m, m)
    shortfall: Shortfall | None = field(default=None, kw_only=True)

    def evaluate(self, pairs: Pairs) -> tuple[dict[int, Floats], Floats]:
        """Return the scores and inner products that were computed in advance."""
        scores = {i: self.scores[i] for pair in pairs for i in pair}
        return scores, np.stack([self.inner[pair] for pair in pairs])


@dataclass(frozen=True)
class MaskedFold(SolvedFold):
    """One solved fold of targets that are observed on different samples.

    Below the scores of the test samples stand the mean scores on the samples of each pattern.
    """

    mean: Floats  # (m,)
    pattern: Ints  # (m,)

    def settle(self, F: Floats) -> Floats:
        """Turn combined scores (1, size + patterns, m) into (1, size, m), intercepts included.

        A combination of weights has a different mean score on the samples of each column, and the
        intercept of a column makes the residuals on its own samples sum to zero.
        """
        size = self.rows.shape[1]
        offsets = F[:, size + self.pattern, np.arange(len(self.pattern))]
        return np.asarray(F[:, :size] + (self.mean - offsets)[:, None])


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


def training_rows(n: int, fold: Fold) -> Ints:
    """List the training rows of a fold."""
    train, test = fold
    if train is not None:
        return train
    keep = np.ones(n, dtype=bool)
    keep[test] = False
    return np.flatnonzero(keep)


def is_partition(n: int, folds: Sequence[Fold]) -> bool:
    """Tell whether the test parts split all n rows and each training part is the rest."""
    if any(train is not None for train, _ in folds):
        return False
    seen = np.concatenate([test for _, test in folds])
    return len(seen) == n and len(np.unique(seen)) == n


def prefers_one_factorisation(p: int, n: int, folds: Sequence[Fold], n_shifts: int) -> bool:
    """Compare operation counts; the reduction's rank-two half runs at a fraction of BLAS 3."""
    sizes = np.array([len(test) for _, test in folds], dtype=float)
    by_fold = 4 * (4 / 3) * float((np.minimum(n - sizes, p) ** 3).sum())
    at_once = 9.0 * p**3 + 2.0 * n_shifts * float((sizes**2).sum()) * p + 2.0 * n * p * p
    return at_once < by_fold


def one_by_one(
    prepare: Callable[[Fold], FoldBlock], folds: Sequence[Fold], advance: Callable[[int], Any]
) -> list[FoldBlock]:
    """Prepare one fold after the other."""
    blocks = []
    for fold in folds:
        blocks.append(prepare(fold))
        advance(1)
    return blocks


def heldout_of_statistics(
    parts: Sequence[Statistics],
    X: Matrix,
    tests: Sequence[Ints],
    shifts: Sequence[float],
    centre: bool,
) -> list[FoldBlock]:
    """Prepare held-out scores of some rows X when all that is left of the samples is statistics.

    Parameters
    ----------
    parts : of two or more folds
    X : rows of samples that are in them, all or some
    tests : those of each fold, by position in X
    shifts, centre : as in :func:`heldout`
    """
    tolerance = sum(parts[1:], parts[0]).tolerance

    def about(part: Statistics) -> Floats:
        return part.origin if centre else np.zeros_like(part.origin)

    return [
        covariance_fold(
            part, CentredOperator.about(X[test], about(part)), test, shifts, centre, tolerance
        )
        for part, test in zip(left_out(parts), tests, strict=True)
        if len(test)
    ]
