"""Samples of any form, which a blend turns into features of its members."""

import sys
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from eigenlabel.datasets.tables.frames import as_floats, is_sparse_column
from eigenlabel.inputs.data import check_sparse, check_unique_columns, unmasked
from eigenlabel.inputs.fitting import plain_arrays
from eigenlabel.inputs.sklearn_private import take_labels
from eigenlabel.inputs.views import indexable, is_several
from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.operators import is_sparse
from eigenlabel.preprocessing.preparation import is_counts
from eigenlabel.preprocessing.sample_forms import as_texts
from eigenlabel.preprocessing.table_preparation import TablePreparation

BLOCK = 256  # columns that are compared at once
UNEQUAL = 10.0  # a column of this many times the median spread would rule the linear member


def prepare(
    X: Any, sample_weight: Any, how: str | TablePreparation, verbose: int
) -> tuple[TablePreparation | None, Any]:
    """Return the preparation that samples need, and their features; None and X if they need none.

    Samples without weight decide nothing. If ``verbose`` is not 0, the columns that are left out
    are named on stderr. With ``how="none"``, and for several tables, nothing is prepared; a
    preparation of the user is always used.
    """
    chosen = None if isinstance(how, str) else how
    if is_several(X):
        if chosen is not None:
            raise ValueError(
                "prepare is a TablePreparation, which reads one table, but X is several tables: "
                "prepare them before, and pass prepare='none'."
            )
        return None, X
    if chosen is None and how == "none":
        return None, X
    if is_sparse(X):
        check_sparse(X, "X")
    counted = with_weight(X, sample_weight)
    if chosen is None and not needs_preparation(counted):
        return None, X
    made = TablePreparation() if chosen is None else clone(chosen)
    with plain_arrays():
        features = made.fit_transform(counted)
        features = features if counted is X else made.transform(X)
    if verbose:
        for note in made.notes_:
            print(note, file=sys.stderr)
    return made, features


def needs_preparation(X: Any) -> bool:
    """Return True if X is not a matrix of numbers that all members can read as it is.

    These forms need preparation: texts, frames, arrays with words or missing values, arrays some
    columns of which have far larger spreads than others, and sparse counts of words. If most
    numbers are zero, different spreads mean rare words, and are not equalised.
    """
    if is_sparse(X):
        X = X.tocsr()
        return is_counts(X) and bool((X.data > 1).any())
    check_unique_columns(X)
    frame = as_frame(X)
    if frame is not None:
        complete = all(_is_number(c) and not _has_gaps(c) for c in frame.iter_columns())
        return not (complete and _is_mostly_zero(frame))
    return as_texts(X) is not None or _needs_scale_or_values(np.asarray(unmasked(X)))


def with_weight(X: Any, sample_weight: Any) -> Any:
    """Return the samples of positive weight, or X itself if no weight is zero."""
    weights = np.asarray(sample_weight)
    if weights.ndim != 1 or weights.all() or not weights.any():
        return X
    samples = indexable(X)
    n = samples.shape[0] if hasattr(samples, "shape") else len(samples)
    return X if len(weights) != n else take_labels(samples, np.flatnonzero(weights))


def check_complete(X: Any) -> None:
    """Raise ValueError if X of a blend that prepares nothing has missing values."""
    if is_sparse(X):
        return
    frame = as_frame(X)
    if frame is not None:
        gaps = any(_has_gaps(column) for column in frame.iter_columns())
    else:
        array = np.asarray(unmasked(X))
        gaps = array.dtype.kind == "f" and bool(np.isnan(array).any())
    if gaps:
        raise ValueError(
            "X contains NaN, but X in fit was complete: fill in the missing values, for instance "
            "by sklearn.impute.SimpleImputer."
        )


def as_frame(X: Any) -> Any:
    """Return X as a frame of narwhals, or None if it is no frame."""
    frame = nw.from_native(X, eager_only=True, allow_series=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def _is_number(column: Any) -> bool:
    """Return True if a column holds numbers, or true and false."""
    return bool(column.dtype.is_numeric() or column.dtype == nw.Boolean or is_sparse_column(column))


def _has_gaps(column: Any) -> bool:
    """Return True if values of a column are missing."""
    if is_sparse_column(column):
        return bool(column.to_native().isna().any())
    return bool(column.null_count() or (column.dtype.is_float() and column.is_nan().any()))


def _is_mostly_zero(frame: Any) -> bool:
    """Return True if most numbers of a frame are zero."""
    zeros = sum(int((as_floats(column) == 0).sum()) for column in frame.iter_columns())
    return bool(zeros > len(frame) * len(frame.columns) / 2)


def _needs_scale_or_values(array: np.ndarray) -> bool:
    """Return True if an array has words or missing values, or columns of different spreads."""
    if array.ndim != 2 or not array.size:
        return False
    if array.dtype.kind in "OUM":
        return True
    if array.dtype.kind not in "fiu":
        return False
    gaps = array.dtype.kind == "f" and bool(np.isnan(array).any())
    return gaps or _has_unequal_spreads(array)


def _has_unequal_spreads(array: np.ndarray) -> bool:
    """Return True if some columns spread far more than others, unless most numbers are zero."""
    if np.count_nonzero(array) < array.size / 2 or not np.isfinite(array).all():
        return False
    blocks = np.array_split(array, max(1, array.shape[1] // BLOCK), axis=1)
    spreads = np.concatenate([_spreads(block.astype(float)) for block in blocks])
    spreads = spreads[spreads > 0]
    return bool(spreads.size) and bool(spreads.max() > UNEQUAL * np.median(spreads))


def _spreads(block: Floats) -> Floats:
    """Return the standard deviation of each column, 0 if it is constant up to rounding."""
    with np.errstate(over="ignore", invalid="ignore"):  # an error follows for numbers of this size
        found: Floats = np.std(block, axis=0)
        return np.where(found > np.finfo(float).eps * np.abs(block).max(axis=0), found, 0.0)


def reads_tables(estimator: Any) -> bool:
    """Return True if a classifier of the user gets tables as they are: a pipeline prepares them.

    The pipeline may be inside of a search or of another classifier.
    """
    inner = getattr(estimator, "estimator", None)
    return isinstance(estimator, Pipeline) or (inner is not None and reads_tables(inner))
