"""Observed cells: which labels of which samples are known. NaN in y marks an unknown label."""

import numpy as np


def check_observed(observed: np.ndarray | None, weights: np.ndarray | None) -> None:
    """Raise ValueError if no label of a sample with positive weight is observed."""
    if observed is None:
        return
    if not observed.any():
        raise ValueError("y is NaN everywhere: at least one label of one sample must be observed.")
    if weights is not None and not observed[weights > 0].any():
        raise ValueError(
            "y is NaN wherever sample_weight is positive: at least one label of one such sample "
            "must be observed."
        )


def blank(Y: np.ndarray, observed: np.ndarray | None) -> np.ndarray:
    """Return the labels with NaN where they are not observed."""
    return Y if observed is None else np.where(observed, Y, np.nan)
