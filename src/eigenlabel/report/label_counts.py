"""Counts and correlations of labels, and threshold curves; sparse labels stay sparse."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.labels.checks import MISSING, check_label_matrix
from eigenlabel.linalg._types import Floats, Ints, Matrix
from eigenlabel.report.json_values import plain, significant

MAX_POINTS = 60  # points of a threshold curve
BLOCK = 2**22  # correlations in memory at once


def sparse_labels(Y: Any, name: str = "Y") -> Matrix:
    """Return a label matrix of 0 and 1, dense or sparse, as a CSC array of floats."""
    if not sp.issparse(Y):
        return sp.csc_array(check_label_matrix(Y, name), dtype=float)
    given: Matrix = Y
    labels = sp.csc_array(given, dtype=float, copy=True)
    labels.sum_duplicates()
    labels.eliminate_zeros()
    odd = labels.data != 1
    if np.isnan(labels.data).any():
        raise ValueError(f"{name} contains NaN. {MISSING}")
    if odd.any():
        raise ValueError(f"{name} must be a label matrix of 0 and 1, found {labels.data[odd][0]}.")
    if labels.shape[1] == 0:
        raise ValueError(f"{name} has no columns: at least one label is needed.")
    return labels


def counts(matrix: Matrix) -> Ints:
    """Return the number of ones in each column of a sparse label matrix."""
    ones: Ints = np.diff(matrix.indptr).astype(np.intp)
    return ones


def most_frequent(support: Ints, limit: int) -> Ints:
    """Return the positions, in ascending order, of the ``limit`` labels of largest support."""
    return np.sort(np.argsort(-support, kind="stable")[:limit])


def strongest_correlations(labels: Matrix, count: int) -> list[list[list[float]]]:
    """Return the ``count`` labels with the largest absolute Pearson correlation to each label.

    The result consists of pairs (position, correlation). A constant label has no correlations.
    The labels are processed in blocks, so that the m x m matrix is never in memory as a whole.
    """
    n, m = labels.shape
    support = counts(labels).astype(float)
    spread = np.sqrt(support * (n - support))
    found = []
    step = max(1, BLOCK // max(1, m))
    for start in range(0, m, step):
        rows = np.arange(start, min(start + step, m))
        together = (labels[:, rows].T @ labels).toarray()
        scale = spread[rows, None] * spread
        r = (n * together - support[rows, None] * support) / np.where(scale > 0, scale, np.inf)
        r[np.arange(len(rows)), rows] = 0.0
        r = np.round(r, 3)
        order = np.argsort(-np.abs(r), axis=1, kind="stable")[:, :count]
        for row, best in zip(r, order, strict=True):
            found.append([[int(j), float(row[j])] for j in best if row[j] != 0])
    return found


def rows_of(labels: Matrix, j: int) -> Ints:
    """Return the positive samples of label j."""
    rows: Ints = labels.indices[labels.indptr[j] : labels.indptr[j + 1]]
    return rows


def threshold_curve(scores: Floats, positives: Ints, chosen: float) -> dict[str, Any]:
    """Return the predictions and hits of one label at several thresholds and at the chosen one."""
    ordered, hit = np.sort(scores), np.sort(scores[positives])
    t = _spread_thresholds(ordered, hit)
    at = [_above(ordered, chosen), _above(hit, chosen)] if not np.isnan(chosen) else None
    return {
        "t": t.tolist(),
        "predicted": _above(ordered, t).tolist(),
        "hits": _above(hit, t).tolist(),
        "threshold": significant(chosen),
        "at": plain(at),
    }


def _above(ordered: Floats, t: Any) -> Any:
    """Return the number of values above t in an ascending array."""
    return len(ordered) - np.searchsorted(ordered, t, side="right")


def _spread_thresholds(ordered: Floats, hit: Floats) -> Floats:
    """Return thresholds at quantiles of all scores, of positive samples and of the top scores.

    They are rounded to four digits of the range of the scores. The first threshold is below all
    scores.
    """
    low, high = float(ordered[0]), float(ordered[-1])
    width = max(high - low, 1e-9 * max(abs(low), abs(high)), 1e-100)  # scores may all be equal
    decimals = 4 - int(np.floor(np.log10(width)))
    some = MAX_POINTS // 3 - 1
    # The highest scores are thresholds with few predictions.
    ranks = np.unique(np.geomspace(1, len(ordered), some).astype(np.intp))
    chosen = [
        np.quantile(ordered, np.linspace(0, 1, some)),
        np.quantile(hit, np.linspace(0, 1, some)) if len(hit) else [],
        ordered[len(ordered) - ranks],
        [low - 2 * 10.0**-decimals, high + 10.0**-decimals],  # every sample is predicted, and none
    ]
    return np.unique(np.round(np.concatenate(chosen), decimals))
