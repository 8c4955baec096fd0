"""The scores of a grid of two parameters."""

import numbers
import re
from contextlib import suppress
from typing import Any, Self

import numpy as np

from eigenlabel.drawing.axes import COLOURS
from eigenlabel.drawing.names import LITERAL, readable
from eigenlabel.estimators.subspace.tuning import readable_axes
from eigenlabel.inputs.data import unmasked
from eigenlabel.inspection.displays.base import Display
from eigenlabel.inspection.displays.checked_inputs import find_fitted, find_part
from eigenlabel.linalg._types import Bools, Floats, Ints
from eigenlabel.metrics import METRICS

ADVICE = "only a fitted search, such as SharedSubspaceClassifierCV, has a grid"
SHORT = 4  # characters of values that fit beside each other
MOST_VALUES = 120  # cells whose values are written into them


class GridDisplay(Display):
    """The cross-validated scores of two parameters as a map, with the chosen point.

    For :class:`SharedSubspaceClassifierCV` this is the surface over alpha and beta at the chosen
    dimension of the shared subspace; alpha / beta stands for alpha in the default grid. Every
    search with ``cv_results_`` in scikit-learn's form can be drawn. Parameters other than the two
    are those of the chosen point.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_columns)
        The scores, NaN where a point was not tried.
    values : pair of sequences
        The values of the two parameters, of the rows and of the columns.
    parameters : pair of str
        The names of the two parameters.
    best : pair of int or None, default=None
        The row and column of the chosen point, None if it is not on the map.
    scoring : str, default="score"
        The name of the score.
    fixed : dict, default=None
        The values of the other parameters.

    Attributes
    ----------
    ax_ : matplotlib axes
        The axes of the drawing.
    figure_ : matplotlib figure
        The figure of the drawing.
    image_ : matplotlib image
        The map.
    texts_ : list of matplotlib texts
        The scores that are written into the cells.
    mark_ : matplotlib line or None
        The frame around the chosen point.
    colorbar_ : matplotlib colorbar or None
        The colour scale.

    Examples
    --------
    >>> from eigenlabel import SharedSubspaceClassifierCV
    >>> from eigenlabel.datasets import make_shared_subspace
    >>> from eigenlabel.inspection import GridDisplay
    >>> data = make_shared_subspace(300, n_labels=6, random_state=0)
    >>> model = SharedSubspaceClassifierCV(alphas=[0, 0.1, 1], betas=[0.1, 1]).fit(data.X, data.Y)
    >>> shown = GridDisplay.from_estimator(model)
    >>> shown.scores.shape, shown.parameters
    ((3, 2), ('alpha', 'beta'))
    """

    def __init__(
        self,
        *,
        scores: Floats,
        values: tuple[Any, Any],
        parameters: tuple[str, str],
        best: tuple[int, int] | None = None,
        scoring: str = "score",
        fixed: dict[str, Any] | None = None,
    ) -> None:
        self.scores = scores
        self.values = values
        self.parameters = parameters
        self.best = best
        self.scoring = scoring
        self.fixed = fixed

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        parameters: tuple[str, str] | None = None,
        fixed: dict[str, Any] | None = None,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw the scores of a fitted search.

        Parameters
        ----------
        model : SharedSubspaceClassifierCV, or another search with ``cv_results_``
            The fitted search.
        parameters : pair of str, default=None
            The parameters of the rows and of the columns. None is the first two with several
            values, which are "alpha / beta" and "beta" for the default grid of
            SharedSubspaceClassifierCV.
        fixed : dict, default=None
            The values of other parameters, such as ``{"n_components": 5}``. Those that are not
            mentioned have the value of the chosen point.
        ax : matplotlib axes or None, default=None
            The axes to draw on. None makes a new figure.
        **style : dict
            Keyword arguments of :meth:`plot`.

        Returns
        -------
        display : GridDisplay
            The display, which is drawn.
        """
        search = find_part(model, "cv_results_", ADVICE)
        results, best = search.cv_results_, int(find_fitted(search, "best_index_", ADVICE))
        table = {k.removeprefix("param_"): v for k, v in results.items() if k.startswith("param_")}
        if "alpha" not in {*(parameters or ()), *(fixed or {})}:
            table = readable_axes(table)
        grid = {name: _ordered(column) for name, column in table.items()}
        rows, columns = _choose_parameters(grid, parameters)
        others = {k: v[best] for k, v in table.items() if k not in (rows, columns)}
        others.update(fixed or {})
        here = _find_slice(grid, others)
        scores = np.full((len(grid[rows][0]), len(grid[columns][0])), np.nan)
        places = grid[rows][1], grid[columns][1]
        found = results.get("pooled_test_score", results.get("mean_test_score"))
        if found is None:
            raise ValueError(
                f"The results of {type(search).__name__} have no mean_test_score: search with a "
                "single score."
            )
        scores[places[0][here], places[1][here]] = np.asarray(found)[here]
        return cls(
            scores=scores,
            values=(grid[rows][0], grid[columns][0]),
            parameters=(rows, columns),
            best=(int(places[0][best]), int(places[1][best])) if here[best] else None,
            scoring=_name_score(getattr(search, "scoring", None)),
            fixed=others,
        ).plot(ax, **style)

    def plot(
        self,
        ax: Any = None,
        *,
        cmap: str = "viridis",
        include_values: bool | None = None,
        values_format: str = ".3f",
        colorbar: bool = True,
        im_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            The axes to draw on. None makes a new figure.
        cmap : str, default="viridis"
            The colours of the scores.
        include_values : bool or None, default=None
            Whether scores are written into the cells. None writes them into at most 120 cells.
        values_format : str, default=".3f"
            The format of these scores.
        colorbar : bool, default=True
            Whether a colour scale is drawn.
        im_kwargs : dict, default=None
            Keyword arguments of ``Axes.imshow``, such as ``vmin``. The colours of the map begin at
            the lower quartile of the scores by default, because a few bad points would take all
            colours.

        Returns
        -------
        display : GridDisplay
            The display itself.
        """
        n, m = self.scores.shape
        ax = self._start(ax, (1.6 + 0.52 * max(m, 5), 1.2 + 0.38 * max(n, 4)))
        ax.spines[:].set_visible(True)
        known = self.scores[np.isfinite(self.scores)]
        low = float(np.quantile(known, 0.25)) if known.size else 0.0
        options = {"vmin": low, "origin": "lower", "aspect": "auto", **(im_kwargs or {})}
        self.image_ = ax.imshow(self.scores, cmap=cmap, **options)
        for name, values, axis in zip(
            self.parameters, self.values, (ax.yaxis, ax.xaxis), strict=True
        ):
            axis.set_ticks(range(len(values)), [format_value(v) for v in values], **LITERAL)
            axis.set_label_text(name, **LITERAL)
        longest = max((len(format_value(v)) for v in self.values[1]), default=0)
        if longest > SHORT:
            ax.tick_params(axis="x", labelrotation=45)
        self.mark_ = None if self.best is None else self._mark(ax)
        shown = self.scores.size <= MOST_VALUES if include_values is None else include_values
        self.texts_ = self._write(ax, values_format) if shown else []
        self.colorbar_ = None
        if colorbar:
            below = known.size and self.image_.norm.vmin > known.min()
            self.colorbar_ = self.figure_.colorbar(
                self.image_, ax=ax, extend="min" if below else "neither"
            )
            self.colorbar_.set_label(self.scoring, **LITERAL)
        title = ", ".join(f"{k} = {format_value(v)}" for k, v in (self.fixed or {}).items())
        ax.set_title(title, fontsize="medium", **LITERAL)
        return self

    def _mark(self, ax: Any) -> Any:
        """Draw a frame around the chosen point."""
        assert self.best is not None
        row, column = self.best
        x, y = np.array([-0.5, 0.5, 0.5, -0.5, -0.5]), np.array([-0.5, -0.5, 0.5, 0.5, -0.5])
        style = {"color": COLOURS[1], "linewidth": 2.5, "clip_on": False}
        return ax.plot(column + x, row + y, **style)[0]

    def _write(self, ax: Any, form: str) -> list[Any]:
        """Write the scores into the cells, light on dark and dark on light."""
        texts = []
        for (row, column), score in np.ndenumerate(self.scores):
            if not np.isfinite(score):
                continue
            red, green, blue, _ = self.image_.cmap(self.image_.norm(score))
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5  # the luma of the colour
            style = {"color": "white" if dark else "black", "fontsize": "x-small"}
            style["fontweight"] = "bold" if (row, column) == self.best else "normal"
            texts.append(
                ax.text(column, row, format(score, form), ha="center", va="center", **style)
            )
        return texts


