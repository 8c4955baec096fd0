"""The search over the width of a kernel and the C of SVMs on it (Zhang and Zhou 2010)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ParameterGrid
from sklearn.utils.validation import check_is_fitted

from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.sklearn_private import take_samples
from eigenlabel.inputs.warning import ignored
from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.ties import first_largest
from eigenlabel.metrics import METRICS
from eigenlabel.model_selection import MultilabelStratifiedKFold
from eigenlabel.reproduce.hinge_svms import HingeSVMs


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
        Name of a metric of label sets in :data:`eigenlabel.metrics.METRICS`, of which more is
        better. Its mean over the folds selects the candidate.
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
        total = np.zeros((len(kernels), len(self.costs)))
        folds = list(MultilabelStratifiedKFold(self.cv).split(X, y))
        with ignored(ConvergenceWarning):  # the final fit issues its own warnings
            for train, test in folds:
                parts = take_samples(self.kernel, X, y, train)
                held_out = take_samples(self.kernel, X, y, test, train)
                for k, one in enumerate(kernels):
                    total[k] += self._scores(one, *parts, *held_out)
        self.scores_ = total / len(folds)
        best = np.unravel_index(first_largest(self.scores_.ravel()), total.shape)
        self.best_score_ = float(self.scores_[best])
        chosen, C = kernels[int(best[0])], float(self.costs[int(best[1])])
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
        models = self._fit_svms(kernel.transform(X), Y, self.costs)
        return [float(metric.function(Y_new, model.predict(K_new))) for model in models]

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of samples."""
        check_is_fitted(self)
        return self.svm_.decision_function(self.kernel_.transform(X))

    def predict(self, X: Any) -> Any:
        """Predict label sets: scores above zero."""
        check_is_fitted(self)
        return self.svm_.predict(self.kernel_.transform(X))
