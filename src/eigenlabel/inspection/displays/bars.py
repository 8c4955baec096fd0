"""A figure of merit of each label, as bars."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from eigenlabel.drawing.axes import BLACK, COLOURS
from eigenlabel.drawing.names import LITERAL, readable
from eigenlabel.inputs.parameters import check_choice, check_number
from eigenlabel.inspection.displays.base import Display
from eigenlabel.inspection.displays.checked_inputs import (
    Judged,
    find_labels,
    most_frequent,
    names_given,
    read_estimator,
    read_judged,
    say_chosen,
)
from eigenlabel.inspection.displays.curve_points import precision_recall_curve, roc_curve
from eigenlabel.labels.checks import check_label_matrix, check_observed_labels
from eigenlabel.labels.label_sets import read_labels
from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.metrics import f1_from_counts
from eigenlabel.model_selection.classifier_scores import labels_matrix

OF_SETS = ("f1", "precision", "recall")
OF_SCORES = ("auc", "average_precision")
SHOWN = {
    "f1": "F1",
    "precision": "precision",
    "recall": "recall",
    "auc": "area under the ROC curve",
    "average_precision": "average precision",
}
PAPER = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}  # values cover the mean line
SELECTIONS = ("frequent", "best", "worst")


class LabelBarsDisplay(Display):
    """F1, AUC or another figure of each label as bars, the best first, with its positives.

    A vertical line is the mean over all labels for which the figure is defined, also those that are
    not shown. Precision, recall and F1 are 0 where they are 0/0; AUC needs a positive and a
    negative, average precision a positive.

    Parameters
    ----------
    values : ndarray of shape (n_labels,)
        The figure of each label, NaN where it is not defined.
    support : ndarray of shape (n_labels,)
        The weight of the positives of each label.
    names : sequence of str
        The names of the labels.
    shown : ndarray of int
        The positions of the labels to draw, from the top to the bottom.
    metric : str, default="f1"
        The figure: "f1", "precision", "recall", "auc" or "average_precision".
    chosen : str, default=""
        Which labels are shown, the title.

    Attributes
    ----------
    ax_ : matplotlib axes
        The axes of the drawing.
    figure_ : matplotlib figure
        The figure of the drawing.
    bars_ : matplotlib container
        The bars, from the top to the bottom.
    texts_ : list of matplotlib texts
        The values and positives beside the bars.
    mean_line_ : matplotlib line or None
        The line at the mean over all labels.

    Examples
    --------
    >>> from eigenlabel import SharedSubspaceClassifierCV
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> from eigenlabel.inspection import LabelBarsDisplay
    >>> data = make_shared_subspace(400, n_labels=8, random_state=0)
    >>> model = SharedSubspaceClassifierCV().fit(data.X, data.Y)
    >>> shown = LabelBarsDisplay.from_predictions(
    ...     data.Y, model.oof_scores_ > model.thresholds_, label_names=data.label_names
    ... )
    >>> len(shown.bars_), bool(shown.values[shown.shown[0]] == shown.values.max())
    (8, True)
    """

    def __init__(
        self,
        *,
        values: Floats,
        support: Floats,
        names: Sequence[str],
        shown: Ints,
        metric: str = "f1",
        chosen: str = "",
    ) -> None:
        self.values = values
        self.support = support
        self.names = names
        self.shown = shown
        self.metric = metric
        self.chosen = chosen

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        Y: Any,
        *,
        metric: str = "f1",
        labels: Any = None,
        max_labels: int = 30,
        select: str = "frequent",
        label_names: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw the bars of a fitted classifier.

        Parameters
        ----------
        model : classifier
            A fitted classifier. "f1", "precision" and "recall" call ``predict``, "auc" and
            "average_precision" ``decision_function`` or ``predict_proba``.
        X : array-like or sparse matrix of shape (n_samples, n_features), or None
            Samples that were not in training. For "auc" and "average_precision", None stands for
            the training samples with the held-out scores ``oof_scores_`` of the model.
        Y : array-like or sparse matrix of shape (n_samples, n_labels)
            The true labels, NaN where a label is not observed.
        metric : {"f1", "precision", "recall", "auc", "average_precision"}, default="f1"
            The figure of each label.
        labels : list of str or int, default=None
            The names or positions of the labels to draw.
        max_labels : int, default=30
            The number of labels that are drawn if ``labels`` is None.
        select : {"frequent", "best", "worst"}, default="frequent"
            Which labels are drawn if there are more: the most frequent ones, or those with the
            largest or smallest values.
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
        display : LabelBarsDisplay
            The display, which is drawn.
        """
        check_choice("metric", metric, OF_SETS + OF_SCORES)
        if metric in OF_SETS and X is None:
            raise TypeError(
                f"{metric!r} compares label sets, which need X. For held-out ones use "
                "LabelBarsDisplay.from_predictions(Y, model.oof_scores_ > model.thresholds_)."
            )
        if metric in OF_SETS:
            names = names_given(label_names, model)
            Y = read_labels(Y, names)
            m = check_observed_labels(Y, "Y")[0].shape[1]
            predicted = labels_matrix(model, X, m)
            judged = read_judged(Y, _label_sets(predicted), sample_weight, names, "predictions")
        else:
            judged = read_estimator(model, X, Y, sample_weight, label_names, cls.__name__)
        return cls._compute(judged, metric, labels, max_labels, select).plot(ax, **style)

    @classmethod
    def from_predictions(
        cls,
        Y: Any,
        predictions: Any,
        *,
        metric: str = "f1",
        labels: Any = None,
        max_labels: int = 30,
        select: str = "frequent",
        label_names: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw the bars of predicted label sets or scores.

        Parameters
        ----------
        Y : array-like or sparse matrix of shape (n_samples, n_labels)
            The true labels, NaN where a label is not observed.
        predictions : array-like or sparse matrix of shape (n_samples, n_labels)
            The predicted labels of 0 and 1 for "f1", "precision" and "recall"; the scores for "auc"
            and "average_precision".
        metric : {"f1", "precision", "recall", "auc", "average_precision"}, default="f1"
            The figure of each label.
        labels : list of str or int, default=None
            The names or positions of the labels to draw.
        max_labels : int, default=30
            The number of labels that are drawn if ``labels`` is None.
        select : {"frequent", "best", "worst"}, default="frequent"
            Which labels are drawn if there are more: the most frequent ones, or those with the
            largest or smallest values.
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
        display : LabelBarsDisplay
            The display, which is drawn.
        """
        check_choice("metric", metric, OF_SETS + OF_SCORES)
        given = _label_sets(predictions) if metric in OF_SETS else predictions
        what = "predictions" if metric in OF_SETS else "scores"
        judged = read_judged(Y, given, sample_weight, label_names, what)
        return cls._compute(judged, metric, labels, max_labels, select).plot(ax, **style)

    @classmethod
    def _compute(
        cls, judged: Judged, metric: str, labels: Any, max_labels: int, select: str
    ) -> Self:
        """Return the display of checked labels and predictions."""
        check_number("max_labels", max_labels, 1, integer=True)
        check_choice("select", select, SELECTIONS)
        values = _of_sets(judged, metric) if metric in OF_SETS else _of_scores(judged, metric)
        support = judged.positives
        if labels is not None:
            places, rule = find_labels(labels, judged.names), "chosen"
        else:
            defined = np.flatnonzero(~np.isnan(values))
            if not len(defined):
                raise ValueError(
                    f"{SHOWN[metric]} is defined for no label: no label has the observed positives "
                    "and negatives that it needs."
                )
            sign = {"frequent": support, "best": values, "worst": -values}[select]
            places = defined[most_frequent(sign[defined], max_labels)]
            rule = "most frequent" if select == "frequent" else select
        # The best first; of equal values, the most frequent first.
        order = np.lexsort((-support[places], -np.nan_to_num(values[places], nan=-1.0)))
        return cls(
            values=values,
            support=support,
            names=judged.names,
            shown=places[order],
            metric=metric,
            chosen=say_chosen(len(places), len(values), rule),
        )

    def plot(
        self,
        ax: Any = None,
        *,
        include_values: bool = True,
        mean: bool = True,
        bar_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            The axes to draw on. None makes a new figure, whose height depends on the number of
            labels.
        include_values : bool, default=True
            Whether the value and the positives of each label are written beside its bar.
        mean : bool, default=True
            Whether the mean over all labels is drawn.
        bar_kwargs : dict, default=None
            Properties of the bars, for ``Axes.barh``.

        Returns
        -------
        display : LabelBarsDisplay
            The display itself.
        """
        k = len(self.shown)
        ax = self._start(ax, (6.4, 1.1 + 0.2 * max(k, 3)))
        values = self.values[self.shown]
        places = np.arange(k)
        style = {"color": COLOURS[0], "height": 0.75, **(bar_kwargs or {})}
        self.bars_ = ax.barh(places, np.nan_to_num(values), **style)
        names = [readable(self.names[j]) for j in self.shown]
        ax.set_yticks(places, names, fontsize="small", **LITERAL)
        ax.tick_params(axis="y", length=0)
        ax.set(ylim=(k - 0.4, -0.6), xlim=(0, 1), xlabel=SHOWN[self.metric])
        self.mean_line_ = None
        if mean:
            line = {"color": BLACK, "linewidth": 1, "linestyle": "--"}
            self.mean_line_ = ax.axvline(float(np.nanmean(self.values)), **line)
        self.texts_ = self._write(ax) if include_values else []
        ax.set_title(self._title(mean), fontsize="medium", loc="left", pad=20)
        return self

    def _title(self, mean: bool) -> str:
        """Return which labels are shown, and the mean over all labels."""
        if not mean:
            return self.chosen
        defined = int((~np.isnan(self.values)).sum())
        return f"{self.chosen}; dashed: mean of {defined}, {np.nanmean(self.values):.3f}"

    def _write(self, ax: Any) -> list[Any]:
        """Write the values beside the bars, and the positives to the right."""
        aside: dict[str, Any] = {"textcoords": "offset points", "fontsize": "small"}
        texts = []
        for place, j in enumerate(self.shown):
            value = self.values[j]
            text = "not defined" if np.isnan(value) else f"{value:.2f}"
            at = (float(np.nan_to_num(value)), place)
            texts.append(ax.annotate(text, at, xytext=(3, 0), va="center", bbox=PAPER, **aside))
        column = {"xycoords": ax.get_yaxis_transform(), "ha": "right", **aside}
        for place, j in enumerate(self.shown):
            count = f"{self.support[j]:,.6g}"
            texts.append(ax.annotate(count, (1, place), xytext=(68, 0), va="center", **column))
        ax.annotate("positives", (1, -0.6), xytext=(68, 3), va="bottom", **column)
        return texts


def _label_sets(predictions: Any) -> Floats:
    """Return predicted labels as numbers, checked; scores are not label sets."""
    try:
        return check_label_matrix(predictions, "predictions").astype(float)
    except ValueError as error:
        raise ValueError(
            f"{error} F1, precision and recall compare label sets: pass scores > thresholds, or "
            "use metric='auc' or 'average_precision' for scores."
        ) from error


def _of_sets(judged: Judged, metric: str) -> Floats:
    """Return F1, precision or recall of each label, NaN if the label is never observed."""
    w, predicted = judged.weights, judged.scores > 0
    if judged.observed is not None:
        predicted &= judged.observed
    hits, claims = w @ (judged.truth & predicted), w @ predicted
    positives = judged.positives
    if metric == "f1":
        values = f1_from_counts(hits, claims, positives)
    else:
        total = claims if metric == "precision" else positives
        values = hits / np.where(total > 0, total, 1.0)
    return np.where(positives + judged.negatives > 0, values, np.nan)


def _of_scores(judged: Judged, metric: str) -> Floats:
    """Return AUC or average precision of each label, NaN where it is not defined."""
    curve: Callable[..., Any] = roc_curve if metric == "auc" else precision_recall_curve
    enough = judged.positives > 0
    if metric == "auc":
        enough &= judged.negatives > 0
    values = np.full(len(judged.names), np.nan)
    for j in np.flatnonzero(enough):
        values[j] = curve("", judged.label(int(j))).area
    return values