def format_value(value: Any) -> str:
    """Return a value of a parameter as a short text, such as 1e-6, 0.1 or the sign of infinity."""
    if isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_)):
        if np.isinf(float(value)):
            return "∞"
        small = 0 < abs(float(value)) < 0.01
        text = f"{float(value):.2e}" if small else f"{float(value):.4g}"
        return re.sub(r"\.?0*e([+-])0*", r"e\1", text)
    return readable(value)


def _ordered(column: Any) -> tuple[list[Any], Ints]:
    """Return the distinct values of a parameter, ascending if they can be, and their places."""
    # GridSearchCV hides the parameters that a point does not have.
    listed = list(unmasked(np.ma.asarray(column).astype(object)))
    values: list[Any] = []
    for value in listed:
        if not any(value is v or value == v for v in values):
            values.append(value)
    with suppress(TypeError):
        values = sorted(values)
    return values, np.array([values.index(value) for value in listed])


def _choose_parameters(grid: dict[str, Any], parameters: Any) -> tuple[str, str]:
    """Return the names of the two parameters to draw."""
    listed = ", ".join(map(repr, grid))
    if parameters is None:
        several = [name for name, (values, _) in grid.items() if len(values) > 1]
        parameters = (several if len(several) >= 2 else list(grid))[:2]
    elif isinstance(parameters, str) or len(set(parameters)) != 2:
        raise ValueError(
            f"parameters must be two names of parameters of the grid, {listed}; got {parameters!r}."
        )
    if len(parameters) < 2:
        raise ValueError(f"A map needs two parameters; the grid has {len(grid)}: {listed}.")
    _check_known(grid, parameters)
    return parameters[0], parameters[1]


def _check_known(grid: dict[str, Any], names: Any) -> None:
    for name in names:
        if name not in grid:
            known = ", ".join(map(repr, grid))
            raise ValueError(f"The grid has no parameter {name!r}; it has: {known}.")


def _find_slice(grid: dict[str, Any], fixed: dict[str, Any]) -> Bools:
    """Return the points of the grid at which some parameters have fixed values."""
    _check_known(grid, fixed)
    here = np.ones(len(next(iter(grid.values()))[1]), dtype=bool)
    for name, value in fixed.items():
        values, place = grid[name]
        if value not in values:
            tried = ", ".join(map(format_value, values))
            raise ValueError(f"{name}={value!r} is not in the grid, which has: {tried}.")
        here &= place == values.index(value)
    return here


def _name_score(scoring: Any) -> str:
    """Return the name of a score; losses of the library are negated in a search."""
    if not isinstance(scoring, str):
        return "score"
    loss = scoring in METRICS and not METRICS[scoring].greater_is_better
    return f"negated {scoring}" if loss else scoring
