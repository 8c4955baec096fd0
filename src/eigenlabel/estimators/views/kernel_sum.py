"""A weighted sum of the views' kernels, for any method that takes one precomputed kernel."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from eigenlabel.estimators.views.kernels import ViewKernelsMixin
from eigenlabel.estimators.views.weights import (
    RULES,
    TrainingView,
    alignments,
    common_rows,
    heldout_sum,
    minimise_quadratic,
)
from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing
from eigenlabel.inputs.validation import check_choice, check_number
from eigenlabel.inputs.views import as_float, per_view
from eigenlabel.kernels.gram import gram_matrix
from eigenlabel.kernels.kernel import check_finite_kernel
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg.gram_matrices import centre_gram
from eigenlabel.linalg.memory import check_memory


class KernelSum(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ViewKernelsMixin, BaseEstimator):
    """Add up the kernels of several views, weighted, into one kernel with the training samples.

    ``transform`` gives ``sum_j w_j K_j(new, training)``, which estimators with
    ``kernel="precomputed"`` take. A sample that a view lacks has kernel values zero there.

    Cost: the kernel values, n^2 numbers in all. ``weights="alignment"`` needs n^2 V^2 operations
    more for V views, ``weights="heldout"`` n^3 V at each of some dozen steps.

    Parameters
    ----------
    weights : None, list or dict of numbers >= 0, "alignment" or "heldout"
        1 / views each by default. "alignment": the sum with the largest centred alignment with the
        labels' kernel Y Y' (Cortes, Mohri, Rostamizadeh, JMLR 2012), exact. "heldout": the sum
        with the smallest leave-one-out squared error of kernel ridge regression among weights >= 0
        that sum to one; a local minimum, no worse than equal weights or any kernel alone.
        Learnt weights sum to one.
    ridge : float > 0, default=0.1
        Of that ridge regression on the sum, with an intercept.
    kernel, gamma, degree, coef0, views, transformers
        As in :class:`KGHA`.

    Attributes
    ----------
    weights_ : (n_views,)
    view_names_ : of the views, in order
    views_ : dict of the fitted views

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

    approximation = None  # a sum of feature maps would not be one kernel matrix

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
        """Settle the kernels of X and find their weights; y is needed for weights that are learnt.

        Parameters
        ----------
        X : dense or sparse (n_samples, n_features), or Views, dict or list of such or of kernels
        y : 0/1 label matrix (n_samples, n_labels), dense or sparse, or a vector of classes
        """
        check_number("ridge", self.ridge, np.finfo(float).tiny)
        self._check_views()
        views = self._read_views(X, reset=True)
        self._n = len(views)
        training = []
        for name, samples, rows in self._settle_views(views):
            training.append(TrainingView(rows, self.views_[name].kernel, samples, None))
            if self.views_[name].columns is None:
                self.views_[name].X = as_float(samples)
        self._rows = [view.rows for view in training]
        self.weights_ = self._find_weights(training, y)
        return self

    def _find_weights(self, training: list[TrainingView], y: Any) -> np.ndarray:
        if self.weights is None:
            return np.full(len(training), 1 / len(training))
        if not isinstance(self.weights, str):
            given = per_view("weights", self.weights, self.view_names_)
            for value in given.values():
                check_number("weights", value, 0)
            return np.array([float(value) for value in given.values()])
        check_choice("weights", self.weights, RULES)
        _, Y = LabelCodec.fit(y)
        check_consistent_length(np.empty(self._n), Y)
        T = Y.astype(float)
        if self.weights == "alignment":
            found = minimise_quadratic(*alignments(training, T))
        else:
            found = self._heldout(training, T)
        equal = np.full(len(training), 1 / len(training))
        return found / found.sum() if found.any() else equal

    def _heldout(self, training: list[TrainingView], T: np.ndarray) -> np.ndarray:
        common = common_rows(training, self._n)
        check_memory(len(common), "kernel matrices of all views")
        kernels = []
        for name, view in zip(self.view_names_, training, strict=True):
            place = np.searchsorted(view.rows, common)
            where = f"view {name!r}"
            K = gram_matrix(view.kernel, view.samples, f"kernel matrix of {where}", where).K
            kernels.append(centre_gram(K[np.ix_(place, place)], None)[0])
        return heldout_sum(kernels, T[common] - T[common].mean(axis=0), self.ridge)

    def transform(self, X: Any) -> np.ndarray:
        """Give the weighted sum of kernels with the training samples.

        Returns
        -------
        (n_samples, n_training_samples)
        """
        check_is_fitted(self)
        views = self._read_views(X, reset=False)
        out = np.zeros((len(views), self._n))
        tables = zip(self._tables(views), self._rows, self.weights_, strict=True)
        for (name, table, here), rows, weight in tables:
            if here.any() and weight:
                fitted = self.views_[name]
                samples = fitted.prepare(table, name)
                if fitted.X is not None:
                    samples = as_float(samples)
                out[np.ix_(here, rows)] += weight * fitted.kernel(samples, fitted.X)
        with np.errstate(over="ignore"):
            out = out.astype(self._dtype, copy=False)
        check_finite_kernel(out, self.kernel, "these samples")
        return out

    @property
    def _n_features_out(self) -> int:
        return self._n

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = isinstance(self.weights, str)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
