"""What factors with dual coefficients of a kernel share."""

import numpy as np
import scipy.linalg as sl

from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.factors.protocol import Factor
from eigenlabel.linalg.numerics import positive_qr


def orthonormalise_dual(factor: Factor, directions: Floats) -> tuple[Floats, Floats]:
    """Return an orthonormal basis of dual coefficients C, exported, and R with ``C = basis R``.

    ``R'R = C'M C`` with M the metric of the factor. R is found through a square root of C'M C: a
    Cholesky factor would break down on rounding.
    """
    lam, E = np.linalg.eigh(factor.inner(directions, directions))
    _, R = positive_qr((E * np.sqrt(np.maximum(lam, 0))).T)
    basis = np.asarray(sl.solve_triangular(R, directions.T, trans="T").T)
    return factor.export(basis), R
