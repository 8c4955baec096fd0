"""The one rule for ties: values that differ by no more than their rounding errors are equal.

Distances, similarities and criteria are sums, and processors, libraries and memory layouts add in
different orders. A comparison of such sums must not be decided by their last digits. Therefore
every comparison that selects or orders something states a bound on the errors (``Rounding``);
values within that bound are equal, and of equal values the one with the lowest index comes first.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenlabel.linalg._types import Floats, Ints

UNITS = 4  # scores that differ by this many units of their precision are equal
SAFETY = 16  # a bound on rounding is this multiple of the precision: sums err by a few units
ACCURACY = 1e-13  # relative error of sums of many numbers in float64
WEIGHED = 1e-12  # relative error of a figure that is made of several sums of weights


def precision(dtype: Any) -> float:
    """Return the machine precision of a floating-point type, that of float64 for other types."""
    dtype = np.dtype(dtype)
    return float(np.finfo(dtype if dtype.kind == "f" else np.float64).eps)


@dataclass(frozen=True)
class Rounding:
    """A bound on the rounding errors of values v: ``absolute + relative |v| + root |v|^(1/2)``.

    Attributes
    ----------
    absolute : number, or (rows, 1) if each row of values has a bound of its own
    relative : number
    root : as absolute; not zero if values are squares of numbers that have absolute errors
    """

    absolute: Any = 0.0
    relative: float = 0.0
    root: Any = 0.0

    def at(self, values: Floats) -> Floats:
        """Return the bound for each value; infinite values are exact."""
        size = np.abs(np.where(np.isfinite(values), values, 0.0))
        bound = self.absolute + self.relative * size + self.root * np.sqrt(size)
        return np.asarray(np.broadcast_to(bound, size.shape))

    def some(self, rows: Ints) -> "Rounding":
        """Return the bound for some rows of the values."""
        absolute, root = (one[rows] if np.ndim(one) else one for one in (self.absolute, self.root))
        return replace(self, absolute=absolute, root=root)


def nearest(D: Floats, k: int, rounding: Rounding) -> Ints:
    """Return the k smallest columns of each row (rows, k), in ascending order of index.

    Columns that are as far as the k-th smallest one, up to rounding, are taken in order of index.
    Only rows that have more such columns than needed are looked at again.
    """
    if k >= D.shape[1]:
        return np.tile(np.arange(D.shape[1]), (len(D), 1))
    if k < 1:
        return np.empty((len(D), 0), dtype=np.intp)
    found = np.argpartition(D, k - 1, axis=1)[:, :k]
    limit = np.take_along_axis(D, found, axis=1).max(axis=1, keepdims=True)
    slack = rounding.at(limit)
    tied = np.flatnonzero((limit + slack >= D).sum(axis=1) > k)
    if len(tied):
        found[tied] = _first_nearest(D[tied], limit[tied], slack[tied], k)
    return np.sort(found, axis=1)


def _first_nearest(D: Floats, limit: Floats, slack: Floats, k: int) -> Ints:
    """Return the k smallest columns; of those within the slack of the limit, the first ones."""
    near = limit - slack > D
    edge = (limit + slack >= D) & ~near
    room = k - near.sum(axis=1, keepdims=True)
    chosen = near | (edge & (np.cumsum(edge, axis=1, dtype=np.int32) <= room))
    return np.nonzero(chosen)[1].reshape(len(D), k)


def nearest_first(D: Floats, k: int, rounding: Rounding) -> Ints:
    """Return the k smallest columns of each row, ascending; equal ones in order of index."""
    found = nearest(D, k, rounding)
    values = np.take_along_axis(D, found, axis=1)
    return np.take_along_axis(found, tied_order(values, rounding.at(values)), axis=1)


def tied_order(values: Floats, tolerance: Any) -> Ints:
    """Return the order that sorts the last axis, equal values in order of index.

    Values are equal if they are in one group of ``same_as_next``, where two neighbours may differ
    by the larger one of their tolerances.
    """
    order = np.argsort(values, axis=-1, kind="stable")
    v = np.take_along_axis(values, order, axis=-1)
    slack = np.take_along_axis(np.broadcast_to(tolerance, v.shape), order, axis=-1)
    group = np.zeros(v.shape, dtype=np.intp)
    same = same_as_next(v, np.maximum(slack[..., 1:], slack[..., :-1]))
    np.cumsum(~same, axis=-1, out=group[..., 1:])
    rank = np.empty_like(group)
    np.put_along_axis(rank, order, group, axis=-1)
    return np.asarray(np.argsort(rank, axis=-1, kind="stable"))


def same_as_next(ordered: Floats, slack: Floats) -> Any:
    """Return where monotonic values (..., n) are equal to the next one (..., n - 1).

    ``slack`` is what two neighbours may differ by. Equal values form groups, and no group is wider
    than the slack: a long sequence of close values is cut into groups of that width.
    """
    with np.errstate(invalid="ignore", over="ignore"):  # two infinite values are equal
        gap = np.abs(ordered[..., 1:] - ordered[..., :-1])
        same = ~(gap > slack)
    if not (same[..., 1:] & same[..., :-1]).any():  # no group of more than two
        return same
    width = np.zeros(ordered.shape)
    np.divide(gap, slack, out=width[..., 1:], where=same & (gap > 0))
    np.cumsum(width, axis=-1, out=width)
    start = np.zeros(ordered.shape)
    np.multiply(width[..., 1:], ~same, out=start[..., 1:])
    width -= np.maximum.accumulate(start, axis=-1)  # from the start of each sequence
    part = np.maximum(np.ceil(width), 1.0)
    return same & (part[..., 1:] == part[..., :-1])


def score_share(dtype: Any) -> float:
    """Return the relative error of scores: float64 has digits to spare, float32 has none."""
    return max(UNITS * precision(dtype), ACCURACY)


def score_rounding(scores: Floats) -> Rounding:
    """Return the bound on rounding of scores along the last axis.

    Scores are sums whose terms are about as large as the score or, near zero, as the median score.
    The largest score says nothing about the errors of the others.
    """
    share = score_share(scores.dtype)
    size = np.abs(np.where(np.isfinite(scores), scores, 0.0))
    typical = np.median(size, axis=-1, keepdims=True) if size.shape[-1] else 0.0
    return Rounding(share * np.asarray(typical, dtype=float), share)


def finite_size(values: Floats) -> Floats:
    """Return absolute values, and zero for infinite ones."""
    return np.abs(np.where(np.isfinite(values), values, 0.0))


def typical_size(ordered: Floats) -> Floats:
    """Return the larger absolute quartile (...,) of sorted scores (..., n)."""
    n = ordered.shape[-1]
    return finite_size(ordered[..., [n // 4, 3 * n // 4]]).max(axis=-1) if n else np.zeros(())


def same_scores(ordered: Floats, share: float | None = None) -> Any:
    """Return where descending scores (..., n) equal the next one (..., n - 1), up to rounding.

    A threshold between two such scores would decide by their last digits. The bound is that of
    ``score_rounding``, but with the larger quartile, which is known for sorted scores. ``share``
    is the relative error of the scores, by default that of their type.
    """
    size = finite_size(ordered)
    slack = np.maximum(size[..., 1:], size[..., :-1])
    slack += typical_size(ordered)[..., None]
    slack *= score_share(ordered.dtype) if share is None else share
    return same_as_next(ordered, slack)


def first_largest(values: Floats) -> Ints:
    """Return the first index along the first axis whose value is the largest, up to rounding.

    NaN never is; the index is 0 where all values are NaN.
    """
    some = np.where(np.isnan(values), -np.inf, values)
    top = some.max(axis=0)
    slack = ACCURACY * np.where(np.isfinite(top), np.abs(top), 0.0)
    return np.asarray(np.argmax(some >= top - slack, axis=0))


def first_highest(scores: Floats) -> Ints:
    """Return the first index along the last axis whose score is the highest, up to rounding."""
    top = scores.max(axis=-1, keepdims=True)
    return np.asarray(np.argmax(scores >= top - score_rounding(scores).at(top), axis=-1))
