"""Precision-recall and ROC curves of chosen labels, and of all labels together."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from eigenlabel.drawing.axes import BLACK, GREY, PALE, style_of, thin
from eigenlabel.drawing.names import OUTSIDE, add_legend, readable
from eigenlabel.inputs.parameters import check_choice, check_number
from eigenlabel.inspection.displays.base import Display
from eigenlabel.inspection.displays.checked_inputs import (
    Judged,
    ScoredCells,
    find_labels,
    most_frequent,
    read_estimator,
    read_judged,
    say_chosen,
)
from eigenlabel.inspection.displays.curve_points import (
    Curve,
    precision_recall_curve,
    precisions_at,
    rates_at,
    roc_curve,
)
from eigenlabel.linalg._types import Bools, Floats

GRID = np.linspace(0, 1, 201)  # where the curves of labels are averaged
AVERAGES = ("micro", "macro")
F1_LEVELS = (0.2, 0.4, 0.6, 0.8)
DASHES = {"micro": "-", "macro": (0, (4, 1.5))}


class RankingDisplay(Display):
    """The base of the curves that compare samples by the score of a label."""

    _measure: ClassVar[str]  # the area, as the legend names it
    _steps: ClassVar[str]  # how points of a curve are joined
    _needs: ClassVar[str]

    def __init__(
        self,
        *,
        curves: Sequence[Curve],
        averages: Sequence[Curve] = (),
        spread: Floats | None = None,
        chosen: str = "",
    ) -> None:
        self.curves = curves
        self.averages = averages
        self.spread = spread
        self.chosen = chosen

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        Y: Any,
        *,
        labels: Any = None,
        max_labels: int = 5,
        averages: Sequence[str] = AVERAGES,
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
        labels : list of str or int, default=None
            The names or positions of the labels with a curve of their own. None is the most
            frequent labels, an empty list none.
        max_labels : int, default=5
            The number of the most frequent labels.
        averages : sequence of {"micro", "macro"}, default=("micro", "macro")
            The averages: "micro" of all cells together, "macro" the mean of the curves of all
            labels.
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
        display : object
            The display, which is drawn.
        """
        judged = read_estimator(model, X, Y, sample_weight, label_names, cls.__name__)
        return cls._compute(judged, labels, max_labels, averages).plot(ax, **style)

    @classmethod
    def from_predictions(
        cls,
        Y: Any,
        scores: Any,
        *,
        labels: Any = None,
        max_labels: int = 5,
        averages: Sequence[str] = AVERAGES,
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
        labels : list of str or int, default=None
            The names or positions of the labels with a curve of their own. None is the most
            frequent labels, an empty list none.
        max_labels : int, default=5
            The number of the most frequent labels.
        averages : sequence of {"micro", "macro"}, default=("micro", "macro")
            The averages: "micro" of all cells together, "macro" the mean of the curves of all
            labels.
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
        display : object
            The display, which is drawn.
        """
        judged = read_judged(Y, scores, sample_weight, label_names)
        return cls._compute(judged, labels, max_labels, averages).plot(ax, **style)

    @classmethod
    def _curve(cls, name: str, cells: ScoredCells) -> Curve:
        raise NotImplementedError

    @classmethod
    def _at(cls, curve: Curve, grid: Floats) -> Floats:
        raise NotImplementedError

    @classmethod
    def _defined(cls, judged: Judged) -> Bools:
        raise NotImplementedError

    @classmethod
    def _compute(
        cls, judged: Judged, labels: Any, max_labels: int, averages: Sequence[str]
    ) -> Self:
        """Return the display of checked labels and scores."""
        check_number("max_labels", max_labels, 0, integer=True)
        averages = [averages] if isinstance(averages, str) else list(averages)
        for average in averages:
            check_choice("averages", average, AVERAGES)
        defined = cls._defined(judged)
        if not defined.any():
            raise ValueError(
                f"No label has {cls._needs} among the observed samples: no curve is defined."
            )
        if labels is None:
            candidates = np.flatnonzero(defined)
            shown = candidates[most_frequent(judged.positives[candidates], max_labels)]
            chosen = say_chosen(len(shown), len(judged.names))
        else:
            shown = find_labels(labels, judged.names, some=False)
            chosen = say_chosen(len(shown), len(judged.names), "chosen")
            for j in shown[~defined[shown]]:
                raise ValueError(
                    f"The label {judged.names[j]!r} does not have {cls._needs} among its observed "
                    "samples, so that its curve is not defined: leave it out."
                )
        curves = [cls._curve(judged.names[j], judged.label(j)) for j in shown]
        found, spread = [], None
        if "micro" in averages:
            found.append(cls._curve("micro", judged.all()))
        if "macro" in averages:
            macro, spread = cls._average(judged, defined)
            found.append(macro)
        return cls(curves=curves, averages=found, spread=spread, chosen=chosen)

    @classmethod
    def _average(cls, judged: Judged, defined: Bools) -> tuple[Curve, Floats]:
        """Return the mean of the curves of all labels, and the range of the middle half."""
        values = np.empty((int(defined.sum()), len(GRID)))
        areas = np.empty(len(values))
        for k, j in enumerate(np.flatnonzero(defined)):
            curve = cls._curve("", judged.label(int(j)))
            values[k], areas[k] = cls._at(curve, GRID), curve.area
        macro = Curve("macro", GRID, values.mean(axis=0), float(areas.mean()))
        return macro, np.quantile(values, [0.25, 0.75], axis=0)

    def plot(
        self,
        ax: Any = None,
        *,
        spread: bool = True,
        legend: bool = True,
        curve_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            The axes to draw on. None makes a new figure.
        spread : bool, default=True
            Whether a band shows the middle half of the curves of all labels.
        legend : bool, default=True
            Whether a legend names the curves and their areas.
        curve_kwargs : dict, default=None
            Properties of the lines of labels, for ``Axes.plot``.

        Returns
        -------
        display : object
            The display itself.
        """
        ax = self._start(ax, (6.8, 4.0))
        self._draw_background(ax)
        self.band_ = None
        if spread and self.spread is not None:
            self.band_ = ax.fill_between(GRID, *self.spread, color=PALE, linewidth=0, zorder=0.5)
        self.lines_ = [
            self._draw(ax, curve, **{"linewidth": 1.3, **style_of(k), **(curve_kwargs or {})})
            for k, curve in enumerate(self.curves)
        ]
        self.average_lines_ = [
            self._draw(ax, curve, color=BLACK, linewidth=2.0, linestyle=DASHES.get(curve.name, "-"))
            for curve in self.averages
        ]
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal", anchor="W")
        self.legend_ = self._add_legend(ax) if legend else None
        return self

    def _draw(self, ax: Any, curve: Curve, **style: Any) -> Any:
        kept = thin(curve.x, curve.y)
        return ax.plot(curve.x[kept], curve.y[kept], drawstyle=self._steps, **style)[0]

    def _add_legend(self, ax: Any) -> Any:
        handles = [*self.average_lines_, *self.lines_]
        names = [
            f"{curve.name}-average ({self._measure} {curve.area:.3f})" for curve in self.averages
        ]
        names += [f"{readable(c.name)} ({self._measure} {c.area:.3f})" for c in self.curves]
        if self.band_ is not None:
            handles.insert(len(self.averages), self.band_)
            names.insert(len(self.averages), "middle half of all labels")
        if not handles:
            return None
        return add_legend(
            ax,
            handles,
            names,
            title=self.chosen or None,
            **OUTSIDE,
        )

    def _draw_background(self, ax: Any) -> None:
        raise NotImplementedError


class LabelPrecisionRecallDisplay(RankingDisplay):
    """Precision against recall of chosen labels, and of all labels together.

    Precision is a step function of recall, and the area under it is average precision (AP). The
    micro-average ranks all cells of the label matrix together. The macro-average is the mean of the
    precisions of all labels that have a positive, at 201 recalls; its AP is the mean of their exact
    APs. A band covers the middle half of these curves. Thin lines are at F1 of 0.2, 0.4, 0.6, 0.8.

    The cost is one sort of the scores of each label and one of all cells, and memory for a few
    arrays of the size of the scores. Lines are drawn with at most 2000 points; the attributes have
    all of them.

    Parameters
    ----------
    curves : sequence of Curve
        The curves of labels, each with ``name``, ``x`` (recall), ``y`` (precision) and ``area``
        (average precision).
    averages : sequence of Curve, default=()
        The curves called "micro" and "macro".
    spread : ndarray of shape (2, 201), default=None
        The quartiles of the precisions of all labels at equally spaced recalls.
    chosen : str, default=""
        Which labels are shown, the title of the legend.

    Attributes
    ----------
    ax_ : matplotlib axes
        The axes of the drawing.
    figure_ : matplotlib figure
        The figure of the drawing.
    lines_ : list of matplotlib lines
        The curves of labels.
    average_lines_ : list of matplotlib lines
        The curves of averages.
    band_ : matplotlib collection or None
        The band of the middle half of the labels.
    legend_ : matplotlib legend or None
        The legend.

    Examples
    --------
    >>> from eigenlabel import SharedSubspaceClassifierCV
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> from eigenlabel.inspection import LabelPrecisionRecallDisplay
    >>> data = make_shared_subspace(400, n_labels=8, random_state=0)
    >>> model = SharedSubspaceClassifierCV().fit(data.X, data.Y)
    >>> shown = LabelPrecisionRecallDisplay.from_estimator(model, None, data.Y, max_labels=3)
    >>> len(shown.lines_), shown.chosen
    (3, '3 most frequent of 8 labels')
    """

    _measure = "AP"
    _steps = "steps-pre"
    _needs = "a positive"

    @classmethod
    def _curve(cls, name: str, cells: ScoredCells) -> Curve:
        return precision_recall_curve(name, cells)

    @classmethod
    def _at(cls, curve: Curve, grid: Floats) -> Floats:
        return precisions_at(curve, grid)

    @classmethod
    def _defined(cls, judged: Judged) -> Bools:
        return judged.positives > 0

    def _draw_background(self, ax: Any) -> None:
        above: dict[str, Any] = {
            "xytext": (0, 2),
            "textcoords": "offset points",
            "ha": "center",
            "color": GREY,
            "fontsize": "x-small",
        }
        ax.annotate("F1 =", (0.03, 1.01), **above)
        for level in F1_LEVELS:
            first = level / (2 - level)  # where precision is 1
            recall = np.linspace(first, 1, 100)
            precision = level * recall / (2 * recall - level)
            ax.plot(recall, precision, color=GREY, linewidth=0.5, linestyle=":", zorder=0.6)
            ax.annotate(f"{level:g}", (first, 1.01), **above)
        ax.set(xlabel="recall", ylabel="precision")


class LabelRocDisplay(RankingDisplay):
    """ROC curves of chosen labels, and of all labels together.

    The micro-average ranks all cells of the label matrix together. The macro-average is the mean of
    the true-positive rates of all labels that have a positive and a negative, at 201 false-positive
    rates; its area is the mean of their exact areas. A band covers the middle half of these curves.

    The cost is one sort of the scores of each label and one of all cells, and memory for a few
    arrays of the size of the scores. Lines are drawn with at most 2000 points; the attributes have
    all of them.

    Parameters
    ----------
    curves : sequence of Curve
        The curves of labels, each with ``name``, ``x`` (false-positive rate), ``y`` (true-positive
        rate) and ``area``.
    averages : sequence of Curve, default=()
        The curves called "micro" and "macro".
    spread : ndarray of shape (2, 201), default=None
        The quartiles of the true-positive rates of all labels at equally spaced false-positive
        rates.
    chosen : str, default=""
        Which labels are shown, the title of the legend.

    Attributes
    ----------
    ax_ : matplotlib axes
        The axes of the drawing.
    figure_ : matplotlib figure
        The figure of the drawing.
    lines_ : list of matplotlib lines
        The curves of labels.
    average_lines_ : list of matplotlib lines
        The curves of averages.
    band_ : matplotlib collection or None
        The band of the middle half of the labels.
    legend_ : matplotlib legend or None
        The legend.

    Examples
    --------
    >>> from eigenlabel import SharedSubspaceClassifierCV, metrics
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> from eigenlabel.inspection import LabelRocDisplay
    >>> data = make_shared_subspace(400, n_labels=8, random_state=0)
    >>> model = SharedSubspaceClassifierCV().fit(data.X, data.Y)
    >>> shown = LabelRocDisplay.from_estimator(model, None, data.Y, labels=[0, 3])
    >>> macro = metrics.auc_macro(data.Y, model.oof_scores_)
    >>> [curve.name for curve in shown.averages], abs(shown.averages[1].area - macro) < 1e-9
    (['micro', 'macro'], True)
    """

    _measure = "AUC"
    _steps = "default"
    _needs = "a positive and a negative"

    @classmethod
    def _curve(cls, name: str, cells: ScoredCells) -> Curve:
        return roc_curve(name, cells)

    @classmethod
    def _at(cls, curve: Curve, grid: Floats) -> Floats:
        return rates_at(curve, grid)

    @classmethod
    def _defined(cls, judged: Judged) -> Bools:
        return (judged.positives > 0) & (judged.negatives > 0)

    def _draw_background(self, ax: Any) -> None:
        ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=":", zorder=0.6)
        ax.set(xlabel="false-positive rate", ylabel="true-positive rate")
