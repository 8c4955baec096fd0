"""The label set whose scores are nearest to an embedded sample (Han et al. 2010, Equation 5)."""

import numpy as np

from eigenlabel.linalg._types import Bools, Floats
from eigenlabel.linalg.ties import first_highest

MAX_DISCRETE_LABELS = 20
CHUNK = 2**22  # objectives of label sets held at once


def best_label_sets(theta: Floats, targets: Floats) -> Bools:
    """Return the 0/1 rows y with the smallest ``|y theta - target|``, exactly.

    All 2^m label sets are compared. ``|y theta|^2`` of all sets is computed once by adding one
    label after another, ``2 y theta target`` for each sample. Cost: 2^m operations per sample.

    Parameters
    ----------
    theta : (m, q) array
        The scores of the labels, m at most ``MAX_DISCRETE_LABELS``.
    targets : (n, q) array
        The embedded samples.

    Returns
    -------
    label_sets : (n, m) array of bool
        The best label set of each sample.
    """
    m = len(theta)
    if m > MAX_DISCRETE_LABELS:
        raise ValueError(
            f"method='discrete' compares all 2^m label sets and accepts at most "
            f"{MAX_DISCRETE_LABELS} labels, there are {m}: use thresholds instead."
        )
    G = theta @ theta.T
    squares, cross = np.zeros(1), np.zeros((m, 1))  # of sets of the first k labels
    for k in range(m):
        squares = np.concatenate([squares, squares + G[k, k] + 2 * cross[k]])
        cross = np.concatenate([cross, cross + G[:, k : k + 1]], axis=1)
    best = np.empty(len(targets), dtype=np.int64)
    step = max(1, CHUNK >> m)
    for start in range(0, len(targets), step):
        linear = targets[start : start + step] @ theta.T
        inner = np.zeros((len(linear), 1))
        for k in range(m):
            inner = np.concatenate([inner, inner + linear[:, k : k + 1]], axis=1)
        best[start : start + step] = first_highest(2 * inner - squares)
    return np.asarray((best[:, None] >> np.arange(m)) & 1 == 1)
