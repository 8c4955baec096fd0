"""How well probabilities agree with observed shares: reliability diagrams and their error."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from eigenlabel.inputs.parameters import check_choice, check_number
from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.linalg.ties import UNITS, WEIGHED, same_as_next
from eigenlabel.metrics.checked_inputs import Weights
from eigenlabel.metrics.probability_cells import (
    CellBlock,
    Forecast,
    averaged,
    means_of_labels,
    read_forecast,
)


@dataclass(frozen=True)
class ReliabilityBins:
    """The bins of a reliability diagram that contain cells, in ascending order of probability.

    Parameters
    ----------
    predicted : ndarray of shape (n_bins,)
        The mean probability of the cells of each bin.
    observed : ndarray of shape (n_bins,)
        The share of cells whose label is present.
    count : ndarray of shape (n_bins,)
        The number of cells.
    weight : ndarray of shape (n_bins,)
        The sum of their sample weights. Without weights it is the number of cells.
    lower : ndarray of shape (n_bins,)
        The lower edges; with ``strategy="quantile"`` the smallest probabilities of the bins.
    upper : ndarray of shape (n_bins,)
        The upper edges; with ``strategy="quantile"`` the largest probabilities of the bins.
    """

    predicted: Floats
    observed: Floats
    count: Ints
    weight: Floats
    lower: Floats
    upper: Floats


def _add_up(block: CellBlock, at: Ints, groups: int, n_bins: int) -> Floats:
    """Return sums over the entries of each bin, (4, groups, n_bins).

    They are the weight, the weight times probability, the weight of positives and the number of
    cells. ``at`` numbers the bins of all groups.
    """
    parts = (block.weight, block.weight * block.probability, block.positive, block.count)
    sums: Floats = np.stack([np.bincount(at, part, groups * n_bins) for part in parts])
    return sums.reshape(4, groups, n_bins)


def _equal_widths(p: Floats, n_bins: int, eps: float) -> Ints:
    """Return the bin of each probability; an upper edge, up to rounding, belongs to its bin."""
    edges = np.arange(1, n_bins) / n_bins
    return np.searchsorted(edges * (1 + UNITS * eps), p)


def _equal_masses(p: Floats, weight: Floats, n_bins: int, eps: float) -> Ints:
    """Return the bin of each of some ascending probabilities.

    Each bin takes the smallest probabilities that are left, and as many as come nearest to its
    share of the weight that is left. Equal probabilities are never parted.
    """
    ends = np.flatnonzero(np.append(~same_as_next(p, UNITS * eps * p[1:]), True))
    done = np.cumsum(weight)[ends]
    slack = WEIGHED * done[-1]
    cuts, chosen, filled = [], -1, 0.0
    for left in range(n_bins, 1, -1):  # the last bin takes the rest
        wanted = filled + (done[-1] - filled) / left
        first, chosen = chosen + 1, int(np.searchsorted(done, wanted))
        if chosen > first and wanted - done[chosen - 1] < done[chosen] - wanted - slack:
            chosen -= 1
        if chosen >= len(ends) - 1:
            break
        filled = float(done[chosen])
        cuts.append(ends[chosen])
    return np.searchsorted(np.array(cuts, dtype=np.intp), np.arange(len(p)))


def _by_width(forecast: Forecast, n_bins: int, by_label: bool) -> Floats:
    groups = forecast.n_labels if by_label else 1
    sums = np.zeros((4, groups, n_bins))
    for block in forecast.blocks():
        at = _equal_widths(block.probability, n_bins, forecast.precision)
        sums += _add_up(block, at + block.label * n_bins if by_label else at, groups, n_bins)
    return sums


def _by_mass(forecast: Forecast, n_bins: int, by_label: bool) -> tuple[Floats, CellBlock, Ints]:
    """Return the sums of bins, all entries in ascending order, and the bin of each of them."""
    groups = forecast.n_labels if by_label else 1
    block = CellBlock.join(list(forecast.blocks()))
    group = block.label if by_label else np.zeros(len(block.label), dtype=np.intp)
    # Equal probabilities are in one bin, so that their order does not matter.
    p = block.probability
    order = np.lexsort((p, group)) if by_label else np.argsort(p)
    block, group = block.take(order), group[order]
    at = group * n_bins
    bounds = np.searchsorted(group, np.arange(groups + 1)).tolist()
    for start, stop in pairwise(bounds):
        if start < stop:
            p, w = block.probability[start:stop], block.weight[start:stop]
            at[start:stop] += _equal_masses(p, w, n_bins, forecast.precision)
    return _add_up(block, at, groups, n_bins), block, at


def reliability_bins(
    y_true: Any,
    probabilities: Any,
    *,
    label: int | None = None,
    n_bins: int = 15,
    strategy: str = "uniform",
    sample_weight: Weights = None,
) -> ReliabilityBins:
    """Compute the bins of a reliability diagram of one label, or of all cells together.

    Bins of equal width are ``((b - 1) / n_bins, b / n_bins]``, and the first one contains 0 (Guo et
    al. 2017). Bins of equal mass have about the same weight each; equal probabilities are in one
    bin, so that there may be fewer bins. Where no probability is on an edge, the means and shares
    equal those of scikit-learn's ``calibration_curve``, which reads a single label and no weights.
    The cost is linear in the number of cells, for sparse probabilities in the number of stored
    cells; bins of equal mass sort them.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    probabilities : array-like or sparse matrix of shape (n_samples, n_labels)
        The probabilities of the labels. Cells that a sparse matrix does not store have the
        probability 0.
    label : int or None, default=None
        The position of the label. None takes the cells of all labels together.
    n_bins : int, default=15
        The number of bins, of which only those with cells are returned.
    strategy : {"uniform", "quantile"}, default="uniform"
        Whether bins have equal widths or equal masses.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    bins : ReliabilityBins
        The means of probabilities, the observed shares, the counts, the weights and the edges.

    Examples
    --------
    >>> from eigenlabel import metrics
    >>> Y, P = [[1, 0], [0, 0], [1, 1]], [[0.9, 0.2], [0.3, 0.1], [0.7, 0.2]]
    >>> bins = metrics.reliability_bins(Y, P, n_bins=2)
    >>> bins.predicted.round(3), bins.observed, bins.count
    (array([0.2, 0.8]), array([0.25, 1.  ]), array([4, 2]))
    """
    _check_bins(n_bins, strategy)
    forecast = read_forecast(y_true, probabilities, sample_weight, label)
    if strategy == "uniform":
        sums = _by_width(forecast, n_bins, by_label=False)
        edges = np.arange(n_bins + 1) / n_bins
        lower, upper = edges[:-1], edges[1:]
    else:
        sums, block, at = _by_mass(forecast, n_bins, by_label=False)
        # The entries ascend: each bin starts at its smallest and ends at its largest probability.
        bounds, padded = np.searchsorted(at, np.arange(n_bins + 1)), np.append(block.probability, 0)
        lower, upper = padded[bounds[:-1]], padded[bounds[1:] - 1]
    weight, predicted, positive, count = sums[:, 0]
    some = weight > 0
    w = weight[some]
    return ReliabilityBins(
        predicted=predicted[some] / w,
        observed=positive[some] / w,
        count=count[some].astype(np.intp),
        weight=w,
        lower=lower[some],
        upper=upper[some],
    )


def _check_bins(n_bins: int, strategy: str) -> None:
    check_number("n_bins", n_bins, 1, integer=True)
    check_choice("strategy", strategy, ("uniform", "quantile"))


def _errors(
    forecast: Forecast, n_bins: int, strategy: str, by_label: bool
) -> tuple[Floats, Floats]:
    """Return the weighted sum of differences over bins and the weight, for each group."""
    _check_bins(n_bins, strategy)
    if strategy == "uniform":
        sums = _by_width(forecast, n_bins, by_label)
    else:
        sums, _, _ = _by_mass(forecast, n_bins, by_label)
    weight, predicted, positive, _ = sums
    return np.abs(positive - predicted).sum(axis=1), weight.sum(axis=1)


def calibration_error(
    y_true: Any,
    probabilities: Any,
    *,
    average: str = "micro",
    n_bins: int = 15,
    strategy: str = "uniform",
    sample_weight: Weights = None,
) -> float:
    """Compute the expected calibration error (ECE) of probabilities.

    This is the mean over bins of the absolute difference between the mean probability and the
    observed share, weighted by the cells of the bins (Guo et al. 2017, for the probability of a
    label instead of the confidence in a class). :func:`reliability_bins` describes the bins. Labels
    with few samples have an error by chance alone, which the mean over labels contains and the
    error of all cells together averages out. The cost is linear in the number of cells, for sparse
    probabilities in the number of stored cells; bins of equal mass sort them.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    probabilities : array-like or sparse matrix of shape (n_samples, n_labels)
        The probabilities of the labels. Cells that a sparse matrix does not store have the
        probability 0.
    average : {"micro", "macro"}, default="micro"
        Whether the bins contain the cells of all labels together, or the error is the mean over
        labels of the error of each.
    n_bins : int, default=15
        The number of bins.
    strategy : {"uniform", "quantile"}, default="uniform"
        Whether bins have equal widths or equal masses.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    value : float
        The error, between 0 and 1.

    Examples
    --------
    >>> from eigenlabel import metrics
    >>> Y, P = [[1, 0], [0, 0], [1, 1]], [[0.9, 0.2], [0.3, 0.1], [0.7, 0.2]]
    >>> round(metrics.calibration_error(Y, P, n_bins=2), 4)  # (4 |0.25 - 0.2| + 2 |1 - 0.8|) / 6
    0.1
    """
    check_choice("average", average, ("micro", "macro"))
    forecast = read_forecast(y_true, probabilities, sample_weight)
    return averaged(*_errors(forecast, n_bins, strategy, average == "macro"), average)


def calibration_error_per_label(
    y_true: Any,
    probabilities: Any,
    *,
    n_bins: int = 15,
    strategy: str = "uniform",
    sample_weight: Weights = None,
) -> Floats:
    """Compute the expected calibration error of each label (:func:`calibration_error`).

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    probabilities : array-like or sparse matrix of shape (n_samples, n_labels)
        The probabilities of the labels. Cells that a sparse matrix does not store have the
        probability 0.
    n_bins : int, default=15
        The number of bins.
    strategy : {"uniform", "quantile"}, default="uniform"
        Whether bins have equal widths or equal masses.
    sample_weight : array-like of shape (n_samples,), default=None
        The sample weights. All samples count equally by default.

    Returns
    -------
    errors : ndarray of shape (n_labels,)
        The errors, NaN for a label that is never observed.
    """
    forecast = read_forecast(y_true, probabilities, sample_weight)
    return means_of_labels(*_errors(forecast, n_bins, strategy, by_label=True))
