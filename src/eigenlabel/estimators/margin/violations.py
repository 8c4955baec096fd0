"""The label vector that violates the margin most, for each loss of SVM-perf (Joachims 2005).

For a given number of true and of false positives, the most violated label vector consists of the
highest scores. A search over contingency tables is therefore exact.
"""

from collections.abc import Callable

import numpy as np

from eigenlabel.linalg._types import Bools, Floats

# The numbers of true and of false positives of the most violated label vector, and its loss.
Table = tuple[int, int, float]


def _error_rate(pos: Floats, neg: Floats, _: int) -> Table:
    a, b = int(np.count_nonzero(pos >= 1)), int(np.count_nonzero(neg > -1))
    return a, b, (len(pos) - a + b) / (len(pos) + len(neg))


def _f1(pos: Floats, neg: Floats, _: int) -> Table:
    """Search all a; for each of them the value is concave in b, and bisection finds the best b."""
    p, n = len(pos), len(pos) + len(neg)
    a = np.arange(p + 1)
    low, high = np.zeros(p + 1, dtype=int), np.full(p + 1, len(neg))
    while (low < high).any():
        b = (low + high) // 2
        gain = 2 * a / ((a + b + p) * (a + b + p + 1)) + neg[np.minimum(b, len(neg) - 1)] / n
        more = (gain > 0) & (low < high)
        low, high = np.where(more, b + 1, low), np.where(more, high, b)
    loss = 1 - 2 * a / (a + low + p)
    best = np.argmax(loss + (_sums(pos)[a] + _sums(neg)[low]) / n)
    return int(a[best]), int(low[best]), float(loss[best])


def _at_k(pos: Floats, neg: Floats, k: int, among: int) -> Table:
    """Search the label vectors with k positives; hits count as shares of ``among``."""
    a = np.arange(max(0, k - len(neg)), min(k, len(pos)) + 1)
    loss = 1 - a / among
    best = np.argmax(loss + (_sums(pos)[a] + _sums(neg)[k - a]) / (len(pos) + len(neg)))
    return int(a[best]), int(k - a[best]), float(loss[best])


def _precision(pos: Floats, neg: Floats, k: int) -> Table:
    return _at_k(pos, neg, k, k)


def _recall(pos: Floats, neg: Floats, k: int) -> Table:
    return _at_k(pos, neg, k, len(pos))


def _sums(values: Floats) -> Floats:
    """Return the sums of the first 0, 1, ... values."""
    return np.concatenate([[0.0], np.cumsum(values)])


# Functions of the scores of positives and of negatives, both descending, and of k.
CONTINGENCY: dict[str, Callable[[Floats, Floats, int], Table]] = {
    "f1": _f1,
    "precision_at_k": _precision,
    "recall_at_k": _recall,
    "error_rate": _error_rate,
}
LOSSES = (*CONTINGENCY, "roc_area")


def most_violated(loss: str, positive: Bools, k: int, scores: Floats) -> tuple[Floats, float]:
    """Find the label vector y' that maximises ``loss(y') - w'(Psi(y) - Psi(y'))``.

    For the loss "roc_area" the vector has one entry for each pair of a positive and a negative
    sample. Cost: n log n operations.

    Parameters
    ----------
    loss : str
        One of ``LOSSES``.
    positive : (n,) array of bool
        The labels y, with at least one True and one False.
    k : int
        The number of positives of y', for the losses at k.
    scores : (n,) array
        The scores w'x.

    Returns
    -------
    coefficients : (n,) array
        The coefficients c with ``Psi(y) - Psi(y') = X'c``.
    value : float
        The loss of y', between 0 and 1.
    """
    if loss == "roc_area":
        return _swapped_pairs(scores, positive)
    pos, neg = np.flatnonzero(positive), np.flatnonzero(~positive)
    pos, neg = pos[np.argsort(-scores[pos])], neg[np.argsort(-scores[neg])]
    a, b, value = CONTINGENCY[loss](scores[pos], scores[neg], k)
    coefficients = np.zeros(len(scores))
    coefficients[pos[a:]] = 1 / len(scores)
    coefficients[neg[:b]] = -1 / len(scores)
    return coefficients, float(value)


def _swapped_pairs(scores: Floats, positive: Bools) -> tuple[Floats, float]:
    """Count, for each sample, the partners that are not separated by a margin of 1."""
    pos, neg = scores[positive], scores[~positive]
    pairs = len(pos) * len(neg)
    above = len(neg) - np.searchsorted(np.sort(neg), pos - 1, side="right")
    below = np.searchsorted(np.sort(pos - 1), neg, side="left")  # pos - 1 is rounded alike in both
    coefficients = np.empty(len(scores))
    coefficients[positive], coefficients[~positive] = above / pairs, -below / pairs
    return coefficients, float(above.sum() / pairs)
