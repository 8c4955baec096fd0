"""Checks of samples, sparse matrices, weights and scores, and of the range of their values."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_selection import SelectorMixin as SklearnSelectorMixin
from sklearn.utils.sparsefuncs import mean_variance_axis
from sklearn.utils.validation import validate_data

from eigenlabel.inputs.sklearn_private import validate_samples
from eigenlabel.inputs.warning import warn
from eigenlabel.linalg._types import Floats, Ints, Matrix
from eigenlabel.linalg.operators import row_blocks


def check_sparse(A: Any, name: str) -> None:
    """Raise ValueError if a sparse A is not a matrix, or if its arrays point outside of it.

    Anything that is not sparse is accepted. SciPy's own ``check_format`` is not used because it
    changes its matrix.
    """
    if sp.issparse(A):
        _check_matrix(A, name)


def _check_matrix(A: Matrix, name: str) -> None:
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
    """Raise ValueError unless a sparse matrix, every part of which a file set, is CSR or CSC."""
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


def _check_compressed(matrix: Matrix, shape: tuple[int, ...]) -> None:
    """Raise ValueError unless the pointers and indices of a compressed matrix fit its shape."""
    for name in ("indptr", "indices"):
        part = getattr(matrix, name, None)
        if not isinstance(part, np.ndarray) or part.ndim != 1 or part.dtype.kind != "i":
            raise ValueError(f"the {name} of a sparse matrix must be a vector of numbers")
    rows, columns = shape[::-1] if matrix.format == "csc" else shape
    indptr = matrix.indptr
    # SciPy's own check does not look at the pointers if the last one is not above zero.
    if len(indptr) != rows + 1 or indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        raise ValueError(f"the indptr must be {rows + 1} numbers from 0 that do not decrease")
    if indptr[-1] > len(matrix.indices):
        raise ValueError(
            f"{indptr[-1]} entries are announced, but there are {len(matrix.indices)} indices"
        )
    _check_places(matrix.indices, len(matrix.data), columns)


def _check_places(places: Ints, stored: int, size: int) -> None:
    """Raise ValueError unless there is one place from 0 to size - 1 for each stored value."""
    if len(places) != stored:
        raise ValueError(f"there are {len(places)} indices for {stored} entries")
    if len(places) and not (places.min() >= 0 and places.max() < size):
        outside = places[(places < 0) | (places >= size)]
        raise ValueError(f"the indices must be between 0 and {size - 1}, found {outside[0]}")


def canonical(X: Matrix) -> Matrix:
    """Return sparse X without duplicate entries, with 32-bit indices if they suffice.

    Dense X is returned unchanged. The argument is never modified.
    """
    sparse = sp.issparse(X)
    if not sparse:
        return X
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.indices.dtype == np.int64 and max(X.nnz, *X.shape) < 2**31:
        # Some compiled kernels accept 32-bit indices only.
        indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        X = type(X)((X.data, indices, indptr), shape=X.shape)
    return X


def without_stored_zeros(X: Any) -> Any:
    """Return sparse X without stored zeros, which would count as entries; dense X as it is.

    The argument is never modified.
    """
    if not hasattr(X, "eliminate_zeros") or not (X.data == 0).any():
        return X
    found = X.copy()
    found.eliminate_zeros()
    return found


class SelectorMixin(SklearnSelectorMixin):  # type: ignore[misc]
    """Mixin of feature selectors that checks sparse input."""

    def transform(self, X: Any) -> Any:
        """Select features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        selected : ndarray or sparse matrix of shape (n_samples, n_selected_features)
            The selected features of the samples.
        """
        check_sparse(X, "X")
        return super().transform(X)


LARGEST = 1e75  # squares of its square are still numbers
# Likewise for small values, by the bytes of a number; float32 allows for squares only.
LEAST = {8: 1e-75, 4: 1e-18}


def check_scale(X: Matrix) -> None:
    """Check the scale of training samples.

    Raises ValueError if products of values leave the range of floats, and warns if some features
    are lost to rounding beside others.
    """
    check_largest(X)
    if X.shape[0] > 1:
        check_spread(_variances(X), max(X.shape))


def check_largest(X: Matrix, *, least: float | None = None, most: float = LARGEST) -> None:
    """Raise ValueError if the products of the values of X leave the range of floats.

    The largest absolute value must be zero or lie between ``least``, which depends on the type by
    default, and ``most``. NaN is not compared.
    """
    sparse = sp.issparse(X)
    values = X.data if sparse else X
    high = np.fmax.reduce(values, axis=None, initial=0.0)
    low = np.fmin.reduce(values, axis=None, initial=0.0)
    largest = max(float(high), -float(low))
    least = LEAST[X.dtype.itemsize] if least is None else least
    if largest > most or 0 < largest < least:
        raise ValueError(
            f"The largest value of X is {largest:.3g}, whose squares leave the range of floats: "
            "rescale X, for instance with sklearn.preprocessing.MaxAbsScaler."
        )


def check_spread(spread: Floats, size: int) -> None:
    """Warn if the variances of some features are lost to rounding beside those of others."""
    spread = spread[spread > spread.max(initial=0.0) * np.finfo(float).tiny]
    limit = size * float(np.finfo(float).eps)
    if spread.size and spread.min() < limit * spread.max():
        ratio = np.sqrt(spread.max() / spread.min())
        warn(
            f"The spreads of the features differ by a factor of {ratio:.0e}: the penalty hardly "
            "affects the large ones, and rounding may hide the small ones. Standardise X, for "
            "instance with sklearn.preprocessing.StandardScaler (with_mean=False if sparse).",
            UserWarning,
        )


def _variances(X: Matrix) -> Floats:
    """Return the variance of each feature, or zero if it is rounding of the mean."""
    if sp.issparse(X):
        mean, variance = mean_variance_axis(X, axis=0)
    else:
        mean = X.mean(axis=0, dtype=float)
        squares = (np.square(X[rows] - mean).sum(axis=0) for rows in row_blocks(*X.shape))
        variance = sum(squares, np.zeros(X.shape[1])) / max(1, X.shape[0])
    return beyond_rounding(variance, mean, X.dtype)


def beyond_rounding(variance: Floats, mean: Floats, dtype: Any) -> Floats:
    """Return the variances, with zero for those that are rounding of the mean."""
    eps = float(np.finfo(dtype).eps)
    return np.where(variance > (4 * eps * mean) ** 2, variance, 0.0)


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
    X = validate_samples(
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


def check_scores(name: str, scores: Any, shape: tuple[int, ...] | None = None) -> Floats:
    """Check a (samples, labels) matrix of finite scores and return it as an array."""
    array = np.asarray(unmasked(scores))
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be numbers, got dtype {array.dtype}.")
    if array.ndim != 2:
        raise ValueError(f"{name} must be a matrix (samples, labels), got shape {array.shape}.")
    if shape is not None and array.shape != shape:
        hint = (
            " Label sets have a column for each label that occurs in them: pass "
            "MultiLabelBinarizer(classes=model.classes_).fit_transform(y) to have all columns."
        )
        some = hint if array.shape[0] == shape[0] and array.shape[1] > shape[1] else ""
        raise ValueError(f"{name} has shape {array.shape}, the label matrix {shape}.{some}")
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise ValueError(f"{name} must be finite, found {array[row, column]} at [{row}, {column}].")
    return array


def is_estimator(thing: Any) -> bool:
    """Return True if a thing is an instance that can be cloned and fitted."""
    methods = ("fit", "get_params")
    return not isinstance(thing, type) and all(hasattr(thing, name) for name in methods)
