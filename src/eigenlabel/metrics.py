"""Figures of merit of multi-label predictions: arrays in, floats out.

Label sets are compared by :func:`hamming_loss`, :func:`accuracy` and the F1 family, the order of
scores by the others. Conventions, all stated at each function:

* F1 with neither a positive nor a prediction (0/0) is ``zero_division``: 0 in papers 000 and 001,
  1 on some tables of paper 004.
* Rows with no or with all labels have no order to get wrong: ``trivial="skip"`` leaves them out
  (ML-kNN's code and paper 004), ``"count"`` counts them as perfect (scikit-learn).
* Tied labels share the worst rank (``ties="worst"``, scikit-learn, no matter how labels are
  arranged) or go by descending label index (``ties="index"``, ML-kNN's code).
* Labels without a positive or without a negative have no AUC and are left out of its mean; those
  without a positive are left out of the figures by label of paper 003.
* Cells of ``y_true`` that are NaN were not observed. A metric sees the others alone, in every row
  and column: it ranks a sample's observed labels, a label's observed samples. Rows and columns
  without any are left out of means.

A mean over nothing is NaN.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata

from eigenlabel.inputs.validation import check_choice, check_number, check_row_weights, check_scores
from eigenlabel.labels.checks import check_label_matrix, check_observed_labels
from eigenlabel.thresholds import top_labels

Observed = np.ndarray | None  # (n, m), None if every cell is
Weights = np.ndarray | None


def _pair(y_true: Any, y_pred: Any) -> tuple[np.ndarray, np.ndarray, Observed]:
    """Give true and predicted labels, neither where a cell is not observed, and what is."""
    (Y, observed), P = check_observed_labels(y_true, "y_true"), check_label_matrix(y_pred, "y_pred")
    if Y.shape != P.shape:
        raise ValueError(f"y_true has shape {Y.shape}, y_pred {P.shape}.")
    return Y, P if observed is None else P & observed, observed


def _scored(y_true: Any, scores: Any) -> tuple[np.ndarray, np.ndarray, Observed]:
    """Give true labels, scores, -inf where a cell is not observed, and what is."""
    Y, observed = check_observed_labels(y_true, "y_true")
    F = check_scores("scores", scores, Y.shape)
    return Y, F if observed is None else np.where(observed, F, -np.inf), observed


def _weights(sample_weight: Any, n: int, observed: Observed = None) -> np.ndarray:
    """Give the weights of rows, zero for those without an observed cell."""
    if n == 0:
        raise ValueError("No samples: a metric needs at least one.")
    weights = check_row_weights(sample_weight, n)
    weights = np.ones(n) if weights is None else weights
    return weights if observed is None else weights * observed.any(axis=1)


def _average(values: np.ndarray, weights: np.ndarray) -> float:
    total = weights.sum()
    return float(values @ weights / total) if total > 0 else float("nan")


def f1_from_counts(
    hits: np.ndarray, predicted: np.ndarray, positives: np.ndarray, zero_division: float = 0.0
) -> np.ndarray:
    """Give 2 hits / (predicted + positives), ``zero_division`` for 0/0."""
    total = predicted + positives
    return np.where(total > 0, 2 * hits / np.where(total > 0, total, 1.0), zero_division)


def hamming_loss(y_true: Any, y_pred: Any, *, sample_weight: Weights = None) -> float:
    """Give the share of wrong entries of the label matrix, all rows counted."""
    Y, P, observed = _pair(y_true, y_pred)
    w = _weights(sample_weight, len(Y))
    if observed is None:
        return _average((Y != P).mean(axis=1), w)
    size = observed.sum(axis=1)
    return _average((Y != P).sum(axis=1) / np.maximum(size, 1), w * size)


def accuracy(y_true: Any, y_pred: Any, *, sample_weight: Weights = None) -> float:
    """Give the share of rows whose label set is right as a whole, as far as it is observed."""
    Y, P, observed = _pair(y_true, y_pred)
    return _average((Y == P).all(axis=1), _weights(sample_weight, len(Y), observed))


def _label_counts(Y: np.ndarray, P: np.ndarray, sample_weight: Weights) -> tuple[np.ndarray, ...]:
    w = _weights(sample_weight, len(Y))
    return w @ (Y & P), w @ P, w @ Y


def f1_macro(
    y_true: Any, y_pred: Any, *, zero_division: float = 0.0, sample_weight: Weights = None
) -> float:
    """Give the mean over labels of their F1; a label with 0/0 counts as ``zero_division``.

    Labels that are never observed are left out.
    """
    Y, P, observed = _pair(y_true, y_pred)
    f1 = f1_from_counts(*_label_counts(Y, P, sample_weight), zero_division)
    if observed is None:
        return float(f1.mean())
    known = _weights(sample_weight, len(Y)) @ observed > 0
    return _average(f1[known], np.ones(known.sum()))


def f1_micro(
    y_true: Any, y_pred: Any, *, zero_division: float = 0.0, sample_weight: Weights = None
) -> float:
    """Give F1 of all entries of the label matrix together."""
    counts = _label_counts(*_pair(y_true, y_pred)[:2], sample_weight)
    return float(f1_from_counts(*(c.sum() for c in counts), zero_division))


def f1_samples(
    y_true: Any, y_pred: Any, *, zero_division: float = 0.0, sample_weight: Weights = None
) -> float:
    """Give the mean over samples of the F1 of their label set."""
    Y, P, observed = _pair(y_true, y_pred)
    f1 = f1_from_counts((Y & P).sum(axis=1), P.sum(axis=1), Y.sum(axis=1), zero_division)
    return _average(f1, _weights(sample_weight, len(Y), observed))


def _ranks(scores: np.ndarray, ties: str) -> np.ndarray:
    """Rank labels in each row, 1 the highest score."""
    check_choice("ties", ties, ("worst", "index"))
    if ties == "worst":
        return rankdata(-scores, method="max", axis=1)
    return rankdata(-scores[:, ::-1], method="ordinal", axis=1)[:, ::-1]


def _false(Y: np.ndarray, observed: Observed) -> np.ndarray:
    """Mark the labels that are known to be absent."""
    return ~Y if observed is None else observed & ~Y


def _row_means(per_label: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return (per_label * Y).sum(axis=1) / np.maximum(Y.sum(axis=1), 1)


def _over_rows(
    values: np.ndarray,
    Y: np.ndarray,
    observed: Observed,
    perfect: float,
    trivial: str,
    sample_weight: Weights,
) -> float:
    check_choice("trivial", trivial, ("skip", "count"))
    ordered = Y.any(axis=1) & _false(Y, observed).any(axis=1)
    w = _weights(sample_weight, len(Y), observed)
    if trivial == "skip":
        return _average(values[ordered], w[ordered])
    return _average(np.where(ordered, values, perfect), w)


def ranking_loss(
    y_true: Any, scores: Any, *, trivial: str = "skip", sample_weight: Weights = None
) -> float:
    """Give the share of (true, false) label pairs in the wrong order; a tie is an error.

    Equals scikit-learn's ``label_ranking_loss`` with ``trivial="count"``.
    """
    Y, F, observed = _scored(y_true, scores)
    above = rankdata(-F, method="max", axis=1)  # labels scored at least as high
    true_above = rankdata(np.where(Y, -F, np.inf), method="max", axis=1)
    false = np.maximum(_false(Y, observed).sum(axis=1), 1)
    loss = _row_means(above - true_above, Y) / false
    return _over_rows(loss, Y, observed, 0.0, trivial, sample_weight)


def average_precision(
    y_true: Any,
    scores: Any,
    *,
    ties: str = "worst",
    trivial: str = "skip",
    sample_weight: Weights = None,
) -> float:
    """Give the mean precision at the rank of each true label, averaged over samples.

    Equals scikit-learn's ``label_ranking_average_precision_score`` with ``trivial="count"``.
    """
    Y, F, observed = _scored(y_true, scores)
    rank = _ranks(F, ties)
    order = np.where(Y, rank, np.inf)  # among true labels, by the same rank
    true_rank = rankdata(order, method="max", axis=1)
    return _over_rows(_row_means(true_rank / rank, Y), Y, observed, 1.0, trivial, sample_weight)


def one_error(
    y_true: Any, scores: Any, *, trivial: str = "skip", sample_weight: Weights = None
) -> float:
    """Give the share of samples whose top label is wrong; a hit if any of the tied top is true."""
    Y, F, observed = _scored(y_true, scores)
    top = F.max(axis=1, keepdims=True) == F
    return _over_rows(~(top & Y).any(axis=1), Y, observed, 0.0, trivial, sample_weight)


def coverage(
    y_true: Any, scores: Any, *, ties: str = "worst", sample_weight: Weights = None
) -> float:
    """Give how many labels further than the first one must go to meet all true ones.

    One less than scikit-learn's ``coverage_error``; rows without labels are left out.
    """
    Y, F, _ = _scored(y_true, scores)
    deepest = np.where(Y, _ranks(F, ties), 0).max(axis=1)
    some = Y.any(axis=1)
    return _average(deepest[some] - 1.0, _weights(sample_weight, len(Y))[some])


def _auc(y: np.ndarray, s: np.ndarray, w: np.ndarray) -> float:
    """Give P(positive scored above negative), ties a half, with weights; NaN if undefined."""
    _, group = np.unique(s, return_inverse=True)
    negative = np.bincount(group, weights=w * ~y)
    positive = np.bincount(group, weights=w * y)
    total = positive.sum() * negative.sum()
    below = np.cumsum(negative) - negative / 2
    return float(positive @ below / total) if total > 0 else float("nan")


def _columns(
    Y: np.ndarray, F: np.ndarray, observed: Observed, sample_weight: Weights
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Go through the labels: their observed truth, scores and weights."""
    w = _weights(sample_weight, len(Y))
    for j in range(Y.shape[1]):
        rows = slice(None) if observed is None else observed[:, j]
        yield Y[rows, j], F[rows, j], w[rows]


