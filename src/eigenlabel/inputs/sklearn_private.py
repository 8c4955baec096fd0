"""The only file that imports private names of scikit-learn.

If a new version of scikit-learn changes one of them, only this file has to be adapted.
"""

import inspect
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import get_config
from sklearn.model_selection._split import _CVIterableWrapper
from sklearn.multiclass import _ConstantPredictor
from sklearn.svm import _liblinear, _libsvm
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import (
    _check_feature_names,
    _check_feature_names_in,
    _check_method_params,
    _check_n_features,
    _check_sample_weight,
    _get_feature_names,
    check_array,
    validate_data,
)

from eigenlabel.linalg._types import Floats, Ints

# Numbers of LIBLINEAR's solvers.
DUAL_SQUARED_HINGE, PRIMAL_SQUARED_HINGE, DUAL_HINGE = 1, 2, 3


def validate_samples(estimator: Any, X: Any, *, reset: bool, **rules: Any) -> Any:
    """Validate samples as ``validate_data`` does, and faster if they are a data frame of floats.

    ``validate_data`` inspects the type of every column, which takes a millisecond for a few hundred
    columns. The names of the columns are compared in the same way.
    """
    if not _is_frame_of_floats(X):
        return validate_data(estimator, X, reset=reset, **rules)
    _check_feature_names(estimator, X, reset=reset)
    array = check_array(X.to_numpy(), estimator=estimator, input_name="X", **rules)
    _check_n_features(estimator, array, reset=reset)
    return array


def _is_frame_of_floats(X: Any) -> bool:
    """Return True if X is a pandas data frame whose columns all have the same NumPy float type."""
    if not (hasattr(X, "iloc") and hasattr(X, "to_numpy") and hasattr(X, "columns")):
        return False
    types = X.dtypes.unique()
    return len(types) == 1 and isinstance(types[0], np.dtype) and types[0] in (float, np.float32)


def routing_enabled() -> bool:
    """Return True if metadata routing is enabled."""
    return bool(get_config().get("enable_metadata_routing", False))


def is_list_of_splits(cv: Any) -> bool:
    """Return True if ``check_cv`` created this splitter from a list of splits."""
    return isinstance(cv, _CVIterableWrapper)


def take_rows(X: Any, params: dict[str, Any], rows: Ints) -> dict[str, Any]:
    """Return the parameters of ``fit`` for some rows.

    Parameters with one entry per sample of X are restricted to the rows, others are unchanged.
    """
    return dict(_check_method_params(X, params, rows))


def take_labels(y: Any, rows: Ints) -> Any:
    """Return some rows of labels in any form: an array, a list, a frame or a sparse matrix."""
    return _safe_indexing(y, rows)


def take_samples(
    estimator: Any, X: Any, y: Any, rows: Ints, train: Ints | None = None
) -> tuple[Any, Any]:
    """Return some rows of X and y.

    If X is a kernel or distance matrix, it is also restricted to the columns of the training
    samples.
    """
    part, labels = _safe_split(estimator, X, y, rows, train)
    return part, labels


def takes_weights(scorer: Any) -> bool:
    """Return True if a scorer accepts sample weights.

    Scorers of scikit-learn store their metric in a private attribute.
    """
    function = getattr(scorer, "_score_func", scorer)
    parameters = inspect.signature(function).parameters.values()
    return any(p.name == "sample_weight" or p.kind == p.VAR_KEYWORD for p in parameters)


def sample_weights(sample_weight: Any, X: Any) -> Floats:
    """Return sample weights as an array; raise ValueError if one is negative or not finite.

    ValueError is also raised if all of them are zero, which scikit-learn accepts before 1.7.
    """
    checked = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not checked.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return np.asarray(checked)


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the column names of a data frame, or None if X has no names that are strings."""
    names = _get_feature_names(X)
    return None if names is None else tuple(names.tolist())


def feature_names(estimator: Any, input_features: Any) -> Any:
    """Return the names of the input features: those passed, those seen in ``fit``, or x0, x1, ...

    ValueError is raised if the names that are passed differ from those seen in ``fit``.
    """
    return _check_feature_names_in(estimator, input_features)


def take_columns(X: Any, columns: Any) -> Any:
    """Return some columns of a matrix or data frame, by position, mask, slice or name.

    A single position or name selects a vector.
    """
    return _safe_indexing(X, columns, axis=1)


def svm_gamma(svm: Any) -> float:
    """Return the bandwidth of the kernel of a fitted support vector machine."""
    return float(svm._gamma)


def is_constant(estimator: Any) -> bool:
    """Return True if a classifier is constant, because all or none of its samples had the label."""
    return isinstance(estimator, _ConstantPredictor)


def parallel_block(names: list[str], estimators: list[Any]) -> Any:
    """Return the block of a page that shows several estimators, or names of some, side by side."""
    module = "_repr_html.estimator" if find_spec("sklearn.utils._repr_html") else ""
    module = module or "_estimator_html_repr"  # before scikit-learn 1.7
    block = import_module(f"sklearn.utils.{module}")._VisualBlock
    return block("parallel", estimators, names=names)


def fit_liblinear(
    X: Any, positive: Any, *, loss: str, C: float, tol: float, max_iter: int, seed: int
) -> tuple[Floats, int]:
    """Return the weights (d,) of a linear SVM without intercept, and the iterations it took.

    The result is that of ``LinearSVC(loss=loss, C=C, tol=tol, max_iter=max_iter,
    fit_intercept=False)``, whose checks take as long as the fit of a small problem, with ``seed``
    for the order of the samples (``liblinear_seed``). X and the labels are not checked: X is a
    C-contiguous array or a CSR matrix of float64, and ``positive`` has both True and False.
    """
    sparse = sp.issparse(X)
    if sparse and X.indices.dtype != np.int32:
        X = type(X)((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)
    if loss == "hinge":
        solver = DUAL_HINGE
    else:
        solver = DUAL_SQUARED_HINGE if X.shape[0] < X.shape[1] else PRIMAL_SQUARED_HINGE
    targets, weights = np.asarray(positive, dtype=float), np.ones(X.shape[0])
    _liblinear.set_verbosity_wrap(0)
    w, n_iter = _liblinear.train_wrap(
        X, targets, sparse, solver, tol, -1.0, C, np.ones(2), max_iter, seed, 0.1, weights
    )
    return np.asarray(w).ravel(), int(max(n_iter))


def fit_libsvm(
    K: Floats, positive: Any, *, C: float, tol: float = 1e-3, max_iter: int = -1
) -> tuple[Floats, float, bool]:
    """Return the dual coefficients (n,) and the intercept of an SVM, and whether it converged.

    The result is that of ``SVC(kernel="precomputed", C=C, tol=tol, max_iter=max_iter)``, whose
    checks take as long as the fit of a small problem. K and the labels are not checked: K is the
    C-contiguous kernel matrix of float64, and ``positive`` has both True and False.
    """
    targets = np.asarray(positive, dtype=float)
    _libsvm.set_verbosity_wrap(0)
    support, _, _, dual, intercept, _, _, status, _ = _libsvm.fit(
        K,
        targets,
        svm_type=0,
        kernel="precomputed",
        C=C,
        tol=tol,
        max_iter=max_iter,
        class_weight=np.ones(2),
        cache_size=200,
    )
    found = np.zeros(len(K))
    found[support] = -dual[0]  # LIBSVM's first class is the negative one
    return found, -float(intercept[0]), status == 0


def liblinear_seed(random_state: Any) -> int:
    """Return the seed that ``LinearSVC`` draws from its ``random_state``."""
    return int(check_random_state(random_state).randint(np.iinfo("i").max))
