"""What a report counts in label matrices and scores; sparse labels stay sparse."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.labels.checks import MISSING, check_label_matrix
from eigenlabel.report.plain import plain, significant

MAX_POINTS = 60  # of a threshold curve
BLOCK = 2**22  # correlations held at once


def sparse_labels(Y: Any, name: str = "Y") -> Any:
    """Give a 0/1 label matrix, dense or sparse, as a sparse one of floats, columns first."""
    if not sp.issparse(Y):
        return sp.csc_array(check_label_matrix(Y, name), dtype=float)
    labels = sp.csc_array(Y, dtype=float, copy=True)
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


def counts(matrix: Any) -> np.ndarray:
    """Count the ones in each column of a sparse label matrix."""
    return np.diff(matrix.indptr).astype(np.int64)


def most_frequent(support: np.ndarray, limit: int) -> np.ndarray:
    """Give the positions, ascending, of the ``limit`` labels of largest support."""
    return np.sort(np.argsort(-support, kind="stable")[:limit])


def strongest_correlations(labels: Any, count: int) -> list[list[list[float]]]:
    """List for each label the ``count`` labels of largest absolute Pearson correlation.

    Gives pairs (position, correlation). Label columns that never change have no correlation.
    Works in blocks of labels: m x m is never held at once.
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


def rows_of(labels: Any, j: int) -> np.ndarray:
    """Give the positive samples of label j."""
    return labels.indices[labels.indptr[j] : labels.indptr[j + 1]]


def threshold_curve(scores: np.ndarray, positives: np.ndarray, chosen: float) -> dict[str, Any]:
    """Count predictions and hits of one label at each threshold, and at the chosen one."""
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


def _above(ordered: np.ndarray, t: Any) -> Any:
    """Count the values above t in an ascending array."""
    return len(ordered) - np.searchsorted(ordered, t, side="right")


def _spread_thresholds(ordered: np.ndarray, hit: np.ndarray) -> np.ndarray:
    """Choose thresholds at quantiles of all scores, of those of positives, and of the highest.

    They are rounded to four digits of the range of scores, the first one below all of them.
    """
    low, high = float(ordered[0]), float(ordered[-1])
    width = max(high - low, 1e-9 * max(abs(low), abs(high)), 1e-100)  # scores may all be equal
    decimals = 4 - int(np.floor(np.log10(width)))
    some = MAX_POINTS // 3 - 1
    ranks = np.unique(np.geomspace(1, len(ordered), some).astype(np.intp))  # few predictions
    chosen = [
        np.quantile(ordered, np.linspace(0, 1, some)),
        np.quantile(hit, np.linspace(0, 1, some)) if len(hit) else [],
        ordered[len(ordered) - ranks],
        [low - 2 * 10.0**-decimals, high + 10.0**-decimals],  # predict all samples, and none
    ]
    return np.unique(np.round(np.concatenate(chosen), decimals))
