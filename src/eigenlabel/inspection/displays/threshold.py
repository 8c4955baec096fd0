"""Precision, recall and F1 against the threshold."""

from typing import Any, Self

import numpy as np

from eigenlabel.drawing.axes import BLACK, COLOURS, thin
from eigenlabel.drawing.names import LITERAL, OUTSIDE, add_legend, readable
from eigenlabel.inspection.displays.base import Display
from eigenlabel.inspection.displays.checked_inputs import (
    Judged,
    find_label,
    find_part,
    read_estimator,
    read_judged,
    read_probabilities,
)
from eigenlabel.inspection.displays.curve_points import ThresholdCurve, threshold_curve
from eigenlabel.labels.checks import blank
from eigenlabel.linalg._types import Floats
from eigenlabel.thresholds import Rule, get_rule
from eigenlabel.thresholds.rules import reads_probabilities, rule_of

MEASURES = ("precision", "recall", "f1")
SHOWN = {"precision": "precision", "recall": "recall", "f1": "F1"}
STYLES = {
    "precision": {"color": COLOURS[0], "linestyle": "--", "linewidth": 1.3},
    "recall": {"color": COLOURS[1], "linestyle": "-.", "linewidth": 1.3},
    "f1": {"color": BLACK, "linestyle": "-", "linewidth": 2.0},
}


