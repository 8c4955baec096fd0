"""Predictions and hits at every distinct score, and the curves and areas made of them."""

from typing import NamedTuple

import numpy as np

from eigenlabel.inspection.displays.checked_inputs import ScoredCells
from eigenlabel.linalg._types import Floats


class Cuts(NamedTuple):
    """The weights of predictions and hits if all cells from a score upwards are predicted.

    Attributes
    ----------
    scores : ndarray of shape (n_cuts,)
        The distinct scores, descending.
    predicted : ndarray of shape (n_cuts,)
        The weight of the cells with this score or a higher one.
    hits : ndarray of shape (n_cuts,)
        The weight of the positives among them.
    misses : ndarray of shape (n_cuts,)
        The weight of the negatives among them.
    """

    scores: Floats
    predicted: Floats
    hits: Floats
    misses: Floats


class Curve(NamedTuple):
    """A curve and the area under it.

    Attributes
    ----------
    name : str
        The name of the label or of the average.
    x : ndarray
        The false-positive rate or the recall, ascending.
    y : ndarray
        The true-positive rate or the precision.
    area : float
        The area under the curve.
    """

    name: str
    x: Floats
    y: Floats
    area: float


def cut(cells: ScoredCells) -> Cuts:
    """Return the predictions and hits at every distinct score, at the cost of one sort."""
    order = np.argsort(-cells.scores, kind="stable")
    scores = cells.scores[order]
    last = np.flatnonzero(np.append(scores[1:] != scores[:-1], True))
    weights = cells.weights[order]
    truth = cells.truth[order]
    # Both are sums of their own, so that neither rates nor precisions leave [0, 1] by rounding.
    hits, misses = (np.cumsum(weights * which)[last] for which in (truth, ~truth))
    return Cuts(scores[last], hits + misses, hits, misses)


def roc_curve(name: str, cells: ScoredCells) -> Curve:
    """Return the ROC curve from (0, 0) to (1, 1); there must be positives and negatives."""
    cuts = cut(cells)
    misses = np.concatenate([[0.0], cuts.misses])
    hits = np.concatenate([[0.0], cuts.hits])
    x, y = misses / misses[-1], hits / hits[-1]
    return Curve(name, x, y, float(np.trapezoid(y, x)))


def precision_recall_curve(name: str, cells: ScoredCells) -> Curve:
    """Return precision against recall; there must be a positive.

    Precision is a step function: between two recalls it is that of the larger one. The first point
    is at recall zero, with the precision of the first cut that has a hit. The area is average
    precision.
    """
    cuts = cut(cells)
    some = cuts.hits > 0
    recall, precision = cuts.hits[some] / cuts.hits[-1], cuts.hits[some] / cuts.predicted[some]
    area = float(np.diff(recall, prepend=0.0) @ precision)
    return Curve(
        name, np.concatenate([[0.0], recall]), np.concatenate([precision[:1], precision]), area
    )


def rates_at(curve: Curve, grid: Floats) -> Floats:
    """Return true-positive rates at false-positive rates; where the curve jumps, the upper end."""
    k = np.clip(np.searchsorted(curve.x, grid, side="right") - 1, 0, len(curve.x) - 2)
    width = curve.x[k + 1] - curve.x[k]
    share = np.where(width > 0, (grid - curve.x[k]) / np.where(width > 0, width, 1.0), 1.0)
    return np.asarray(curve.y[k] + share * (curve.y[k + 1] - curve.y[k]))


def precisions_at(curve: Curve, grid: Floats) -> Floats:
    """Return the precisions at recalls: at the first cut that reaches each of them."""
    reached = np.searchsorted(curve.x[1:], grid * (1 - 1e-12), side="left")
    return np.asarray(curve.y[1:][np.minimum(reached, len(curve.x) - 2)])


class ThresholdCurve(NamedTuple):
    """Precision, recall and F1 of the prediction ``score > threshold``.

    Attributes
    ----------
    thresholds : ndarray of shape (n_cuts + 1,)
        -inf, where everything is predicted, and the distinct scores, ascending. The values hold
        from a threshold up to the next one.
    precision : ndarray of shape (n_cuts + 1,)
        Precision, NaN where nothing is predicted.
    recall : ndarray of shape (n_cuts + 1,)
        Recall, NaN if there are no positives.
    f1 : ndarray of shape (n_cuts + 1,)
        F1, 0 where there is neither a positive nor a prediction.
    """

    thresholds: Floats
    precision: Floats
    recall: Floats
    f1: Floats


def threshold_curve(cells: ScoredCells) -> ThresholdCurve:
    """Return precision, recall and F1 at every threshold that changes them."""
    cuts = cut(cells)
    predicted, hits = (
        np.concatenate([values[::-1], [0.0]]) for values in (cuts.predicted, cuts.hits)
    )
    positives = cuts.hits[-1]
    precision = np.full(len(hits), np.nan)
    np.divide(hits, predicted, out=precision, where=predicted > 0)
    recall = hits / positives if positives > 0 else np.full(len(hits), np.nan)
    total = predicted + positives
    f1 = 2 * hits / np.where(total > 0, total, 1.0)
    return ThresholdCurve(np.concatenate([[-np.inf], cuts.scores[::-1]]), precision, recall, f1)
