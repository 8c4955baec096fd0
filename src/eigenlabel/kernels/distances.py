"""Distances of samples by a named metric or a function of two matrices."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import (
    additive_chi2_kernel,
    cosine_distances,
    manhattan_distances,
)

from eigenlabel.kernels.rounding import EUCLIDEAN
from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.euclidean import EuclideanDistances

HISTOGRAMS = ("chi2", "kl")  # need dense features with values >= 0
ROUNDING = np.sqrt(np.finfo(float).eps)  # of distances of a callable, such as one minus a cosine
FLOOR = 1e-10  # smallest share of a bin under "kl", whose logarithm must exist


def chi2_distances(X: Floats, Z: Floats) -> Floats:
    """Return ``sum_k (x_k - z_k)^2 / (x_k + z_k)`` of all pairs of histograms."""
    return np.asarray(-additive_chi2_kernel(X, Z))


def _shares(X: Floats) -> Floats:
    """Scale rows to sum one, no bin below FLOOR; a row of zeros becomes uniform."""
    total = X.sum(axis=1, keepdims=True)
    P = X / np.where(total > 0, total, 1.0) + FLOOR
    return np.asarray(P / P.sum(axis=1, keepdims=True))


def kl_divergences(X: Floats, Z: Floats) -> Floats:
    """Return ``sum_k x_k log(x_k / z_k)`` of all pairs of histograms, rows scaled to sum one."""
    P, Q = _shares(X), _shares(Z)
    own = (P * np.log(P)).sum(axis=1, keepdims=True)
    return np.asarray(np.maximum(own - P @ np.log(Q).T, 0.0))


FUNCTIONS: dict[str, Callable[[Any, Any], Floats]] = {
    "manhattan": manhattan_distances,
    "l1": manhattan_distances,
    "cosine": cosine_distances,
    "chi2": chi2_distances,
    "kl": kl_divergences,
}
METRICS = (*EUCLIDEAN, *FUNCTIONS)


def distances_to(Z: Any, metric: Any) -> Callable[[Any], Floats]:
    """Return the function of samples X that computes their distances (rows of X, rows of Z).

    Parameters
    ----------
    Z : array or sparse matrix
        The samples that others are compared with.
    metric : str or callable
        One of ``METRICS``, or a function that takes two matrices and returns the distances of
        their rows. Its result is checked: it must be finite and not negative.
    """
    if isinstance(metric, str) and metric in EUCLIDEAN:
        return EuclideanDistances(Z)
    function = FUNCTIONS[metric] if isinstance(metric, str) else metric
    return lambda X: _check_distances(function(X, Z), (X.shape[0], Z.shape[0]), metric)


def _check_distances(D: Any, shape: tuple[int, int], metric: Any) -> Floats:
    """Return distances in float64, negative rounding errors as zero, or raise ValueError."""
    D = np.asarray(D, dtype=float)
    if D.shape != shape:
        raise ValueError(
            "A callable metric takes two matrices and returns the distances of their rows: "
            f"expected shape {shape}, got {D.shape}."
        )
    if not np.isfinite(D).all() or D.min(initial=0) < -ROUNDING * D.max(initial=0):
        worst = D.min() if np.isfinite(D).all() else D[~np.isfinite(D)][0]
        raise ValueError(
            f"Distances are finite and >= 0, but metric={metric!r} returns {worst:.3g}."
        )
    return np.asarray(np.maximum(D, 0.0))
