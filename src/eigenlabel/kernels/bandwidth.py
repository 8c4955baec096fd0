"""Bandwidth rules: the value of gamma where a user passes None.

===============  ==========================  ==============================
rule             gamma                       kernels that use it by default
===============  ==========================  ==============================
mean_distance    1 / (2 mean distance^2)     "rbf"
features         1 / number of features      "poly", "sigmoid", "laplacian"
one              1                           "chi2"
===============  ==========================  ==============================
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.operators import is_sparse, row_blocks

MOST_ROWS = 10_000  # whose distances are averaged; more rows are represented by as many of them

Rule = Callable[[Any, Floats | None], float]


def mean_distance(X: Any, weights: Floats | None = None) -> float:
    """Return the mean Euclidean distance of all n^2 pairs of rows, each row with itself included.

    A row of weight k counts like k copies of it. The result is exact up to ``MOST_ROWS`` rows; of
    more rows that many are used, evenly spaced. It is the width sigma of the Gaussian kernel
    ``exp(-|x - z|^2 / (2 sigma^2))`` in Section 7.1 of Xiong et al. (KGHA).

    Cost: n^2 d / 2 operations and blocks of 32 MiB.
    """
    if X.shape[0] > MOST_ROWS:
        drawn = np.linspace(0, X.shape[0] - 1, MOST_ROWS).astype(int)
        X, weights = X[drawn], None if weights is None else weights[drawn]
    X = X.astype(float, copy=False)
    n = X.shape[0]
    w = np.ones(n) if weights is None else weights
    if not is_sparse(X):
        X = X - X.mean(axis=0, dtype=float)  # smaller numbers cancel less
    squares: Floats = np.asarray((X.multiply(X) if is_sparse(X) else X * X).sum(axis=1)).ravel()
    total = 0.0
    for rows in row_blocks(n, n):
        products = X[rows] @ X[rows.start :].T
        D = products.toarray() if is_sparse(products) else np.asarray(products)
        D *= -2.0
        D += squares[rows, None]
        D += squares[rows.start :]
        np.fill_diagonal(D, 0.0)  # the distance of a row to itself is zero, without rounding
        np.sqrt(np.maximum(D, 0.0, out=D), out=D)
        inner = rows.stop - rows.start
        sums = D[:, :inner] @ w[rows] + 2.0 * (D[:, inner:] @ w[rows.stop :])
        total += float(w[rows] @ sums)
    return total / float(w.sum()) ** 2


def by_mean_distance(X: Any, weights: Floats | None) -> float:
    """Return 1 / (2 sigma^2) with sigma the mean distance, or 1 if all rows are equal."""
    sigma = mean_distance(X, weights)
    return 1.0 / (2.0 * sigma**2) if sigma > 0 else 1.0


def by_features(X: Any, weights: Floats | None) -> float:  # noqa: ARG001
    """Return 1 / the number of features."""
    return 1.0 / int(X.shape[1])


def one(X: Any, weights: Floats | None) -> float:  # noqa: ARG001
    """Return 1."""
    return 1.0


RULES: dict[str, Rule] = {"mean_distance": by_mean_distance, "features": by_features, "one": one}
DEFAULTS = {
    "rbf": "mean_distance",
    "poly": "features",
    "sigmoid": "features",
    "laplacian": "features",
    "chi2": "one",
}
