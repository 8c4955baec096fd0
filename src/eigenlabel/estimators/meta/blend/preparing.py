"""Tables of mixed columns and texts, which a blend prepares itself."""

from typing import Any

import narwhals as nw
from sklearn.pipeline import Pipeline

from eigenlabel.inputs.data import check_unique_columns
from eigenlabel.linalg.operators import is_sparse
from eigenlabel.preprocessing.sample_forms import as_texts


def needs_preparation(X: Any) -> bool:
    """Return True if X is texts, or a frame with a column that is not complete numbers."""
    if is_sparse(X):
        return False
    check_unique_columns(X)
    frame = nw.from_native(X, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return not all(_is_complete(column) for column in frame.iter_columns())
    return as_texts(X) is not None


def _is_complete(column: Any) -> bool:
    """Return True if all values of a column are numbers, or true and false."""
    if not column.dtype.is_numeric() and column.dtype != nw.Boolean:
        return False
    return not column.null_count() and not (column.dtype.is_float() and column.is_nan().any())


def reads_tables(estimator: Any) -> bool:
    """Return True if a classifier of the user gets tables as they are: a pipeline prepares them."""
    return isinstance(estimator, Pipeline)
