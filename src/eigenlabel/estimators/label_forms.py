"""The forms of labels that every classifier reads and returns: matrices, frames, label sets."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, TransformerMixin
from sklearn.metrics import accuracy_score

from eigenlabel.estimators.fitted_summary import summary_html
from eigenlabel.inputs.data import unmasked
from eigenlabel.inputs.fitting import OptionalMethod
from eigenlabel.inputs.frames import make_frame
from eigenlabel.inputs.parameters import check_choice
from eigenlabel.inputs.sample_weights import check_row_weights
from eigenlabel.labels.checks import has_missing, is_vector
from eigenlabel.labels.label_sets import compare_sets, holds_label_sets, label_matrix
from eigenlabel.labels.missing import find_missing, to_dense
from eigenlabel.metrics import accuracy

OUTPUTS = ("default", "pandas", "polars")
RETURNING = ("predict", "predict_proba")  # what set_output(predict=...) is about


class LabelForms(ClassifierMixin):  # type: ignore[misc]
    """Mixin of classifiers with labels in every form.

    ``fit`` reads a 0/1 label matrix, dense or sparse, a frame of 0 and 1 whose columns name the
    labels, a list of label sets, or a vector of classes. ``predict`` returns the form of y: label
    sets if y has label sets, otherwise a matrix. ``set_output(predict="pandas")`` asks for frames.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.set_output = LabelForms.set_output  # type: ignore[method-assign]
        for name in RETURNING:
            method = cls.__dict__.get(name)
            if isinstance(method, OptionalMethod):
                setattr(cls, name, OptionalMethod(_framed(method.fn), method.check))
            elif method is not None:
                setattr(cls, name, _framed(method))

    def _repr_html_inner(self) -> str:
        """Return scikit-learn's diagram, with what a fitted model chose and reaches below it."""
        return str(super()._repr_html_inner()) + summary_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle

    def set_output(self, *, transform: str | None = None, predict: str | None = None) -> Any:
        """Set the form of the results of ``transform``, and of ``predict`` and ``predict_proba``.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None, default=None
            The form of what ``transform`` returns, of classifiers that have it. None leaves it
            unchanged.
        predict : {"default", "pandas", "polars"} or None, default=None
            The form of label matrices and of their probabilities: frames whose columns are named
            after the labels, or by default what the methods return otherwise. The rows have the
            index of a pandas X. None leaves the form unchanged.

        Returns
        -------
        self : classifier
            The classifier.
        """
        if predict is not None:
            check_choice("predict", predict, OUTPUTS)
            config = dict(getattr(self, "_sklearn_output_config", {}))
            self._sklearn_output_config = {**config, "predict": predict}
        if transform is not None:
            if not isinstance(self, TransformerMixin):
                raise TypeError(f"{type(self).__name__} has no transform: pass predict.")
            TransformerMixin.set_output(self, transform=transform)
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute the share of samples whose label set, or class, is predicted correctly.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The samples.
        y : array-like, sparse matrix or frame of shape (n_samples, n_labels), list of label \
                sets, or array-like of shape (n_samples,)
            The true labels or classes. Labels and classes that are not observed (NaN) do not
            count. A sample with a label that ``fit`` did not see is not predicted correctly.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the samples.

        Returns
        -------
        score : float
            The share, between 0 and 1.
        """
        predicted = self.predict(X)
        if isinstance(predicted, list) or holds_label_sets(y):
            y, predicted = compare_sets(y, predicted, self.classes_)
            return float(accuracy(y, predicted, sample_weight=sample_weight))
        if has_missing(y):
            return float(accuracy(y, predicted, sample_weight=sample_weight))
        if is_vector(y):
            classes = np.asarray(unmasked(y)).ravel()
            known = ~find_missing(classes)
            if not known.all():
                if not known.any():
                    raise ValueError("y is NaN everywhere: at least one class must be known.")
                right = np.asarray(predicted)[known] == classes[known]
                weights = check_row_weights(sample_weight, len(classes))
                return float(np.average(right, weights=None if weights is None else weights[known]))
        if hasattr(predicted, "columns"):
            predicted = np.asarray(predicted)
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))


def _framed(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method whose result is a frame if ``set_output`` asks for one."""

    @wraps(method)
    def returning(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        found = method(self, X, *args, **kwargs)
        library = getattr(self, "_sklearn_output_config", {}).get("predict", "default")
        return found if library == "default" else _as_frame(found, self.classes_, X, library)

    return returning


def _as_frame(found: Any, names: Any, X: Any, library: str) -> Any:
    """Return label sets, or a matrix with a column for each name, as a frame."""
    if isinstance(found, list) and (not found or isinstance(found[0], tuple)):
        found = label_matrix(found, names)
    if isinstance(found, list) or np.ndim(found) != 2 or found.shape[1] != len(names):
        return found  # classes, or the probabilities of each label by itself
    columns = dict(zip(map(str, names), np.asarray(to_dense(found)).T, strict=True))
    frame = make_frame(columns, library)
    if library == "pandas" and hasattr(X, "iloc"):
        frame.index = X.index
    return frame
