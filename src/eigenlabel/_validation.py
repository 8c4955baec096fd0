"""Checks of data and parameters; the one place that touches scikit-learn's private side."""

import numbers
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _check_sample_weight, validate_data

__all__ = ["check_choice", "check_data", "check_number", "check_scores", "check_weights"]


def check_data(estimator: Any, X: Any, *, reset: bool, square: bool = False) -> Any:
    """Check X against the estimator's contract; sparse input becomes canonical CSR."""
    X = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        ensure_min_samples=1,
    )
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()  # never tidy up what the caller passed in
        X.sum_duplicates()
    if square and X.shape[0] != X.shape[1]:
        raise ValueError(
            f"kernel='precomputed' needs a square kernel matrix of training samples, got {X.shape}."
            " Pass K(X, X) to fit and K(X_new, X) to predict."
        )
    return X


def check_weights(sample_weight: Any, X: Any) -> np.ndarray | None:
    """Check sample weights; None where they are absent or all one."""
    if sample_weight is None:
        return None
    weights = np.asarray(
        _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    )
    return None if np.all(weights == 1) else weights


def check_number(
    name: str,
    value: Any,
    low: float,
    high: float = np.inf,
    *,
    integer: bool = False,
    inf: bool = False,
) -> None:
    """Check that low <= value <= high, finite unless ``inf``; NaN and non-numbers are refused."""
    kind = numbers.Integral if integer else numbers.Real
    word = "an integer" if integer else "a number"
    bound = f"{word} between {low} and {high}" if np.isfinite(high) else f"{word} >= {low}"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, kind):
        raise TypeError(f"{name} must be {bound}, got {value!r}.")
    if np.isnan(value) or value < low or value > high or (np.isinf(value) and not inf):
        more = ", or infinity" if inf else ""
        raise ValueError(f"{name} must be {bound}{more}, got {value!r}.")


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Check that value is one of some words."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")


def check_scores(name: str, scores: Any, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """Check a (samples, labels) matrix of finite scores."""
    scores = np.asarray(scores)
    if scores.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be numbers, got dtype {scores.dtype}.")
    if scores.ndim != 2:
        raise ValueError(f"{name} must be a matrix (samples, labels), got shape {scores.shape}.")
    if shape is not None and scores.shape != shape:
        raise ValueError(f"{name} has shape {scores.shape}, the label matrix {shape}.")
    if not np.isfinite(scores).all():
        row, column = np.argwhere(~np.isfinite(scores))[0]
        raise ValueError(
            f"{name} must be finite, found {scores[row, column]} at [{row}, {column}]."
        )
    return scores
