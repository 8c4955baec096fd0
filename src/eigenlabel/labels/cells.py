"""Observed cells of a label matrix. NaN in y is the one code for a label that is not observed."""

import numpy as np

from eigenlabel.linalg._types import Bools, Floats


def check_observed(observed: Bools | None, weights: Floats | None) -> None:
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


def blank(Y: Bools, observed: Bools | None) -> Bools | Floats:
    """Return the labels with NaN where they are not observed."""
    return Y if observed is None else np.where(observed, Y, np.nan)
