"""The layout of a chart of curves, in pixels."""

from typing import Any

import numpy as np

from eigenlabel.report.json_values import shorten

WIDTH, HEIGHT = 520, 260  # size of the drawing area
LEFT, TOP = 64, 14
COLOURS = 8
ROW = 20  # height of a row of the legend
LONGEST = 30  # characters of a name


def place(section: dict[str, Any]) -> dict[str, Any]:
    """Return the size, ticks and lines of the chart. The values of x are at equal distances."""
    values = [v for curve in section["series"] for v in curve if v is not None]
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if low == high:
        low, high = low - 0.5, high + 0.5
    step = WIDTH / max(1, len(section["values"]) - 1)

    def point(k: int, value: float) -> tuple[float, float]:
        down = HEIGHT * (high - value) / (high - low)
        return round(LEFT + k * step, 1), round(TOP + down, 1)

    lines = []
    for j, (name, curve) in enumerate(zip(section["names"], section["series"], strict=True)):
        points = [point(k, v) for k, v in enumerate(curve) if v is not None]
        lines.append(
            {
                "name": shorten(name, LONGEST),
                "colour": j % COLOURS,
                "dashed": j >= COLOURS,
                "path": "M" + "L".join(f"{x} {y}" for x, y in points),
                "dots": [{"x": x, "y": y} for x, y in points],
                "legend": TOP + 8 + ROW * j,
            }
        )
    return {
        "width": LEFT + WIDTH + 190,
        "height": TOP + max(HEIGHT + 52, ROW * len(lines) + 10),
        "left": LEFT,
        "right": LEFT + WIDTH,
        "bottom": TOP + HEIGHT,
        "across": [
            {"x": point(k, low)[0], "text": text} for k, text in enumerate(section["values"])
        ],
        "up": [
            {"y": point(0, v)[1], "text": f"{v:.3g}"} for v in np.linspace(low, high, 5).tolist()
        ],
        "lines": lines,
    }