def auc_per_label(y_true: Any, scores: Any, *, sample_weight: Weights = None) -> np.ndarray:
    """Give the area under the ROC curve of each label (m,), NaN where it is undefined."""
    Y, F, observed = _scored(y_true, scores)
    if sample_weight is not None or observed is not None:
        return np.array([_auc(*cells) for cells in _columns(Y, F, observed, sample_weight)])
    positive = Y.sum(axis=0)
    pairs = positive * (len(Y) - positive)
    below = (rankdata(F, axis=0) * Y).sum(axis=0) - positive * (positive + 1) / 2
    return np.where(pairs > 0, below / np.maximum(pairs, 1), np.nan)


def auc_macro(y_true: Any, scores: Any, *, sample_weight: Weights = None) -> float:
    """Give the mean AUC over the labels that have one."""
    auc = auc_per_label(y_true, scores, sample_weight=sample_weight)
    defined = ~np.isnan(auc)
    return _average(auc[defined], np.ones(defined.sum()))


def auc_micro(y_true: Any, scores: Any, *, sample_weight: Weights = None) -> float:
    """Give the AUC of all entries of the label matrix together."""
    Y, F, observed = _scored(y_true, scores)
    w = np.repeat(_weights(sample_weight, len(Y)), Y.shape[1])
    cells = slice(None) if observed is None else observed.ravel()
    return _auc(Y.ravel()[cells], F.ravel()[cells], w[cells])


