"""Centred data in coordinates of their own rank."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.numerics import descending_eigh, positive_count, significant


@dataclass(frozen=True)
class RowSpace:
    """Centred data Xc in coordinates of full rank: ``Z Z' = Xc Xc'``.

    Attributes
    ----------
    values : (p,) squared lengths of the columns of Z, descending
    axes : (features or samples, p) orthonormal coefficients
    lengths : (p,) lengths of the weights that the axes stand for
    floor : relative accuracy of eigenvalues of problems in Z, 0 for rounding of float64
    data : function that returns Z (n, p), whose columns are orthogonal
    """

    values: Floats
    axes: Floats
    lengths: Floats
    floor: float
    data: Callable[[], Floats]

    def keep(self, values: Floats) -> int:
        """Count the descending eigenvalues of a problem in Z that are above rounding."""
        return positive_count(values, tol=self.floor)

    def lift(self, P: Floats) -> Floats:
        """Return the coefficients C of directions P in Z: ``Xc C = Z P``."""
        return np.asarray(self.axes @ (P / self.lengths[:, None]))

    def principal(self, count: int | None) -> Floats:
        """Return the coefficients of the first ``count`` axes themselves."""
        return np.asarray(self.axes[:, :count] / self.lengths[:count])


def principal_axes(S: Floats, tolerance: float) -> tuple[Floats, Floats]:
    """Return eigenvalues and eigenvectors of S above ``tolerance`` of the largest, descending."""
    values, axes = descending_eigh(S)
    rank = int(np.count_nonzero(significant(values, tolerance)))
    return values[:rank], axes[:, :rank]
