"""The one rule for ties: values that differ by no more than their rounding errors are equal.

Distances, similarities and criteria are sums, and processors, libraries and memory layouts add in
different orders. A comparison of such sums must not be decided by their last digits. Therefore
every comparison that selects or orders something states a bound on the errors (``Rounding``);
values within that bound are equal, and of equal values the one with the lowest index comes first.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenlabel.core._types import Floats, Ints

SAFETY = 16  # a bound on rounding is this multiple of the precision: sums err by a few units
ACCURACY = 1e-13  # relative error of sums of many numbers in float64


def precision(dtype: Any) -> float:
    """Return the machine precision of a floating-point type, that of float64 for other types."""
    dtype = np.dtype(dtype)
    return float(np.finfo(dtype if dtype.kind == "f" else np.float64).eps)


@dataclass(frozen=True)
class Rounding:
    """A bound on the rounding errors of values v: ``absolute + relative |v|``.

    Attributes
    ----------
    absolute : number, or (rows, 1) if each row of values has a bound of its own
    relative : number
    """

    absolute: Any = 0.0
    relative: float = 0.0

    def at(self, values: Floats) -> Floats:
        """Return the bound for each value; infinite values are exact."""
        size = np.abs(values)
        bound = self.absolute + self.relative * np.where(np.isfinite(size), size, 0.0)
        return np.asarray(np.broadcast_to(bound, size.shape))


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

    Neighbours in the sorted sequence are equal if they differ by at most their tolerance.
    """
    order = np.argsort(values, axis=-1, kind="stable")
    v = np.take_along_axis(values, order, axis=-1)
    slack = np.take_along_axis(np.broadcast_to(tolerance, v.shape), order, axis=-1)
    with np.errstate(invalid="ignore"):  # two infinite values are equal
        above = v[..., 1:] - v[..., :-1] > np.maximum(slack[..., 1:], slack[..., :-1])
    group = np.zeros(v.shape, dtype=np.intp)
    np.cumsum(above, axis=-1, out=group[..., 1:])
    rank = np.empty_like(group)
    np.put_along_axis(rank, order, group, axis=-1)
    return np.asarray(np.argsort(rank, axis=-1, kind="stable"))


def score_slack(scores: Floats) -> Floats:
    """Return what scores may differ by along the last axis and still be equal (..., 1).

    Scores are sums of terms that may be as large as the largest score.
    """
    size = np.abs(np.where(np.isfinite(scores), scores, 0.0))
    share = max(SAFETY * precision(scores.dtype), ACCURACY)
    return np.asarray(share * size.max(axis=-1, keepdims=True, initial=0.0), dtype=float)


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
    return np.asarray(np.argmax(scores >= top - score_slack(scores), axis=-1))