def _top(F: np.ndarray, k: int) -> np.ndarray:
    """Mark the k highest scores of each row; ties go to the first label."""
    check_number("k", k, 1, F.shape[1], integer=True)
    marked = np.zeros(F.shape, dtype=bool)
    np.put_along_axis(marked, top_labels(F, k), True, axis=1)
    return marked & np.isfinite(F)  # not where nothing is observed


def precision_at_k(y_true: Any, scores: Any, k: int = 5, *, sample_weight: Weights = None) -> float:
    """Give the share of true labels among the k highest scores; ties go to the first label.

    The denominator is k for every row, as in the Extreme Classification Repository; in rows with
    fewer observed labels it is their number.
    """
    Y, F, observed = _scored(y_true, scores)
    given = k if observed is None else np.clip(observed.sum(axis=1), 1, k)
    hits = (Y & _top(F, k)).sum(axis=1) / given
    return _average(hits, _weights(sample_weight, len(Y), observed))


def _label_shares_at_k(
    y_true: Any, scores: Any, k: int, sample_weight: Weights
) -> tuple[np.ndarray, np.ndarray]:
    """Give precision and recall of the labels that occur, each sample given its k top labels."""
    Y, F, _ = _scored(y_true, scores)
    hits, predicted, positives = _label_counts(Y, _top(F, k), sample_weight)
    known = positives > 0
    precision = hits / np.where(predicted > 0, predicted, 1.0)
    return precision[known], hits[known] / positives[known]


def label_precision_at_k(
    y_true: Any, scores: Any, k: int = 5, *, sample_weight: Weights = None
) -> float:
    """Give the mean over labels of their precision, each sample given its k top labels.

    The protocol of paper 003, Section 7.1 with k = 5. Labels without a positive are left out, a
    label that is given to no sample counts 0; tied scores go to the first label.
    """
    precision, _ = _label_shares_at_k(y_true, scores, k, sample_weight)
    return _average(precision, np.ones(len(precision)))


def label_recall_at_k(
    y_true: Any, scores: Any, k: int = 5, *, sample_weight: Weights = None
) -> float:
    """Give the mean over labels of their recall, as :func:`label_precision_at_k`."""
    _, recall = _label_shares_at_k(y_true, scores, k, sample_weight)
    return _average(recall, np.ones(len(recall)))


