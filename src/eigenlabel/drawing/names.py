"""Names that users wrote: drawn letter by letter, in legends, and without overlap."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from eigenlabel.drawing.axes import GREY
from eigenlabel.linalg._types import Bools, Floats, Ints

# A name may contain dollar signs and underscores, which are neither formulas nor TeX.
LITERAL: dict[str, Any] = {"parse_math": False, "usetex": False}
# Options of a legend to the right of the axes, where it covers nothing.
OUTSIDE: dict[str, Any] = {
    "loc": "upper left",
    "bbox_to_anchor": (1.0, 1.0),
    "frameon": False,
    "fontsize": "small",
    "title_fontsize": "small",
    "alignment": "left",
}
LONGEST = 32  # letters of a name in a drawing
DIRECTIONS = 16  # in which a name may stand beside its point
GAPS = (2.0, 5.0, 10.0, 16.0)  # between a name and its point
LEADER = 6.0  # names that are farther away have a line to their point
MARGIN = np.array([3.0, 1.0])  # beside and above a name, in points
MOST_COVERED = 0.2  # share of a name that may cover points


def readable(name: Any, longest: int = LONGEST) -> str:
    """Return a name on one line, shortened, with a sign in place of letters that are not printable.

    The beginning and the end of a name that is too long are kept.
    """
    text = " ".join(str(name).split())
    text = "".join(letter if letter.isprintable() else "\ufffd" for letter in text)
    if len(text) <= longest:
        return text
    tail = longest // 3
    return f"{text[: longest - tail - 1]}…{text[-tail:]}"


def add_legend(ax: Any, handles: Sequence[Any], names: Sequence[str], **options: Any) -> Any:
    """Add a legend whose names are drawn letter by letter, also those that begin with "_"."""
    legend = ax.legend(handles, [str(k) for k in range(len(names))], **options)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set(text=name, **LITERAL)
    legend.get_title().set(**LITERAL)
    return legend


class Boxes(NamedTuple):
    """Rectangles in pixels.

    Attributes
    ----------
    low : ndarray of shape (..., 2)
        The lower left corners.
    high : ndarray of shape (..., 2)
        The upper right corners.
    """

    low: Floats
    high: Floats


def shared_area(some: Boxes, others: Boxes) -> Floats:
    """Return the areas (a, b) that each of a boxes shares with each of b boxes."""
    low = np.maximum(some.low[:, None], others.low)
    high = np.minimum(some.high[:, None], others.high)
    return np.asarray(np.prod(np.maximum(high - low, 0.0), axis=-1))


def place_names(
    ax: Any,
    points: Floats,
    names: Sequence[str],
    *,
    radii: Floats,
    order: Ints,
    most: int,
    **style: Any,
) -> list[Any]:
    """Write names beside their points where they overlap neither each other nor the border.

    Names are placed one after the other. Each takes a place that is near its point and covers
    little of the points; a name without such a place is left out. The limits and the position of
    the axes must be final.

    The cost is proportional to the number of names times the number of points.

    Parameters
    ----------
    ax : matplotlib axes
        The axes.
    points : ndarray of shape (n, 2)
        The points, in the units of the axes.
    names : sequence of str
        Their names.
    radii : ndarray of shape (n,)
        The radii of the marks of the points, in points (1/72 inch).
    order : ndarray of int
        The positions of the points whose names are written, the most important first.
    most : int
        The largest number of names.
    **style : dict
        Properties of the texts.

    Returns
    -------
    texts : list of (matplotlib annotation or None)
        The text of each point, None where it is left out.
    """
    from matplotlib.text import Text  # noqa: PLC0415 - only drawing needs it

    scale = ax.figure.dpi / 72
    centres = np.asarray(ax.transData.transform(points))  # pixels
    dots = Boxes(centres - (radii * scale)[:, None], centres + (radii * scale)[:, None])
    frame = np.asarray(ax.get_window_extent().get_points())
    texts: list[Any] = [None] * len(points)
    taken = Boxes(np.empty((0, 2)), np.empty((0, 2)))
    for j in order:
        if len(taken.low) == most:
            break
        text = ax.annotate(
            names[j],
            points[j],
            xytext=(0, 0),
            textcoords="offset points",
            ha="center",
            va="center",
            arrowprops={
                "arrowstyle": "-",
                "color": GREY,
                "linewidth": 0.5,
                "shrinkA": 0,
                "shrinkB": radii[j],
            },
            **LITERAL,
            **style,
        )
        extent = Text.get_window_extent(text)  # without the line
        size = np.array([extent.width, extent.height]) + 2 * MARGIN * scale
        area = float(np.prod(size))
        offsets, gaps = _candidates(size, radii[j] * scale, scale)
        boxes = Boxes(centres[j] + offsets - size / 2, centres[j] + offsets + size / 2)
        covered = shared_area(boxes, dots).sum(axis=1) / area
        free = _is_free(boxes, taken, frame) & (covered <= MOST_COVERED)
        led = free & (gaps > LEADER)
        free[led] = ~_is_crossed(j, offsets[led], centres, radii * scale, taken)
        if not free.any():
            text.remove()
            continue
        best = int(np.argmin(np.where(free, gaps + 50 * covered, np.inf)))
        taken = Boxes(*(np.vstack([t, b[best]]) for t, b in zip(taken, boxes, strict=True)))
        text.set_position(tuple(offsets[best] / scale))
        text.arrow_patch.set_visible(bool(gaps[best] > LEADER))
        texts[j] = text
    return texts


def _candidates(size: Floats, radius: float, scale: float) -> tuple[Floats, Floats]:
    """Return where the middle of a box may be (k, 2), and the gaps between box and point (k,)."""
    angles = 2 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    towards = np.column_stack([np.cos(angles), np.sin(angles)])
    gaps = np.repeat(GAPS, DIRECTIONS)
    every = np.tile(towards, (len(GAPS), 1))
    # A box beside its point begins at the point: its middle is half its width away.
    edge = every / np.abs(every).max(axis=1, keepdims=True) * size / 2
    return every * (radius + gaps * scale)[:, None] + edge, gaps


def _is_crossed(j: int, offsets: Floats, centres: Floats, radii: Floats, taken: Boxes) -> Bools:
    """Return the offsets (k,) whose lines to point j would cross a name or another point.

    Points that overlap point j do not count: every line would cross them.
    """
    along = np.linspace(0, 0.9, 10)[:, None, None]
    steps = (centres[j] + along * offsets)[:, :, None]  # (10, k, 1, 2)
    names: Bools = np.all((steps > taken.low) & (steps < taken.high), axis=3)
    others = np.hypot(*(centres - centres[j]).T) > radii + radii[j]
    points = np.hypot(*np.moveaxis(steps - centres[others], 3, 0)) < radii[others]
    return np.asarray(names.any(axis=(0, 2)) | points.any(axis=(0, 2)))


def _is_free(boxes: Boxes, taken: Boxes, frame: Floats) -> Bools:
    """Return the boxes that lie in the frame and share nothing with those that are taken."""
    inside = ((boxes.low >= frame[0]) & (boxes.high <= frame[1])).all(axis=1)
    return np.asarray(inside & ~(shared_area(boxes, taken) > 0).any(axis=1))
