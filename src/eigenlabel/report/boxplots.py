"""The section that compares the spread of figures of several methods, and its layout in pixels."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eigenlabel.report.json_values import clean, shorten, significant
from eigenlabel.report.sections import Section

WIDTH = 330  # of the drawing area
LEFT, TOP, ROW = 176, 8, 30
HALF = 9  # half of the height of a box
LONGEST = 24  # characters of a name


def boxes(
    title: str, panels: Mapping[str, Mapping[str, Sequence[float]]], *, note: str = ""
) -> Section:
    """Return a box plot for each metric, with a box for each method and a dot for each split.

    A box extends from the lower to the upper quartile, and its line is the median.

    Parameters
    ----------
    title : str
        The heading of the section.
    panels : dict of str to dict of str to list of float
        Maps the name of a metric to the figures of each method. Numbers that are not finite are
        left out, and so are methods and metrics without numbers.
    note : str, default=""
        A line below the plots.

    Returns
    -------
    section : dict
        The section, for :func:`page`.

    Examples
    --------
    >>> from eigenlabel import report
    >>> shown = report.boxes("Splits", {"f1_macro": {"a": [0.5, 0.6, 0.8]}})
    >>> shown["panels"][0]["groups"][0]
    {'name': 'a', 'values': [0.5, 0.6, 0.8], 'quartiles': [0.55, 0.6, 0.7]}
    """
    found = []
    for metric, groups in panels.items():
        rows = []
        for name, figures in groups.items():
            values = np.array([np.nan if v is None else v for v in figures], dtype=float)
            values = values[np.isfinite(values)]
            if values.size:
                quartiles = significant(np.quantile(values, [0.25, 0.5, 0.75]))
                row = {"name": clean(name), "values": significant(values), "quartiles": quartiles}
                rows.append(row)
        if rows:
            found.append({"metric": clean(metric), "groups": rows})
    return {"kind": "boxes", "title": clean(title), "panels": found, "note": clean(note)}


def place(section: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the size, ticks, boxes and dots of each plot."""
    return [_place(panel) for panel in section["panels"]]


def _place(panel: dict[str, Any]) -> dict[str, Any]:
    every = [v for group in panel["groups"] for v in group["values"]]
    low, high = min(every), max(every)
    edge = 0.06 * (high - low) or 0.05 * abs(high) or 0.5
    low, high = low - edge, high + edge

    def across(value: float) -> float:
        return round(float(LEFT + WIDTH * (value - low) / (high - low)), 1)

    bottom = TOP + ROW * len(panel["groups"])
    rows = []
    for k, group in enumerate(panel["groups"]):
        first, median, last = map(across, group["quartiles"])
        rows.append(
            {
                "name": shorten(group["name"], LONGEST),
                "y": TOP + ROW * k + ROW // 2,
                "x1": across(min(group["values"])),
                "x2": across(max(group["values"])),
                "first": first,
                "width": round(last - first, 1),
                "median": median,
                "dots": [across(v) for v in group["values"]],
                "text": f"{group['name']}: median {group['quartiles'][1]}, "
                f"from {min(group['values'])} to {max(group['values'])}",
            }
        )
    ticks = (
        np.linspace(low + edge, high - edge, 4).tolist()
        if max(every) > min(every)
        else [low + edge]
    )
    return {
        "width": LEFT + WIDTH + 24,
        "height": bottom + 28,
        "left": LEFT,
        "top": TOP,
        "bottom": bottom,
        "half": HALF,
        "ticks": [{"x": across(v), "text": f"{v:.3g}"} for v in ticks],
        "rows": rows,
    }
