"""What classifiers share: checked training data, scores, and label sets."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from eigenlabel.estimators.heldout_by_refitting import heldout_scores
from eigenlabel.estimators.label_forms import LabelForms
from eigenlabel.inputs.data import check_data
from eigenlabel.inputs.fitting import available_if
from eigenlabel.inputs.parameters import Choice, Maybe
from eigenlabel.inputs.sample_weights import check_weights
from eigenlabel.labels.checks import check_observed
from eigenlabel.labels.codec import LabelCodec, signed_targets
from eigenlabel.linalg._types import Bools, Floats
from eigenlabel.model_selection.search import store_calibration
from eigenlabel.thresholds.base import Rule
from eigenlabel.thresholds.calibration import METHODS, Calibration, fit_probabilities
from eigenlabel.thresholds.rules import (
    Top,
    Zero,
    check_readable,
    decide,
    heldout_values,
    reads_probabilities,
)

# What every classifier declares as ``calibration``.
CALIBRATION = Maybe(Choice(*METHODS))


def check_calibrated(model: Any) -> None:
    """Raise AttributeError if the parameters of a model leave out probabilities."""
    if model.calibration is None:
        raise AttributeError(
            f"This {type(model).__name__} has no predict_proba: pass calibration='auto' (or "
            "'sigmoid' or 'isotonic') and fit it, so that held-out scores become probabilities."
        )


class ScoreClassifier(LabelForms, BaseEstimator):  # type: ignore[misc]
    """A classifier defined by ``_scores(X)``, a matrix (samples, labels).

    Subclasses have the parameter ``calibration``, set ``_codec`` in ``fit``, and call
    ``_calibrate`` at its end.
    """

    _codec: LabelCodec
    calibration: str | None
    calibration_: Calibration

    def _scores(self, X: Any) -> Floats:
        """Return the scores (n_samples, n_labels)."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> Floats:
        """Return the score of every label, before any threshold.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels), or (n_samples,)
            The scores. The shape is (n_samples,) if y was a vector of two classes.
        """
        check_is_fitted(self)
        return self._codec.shape_scores(self._scores(X))

    @available_if(check_calibrated)
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of every label, or of every class if y was a vector.

        The probabilities are those of ``calibration_``, which never fall with the score. The method
        exists unless ``calibration`` is None.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_labels) or (n_samples, n_classes)
            The probabilities. Those of classes sum to one, in the order of ``classes_``.
        """
        check_is_fitted(self)
        found = self._calibrated().probabilities(self._scores(X))
        return self._codec.shape_probabilities(found)

    def _calibrated(self) -> Calibration:
        """Return the fitted calibration."""
        found: Calibration | None = getattr(self, "calibration_", None)
        if found is None:
            raise NotFittedError(
                f"This {type(self).__name__} was fitted with calibration=None: call fit again."
            )
        return found

    def _calibrate(
        self,
        X: Any,
        y: Any,
        Y: Bools,
        weights: Floats | None = None,
        known: Bools | None = None,
    ) -> Floats | None:
        """Fit ``calibration_`` to cross-validated scores, and return these scores (n, m).

        Without calibration nothing is fitted, and None is returned. See
        :func:`eigenlabel.estimators.heldout_by_refitting.heldout_scores` for the parameters.
        """
        scores = calibration = None
        if self.calibration is not None:
            scores = heldout_scores(self, self._codec, X, y, Y, weights, known)
            calibration = fit_probabilities(
                self._codec, scores, Y, weights, method=self.calibration
            )
        store_calibration(self, calibration)
        return scores

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
        return decide(self._codec, self._scores(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags


class RuleClassifier(ScoreClassifier):
    """A classifier whose scores become label sets by a rule of ``eigenlabel.thresholds``.

    Subclasses call ``_fit_rule`` at the end of ``fit``.
    """

    _rule: Rule

    def _fit_rule(
        self, rule: Rule, Y: Bools, scores: Callable[[], Floats], heldout: Floats | None = None
    ) -> None:
        """Fit the thresholds of a rule to labels Y, if they are a label matrix.

        ``scores`` computes the scores of the training samples. It is not called for the rules zero
        and top, whose thresholds do not depend on scores, nor for rules on probabilities, which
        are fitted to those of the held-out scores.
        """
        self.__dict__.pop("thresholds_", None)
        self._rule = rule
        if not self._codec.multilabel:
            return
        check_readable(rule, self.calibration)
        if reads_probabilities(rule):
            assert heldout is not None
            values = heldout_values(rule, heldout, Y, None, self.calibration)
        else:
            values = np.zeros(Y.shape) if type(rule) in (Zero, Top) else scores()
        self.thresholds_ = rule.find_thresholds(values, Y)

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
        return self._decide(self._scores(X))

    def _decide(self, scores: Floats) -> Any:
        """Return what ``predict`` returns for scores (n, m)."""
        thresholds = self.thresholds_ if self._codec.multilabel else 0.0
        calibration = getattr(self, "calibration_", None)
        return decide(self._codec, scores, self._rule, thresholds, calibration)


@dataclass(frozen=True)
class Training:
    """Checked training data.

    Attributes
    ----------
    X : (n_samples, n_features) array or CSR matrix
        The samples, or a kernel matrix.
    Y : (n_samples, n_labels) array
        The label matrix; zero where a label is not observed.
    codec : LabelCodec
        How label matrices become what the user passed, and back.
    weights : (n_samples,) array or None
        Sample weights; None if all are one.
    observed : (n_samples, n_labels) array of bool, or None
        The labels that are observed; None if all are.
    """

    X: Any
    Y: np.ndarray
    codec: LabelCodec
    weights: np.ndarray | None
    observed: np.ndarray | None

    @cached_property
    def targets(self) -> np.ndarray:
        """The targets of regressions: 1 for a label, -1 for none."""
        return signed_targets(self.Y)

    @cached_property
    def used(self) -> np.ndarray:
        """The samples with positive weight."""
        if self.weights is None:
            return np.arange(len(self.Y))
        return np.flatnonzero(self.weights > 0)


def check_training(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    square: bool = False,
    complete: bool = False,
) -> Training:
    """Check the data passed to ``fit``.

    Parameters
    ----------
    estimator : object
        The estimator, which remembers the features of X.
    X : array or sparse matrix
        The samples.
    y : array or sparse matrix
        The labels.
    sample_weight : array or None
        The weights of the samples.
    square : bool
        Whether X must be a square kernel matrix.
    complete : bool
        Whether every label of every sample must be observed.
    """
    X = check_data(estimator, X, reset=True, square=square)
    codec, Y, observed = (*LabelCodec.fit(y), None) if complete else LabelCodec.fit_observed(y)
    check_consistent_length(X, Y)
    weights = check_weights(sample_weight, X)
    if observed is not None:
        check_observed(observed, weights)
    return Training(X, codec=codec, Y=Y, weights=weights, observed=observed)
