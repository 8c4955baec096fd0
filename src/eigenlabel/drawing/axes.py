"""The one import of matplotlib, axes to draw on, colours, and lines with few points."""

from typing import Any

import numpy as np

from eigenlabel.linalg._types import Floats, Ints

# The palette of Okabe and Ito, which colour-blind people can distinguish, without its yellow, which
# is too light on white, and its black, which is for averages.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
BLACK, GREY, PALE = "#000000", "0.55", "0.85"
LINES = ("-", "--", ":", "-.")  # for curves beyond the number of colours
MOST_POINTS = 2000  # of a line: more cannot be seen, and make large files


def import_pyplot(drawer: str) -> Any:
    """Return ``matplotlib.pyplot``; raise ImportError with advice if it is not installed."""
    try:
        from matplotlib import pyplot  # noqa: PLC0415 - only drawing needs it
    except ImportError as error:
        raise ImportError(
            f"{drawer} draws with matplotlib: pip install eigenlabel[plot], or pip install "
            "matplotlib."
        ) from error
    return pyplot


def axes_for(drawer: str, ax: Any, size: tuple[float, float] | None = None) -> Any:
    """Return the axes to draw on: ``ax``, or those of a new figure if it is None.

    Parameters
    ----------
    drawer : str
        The class or method that draws, for messages.
    ax : matplotlib axes or None
        The axes that the user passed.
    size : tuple of float, default=None
        The width and height of a new figure in inches.
    """
    pyplot = import_pyplot(drawer)
    if ax is None:
        ax = pyplot.subplots(figsize=size, layout="constrained")[1]
        ax.spines[["top", "right"]].set_visible(False)
        return ax
    if not isinstance(ax, pyplot.Axes):
        raise TypeError(
            f"ax must be matplotlib axes or None, got {type(ax).__name__}: pass one of the axes "
            "that matplotlib.pyplot.subplots() returns after the figure."
        )
    return ax


def axes_below(ax: Any, share: float = 0.2) -> Any:
    """Return new axes below, which take a share of the height of ``ax`` and use its x-axis."""
    figure, current = ax.figure, ax.figure.gca()
    spec = ax.get_subplotspec()
    if spec is not None:
        parts = spec.subgridspec(2, 1, height_ratios=[1 - share, share])
        ax.set_subplotspec(parts[0])
        below = figure.add_subplot(parts[1], sharex=ax)
    else:
        box = ax.get_position()
        gap = 0.03 * box.height
        ax.set_position([box.x0, box.y0 + share * box.height, box.width, (1 - share) * box.height])
        below = figure.add_axes([box.x0, box.y0, box.width, share * box.height - gap], sharex=ax)
    figure.sca(current)
    ax.tick_params(labelbottom=False)
    below.spines[["top", "right"]].set_visible(False)
    return below


def style_of(k: int) -> dict[str, Any]:
    """Return the colour and the dashes of the k-th curve, which differ for 24 curves."""
    dashes = LINES[k // len(COLOURS) % len(LINES)]
    return {"color": COLOURS[k % len(COLOURS)], "linestyle": dashes}


def thin(x: Floats, y: Floats, most: int = MOST_POINTS) -> Ints:
    """Return the positions of at most ``most`` points that draw the same line.

    They are at equal distances along the line, the first and the last point included. Both
    coordinates are measured by their range.
    """
    if len(x) <= most:
        return np.arange(len(x))
    steps = np.zeros(len(x))
    for values in (x, y):
        known = np.where(np.isfinite(values), values, 0.0)
        span = float(np.ptp(known))
        steps[1:] += np.abs(np.diff(known)) / (span if span > 0 else 1.0)
    along = np.cumsum(steps)
    chosen = np.searchsorted(along, np.linspace(0, along[-1], most - 1))
    return np.unique(np.append(chosen, len(x) - 1))
