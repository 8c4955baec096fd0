"""The arrays of a metric, checked: true labels, label sets or scores, and weights."""

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from eigenlabel.inputs.data import check_scores
from eigenlabel.inputs.sample_weights import check_row_weights
from eigenlabel.labels.checks import check_label_matrix, check_observed_labels
from eigenlabel.labels.label_sets import common_matrices
from eigenlabel.labels.named_columns import labels_beside
from eigenlabel.linalg._types import Bools, Floats

Observed: TypeAlias = Bools | None  # (n, m), None if all cells are observed
Weights: TypeAlias = Any  # what users pass: (n,) or None


def read_label_sets(y_true: Any, y_pred: Any) -> tuple[Bools, Bools, Observed]:
    """Return true and predicted labels and the observed cells; other cells are False in both."""
    y_true = labels_beside(y_true, y_pred, "y_pred", "y_true")
    y_pred = labels_beside(y_pred, y_true, "y_true", "y_pred")
    y_true, y_pred = common_matrices(y_true, y_pred)
    Y, observed = check_observed_labels(y_true, "y_true")
    P = check_label_matrix(y_pred, "y_pred")
    if Y.shape != P.shape:
        raise ValueError(f"y_true has shape {Y.shape}, y_pred {P.shape}.")
    return Y, P if observed is None else P & observed, observed


def read_scores(y_true: Any, scores: Any) -> tuple[Bools, Floats, Observed]:
    """Return true labels, scores, -inf where a cell is not observed, and the observed cells."""
    if sp.issparse(scores):
        raise ValueError(
            "scores is sparse, but this metric ranks all labels: pass a dense matrix, or use a "
            "metric of the k best labels (such as ndcg_at_k) or of probabilities (such as log_loss)"
            ", which read the stored cells only."
        )
    y_true = labels_beside(y_true, scores, "scores", "y_true")
    Y, observed = check_observed_labels(y_true, "y_true")
    F = check_scores("scores", scores, Y.shape)
    return Y, F if observed is None else np.where(observed, F, -np.inf), observed


def sample_weights(sample_weight: Any, n: int, observed: Observed = None) -> Floats:
    """Return the weights of samples, zero for those without an observed cell."""
    if n == 0:
        raise ValueError("No samples: a metric needs at least one.")
    weights = check_row_weights(sample_weight, n)
    weights = np.ones(n) if weights is None else weights
    return weights if observed is None else weights * observed.any(axis=1)


def average(values: Floats, weights: Floats) -> float:
    """Return the weighted mean, NaN if the weights sum to zero."""
    total = weights.sum()
    return float(values @ weights / total) if total > 0 else float("nan")


def columns(
    Y: Bools, F: Floats, observed: Observed, sample_weight: Weights
) -> Iterator[tuple[Bools, Floats, Floats]]:
    """Yield the observed true labels, scores and weights of each label."""
    w = sample_weights(sample_weight, len(Y))
    for j in range(Y.shape[1]):
        rows = slice(None) if observed is None else observed[:, j]
        yield Y[rows, j], F[rows, j], w[rows]