def label_f1_at_k(y_true: Any, scores: Any, k: int = 5, *, sample_weight: Weights = None) -> float:
    """Give 2 P R / (P + R) of the mean precision P and the mean recall R of labels.

    The F1 of paper 003, which is not the mean of the labels' F1; 0 if nothing is right.
    """
    precision, recall = _label_shares_at_k(y_true, scores, k, sample_weight)
    ones = np.ones(len(precision))
    P, R = _average(precision, ones), _average(recall, ones)
    return 2 * P * R / (P + R) if P + R > 0 or np.isnan(P) else 0.0


def labels_recalled_at_k(
    y_true: Any, scores: Any, k: int = 5, *, sample_weight: Weights = None
) -> float:
    """Count the labels with a recall above zero (N+), each sample given its k top labels."""
    _, recall = _label_shares_at_k(y_true, scores, k, sample_weight)
    return float((recall > 0).sum())


def _label_average_precision(y: np.ndarray, s: np.ndarray, w: np.ndarray) -> float:
    """Give the mean precision at the score of each positive, with weights; NaN without one."""
    _, group = np.unique(-s, return_inverse=True)
    positive = np.bincount(group, weights=w * y)
    above, true_above = np.cumsum(np.bincount(group, weights=w)), np.cumsum(positive)
    total = positive.sum()
    shares = true_above / np.where(above > 0, above, 1.0)
    return float(positive @ shares / total) if total > 0 else float("nan")


def label_average_precision(y_true: Any, scores: Any, *, sample_weight: Weights = None) -> float:
    """Give the mean over labels of their average precision, samples ranked by score.

    Mean average precision by label; by sample it is :func:`average_precision`. Tied samples share
    the worst rank, labels without a positive are left out. Equals the mean of scikit-learn's
    ``average_precision_score``.
    """
    columns = _columns(*_scored(y_true, scores), sample_weight)
    found = np.array([_label_average_precision(*cells) for cells in columns])
    found = found[~np.isnan(found)]
    return _average(found, np.ones(len(found)))


def ranking_accuracy(
    y_true: Any, scores: Any, *, trivial: str = "skip", sample_weight: Weights = None
) -> float:
    """Give 1 - :func:`ranking_loss`, the figure of Tables 6 and 7 of paper 003."""
    return 1.0 - ranking_loss(y_true, scores, trivial=trivial, sample_weight=sample_weight)


def hsic(K: Any, L: Any, *, unbiased: bool = False) -> float:
    """Estimate the Hilbert-Schmidt independence criterion of two kernel matrices.

    The biased estimate is ``tr(H K H L) / (n - 1)^2`` (Gretton et al., 2005), the unbiased one
    leaves pairs of a sample with itself out (Song et al., 2012) and may be negative.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlabel import metrics
    >>> x = np.array([[0.0], [1.0], [2.0]])
    >>> metrics.hsic(x @ x.T, x @ x.T)
    1.0
    """
    K, L = (np.asarray(A.toarray() if sp.issparse(A) else A, dtype=float) for A in (K, L))
    if not (np.isfinite(K).all() and np.isfinite(L).all()):
        raise ValueError("K and L must be finite: there is NaN or infinity in them.")
    if K.ndim != 2 or K.shape[0] != K.shape[1] or K.shape != L.shape:
        raise ValueError(f"K and L must be square matrices of one size, got {K.shape}, {L.shape}.")
    n = len(K)
    if n < (4 if unbiased else 2):
        raise ValueError(f"HSIC needs at least {4 if unbiased else 2} samples, got {n}.")
    if not unbiased:
        centred = K - K.mean(axis=0)
        centred -= centred.mean(axis=1, keepdims=True)
        return float((centred * L.T).sum() / (n - 1) ** 2)
    K, L = K - np.diag(np.diag(K)), L - np.diag(np.diag(L))
    apart = K.sum() * L.sum() / ((n - 1) * (n - 2))
    shared = 2 * (K.sum(axis=0) @ L.sum(axis=1)) / (n - 2)
    return float(((K * L.T).sum() + apart - shared) / (n * (n - 3)))


@dataclass(frozen=True)
class Metric:
    """A metric with what it reads ("labels" or "scores") and whether more is better."""

    function: Callable[..., float]
    reads: str
    greater_is_better: bool


def _at(function: Callable[..., float], k: int) -> Metric:
    """Give a metric of the k top labels, or of all where there are fewer."""
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
    """Give every metric of this module by name, label-set ones if ``y_pred`` is given.

    ``scores`` may be None for label sets alone. Conventions are each function's defaults;
    precision at k of more labels than there are is that of all of them.

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
