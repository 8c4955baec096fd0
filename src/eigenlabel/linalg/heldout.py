"""Exact held-out scores of every ridge shift, fold by fold.

The training part of each fold is reduced once (``linalg.solvers.shifted``), and every shift is a
tridiagonal solve. For many small folds, ``linalg.heldout_small_folds`` is faster. Factors that
iterate solve each fold for all shifts at once (``linalg.factors.krylov``).
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from eigenlabel.linalg._types import Floats, Ints, Matrix
from eigenlabel.linalg.factors.solution import Shortfall
from eigenlabel.linalg.gram_matrices import centre_gram, scaled_gram
from eigenlabel.linalg.machine import exact_memory
from eigenlabel.linalg.numerics import EPS
from eigenlabel.linalg.operators import CentredOperator, weighted_mean
from eigenlabel.linalg.solvers.shifted import ReducedSystem
from eigenlabel.linalg.statistics import Statistics, leave_out, left_out

Fold = tuple[Ints | None, Ints]  # training rows (None: all other rows), test rows
Pairs = Sequence[tuple[int, int]]
# Square arrays, of the smaller side of X, that exist at once while folds are reduced, in addition
# to the rotated rows of all folds. Measured by benchmarks/bench_memory.py.
TUNING_ARRAYS = 7
COLUMNS = 2048  # columns of coefficients whose scores are predicted at once
ACCURATE = 1e-11  # relative error of a difference that is accepted
ROTATED = 2**21  # numbers of dense test rows that a fold may keep in rotated coordinates
SETTLED = 2**23  # scores of all shifts that a fold may keep in place of its rotation


@dataclass(frozen=True)
class Shifted:
    """One shift of some folds.

    Attributes
    ----------
    index : position among the shifts
    scores : (folds, m, size) held-out scores; those of shift infinity are training means
    products : what the inner products with other shifts are made of; it depends on the block
    """

    index: int
    scores: Floats
    products: Floats


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
    def shifted(self, indices: Sequence[int]) -> list[Shifted]:
        """Return the scores of some shifts."""

    @abstractmethod
    def inner(self, a: Shifted, b: Shifted) -> Floats:
        """Return the inner products A'B (folds, m, m) of two shifts, the first of them finite.

        For shift infinity the limit of ``s B`` stands for B.
        """

    def inner_products(self, pairs: Sequence[tuple[Shifted, Shifted]]) -> Floats:
        """Return the inner products (pairs, folds, m, m) of several pairs."""
        return np.array([self.inner(a, b) for a, b in pairs])

    def settle(self, F: Floats) -> Floats:
        """Turn combinations of the rows of scores (folds, m, size) into final scores.

        Here the intercepts of combined rows are the combined intercepts, and F is returned.
        """
        return F


@dataclass(frozen=True)
class SingleFold(FoldBlock):
    """One fold whose training part is reduced to tridiagonal form.

    With the rotated right side R and ``G(s) = R'(J + s)^-1 R``, partial fractions turn the inner
    products of two different shifts into differences:

        R'(J + s)^-1 (J + t)^-1 R = (G(s) - G(t)) / (t - s),
        R'(J + s)^-1 J (J + t)^-1 R = (t G(t) - s G(s)) / (t - s).

    Hence m^2 p operations are needed for each shift, and m^2 for each pair. If s is solved without
    some eigenvectors of J, their part of G(t) is left out as well. A difference has the rounding
    errors of its two terms; if these are too large beside it, the pair is multiplied out.
    """

    rows: Ints  # (1, size)
    shifts: Sequence[float]
    total: float
    system: ReducedSystem  # of the right-hand side (p, m)
    mean: Floats  # (m,)
    predict: Callable[[Floats], Floats]  # rotated coefficients (p, k) -> scores (k, size)
    dual: bool  # whether inner products have the metric J

    def shifted(self, indices: Sequence[int]) -> list[Shifted]:
        """Return the scores of some shifts; each is a tridiagonal solve."""
        m = len(self.mean)
        flat = np.broadcast_to(self.mean[None, :, None], (1, m, self.rows.shape[1]))
        found = {i: Shifted(i, flat, np.zeros((1, 0, 0))) for i in indices}
        finite = [i for i in indices if np.isfinite(self.shifts[i])]
        # No more columns than rows, so that they take no more memory than the matrix.
        step = max(1, min(COLUMNS, len(self.system.R)) // max(1, m))
        for start in range(0, len(finite), step):
            some = finite[start : start + step]
            y = self.system.solve([self.total * self.shifts[i] for i in some])  # (p, k, m)
            stacked = y.reshape(len(y), -1)
            scores = self.predict(stacked).reshape(len(some), m, -1)
            scores += self.mean[:, None]
            products = (self.system.R.T @ stacked).reshape(m, len(some), m)
            for k, i in enumerate(some):
                found[i] = Shifted(i, scores[k][None], products[:, k][None])
        return [found[i] for i in indices]

    def inner(self, a: Shifted, b: Shifted) -> Floats:
        """Return the inner products of two shifts, by partial fractions if that is accurate."""
        return np.asarray(self.inner_products([(a, b)])[0])

    def inner_products(self, pairs: Sequence[tuple[Shifted, Shifted]]) -> Floats:
        """Return the inner products (pairs, 1, m, m) of several pairs."""
        s, t = (
            self.total * np.array([self.shifts[pair[side].index] for pair in pairs])
            for side in (0, 1)
        )
        terms = [self._terms(a, b, *at) for (a, b), *at in zip(pairs, s, t, strict=True)]
        left, right, left_out = (np.array([one[side] for one in terms]) for side in range(3))
        width = np.array([one[3] for one in terms])
        # The matrices are positive semi-definite: no entry exceeds the largest of the diagonal.
        error = EPS * (_largest(left) + _largest(right)) / np.abs(width)
        S = (left - right - left_out) / width[:, None, None, None]
        for k in np.flatnonzero(~(error <= ACCURATE * _largest(S))):
            product, own_error = self._multiplied(s[k], t[k])
            if not own_error >= error[k]:
                S[k] = product
        return np.asarray(S)

    def _terms(
        self, a: Shifted, b: Shifted, s: float, t: float
    ) -> tuple[Floats, Floats, Floats, float]:
        """Return two matrices whose difference, divided by the number, is the inner product.

        The third matrix, which is also subtracted, is the part of the directions without which s
        is solved. The number is NaN if the pair must be multiplied out.
        """
        none = np.zeros_like(a.products)
        whole = self.system.is_special(s) and not self.system.leaves_out(s)
        if s == t or whole or self.system.is_special(t):
            return none, none, none, np.nan
        if np.isinf(t):
            if self.dual:
                return self._squares, s * a.products, self._left_out(s, None), self.total
            return a.products, none, none, self.total
        if self.dual:
            return t * b.products, s * a.products, t * self._left_out(s, t), t - s
        return a.products, b.products, -self._left_out(s, t), t - s

    def _left_out(self, s: float, t: float | None) -> Floats:
        """Return ``R'N (J + t)^-1 N'R`` for the eigenvectors N that shift s leaves out.

        Without t it is the limit ``R'N N'R`` of t times that.
        """
        lam, coordinates = self.system.left_out(s)
        scaled = coordinates if t is None else coordinates / (lam + t)[:, None]
        return np.asarray(coordinates.T @ scaled)[None]

    @cached_property
    def _squares(self) -> Floats:
        return np.asarray(self.system.R.T @ self.system.R)[None]

    def _multiplied(self, s: float, t: float) -> tuple[Floats, float]:
        """Multiply two solutions, m^2 p operations; return also a bound on the rounding."""
        left = self.system.solve([s])[:, 0]
        right = self.system.R / self.total if np.isinf(t) else self.system.solve([t])[:, 0]
        sizes = [float(np.linalg.norm(y, axis=0).max(initial=0.0)) for y in (left, right)]
        error = EPS * sizes[0] * sizes[1]
        if self.dual:
            right = self.system.reduction.apply(right)
            error *= float(np.abs(self.system.reduction.diagonal).max(initial=0.0))
        return np.asarray(left.T @ right)[None], error


def _largest(M: Floats) -> Floats:
    """Return the largest entry on the diagonals of matrices (..., folds, m, m)."""
    return np.asarray(np.diagonal(M, axis1=-2, axis2=-1).max(axis=(-2, -1), initial=0.0))


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
        predict=lambda y: y.T @ C,
        dual=True,
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
    than the test rows and the rotation, and at most 64 MiB, they are computed here and the others
    are not kept.

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
    columns = right.shape[1] * len(shifts)
    settle = bool(pairs) and columns <= min(tested.shape) and columns * tested.shape[0] <= SETTLED
    few = tested.shape[0] < tested.shape[1]
    by_rows = not settle and (few or (tested.dense and math.prod(tested.shape) <= ROTATED))
    fold = SingleFold(
        rows=test[None],
        shifts=shifts,
        total=statistics.n,
        system=system,
        mean=statistics.t if centre else np.zeros(right.shape[1]),
        predict=_predictor(system, tested, statistics.x if centre else None, by_rows),
        dual=False,
    )
    if not settle:
        return fold
    solved = fold.shifted(range(len(shifts)))
    products = {(i, j): fold.inner(solved[i], solved[j]) for i, j in pairs}
    return SolvedFold(fold.rows, [each.scores for each in solved], products)


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
            scores = scores if offset is None else scores - offset @ U
            return np.ascontiguousarray(scores.T)

        return predict
    rows = tested.toarray().T  # (d, size)
    if offset is not None:
        rows -= offset[:, None]
    C = system.reduction.rotate(rows)
    system.drop_rotation()
    return lambda y: np.asarray(y.T @ C)


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
    if n > d and exact_memory(d, stored) <= max_memory:
        return left_out([collect(k, k + 1) for k in range(len(folds))])
    return leave_out(collect, len(folds))


@dataclass(frozen=True)
class SolvedFold(FoldBlock):
    """One fold that is solved for all shifts: scores and inner products are kept, solutions not."""

    rows: Ints  # (1, size)
    scores: Sequence[Floats]  # of each shift, (1, m, size)
    products: dict[tuple[int, int], Floats]  # pair of shifts -> (1, m, m)
    shortfall: Shortfall | None = field(default=None, kw_only=True)

    def shifted(self, indices: Sequence[int]) -> list[Shifted]:
        """Return the scores that were computed in advance."""
        return [Shifted(i, self.scores[i], np.zeros((1, 0, 0))) for i in indices]

    def inner(self, a: Shifted, b: Shifted) -> Floats:
        """Return the inner products that were computed in advance."""
        return self.products[a.index, b.index]


@dataclass(frozen=True)
class MaskedFold(SolvedFold):
    """One solved fold of targets that are observed on different samples.

    Behind the scores of the test samples stand the mean scores on the samples of each pattern.
    """

    mean: Floats  # (m,)
    pattern: Ints  # (m,)

    def settle(self, F: Floats) -> Floats:
        """Turn combined scores (1, m, size + patterns) into (1, m, size), intercepts included.

        A combination of weights has a different mean score on the samples of each target, and the
        intercept of a target makes the residuals on its own samples sum to zero.
        """
        size = self.rows.shape[1]
        offsets = F[:, np.arange(len(self.pattern)), size + self.pattern]
        return np.asarray(F[..., :size] + (self.mean - offsets)[..., None])


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


def sort_by_fold(folds: Sequence[Fold], n: int) -> tuple[Ints, list[Fold]]:
    """Return the order of n rows by the fold that tests them, and the folds of rows in that order.

    If the test parts are not a partition, the order is that of the rows.
    """
    if not is_partition(n, folds):
        return np.arange(n), list(folds)
    order = np.concatenate([test for _, test in folds])
    ends = np.cumsum([len(test) for _, test in folds])
    return order, [(None, part) for part in np.split(np.arange(n), ends[:-1])]


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
