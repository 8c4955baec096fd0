"""Bounds on the rounding errors of distances and similarities, by metric and kernel."""

from typing import Any

import numpy as np

from eigenlabel.core.euclidean import distance_rounding, largest_entries
from eigenlabel.core.operators import is_sparse
from eigenlabel.core.ties import ACCURACY, SAFETY, Rounding, precision

EUCLIDEAN = ("euclidean", "l2")
SUMS = ("manhattan", "cityblock", "l1", "minkowski", "chi2")  # of as many terms as features
LOGARITHM = 32.0  # bounds the logarithms of shares in "kl"


def metric_rounding(metric: Any, X: Any, dtype: Any) -> Rounding:
    """Return the bound on rounding of the distances from samples X to others.

    ``dtype`` is the type of the data as passed in: its precision is also that of the features
    themselves. Given distances and those of callables are exact up to some units of their last
    digit; round them before if their own errors are larger.
    """
    eps = precision(dtype)
    relative = max(SAFETY * eps, ACCURACY)
    if not isinstance(metric, str) or metric == "precomputed":
        return Rounding(0.0, SAFETY * eps)
    if metric in EUCLIDEAN:
        return distance_rounding(X, dtype)
    if metric == "chebyshev":
        return Rounding(4 * eps * largest_entries(X), relative)
    if metric == "sqeuclidean":
        return Rounding(SAFETY * eps * _lengths(X) ** 2, relative)
    if metric in SUMS:
        return Rounding(SAFETY * eps * _lengths(X), relative)
    return Rounding(SAFETY * eps * (LOGARITHM if metric == "kl" else 1.0), relative)


def kernel_rounding(kernel: Any, X: Any, Z: Any, dtype: Any) -> Rounding:
    """Return the bound on rounding of the kernel values of samples X with samples Z.

    The argument of the kernel function has rounding errors of its own, which the function passes
    on: ``exp(-gamma t)`` by at most gamma, a power by its derivative.
    """
    eps = SAFETY * precision(dtype)
    name = kernel.name
    if not isinstance(name, str) or name == "cosine":
        return Rounding(eps if name == "cosine" else 0.0, eps)
    gamma = 1 / X.shape[1] if kernel.gamma is None else kernel.gamma
    a, b = _lengths(X), _lengths(Z).max(initial=0.0)
    inner, root = gamma * a * b, np.sqrt(X.shape[1])
    passed_on = {
        "linear": a * b,
        "rbf": gamma * (a * a + b * b),
        "laplacian": gamma * (a + b) * root,
        "chi2": gamma * (a + b) * root,
        "intersection": (a + b) * root,
        "sigmoid": inner,
        "poly": inner * kernel.degree * (inner + abs(kernel.coef0)) ** max(kernel.degree - 1, 0),
    }
    return Rounding(eps * passed_on[name], eps)


def _lengths(X: Any) -> np.ndarray:
    """Return the Euclidean lengths of the rows (rows, 1)."""
    squares = (X.multiply(X) if is_sparse(X) else X * X).sum(axis=1)
    return np.sqrt(np.asarray(squares, dtype=float)).reshape(-1, 1)
