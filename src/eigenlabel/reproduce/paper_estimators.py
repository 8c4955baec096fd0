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
from eigenlabel.estimators.views.kernel_sum import KernelSum
from eigenlabel.experiment.grid_search import LastFits
from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing
from eigenlabel.kernels.factor import factorise_samples
from eigenlabel.kernels.kernel import Kernel
from eigenlabel.linalg._types import Floats, Matrix
from eigenlabel.linalg.directions import without_constants

_widest = LastFits(2)  # projections that AtShare reuses


class AtDimensionOfMDDM(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A projection to the dimension that MDDM needs for 99.9% of the dependence.

    Zhang and Zhou (2010) compare all methods at this dimension, the uncorrelated MDDM too. MDDM
    uses the kernels of the projection, of samples and of labels, if the projection has them.

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
            if name in ("kernel", "gamma", "label_kernel", "label_gamma")
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


class LabelLDA(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Linear discriminant analysis on each label by itself, to one dimension.

    The direction of a label is ``(S + reg I)^-1 (mean of its samples - mean of the others)``, with
    S the total scatter; the within-class scatter has the same direction. It is scaled to
    ``w'(S + reg I)w = 1``, as in :class:`eigenlabel.LDA` on this label alone. One factorisation
    serves all labels.

    Parameters
    ----------
    reg : float, default=1e-3
        Ridge that is added to the scatter, at least 0.

    Attributes
    ----------
    components_ : ndarray of shape (n_labels, n_features)
        The direction of each label. It is zero for a label that all samples or none have.
    """

    def __init__(self, reg: float = 1e-3) -> None:
        self.reg = reg

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "LabelLDA":
        """Find the direction of each label."""
        factor = factorise_samples(Kernel("linear"), X)
        T = without_constants(np.asarray(y, dtype=float))
        C = factor.solve(T, [self.reg / factor.total]).coefficients[0]
        squared = np.einsum("ij,ij->j", factor.gradient(T) * factor.total, factor.metric(C))
        W = factor.export(C / np.sqrt(np.where(squared > 0, squared, np.inf)))
        self.components_ = W.T
        self._offset = factor.origin @ W
        return self

    def transform(self, X: Any) -> Floats:
        """Return one feature for each label."""
        check_is_fitted(self)
        return np.asarray(X @ self.components_.T) - self._offset


class OwnFeature(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A binary classifier for each label, on the feature of that label alone.

    Parameters
    ----------
    estimator : classifier
        The binary classifier. It is cloned.

    Attributes
    ----------
    estimators_ : list of classifier
        The fitted classifiers. It has None for a label that all samples or none have.
    classes_ : ndarray of shape (n_labels,)
        The columns of the label matrix.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "OwnFeature":
        """Fit each classifier to its column of X and of y."""
        y = np.asarray(y)
        self.classes_ = np.arange(y.shape[1])
        self.estimators_ = [
            clone(self.estimator).fit(X[:, [j]], t) if t.any() and not t.all() else None
            for j, t in enumerate(y.T)
        ]
        self._constant = np.where(y.any(axis=0), 1.0, -1.0)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of samples."""
        check_is_fitted(self)
        scores = np.tile(self._constant, (len(X), 1))
        for j, one in enumerate(self.estimators_):
            if one is not None:
                scores[:, j] = one.decision_function(X[:, [j]])
        return scores

    def predict(self, X: Any) -> Any:
        """Predict label sets: scores above zero."""
        return (self.decision_function(X) > 0).astype(int)


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


class Reduced(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that is fitted to the first samples, features and labels only.

    The time of its fit is that of a problem of this size. Features are ordered by the number of
    samples that have them and labels by the number of samples, the most frequent first, so that
    smaller problems are parts of larger ones. Labels that are left out have the score -1.

    Parameters
    ----------
    estimator : classifier
        The classifier. It is cloned.
    samples, features, labels : int or None, default=None
        How many are used. None uses all.

    Attributes
    ----------
    columns_ : ndarray of shape (n_used,)
        The features that are used.
    labels_ : ndarray of shape (n_used,)
        The labels that are used.
    estimator_ : classifier
        The fitted classifier.
    classes_ : ndarray of shape (n_labels,)
        The columns of the label matrix.
    """

    def __init__(
        self,
        estimator: Any,
        samples: int | None = None,
        features: int | None = None,
        labels: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.samples = samples
        self.features = features
        self.labels = labels

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "Reduced":
        """Fit the classifier to the part of the data."""
        y = np.asarray(y)
        used = (X != 0).sum(axis=0)
        self.columns_ = np.sort(_most(np.asarray(used).ravel(), self.features))
        self.labels_ = np.sort(_most(y.sum(axis=0), self.labels))
        self.classes_ = np.arange(y.shape[1])
        X, y = X[: self.samples][:, self.columns_], y[: self.samples][:, self.labels_]
        self.estimator_ = clone(self.estimator).fit(X, y)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of samples, -1 for labels that are left out."""
        check_is_fitted(self)
        scores = np.full((X.shape[0], len(self.classes_)), -1.0)
        scores[:, self.labels_] = self.estimator_.decision_function(X[:, self.columns_])
        return scores

    def predict(self, X: Any) -> Any:
        """Predict label sets, without the labels that are left out."""
        check_is_fitted(self)
        found = np.zeros((X.shape[0], len(self.classes_)), dtype=int)
        found[:, self.labels_] = np.asarray(self.estimator_.predict(X[:, self.columns_]))
        return found


def _most(counts: Any, number: int | None) -> Any:
    """Return the positions of the largest counts, the first of equal ones first."""
    return np.argsort(-np.asarray(counts), kind="stable")[:number]


class SeveralKernels(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The weighted sum of several kernels of each view, with the training samples.

    The kernels have a unit diagonal by default, so that none outweighs the others by its scale. The
    result is a kernel matrix for any method with ``kernel="precomputed"``.

    Parameters
    ----------
    kernels : tuple of str, default=("cosine", "rbf", "laplacian")
        The kernels of each view. ("precomputed",) if each view is a kernel matrix; an experiment
        on kernel matrices sets this.
    which : str or None, default=None
        The one kernel of each view to use. None uses all of them.
    weights : None, list of float, "alignment" or "heldout", default=None
        The weights of the kernels, see :class:`eigenlabel.KernelSum`. None is the uniform sum.
    views : dict of str to slice or None, default=None
        Maps the name of a view to its columns. None is one view of all columns. An experiment sets
        it to the views of the data.

    Attributes
    ----------
    sum_ : KernelSum
        The fitted sum of kernels.

    Examples
    --------
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> from eigenlabel.reproduce.paper_estimators import SeveralKernels
    >>> data = make_shared_subspace(30, random_state=0)
    >>> SeveralKernels().fit(data.X, data.Y).transform(data.X).shape
    (30, 30)
    """

    def __init__(
        self,
        kernels: tuple[str, ...] = ("cosine", "rbf", "laplacian"),
        which: str | None = None,
        weights: Any = None,
        views: Any = None,
    ) -> None:
        self.kernels = kernels
        self.which = which
        self.weights = weights
        self.views = views

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "SeveralKernels":
        """Settle the kernels and find their weights."""
        used = self.kernels if self.which is None else (self.which,)
        if not set(used) <= set(self.kernels):
            raise ValueError(f"which must be one of {', '.join(self.kernels)}, got {self.which!r}.")
        views = self.views or {"X": slice(0, X.shape[1])}
        places = {(view, kernel): columns for view, columns in views.items() for kernel in used}
        columns = {", ".join(key): place for key, place in places.items()}
        kernel = {", ".join(key): key[1] for key in places}
        self.sum_ = KernelSum(self.weights, kernel=kernel, views=columns).fit(X, y)
        return self

    def transform(self, X: Any) -> Floats:
        """Compute the sum of kernels of samples with the training samples."""
        check_is_fitted(self)
        return np.asarray(self.sum_.transform(X))
