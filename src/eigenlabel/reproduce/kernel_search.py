"""The search over the width of a kernel and the C of SVMs on it (Zhang and Zhou 2010)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils.validation import check_is_fitted

from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.linalg._types import Floats
from eigenlabel.metrics import METRICS
from eigenlabel.reproduce.hinge_svms import HingeSVMs
from eigenlabel.reproduce.projection_search import search_by_folds


class KernelSearchCV(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """SVMs on a kernel, whose parameters and C folds choose together.

    The result is that of a GridSearchCV of a pipeline, but each kernel matrix is computed once for
    each fold, and serves all C.

    Parameters
    ----------
    kernel : transformer
        Kernel values with the training samples. It is cloned.
    kernel_grid : dict
        Maps parameters of the kernel to their candidates.
    costs : sequence of float
        The candidates for C, ascending.
    scoring : str, default="f1_micro"
        Name of a metric of label sets in :data:`eigenlabel.metrics.METRICS`. Its mean over the
        folds selects the candidate; the sign of losses is changed.
    cv : int, default=5
        The number of folds, which are stratified by labels.

    Attributes
    ----------
    best_params_ : dict
        The chosen parameters of the kernel, and C.
    best_score_ : float
        Their mean score.
    scores_ : ndarray of shape (n_kernels, n_costs)
        The mean scores.
    kernel_ : transformer
        The chosen kernel, fitted to all samples.
    svm_ : HingeSVMs
        The SVMs on it.
    classes_ : ndarray of shape (n_labels,)
        The columns of the label matrix.
    n_features_in_ : int
        The number of features of X.
    """

    def __init__(
        self,
        kernel: Any,
        kernel_grid: Mapping[str, Any],
        costs: Sequence[float] | np.ndarray,
        scoring: str = "f1_micro",
        cv: int = 5,
    ) -> None:
        self.kernel = kernel
        self.kernel_grid = kernel_grid
        self.costs = costs
        self.scoring = scoring
        self.cv = cv

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "KernelSearchCV":
        """Choose the parameters by folds, and fit to all samples with them."""
        y = np.asarray(y)
        kernels = list(ParameterGrid(dict(self.kernel_grid)))
        self.scores_, best = search_by_folds(self.kernel, kernels, self._scores, X, y, self.cv)
        self.best_score_ = float(self.scores_[best])
        chosen, C = kernels[best[0]], float(self.costs[best[1]])
        self.best_params_ = {**chosen, "C": C}
        self.kernel_ = clone(self.kernel).set_params(**chosen).fit(X, y)
        self.svm_ = self._fit_svms(self.kernel_.transform(X), y, [C])[0]
        self.classes_ = np.arange(y.shape[1])
        self.n_features_in_ = X.shape[1]
        return self

    @staticmethod
    def _fit_svms(K: Floats, Y: Any, costs: Sequence[float] | np.ndarray) -> list[HingeSVMs]:
        return HingeSVMs(kernel="precomputed").fit_path(K, Y, costs)

    def _scores(self, one: dict[str, Any], X: Any, Y: Any, X_new: Any, Y_new: Any) -> list[float]:
        """Return the score of each C on one kernel."""
        kernel = clone(self.kernel).set_params(**one).fit(X, Y)
        K_new = kernel.transform(X_new)
        metric = METRICS[self.scoring]
        sign = 1.0 if metric.greater_is_better else -1.0
        models = self._fit_svms(kernel.transform(X), Y, self.costs)
        return [sign * float(metric.function(Y_new, model.predict(K_new))) for model in models]

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of samples."""
        check_is_fitted(self)
        return self.svm_.decision_function(self.kernel_.transform(X))

    def predict(self, X: Any) -> Any:
        """Predict label sets: scores above zero."""
        check_is_fitted(self)
        return self.svm_.predict(self.kernel_.transform(X))
