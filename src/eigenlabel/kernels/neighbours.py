"""Nearest neighbours: of one matrix of distances at a time, and by the distances of several views.

All methods find neighbours here, so that one rule decides about ties: distances that differ by no
more than rounding are equal, and of equal ones the lowest index comes first.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.ties import Rounding, nearest, nearest_first, tied_order

Chooser = Callable[[Floats, int, Sequence[Rounding]], Ints]


def exclude_self(D: Floats, rows: slice) -> None:
    """Set the distances (..., rows, n) of training samples to themselves to infinity, in place."""
    own = np.arange(rows.stop - rows.start)
    D[..., own, rows.start + own] = np.inf


def nearest_in_strips(
    distances: Callable[[slice], Floats],
    rounding: Callable[[slice], Rounding],
    strips: Iterable[slice],
    k: int,
    *,
    training: bool = False,
) -> Iterator[tuple[Floats, Ints]]:
    """Yield the distances of a strip of samples and their k nearest columns, by index.

    Parameters
    ----------
    distances : callable
        Returns the distances (rows, n) of some rows as a new array; they are modified.
    rounding : callable
        Returns the bound on the rounding errors of the distances of some rows.
    strips : iterable of slice
        The rows of each strip.
    k : int
        The number of neighbours.
    training : bool
        Whether sample i is column i, which is not a neighbour of itself.
    """
    for rows in strips:
        D = distances(rows)
        if training:
            exclude_self(D, rows)
        yield D, nearest(D, k, rounding(rows))


@dataclass(frozen=True)
class Neighbours:
    """The nearest training samples of some samples, nearest first.

    Attributes
    ----------
    index : (n_samples, k) array of int
        The training samples.
    there : (n_samples, k) array of bool
        False where a sample has fewer neighbours.
    distances : (n_views, n_samples, k) array
        The scaled distances; zero where there is no neighbour.
    """

    index: Ints
    there: Bools
    distances: Floats

    def __getitem__(self, rows: Bools) -> "Neighbours":
        """Return the neighbours of some samples."""
        return Neighbours(self.index[rows], self.there[rows], self.distances[:, rows])

    @property
    def some(self) -> Bools:
        """Which samples have a neighbour (n_samples,)."""
        return np.asarray(self.there.any(axis=1))


def mean_over_views(D: Floats) -> Floats:
    """Return the mean of distances (views, samples, n) over the views that have both samples.

    NaN marks a view in which one of them is missing. The mean is infinite if no view has both.
    """
    if len(D) == 1:
        return np.asarray(np.where(np.isnan(D[0]), np.inf, D[0]))
    missing = np.isnan(D)
    if not missing.any():
        return np.asarray(D.mean(axis=0))
    counts = (~missing).sum(axis=0)
    total = np.where(missing, 0.0, D).sum(axis=0)
    return np.asarray(np.where(counts > 0, total / np.maximum(counts, 1), np.inf))


def rounding_of_mean(roundings: Sequence[Rounding]) -> Rounding:
    """Return the bound for the mean over any of the views: the largest one."""
    absolute, root = (
        np.maximum.reduce(np.broadcast_arrays(*(getattr(one, name) for one in roundings)))
        for name in ("absolute", "root")
    )
    return Rounding(absolute, max(one.relative for one in roundings), root)


def nearest_by_mean(D: Floats, k: int, roundings: Sequence[Rounding]) -> Ints:
    """Return the neighbours (samples, k) by the mean distance of the views, nearest first."""
    return nearest_first(mean_over_views(D), k, rounding_of_mean(roundings))


def nearest_by_rank(D: Floats, k: int, roundings: Sequence[Rounding]) -> Ints:
    """Return k samples that are among the nearest in some view, ordered by the mean distance.

    The first neighbours of all views are chosen before the second ones, and so on. Pairs that are
    infinitely far in some view are left out.
    """
    mean = mean_over_views(D)
    far = np.where(np.isnan(D) | np.isinf(mean), np.inf, D)
    ranked = np.stack(
        [nearest_first(view, k, one) for view, one in zip(far, roundings, strict=True)], axis=2
    )  # (samples, k, views)
    finite = np.take_along_axis(np.moveaxis(far, 0, 2), ranked, axis=1) < np.inf
    found = np.empty((D.shape[1], k), dtype=np.intp)
    for i, (row, usable) in enumerate(zip(ranked, finite, strict=True)):
        line = np.concatenate([row[usable], row[~usable]])  # row-major: by rank, then view
        _, first = np.unique(line, return_index=True)
        found[i] = np.sort(line[np.sort(first)[:k]])
    values = np.take_along_axis(mean, found, axis=1)
    order = tied_order(values, rounding_of_mean(roundings).at(values))
    return np.asarray(np.take_along_axis(found, order, axis=1))
