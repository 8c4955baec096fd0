"""What the members that exist only inside a blend share: a fit that leaves held-out scores."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from eigenlabel.estimators.base import Training, check_training
from eigenlabel.inputs.data import check_data
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.parameters import check_parameters
from eigenlabel.labels.codec import LabelCodec, signed_targets
from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.heldout import training_rows
from eigenlabel.model_selection.splits import list_folds
from eigenlabel.thresholds.rules import decide


class OwnMember(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose fit stores ``oof_scores_``, scores of samples that were held out.

    Scores are positive where a label is more likely present than absent, up to calibration.
    Subclasses define ``_fit(data)``, which sets ``oof_scores_``, and ``_scores(X)``.
    """

    oof_scores_: Floats
    _codec: LabelCodec

    def _fit(self, data: Training) -> None:
        raise NotImplementedError

    def _scores(self, X: Any) -> Floats:
        raise NotImplementedError

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the member.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.
        y : {array-like, sparse matrix} of shape (n_samples, n_labels) or (n_samples,)
            A 0/1 label matrix, with NaN where a label is not observed, or a vector of classes.
        sample_weight : array-like of shape (n_samples,), default=None
            The sample weights.

        Returns
        -------
        self : OwnMember
            The fitted member.
        """
        check_parameters(self)
        data = check_training(self, X, y, sample_weight)
        self._codec, self.classes_ = data.codec, data.codec.classes
        self._fit(data)
        return self

    def _folds(self, data: Training) -> list[tuple[Ints, Ints]]:
        """Return the folds of the parameter ``cv``, which the subclass has."""
        y = data.Y if data.codec.multilabel else data.codec.decide(signed_targets(data.Y))
        n = len(data.Y)
        folds = list_folds(getattr(self, "cv", 5), data.X, y, {}, data.codec, np.arange(n))
        return [(training_rows(n, fold), fold[1]) for fold in folds]

    def decision_function(self, X: Any) -> Floats:
        """Return the score of every label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels), or (n_samples,)
            The scores.
        """
        check_is_fitted(self)
        return self._codec.shape_scores(self._scores(check_data(self, X, reset=False)))

    def predict(self, X: Any) -> Any:
        """Predict the labels whose scores are positive, or the classes if y was a vector.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        y_pred : ndarray or sparse matrix of shape (n_samples, n_labels), or ndarray of classes
            The predictions.
        """
        check_is_fitted(self)
        return decide(self._codec, self._scores(check_data(self, X, reset=False)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags
