"""Targets of regressions: +1 for a label, -1 for none."""

import numpy as np

from eigenlabel.linalg._types import Bools, Floats, Matrix
from eigenlabel.linalg.operators import CentredOperator


def signed_targets(Y: Bools) -> Floats:
    """Return the +1/-1 targets of a boolean label matrix."""
    return np.where(Y, 1.0, -1.0)


def sparse_targets(Y: Matrix, weights: Floats | None, centre: bool) -> CentredOperator:
    """Return the +1/-1 targets of a sparse label matrix as an operator that is never densified.

    With ``centre`` the targets are reduced by their weighted mean.
    """
    doubled = Y.astype(float) * 2.0
    if centre:
        return CentredOperator(doubled, weights)
    return CentredOperator.about(doubled, np.ones(Y.shape[1]))
