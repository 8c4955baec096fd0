"""Thresholds for any multi-label classifier that scores."""

import numbers
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import check_cv, cross_val_predict
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from eigenlabel._validation import check_row_weights
from eigenlabel.labels import LabelCodec
from eigenlabel.model_selection import MultilabelStratifiedKFold
from eigenlabel.thresholds import Rule, Zero, get_rule


def _response(estimator: Any) -> str:
    for method in ("decision_function", "predict_proba"):
        if hasattr(estimator, method):
            return method
    raise TypeError(
        f"{type(estimator).__name__} has neither decision_function nor predict_proba: thresholds "
        "need scores."
    )


def _as_matrix(response: Any, m: int) -> np.ndarray:
    """Give scores (n, m) from what scikit-learn's classifiers return for a label matrix."""
    if isinstance(response, list):  # one (n, 2) array of probabilities per label
        if any(p.shape[1] != 2 for p in response):
            raise ValueError(
                "A label is always or never present in some training part, so the classifier gives "
                "it no probability. Drop such labels or use fewer folds."
            )
        return np.column_stack([p[:, 1] for p in response])
    scores = np.asarray(response)
    return scores.reshape(-1, 1) if m == 1 and scores.ndim == 1 else scores


def _delegates(method: str) -> Any:
    def check(self: "ThresholdedClassifier") -> bool:
        getattr(getattr(self, "estimator_", self.estimator), method)
        return True

    return check


class ThresholdedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Give a multi-label classifier the thresholds that its scores deserve.

    Scores of all samples are collected by cross-validation, a rule of ``eigenlabel.thresholds``
    turns them into one threshold per label, and the classifier is fitted again on all samples.
    A vector y has no label sets; there the classifier decides by itself.

    Cost: the classifier's own fit, times the number of folds plus one.

    Parameters
    ----------
    estimator : classifier with decision_function or predict_proba that takes a label matrix
    strategy : str or rule, default="mixed"
        "zero", "f1", "fbr", "global", "top", "proportional", "mixed", or a rule with its own
        settings such as ``thresholds.Mixed(weight=0.5)``.
    cv : int, splitter, iterable or None
        Where held-out scores come from, an int being a MultilabelStratifiedKFold. None takes the
        scores of the training samples, as the papers did: optimistic for flexible models.
    n_jobs : int or None
        Folds fitted in parallel.

    Attributes
    ----------
    estimator_ : the fitted classifier
    thresholds_ : (n_labels,), absent for a vector y
    oof_scores_ : (n_samples, n_labels), the scores they were fitted to, absent for a vector y
    classes_ : as in the classifier

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.multiclass import OneVsRestClassifier
    >>> from eigenlabel import ThresholdedClassifier, metrics
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> data = make_shared_subspace(1000, noise=1.0, random_state=0)
    >>> train, test = slice(500), slice(500, 1000)
    >>> plain = OneVsRestClassifier(LogisticRegression()).fit(data.X[train], data.Y[train])
    >>> tuned = ThresholdedClassifier(plain).fit(data.X[train], data.Y[train])
    >>> before, after = (
    ...     metrics.f1_macro(data.Y[test], m.predict(data.X[test])) for m in (plain, tuned)
    ... )
    >>> after > before
    True
    """

    def __init__(
        self, estimator: Any, *, strategy: str | Rule = "mixed", cv: Any = 5, n_jobs: Any = None
    ) -> None:
        self.estimator = estimator
        self.strategy = strategy
        self.cv = cv
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, **fit_params: Any) -> "ThresholdedClassifier":
        """Fit the classifier and its thresholds; ``fit_params`` go to the classifier's fit."""
        self._rule = get_rule(self.strategy)
        self._codec, Y = LabelCodec.fit(y)
        for name in ("thresholds_", "oof_scores_"):
            vars(self).pop(name, None)  # of an earlier fit to a label matrix
        if fit_params.get("sample_weight") is not None:
            weights = check_row_weights(fit_params["sample_weight"], len(Y))
            fit_params = {**fit_params, "sample_weight": weights}
        # Many classifiers, and cross_val_predict, take dense label matrices only, and
        # OneVsRestClassifier mixes up the columns of an int8 one with more than 127 labels.
        target = Y.astype(int) if self._codec.multilabel else y
        self.estimator_ = clone(self.estimator).fit(X, target, **fit_params)
        if self._codec.multilabel:
            self.oof_scores_ = self._collect_scores(X, target, fit_params)
            self.thresholds_ = self._rule.fit(self.oof_scores_, Y, fit_params.get("sample_weight"))
            if isinstance(self._rule, Zero) and _response(self.estimator_) == "predict_proba":
                self.thresholds_ += 0.5  # the probability where both answers are equally likely
        self.classes_ = getattr(self.estimator_, "classes_", self._codec.classes)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def _collect_scores(self, X: Any, y: Any, fit_params: dict[str, Any]) -> np.ndarray:
        if self.cv is None:
            return self._scores(self.estimator_, X)
        cv = self.cv
        if isinstance(cv, numbers.Integral):
            cv = MultilabelStratifiedKFold(int(cv))
        else:
            cv = check_cv(cv)
        response = cross_val_predict(
            clone(self.estimator),
            X,
            y,
            cv=cv,
            n_jobs=self.n_jobs,
            params=fit_params or None,
            method=_response(self.estimator_),
        )
        return _as_matrix(response, len(self._codec.classes))

    def predict(self, X: Any) -> Any:
        """Give label sets by the thresholds, or what the classifier predicts for a vector y."""
        check_is_fitted(self)
        if not self._codec.multilabel:
            return self.estimator_.predict(X)
        scores = self._scores(self.estimator_, X)
        return self._codec.decode(self._rule.decide(scores, self.thresholds_))

    def _scores(self, estimator: Any, X: Any) -> np.ndarray:
        return _as_matrix(getattr(estimator, _response(estimator))(X), len(self._codec.classes))

    @available_if(_delegates("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """Give the classifier's scores, before any threshold."""
        check_is_fitted(self)
        return self.estimator_.decision_function(X)

    @available_if(_delegates("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Give the classifier's probabilities."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.classifier_tags = inner.classifier_tags
        tags.target_tags = inner.target_tags
        return tags
