"""Checks of data and parameters; the one place that touches scikit-learn's private side."""

import inspect
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import get_config
from sklearn.feature_selection import SelectorMixin as SklearnSelectorMixin
from sklearn.model_selection._split import _CVIterableWrapper
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.sparsefuncs import mean_variance_axis
from sklearn.utils.validation import (
    _check_method_params,
    _check_sample_weight,
    _get_feature_names,
    validate_data,
)

from eigenlabel.inputs.parameters import check_choice as check_choice  # noqa: PLC0414
from eigenlabel.inputs.parameters import check_flag as check_flag  # noqa: PLC0414
from eigenlabel.inputs.parameters import check_jobs as check_jobs  # noqa: PLC0414
from eigenlabel.inputs.parameters import check_number as check_number  # noqa: PLC0414
from eigenlabel.inputs.warning import warn
from eigenlabel.linalg.operators import row_blocks

LARGEST = 1e75  # squares of squares of it are still numbers
LEAST = {8: 1e-75, 4: 1e-18}  # likewise, by the bytes of a number; float32 has squares alone


def unmasked(array: Any) -> Any:
    """Give a masked array with NaN or None for what its mask hides; anything else as it is."""
    if not isinstance(array, np.ma.MaskedArray):
        return array
    hidden, values = np.ma.getmaskarray(array), np.ma.getdata(array)
    if not hidden.any():
        return values
    return np.where(hidden, np.nan if array.dtype.kind in "biuf" else None, values)


def check_unique_columns(X: Any) -> None:
    """Raise ValueError if two columns of a pandas frame have the same name."""
    names = getattr(X, "columns", None)
    if not getattr(names, "is_unique", True):
        double = names[names.duplicated()][0]
        raise ValueError(f"Two columns of X are called {double!r}; rename one of them.")


def check_data(
    estimator: Any, X: Any, *, reset: bool, square: bool = False, allow_nan: bool = False
) -> Any:
    """Check X against the estimator's contract; sparse input becomes canonical CSR.

    Values whose products leave the range of floats are refused; those of new samples may be small.
    """
    if hasattr(X, "__dask_graph__"):
        raise TypeError(
            "X is a Dask collection: use eigenlabel.distributed.fit, predict, decision_function or "
            "transform, or pass X.compute() if it fits in memory."
        )
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
    X = canonical(X)
    if square and X.shape[0] != X.shape[1]:
        raise ValueError(
            f"kernel='precomputed' needs a square kernel matrix of training samples, got {X.shape}."
            " Pass K(X, X) to fit and K(X_new, X) to predict."
        )
    check_largest(X, least=None if reset else 0.0)
    return X


def check_table(estimator: Any, X: Any, *, reset: bool) -> list[np.ndarray]:
    """Check a table of categories, a frame or an array; give its columns, each of its own type.

    Missing values of any kind pass.
    """
    if isinstance(X, (list, tuple)):  # NumPy would make words of numbers beside words
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
    if hasattr(X, "columns") and hasattr(X, "__getitem__"):  # a frame's numbers stay numbers
        return [np.asarray(X[name].to_numpy()) for name in X.columns]
    if checked.dtype.kind == "U" and (checked == "nan").any():
        warn(
            "The word 'nan' is a category. If it was a missing value, pass the table as a list, a "
            "frame or an array with dtype=object.",
            UserWarning,
        )
    return list(checked.T)


def column_names(X: Any) -> tuple[str, ...] | None:
    """Give the names of a frame's columns; None for other tables, and for names not of words."""
    names = _get_feature_names(X)
    return None if names is None else tuple(names.tolist())


def check_names(what: str, names: tuple[str, ...] | None, fitted: tuple[str, ...] | None) -> None:
    """Refuse columns that are other than in fit, or in another order."""
    if fitted is None or names == fitted:
        return
    if names is None:
        warn(
            f"{what} has no column names, but had them in fit: they are not compared.",
            UserWarning,
        )
        return
    unlike = next((pair for pair in zip(names, fitted, strict=False) if pair[0] != pair[1]), None)
    met = f"{len(names)} columns, but {len(fitted)}"
    if unlike:
        met = f"column {unlike[0]!r} where {unlike[1]!r} was"
    raise ValueError(f"{what} has {met} in fit: pass the same columns in the same order.")


