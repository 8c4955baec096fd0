"""Held-out scores of ML-LS: exact ones of samples and of streams, and refits for many labels."""

from collections.abc import Callable

import numpy as np

from eigenlabel.estimators.base import Training
from eigenlabel.estimators.heldout_by_refitting import FOLDS, calibration_folds, check_enough
from eigenlabel.estimators.subspace.many_labels import SparseTraining
from eigenlabel.estimators.subspace.solve import Point, SubspaceSolution
from eigenlabel.estimators.subspace.stream import Stream
from eigenlabel.estimators.subspace.tuning import Grid, GridScores
from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.factors.base import SampleFactor
from eigenlabel.linalg.heldout import Fold, heldout_of_statistics, sort_by_fold
from eigenlabel.linalg.operators import row_blocks
from eigenlabel.model_selection.scorers import Truth
from eigenlabel.thresholds.calibration import Calibration, Calibrator, class_cells, share_map


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


def calibrate_many(
    data: SparseTraining,
    fit: Callable[[SparseTraining], SubspaceSolution],
    method: str,
    pairwise: bool,
) -> Calibration:
    """Return the calibration of a model of many labels, in bounded memory.

    The model is fitted again without each of five random folds. Labels are too many for folds that
    keep their shares. The held-out scores of some rows exist at once.

    Parameters
    ----------
    data : SparseTraining
        The samples and labels.
    fit : callable
        Returns the solution of a training part.
    method : str
        The kind of maps.
    pairwise : bool
        Whether X is a kernel matrix.
    """
    X, Y, w = data.X, data.Y, data.weights
    rows = np.arange(Y.shape[0]) if w is None else np.flatnonzero(w > 0)
    check_enough(rows)
    labels = data.codec.multilabel
    calibrator = Calibrator(Y.shape[1] if labels else 1)
    shuffled = np.random.default_rng(0).permutation(rows)
    for part in np.array_split(shuffled, min(FOLDS, len(rows))):
        test = np.sort(part)
        train = np.setdiff1d(rows, test)
        columns = (slice(None), train) if pairwise else slice(None)
        weights = None if w is None else w[train]
        solution = fit(SparseTraining(X[train][columns], Y[train], data.codec, weights))
        for piece in row_blocks(len(test), Y.shape[1]):
            some = test[piece]
            scores = solution.weights.scores(X[some][columns])
            cells = scores, Y[some].toarray(), None if w is None else w[some]
            calibrator.add(*cells if labels else class_cells(data.codec, *cells))
    if labels:
        return calibrator.fit(method)
    return share_map(data.codec, calibrator.fit("sigmoid"))
