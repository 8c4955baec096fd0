"""All metrics by name."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.metrics.at_k import ndcg_at_k, precision_at_k
from eigenlabel.metrics.auc import auc_macro, auc_micro
from eigenlabel.metrics.by_label import (
    label_average_precision,
    label_f1_at_k,
    label_precision_at_k,
    label_recall_at_k,
    labels_recalled_at_k,
)
from eigenlabel.metrics.checked_inputs import Weights
from eigenlabel.metrics.f1_and_hamming import (
    accuracy,
    f1_macro,
    f1_micro,
    f1_samples,
    false_discovery_samples,
    hamming_loss,
    recall_samples,
)
from eigenlabel.metrics.log_loss_and_brier import brier_score, log_loss
from eigenlabel.metrics.propensity import propensity_ndcg_at_k, propensity_precision_at_k
from eigenlabel.metrics.rankings import (
    average_precision,
    coverage,
    one_error,
    ranking_accuracy,
    ranking_loss,
)
from eigenlabel.metrics.reliability import calibration_error


@dataclass(frozen=True)
class Metric:
    """A metric and its properties.

    Parameters
    ----------
    function : callable
        The metric, called with true labels, then label sets, scores or probabilities, and
        ``sample_weight``.
    reads : {"labels", "scores", "probabilities"}
        Whether the metric reads label sets, scores or probabilities.
    greater_is_better : bool
        Whether a greater value is better; False for losses.
    sparse : bool, default=False
        Whether scores or probabilities may be sparse, with the predicted labels stored.
    propensities : bool, default=False
        Whether the function has the parameter ``propensities``.
    """

    function: Callable[..., float]
    reads: str
    greater_is_better: bool
    sparse: bool = False
    propensities: bool = False


def _at(function: Callable[..., float], k: int, propensities: bool = False) -> Metric:
    """Return a metric of the k best labels, or of all labels if there are fewer."""
    return Metric(
        lambda y, s, **kw: function(y, s, min(k, np.shape(s)[1]), **kw),
        "scores",
        True,
        sparse=True,
        propensities=propensities,
    )


def _of_probabilities(function: Callable[..., float]) -> Metric:
    return Metric(function, "probabilities", False, sparse=True)


METRICS: dict[str, Metric] = {
    "hamming_loss": Metric(hamming_loss, "labels", False),
    "accuracy": Metric(accuracy, "labels", True),
    "f1_macro": Metric(f1_macro, "labels", True),
    "f1_micro": Metric(f1_micro, "labels", True),
    "f1_samples": Metric(f1_samples, "labels", True),
    "recall_samples": Metric(recall_samples, "labels", True),
    "false_discovery_samples": Metric(false_discovery_samples, "labels", False),
    "ranking_loss": Metric(ranking_loss, "scores", False),
    "average_precision": Metric(average_precision, "scores", True),
    "one_error": Metric(one_error, "scores", False),
    "coverage": Metric(coverage, "scores", False),
    "auc_macro": Metric(auc_macro, "scores", True),
    "auc_micro": Metric(auc_micro, "scores", True),
    "precision_at_1": _at(precision_at_k, 1),
    "precision_at_3": _at(precision_at_k, 3),
    "precision_at_5": _at(precision_at_k, 5),
    "ndcg_at_3": _at(ndcg_at_k, 3),  # at 1 it is precision
    "ndcg_at_5": _at(ndcg_at_k, 5),
    "propensity_precision_at_1": _at(propensity_precision_at_k, 1, propensities=True),
    "propensity_precision_at_3": _at(propensity_precision_at_k, 3, propensities=True),
    "propensity_precision_at_5": _at(propensity_precision_at_k, 5, propensities=True),
    "propensity_ndcg_at_3": _at(propensity_ndcg_at_k, 3, propensities=True),
    "propensity_ndcg_at_5": _at(propensity_ndcg_at_k, 5, propensities=True),
    "label_precision_at_5": _at(label_precision_at_k, 5),
    "label_recall_at_5": _at(label_recall_at_k, 5),
    "label_f1_at_5": _at(label_f1_at_k, 5),
    "labels_recalled_at_5": _at(labels_recalled_at_k, 5),
    "label_average_precision": Metric(label_average_precision, "scores", True),
    "ranking_accuracy": Metric(ranking_accuracy, "scores", True),
    "log_loss": _of_probabilities(log_loss),
    "brier_score": _of_probabilities(brier_score),
    "calibration_error": _of_probabilities(calibration_error),
    "calibration_error_macro": _of_probabilities(
        lambda y, p, **kw: calibration_error(y, p, average="macro", **kw)
    ),
}

# Metrics by the convention of a paper, for comparisons with its figures.
CONVENTIONS: dict[str, Metric] = {
    # Macro F1 in which a label without positives and predictions counts as one.
    "f1_macro_empty_one": Metric(partial(f1_macro, zero_division=1.0), "labels", True),
    # AUC of decided label sets instead of scores.
    "auc_micro_of_sets": Metric(auc_micro, "labels", True),
}
ALL_METRICS: dict[str, Metric] = METRICS | CONVENTIONS


def evaluate(
    y_true: Any,
    scores: Any,
    y_pred: Any = None,
    *,
    probabilities: Any = None,
    propensities: Any = None,
    sample_weight: Weights = None,
) -> dict[str, float]:
    """Compute every metric of this module that the predictions allow.

    The conventions are the defaults of each function. If there are fewer than k labels, precision
    at k is that of all labels.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    scores : array-like or sparse matrix of shape (n_samples, n_labels), or None
        The scores. Metrics of scores are left out if it is None. If it is sparse, its stored cells
        are the labels that are predicted, and metrics that rank all labels are left out.
    y_pred : array-like or sparse matrix of shape (n_samples, n_labels), default=None
        The predicted labels. Metrics of label sets are left out if it is None.
    probabilities : array-like or sparse matrix of shape (n_samples, n_labels), default=None
        The probabilities of the labels. Metrics of probabilities are left out if it is None.
    propensities : array-like of shape (n_labels,), default=None
        The propensities of the labels in the training data, from :func:`label_propensities`.
        Metrics with propensities are left out if it is None.
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
    inputs = {"scores": scores, "labels": y_pred, "probabilities": probabilities}
    values = {}
    for name, metric in METRICS.items():
        given = inputs[metric.reads]
        dense_only = metric.reads == "scores" and not metric.sparse
        if given is None or (dense_only and sp.issparse(given)):
            continue
        options = {"sample_weight": sample_weight}
        if metric.propensities:
            if propensities is None:
                continue
            options["propensities"] = propensities
        values[name] = metric.function(y_true, given, **options)
    return values
