"""The reliability diagram: observed frequencies against predicted probabilities.

The bins are those of :func:`eigenlabel.metrics.reliability_bins`, with confidence limits.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.stats import norm

from eigenlabel.drawing.axes import GREY, axes_below, style_of
from eigenlabel.drawing.names import add_legend, readable
from eigenlabel.inputs.parameters import check_choice, check_number
from eigenlabel.inspection.displays.base import Display
from eigenlabel.inspection.displays.checked_inputs import (
    Judged,
    ScoredCells,
    find_labels,
    find_probabilities,
    names_given,
    read_judged,
)
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


ALL = "all labels"
MARKERS = "osD^vP"
LOGARITHMIC = 50  # times the median column: from there the scale of a histogram is logarithmic


class ReliabilityDisplay(Display):
    """Observed frequencies against predicted probabilities, by bins, with a histogram below.

    A calibrated classifier is on the diagonal: of the cells (sample, label) with a probability of
    0.3, three out of ten are true. The band is a confidence interval of each observed frequency
    (Wilson's, for the effective number of cells, because the labels of a sample depend on each
    other). The legend states the expected calibration error (ECE), the mean distance between
    predicted and observed, weighted by the cells in each bin.

    The cost is linear in the number of cells, with memory for a few arrays of the size of the
    probabilities, and one sort for bins of equal weight.

    Parameters
    ----------
    bins : sequence of ReliabilityCurve
        The bins of all cells, or of each chosen label, with ``name``, ``edges``, ``weight``,
        ``predicted``, ``observed``, ``low``, ``high`` and ``calibration_error``.
    confidence : float, default=0.95
        The level of the confidence limits.

    Attributes
    ----------
    ax_ : matplotlib axes
        The axes of the diagram.
    ax_histogram_ : matplotlib axes or None
        The axes of the histogram, which share the x-axis.
    figure_ : matplotlib figure
        The figure of the drawing.
    lines_ : list of matplotlib lines
        The observed frequencies.
    bands_ : list of matplotlib collections
        The confidence bands.
    bars_ : list of matplotlib patches
        The histograms.
    legend_ : matplotlib legend or None
        The legend.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenlabel.inspection import ReliabilityDisplay
    >>> rng = np.random.default_rng(0)
    >>> probabilities = rng.uniform(size=(500, 4))
    >>> Y = rng.uniform(size=(500, 4)) < probabilities
    >>> shown = ReliabilityDisplay.from_predictions(Y, probabilities, n_bins=5)
    >>> shown.bins[0].predicted.round(1).tolist()
    [0.1, 0.3, 0.5, 0.7, 0.9]
    >>> shown.bins[0].calibration_error < 0.05
    True
    """

    def __init__(self, *, bins: Sequence[ReliabilityCurve], confidence: float = 0.95) -> None:
        self.bins = bins
        self.confidence = confidence

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        Y: Any,
        *,
        labels: Any = None,
        n_bins: int = 10,
        strategy: str = "uniform",
        confidence: float = 0.95,
        label_names: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw the diagram of a fitted classifier with ``predict_proba``.

        Parameters
        ----------
        model : classifier
            A fitted classifier with ``predict_proba``.
        X : array-like or sparse matrix of shape (n_samples, n_features) or None
            Samples that were not in training. None draws the held-out probabilities of the training
            samples of a tuned classifier.
        Y : array-like or sparse matrix of shape (n_samples, n_labels)
            The true labels, NaN where a label is not observed.
        labels : list of str or int, default=None
            The names or positions of labels, each with a curve of its own. None is one curve for
            the cells of all labels.
        n_bins : int, default=10
            The number of bins.
        strategy : {"uniform", "quantile"}, default="uniform"
            Whether bins have equal widths, or contain equal weights of cells.
        confidence : float, default=0.95
            The level of the confidence limits, between 0.01 and 0.999.
        label_names : list of str, default=None
            The names of the labels. None is the columns of Y, or what the model knows.
        sample_weight : array-like of shape (n_samples,), default=None
            The sample weights. All samples count equally by default.
        ax : matplotlib axes or None, default=None
            The axes to draw on. None makes a new figure.
        **style : dict
            Keyword arguments of :meth:`plot`.

        Returns
        -------
        display : ReliabilityDisplay
            The display, which is drawn.
        """
        if not hasattr(model, "predict_proba"):
            raise TypeError(
                f"{type(model).__name__} has no predict_proba, and scores are not probabilities: "
                "fit a classifier that has it, or pass probabilities to "
                "ReliabilityDisplay.from_predictions(Y, probabilities)."
            )
        probabilities = find_probabilities(model, X, Y, sample_weight, cls.__name__)
        return cls.from_predictions(
            Y,
            probabilities,
            labels=labels,
            n_bins=n_bins,
            strategy=strategy,
            confidence=confidence,
            label_names=names_given(label_names, model),
            sample_weight=sample_weight,
            ax=ax,
            **style,
        )

    @classmethod
    def from_predictions(
        cls,
        Y: Any,
        probabilities: Any,
        *,
        labels: Any = None,
        n_bins: int = 10,
        strategy: str = "uniform",
        confidence: float = 0.95,
        label_names: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw the diagram of probabilities.

        Parameters
        ----------
        Y : array-like or sparse matrix of shape (n_samples, n_labels)
            The true labels, NaN where a label is not observed.
        probabilities : array-like of shape (n_samples, n_labels)
            The probabilities. Rows of NaN, which were never held out, are left out.
        labels : list of str or int, default=None
            The names or positions of labels, each with a curve of its own. None is one curve for
            the cells of all labels.
        n_bins : int, default=10
            The number of bins.
        strategy : {"uniform", "quantile"}, default="uniform"
            Whether bins have equal widths, or contain equal weights of cells.
        confidence : float, default=0.95
            The level of the confidence limits, between 0.01 and 0.999.
        label_names : list of str, default=None
            The names of the labels. None is the columns of Y if it is a frame.
        sample_weight : array-like of shape (n_samples,), default=None
            The sample weights. All samples count equally by default.
        ax : matplotlib axes or None, default=None
            The axes to draw on. None makes a new figure.
        **style : dict
            Keyword arguments of :meth:`plot`.

        Returns
        -------
        display : ReliabilityDisplay
            The display, which is drawn.
        """
        check_number("n_bins", n_bins, 1, integer=True)
        check_choice("strategy", strategy, STRATEGIES)
        check_number("confidence", confidence, 0.01, 0.999)
        judged = read_judged(Y, probabilities, sample_weight, label_names, "probabilities")
        _check_probabilities(judged)
        if labels is None:
            chosen = [(ALL, judged.all())]
        else:
            places = find_labels(labels, judged.names)
            chosen = [(judged.names[j], judged.label(j)) for j in places]
        for name, cells in chosen:
            if not len(cells.truth):
                raise ValueError(f"No cell of {name!r} is observed: leave it out.")
        bins = [bin_probabilities(n, c, n_bins, strategy, confidence) for n, c in chosen]
        return cls(bins=bins, confidence=confidence).plot(ax, **style)

    def plot(
        self,
        ax: Any = None,
        *,
        histogram: Any = True,
        band: bool = True,
        legend: bool = True,
        curve_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the diagram.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            The axes to draw on, of which the histogram takes the lower part. None makes a new
            figure.
        histogram : bool or matplotlib axes, default=True
            Whether a histogram of the probabilities is drawn below. To draw a second display on the
            axes of a first one, pass its ``ax_histogram_``.
        band : bool, default=True
            Whether confidence limits are drawn.
        legend : bool, default=True
            Whether a legend names the curves and their calibration errors.
        curve_kwargs : dict, default=None
            Properties of the lines, for ``Axes.plot``.

        Returns
        -------
        display : ReliabilityDisplay
            The display itself.
        """
        ax = self._start(ax, (4.6, 5.4))
        own = isinstance(histogram, (bool, np.bool_))
        below = (axes_below(ax) if histogram else None) if own else histogram
        self.ax_histogram_ = below
        ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=":", zorder=0.6)
        self.lines_, self.bands_, self.bars_ = [], [], []
        for k, bins in enumerate(self.bins):
            used = bins.weight > 0
            x, y = bins.predicted[used], bins.observed[used]
            look = {"marker": MARKERS[k % len(MARKERS)], "markersize": 4, **style_of(k)}
            look.update(curve_kwargs or {})
            (line,) = ax.plot(x, y, **look)
            self.lines_.append(line)
            if band:
                limits = (bins.low[used], bins.high[used])
                shade = {"color": line.get_color(), "alpha": 0.18, "linewidth": 0}
                self.bands_.append(ax.fill_between(x, *limits, **shade))
            if below is not None:
                self.bars_.append(self._draw_bars(below, bins, line.get_color()))
        ax.set(ylim=(-0.02, 1.02), xlim=(-0.02, 1.02), ylabel="observed frequency")
        (ax if below is None else below).set_xlabel("predicted probability")
        if below is not None:
            self._scale(below)
        self.legend_ = self._add_legend(ax) if legend else None
        return self

    def _draw_bars(self, below: Any, bins: ReliabilityCurve, colour: Any) -> Any:
        """Draw a histogram: filled if there is one curve, as an outline otherwise."""
        edges = np.linspace(0, 1, len(bins.histogram) + 1)
        fill = len(self.bins) == 1
        look = {"color": colour, "fill": fill, "alpha": 0.5 if fill else 1.0}
        return below.stairs(bins.histogram, edges, **look)

    def _scale(self, below: Any) -> None:
        """Choose the scale of the histogram, logarithmic if its columns differ much."""
        columns = np.concatenate([bins.histogram for bins in self.bins])
        filled = columns[columns > 0]
        below.set_ylabel("cells" if self.bins[0].name == ALL else "samples")
        if filled.max() >= LOGARITHMIC * np.median(filled):
            below.set(yscale="log", ylim=(filled.min() / 2, filled.max() * 2))
            below.minorticks_off()

    def _add_legend(self, ax: Any) -> Any:
        names = [f"{readable(b.name)} (ECE {b.calibration_error:.3f})" for b in self.bins]
        handles = list(self.lines_)
        if self.bands_:
            handles.append(self.bands_[0])
            names.append(f"{self.confidence:.0%} confidence")
        return add_legend(ax, handles, names, loc="upper left", frameon=False, fontsize="small")


def _check_probabilities(judged: Judged) -> None:
    """Raise ValueError if a probability is outside of [0, 1]."""
    odd = (judged.scores < 0) | (judged.scores > 1)
    if odd.any():
        row, column = np.argwhere(odd)[0]
        raise ValueError(
            f"probabilities must be between 0 and 1, found {judged.scores[row, column]:g} for "
            f"{judged.names[column]!r}. Scores are not probabilities: calibrate them first."
        )
