"""Probabilities of ML-LS with many labels, from held-out scores by refitting."""

from collections.abc import Callable

import numpy as np

from eigenlabel.estimators.heldout_by_refitting import FOLDS, check_enough
from eigenlabel.estimators.subspace.many_labels import SparseTraining
from eigenlabel.estimators.subspace.solve import SubspaceSolution
from eigenlabel.linalg.operators import row_blocks
from eigenlabel.thresholds.calibration import Calibration, Calibrator, class_cells, share_map


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
