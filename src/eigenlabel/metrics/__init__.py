"""Metrics of multi-label predictions: arrays in, floats out.

Label sets are compared by :func:`hamming_loss`, :func:`accuracy` and the F1 family, and the order
of scores by most other metrics. Probabilities are compared with what is true by :func:`log_loss`,
:func:`brier_score` and :func:`calibration_error`. The conventions are parameters of the functions:

* F1 with neither a positive nor a prediction (0/0) is ``zero_division``: 0 in Ji et al. (2008 and
  2010), 1 in some tables of Zhang and Zhou (2010).
* Samples with no label or with all labels have no order that could be wrong. ``trivial="skip"``
  leaves them out, as the code of ML-kNN and Zhang and Zhou (2010) do; ``trivial="count"`` counts
  them as perfect, as scikit-learn does.
* Tied labels share the worst rank (``ties="worst"``, as in scikit-learn, so that the order of the
  labels does not matter) or are ranked by descending position (``ties="index"``, as in the code of
  ML-kNN).
* Labels without a positive or without a negative have no AUC and are left out of its mean. Labels
  without a positive are left out of the means over labels of Xiong et al. (KGHA).
* Cells of ``y_true`` that are NaN are not observed. A metric uses the other cells only: it ranks
  the observed labels of a sample, or the observed samples of a label. Samples and labels without
  observed cells are left out of means.
* Scores of metrics of the k best labels, and probabilities, may be sparse: the stored cells are the
  labels that are predicted, also those with a stored zero. A label that is not stored is not among
  the best ones, and its probability is 0. The cost depends on the number of stored cells only.
* A sample without true labels has no nDCG; it counts as ``zero_division``, 0 in scikit-learn and
  pyxclib.

A mean over nothing is NaN.
"""

from eigenlabel.metrics.at_k import ndcg_at_k, precision_at_k
from eigenlabel.metrics.auc import auc_macro, auc_micro, auc_per_label
from eigenlabel.metrics.by_label import (
    label_average_precision,
    label_f1_at_k,
    label_precision_at_k,
    label_recall_at_k,
    labels_recalled_at_k,
)
from eigenlabel.metrics.evaluation import ALL_METRICS, METRICS, Metric, evaluate
from eigenlabel.metrics.f1_and_hamming import (
    accuracy,
    f1_from_counts,
    f1_macro,
    f1_micro,
    f1_samples,
    false_discovery_samples,
    hamming_loss,
    recall_samples,
)
from eigenlabel.metrics.hsic_dependence import hsic
from eigenlabel.metrics.log_loss_and_brier import (
    brier_score,
    brier_score_per_label,
    log_loss,
    log_loss_per_label,
)
from eigenlabel.metrics.propensity import (
    label_propensities,
    propensity_ndcg_at_k,
    propensity_precision_at_k,
)
from eigenlabel.metrics.rankings import (
    average_precision,
    coverage,
    one_error,
    ranking_accuracy,
    ranking_loss,
)
from eigenlabel.metrics.reliability import (
    ReliabilityBins,
    calibration_error,
    calibration_error_per_label,
    reliability_bins,
)

__all__ = [
    "ALL_METRICS",
    "METRICS",
    "Metric",
    "ReliabilityBins",
    "accuracy",
    "auc_macro",
    "auc_micro",
    "auc_per_label",
    "average_precision",
    "brier_score",
    "brier_score_per_label",
    "calibration_error",
    "calibration_error_per_label",
    "coverage",
    "evaluate",
    "f1_from_counts",
    "f1_macro",
    "f1_micro",
    "f1_samples",
    "false_discovery_samples",
    "hamming_loss",
    "hsic",
    "label_average_precision",
    "label_f1_at_k",
    "label_precision_at_k",
    "label_propensities",
    "label_recall_at_k",
    "labels_recalled_at_k",
    "log_loss",
    "log_loss_per_label",
    "ndcg_at_k",
    "one_error",
    "precision_at_k",
    "propensity_ndcg_at_k",
    "propensity_precision_at_k",
    "ranking_accuracy",
    "ranking_loss",
    "recall_samples",
    "reliability_bins",
]
