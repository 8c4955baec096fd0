"""Read the scores of any multi-label classifier, ours or one of scikit-learn's."""

from typing import Any, Protocol

import numpy as np

from eigenlabel.labels.label_sets import predicted_matrix

METHODS = ("decision_function", "predict_proba")


class Classifier(Protocol):
    """A classifier of this library, of scikit-learn, or of the user."""

    def fit(self, X: Any, y: Any) -> Any:
        """Fit the classifier and return it."""
        ...

    def predict(self, X: Any) -> Any:
        """Return the label sets or classes."""
        ...


class ScoringClassifier(Protocol):
    """A fitted classifier that scores samples. It has at least one of the first two methods."""

    def decision_function(self, X: Any) -> Any:
        """Return the scores before a threshold."""
        ...

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities."""
        ...

    def predict(self, X: Any) -> Any:
        """Return the label sets or classes."""
        ...


class TunedClassifier(Protocol):
    """A fitted classifier that chose parameters for itself."""

    @property
    def best_params_(self) -> Any:
        """The chosen parameters: a dict, or one dict for each label."""
        ...


def has_scores(estimator: Any) -> bool:
    """Return True if a classifier scores samples."""
    return any(hasattr(estimator, method) for method in METHODS)


def score_method(estimator: Any) -> str:
    """Return the name of the method that scores samples, margins before probabilities."""
    for method in METHODS:
        if hasattr(estimator, method):
            return method
    raise TypeError(
        f"{type(estimator).__name__} has neither decision_function nor predict_proba: scores are "
        "needed."
    )


def scores_matrix(estimator: Any, X: Any, m: int, method: str | None = None) -> np.ndarray:
    """Return the scores (n, m) of a classifier that was fitted to a label matrix.

    ``method`` is "decision_function" or "predict_proba"; None is the first that the classifier has.
    Probabilities are those of the label being present: 0 for a label that no training sample
    has, and 1 for a label that all of them have.
    """
    return _read(estimator, score_method(estimator) if method is None else method, X, m)


def probabilities_matrix(estimator: Any, X: Any, m: int) -> np.ndarray:
    """Return the probabilities (n, m) of a classifier that was fitted to a label matrix.

    They are those of the label being present, as in :func:`scores_matrix`.
    """
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(
            f"{type(estimator).__name__} has no predict_proba: probabilities are needed. Use a "
            "classifier that has it, or a metric of scores or label sets."
        )
    return _read(estimator, "predict_proba", X, m)


def _read(estimator: ScoringClassifier, method: str, X: Any, m: int) -> np.ndarray:
    margins = method == "decision_function"
    response = estimator.decision_function(X) if margins else estimator.predict_proba(X)
    classes = getattr(estimator, "classes_", None)
    one_column = m == 1 and method == "predict_proba" and np.shape(response)[1:] == (1,)
    if one_column and np.ndim(estimator.predict(X)) == 1:
        # A classifier that predicts a vector takes the only label for classes; it saw one class.
        return _probability(response, classes)[:, None]
    return as_matrix(response, m, classes)


def labels_matrix(estimator: Any, X: Any, m: int) -> Any:
    """Return the label sets (n, m) that a classifier predicts, dense."""
    found = predicted_matrix(estimator.predict(X), getattr(estimator, "classes_", None))
    return found.reshape(len(found), m) if found.ndim == 1 else found


def as_matrix(response: Any, m: int, classes: Any = None) -> np.ndarray:
    """Return scores (n, m) from what a classifier's method returned for a label matrix.

    Parameters
    ----------
    response : array, or a list of arrays (n, classes) with the probabilities of each label
    m : number of labels
    classes : the classifier's ``classes_``; for a list, the classes 0 and 1 that each label had
        in training
    """
    if isinstance(response, list):
        known = classes if isinstance(classes, list) else [None] * len(response)
        return np.column_stack([_probability(p, c) for p, c in zip(response, known, strict=True)])
    scores = np.asarray(response)
    if m == 1 and scores.ndim == 2 and scores.shape[1] == 2:  # probabilities without and with it
        return scores[:, 1:]
    return scores.reshape(-1, 1) if m == 1 and scores.ndim == 1 else scores


def class_scores(response: Any, seen: Any, classes: Any) -> np.ndarray:
    """Return the scores (n, m) of classes from those of a classifier that saw some of them.

    There is one column for two classes. Classes that were not seen have scores of NaN, and so have
    all classes if one was seen, because its score compares it with nothing.

    Parameters
    ----------
    response : array of shape (n,) or (n, k)
        What the decision function of the classifier returned.
    seen : array of shape (k,)
        The classes that the classifier saw, in ascending order.
    classes : array of shape (m,)
        All classes, in ascending order.
    """
    scores = np.asarray(response)
    scores = scores.reshape(len(scores), -1)
    if len(seen) == len(classes):
        return scores
    out = np.full((len(scores), 1 if len(classes) == 2 else len(classes)), np.nan)
    if len(seen) > 1:
        both = np.hstack([-scores, scores]) if len(seen) == 2 else scores
        out[:, np.searchsorted(classes, seen)] = both
    return out


def _probability(p: np.ndarray, classes: Any) -> np.ndarray:
    """Return the probability of class 1, given those of the classes seen in training."""
    if classes is None and p.shape[1] == 2:
        return p[:, 1]
    if classes is None:
        raise ValueError(
            "A label is always or never present in some training part, and the classifier has no "
            "classes_ that says which. Drop such labels or use fewer folds."
        )
    at = np.flatnonzero(np.asarray(classes) == 1)
    return p[:, at[0]] if len(at) else np.zeros(len(p))
