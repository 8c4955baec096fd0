"""All metrics by name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenlabel.metrics.by_label import (
    auc_macro,
    auc_micro,
    label_average_precision,
    label_f1_at_k,
    label_precision_at_k,
    label_recall_at_k,
    labels_recalled_at_k,
)
from eigenlabel.metrics.label_sets import accuracy, f1_macro, f1_micro, f1_samples, hamming_loss
from eigenlabel.metrics.rankings import (
    average_precision,
    coverage,
    one_error,
    precision_at_k,
    ranking_accuracy,
    ranking_loss,
)
from eigenlabel.metrics.reading import Weights


@dataclass(frozen=True)
class Metric:
    """A metric and its properties.

    Parameters
    ----------
    function : callable
        The metric, called with true labels, label sets or scores, and ``sample_weight``.
    reads : {"labels", "scores"}
        Whether the metric reads label sets or scores.
    greater_is_better : bool
        Whether a greater value is better; False for losses.
    """

    function: Callable[..., float]
    reads: str
    greater_is_better: bool


def _at(function: Callable[..., float], k: int) -> Metric:
    """Return a metric of the k best labels, or of all labels if there are fewer."""
    return Metric(lambda y, s, **kw: function(y, s, min(k, np.shape(s)[1]), **kw), "scores", True)


METRICS: dict[str, Metric] = {
    "hamming_loss": Metric(hamming_loss, "labels", False),
    "accuracy": Metric(accuracy, "labels", True),
    "f1_macro": Metric(f1_macro, "labels", True),
    "f1_micro": Metric(f1_micro, "labels", True),
    "f1_samples": Metric(f1_samples, "labels", True),
    "ranking_loss": Metric(ranking_loss, "scores", False),
    "average_precision": Metric(average_precision, "scores", True),
    "one_error": Metric(one_error, "scores", False),
    "coverage": Metric(coverage, "scores", False),
    "auc_macro": Metric(auc_macro, "scores", True),
    "auc_micro": Metric(auc_micro, "scores", True),
    "precision_at_1": _at(precision_at_k, 1),
    "precision_at_3": _at(precision_at_k, 3),
    "precision_at_5": _at(precision_at_k, 5),
    "label_precision_at_5": _at(label_precision_at_k, 5),
    "label_recall_at_5": _at(label_recall_at_k, 5),
    "label_f1_at_5": _at(label_f1_at_k, 5),
    "labels_recalled_at_5": _at(labels_recalled_at_k, 5),
    "label_average_precision": Metric(label_average_precision, "scores", True),
    "ranking_accuracy": Metric(ranking_accuracy, "scores", True),
}


def evaluate(
    y_true: Any, scores: Any, y_pred: Any = None, *, sample_weight: Weights = None
) -> dict[str, float]:
    """Compute every metric of this module.

    The conventions are the defaults of each function. If there are fewer than k labels, precision
    at k is that of all labels.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    scores : array-like of shape (n_samples, n_labels) or None
        The scores. Metrics of scores are left out if it is None.
    y_pred : array-like or sparse matrix of shape (n_samples, n_labels), default=None
        The predicted labels. Metrics of label sets are left out if it is None.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    values : dict
        The value of each metric by name.

    Examples
    --------
    >>> from eigenlabel import metrics
    >>> figures = metrics.evaluate([[1, 0], [0, 1]], [[0.9, 0.1], [0.2, 0.7]], [[1, 0], [1, 1]])
    >>> round(figures["f1_micro"], 3), figures["ranking_loss"]
    (0.8, 0.0)
    """
    inputs = {"scores": scores, "labels": y_pred}
    return {
        name: metric.function(y_true, inputs[metric.reads], sample_weight=sample_weight)
        for name, metric in METRICS.items()
        if inputs[metric.reads] is not None
    }
