"""A map of labels, placed by their weights in the eigenlabels."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from eigenlabel.drawing.axes import COLOURS, GREY
from eigenlabel.drawing.names import LITERAL, OUTSIDE, add_legend, place_names, readable
from eigenlabel.inputs.parameters import check_number
from eigenlabel.inputs.sample_weights import check_row_weights
from eigenlabel.inspection.displays.base import Display
from eigenlabel.inspection.displays.checked_inputs import (
    find_fitted,
    find_labels,
    most_frequent,
    names_given,
    names_of,
    say_chosen,
)
from eigenlabel.labels.checks import check_observed_labels
from eigenlabel.labels.label_sets import read_labels
from eigenlabel.linalg._types import Floats

MAX_GROUPS = len(COLOURS)
SMALLEST, LARGEST = 8.0, 260.0  # areas of the marks in square points
ADVICE = "fit a SharedSubspaceClassifier or SharedSubspaceClassifierCV first"


class LabelMapDisplay(Display):
    """Labels placed by their weights in two eigenlabels, as large as they are frequent.

    The coordinate of label j on axis k is ``eigenlabels_[j, k] sqrt(eigenvalues_[k])``, divided by
    the standard deviation of the label if ``normalize`` is True, without which rare labels are all
    in the middle. Labels that the features predict together are in the same direction, and labels
    that the features do not predict are in the middle. The area of a mark is proportional to the
    frequency of the label, except for very small ones. Names that would cover other names are left
    out, those far from the middle last.

    Parameters
    ----------
    coordinates : ndarray of shape (n_labels, 2)
        The coordinates of the labels.
    support : ndarray of shape (n_labels,) or None
        The weight of the positives of each label. None draws all labels in one size.
    names : sequence of str
        The names of the labels.
    groups : sequence of str or None, default=None
        The group of each label, which has a colour.
    axis_names : pair of str, default=("eigenlabel 1", "eigenlabel 2")
        The names of the axes.
    chosen : str, default=""
        Which labels are shown, the title.

    Attributes
    ----------
    ax_ : matplotlib axes
        The axes of the drawing.
    figure_ : matplotlib figure
        The figure of the drawing.
    points_ : matplotlib collection
        The marks of the labels.
    texts_ : list of (matplotlib annotation or None)
        The names, None where there was no room.
    legend_ : matplotlib legend or None
        The legend of the groups.

    Examples
    --------
    >>> from eigenlabel import SharedSubspaceClassifier
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> from eigenlabel.inspection import LabelMapDisplay
    >>> data = make_shared_subspace(400, n_labels=8, random_state=0)
    >>> model = SharedSubspaceClassifier(n_components=3).fit(data.X, data.Y)
    >>> shown = LabelMapDisplay.from_estimator(model, data.Y, label_names=data.label_names)
    >>> shown.coordinates.shape
    (8, 2)
    """

    def __init__(
        self,
        *,
        coordinates: Floats,
        support: Floats | None,
        names: Sequence[str],
        groups: Sequence[str] | None = None,
        axis_names: tuple[str, str] = ("eigenlabel 1", "eigenlabel 2"),
        chosen: str = "",
    ) -> None:
        self.coordinates = coordinates
        self.support = support
        self.names = names
        self.groups = groups
        self.axis_names = axis_names
        self.chosen = chosen

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        Y: Any = None,
        *,
        dimensions: tuple[int, int] = (0, 1),
        labels: Any = None,
        normalize: bool = True,
        max_labels: int = 300,
        groups: Any = "auto",
        label_names: Any = None,
        sample_weight: Any = None,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw the labels of a fitted classifier.

        Parameters
        ----------
        model : SharedSubspaceClassifier or SharedSubspaceClassifierCV
            The fitted classifier, also as the last step of a pipeline.
        Y : array-like or sparse matrix of shape (n_samples, n_labels), default=None
            A label matrix whose positives determine the size of the labels, NaN where a label is
            not observed. All labels have the same size by default.
        dimensions : pair of int, default=(0, 1)
            The eigenlabels of the two axes, counted from 0.
        labels : list of str or int, default=None
            The names or positions of the labels to draw.
        normalize : bool, default=True
            Whether coordinates are divided by the standard deviation of the label, if Y is passed.
            Labels that are constant are in the middle.
        max_labels : int, default=300
            The number of labels that are drawn if ``labels`` is None: the most frequent ones, or
            those farthest from the middle if Y is None.
        groups : "auto", None or sequence of shape (n_labels,), default="auto"
            The group of each label. The most frequent groups have a colour of their own. "auto" is
            the part before "::" if most names have one, and no groups otherwise.
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
        display : LabelMapDisplay
            The display, which is drawn.
        """
        W = np.asarray(find_fitted(model, "eigenlabels_", ADVICE))
        eigenvalues = np.asarray(find_fitted(model, "eigenvalues_", ADVICE))
        m, r = W.shape
        check_number("max_labels", max_labels, 1, integer=True)
        if r == 0:
            raise ValueError("The model has no eigenlabel: its features predict no label.")
        Y = read_labels(Y, names_given(label_names, model))
        names = names_of(names_given(label_names, model), m, Y)
        support, spread = (None, None) if Y is None else _count(Y, m, sample_weight)
        # A single eigenlabel is drawn against zero.
        columns = (0,) if r == 1 and tuple(dimensions) == (0, 1) else tuple(dimensions)
        if len(tuple(dimensions)) != 2:
            raise ValueError(f"dimensions must be two eigenlabels, got {dimensions!r}.")
        for d in columns:
            check_number("dimensions", d, 0, r - 1, integer=True)
        coordinates = np.zeros((m, 2))
        scaled = W[:, columns] * np.sqrt(np.maximum(eigenvalues[list(columns)], 0.0))
        if normalize and spread is not None:
            scaled = np.divide(scaled, spread[:, None], where=spread[:, None] > 0, out=0 * scaled)
        coordinates[:, : len(columns)] = scaled
        if labels is not None:
            kept, rule = find_labels(labels, names), "chosen"
        elif support is not None:
            kept, rule = np.sort(most_frequent(support, max_labels)), "most frequent"
        else:
            far = np.hypot(*coordinates.T)
            kept, rule = np.sort(most_frequent(far, max_labels)), "outermost"
        total = float(np.maximum(eigenvalues, 0.0).sum())
        return cls(
            coordinates=coordinates[kept],
            support=None if support is None else support[kept],
            names=[names[j] for j in kept],
            groups=_find_groups(groups, names, kept),
            axis_names=_name_axes(columns, eigenvalues, total),
            chosen=say_chosen(len(kept), m, rule),
        ).plot(ax, **style)

    def plot(
        self,
        ax: Any = None,
        *,
        max_names: int = 60,
        legend: bool = True,
        scatter_kwargs: dict[str, Any] | None = None,
        text_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the map.

        Names are placed for the size that the axes have now: draw on them after the figure has got
        its size and its other axes.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            The axes to draw on. None makes a new figure.
        max_names : int, default=60
            The largest number of names. There are fewer if there is no room.
        legend : bool, default=True
            Whether a legend names the groups, if there are any.
        scatter_kwargs : dict, default=None
            Properties of the marks, for ``Axes.scatter``.
        text_kwargs : dict, default=None
            Properties of the names, such as ``fontsize``.

        Returns
        -------
        display : LabelMapDisplay
            The display itself.
        """
        check_number("max_names", max_names, 0, integer=True)
        ax = self._start(ax, (7.0, 5.6))
        shown, group = self._group()
        palette = [*COLOURS[: len(shown)], GREY] if shown else [COLOURS[0]]
        colours = [palette[g] for g in group]
        areas = self._areas()
        ax.axhline(0, color=GREY, linewidth=0.6, zorder=0.2)
        ax.axvline(0, color=GREY, linewidth=0.6, zorder=0.2)
        style = {"c": colours, "s": areas, "alpha": 0.6, "linewidths": 0, **(scatter_kwargs or {})}
        self.points_ = ax.scatter(*self.coordinates.T, **style)
        ax.set_xlabel(self.axis_names[0], **LITERAL)
        ax.set_ylabel(self.axis_names[1], **LITERAL)
        ax.margins(0.08)
        ax.set_aspect("equal", adjustable="datalim")
        self.legend_ = self._add_legend(ax, shown, palette, group) if legend and shown else None
        self.texts_ = self._write(ax, areas, max_names, text_kwargs)
        named = sum(text is not None for text in self.texts_)
        note = "" if named == len(self.names) else f", {named} of them named"
        ax.set_title(f"{self.chosen}{note}", fontsize="medium", loc="left")
        return self

    def _areas(self) -> Floats:
        """Return areas proportional to the support, the largest of them fixed."""
        if self.support is None:
            return np.full(len(self.names), 30.0)
        most = self.support.max(initial=0.0)
        return np.maximum(SMALLEST, LARGEST * self.support / (most if most > 0 else 1.0))

    def _group(self) -> tuple[list[str], list[int]]:
        """Return the groups that have a colour, and that of each label; the others come last."""
        if self.groups is None:
            return [], [0] * len(self.names)
        weights = np.ones(len(self.names)) if self.support is None else self.support
        total: Counter[str] = Counter()
        for group, weight in zip(self.groups, weights, strict=True):
            total[group] += float(weight)  # type: ignore[assignment]
        common = [group for group, _ in total.most_common(MAX_GROUPS)]
        place = {group: k for k, group in enumerate(common)}
        return common, [place.get(group, len(common)) for group in self.groups]

    def _add_legend(
        self, ax: Any, shown: list[str], palette: list[Any], group: Sequence[int]
    ) -> Any:
        names = [readable(name) for name in shown]
        if len(shown) in group:
            names.append("other")
        handles = [
            ax.scatter([], [], c=[colour], s=40, alpha=0.6, linewidths=0) for colour in palette
        ]
        return add_legend(
            ax,
            handles[: len(names)],
            names,
            **OUTSIDE,
        )

    def _write(
        self,
        ax: Any,
        areas: Floats,
        most: int,
        text_kwargs: dict[str, Any] | None,
    ) -> list[Any]:
        """Write the names that have room, the outermost labels first."""
        figure = self.figure_
        while getattr(figure, "figure", figure) is not figure:
            figure = figure.figure  # the figure of a subfigure
        if figure.get_layout_engine() is not None:
            figure.draw_without_rendering()  # the layout is settled
        ax.apply_aspect()
        return place_names(
            ax,
            self.coordinates,
            [readable(name) for name in self.names],
            radii=np.sqrt(areas / np.pi),
            order=np.argsort(-np.hypot(*self.coordinates.T), kind="stable"),
            most=most,
            **{"fontsize": "x-small", "color": "0.15", **(text_kwargs or {})},
        )


def _count(Y: Any, m: int, sample_weight: Any) -> tuple[Floats, Floats]:
    """Return the weight of the positives and the standard deviation of each label."""
    truth, observed = check_observed_labels(Y, "Y")
    if truth.shape[1] != m:
        raise ValueError(f"Y has {truth.shape[1]} labels, the model {m}.")
    weights = check_row_weights(sample_weight, len(truth))
    weights = np.ones(len(truth)) if weights is None else weights
    positives = np.asarray(weights @ truth)
    known = weights.sum() if observed is None else weights @ observed
    share = positives / np.where(known > 0, known, 1.0)
    return positives, np.sqrt(share * (1 - share))


def _find_groups(groups: Any, names: Sequence[str], kept: Any) -> list[str] | None:
    """Return the groups of the labels that are drawn, or None."""
    if groups is None:
        return None
    if isinstance(groups, str):
        if groups != "auto":
            raise ValueError(f"groups must be 'auto', None or one group per label, got {groups!r}.")
        if sum("::" in name for name in names) <= len(names) / 2:
            return None
        groups = [name.partition("::")[0] if "::" in name else "" for name in names]
    listed = [str(group) for group in groups]
    if len(listed) != len(names):
        raise ValueError(f"{len(listed)} groups for {len(names)} labels: pass one per label.")
    return [listed[j] for j in kept]


def _name_axes(columns: Sequence[int], eigenvalues: Floats, total: float) -> tuple[str, str]:
    """Return the names of the two axes, with the share of each eigenvalue."""
    named = [
        f"eigenlabel {k + 1} ({eigenvalues[k] / total if total > 0 else 0.0:.0%} of eigenvalues)"
        for k in columns
    ]
    return named[0], named[1] if len(named) > 1 else ""
