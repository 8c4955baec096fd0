"""Checks of scale: products of values must stay in the range of floats."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.sparsefuncs import mean_variance_axis

from eigenlabel.inputs.warning import warn
from eigenlabel.linalg._types import Floats, Matrix
from eigenlabel.linalg.operators import row_blocks

LARGEST = 1e75  # squares of its square are still numbers
# Likewise for small values, by the bytes of a number; float32 allows for squares only.
LEAST = {8: 1e-75, 4: 1e-18}


def check_scale(X: Matrix) -> None:
    """Check the scale of training samples.

    Raises ValueError if products of values leave the range of floats, and warns if some features
    are lost to rounding beside others.
    """
    check_largest(X)
    if X.shape[0] > 1:
        check_spread(_variances(X), max(X.shape))


def check_largest(X: Matrix, *, least: float | None = None, most: float = LARGEST) -> None:
    """Raise ValueError if the products of the values of X leave the range of floats.

    The largest absolute value must be zero or lie between ``least``, which depends on the type by
    default, and ``most``. NaN is not compared.
    """
    sparse = sp.issparse(X)
    values = X.data if sparse else X
    high = np.fmax.reduce(values, axis=None, initial=0.0)
    low = np.fmin.reduce(values, axis=None, initial=0.0)
    largest = max(float(high), -float(low))
    least = LEAST[X.dtype.itemsize] if least is None else least
    if largest > most or 0 < largest < least:
        raise ValueError(
            f"The largest value of X is {largest:.3g}, whose squares leave the range of floats: "
            "rescale X, for instance with sklearn.preprocessing.MaxAbsScaler."
        )


def check_spread(spread: Floats, size: int) -> None:
    """Warn if the variances of some features are lost to rounding beside those of others."""
    spread = spread[spread > spread.max(initial=0.0) * np.finfo(float).tiny]
    limit = size * float(np.finfo(float).eps)
    if spread.size and spread.min() < limit * spread.max():
        ratio = np.sqrt(spread.max() / spread.min())
        warn(
            f"The spreads of the features differ by a factor of {ratio:.0e}: the penalty hardly "
            "affects the large ones, and rounding may hide the small ones. Standardise X, for "
            "instance with sklearn.preprocessing.StandardScaler (with_mean=False if sparse).",
            UserWarning,
        )


def _variances(X: Matrix) -> Floats:
    """Return the variance of each feature, or zero if it is rounding of the mean."""
    if sp.issparse(X):
        mean, variance = mean_variance_axis(X, axis=0)
    else:
        mean = X.mean(axis=0, dtype=float)
        squares = (np.square(X[rows] - mean).sum(axis=0) for rows in row_blocks(*X.shape))
        variance = sum(squares, np.zeros(X.shape[1])) / max(1, X.shape[0])
    return beyond_rounding(variance, mean, X.dtype)


def beyond_rounding(variance: Floats, mean: Floats, dtype: Any) -> Floats:
    """Return the variances, with zero for those that are rounding of the mean."""
    eps = float(np.finfo(dtype).eps)
    return np.where(variance > (4 * eps * mean) ** 2, variance, 0.0)
