"""Checks of data: samples, tables of categories, weights and scores."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from eigenlabel.inputs.scale import check_largest
from eigenlabel.inputs.sklearn_private import sample_weights
from eigenlabel.inputs.sparse import canonical, check_sparse
from eigenlabel.inputs.warning import warn
from eigenlabel.linalg._types import Floats


def unmasked(array: Any) -> Any:
    """Return a masked array as a plain one, with NaN or None in place of hidden values.

    Anything else is returned unchanged.
    """
    if not isinstance(array, np.ma.MaskedArray):
        return array
    hidden, values = np.ma.getmaskarray(array), np.ma.getdata(array)
    if not hidden.any():
        return values
    missing: Any = np.nan if array.dtype.kind in "biuf" else None
    return np.where(hidden, missing, values)


def check_unique_columns(X: Any) -> None:
    """Raise ValueError if two columns of a pandas frame have the same name."""
    names: Any = getattr(X, "columns", None)
    if not getattr(names, "is_unique", True):
        double = names[names.duplicated()][0]
        raise ValueError(f"Two columns of X are called {double!r}; rename one of them.")


def check_data(
    estimator: Any, X: Any, *, reset: bool, square: bool = False, allow_nan: bool = False
) -> Any:
    """Check samples and return them as an array or a canonical CSR matrix of floats.

    Parameters
    ----------
    estimator : object
        The estimator, which remembers the number and the names of the features, or compares them.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The samples.
    reset : bool
        Whether the samples are for training. If not, features must be those seen in ``fit``, and
        values may be small.
    square : bool
        Whether X must be a square kernel matrix.
    allow_nan : bool
        Whether NaN is accepted.

    Raises
    ------
    ValueError
        If X is damaged, or if products of its values leave the range of floats.
    """
    if hasattr(X, "__dask_graph__"):
        raise TypeError(
            "X is a Dask collection: use eigenlabel.distributed.fit, predict, decision_function or "
            "transform, or pass X.compute() if it fits in memory."
        )
    if sp.issparse(X):
        check_sparse(X, "X")
    check_unique_columns(X)
    X = validate_data(
        estimator,
        unmasked(X),
        reset=reset,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        ensure_all_finite="allow-nan" if allow_nan else True,
        ensure_min_samples=1,
    )
    if sp.issparse(X):
        X = canonical(X)
    if square and X.shape[0] != X.shape[1]:
        raise ValueError(
            f"kernel='precomputed' needs a square kernel matrix of training samples, got {X.shape}."
            " Pass K(X, X) to fit and K(X_new, X) to predict."
        )
    check_largest(X, least=None if reset else 0.0)
    return X


def check_table(estimator: Any, X: Any, *, reset: bool) -> list[Any]:
    """Check a table of categories and return its columns, each as an array of its own type.

    The table may be a frame, an array or a list of rows, and may contain missing values of any
    kind.
    """
    if isinstance(X, (list, tuple)):  # NumPy would turn numbers beside words into words
        X = np.array(X, dtype=object)
    check_unique_columns(X)
    checked = validate_data(
        estimator,
        X,
        reset=reset,
        dtype=None,
        ensure_all_finite="allow-nan",
        ensure_min_samples=2 if reset else 1,
    )
    if hasattr(X, "columns") and hasattr(X, "__getitem__"):  # numbers in a frame stay numbers
        return [np.asarray(X[name].to_numpy()) for name in X.columns]
    if checked.dtype.kind == "U" and (checked == "nan").any():
        warn(
            "The word 'nan' is a category. If it was a missing value, pass the table as a list, a "
            "frame or an array with dtype=object.",
            UserWarning,
        )
    return list(checked.T)


def check_names(what: str, names: tuple[str, ...] | None, fitted: tuple[str, ...] | None) -> None:
    """Raise ValueError if columns differ from those in ``fit``, or are in another order."""
    if fitted is None or names == fitted:
        return
    if names is None:
        warn(
            f"{what} has no column names, but had them in fit: they are not compared.",
            UserWarning,
        )
        return
    unlike = next((pair for pair in zip(names, fitted, strict=False) if pair[0] != pair[1]), None)
    found = f"{len(names)} columns, but {len(fitted)}"
    if unlike:
        found = f"column {unlike[0]!r} where {unlike[1]!r} was"
    raise ValueError(f"{what} has {found} in fit: pass the same columns in the same order.")


def check_weights(sample_weight: Any, X: Any) -> Floats | None:
    """Check the sample weights of X; return None if there are none or all are one."""
    if sample_weight is None:
        return None
    weights = sample_weights(sample_weight, X)
    return None if np.all(weights == 1) else weights


def check_row_weights(sample_weight: Any, n: int) -> Floats | None:
    """Check that the weights of n rows are finite and not negative; None stays None."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=float)
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}, needed ({n},).")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must be finite and not negative.")
    return weights


def check_scores(name: str, scores: Any, shape: tuple[int, ...] | None = None) -> Floats:
    """Check a (samples, labels) matrix of finite scores and return it as an array."""
    array = np.asarray(unmasked(scores))
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be numbers, got dtype {array.dtype}.")
    if array.ndim != 2:
        raise ValueError(f"{name} must be a matrix (samples, labels), got shape {array.shape}.")
    if shape is not None and array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}, the label matrix {shape}.")
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise ValueError(f"{name} must be finite, found {array[row, column]} at [{row}, {column}].")
    return array


def is_estimator(thing: Any) -> bool:
    """Return True if a thing is an instance that can be cloned and fitted."""
    methods = ("fit", "get_params")
    return not isinstance(thing, type) and all(hasattr(thing, name) for name in methods)
