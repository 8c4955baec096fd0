"""The contributions to a score, as bars."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from eigenlabel.drawing.axes import BLACK, COLOURS, GREY
from eigenlabel.drawing.names import LITERAL, readable
from eigenlabel.inputs.parameters import check_number
from eigenlabel.inspection.displays.base import Display
from eigenlabel.linalg._types import Floats

FOR, AGAINST = COLOURS[0], COLOURS[1]
MINUS = "\N{MINUS SIGN}"


class ExplanationDisplay(Display):
    """The contributions to the score of one sample and label as bars, which add up to the score.

    The largest contributions have a bar each, the others one bar together, and the intercept
    another, so that the bars add up to the score.

    Parameters
    ----------
    names : sequence of str
        What the bars are: features, samples, models, the rest, the intercept.
    values : ndarray of shape (n_bars,)
        The contributions of the bars.
    score : float
        Their sum.
    title : str, default=""
        The title, such as the names of the sample and the label.
    own : int, default=None
        The number of bars that are single contributions, which come first. None is all bars.

    Attributes
    ----------
    ax_ : matplotlib axes
        The axes of the drawing.
    figure_ : matplotlib figure
        The figure of the drawing.
    bars_ : matplotlib container
        The bars, from the top to the bottom.
    texts_ : list of matplotlib texts
        The contributions beside the bars.

    Examples
    --------
    >>> from eigenlabel.inspection import ExplanationDisplay
    >>> shown = ExplanationDisplay.from_contributions(
    ...     ["image", "viewer", "perl", "the"], [0.9, 0.4, -0.3, 0.01], -0.5, max_bars=3
    ... )
    >>> shown.names
    ['image', 'viewer', 'perl', '1 other', 'intercept']
    >>> round(shown.score, 2)
    0.51
    """

    def __init__(
        self,
        *,
        names: Sequence[str],
        values: Floats,
        score: float,
        title: str = "",
        own: int | None = None,
    ) -> None:
        self.names = names
        self.values = values
        self.score = score
        self.title = title
        self.own = own

    @classmethod
    def from_contributions(
        cls,
        names: Any,
        values: Any,
        intercept: float = 0.0,
        *,
        max_bars: int = 15,
        title: str = "",
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw contributions.

        Parameters
        ----------
        names : sequence of str
            The names of the features, samples or models.
        values : array-like of shape (n_names,)
            Their contributions.
        intercept : float, default=0.0
            The score without any contribution. It has no bar if it is zero.
        max_bars : int, default=15
            The number of contributions with a bar of their own, those of largest absolute value.
            Contributions of zero have none.
        title : str, default=""
            The title, such as the names of the sample and the label.
        ax : matplotlib axes or None, default=None
            The axes to draw on. None makes a new figure, whose height depends on the number of
            bars.
        **style : dict
            Keyword arguments of :meth:`plot`.

        Returns
        -------
        display : ExplanationDisplay
            The display, which is drawn.
        """
        check_number("max_bars", max_bars, 1, integer=True)
        check_number("intercept", intercept, -np.inf)
        array = _check_values(values)
        listed = [str(name) for name in names]
        if len(listed) != len(array):
            raise ValueError(
                f"{len(listed)} names for {len(array)} values: pass one name per contribution."
            )
        order = np.argsort(-np.abs(array), kind="stable")
        order = order[array[order] != 0]
        kept, rest = order[:max_bars], order[max_bars:]
        bars = [(listed[j], float(array[j])) for j in kept]
        if len(rest):
            word = "other" if len(rest) == 1 else "others"
            bars.append((f"{len(rest):,} {word}", float(array[rest].sum())))
        if intercept != 0:
            bars.append(("intercept", float(intercept)))
        return cls(
            names=[name for name, _ in bars],
            values=np.array([value for _, value in bars]),
            score=float(array.sum() + intercept),
            title=title,
            own=len(kept),
        ).plot(ax, **style)

    def plot(
        self,
        ax: Any = None,
        *,
        values_format: str = "+.3g",
        bar_kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            The axes to draw on. None makes a new figure.
        values_format : str, default="+.3g"
            The format of the contributions beside the bars.
        bar_kwargs : dict, default=None
            Properties of the bars, for ``Axes.barh``.

        Returns
        -------
        display : ExplanationDisplay
            The display itself.
        """
        k = len(self.values)
        ax = self._start(ax, (5.6, 1.1 + 0.24 * max(k, 3)))
        places = np.arange(k)
        own = k if self.own is None else self.own
        colours = [
            GREY if j >= own else FOR if value > 0 else AGAINST
            for j, value in enumerate(self.values)
        ]
        style = {"color": colours, "height": 0.7, **(bar_kwargs or {})}
        self.bars_ = ax.barh(places, self.values, **style)
        ax.axvline(0, color=BLACK, linewidth=0.8)
        ax.set_yticks(places, [readable(name) for name in self.names], **LITERAL)
        ax.tick_params(axis="y", length=0)
        self.texts_ = [
            ax.annotate(
                format(value, values_format).replace("-", MINUS),
                (value, place),
                xytext=(3 if value >= 0 else -3, 0),
                textcoords="offset points",
                ha="left" if value >= 0 else "right",
                va="center",
                fontsize="small",
            )
            for place, value in zip(places, self.values, strict=True)
        ]
        ax.set_ylim(max(k, 1) - 0.4, -0.6)
        ax.margins(x=0.2)
        ax.spines["left"].set_visible(False)
        ax.set_xlabel(f"contribution (the bars add up to the score {self.score:.3g})")
        ax.set_title(readable(self.title, 80), fontsize="medium", **LITERAL)
        return self


def _check_values(values: Any) -> Floats:
    """Return contributions as an array; raise ValueError if they are not finite numbers."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"values must be numbers, got {values!r}.") from error
    if array.ndim != 1:
        raise ValueError(f"values must be one contribution for each name, got shape {array.shape}.")
    if not np.isfinite(array).all():
        j = int(np.flatnonzero(~np.isfinite(array))[0])
        raise ValueError(f"values must be finite, found {array[j]} at position {j}.")
    return array
