"""Thresholds for any multi-label classifier that scores."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from eigenlabel.estimators.base import CALIBRATION
from eigenlabel.estimators.heldout_by_refitting import (
    check_enough,
    class_heldout,
    collect_heldout,
    covering_folds,
)
from eigenlabel.estimators.label_forms import LabelForms
from eigenlabel.estimators.subspace.many_labels import MANY
from eigenlabel.inputs.data import is_estimator, unmasked
from eigenlabel.inputs.fitting import all_or_nothing, available_if
from eigenlabel.inputs.parameters import (
    CheckedBy,
    Jobs,
    Maybe,
    Number,
    Parameters,
    check_parameters,
)
from eigenlabel.inputs.sample_weights import check_row_weights
from eigenlabel.inputs.sklearn_private import take_rows, take_samples
from eigenlabel.inputs.views import indexable
from eigenlabel.labels.checks import blank
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.machine import memory_limit, readable
from eigenlabel.linalg.operators import is_sparse, row_blocks
from eigenlabel.model_selection.classifier_scores import (
    class_scores,
    has_scores,
    score_method,
    scores_matrix,
)
from eigenlabel.model_selection.routing import make_router, route_fit
from eigenlabel.model_selection.search import store_calibration
from eigenlabel.model_selection.splits import check_folds, draw_aside
from eigenlabel.thresholds import Rule, Top, Zero, get_rule
from eigenlabel.thresholds.calibration import fit_probabilities
from eigenlabel.thresholds.rules import (
    Decisions,
    check_readable,
    heldout_values,
    reads_probabilities,
    values_for,
)

ARRAYS = 6  # arrays of samples x labels that exist at once while thresholds are fitted
# What an earlier fit may have left and a later one does not always set.
OPTIONAL = ("thresholds_", "oof_scores_", "aside_", "n_features_in_", "feature_names_in_")


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
    if hasattr(model, "estimator_"):
        inner, calibration = model.estimator_, getattr(model, "calibration_", None)
    else:
        inner, calibration = model.estimator, model.calibration
    if calibration is None and not hasattr(inner, "predict_proba"):
        raise AttributeError(
            f"This {type(model).__name__} has no predict_proba: pass calibration='auto', or a "
            f"classifier that has it. From {MANY} labels on, only the classifier can have it, as "
            "SharedSubspaceClassifier(calibration='auto')."
        )


class _Passed(NamedTuple):
    """What ``fit`` got, or the part of it that the classifier is fitted to.

    Attributes
    ----------
    X : array, sparse matrix, frame or Views
        The samples.
    y : ndarray or sparse matrix of shape (n_samples, n_labels), or vector of classes
        The labels.
    params : dict
        The parameters of the classifier's ``fit``.
    split : dict
        The parameters of the splitter.
    rows : ndarray of int or None
        The positions of the samples among those that ``fit`` got; None for all of them.
    total : int or None
        How many samples ``fit`` got; None for those of y.
    """

    X: Any
    y: Any
    params: dict[str, Any]
    split: dict[str, Any]
    rows: Ints | None = None
    total: int | None = None

    @property
    def n(self) -> int:
        """The number of samples that ``fit`` got."""
        return int(self.y.shape[0]) if self.total is None else self.total

    def take(self, estimator: Any, rows: Ints) -> "_Passed":
        """Return some of the samples."""
        X = indexable(self.X)
        params, split = (take_rows(X, each, rows) for each in (self.params, self.split))
        return _Passed(*take_samples(estimator, X, self.y, rows, rows), params, split, rows, self.n)


def _read_labels(y: Any, many: bool) -> tuple[LabelCodec, Any, Bools | None]:
    """Return the form of y, its label matrix, and the cells that are observed (None: all)."""
    return (*LabelCodec.fit_sparse(y), None) if many else LabelCodec.fit_observed(y)


def _fit(estimator: Any, data: _Passed, observed: Bools | None) -> Any:
    """Return the classifier, fitted; say what NaN in y means if it refuses such labels."""
    try:
        return clone(estimator).fit(data.X, data.y, **data.params)
    except ValueError as error:
        if observed is None:
            raise
        i, j = np.argwhere(~observed)[0]
        raise ValueError(
            f"y contains NaN, at [{i}, {j}], which stands for 'not observed', and "
            f"{type(estimator).__name__} was not fitted to it: {error} Use a classifier that "
            "supports labels that are not observed, such as SharedSubspaceClassifier."
        ) from error


class ThresholdedClassifier(
    LabelForms,
    MetaEstimatorMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Decide on label sets by thresholds that are fitted to the held-out scores of a classifier.

    The scores of all samples are collected by cross-validation, a rule of
    ``eigenlabel.thresholds`` finds one threshold for each label, and the classifier is fitted
    again to all samples. For a vector y there are no label sets, and the classifier itself decides.

    The rules "zero" and "top" are not fitted to scores. With ``calibration=None`` they hold nothing
    out and ignore ``cv``. With them, a sparse y of 10,000 labels or more stays sparse, nothing is
    held out, and label sets are decided in pieces of rows.

    Held-out scores also become probabilities. For a vector y and for many labels, these are the
    classifier's own if it has ``predict_proba``; if not, held-out scores of a vector y are
    collected for its probabilities.

    With ``split``, the rule is fitted to samples that are kept aside for it, drawn at random.
    Neither the classifier (with its preparation, if it is a pipeline) nor the calibration sees
    them, and nothing is fitted again, so that the finite-sample statements of
    :class:`eigenlabel.thresholds.RiskControl` hold exactly for samples that are exchangeable
    (split-conformal prediction). Without it, the rule is fitted to cross-validated scores of all
    samples, and these statements hold approximately.

    The cost is that of the classifier's own fit, times the number of folds plus one. It is that of
    one fit with ``calibration=None`` if ``split`` is used or the rule is "zero" or "top".

    Parameters
    ----------
    estimator : classifier
        A classifier with ``decision_function`` or ``predict_proba`` that accepts a label matrix.
    strategy : str or Rule, default="mixed"
        The rule that finds the thresholds: "zero", "f1", "fbr", "global", "top", "proportional",
        "mixed", one on probabilities ("expected_f1", "costs" or "between"), or a rule with its own
        settings such as ``thresholds.Mixed(weight=0.5)`` or ``thresholds.RiskControl(recall=0.9)``.
    cv : int, splitter, iterable or None, default=5
        The folds of the held-out scores, which must test every sample once. An int is a
        MultilabelStratifiedKFold, which needs as many samples. None uses the scores of the training
        samples, as Ji et al. (2010) do, which is optimistic for flexible models.
    n_jobs : int or None, default=None
        The number of folds that are fitted in parallel, of a label matrix or a vector.
    calibration : {"auto", "sigmoid", "isotonic"} or None, default="auto"
        How scores become the probabilities of ``predict_proba``, see
        :func:`eigenlabel.thresholds.fit_calibration`. The maps are fitted to ``oof_scores_``. With
        None, the probabilities are the classifier's own, also those that a rule reads.
    split : float, default=None
        The share of the samples that is kept aside for the rule, between 0 and 1 (excluded). If
        ``groups`` are passed to ``fit``, whole groups are kept aside. None uses cross-validated
        scores. A vector y, which has no rule, ignores it.
    random_state : int, RandomState instance or None, default=None
        The seed of the samples that are kept aside.

    Attributes
    ----------
    estimator_ : classifier
        The classifier, fitted to all samples.
    thresholds_ : ndarray of shape (n_labels,)
        The thresholds. The attribute is absent for a vector y.
    oof_scores_ : ndarray of shape (n_samples, n_labels)
        The scores that the thresholds and probabilities are fitted to; probabilities if
        ``calibration`` is None and the rule reads them. NaN for samples that are kept aside. The
        attribute is absent for a sparse y of many labels, for a vector y unless its probabilities
        need them, and with ``calibration=None`` for ``split`` and for the rules "zero" and "top".
    aside_ : ndarray of shape (n_aside,), int
        The samples that the thresholds are fitted to, ascending. Only with ``split``.
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

    Label sets that contain at least 90% of the true labels of a new sample on average:

    >>> from sklearn.metrics import recall_score
    >>> from eigenlabel import SharedSubspaceClassifierCV
    >>> from eigenlabel.thresholds import RiskControl
    >>> inner = SharedSubspaceClassifierCV()  # has probabilities of its own
    >>> bound = RiskControl(recall=0.9)
    >>> safe = ThresholdedClassifier(inner, strategy=bound, calibration=None, split=0.3)
    >>> safe = safe.set_params(random_state=0).fit(data.X[train], data.Y[train])
    >>> found = safe.predict(data.X[test])
    >>> recall = recall_score(data.Y[test], found, average="samples", zero_division=1)
    >>> len(safe.aside_), recall > 0.85
    (150, True)
    """

    _parameters: ClassVar[Parameters] = {
        "estimator": CheckedBy("fit"),
        "strategy": CheckedBy("get_rule"),
        "cv": CheckedBy("check_folds"),
        "n_jobs": Jobs(),
        "calibration": CALIBRATION,
        "split": Maybe(Number(0, 1, above=True)),
        "random_state": CheckedBy("sklearn.utils.check_random_state"),
    }

    def __init__(
        self,
        estimator: Any,
        *,
        strategy: str | Rule = "mixed",
        cv: Any = 5,
        n_jobs: Any = None,
        calibration: str | None = "auto",
        split: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.strategy = strategy
        self.cv = cv
        self.n_jobs = n_jobs
        self.calibration = calibration
        self.split = split
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any, **fit_params: Any) -> "ThresholdedClassifier":
        """Fit the classifier and its thresholds.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.
        y : array-like or sparse matrix of shape (n_samples, n_labels), or array-like of classes
            The 0/1 label matrix, a list of label sets, or a vector of classes. A cell of a matrix
            that is NaN is not observed; the classifier must support it, as SharedSubspaceClassifier
            does.
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
        self._codec, Y, observed = _read_labels(y, many)
        self._check_able()
        for name in OPTIONAL:
            self.__dict__.pop(name, None)
        routed = route_fit(self, fit_params, self.estimator)
        params = dict(routed.estimator.fit)
        if params.get("sample_weight") is not None:
            params["sample_weight"] = check_row_weights(params["sample_weight"], Y.shape[0])
        # Many classifiers accept dense label matrices only, and OneVsRestClassifier confuses the
        # columns of an int8 one with more than 127 labels.
        target = blank(Y.astype(int), observed) if self._codec.multilabel else y
        data = _Passed(X, target, params, dict(routed.splitter.split))
        rest = self._keep_aside(data, many)
        self.estimator_ = _fit(self.estimator, rest, observed)
        self._method = self._choose_method()
        if many:
            self.thresholds_ = self._rule.fit_grid(np.zeros((1, Y.shape[1], 0)), Y.T, None)[0]
        self._collect(rest, many)
        self._calibrate(data, blank(Y, observed), many)
        if type(self._rule) is Zero and hasattr(self, "thresholds_"):
            half = 0.5 if self._method == "predict_proba" else 0.0
            self.thresholds_ += half  # the probability where both answers are equally likely
        self.classes_ = getattr(self.estimator_, "classes_", self._codec.classes)
        if self._codec.named:
            self.classes_ = self._codec.classes
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def _keep_aside(self, data: "_Passed", many: bool) -> "_Passed":
        """Return the samples that the classifier is fitted to, and set ``aside_``."""
        if self.split is None or many or not self._codec.multilabel:
            return data
        check_consistent_length(indexable(data.X), data.y)
        rest, self.aside_ = draw_aside(
            data.y.shape[0], self.split, self.random_state, data.split.get("groups")
        )
        return data.take(self.estimator, rest)

    def _check_able(self) -> None:
        """Raise an error before any fit if the classifier has not the scores that are needed."""
        if hasattr(self.estimator, "predict_proba"):
            return
        if self._codec.multilabel:
            check_readable(self._rule, self.calibration)
            score_method(self.estimator)
        elif self.calibration is not None and not has_scores(self.estimator):
            raise TypeError(
                f"{type(self.estimator).__name__} has neither decision_function nor predict_proba: "
                f"calibration={self.calibration!r} needs scores. Pass calibration=None, or a "
                "classifier that has one of them."
            )

    def _choose_method(self) -> str | None:
        """Return the method whose values become label sets; None for a vector y."""
        if not self._codec.multilabel:
            return None
        if self.calibration is None and reads_probabilities(self._rule):
            return "predict_proba"
        return score_method(self.estimator_)

    def _collect(self, data: "_Passed", many: bool) -> None:
        """Set ``oof_scores_`` if thresholds or probabilities are fitted to them."""
        if self._codec.multilabel:
            fits_rule = not hasattr(self, "aside_") and self._rule_reads_values()
            if many or (self.calibration is None and not fits_rule):
                return
            scores = self._collect_scores(data)
        elif self.calibration is not None and not hasattr(self.estimator_, "predict_proba"):
            scores = self._collect_classes(data)
        else:
            return
        if data.rows is None:
            self.oof_scores_ = scores
        else:
            self.oof_scores_ = np.full((data.n, scores.shape[1]), np.nan)
            self.oof_scores_[data.rows] = scores

    def _calibrate(self, data: "_Passed", known: Any, many: bool) -> None:
        """Fit the probabilities to held-out scores, and the thresholds unless there are some."""
        calibration, weights = None, data.params.get("sample_weight")
        if hasattr(self, "oof_scores_") and self.calibration is not None:
            calibration = fit_probabilities(
                self._codec, self.oof_scores_, known, weights, method=self.calibration
            )
        store_calibration(self, calibration)
        if many or not self._codec.multilabel:
            return
        if hasattr(self, "aside_"):
            rows = self.aside_
            train = np.setdiff1d(np.arange(data.n), rows)
            part = take_samples(self.estimator, indexable(data.X), None, rows, train)[0]
            values = self._values(part)
            known, weights = known[rows], None if weights is None else weights[rows]
        elif not self._rule_reads_values():
            values = np.zeros(known.shape)
        elif self._method == "predict_proba" and self.calibration is None:
            values = self.oof_scores_
        else:
            values = heldout_values(self._rule, self.oof_scores_, known, weights, self.calibration)
        self.thresholds_ = self._rule.find_thresholds(values, known, weights)

    def _rule_reads_values(self) -> bool:
        """Return False if the thresholds of the rule do not depend on scores."""
        return type(self._rule) not in (Zero, Top)

    def _has_many_labels(self, y: Any) -> bool:
        """Return True if y stays sparse; raise MemoryError if held-out scores do not fit."""
        if not is_sparse(y) or y.ndim != 2 or y.shape[1] < MANY:
            return False
        if not self._rule_reads_values():
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

    def _collect_scores(self, data: "_Passed") -> Floats:
        """Return the held-out scores (n, m) of a label matrix, or those of training samples."""
        if self.cv is None:
            return self._scores(self.estimator_, data.X)
        X = indexable(data.X)

        def score(train: Ints, test: Ints) -> Floats:
            model = clone(self.estimator)
            labelled = take_samples(model, X, data.y, train)
            model.fit(*labelled, **take_rows(X, data.params, train))
            return self._scores(model, take_samples(model, X, None, test, train)[0])

        splits = check_folds(self.cv).split(X, data.y, **data.split)
        return collect_heldout(score, splits, data.y.shape, self.n_jobs, self.cv)

    def _collect_classes(self, data: "_Passed") -> Floats:
        """Return the scores (n, m) of a vector y."""
        if self.cv is None:
            return self._scores(self.estimator_, data.X)
        X, target = indexable(data.X), np.asarray(unmasked(data.y)).ravel()
        check_enough(np.arange(len(target)))

        def score(train: Ints, test: Ints) -> tuple[Any, Any]:
            model = clone(self.estimator)
            model.fit(*take_samples(model, X, target, train), **take_rows(X, data.params, train))
            part = take_samples(model, X, None, test, train)[0]
            return model.decision_function(part), model.classes_

        splits = check_folds(self.cv).split(X, target, **data.split)
        folds = covering_folds(splits, len(target), self.cv)
        return class_heldout(score, folds, target, self._codec, self.n_jobs)

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
        if is_sparse(X):
            X = X.tocsr()
        elif not hasattr(X, "shape"):
            X = np.asarray(X)
        rows = row_blocks(X.shape[0], len(self.thresholds_))
        take = X.iloc if hasattr(X, "iloc") else X
        joined = Decisions(X.shape[0])
        for piece in rows:
            joined.add(self._decide(take[piece]))
        return joined.join()

    def _decide(self, X: Any) -> Any:
        """Return the label sets of some samples."""
        return self._codec.decode(self._rule.decide(self._values(X), self.thresholds_))

    def _values(self, X: Any) -> Floats:
        """Return what the rule reads, scores or probabilities (n, m)."""
        scores = self._scores(self.estimator_, X)
        calibration = getattr(self, "calibration_", None)
        if calibration is None and self._method == "predict_proba":
            return scores
        return values_for(self._rule, scores, calibration)

    def _scores(self, estimator: Any, X: Any) -> Floats:
        classes = self._codec.classes
        if self._codec.multilabel:
            return scores_matrix(estimator, X, len(classes), self._method)
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