def check_sparse(A: Any, name: str) -> None:
    """Raise ValueError if a sparse A is not a matrix or its arrays point outside it; others pass.

    Compiled code would read foreign memory. SciPy's own ``check_format`` changes its matrix.
    """
    if not sp.issparse(A):
        return
    if A.ndim != 2:
        raise ValueError(
            f"{name} must have two dimensions, found a sparse array of shape {A.shape}: reshape it,"
            " for instance to (n, 1)."
        )
    try:
        if A.format == "coo":
            for places, size in zip(A.coords, A.shape, strict=True):
                _check_places(places, len(A.data), size)
        elif A.format in ("csr", "csc", "bsr"):
            block = A.blocksize if A.format == "bsr" else (1, 1)
            _check_compressed(A, (A.shape[0] // block[0], A.shape[1] // block[1]))
    except ValueError as error:
        raise ValueError(
            f"{name} is a damaged sparse matrix of shape {A.shape}: {error}. Build it again from "
            "its entries."
        ) from error


def check_sparse_format(matrix: Any) -> None:
    """Raise ValueError unless a sparse matrix, of which a file set every part, is CSR or CSC."""
    if not isinstance(matrix, (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.csc_matrix)):
        raise ValueError(f"a sparse matrix must be CSR or CSC, found {type(matrix).__name__}")
    shape = getattr(matrix, "_shape", None)
    if not isinstance(shape, tuple) or len(shape) != 2:
        raise ValueError(f"a sparse matrix must have two dimensions, found shape {shape!r}")
    if not all(isinstance(n, (int, np.integer)) and n >= 0 for n in shape):
        raise ValueError(f"a sparse matrix must have a shape of integers, found {shape!r}")
    data = getattr(matrix, "data", None)
    if not isinstance(data, np.ndarray) or data.ndim != 1 or data.dtype.kind not in "biufc":
        raise ValueError("the data of a sparse matrix must be a vector of numbers")
    _check_compressed(matrix, shape)
    type(matrix).check_format(matrix)  # one type of integers, native numbers


def _check_compressed(matrix: Any, shape: tuple[int, int]) -> None:
    """Raise ValueError unless the pointers and indices of a compressed matrix fit its shape.

    Compiled code follows them without a check, so that a wrong one reads or writes anywhere in
    memory. SciPy does not check the indices that a matrix is constructed from.
    """
    for name in ("indptr", "indices"):
        part = getattr(matrix, name, None)
        if not isinstance(part, np.ndarray) or part.ndim != 1 or part.dtype.kind != "i":
            raise ValueError(f"the {name} of a sparse matrix must be a vector of numbers")
    rows, columns = shape[::-1] if matrix.format == "csc" else shape
    indptr = matrix.indptr
    # SciPy's own check leaves pointers alone if the last one is not above zero.
    if len(indptr) != rows + 1 or indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        raise ValueError(f"the indptr must be {rows + 1} numbers from 0 that do not decrease")
    if indptr[-1] > len(matrix.indices):
        raise ValueError(
            f"{indptr[-1]} entries are announced, but there are {len(matrix.indices)} indices"
        )
    _check_places(matrix.indices, len(matrix.data), columns)


def _check_places(places: np.ndarray, stored: int, size: int) -> None:
    """Raise ValueError unless there is one place for each stored value, from 0 to size - 1."""
    if len(places) != stored:
        raise ValueError(f"{len(places)} indices are there for {stored} entries")
    outside = places[(places < 0) | (places >= size)]
    if outside.size:
        raise ValueError(f"the indices must be between 0 and {size - 1}, found {outside[0]}")


class SelectorMixin(SklearnSelectorMixin):
    """A selector of features that refuses damaged sparse input."""

    def transform(self, X: Any) -> Any:
        """Return the selected features of X."""
        check_sparse(X, "X")
        return super().transform(X)


def canonical(X: Any) -> Any:
    """Give sparse X without duplicate entries and with 32-bit indices where they suffice."""
    if sp.issparse(X) and not X.has_canonical_format:
        X = X.copy()  # never tidy up what the caller passed in
        X.sum_duplicates()
    if sp.issparse(X) and X.indices.dtype == np.int64 and max(X.nnz, *X.shape) < 2**31:
        # Some compiled kernels take 32-bit indices only.
        indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        X = type(X)((X.data, indices, indptr), shape=X.shape)
    return X


def check_weights(sample_weight: Any, X: Any) -> np.ndarray | None:
    """Check sample weights; None where they are absent or all one."""
    if sample_weight is None:
        return None
    weights = np.asarray(
        _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    )
    return None if np.all(weights == 1) else weights


def check_row_weights(sample_weight: Any, n: int) -> np.ndarray | None:
    """Check weights of n rows: finite and not negative; None stays None."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=float)
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}, needed ({n},).")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must be finite and not negative.")
    return weights


def check_scale(X: Any) -> None:
    """Refuse values whose products leave the range of floats; warn of features lost to rounding."""
    check_largest(X)
    if X.shape[0] > 1:
        check_spread(_variances(X), max(X.shape))


def check_largest(X: Any, *, least: float | None = None, most: float = LARGEST) -> None:
    """Raise ValueError if the products of the values of X leave the range of floats.

    The largest absolute value must be zero or lie between ``least``, which is that of the type by
    default, and ``most``. NaN is not compared.
    """
    values = X.data if sp.issparse(X) else X
    high = np.fmax.reduce(values, axis=None, initial=0.0)
    low = np.fmin.reduce(values, axis=None, initial=0.0)
    largest = max(float(high), -float(low))
    least = LEAST[X.dtype.itemsize] if least is None else least
    if largest > most or 0 < largest < least:
        raise ValueError(
            f"The largest value of X is {largest:.3g}, whose squares leave the range of floats: "
            "rescale X, for instance with sklearn.preprocessing.MaxAbsScaler."
        )


def check_spread(spread: np.ndarray, size: int) -> None:
    """Warn of features whose variances are lost to rounding beside those of others."""
    spread = spread[spread > spread.max(initial=0.0) * np.finfo(float).tiny]
    limit = size * float(np.finfo(float).eps)
    if spread.size and spread.min() < limit * spread.max():
        ratio = np.sqrt(spread.max() / spread.min())
        warn(
            f"The spreads of the features differ by a factor of {ratio:.0e}: the penalty hardly "
            "touches the large ones, and rounding may hide the small ones. Standardise X, for "
            "instance with sklearn.preprocessing.StandardScaler (with_mean=False if sparse).",
            UserWarning,
        )


def _variances(X: Any) -> np.ndarray:
    """Give the variance of each feature, zero where it is rounding of the mean."""
    if sp.issparse(X):
        mean, variance = mean_variance_axis(X, axis=0)
    else:
        mean = X.mean(axis=0, dtype=float)
        squares = (np.square(X[rows] - mean).sum(axis=0) for rows in row_blocks(*X.shape))
        variance = sum(squares, np.zeros(X.shape[1])) / max(1, X.shape[0])
    return beyond_rounding(variance, mean, X.dtype)


def beyond_rounding(variance: np.ndarray, mean: np.ndarray, dtype: Any) -> np.ndarray:
    """Give variances, zero where they are rounding of the mean."""
    eps = float(np.finfo(dtype).eps)
    return np.where(variance > (4 * eps * mean) ** 2, variance, 0.0)


def routing_enabled() -> bool:
    """Return True if scikit-learn's metadata routing is on."""
    return bool(get_config().get("enable_metadata_routing", False))


def is_list_of_splits(cv: Any) -> bool:
    """Return True if ``check_cv`` made this splitter of a list of splits."""
    return isinstance(cv, _CVIterableWrapper)


def take_rows(X: Any, params: dict[str, Any], rows: np.ndarray) -> dict[str, Any]:
    """Return the parameters that have one entry per sample of X at some rows, others as given."""
    return dict(_check_method_params(X, params, rows))


def take_samples(
    estimator: Any, X: Any, y: Any, rows: np.ndarray, train: np.ndarray | None = None
) -> tuple[Any, Any]:
    """Return some rows of X and y; pairs of samples are cut to the training columns too."""
    return _safe_split(estimator, X, y, rows, train)


def takes_weights(scorer: Any) -> bool:
    """Tell whether a scorer takes sample weights; scikit-learn's own hide their function."""
    function = getattr(scorer, "_score_func", scorer)
    parameters = inspect.signature(function).parameters.values()
    return any(p.name == "sample_weight" or p.kind == p.VAR_KEYWORD for p in parameters)


def is_estimator(thing: Any) -> bool:
    """Return True for an instance that can be cloned and fitted."""
    methods = ("fit", "get_params")
    return not isinstance(thing, type) and all(hasattr(thing, name) for name in methods)


def check_scores(name: str, scores: Any, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """Check a (samples, labels) matrix of finite scores."""
    scores = np.asarray(unmasked(scores))
    if scores.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be numbers, got dtype {scores.dtype}.")
    if scores.ndim != 2:
        raise ValueError(f"{name} must be a matrix (samples, labels), got shape {scores.shape}.")
    if shape is not None and scores.shape != shape:
        raise ValueError(f"{name} has shape {scores.shape}, the label matrix {shape}.")
    if not np.isfinite(scores).all():
        row, column = np.argwhere(~np.isfinite(scores))[0]
        raise ValueError(
            f"{name} must be finite, found {scores[row, column]} at [{row}, {column}]."
        )
    return scores
