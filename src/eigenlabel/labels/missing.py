"""Values that are missing, and matrices as arrays."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.linalg._types import Bools, Matrix


def to_dense(Y: Matrix) -> Any:
    """Return a sparse matrix, or anything that numpy reads, as an array."""
    sparse = sp.issparse(Y)
    return Y.toarray() if sparse else np.asarray(Y)


def is_missing(value: Any) -> bool:
    """Return True for None, NaT and pandas' NA, known by name because pandas is optional."""
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def find_missing(values: Any) -> Bools:
    """Return the entries (n,) of an array that are NaN, None, NaT or pandas' NA."""
    flat = values.ravel()
    if flat.dtype.kind == "f":
        return np.asarray(np.isnan(flat))
    if flat.dtype.kind in "mM":
        return np.asarray(np.isnat(flat))
    if flat.dtype.kind != "O":
        return np.zeros(len(flat), dtype=bool)
    floats = (float, np.floating)
    nan = (is_missing(v) or (isinstance(v, floats) and bool(np.isnan(v))) for v in flat)
    return np.fromiter(nan, dtype=bool, count=len(flat))
