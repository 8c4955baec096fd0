"""The search over a projection and the classifier after it, as several papers tune them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
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


def search_by_folds(
    first: Any,
    candidates: Sequence[Any],
    score: Callable[..., Iterable[float]],
    X: Any,
    y: Any,
    cv: int,
) -> tuple[Floats, tuple[int, int]]:
    """Return mean scores over folds, and the position of the best one.

    Parameters
    ----------
    first : transformer
        The first step, whose kind decides how samples are taken.
    candidates : sequence
        Its candidates; the rows of the scores.
    score : callable
        Returns the scores of one candidate, one for each candidate of the second step, given the
        candidate, training samples and labels, and held-out samples and labels.
    X : array or sparse matrix of shape (n, d)
        The samples.
    y : ndarray of shape (n, m)
        The labels.
    cv : int
        The number of folds, which are stratified by labels.
    """
    total: Any = 0.0
    folds = list(MultilabelStratifiedKFold(cv).split(X, y))
    with ignored(ConvergenceWarning):  # the final fit issues its own warnings
        for train, test in folds:
            parts = take_samples(first, X, y, train)
            held_out = take_samples(first, X, y, test, train)
            total = total + np.array([list(score(c, *parts, *held_out)) for c in candidates])
    scores = np.asarray(total / len(folds))
    row, column = np.unravel_index(first_largest(scores.ravel()), scores.shape)
    return scores, (int(row), int(column))


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
        score = partial(self._scores, candidates)
        self.scores_, best = search_by_folds(self.projection, self.penalties, score, X, y, self.cv)
        self.best_score_ = float(self.scores_[best])
        reg, chosen = self.penalties[best[0]], candidates[best[1]]
        self.best_params_ = {"reg": reg, **chosen}
        projection = clone(self.projection).set_params(reg=reg)
        then = clone(self.classifier).set_params(**chosen)
        model = Pipeline([("projection", projection), ("then", then)])
        self.best_estimator_ = with_training_thresholds(model).fit(X, y)
        self.classes_ = np.arange(y.shape[1])
        self.n_features_in_ = X.shape[1]
        return self

    def _scores(
        self, candidates: list[dict[str, Any]], reg: float, X: Any, Y: Any, X_new: Any, Y_new: Any
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
