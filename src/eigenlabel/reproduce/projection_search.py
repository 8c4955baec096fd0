"""The search over a projection and the classifier after it, as several papers tune them."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from eigenlabel.estimators.meta.thresholded import ThresholdedClassifier
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.sklearn_private import take_samples
from eigenlabel.inputs.warning import ignored
from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.ties import first_largest
from eigenlabel.metrics import METRICS
from eigenlabel.model_selection import MultilabelStratifiedKFold
from eigenlabel.thresholds import get_rule

RULE = "f1"  # thresholds of each label that maximise F1 on the training scores


def with_training_thresholds(classifier: Any) -> Any:
    """Return the classifier with thresholds that maximise F1 on the training scores."""
    return ThresholdedClassifier(classifier, strategy=RULE, cv=None, calibration=None)


class ProjectionSearchCV(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A projection and a classifier after it, whose parameters folds choose together.

    The result is that of a GridSearchCV of a pipeline with thresholds on training scores, but each
    projection is fitted once for each fold and projects its samples once, for all candidates of the
    classifier.

    Parameters
    ----------
    projection : transformer
        The projection, with the parameter ``reg``. It is cloned.
    classifier : classifier
        The classifier, with ``decision_function``. It is cloned.
    penalties : array-like of float
        The candidates for ``reg``.
    grid : dict
        Maps parameters of the classifier to their candidates.
    scoring : str, default="f1_macro"
        Name of the metric in :data:`eigenlabel.metrics.METRICS` whose mean over the folds selects
        the candidate. It reads label sets or scores.
    cv : int, default=5
        The number of folds, which are stratified by labels.

    Attributes
    ----------
    best_params_ : dict
        The chosen parameters, ``reg`` and those of the classifier.
    best_score_ : float
        Their mean score.
    scores_ : ndarray of shape (n_penalties, n_candidates)
        The mean scores.
    best_estimator_ : ThresholdedClassifier
        The pipeline with these parameters, fitted to all samples.
    classes_ : ndarray of shape (n_labels,)
        The columns of the label matrix.
    n_features_in_ : int
        The number of features of X.
    """

    def __init__(
        self,
        projection: Any,
        classifier: Any,
        penalties: Any,
        grid: Mapping[str, Any],
        scoring: str = "f1_macro",
        cv: int = 5,
    ) -> None:
        self.projection = projection
        self.classifier = classifier
        self.penalties = penalties
        self.grid = grid
        self.scoring = scoring
        self.cv = cv

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "ProjectionSearchCV":
        """Choose the parameters by folds, and fit to all samples with them."""
        y = np.asarray(y)
        candidates = list(ParameterGrid(dict(self.grid)))
        total = np.zeros((len(self.penalties), len(candidates)))
        folds = list(MultilabelStratifiedKFold(self.cv).split(X, y))
        with ignored(ConvergenceWarning):  # the final fit issues its own warnings
            for train, test in folds:
                parts = take_samples(self.projection, X, y, train)
                held_out = take_samples(self.projection, X, y, test, train)
                for k, reg in enumerate(self.penalties):
                    total[k] += list(self._scores(reg, candidates, *parts, *held_out))
        self.scores_ = total / len(folds)
        best = np.unravel_index(first_largest(self.scores_.ravel()), total.shape)
        self.best_score_ = float(self.scores_[best])
        reg, chosen = self.penalties[int(best[0])], candidates[int(best[1])]
        self.best_params_ = {"reg": reg, **chosen}
        projection = clone(self.projection).set_params(reg=reg)
        then = clone(self.classifier).set_params(**chosen)
        model = Pipeline([("projection", projection), ("then", then)])
        self.best_estimator_ = with_training_thresholds(model).fit(X, y)
        self.classes_ = np.arange(y.shape[1])
        self.n_features_in_ = X.shape[1]
        return self

    def _scores(
        self, reg: float, candidates: list[dict[str, Any]], X: Any, Y: Any, X_new: Any, Y_new: Any
    ) -> Iterator[float]:
        """Yield the score of each candidate of the classifier after one projection."""
        projection = clone(self.projection).set_params(reg=reg).fit(X, Y)
        Z, Z_new = projection.transform(X), projection.transform(X_new)
        metric, rule = METRICS[self.scoring], get_rule(RULE)
        sign = 1.0 if metric.greater_is_better else -1.0
        for one in candidates:
            model = clone(self.classifier).set_params(**one).fit(Z, Y)
            found = model.decision_function(Z_new)
            if metric.reads == "labels":
                values = np.asarray(model.decision_function(Z))
                thresholds = rule.find_thresholds(values, Y.astype(bool), None)
                found = rule.decide(found, thresholds)
            yield sign * float(metric.function(Y_new, found))

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of samples."""
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.decision_function(X))

    def predict(self, X: Any) -> Any:
        """Predict label sets by the thresholds of the training scores."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)