class ThresholdDisplay(Display):
    """Precision, recall and F1 of a label, or of all labels, against the threshold.

    A label is predicted where ``score > threshold``. The curves are exact: they change at every
    distinct score. Precision is not drawn where nothing is predicted. A vertical line marks the
    chosen threshold. Use held-out scores, such as ``oof_scores_``, because scores of training
    samples are too good.

    The cost is one sort of the scores, and memory for a few arrays of their size. Lines are drawn
    with at most 2000 points; the attribute ``curve`` has all of them.

    Parameters
    ----------
    curve : ThresholdCurve
        The ``thresholds``, -inf first and ascending, and ``precision``, ``recall`` and ``f1`` from
        each of them up to the next.
    name : str
        The name of the label, or "all labels".
    positives : float
        The weight of the positives.
    threshold : float or None, default=None
        The chosen threshold.

    Attributes
    ----------
    ax_ : matplotlib axes
        The axes of the drawing.
    figure_ : matplotlib figure
        The figure of the drawing.
    lines_ : dict of str to matplotlib line
        The curves of "precision", "recall" and "f1".
    threshold_line_ : matplotlib line or None
        The line at the chosen threshold, if it is finite.
    legend_ : matplotlib legend or None
        The legend.

    Examples
    --------
    >>> from eigenlabel import SharedSubspaceClassifierCV
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> from eigenlabel.inspection import ThresholdDisplay
    >>> data = make_shared_subspace(400, n_labels=8, random_state=0)
    >>> model = SharedSubspaceClassifierCV().fit(data.X, data.Y)
    >>> shown = ThresholdDisplay.from_estimator(model, None, data.Y, label=2)
    >>> bool(shown.threshold == model.thresholds_[2])
    True
    """

    def __init__(
        self, *, curve: ThresholdCurve, name: str, positives: float, threshold: float | None = None
    ) -> None:
        self.curve = curve
        self.name = name
        self.positives = positives
        self.threshold = threshold

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        Y: Any,
        *,
        label: Any = None,
        thresholds: Any = "fitted",
        label_names: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw the curves of a fitted classifier.

        Parameters
        ----------
        model : classifier
            A fitted classifier with ``decision_function`` or ``predict_proba``.
        X : array-like or sparse matrix of shape (n_samples, n_features), or None
            Samples that were not in training. None stands for the training samples with the
            held-out scores ``oof_scores_`` of the model.
        Y : array-like or sparse matrix of shape (n_samples, n_labels)
            The true labels, NaN where a label is not observed.
        label : str or int, default=None
            The name or position of the label. None is all cells, with one threshold for all labels.
        thresholds : "fitted", str, Rule, float, array-like or None, default="fitted"
            The chosen thresholds. "fitted" is ``thresholds_`` of the model; other values are those
            of :meth:`from_predictions`. If they are those of a rule on probabilities, such as
            :class:`eigenlabel.thresholds.RiskControl`, the curves are those of probabilities.
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
        display : ThresholdDisplay
            The display, which is drawn.
        """
        rule = None
        if isinstance(thresholds, str) and thresholds == "fitted":
            advice = "pass thresholds=None, a number for each label, or a rule such as 'f1'"
            part = find_part(model, "thresholds_", advice)
            rule, thresholds = rule_of(part), part.thresholds_
        elif isinstance(thresholds, (str, Rule)):
            rule = get_rule(thresholds)
        of_probabilities = rule is not None and reads_probabilities(rule)
        read = read_probabilities if of_probabilities else read_estimator
        judged = read(model, X, Y, sample_weight, label_names, cls.__name__)
        return cls._compute(judged, label, thresholds).plot(ax, **style)

    @classmethod
    def from_predictions(
        cls,
        Y: Any,
        scores: Any,
        *,
        label: Any = None,
        thresholds: Any = None,
        label_names: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw the curves of scores or probabilities.

        Parameters
        ----------
        Y : array-like or sparse matrix of shape (n_samples, n_labels)
            The true labels, NaN where a label is not observed.
        scores : array-like of shape (n_samples, n_labels)
            The scores or probabilities. Rows of NaN, which were never held out, are left out.
        label : str or int, default=None
            The name or position of the label. None is all cells, with one threshold for all labels.
        thresholds : str, Rule, float, array-like of shape (n_labels,) or None, default=None
            The chosen thresholds: numbers, or a rule of ``eigenlabel.thresholds`` that finds them
            for these scores. None draws no threshold. If ``label`` is None, a threshold is drawn if
            it is the same for all labels.
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
        display : ThresholdDisplay
            The display, which is drawn.
        """
        judged = read_judged(Y, scores, sample_weight, label_names)
        return cls._compute(judged, label, thresholds).plot(ax, **style)

    @classmethod
    def _compute(cls, judged: Judged, label: Any, thresholds: Any) -> Self:
        """Return the display of checked labels and scores."""
        chosen = _find_thresholds(judged, thresholds)
        threshold = None
        if label is None:
            name, cells = "all labels", judged.all()
            if chosen is not None and (chosen == chosen[0]).all():
                threshold = float(chosen[0])
        else:
            j = find_label(label, judged.names)
            name, cells = judged.names[j], judged.label(j)
            threshold = None if chosen is None or np.isnan(chosen[j]) else float(chosen[j])
        positives = float(cells.weights @ cells.truth)
        if positives == 0:
            raise ValueError(
                f"{name!r} has no positive among the observed samples: recall is not defined. "
                "Choose another label."
            )
        return cls(
            curve=threshold_curve(cells), name=name, positives=positives, threshold=threshold
        )

    def at(self, threshold: float) -> dict[str, float]:
        """Return precision, recall and F1 at a threshold.

        Parameters
        ----------
        threshold : float
            The threshold.

        Returns
        -------
        values : dict of str to float
            The values of "precision", "recall" and "f1".
        """
        k = int(np.searchsorted(self.curve.thresholds, threshold, side="right")) - 1
        return {key: float(getattr(self.curve, key)[max(k, 0)]) for key in MEASURES}

    def plot(
        self, ax: Any = None, *, legend: bool = True, curve_kwargs: dict[str, Any] | None = None
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            The axes to draw on. None makes a new figure.
        legend : bool, default=True
            Whether a legend names the curves, with their values at the chosen threshold.
        curve_kwargs : dict, default=None
            Properties of the lines, for ``Axes.plot``.

        Returns
        -------
        display : ThresholdDisplay
            The display itself.
        """
        ax = self._start(ax, (5.4, 3.6))
        t = self.curve.thresholds
        low, high = t[1], t[-1]
        margin = 0.03 * (high - low) or 0.03 * max(abs(high), 1.0)
        x = np.append(np.maximum(t, low - margin), high + margin)
        self.lines_ = {}
        for key in MEASURES:
            values = getattr(self.curve, key)
            y = np.append(values, values[-1])
            kept = thin(x, y)
            style = {**STYLES[key], "drawstyle": "steps-post", **(curve_kwargs or {})}
            (self.lines_[key],) = ax.plot(x[kept], y[kept], **style)
        self.threshold_line_ = None
        if self.threshold is not None and np.isfinite(self.threshold):
            line = {"color": COLOURS[2], "linewidth": 1.2, "zorder": 1.5}
            self.threshold_line_ = ax.axvline(self.threshold, **line)
            at = self.at(self.threshold)["f1"]
            ax.plot([self.threshold], [at], "o", color=COLOURS[2], markersize=5, zorder=3)
        ax.set(xlim=(x[0], x[-1]), ylim=(-0.02, 1.02), xlabel="threshold")
        ax.set_title(self._title(), fontsize="medium", **LITERAL)
        self.legend_ = self._add_legend(ax) if legend else None
        return self

    def _title(self) -> str:
        count = f"{self.positives:,.6g} positives"
        return f"{readable(self.name)} ({count})"

    def _add_legend(self, ax: Any) -> Any:
        handles = [self.lines_[key] for key in MEASURES]
        names = [SHOWN[key] for key in MEASURES]
        if self.threshold is not None:
            at = self.at(self.threshold)
            names = [f"{SHOWN[key]} ({at[key]:.3f})" for key in MEASURES]
            names[0] = names[0].replace("nan", "not defined")
            if self.threshold_line_ is not None:
                handles.append(self.threshold_line_)
                names.append(f"threshold ({self.threshold:.3g})")
        title = None if self.threshold is None else "value at the threshold"
        if self.threshold == np.inf:
            title = "never predicted: the threshold is infinite"
        return add_legend(
            ax,
            handles,
            names,
            title=title,
            **OUTSIDE,
        )


def _find_thresholds(judged: Judged, thresholds: Any) -> Floats | None:
    """Return the threshold of each label, or None."""
    m = len(judged.names)
    if thresholds is None:
        return None
    if isinstance(thresholds, (str, Rule)):
        rule = get_rule(thresholds)
        labels = blank(judged.truth, judged.observed)
        return rule.find_thresholds(judged.scores, labels, judged.weights)
    array = np.asarray(thresholds, dtype=float)
    if array.shape not in ((), (m,)):
        raise ValueError(
            f"thresholds has shape {array.shape}: pass one number, or one for each of the {m} "
            "labels."
        )
    return np.broadcast_to(array, (m,))
