"""Samples of any form, which a blend turns into features of its members."""

from typing import Any

import narwhals as nw
import numpy as np
from sklearn.pipeline import Pipeline

from eigenlabel.inputs.data import check_unique_columns
from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.operators import is_sparse
from eigenlabel.preprocessing.preparation import is_counts
from eigenlabel.preprocessing.sample_forms import as_texts

UNEQUAL = 10.0  # a column of this many times the median spread would rule the linear member


def needs_preparation(X: Any) -> bool:
    """Return True if X is not a matrix of numbers that all members can read as it is.

    These forms need preparation: texts, frames, arrays with words or missing values, arrays some
    columns of which have far larger spreads than others, and sparse counts of words. If most
    numbers are zero, different spreads mean rare words, and are not equalised.
    """
    if is_sparse(X):
        return is_counts(X) and bool((X.data > 1).any())
    check_unique_columns(X)
    frame = nw.from_native(X, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return not (all(_is_complete(c) for c in frame.iter_columns()) and _is_mostly_zero(frame))
    return as_texts(X) is not None or _needs_scale_or_values(np.asarray(X))


def check_complete(X: Any) -> None:
    """Raise ValueError if X of a blend that prepares nothing has missing values."""
    if is_sparse(X):
        return
    frame = nw.from_native(X, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        gaps = any(
            c.null_count() or (c.dtype.is_float() and c.is_nan().any())
            for c in frame.iter_columns()
        )
    else:
        array = np.asarray(X)
        gaps = array.dtype.kind == "f" and bool(np.isnan(array).any())
    if gaps:
        raise ValueError(
            "X contains NaN, but X in fit was complete: fill in the missing values, or fit the "
            "blend to samples some of which have missing values."
        )


def _is_complete(column: Any) -> bool:
    """Return True if all values of a column are numbers, or true and false."""
    if not column.dtype.is_numeric() and column.dtype != nw.Boolean:
        return False
    return not column.null_count() and not (column.dtype.is_float() and column.is_nan().any())


def _is_mostly_zero(frame: Any) -> bool:
    """Return True if most numbers of a frame are zero."""
    zeros = sum((column.cast(nw.Float64) == 0).sum() for column in frame.iter_columns())
    return bool(zeros > len(frame) * len(frame.columns) / 2)


def _needs_scale_or_values(array: np.ndarray) -> bool:
    """Return True if an array has words or missing values, or columns of different spreads."""
    if array.ndim != 2 or not array.size:
        return False
    if array.dtype.kind in "OUM":
        return True
    if array.dtype.kind != "f":
        return array.dtype.kind in "iu" and _has_unequal_spreads(array)
    return bool(np.isnan(array).any()) or _has_unequal_spreads(array)


def _has_unequal_spreads(array: np.ndarray) -> bool:
    """Return True if some columns spread far more than others, unless most numbers are zero."""
    if np.count_nonzero(array) < array.size / 2 or not np.isfinite(array).all():
        return False
    with np.errstate(over="ignore", invalid="ignore"):  # an error follows for numbers of this size
        spreads: Floats = np.std(array, axis=0, dtype=float)
        spreads = spreads[spreads > np.finfo(float).eps * np.abs(array).max(axis=0)]
    return bool(spreads.size) and bool(spreads.max() > UNEQUAL * np.median(spreads))


def reads_tables(estimator: Any) -> bool:
    """Return True if a classifier of the user gets tables as they are: a pipeline prepares them.

    The pipeline may be inside of a search or of another classifier.
    """
    inner = getattr(estimator, "estimator", None)
    return isinstance(estimator, Pipeline) or (inner is not None and reads_tables(inner))
