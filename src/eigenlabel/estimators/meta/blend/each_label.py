"""One clone of a binary classifier for each label, fitted to the samples that have it observed."""

from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.inputs.sklearn_private import take_rows, take_samples
from eigenlabel.inputs.views import indexable
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.linalg._types import Floats
from eigenlabel.model_selection.classifier_scores import score_method, scores_matrix


class EachLabel(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Fit a clone of a binary classifier to each label, as in one-vs-rest.

    A sample counts for the labels that are observed on it. A label that all observed samples have,
    or none, has the constant score 1 or -1.

    Parameters
    ----------
    estimator : classifier
        A binary classifier with ``decision_function`` or ``predict_proba``.
    n_jobs : int or None, default=None
        The number of labels that are fitted in parallel.

    Attributes
    ----------
    estimators_ : list of classifier or None
        The fitted classifiers, None for a label with a constant score.
    constants_ : ndarray of shape (n_labels,)
        These scores.
    classes_ : ndarray of shape (n_labels,)
        The names or positions of the labels.
    """

    def __init__(self, estimator: Any, *, n_jobs: int | None = None) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(self, X: Any, y: Any, **params: Any) -> Self:
        """Fit one classifier for each label.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.
        y : array-like of shape (n_samples, n_labels)
            The 0/1 label matrix, with NaN where a label is not observed.
        **params : dict
            The parameters of the classifier's ``fit``.

        Returns
        -------
        self : EachLabel
            The fitted classifier.
        """
        codec, Y, observed = LabelCodec.fit_observed(y)
        seen = np.ones(Y.shape, dtype=bool) if observed is None else observed
        X, config = indexable(X), get_config()
        self.classes_ = codec.classes
        self.constants_ = np.where((Y & seen).any(axis=0), 1.0, -1.0)
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_label)(clone(self.estimator), X, t, known, params, config)
            for t, known in zip(Y.T, seen.T, strict=True)
        )
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of all labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels)
            The scores, ``2 p - 1`` if the classifier has only probabilities p.
        """
        check_is_fitted(self)
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        out = np.tile(self.constants_, (n, 1))
        for j, one in enumerate(self.estimators_):
            if one is not None:
                found = scores_matrix(one, X, 1)[:, 0].astype(float)
                out[:, j] = 2 * found - 1 if score_method(one) == "predict_proba" else found
        return out

    def predict(self, X: Any) -> Any:
        """Predict the labels whose scores are positive.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        y_pred : ndarray of shape (n_samples, n_labels)
            The label sets.
        """
        return (self.decision_function(X) > 0).astype(int)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        tags.classifier_tags.multi_label = True
        return tags


def _fit_label(
    model: Any, X: Any, t: Any, known: Any, params: dict[str, Any], config: dict[str, Any]
) -> Any:
    """Return the classifier fitted to one label, or None if all observed samples agree."""
    rows = np.flatnonzero(known)
    if len(rows) == 0 or t[rows].all() or not t[rows].any():
        return None
    with config_context(**config):
        if len(rows) == len(t):
            return model.fit(X, t.astype(int), **params)
        return model.fit(*take_samples(model, X, t.astype(int), rows), **take_rows(X, params, rows))
