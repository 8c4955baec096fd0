"""Checks of label matrices, and of the cells that are observed."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.inputs.data import check_sparse, unmasked
from eigenlabel.labels.label_sets import read_labels
from eigenlabel.labels.missing import find_missing, is_missing, to_dense
from eigenlabel.linalg._types import Bools, Floats, Matrix

HINT = (
    "Pass label sets as sets, such as [{'a', 'b'}, {'c'}], or use "
    "sklearn.preprocessing.MultiLabelBinarizer to turn lists of labels into a 0/1 matrix."
)
MISSING = (
    "NaN stands for 'not observed', which is supported in fit of SharedSubspaceClassifier, "
    "SharedSubspaceClassifierCV (both also inside ThresholdedClassifier) and MultilabelBlend, for "
    "whole samples in fit of "
    "GaussianFields and BiRelationGraph, and by thresholds and metrics (in y_true). Here every "
    "label of every sample must be 0 or 1: drop the samples or labels with NaN, or replace NaN by "
    "0 or 1."
)


def check_label_matrix(Y: Any, name: str = "y") -> Bools:
    """Return a dense or sparse 0/1 label matrix (n, m) as a boolean array.

    Raises ValueError, with the position and the next step, if Y contains anything else.
    """
    checked, observed = check_observed_labels(Y, name)
    if observed is not None:
        row, column = np.argwhere(~observed)[0]
        raise ValueError(f"{name} contains NaN, at [{row}, {column}]. {MISSING}")
    return checked


def check_observed_labels(Y: Any, name: str = "y") -> tuple[Bools, Bools | None]:
    """Return a label matrix (n, m) of 0, 1 and NaN as a boolean array, and its observed cells.

    Cells that are not observed are False in the first array. The second array is None if all cells
    are observed. Cells that a sparse matrix does not store are observed zeros.
    """
    array = _as_matrix(Y, name)
    if array.dtype.kind == "b":
        return array, None
    missing = np.isnan(array) if array.dtype.kind == "f" else np.zeros(0, dtype=bool)
    odd = (array != 0) & (array != 1)
    if missing.any():
        odd &= ~missing
    if odd.any():
        advice = _advice(array, name)
        raise ValueError(
            f"{name} must be a label matrix of 0 and 1, found {array[odd][0]}. {advice}"
        )
    if missing.any():
        return array == 1, ~missing
    return array != 0, None


def _as_matrix(Y: Any, name: str) -> Any:
    """Return a label matrix as a dense array of booleans or numbers that is not checked further.

    Label sets become a matrix with one column for each label that occurs, in ascending order.
    """
    Y = unmasked(read_labels(Y))
    check_sparse(Y, name)
    try:
        array = to_dense(Y)
    except ValueError as error:  # ragged lists
        raise ValueError(
            f"{name} is not a matrix: its rows have unequal lengths. {HINT}"
        ) from error
    if array.ndim != 2:
        raise ValueError(
            f"{name} must be a label matrix (samples, labels), got shape {array.shape}. Label sets "
            "become one by MultiLabelBinarizer(classes=model.classes_).fit_transform(label_sets)."
        )
    if array.shape[1] == 0:
        raise ValueError(f"{name} has no columns: at least one label is needed.")
    if array.dtype.kind == "O":
        array = _as_numbers(array, name)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold 0 and 1, got dtype {array.dtype}. {HINT}")
    return array


def _advice(array: Any, name: str) -> str:
    """Return the next step for a matrix that contains other numbers than 0, 1 and NaN."""
    values = np.unique(array[~np.isnan(array)])
    if np.isin(values, (-1, 1)).all():
        signs = "np.where(np.isnan(Y), Y, Y > 0)" if np.isnan(array).any() else "(Y > 0)"
        return f"Pass {signs}{_unknown(name)}."
    if np.isin(values, (-1, 0, 1)).all():
        return f"Pass 1 for a label and 0 for none{_unknown(name)}."
    return HINT


def _unknown(name: str) -> str:
    """Return what to pass for a label that is not observed; predictions have no such labels."""
    if name == "y_pred":
        return ""
    return (
        "; if -1 stands for 'not observed', np.where(Y == -1, np.nan, Y), which not every method "
        "accepts"
    )


def _as_numbers(Y: Any, name: str) -> Any:
    """Return a matrix of objects as floats, with NaN for missing values."""
    missing = np.array([is_missing(value) for value in Y.flat], dtype=bool)
    Y = np.where(missing.reshape(Y.shape), np.nan, Y)
    try:
        return Y.astype(float)
    except (TypeError, ValueError) as error:
        odd = next(v for v in Y.flat if not isinstance(v, (bool, int, float)))
        raise ValueError(f"{name} must hold 0 and 1, found {odd!r}. {HINT}") from error


def check_sparse_labels(Y: Any, name: str = "y") -> Matrix:
    """Return a 0/1 label matrix (n, m) as a boolean CSR array; a sparse one is never densified."""
    if not sp.issparse(Y):
        return sp.csr_array(check_label_matrix(Y, name))
    matrix: Matrix = Y
    if matrix.ndim != 2:
        raise ValueError(
            f"{name} must be a label matrix (samples, labels), got shape {matrix.shape}."
        )
    check_sparse(matrix, name)
    found = sp.csr_array(matrix)
    # The stored values as one column: the checks and their messages are those of dense labels.
    held = found.data.reshape(-1, 1) if found.shape[1] else np.zeros((0, 0))
    values = check_label_matrix(held, name)
    found = sp.csr_array((values[:, 0], found.indices, found.indptr), shape=found.shape)
    if found.has_canonical_format and values.all():
        return found
    found = found.copy()  # both steps change arrays that the user's matrix shares
    found.sum_duplicates()
    found.eliminate_zeros()
    return found


def is_vector(y: Any) -> bool:
    """Return True for classes (1-D, or a column that is not 0/1), False for a label matrix."""
    if sp.issparse(y):
        return False
    try:
        array = np.asarray(unmasked(y))
    except ValueError:  # ragged lists
        return False
    if array.ndim != 2:
        return True
    return array.shape[1] == 1 and not _holds_labels(array)


def _holds_labels(column: Any) -> bool:
    """Return True if a column holds nothing but 0, 1 and missing values."""
    if column.dtype.kind == "O" and any(is_missing(value) for value in column.flat):
        try:
            column = _as_numbers(column, "y")
        except ValueError:
            return False
    if column.dtype.kind not in "biuf":
        return False
    observed = column[~np.isnan(column)]
    return bool(np.isin(observed, (0, 1)).all())


def has_missing(y: Any) -> bool:
    """Return True if y is a label matrix with cells that are not observed."""
    return not is_vector(y) and check_observed_labels(y)[1] is not None


def check_classes(y: Any) -> None:
    """Raise ValueError if a vector of classes contains NaN, infinity or missing values."""
    odd = find_missing(y)
    if y.dtype.kind == "f":
        odd = odd | np.isinf(y).ravel()
    if odd.any():
        raise ValueError(
            f"Input y contains NaN or infinity, at sample {int(np.flatnonzero(odd)[0])}: every "
            "sample needs a class. Drop the samples without one, or pass a 0/1 label matrix, in "
            "which NaN stands for 'not observed'."
        )


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
