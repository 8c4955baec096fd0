"""Estimators that only the protocols of the papers need: steps around a projection or a model.

scikit-learn has no type annotations, so mypy does not know the base classes.
"""

from math import ceil
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.validation import check_is_fitted

from eigenlabel.estimators.projection.mddm import MDDM
from eigenlabel.experiment.grid_search import LastFits
from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing
from eigenlabel.linalg._types import Floats, Matrix

_widest = LastFits(2)  # projections that AtShare reuses


class AtDimensionOfMDDM(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A projection to the dimension that MDDM needs for 99.9% of the dependence.

    Zhang and Zhou (2010) compare all methods at this dimension. MDDM uses the kernel of the
    projection if the projection has one.

    Parameters
    ----------
    projection : transformer
        The projection. It is cloned.
    parameter : str, default="n_components"
        Name of the projection's parameter that sets the dimension.

    Attributes
    ----------
    dimension_ : int
        The dimension.
    projection_ : transformer
        The fitted projection.

    Examples
    --------
    >>> from eigenlabel import PCA
    >>> from eigenlabel.catalogue import AtDimensionOfMDDM
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(random_state=0)
    >>> model = AtDimensionOfMDDM(PCA()).fit(data.X, data.Y)
    >>> model.transform(data.X).shape[1] == model.dimension_
    True
    """

    def __init__(self, projection: Any, parameter: str = "n_components") -> None:
        self.projection = projection
        self.parameter = parameter

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "AtDimensionOfMDDM":
        """Find the dimension and fit the projection.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.
        y : array-like or sparse matrix of shape (n_samples, n_labels)
            The label matrix.

        Returns
        -------
        AtDimensionOfMDDM
            The fitted transformer.
        """
        kernel = {
            name: value
            for name, value in self.projection.get_params().items()
            if name in ("kernel", "gamma")
        }
        self.dimension_ = max(1, MDDM(**kernel).fit(X, y).n_components_)
        chosen = clone(self.projection).set_params(**{self.parameter: self.dimension_})
        self.projection_ = chosen.fit(X, y)
        return self

    def transform(self, X: Any) -> Any:
        """Project samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples, dimension_)
            The projected samples.
        """
        check_is_fitted(self)
        return self.projection_.transform(X)


class OnGaussianKernel(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Gaussian kernel values with the training samples, after a projection of the same width.

    One kernel matrix serves the SVMs of all labels.

    Parameters
    ----------
    projection : transformer or None, default=None
        The projection. It is cloned, and ``gamma`` is set wherever it has this parameter. None
        uses the original features.
    gamma : float, default=0.5
        The width of the kernel exp(-gamma ||x - x'||^2).

    Attributes
    ----------
    projection_ : transformer or None
        The fitted projection.
    training_ : array or sparse matrix of shape (n_train, dimension)
        The projected training samples.

    Examples
    --------
    >>> from eigenlabel.catalogue import OnGaussianKernel
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(30, random_state=0)
    >>> OnGaussianKernel().fit_transform(data.X, data.Y).shape
    (30, 30)
    """

    def __init__(self, projection: Any = None, gamma: float = 0.5) -> None:
        self.projection = projection
        self.gamma = gamma

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "OnGaussianKernel":
        """Fit the projection and store the projected training samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.
        y : array-like or sparse matrix of shape (n_samples, n_labels)
            The label matrix.

        Returns
        -------
        OnGaussianKernel
            The fitted transformer.
        """
        self.projection_ = None
        if self.projection is not None:
            made = clone(self.projection)
            names = [n for n in made.get_params() if n.rpartition("__")[2] == "gamma"]
            self.projection_ = made.set_params(**dict.fromkeys(names, self.gamma)).fit(X, y)
        self.training_ = self._project(X)
        return self

    def _project(self, X: Any) -> Any:
        return X if self.projection_ is None else self.projection_.transform(X)

    def transform(self, X: Any) -> Floats:
        """Compute the kernel values of samples with the training samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples, n_train)
            The kernel values.
        """
        check_is_fitted(self)
        kernel: Floats = rbf_kernel(self._project(X), self.training_, self.gamma)
        return kernel


class AtShare(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A projection to a share of the dimension of the original features.

    The projection to the widest share is fitted once for all shares, because the directions are
    nested. A feature selector is fitted for each share.

    Parameters
    ----------
    projection : transformer
        The projection. It is cloned.
    share : float
        Share of the original dimension, rounded up.
    widest : float, default=1.0
        The largest share that is used with the same data.

    Attributes
    ----------
    dimension_ : int
        The dimension.
    projection_ : transformer
        The projection, fitted for the widest share.
    """

    def __init__(self, projection: Any, share: float, widest: float = 1.0) -> None:
        self.projection = projection
        self.share = share
        self.widest = widest

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "AtShare":
        """Fit the projection, or reuse the one that was fitted for another share."""
        d = X.shape[1]
        self.dimension_ = ceil(self.share * d)
        if "n_components" not in self.projection.get_params():  # a selector, which is fast
            chosen = clone(self.projection).set_params(n_features_to_select=self.dimension_)
            self.projection_ = chosen.fit(X, y)
            return self
        widest = clone(self.projection).set_params(n_components=ceil(self.widest * d))
        self.projection_ = _widest.cache(_fit)(widest, X, y)
        return self

    def transform(self, X: Any) -> Matrix:
        """Project samples; a projection with fewer directions returns all of them."""
        check_is_fitted(self)
        Z = self.projection_.transform(X)
        return Z[:, : self.dimension_]


def _fit(projection: Any, X: Any, y: Any) -> Any:
    return projection.fit(X, y)


class ViewChoice(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier on one of the views, or on all views as if they were one.

    Parameters
    ----------
    estimator : classifier
        The classifier. It is cloned.
    which : int or "joined"
        Position of the view, or "joined" for the columns of all views.
    views : dict of str to slice or None, default=None
        Maps the name of a view to its columns. An experiment sets it to the views of the data.

    Attributes
    ----------
    columns_ : ndarray of shape (n_columns,)
        The columns that are used.
    estimator_ : classifier
        The fitted classifier.
    """

    def __init__(self, estimator: Any, which: int | str, views: Any = None) -> None:
        self.estimator = estimator
        self.which = which
        self.views = views

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "ViewChoice":
        """Fit the classifier to the chosen columns."""
        slices = list(self.views.values())
        kept = [slices[self.which]] if isinstance(self.which, int) else slices
        self.columns_ = np.concatenate([np.arange(X.shape[1])[s] for s in kept])
        self.estimator_ = clone(self.estimator).fit(X[:, self.columns_], y)
        return self

    def decision_function(self, X: Any) -> Any:
        """Return the scores of samples, from the chosen columns."""
        check_is_fitted(self)
        return self.estimator_.decision_function(X[:, self.columns_])

    def predict(self, X: Any) -> Any:
        """Predict label sets from the chosen columns."""
        check_is_fitted(self)
        return self.estimator_.predict(X[:, self.columns_])
