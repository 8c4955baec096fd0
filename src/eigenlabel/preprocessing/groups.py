"""Apply a transformer of its own to each group of columns."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, validate_data

from eigenlabel.inputs.data import canonical, check_sparse, without_stored_zeros
from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing, plain_arrays
from eigenlabel.inputs.sklearn_private import feature_names
from eigenlabel.linalg._types import Matrix
from eigenlabel.linalg.operators import is_sparse
from eigenlabel.preprocessing.encoders import DateParts, OneHotLevels


class ColumnGroups(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Apply one transformer to each group of columns and put the results side by side.

    Unlike scikit-learn's ``ColumnTransformer``, it stores groups of columns that are slices as
    slices, so that the file of a model with 100,000 words is small. The result is sparse if that of
    any transformer is sparse.

    Parameters
    ----------
    groups : list of (str, transformer, slice or int array)
        The name of each group, its transformer and its columns.

    Attributes
    ----------
    transformers_ : list of transformers
        The fitted transformers, in the order of the groups.
    n_features_in_ : int
        The number of features of X in ``fit``.
    feature_names_in_ : array of str of shape (n_features_in_,)
        The names of the features, if X in ``fit`` has names.

    Examples
    --------
    >>> from sklearn.preprocessing import Normalizer, StandardScaler
    >>> from eigenlabel.preprocessing import ColumnGroups
    >>> groups = [("size", StandardScaler(), slice(0, 1)), ("words", Normalizer(), slice(1, 3))]
    >>> ColumnGroups(groups).fit_transform([[1.0, 3, 4], [3, 0, 2]]).tolist()
    [[-1.0, 0.6, 0.8], [1.0, 0.0, 1.0]]
    """

    def __init__(self, groups: Any) -> None:
        self.groups = groups

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> "ColumnGroups":
        """Fit the transformer of each group to its columns.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            The training features.
        y : object, default=None
            Passed to the transformers.

        Returns
        -------
        self : ColumnGroups
            The fitted transformer.
        """
        self.fit_transform(X, y)
        return self

    @all_or_nothing
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit the transformers and return the prepared columns, group by group.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            The training features.
        y : object, default=None
            Passed to the transformers.

        Returns
        -------
        X_new : array or sparse matrix of shape (n_samples, n_prepared)
            The prepared features.
        """
        X = self._check(X, reset=True)
        transformers = [clone(transformer) for _, transformer, _ in self.groups]
        with plain_arrays():
            parts = [
                transformer.fit_transform(X[:, columns], y)
                for transformer, (_, _, columns) in zip(transformers, self.groups, strict=True)
            ]
        self.transformers_ = transformers
        return _side_by_side(parts)

    def transform(self, X: Any) -> Any:
        """Return the prepared columns, group by group.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            The features.

        Returns
        -------
        X_new : array or sparse matrix of shape (n_samples, n_prepared)
            The prepared features.
        """
        check_is_fitted(self)
        X = self._check(X, reset=False)
        fitted = zip(self.transformers_, self.groups, strict=True)
        with plain_arrays():
            parts = [t.transform(X[:, columns]) for t, (_, _, columns) in fitted]
        return _side_by_side(parts)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the prepared columns.

        Parameters
        ----------
        input_features : array of str, default=None
            The names of the features. By default they are those of X in ``fit``.

        Returns
        -------
        names : array of str of shape (n_prepared,)
            The names.
        """
        check_is_fitted(self)
        names = feature_names(self, input_features)
        fitted = zip(self.transformers_, self.groups, strict=True)
        return np.concatenate([t.get_feature_names_out(names[c]) for t, (_, _, c) in fitted])

    def sources(self, width: int) -> np.ndarray:
        """Return for each prepared column the column of X that it is computed from.

        Parameters
        ----------
        width : int
            The number of columns of X.

        Returns
        -------
        columns : int array of shape (n_prepared,)
            The columns of X.
        """
        return np.concatenate([_sources(t, np.arange(width)[c]) for _, t, c in self.groups])

    def _check(self, X: Any, reset: bool) -> Any:
        check_sparse(X, "X")
        rules = {"accept_sparse": "csr", "ensure_all_finite": "allow-nan", "reset": reset}
        return without_stored_zeros(validate_data(self, X, **rules))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


def _side_by_side(parts: list[Matrix]) -> Matrix:
    if any(map(is_sparse, parts)):
        return canonical(sp.csr_array(sp.hstack(parts, format="csr")))
    return np.hstack(parts)


def _sources(transformer: Any, columns: np.ndarray) -> np.ndarray:
    """Return the column of X that each column of a transformer is computed from."""
    last = transformer[-1] if isinstance(transformer, Pipeline) else transformer
    if isinstance(last, (OneHotLevels, DateParts)):
        return np.repeat(columns, last.widths())
    return columns
