"""Exact held-out scores of every ridge shift, fold by fold.

The training part of each fold is reduced once (``linalg.solvers.shifted``), and every shift is a
tridiagonal solve. For many small folds, ``linalg.small_folds`` is faster. Factors that iterate
solve each fold for all shifts at once (``linalg.factors.folds``).
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
from eigenlabel.linalg.operators import CentredOperator, weighted_mean
from eigenlabel.linalg.solvers.shifted import ReducedSystem
from eigenlabel.linalg.statistics import Statistics, leave_out, left_out

Fold = tuple[Ints | None, Ints]  # training rows (None: all other rows), test rows
Pairs = Sequence[tuple[int, int]]
# Square arrays, of the smaller side of X, that exist at once while folds are reduced, in addition
# to the rotated rows of all folds. Measured by benchmarks/bench_memory.py.
TUNING_ARRAYS = 7
COLUMNS = 256  # columns of coefficients whose scores are predicted at once


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
    """One fold whose training part is reduced to tridiagonal form."""

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
    """Reduce a training part that is given by its statistics; 4 d^3 / 3.

    The products of the statistics are overwritten. If the scores of all shifts take less memory
    than the test rows and the rotation, they are computed here and the others are not kept.

    Parameters
    ----------
    statistics : statistics of the training rows
    tested : test rows, about the origin of the statistics
    test : (size,) positions of the test rows
    shifts : shifts that will be evaluated
    centre : whether there is an intercept
    tolerance : relative rank tolerance
    pairs : pairs of shifts that will be evaluated, if known
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
    """Return the function from rotated coefficients to scores of ``tested`` less the offset.

    If ``by_rows``, the rows themselves are rotated, and the rotation, which is larger, is dropped.
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
    """Return how many square arrays, of the smaller side of X, held-out scores need at most.

    Each fold keeps its rotated test rows, or one square array if that is smaller. Samples that are
    in several test parts count each time.
    """
    tested = sum(len(test) for _, test in folds)
    return TUNING_ARRAYS + min(tested / min(n, d), len(folds))


def training_statistics(
    operator: CentredOperator, T: Floats, folds: Sequence[Fold], max_memory: float
) -> Iterator[Statistics]:
    """Yield the statistics of each training part.

    The rows of a partition are read once if the statistics of all its parts fit in memory and
    reading takes a large share of the time. Otherwise they are read about log2(folds) times.
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
class SolvedFold(FoldBlock):
    """One fold that is solved for all shifts: scores and inner products are kept, solutions not."""

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


def training_rows(n: int, fold: Fold) -> Ints:
    """Return the training rows of a fold of n rows."""
    train, test = fold
    if train is not None:
        return train
    keep = np.ones(n, dtype=bool)
    keep[test] = False
    return np.flatnonzero(keep)


def is_partition(n: int, folds: Sequence[Fold]) -> bool:
    """Return whether the test parts partition all n rows and each training part is the rest."""
    if any(train is not None for train, _ in folds):
        return False
    seen = np.concatenate([test for _, test in folds])
    return len(seen) == n and len(np.unique(seen)) == n


def counted(folds: Sequence[Fold], advance: Callable[[int], Any]) -> Iterator[Fold]:
    """Yield one fold after the other, and call ``advance(1)`` after each."""
    for fold in folds:
        yield fold
        advance(1)


def heldout_of_statistics(
    parts: Sequence[Statistics],
    X: Matrix,
    tests: Sequence[Ints],
    shifts: Sequence[float],
    centre: bool,
) -> list[FoldBlock]:
    """Prepare the held-out scores of some rows X from the statistics of folds.

    Parameters
    ----------
    parts : statistics of two or more folds
    X : some or all of the rows that the statistics were collected from
    tests : positions in X of the rows of each fold
    shifts : shifts that will be evaluated
    centre : whether there is an intercept
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
