"""A weighted sum of the views' kernels, for any method that accepts one precomputed kernel."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from eigenlabel.estimators.views.kernels import (
    VIEW_KERNEL_PARAMETERS,
    KernelSettings,
    TrainingView,
    fit_kernels,
    view_kernel_tags,
)
from eigenlabel.estimators.views.tables import as_float
from eigenlabel.estimators.views.view_weights import (
    VIEW_WEIGHTS,
    alignments,
    common_rows,
    heldout_sum,
    minimise_quadratic,
)
from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing
from eigenlabel.inputs.parameters import POSITIVE, Parameters, check_parameters
from eigenlabel.inputs.views import per_view, read_views
from eigenlabel.kernels.gram import gram_matrix
from eigenlabel.kernels.kernel import check_finite_kernel
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.gram_matrices import centre_gram
from eigenlabel.linalg.machine import check_memory


class KernelSum(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Add up the kernels of several views, weighted, into one kernel with the training samples.

    ``transform`` returns ``sum_j w_j K_j(new, training)``, which estimators with
    ``kernel="precomputed"`` accept. The kernel values of a sample that is missing in a view are
    zero there.

    Cost: the kernel values, n^2 numbers in all. ``weights="alignment"`` needs n^2 V^2 more
    operations for V views, ``weights="heldout"`` n^3 V at each of some dozen steps.

    Parameters
    ----------
    weights : None, list or dict of float, "alignment" or "heldout", default=None
        The weights of the kernels, numbers >= 0. None stands for 1 / n_views each. "alignment" is
        the sum with the largest centred alignment with the labels' kernel Y Y' (Cortes et al.
        2012), which is found exactly. "heldout" is the sum with the smallest leave-one-out squared
        error of kernel ridge regression among weights >= 0 that sum to one; it is a local minimum
        that is no worse than equal weights or any kernel alone. Learnt weights sum to one.
    ridge : float, default=0.1
        The penalty, > 0, of the ridge regression of ``weights="heldout"``, which has an intercept.
    kernel : str, callable, list or dict, default="rbf"
        The kernel of all views, or one by view: "linear", "poly", "rbf", "sigmoid", "cosine",
        "laplacian", "chi2" or "intersection" (of histograms), or "precomputed". A callable takes
        two matrices and returns the kernel matrix of their rows.
    gamma : float, list, dict or None, default=None
        The bandwidth of the kernels, or one by view, >= 0. None stands for 1 / (2 sigma^2) with
        sigma the mean distance of training samples for "rbf", 1 for "chi2" and 1 / n_features for
        the others.
    degree : float, default=3
        The power of the kernel "poly".
    coef0 : float, default=1
        The constant of the kernels "poly" and "sigmoid".
    views : dict or None, default=None
        The columns of each view in one matrix X, by name: a slice, positions, a mask, or the names
        of columns of a frame. None if X is several tables (:class:`Views`, dict or list), or one
        view.
    transformers : transformer, dict or None, default=None
        A transformer for all views, or one by view, that is fitted to the samples of the view
        before its kernel.

    Attributes
    ----------
    weights_ : ndarray of shape (n_views,)
        The weights of the kernels.
    view_names_ : tuple of str
        The names of the views, in order.
    views_ : dict
        The fitted views by name, with the attributes ``kernel`` and ``transformer``.
    n_features_in_ : int
        The number of columns of X, or of all tables together.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns, if X was a frame.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from eigenlabel import KernelSum, SharedSubspaceClassifier
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> views = {"left": slice(0, 10), "right": slice(10, 50)}
    >>> model = make_pipeline(
    ...     KernelSum(weights="alignment", views=views),
    ...     SharedSubspaceClassifier(kernel="precomputed"),
    ... ).fit(data.X[:150], data.Y[:150])
    >>> model.predict(data.X[150:]).shape
    (50, 6)
    """

    _parameters: ClassVar[Parameters] = {
        "weights": VIEW_WEIGHTS,
        "ridge": POSITIVE,
        **VIEW_KERNEL_PARAMETERS,
    }

    def __init__(
        self,
        weights: Any = None,
        *,
        ridge: float = 0.1,
        kernel: Any = "rbf",
        gamma: Any = None,
        degree: float = 3,
        coef0: float = 1,
        views: Any = None,
        transformers: Any = None,
    ) -> None:
        self.weights = weights
        self.ridge = ridge
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.views = views
        self.transformers = transformers

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> "KernelSum":
        """Settle the kernels of X and find their weights.

        Parameters
        ----------
        X : array, sparse matrix, frame, Views, dict or list
            The training samples (n_samples, n_features), several tables of them, or kernels.
        y : array or sparse matrix, default=None
            The 0/1 label matrix (n_samples, n_labels), or a vector of classes. It is needed for
            weights that are learnt.

        Returns
        -------
        self : KernelSum
            The fitted transformer.
        """
        check_parameters(self)
        parts, self._layout = read_views(self, X, self.views, kernel=self.kernel)
        settings = KernelSettings(
            self.kernel, self.gamma, self.degree, self.coef0, self.transformers
        )
        self.views_, training = fit_kernels(parts, settings, keep_samples=True)
        self.view_names_ = self._layout.names
        self._rows = [view.rows for view in training]
        self.weights_ = self._find_weights(training, y)
        return self

    def _find_weights(self, training: list[TrainingView], y: Any) -> Floats:
        equal = np.full(len(training), 1 / len(training))
        if self.weights is None:
            return equal
        if not isinstance(self.weights, str):
            given = per_view("weights", self.weights, self.view_names_)
            return np.array([float(value) for value in given.values()])
        _, Y = LabelCodec.fit(y)
        check_consistent_length(np.empty(self._layout.n_samples), Y)
        T = Y.astype(float)
        if self.weights == "alignment":
            found = minimise_quadratic(*alignments(training, T))
        else:
            found = self._heldout(training, T)
        return np.asarray(found / found.sum()) if found.any() else equal

    def _heldout(self, training: list[TrainingView], T: Floats) -> Floats:
        common = common_rows(training, len(T))
        check_memory(len(common), "kernel matrices of all views")
        kernels = []
        for view in training:
            place = np.searchsorted(view.rows, common)
            where = f"view {view.name!r}"
            K = gram_matrix(view.kernel, view.samples, f"kernel matrix of {where}", where).K
            kernels.append(centre_gram(K[np.ix_(place, place)], None)[0])
        return heldout_sum(kernels, T[common] - T[common].mean(axis=0), self.ridge)

    def transform(self, X: Any) -> Floats:
        """Compute the weighted sum of kernels with the training samples.

        Parameters
        ----------
        X : array, sparse matrix, frame, Views, dict or list
            The samples (n_samples, n_features), several tables of them, or kernels with the
            training samples.

        Returns
        -------
        K : ndarray of shape (n_samples, n_training_samples)
            The kernel values. They are zero for a sample that no view has.
        """
        check_is_fitted(self)
        parts = self._layout.read(self, X)
        out = np.zeros((len(parts[0].here), self._layout.n_samples))
        for part, rows, weight in zip(parts, self._rows, self.weights_, strict=True):
            if part.here.any() and weight:
                fitted = self.views_[part.name]
                samples = fitted.prepare(part)
                if fitted.X is not None:
                    samples = as_float(samples)
                out[np.ix_(part.here, rows)] += weight * fitted.kernel(samples, fitted.X)
        with np.errstate(over="ignore"):
            out = out.astype(self._layout.dtype, copy=False)
        check_finite_kernel(out, self.kernel, "these samples")
        return out

    @property
    def _n_features_out(self) -> int:
        return self._layout.n_samples

    def __sklearn_tags__(self) -> Any:
        tags = view_kernel_tags(super().__sklearn_tags__(), self.views, self.kernel)
        tags.target_tags.required = isinstance(self.weights, str)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
