"""Bins of probabilities: what was predicted, what was observed, and how sure that is."""

from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from eigenlabel.inspection.displays.checked_inputs import ScoredCells
from eigenlabel.linalg._types import Floats
from eigenlabel.metrics import reliability_bins

STRATEGIES = ("uniform", "quantile")
COLUMNS = 20  # of the histogram, whose bins always have equal widths


class ReliabilityCurve(NamedTuple):
    """Predicted probabilities and observed frequencies by bin. Empty bins are NaN.

    Attributes
    ----------
    name : str
        The name of the label, or "all labels".
    edges : ndarray of shape (n_bins + 1,)
        The edges of the bins. A bin contains its upper edge, and the first one its lower edge too.
    weight : ndarray of shape (n_bins,)
        The weight of the cells in each bin.
    predicted : ndarray of shape (n_bins,)
        The mean of the probabilities.
    observed : ndarray of shape (n_bins,)
        The frequency of true labels.
    low : ndarray of shape (n_bins,)
        The lower confidence limit of the frequency.
    high : ndarray of shape (n_bins,)
        The upper confidence limit of the frequency.
    histogram : ndarray of shape (20,)
        The weight of the cells in twenty bins of equal width.
    """

    name: str
    edges: Floats
    weight: Floats
    predicted: Floats
    observed: Floats
    low: Floats
    high: Floats
    histogram: Floats

    @property
    def calibration_error(self) -> float:
        """The mean distance of predicted and observed, weighted by the cells (ECE)."""
        used = self.weight > 0
        distance = np.abs(self.predicted[used] - self.observed[used])
        return float(self.weight[used] @ distance / self.weight.sum())


def bin_probabilities(
    name: str, cells: ScoredCells, n_bins: int, strategy: str, confidence: float
) -> ReliabilityCurve:
    """Return predicted probabilities and observed frequencies by bin, at the cost of one sort.

    The limits are those of Wilson for a share of ``n`` independent cells, where n is the effective
    number: p (1 - p) over the variance of the share p between samples, because the labels of one
    sample depend on each other. It is at least the number of samples and at most the number of
    cells in the bin, both counted as (sum w)^2 / sum w^2 by their weights.
    """
    edges = _edges(cells, n_bins, strategy)
    k = len(edges) - 1
    place = np.searchsorted(edges[1:-1], cells.scores)

    def total(values: Floats) -> Floats:
        return np.asarray(np.bincount(place, values, k), dtype=float)

    weight = total(cells.weights)
    filled = np.where(weight > 0, weight, np.nan)
    observed = total(cells.weights * cells.truth) / filled
    rows = np.unique(cells.samples, return_inverse=True)[1]
    key = rows * k + place
    size = k * (int(rows.max()) + 1)

    def squares_by_sample(values: Floats) -> Floats:
        """Return the sums over samples of squared sums over their cells, by bin."""
        sums = np.bincount(key, values, size).reshape(-1, k)
        return np.asarray((sums**2).sum(axis=0))

    spread = squares_by_sample(cells.weights * (cells.truth - observed[place]))
    with np.errstate(divide="ignore", invalid="ignore"):
        samples = filled**2 / squares_by_sample(cells.weights)
        most = filled**2 / total(cells.weights**2)
        effective = observed * (1 - observed) * filled**2 / spread  # NaN if p is 0 or 1
    effective = np.clip(np.where(spread > 0, effective, samples), samples, most)
    low, high = wilson(observed, effective, confidence)
    predicted = total(cells.weights * cells.scores) / filled
    columns = np.histogram(cells.scores, COLUMNS, (0, 1), weights=cells.weights)[0]
    return ReliabilityCurve(name, edges, weight, predicted, observed, low, high, columns)


def _edges(cells: ScoredCells, n_bins: int, strategy: str) -> Floats:
    """Return the edges of the bins of :func:`eigenlabel.metrics.reliability_bins`."""
    if strategy == "uniform":
        return np.linspace(0, 1, n_bins + 1)
    bins = reliability_bins(
        cells.truth[:, None],
        cells.scores[:, None],
        n_bins=n_bins,
        strategy=strategy,
        sample_weight=cells.weights,
    )
    return np.array([0.0, *bins.upper[:-1], 1.0])


def wilson(share: Floats, n: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return the confidence limits of Wilson for shares of n independent trials."""
    z = float(norm.ppf((1 + confidence) / 2))
    middle = share + z**2 / (2 * n)
    half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    scale = 1 + z**2 / n
    return (middle - half) / scale, (middle + half) / scale
