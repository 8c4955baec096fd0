"""Drawings of tables and figures: ours, and the published values beside them."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np

from eigenlabel.comparison import collect
from eigenlabel.drawing.axes import GREY, PALE, import_pyplot, style_of
from eigenlabel.drawing.names import LITERAL, OUTSIDE, add_legend
from eigenlabel.linalg._types import Floats
from eigenlabel.metrics import ALL_METRICS
from eigenlabel.reproduce.comparing import Row, compare
from eigenlabel.reproduce.contests import Contest
from eigenlabel.reproduce.curves import TIME, Curves, Point
from eigenlabel.reproduce.tables import Table

Records = Sequence[dict[str, Any]]
DRAWER = "eigenlabel reproduce --plot"
MARKERS = "osD^vP*X"
WIDE = 50  # a ratio of the largest to the smallest x from which the axis is logarithmic
LETTERS = 11  # of a title in one inch
CROWDED = 6  # more names than this on an axis are turned
ROW = 0.24  # height of a method in inches
P_VALUES = (5e-7, 2.0)  # one axis for all panels; 30 pairs have at least 1.7e-6
OURS = {"color": style_of(0)["color"], "markersize": 5, "linestyle": "none", "marker": "o"}
PAPER = {**OURS, "color": style_of(1)["color"], "markerfacecolor": "white", "marker": "D"}


def draw(table: Table | Contest | Curves, records: Records) -> Any:
    """Draw a table or a figure of a paper from records.

    Parameters
    ----------
    table : Table, Contest or Curves
        The table or figure.
    records : list of dict
        Records of its protocol.

    Returns
    -------
    matplotlib.figure.Figure
        The drawing: one panel for each data set and metric, or each panel of the figure.

    Raises
    ------
    ValueError
        If there is nothing to draw.
    """
    if isinstance(table, Curves):
        return _draw_curves(table, records)
    if isinstance(table, Contest):
        return _draw_contest(table, records)
    if table.kind == "counts":
        raise ValueError(f"{table.name} contains sizes of data sets, which are not drawn.")
    return _draw_table(table, records)


class Dots(NamedTuple):
    """A panel of values by method.

    Attributes
    ----------
    title : str
        The data set.
    metric : str
        The name of the values.
    methods : list of str
        The methods, the first at the top.
    ours : list of (float, float) or None for each method
        Our means and standard deviations.
    paper : list of (float, float) or None for each method
        The published ones.
    levels : list of list of float or None
        Published values of several data sets, one list for each.
    zero : bool
        Whether values are differences, so that zero has a line.
    """

    title: str
    metric: str
    methods: list[str]
    ours: list[tuple[float, float] | None]
    paper: list[tuple[float, float] | None]
    levels: Sequence[list[float | None]] = ()
    zero: bool = False


def _figure(rows: int, columns: int, width: float, height: float, **options: Any) -> Any:
    pyplot = import_pyplot(DRAWER)
    size = (columns * width, rows * height)
    figure, axes = pyplot.subplots(
        rows, columns, figsize=size, layout="constrained", squeeze=False, **options
    )
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _set_title(figure: Any, title: str, note: str) -> None:
    """Write the title and a note, in lines that the figure has room for."""
    width = int(LETTERS * figure.get_figwidth())
    lines = [line for text in (title, note) for line in wrap(text, width)]
    figure.suptitle("\n".join(lines), fontsize="medium", **LITERAL)


def _draw_dots(title: str, panels: list[list[Dots]], note: str) -> Any:
    """Draw rows of panels; values of methods are dots, standard deviations are bars."""
    columns = max(len(row) for row in panels)
    most = max(len(dots.methods) for row in panels for dots in row)
    figure, axes = _figure(len(panels), columns, 3.4, 0.9 + ROW * most)
    for row, places in zip(panels, axes, strict=True):
        for k, (dots, ax) in enumerate(zip(row, places, strict=False)):
            _draw_panel(ax, dots)
            if k and dots.methods == row[k - 1].methods:
                ax.set_yticklabels([])  # those of the panel to the left
        for ax in places[len(row) :]:
            ax.set_axis_off()
    _set_title(figure, title, note)
    shown = [dots for row in panels for dots in row]
    first = axes[0][len(panels[0]) - 1]
    kinds = [
        (look, name)
        for look, name, there in (
            (OURS, "ours", any(v is not None for d in shown for v in d.ours)),
            (PAPER, "paper", any(d.levels or any(d.paper) for d in shown)),
        )
        if there
    ]
    handles = [first.plot([], [], **look)[0] for look, _ in kinds]
    add_legend(first, handles, [name for _, name in kinds], **OUTSIDE)
    return figure


def _draw_panel(ax: Any, dots: Dots) -> None:
    height = np.arange(len(dots.methods))[::-1]
    for levels in dots.levels:
        there = [k for k, value in enumerate(levels) if value is not None]
        ax.plot([levels[k] for k in there], height[there], **PAPER, alpha=0.6)
    for values, look, shift in ((dots.paper, PAPER, 0.14), (dots.ours, OURS, -0.14)):
        there = [k for k, value in enumerate(values) if value is not None]
        pairs = [value for value in values if value is not None]
        if pairs:
            mean, std = np.array(pairs, dtype=float).T
            bars = np.nan_to_num(std)
            ax.errorbar(mean, height[there] + shift, xerr=bars, elinewidth=1, **look)
    ax.set_yticks(height, dots.methods, fontsize="small")
    for label in ax.get_yticklabels():
        label.set(**LITERAL)
    ax.set_ylim(-0.6, len(dots.methods) - 0.4)
    ax.grid(axis="y", color=PALE, linewidth=0.6)
    ax.set_axisbelow(True)
    if dots.metric.startswith("p of"):
        ax.set_xscale("log")
        ax.set_xlim(*P_VALUES)
        ax.axvline(0.05, color=GREY, linewidth=0.8)
    if dots.zero:
        ax.axvline(0, color=GREY, linewidth=0.8)
    ax.set_title(dots.title, fontsize="small", **LITERAL)
    ax.set_xlabel(_named(dots.metric), fontsize="small", **LITERAL)
    ax.tick_params(labelsize="small")
    if ax.get_xscale() == "linear":
        ax.locator_params(axis="x", nbins=5)


def _named(metric: str) -> str:
    """Return the name of a metric with a note if small values are better."""
    lower = metric in ALL_METRICS and not ALL_METRICS[metric].greater_is_better
    return f"{metric} (lower is better)" if lower or metric == TIME else metric


def _pair(mean: float | None, std: float | None) -> tuple[float, float] | None:
    return None if mean is None else (mean, np.nan if std is None else std)


def _draw_table(table: Table, records: Records) -> Any:
    rows = [row for row in compare(table, records) if row.dataset in table.data]
    if all(row.ours is None for row in rows):
        raise ValueError(f"{table.name} has no runs to draw.")
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.dataset, row.metric), []).append(row)
    names = list(table.data)
    order = sorted(groups, key=lambda key: names.index(key[0]))  # metrics stay in their order
    panels = [_dots(dataset, metric, groups[dataset, metric]) for dataset, metric in order]
    n_metrics = len({row.metric for row in rows})
    per_row = n_metrics if len(names) > 1 else ceil(n_metrics / 2)
    lines = [panels[k : k + per_row] for k in range(0, len(panels), per_row)]
    return _draw_dots(table.title, lines, _runs_note(table, rows))


def _dots(dataset: str, metric: str, rows: list[Row]) -> Dots:
    """Return the panel of a data set and metric; methods beyond the paper have no published one."""
    beyond = [row.method.removesuffix(" (paper: its best)") for row in rows]
    published_too = [row.method == name for row, name in zip(rows, beyond, strict=True)]
    ours = [_pair(row.ours, row.ours_std) for row in rows]
    paper = [
        _pair(row.paper, row.paper_std) if there else None
        for row, there in zip(rows, published_too, strict=True)
    ]
    return Dots(dataset, metric, beyond, ours, paper)


def _runs_note(table: Table, rows: list[Row]) -> str:
    counts = sorted({row.n for row in rows if row.ours is not None})
    number = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    if table.kind == "p-values":
        return f"ours from {number} pairs; the line is at 0.05"
    what = "runs" if all(len(group) == 1 for group in table.data.values()) else "data sets"
    if counts == [1]:
        return "ours: a single run"
    return f"ours: means of {number} {what}; bars are standard deviations"


def _draw_contest(contest: Contest, records: Records) -> Any:
    """Draw our data sets, and those of the paper beside them with its own values."""
    orders, names = contest.orders(), contest.runnable()
    lines = []
    for metric in contest.metrics.values():
        found = collect(records, metric)
        row = []
        for data in contest.data:
            values = [np.array(list(found.get(data, {}).get(n, {}).values())) for n in names]
            if any(len(v) for v in values):
                ours = [_mean(v) for v in values]
                row.append(Dots(data, metric, names, ours, [None] * len(names)))
        row.append(_leads(contest, metric, orders[metric]))
        lines.append(row)
    if not any(d.ours != [None] * len(names) for row in lines for d in row):
        raise ValueError(f"{contest.name} has no runs to draw.")
    note = "bars are standard deviations; last column: the paper's own data sets, one mark for each"
    return _draw_dots(contest.title, lines, note)


def _leads(contest: Contest, metric: str, orders: Mapping[str, Mapping[str, float]]) -> Dots:
    """Return the panel of the paper's sets: published values minus those of the reference.

    Their levels differ from set to set and from ours, so that only differences can be compared.
    """
    names = contest.runnable()
    levels = [
        [order[n] - order[contest.reference] if n in order else None for n in names]
        for order in orders.values()
    ]
    percent = " in percent" if contest.in_percent(metric) else ""
    title = f"paper: minus {contest.reference}, {len(orders)} sets"
    nothing: list[tuple[float, float] | None] = [None] * len(names)
    return Dots(title, f"{metric}{percent}, difference", names, nothing, nothing, levels, True)


def _mean(values: Floats) -> tuple[float, float] | None:
    known = values[~np.isnan(values.astype(float))] if len(values) else values
    if not len(known):
        return None
    return float(known.mean()), float(known.std(ddof=1)) if len(known) > 1 else np.nan


def _draw_curves(figure: Curves, records: Records) -> Any:
    panels, widths = figure.means(records), figure.intervals(records)
    if not panels:
        raise ValueError(f"{figure.name} has no runs to draw.")
    beside = bool(figure.published)
    drawing, places, last = _layout(len(panels), beside)
    names = figure.curves()
    lines: dict[str, Any] = {}
    for (panel, means), (ax, narrow) in zip(panels.items(), places, strict=True):
        lines |= _draw_lines(ax, figure, names, means, widths.get(panel, {}))
        ax.set_title(panel, fontsize="medium", **LITERAL)
        ax.set_xlabel(figure.x, **LITERAL)
        ax.set_ylabel(_named(figure.y), **LITERAL)
        if narrow is not None:
            _draw_published(narrow, names, figure.published.get(panel, {}))
    shown = [name for name in names if name in lines]
    add_legend(last, [lines[name] for name in shown], shown, **OUTSIDE)
    notes = ["bars: mean ± 1.96 s / √n over splits"] * any(widths.values())
    notes += ["narrow panels: the paper's tables"] * beside
    _set_title(drawing, figure.title, "; ".join(notes))
    return drawing


def _layout(count: int, beside: bool) -> tuple[Any, list[tuple[Any, Any]], Any]:
    """Return a figure, the axes of each panel with narrow ones or None, and those for a legend."""
    per_row = min(count, 2 if beside else 3)
    rows = ceil(count / per_row)
    columns = per_row * (2 if beside else 1)
    ratios = {"width_ratios": [5, 1] * per_row} if beside else {}
    drawing, axes = _figure(rows, columns, 2.9 if beside else 4.2, 3.4, gridspec_kw=ratios)
    if beside:
        places = [(row[k], row[k + 1]) for row in axes for k in range(0, columns, 2)]
    else:
        places = [(ax, None) for ax in axes.flat]
    for ax in (ax for pair in places[count:] for ax in pair if ax is not None):
        ax.set_axis_off()
    return drawing, places[:count], axes[0][-1]


def _look(names: list[str], name: str) -> dict[str, Any]:
    k = names.index(name)
    return {"marker": MARKERS[k % len(MARKERS)], "markersize": 4, **style_of(k)}


def _draw_lines(
    ax: Any,
    figure: Curves,
    names: list[str],
    means: Mapping[Point, float],
    widths: Mapping[Point, float],
) -> dict[str, Any]:
    """Draw the curves of a panel; a curve of one point is a level across the panel."""
    curves = {name: [x for curve, x in means if curve == name] for name in names}
    levels = {name for name in names if sum(c == name for c, _ in figure.points) == 1}
    used = {x for name, xs in curves.items() if name not in levels for x in xs}
    values = list(dict.fromkeys(x for _, x in figure.points if x in used))
    place = _places(ax, values)
    lines = {}
    for name, xs in curves.items():
        look = _look(names, name)
        if name in levels and xs:
            level = means[name, xs[0]]
            lines[name] = ax.axhline(level, **{**look, "marker": None}, linewidth=1.2)
        elif xs:
            order = sorted(xs, key=place.__getitem__)
            y = [means[name, x] for x in order]
            bars = [widths.get((name, x), np.nan) for x in order]
            at = [place[x] for x in order]
            lines[name] = ax.errorbar(at, y, yerr=bars, capsize=2, elinewidth=0.8, **look)
    if figure.y == TIME:
        ax.set_yscale("log")
    return lines


def _places(ax: Any, values: list[str]) -> dict[str, float]:
    """Return where values stand on the x-axis: as numbers, or in order if one is none or zero."""
    try:
        numbers = [float(Fraction(value)) for value in values]
    except ValueError:
        numbers = [0.0]
    if not values or min(numbers) <= 0:
        ax.set_xticks(range(len(values)), values, fontsize="small")
        if len(values) > CROWDED:
            ax.tick_params(axis="x", rotation=45)
        return {value: float(k) for k, value in enumerate(values)}
    if max(numbers) >= WIDE * min(numbers):
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
    return dict(zip(values, numbers, strict=True))


def _draw_published(ax: Any, names: list[str], levels: Mapping[str, float]) -> None:
    """Draw published values of the curves as points in a narrow panel with an axis of its own."""
    for name in names:
        if name in levels:
            ax.plot([0], [levels[name]], **{**_look(names, name), "linestyle": "none"})
    ax.set_xticks([])
    ax.tick_params(labelsize="small")
    ax.set_xlabel("paper", fontsize="small")
    ax.margins(y=0.3)
