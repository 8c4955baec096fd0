"""Thresholds for any multi-label classifier that scores."""

import numbers
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import cross_val_predict
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from eigenlabel.estimators.base import CALIBRATION
from eigenlabel.estimators.heldout_by_refitting import check_enough, class_heldout
from eigenlabel.estimators.label_forms import LabelForms
from eigenlabel.estimators.subspace.many_labels import MANY
from eigenlabel.inputs.data import is_estimator, unmasked
from eigenlabel.inputs.fitting import all_or_nothing, available_if
from eigenlabel.inputs.parameters import CheckedBy, Jobs, Parameters, check_parameters
from eigenlabel.inputs.sample_weights import check_row_weights
from eigenlabel.inputs.sklearn_private import routing_enabled, take_rows, take_samples
from eigenlabel.inputs.views import indexable
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.machine import memory_limit, readable
from eigenlabel.linalg.operators import row_blocks
from eigenlabel.model_selection.classifier_scores import (
    as_matrix,
    class_scores,
    score_method,
    scores_matrix,
)
from eigenlabel.model_selection.routing import make_router, route_fit
from eigenlabel.model_selection.search import store_calibration
from eigenlabel.model_selection.splits import check_folds
from eigenlabel.thresholds import Rule, Top, Zero, get_rule
from eigenlabel.thresholds.calibration import fit_probabilities
from eigenlabel.thresholds.rules import Decisions, check_readable, decide, heldout_values

ARRAYS = 6  # arrays of samples x labels that exist at once while thresholds are fitted


def _check_scores(model: "ThresholdedClassifier") -> None:
    """Raise AttributeError unless there is a decision function, or scores that have thresholds."""
    inner = getattr(model, "estimator_", model.estimator)
    if not hasattr(inner, "decision_function") and not hasattr(model, "thresholds_"):
        raise AttributeError(
            f"{type(inner).__name__} has no decision_function: its probabilities are the scores "
            "after a fit to a label matrix."
        )


def _check_probabilities(model: "ThresholdedClassifier") -> None:
    """Raise AttributeError if there are no probabilities, neither fitted ones nor own ones."""
    inner = getattr(model, "estimator_", None)
    fitted = model.calibration if inner is None else getattr(model, "calibration_", None)
    if fitted is None and not hasattr(inner or model.estimator, "predict_proba"):
        raise AttributeError(
            f"This {type(model).__name__} has no predict_proba: pass calibration='auto', or a "
            f"classifier that has it. From {MANY} labels on, only the classifier can have it, as "
            "SharedSubspaceClassifier(calibration='auto')."
        )


