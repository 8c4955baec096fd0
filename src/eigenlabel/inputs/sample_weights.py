"""Checks of sample weights."""

from typing import Any

import numpy as np

from eigenlabel.inputs.sklearn_private import sample_weights
from eigenlabel.linalg._types import Floats


def check_weights(sample_weight: Any, X: Any) -> Floats | None:
    """Check the sample weights of X; return None if there are none or all are one."""
    if sample_weight is None:
        return None
    weights = sample_weights(sample_weight, X)
    return None if np.all(weights == 1) else weights


def check_row_weights(sample_weight: Any, n: int) -> Floats | None:
    """Check that the weights of n rows are finite and not negative; None stays None."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=float)
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}, needed ({n},).")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must be finite and not negative.")
    return weights
