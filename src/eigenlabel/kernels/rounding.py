"""Bounds on the rounding errors of distances and similarities, by metric and kernel."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenlabel.linalg.euclidean import distance_rounding, largest_entries
from eigenlabel.linalg.operators import is_sparse
from eigenlabel.linalg.ties import ACCURACY, SAFETY, Rounding, precision

EUCLIDEAN = ("euclidean", "l2")
MANHATTAN = ("manhattan", "cityblock", "l1")
DISTANCES = {"rbf": "sqeuclidean", "laplacian": "manhattan", "chi2": "chi2"}  # whose exp(-gamma t)
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
    if metric in EUCLIDEAN or metric == "minkowski":
        return distance_rounding(X, dtype)
    if metric in ("sqeuclidean", "chi2"):
        size = largest_entries(X)  # chi2 is the sum of (x - z)^2 / (x + z)
        error = 4 * eps * (np.sqrt(size) if metric == "chi2" else size)
        return Rounding(error**2, relative, 2 * error)
    if metric == "chebyshev" or metric in MANHATTAN:
        size = largest_entries(X) if metric == "chebyshev" else _lengths(X)
        return Rounding(4 * eps * size, relative)
    return Rounding(SAFETY * eps * (LOGARITHM if metric == "kl" else 1.0), relative)


@dataclass(frozen=True)
class ExponentialRounding(Rounding):
    """A bound for ``exp(-gamma t)``: that of t where the value lies, times the derivative."""

    gamma: float = 1.0

    def at(self, values: np.ndarray) -> np.ndarray:
        """Return the bound for each value, or for its negative."""
        size = np.abs(np.where(np.isfinite(values), values, 0.0))
        t = -np.log(np.clip(size, np.finfo(float).tiny, 1.0)) / self.gamma
        return (self.gamma * super().at(t) + self.relative) * size


def kernel_rounding(kernel: Any, X: Any, Z: Any, dtype: Any) -> Rounding:
    """Return the bound on rounding of the kernel values of samples X with samples Z.

    The argument of the kernel function has rounding errors of its own, which the function passes
    on: ``exp(-gamma t)`` as ``ExponentialRounding`` states, a power by its derivative.
    """
    eps = SAFETY * precision(dtype)
    name = kernel.name
    if not isinstance(name, str) or name == "cosine":
        return Rounding(eps if name == "cosine" else 0.0, eps)
    gamma = 1 / X.shape[1] if kernel.gamma is None else kernel.gamma
    a = _lengths(X)
    if name in DISTANCES:
        if not gamma:
            return Rounding(0.0, eps)
        t = metric_rounding(DISTANCES[name], X, dtype)
        inner = SAFETY * precision(float) * a * a if name == "rbf" else 0.0  # of x'x - 2 x'z + z'z
        return ExponentialRounding(t.absolute + inner, eps, t.root, gamma)
    b = _lengths(Z).max(initial=0.0)
    inner, root = gamma * a * b, np.sqrt(X.shape[1])
    if name == "poly":
        with np.errstate(over="ignore"):  # an infinite kernel value raises an error elsewhere
            inner *= kernel.degree * (inner + abs(kernel.coef0)) ** max(kernel.degree - 1, 0)
    passed_on = {"linear": a * b, "intersection": (a + b) * root, "sigmoid": inner, "poly": inner}
    return Rounding(eps * passed_on[name], eps)


def _lengths(X: Any) -> np.ndarray:
    """Return the Euclidean lengths of the rows (rows, 1), computed in float64."""
    X = X.astype(float)
    squares = (X.multiply(X) if is_sparse(X) else X * X).sum(axis=1)
    return np.asarray(np.sqrt(np.asarray(squares)).reshape(-1, 1))