class ThresholdedClassifier(
    LabelForms,
    MetaEstimatorMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Decide on label sets by thresholds that are fitted to the held-out scores of a classifier.

    The scores of all samples are collected by cross-validation, a rule of
    ``eigenlabel.thresholds`` finds one threshold for each label, and the classifier is fitted
    again to all samples. For a vector y there are no label sets, and the classifier itself decides.

    With the rules "zero" and "top", which need no scores and ignore ``cv``, a sparse y of 10,000
    labels or more stays sparse, and label sets are decided in pieces of rows.

    Held-out scores also become probabilities. For a vector y and for many labels, these are the
    classifier's own if it has ``predict_proba``; if not, held-out scores of a vector y are
    collected for its probabilities.

    The cost is that of the classifier's own fit, times the number of folds plus one.

    Parameters
    ----------
    estimator : classifier
        A classifier with ``decision_function`` or ``predict_proba`` that accepts a label matrix.
    strategy : str or Rule, default="mixed"
        The rule that finds the thresholds: "zero", "f1", "fbr", "global", "top", "proportional",
        "mixed", or a rule with its own settings such as ``thresholds.Mixed(weight=0.5)``.
    cv : int, splitter, iterable or None, default=5
        The folds of the held-out scores. An int is a MultilabelStratifiedKFold. None uses the
        scores of the training samples, as Ji et al. (2010) do, which is optimistic for flexible
        models.
    n_jobs : int or None, default=None
        The number of folds that are fitted in parallel.
    calibration : {"auto", "sigmoid", "isotonic"} or None, default="auto"
        How scores become the probabilities of ``predict_proba``, see
        :func:`eigenlabel.thresholds.fit_calibration`. The maps are fitted to ``oof_scores_``. With
        None, the probabilities are the classifier's own.

    Attributes
    ----------
    estimator_ : classifier
        The classifier, fitted to all samples.
    thresholds_ : ndarray of shape (n_labels,)
        The thresholds. The attribute is absent for a vector y.
    oof_scores_ : ndarray of shape (n_samples, n_labels)
        The scores that the thresholds and probabilities are fitted to. The attribute is absent for
        a sparse y of many labels, and for a vector y unless its probabilities need them.
    calibration_ : Calibration
        The maps from scores to probabilities, if ``oof_scores_`` were collected and
        ``calibration`` is not None.
    classes_ : ndarray
        The classes of the classifier, or the names of the labels if y has names.
    n_features_in_ : int
        The number of features of X, if the classifier knows it.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the features, if the classifier knows them.

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

    _parameters: ClassVar[Parameters] = {
        "estimator": CheckedBy("fit"),
        "strategy": CheckedBy("get_rule"),
        "cv": CheckedBy("check_folds"),
        "n_jobs": Jobs(),
        "calibration": CALIBRATION,
    }

    def __init__(
        self,
        estimator: Any,
        *,
        strategy: str | Rule = "mixed",
        cv: Any = 5,
        n_jobs: Any = None,
        calibration: str | None = "auto",
    ) -> None:
        self.estimator = estimator
        self.strategy = strategy
        self.cv = cv
        self.n_jobs = n_jobs
        self.calibration = calibration

    @all_or_nothing
    def fit(self, X: Any, y: Any, **fit_params: Any) -> "ThresholdedClassifier":
        """Fit the classifier and its thresholds.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.
        y : array-like or sparse matrix of shape (n_samples, n_labels), or array-like of classes
            The 0/1 label matrix, a list of label sets, or a vector of classes.
        **fit_params : dict
            The parameters of the classifier's ``fit``, such as ``sample_weight``, which the
            thresholds use too. ``groups`` is passed to the splitter, and to the classifier if its
            ``fit`` accepts it. With scikit-learn's metadata routing the requests decide.

        Returns
        -------
        self : ThresholdedClassifier
            The fitted classifier.
        """
        check_parameters(self)
        if not is_estimator(self.estimator):
            raise TypeError(
                "estimator must be a classifier with decision_function or predict_proba, got "
                f"{self.estimator!r}."
            )
        self._rule = get_rule(self.strategy)
        many = self._has_many_labels(y)
        self._codec, Y = LabelCodec.fit_sparse(y) if many else LabelCodec.fit(y)
        for name in ("thresholds_", "oof_scores_"):
            self.__dict__.pop(name, None)  # from an earlier fit to a label matrix
        routed = route_fit(self, fit_params, self.estimator)
        params, weights = dict(routed.estimator.fit), None
        if params.get("sample_weight") is not None:
            weights = check_row_weights(params["sample_weight"], Y.shape[0])
            params["sample_weight"] = weights
        # Many classifiers, and cross_val_predict, accept dense label matrices only, and
        # OneVsRestClassifier confuses the columns of an int8 one with more than 127 labels.
        target = Y.astype(int) if self._codec.multilabel else y
        self.estimator_ = clone(self.estimator).fit(X, target, **params)
        split = routed.splitter.split
        if many:
            self.thresholds_ = self._rule.fit_grid(np.zeros((1, Y.shape[1], 0)), Y.T, None)[0]
        elif self._codec.multilabel:
            check_readable(self._rule, self.calibration)
            self.oof_scores_ = self._collect_scores(X, target, fit_params, params, split)
        elif self.calibration is not None and not hasattr(self.estimator_, "predict_proba"):
            self.oof_scores_ = self._collect_classes(X, y, params, split)
        self._calibrate(Y, weights)
        if type(self._rule) is Zero and hasattr(self, "thresholds_"):
            half = 0.5 if score_method(self.estimator_) == "predict_proba" else 0.0
            self.thresholds_ += half  # the probability where both answers are equally likely
        self.classes_ = getattr(self.estimator_, "classes_", self._codec.classes)
        if self._codec.named:
            self.classes_ = self._codec.classes
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def _calibrate(self, Y: Any, weights: Floats | None) -> None:
        """Fit the probabilities, and thresholds unless there are some, to held-out scores."""
        calibration = None
        if hasattr(self, "oof_scores_"):
            scores = self.oof_scores_
            if self.calibration is not None:
                calibration = fit_probabilities(
                    self._codec, scores, Y, weights, method=self.calibration
                )
            if self._codec.multilabel:
                values = heldout_values(self._rule, scores, Y, weights, self.calibration)
                self.thresholds_ = self._rule.find_thresholds(values, Y, weights)
        store_calibration(self, calibration)

    def _has_many_labels(self, y: Any) -> bool:
        """Return True if y stays sparse; raise MemoryError if held-out scores do not fit."""
        sparse = sp.issparse(y)
        if not sparse or y.ndim != 2 or y.shape[1] < MANY:
            return False
        if type(self._rule) in (Zero, Top):
            return True
        (n, m), limit = y.shape, memory_limit()
        needed = ARRAYS * 8.0 * n * m
        if needed > limit:
            raise MemoryError(
                f"The rule {self._rule.name!r} compares held-out scores of all samples and labels: "
                f"{ARRAYS} arrays of {n} x {m} numbers, {readable(needed)}; this machine has "
                f"{readable(limit)}. Use strategy='top' or 'zero', which need none."
            )
        return False

    def _collect_scores(
        self,
        X: Any,
        y: Any,
        given: dict[str, Any],
        params: dict[str, Any],
        split: dict[str, Any],
    ) -> Floats:
        """Return the scores (n, m) that the thresholds are fitted to."""
        if self.cv is None:
            return self._scores(self.estimator_, X)
        X = indexable(X)
        cv = check_folds(self.cv)
        if y.shape[1] == 1:  # which cross_val_predict takes for classes
            return self._collect_one(X, y, cv.split(X, y, **split), params)
        if routing_enabled():  # cross_val_predict reads the requests itself
            metadata: dict[str, Any] = {
                "params": {name: v for name, v in given.items() if v is not None}
            }
        else:
            metadata = {"params": params, "groups": split.get("groups")}
        response = cross_val_predict(
            clone(self.estimator),
            X,
            y,
            cv=cv,
            n_jobs=self.n_jobs,
            method=score_method(self.estimator_),
            **metadata,
        )
        # The columns are those of the classes of all samples, as in the fit to all of them.
        return as_matrix(
            response, len(self._codec.classes), getattr(self.estimator_, "classes_", None)
        )

    def _collect_one(self, X: Any, y: Any, splits: Any, params: dict[str, Any]) -> Floats:
        """Return the held-out scores of a single label."""
        scores = np.full((len(y), 1), np.nan)
        for train, test in splits:
            model = clone(self.estimator)
            model.fit(*take_samples(model, X, y, train), **take_rows(X, params, train))
            scores[test] = self._scores(model, take_samples(model, X, y, test, train)[0])
        if np.isnan(scores).any():
            raise ValueError(
                f"cv={self.cv!r} leaves samples without held-out scores: its test parts must cover "
                "all samples."
            )
        return scores

    def _collect_classes(
        self, X: Any, y: Any, params: dict[str, Any], split: dict[str, Any]
    ) -> Floats:
        """Return the scores (n, m) of a vector y."""
        if self.cv is None:
            return self._scores(self.estimator_, X)
        X = indexable(X)
        target = np.asarray(unmasked(y)).ravel()
        check_enough(np.arange(len(target)))
        cv = min(self.cv, len(target)) if isinstance(self.cv, numbers.Integral) else self.cv

        def score(train: Ints, test: Ints) -> tuple[Any, Any]:
            model = clone(self.estimator)
            model.fit(*take_samples(model, X, target, train), **take_rows(X, params, train))
            part = take_samples(model, X, None, test, train)[0]
            return model.decision_function(part), model.classes_

        return class_heldout(score, check_folds(cv).split(X, target, **split), target, self._codec)

    def predict(self, X: Any) -> Any:
        """Predict the label sets, or the classes if y was a vector.

        The result has the form of y: it is sparse if y was sparse, and a list of label sets if y
        was one.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        y_pred : ndarray or sparse matrix of shape (n_samples, n_labels), or ndarray of classes
            The predictions.
        """
        check_is_fitted(self)
        if not self._codec.multilabel:
            return self.estimator_.predict(X)
        if len(self.thresholds_) < MANY:
            return self._decide(X)
        sparse = sp.issparse(X)
        X = X.tocsr() if sparse else X if hasattr(X, "shape") else np.asarray(X)
        rows = row_blocks(X.shape[0], len(self.thresholds_))
        take = X.iloc if hasattr(X, "iloc") else X
        joined = Decisions(X.shape[0])
        for piece in rows:
            joined.add(self._decide(take[piece]))
        return joined.join()

    def _decide(self, X: Any) -> Any:
        """Return the label sets of some samples."""
        scores = self._scores(self.estimator_, X)
        calibration = getattr(self, "calibration_", None)
        return decide(self._codec, scores, self._rule, self.thresholds_, calibration)

    def _scores(self, estimator: Any, X: Any) -> Floats:
        classes = self._codec.classes
        if self._codec.multilabel:
            return scores_matrix(estimator, X, len(classes))
        return class_scores(estimator.decision_function(X), estimator.classes_, classes)

    @available_if(_check_scores)
    def decision_function(self, X: Any) -> Any:
        """Return the scores of the classifier, before any threshold.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        scores : ndarray
            The scores, in the shape that the classifier returns. If it has no decision function,
            its own probabilities (n_samples, n_labels), which ``thresholds_`` refer to.
        """
        check_is_fitted(self)
        if hasattr(self.estimator_, "decision_function"):
            return self.estimator_.decision_function(X)
        return self._scores(self.estimator_, X)

    @available_if(_check_probabilities)
    def predict_proba(self, X: Any) -> Any:
        """Return the probability of every label, or of every class if y was a vector.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_labels) or (n_samples, n_classes)
            The probabilities of ``calibration_``, which never fall with the score. Without it, the
            probabilities of the classifier, in the shape that it returns.
        """
        check_is_fitted(self)
        if not hasattr(self, "calibration_"):
            return self.estimator_.predict_proba(X)
        found = self.calibration_.probabilities(self._scores(self.estimator_, X))
        return self._codec.shape_probabilities(found)

    def get_metadata_routing(self) -> Any:
        """Return the requests of the classifier and the splitter.

        Returns
        -------
        routing : MetadataRouter
            The requests.
        """
        return make_router(self, self.cv, estimator=self.estimator)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if not is_estimator(self.estimator):  # fit reports it
            return tags
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.classifier_tags = inner.classifier_tags
        tags.target_tags = inner.target_tags
        return tags
