"""The layout of a critical-difference diagram, in pixels."""

from typing import Any

import numpy as np

from eigenlabel.report.json_values import shorten

AXIS = 420  # length of the axis
STEP = 24  # distance of names
LONGEST = 30  # characters of a name
LETTER = 7.6  # upper bound on the mean width of a character


def place(section: dict[str, Any]) -> dict[str, Any]:
    """Return the size, ticks, bars and names of the diagram, with the best method on the left."""
    ranks, names = section["ranks"], section["names"]
    k = len(ranks)
    low, high = int(np.floor(min(ranks))), int(np.ceil(max(ranks)))
    low, high = min(low, 1), max(high, k, low + 1)
    margin = min(310.0, 20 + LETTER * (max(map(len, names)) + 6))
    unit = AXIS / (high - low)
    x = [round(margin + (r - low) * unit, 1) for r in ranks]
    top = 52  # position of the axis
    levels = _levels(section["groups"])
    first = top + 26 + 9 * (max(levels, default=0) + 1)
    half = (k + 1) // 2
    return {
        "width": round(2 * margin + AXIS),
        "height": first + STEP * max(half, 1),
        "axis": {"x1": margin, "x2": margin + AXIS, "y": top},
        "ticks": [{"x": round(margin + (t - low) * unit, 1), "text": t} for t in _ticks(low, high)],
        "cd": {"x1": margin, "x2": round(margin + min(section["cd"], high - low) * unit, 1)},
        "bars": [
            {"x1": x[i] - 5, "x2": x[j] + 5, "y": top + 16 + 9 * level}
            for (i, j), level in zip(section["groups"], levels, strict=True)
        ],
        "names": [
            {
                "x": x[i],
                "y": first + STEP * (i if i < half else k - 1 - i),
                "end": margin - 8 if i < half else margin + AXIS + 8,
                "left": i < half,
                "name": shorten(names[i], LONGEST),
                "rank": f"{ranks[i]:.2f}",
            }
            for i in range(k)
        ],
    }


def _ticks(low: int, high: int) -> list[int]:
    step = max(1, (high - low) // 10)
    return list(range(low, high + 1, step))


def _levels(groups: list[list[int]]) -> list[int]:
    """Return the level of each bar: the first one where it does not touch an earlier bar."""
    ends: list[int] = []
    levels = []
    for first, last in groups:
        level = next((k for k, end in enumerate(ends) if end < first), len(ends))
        ends[level : level + 1] = [last]
        levels.append(level)
    return levels
