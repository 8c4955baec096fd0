"""The cells of predicted probabilities, in blocks: what metrics of probabilities add up."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel.inputs.data import check_scores
from eigenlabel.inputs.parameters import check_choice, check_number
from eigenlabel.labels.checks import check_observed_labels
from eigenlabel.labels.named_columns import labels_beside
from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.linalg.ties import UNITS, precision
from eigenlabel.metrics.checked_inputs import Observed, Weights, average, sample_weights
from eigenlabel.metrics.sparse_predictions import ROOM, Stored, read_stored


@dataclass(frozen=True)
class CellBlock:
    """Some observed cells. Cells of one label with equal probabilities may be one entry.

    Attributes
    ----------
    label : ndarray of shape (n_entries,)
        The label of each entry.
    probability : ndarray of shape (n_entries,)
        Its probability.
    weight : ndarray of shape (n_entries,)
        The weight of its samples.
    positive : ndarray of shape (n_entries,)
        The weight of those of its samples that have the label.
    count : ndarray of shape (n_entries,)
        The number of its cells.
    """

    label: Ints
    probability: Floats
    weight: Floats
    positive: Floats
    count: Ints

    def take(self, order: Ints) -> "CellBlock":
        """Return some entries in an order."""
        return CellBlock(*(getattr(self, field.name)[order] for field in fields(self)))

    @staticmethod
    def join(blocks: Sequence["CellBlock"]) -> "CellBlock":
        """Return the entries of one or more blocks together."""
        names = [field.name for field in fields(CellBlock)]
        return CellBlock(*(np.concatenate([getattr(b, n) for b in blocks]) for n in names))


@dataclass(frozen=True)
class Forecast:
    """Probabilities beside the truth.

    Attributes
    ----------
    n_labels : int
        The number of labels.
    precision : float
        The machine precision of the probabilities.
    blocks : callable
        Returns an iterator over all observed cells of samples with a positive weight.
    """

    n_labels: int
    precision: float
    blocks: Callable[[], Iterator[CellBlock]]


def read_forecast(
    y_true: Any, probabilities: Any, sample_weight: Weights, label: int | None = None
) -> Forecast:
    """Check probabilities, dense or sparse, and the truth; keep the cells of one label or of all.

    Cells that a sparse matrix does not store have the probability 0.
    """
    read = _read_sparse if sp.issparse(probabilities) else _read_dense
    return read(y_true, probabilities, sample_weight, label)


def _read_sparse(y_true: Any, probabilities: Any, weights: Weights, label: int | None) -> Forecast:
    stored = read_stored(y_true, probabilities, "probabilities")
    n, m = stored.positives.shape
    _check_range(stored.value, lambda at: (stored.row[at], stored.label[at]))
    _check_label(label, m)
    w = sample_weights(weights, n)
    return Forecast(m, _precision(stored.value), lambda: _stored_blocks(stored, w, label))


def _read_dense(y_true: Any, probabilities: Any, weights: Weights, label: int | None) -> Forecast:
    y_true = labels_beside(y_true, probabilities, "probabilities", "y_true")
    Y, observed = check_observed_labels(y_true, "y_true")
    P = check_scores("probabilities", _without_classes(probabilities), Y.shape)
    _check_range(P, lambda at: np.unravel_index(at, P.shape))
    _check_label(label, Y.shape[1])
    w = sample_weights(weights, len(Y))
    some = slice(None) if label is None else slice(label, label + 1)
    seen = None if observed is None else observed[:, some]
    Y, F = Y[:, some], P[:, some]
    return Forecast(Y.shape[1], _precision(P), lambda: _dense_blocks(Y, F, seen, w))


def _precision(P: Floats) -> float:
    """Return the machine precision of probabilities, which are computed with as 64-bit floats."""
    return max(precision(P.dtype), precision(np.float64))


def _check_label(label: int | None, n_labels: int) -> None:
    if label is not None:
        check_number("label", label, 0, n_labels - 1, integer=True)


def _without_classes(probabilities: Any) -> Any:
    """Raise ValueError for a list of matrices (samples, classes), one for each label."""
    if isinstance(probabilities, list) and probabilities and np.ndim(probabilities[0]) == 2:
        raise ValueError(
            "probabilities is a list with a matrix (samples, classes) for each label. Pass the "
            "probabilities of the labels, np.column_stack([p[:, 1] for p in probabilities])."
        )
    return probabilities


def _check_range(values: Floats, place: Callable[[Any], Any]) -> None:
    """Raise ValueError if a value is outside of 0 and 1 by more than rounding."""
    slack = UNITS * precision(values.dtype)
    if values.size and (values.min() < -slack or values.max() > 1 + slack):
        at = np.flatnonzero((values < -slack) | (values > 1 + slack))[0]
        row, column = place(at)
        raise ValueError(
            f"probabilities must be between 0 and 1, found {values.flat[at]} at [{row}, {column}]. "
            "Pass what predict_proba returns, not the scores of decision_function."
        )


def _dense_blocks(Y: Bools, P: Floats, observed: Observed, w: Floats) -> Iterator[CellBlock]:
    rows, m = np.flatnonzero(w > 0), Y.shape[1]
    step = max(1, ROOM // m)
    for start in range(0, max(len(rows), 1), step):  # at least one block, which may be empty
        some = rows[start : start + step]
        cells = slice(None) if observed is None else observed[some].ravel()
        weight = np.repeat(w[some], m)[cells]
        yield CellBlock(
            label=np.tile(np.arange(m), len(some))[cells],
            probability=np.clip(P[some].ravel()[cells].astype(float), 0.0, 1.0),
            weight=weight,
            positive=weight * Y[some].ravel()[cells],
            count=np.ones(len(weight), dtype=np.intp),
        )


def _stored_blocks(given: Stored, w: Floats, label: int | None) -> Iterator[CellBlock]:
    """Yield the stored cells, then the other cells of each label, whose probability is 0."""
    cells = given.known & (w[given.row] > 0)
    if label is not None:
        cells &= given.label == label
    row, of = given.row[cells], given.label[cells].astype(np.intp)
    m = given.positives.shape[1]
    yield CellBlock(
        label=of,
        probability=np.clip(given.value[cells].astype(float), 0.0, 1.0),
        weight=w[row],
        positive=w[row] * given.true[cells],
        count=np.ones(len(row), dtype=np.intp),
    )
    present = (w > 0).astype(np.intp)
    count = present.sum() - np.bincount(of, minlength=m)
    weight = w.sum() - np.bincount(of, w[row], m)
    if given.hidden is not None:
        count, weight = count - present @ given.hidden, weight - w @ given.hidden
    missed_row, missed_label = given.missed
    positive = np.bincount(missed_label, w[missed_row], m).astype(float)
    rest = np.flatnonzero(count) if label is None else np.flatnonzero(count[[label]]) + label
    # Differences of sums: rounding must not leave less weight than the positives have.
    weight = np.maximum(weight, positive)
    yield CellBlock(rest, np.zeros(len(rest)), weight[rest], positive[rest], count[rest])


def averaged(sums: Floats, weights: Floats, way: str) -> float:
    """Return the mean over all cells ("micro") or the mean of the means of labels ("macro")."""
    check_choice("average", way, ("micro", "macro"))
    if way == "micro":
        total = weights.sum()
        return float(sums.sum() / total) if total > 0 else float("nan")
    known = weights > 0
    return average(sums[known] / weights[known], np.ones(known.sum()))


def means_of_labels(sums: Floats, weights: Floats) -> Floats:
    """Return the mean of each label, NaN for labels without weight."""
    return np.where(weights > 0, sums / np.where(weights > 0, weights, 1.0), np.nan)
