"""Scores against the number of dimensions."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from eigenlabel.drawing.axes import BLACK, style_of
from eigenlabel.drawing.names import LITERAL, add_legend, readable
from eigenlabel.estimators.meta.dimensions import DimensionsPath
from eigenlabel.inspection.displays.base import Display
from eigenlabel.inspection.displays.checked_inputs import find_part
from eigenlabel.linalg._types import Floats
from eigenlabel.metrics import METRICS

MARKERS = "osD^vP"
WIDE = 8  # ratio of the largest and the smallest dimension from which the axis is logarithmic
ADVICE = (
    "pass a fitted ProjectedClassifierCV or SharedSubspaceClassifierCV, or draw the result of "
    "dimensions_path with DimensionDisplay.from_paths"
)


class DimensionDisplay(Display):
    """The score of a classifier against the dimension of a projection or shared subspace.

    Curves are means over folds; a band is one standard error of the mean to either side. A ring
    marks the best dimension, or the chosen one. The axis is logarithmic if the largest dimension is
    8 times the smallest or more.

    Parameters
    ----------
    paths : mapping of str to DimensionsPath
        The dimensions and their scores by fold, for each curve. A single column of scores has no
        band.
    scoring : str, default="score"
        The name of the score.
    chosen : mapping of str to int, default=None
        The dimensions to mark. None marks the best mean of each curve.

    Attributes
    ----------
    ax_ : matplotlib axes
        The axes of the drawing.
    figure_ : matplotlib figure
        The figure of the drawing.
    lines_ : list of matplotlib lines
        The curves.
    bands_ : list of matplotlib collections
        The bands.
    rings_ : list of matplotlib lines
        The marks of the best or chosen dimensions.
    legend_ : matplotlib legend or None
        The legend, if there are several curves.

    Examples
    --------
    >>> from eigenlabel import ProjectedClassifierCV
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> from eigenlabel.inspection import DimensionDisplay
    >>> data = make_shared_subspace(300, n_labels=8, random_state=0)
    >>> model = ProjectedClassifierCV(cv=3).fit(data.X, data.Y)
    >>> shown = DimensionDisplay.from_estimator(model)
    >>> shown.lines_[0].get_xdata().tolist()
    [1, 2, 4, 8]
    """

    def __init__(
        self,
        *,
        paths: Mapping[str, DimensionsPath],
        scoring: str = "score",
        chosen: Mapping[str, int] | None = None,
    ) -> None:
        self.paths = paths
        self.scoring = scoring
        self.chosen = chosen

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None, **style: Any) -> Self:
        """Draw the scores that a fitted classifier compared.

        For a ProjectedClassifierCV these are its ``path_``; for a SharedSubspaceClassifierCV the
        scores of each ``n_components`` at its best alpha and beta, which have no band.

        Parameters
        ----------
        model : ProjectedClassifierCV or SharedSubspaceClassifierCV
            The fitted classifier.
        ax : matplotlib axes or None, default=None
            The axes to draw on. None makes a new figure.
        **style : dict
            Keyword arguments of :meth:`plot`.

        Returns
        -------
        display : DimensionDisplay
            The display, which is drawn.
        """
        part = find_part(model, "best_params_", ADVICE)
        name, path = type(part).__name__, getattr(part, "path_", None)
        if path is None:
            results = getattr(part, "cv_results_", {})
            if not {"param_n_components", "pooled_test_score"} <= set(results):
                raise TypeError(f"{name} compares no dimensions: {ADVICE}.")
            path = _best_by_dimension(results)
        scoring = getattr(part, "scoring", "score")
        chosen = {name: int(part.best_params_["n_components"])}
        shown = cls(paths={name: path}, scoring=_as_word(scoring), chosen=chosen)
        return shown.plot(ax, **style)

    @classmethod
    def from_paths(
        cls, paths: Any, *, scoring: str = "score", ax: Any = None, **style: Any
    ) -> Self:
        """Draw the results of :func:`dimensions_path`.

        Parameters
        ----------
        paths : DimensionsPath, or mapping of str to DimensionsPath
            A result, or several of them by name.
        scoring : str, default="score"
            The name of the score. If it is a loss of ``eigenlabel.metrics``, the lowest score is
            the best.
        ax : matplotlib axes or None, default=None
            The axes to draw on. None makes a new figure.
        **style : dict
            Keyword arguments of :meth:`plot`.

        Returns
        -------
        display : DimensionDisplay
            The display, which is drawn.
        """
        named = paths if isinstance(paths, Mapping) else {"": paths}
        if not named:
            raise ValueError("paths is empty: pass at least one DimensionsPath.")
        for name, path in named.items():
            shape = np.shape(getattr(path, "scores", 0.0))
            if len(shape) != 2 or not shape[1] or shape[0] != len(path.dimensions):
                raise TypeError(
                    f"paths[{name!r}] must be a DimensionsPath with one row of scores for each "
                    f"dimension, got {path!r}."
                )
        return cls(paths=named, scoring=scoring).plot(ax, **style)

    def plot(
        self,
        ax: Any = None,
        *,
        band: bool = True,
        legend: bool = True,
        curve_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            The axes to draw on. None makes a new figure.
        band : bool, default=True
            Whether standard errors are drawn.
        legend : bool, default=True
            Whether a legend names the curves, if there are several.
        curve_kwargs : dict, default=None
            Properties of the lines, for ``Axes.plot``.

        Returns
        -------
        display : DimensionDisplay
            The display itself.
        """
        ax = self._start(ax, (5.2, 3.6))
        self.lines_, self.bands_, self.rings_ = [], [], []
        dimensions = np.unique(np.concatenate([p.dimensions for p in self.paths.values()]))
        for k, (name, path) in enumerate(self.paths.items()):
            order = np.argsort(path.dimensions, kind="stable")
            x, scores = np.asarray(path.dimensions)[order], np.asarray(path.scores)[order]
            mean = scores.mean(axis=1)
            look = {"marker": MARKERS[k % len(MARKERS)], "markersize": 4, **style_of(k)}
            (line,) = ax.plot(x, mean, **{**look, **(curve_kwargs or {})})
            self.lines_.append(line)
            if band and scores.shape[1] > 1:
                error = scores.std(axis=1, ddof=1) / np.sqrt(scores.shape[1])
                shade = {"color": line.get_color(), "alpha": 0.18, "linewidth": 0}
                self.bands_.append(ax.fill_between(x, mean - error, mean + error, **shade))
            best = self._best(name, x, mean)
            ring = {"markersize": 9, "markerfacecolor": "none", "color": BLACK}
            self.rings_ += ax.plot(x[best], mean[best], "o", **ring)
        self._label(ax, dimensions)
        several = legend and len(self.lines_) > 1
        names = [readable(name) for name in self.paths]
        self.legend_ = add_legend(ax, self.lines_, names, frameon=False) if several else None
        return self

    def _best(self, name: str, x: Any, mean: Floats) -> int:
        """Return the position of the chosen dimension, or of the best mean, the smallest first."""
        if self.chosen is not None:
            return int(np.flatnonzero(x == self.chosen[name])[0])
        known = np.where(np.isnan(mean), -np.inf, mean if self._greater() else -mean)
        return int(np.argmax(known))

    def _greater(self) -> bool:
        return self.scoring not in METRICS or METRICS[self.scoring].greater_is_better

    def _label(self, ax: Any, dimensions: Any) -> None:
        if dimensions[-1] >= WIDE * dimensions[0]:
            ax.set_xscale("log", base=2)
            ax.xaxis.set_major_formatter("{x:g}")
        if len(dimensions) <= 12:
            ax.set_xticks(dimensions, [str(d) for d in dimensions], minor=False)
            ax.minorticks_off()
        ax.set_xlabel("number of dimensions")
        note = "" if self._greater() else " (lower is better)"
        ax.set_ylabel(f"{self.scoring}{note}", **LITERAL)


def _as_word(scoring: Any) -> str:
    return scoring if isinstance(scoring, str) else "score"


def _best_by_dimension(results: Mapping[str, Any]) -> DimensionsPath:
    """Return the best score of each dimension of a search."""
    dimensions, place = np.unique(results["param_n_components"], return_inverse=True)
    found = np.full(len(dimensions), -np.inf)
    np.fmax.at(found, place, results["pooled_test_score"])
    return DimensionsPath(dimensions, found[:, None])
