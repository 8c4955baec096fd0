"""Exact held-out scores of ML-LS, of samples and of streams."""

import numpy as np

from eigenlabel.estimators.base import Training
from eigenlabel.estimators.heldout_by_refitting import calibration_folds
from eigenlabel.estimators.subspace.solve import Point
from eigenlabel.estimators.subspace.stream import Stream
from eigenlabel.estimators.subspace.tuning import Grid, GridScores
from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.factors.base import SampleFactor
from eigenlabel.linalg.heldout import Fold, heldout_of_statistics, sort_by_fold
from eigenlabel.model_selection.scorers import Truth


def single(point: Point) -> Grid:
    """Return the grid of one point."""
    alpha, beta, r = point
    return Grid(np.array([alpha], dtype=float), np.array([beta], dtype=float), [r])


def default_folds(data: Training) -> list[Fold]:
    """Return the folds of a calibration, with positions among the samples of positive weight."""
    tests = calibration_folds(data.Y, data.used)
    return [(None, np.searchsorted(data.used, test)) for test in tests]


def exact_scores(
    some: SampleFactor, data: Training, folds: list[Fold], point: Point, limit: float
) -> Floats:
    """Return the held-out scores (n, m) of one point, NaN for samples of weight zero.

    They are those of a fit to each training part, at the cost of one reduction per fold.

    Parameters
    ----------
    some : SampleFactor
        The samples of positive weight.
    data : Training
        All samples.
    folds : list of Fold
        The folds of the samples of positive weight.
    point : tuple
        The values of alpha, beta and r.
    limit : float
        A bound in bytes on the arrays that exist at once.
    """
    order, sorted_folds = sort_by_fold(folds, len(data.used))
    rows = data.used[order]
    truth = Truth.of(data.Y, data.weights, data.observed, rows, sorted_folds)
    grid = single(point)
    targets = data.targets[data.used]
    blocks = some.heldout(targets, folds, grid.shifts, grid.shift_pairs, limit, lambda _: None)
    out = np.full(data.Y.shape, np.nan)
    out[rows] = GridScores(blocks, grid, truth, order, limit).at(0).T
    return out


def stream_scores(stream: Stream, grid: Grid, centre: bool) -> tuple[GridScores, Truth]:
    """Return the held-out scores of the rows that a stream keeps, and the truth about them.

    ValueError is raised if all samples belong to one fold.
    """
    kept, fold = stream.sample.blocks[0], stream.sample.folds[0]
    parts = [(k, a.total) for k, a in enumerate(stream.folds)]
    filled = {k: total for k, total in parts if total is not None and total.n > 0}
    if len(filled) < 2:
        raise ValueError(f"{len(fold)} samples are too few to tune on, or to calibrate with.")
    folds: list[Fold] = [(None, np.flatnonzero(fold == k)) for k in filled]
    truth = Truth.of(kept.Y, kept.weights, None, np.arange(len(fold)), folds)
    tests = [test for _, test in folds]
    blocks = heldout_of_statistics(list(filled.values()), kept.X, tests, grid.shifts, centre)
    return GridScores(blocks, grid, truth), truth
