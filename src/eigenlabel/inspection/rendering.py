"""Names, numbers and sums as text and as HTML."""

import math
from collections.abc import Sequence
from html import escape
from typing import Any

WIDEST = 40  # characters of a name
ROUNDING = 1e-12  # of the largest row of a sum: smaller rows are rounding
BLUE, ORANGE = "0 114 178", "213 94 0"

Rows = list[tuple[str, float]]  # the rows of a sum; the last one is the total


def signed(value: float) -> str:
    """Return a number with its sign and three digits after the point, or three digits if small."""
    if value == 0 or not math.isfinite(value) or 1e-3 <= abs(value) < 1e4:
        return f"{value:+.3f}"
    return f"{value:+.2e}"


def shorten(name: str) -> str:
    """Return the first characters of a name that is too long for a line, without line breaks."""
    flat = " ".join(name.split())
    return flat if len(flat) <= WIDEST else flat[: WIDEST - 1] + "…"


def pairs_text(pairs: Sequence[tuple[Any, float]]) -> str:
    """Return names and numbers in one line."""
    return ", ".join(f"{shorten(str(name))} {signed(value)}" for name, value in pairs)


def without_rounding(rows: Rows) -> Rows:
    """Return the rows of a sum with zero in place of rows that are rounding of others."""
    largest = max((abs(value) for _, value in rows if math.isfinite(value)), default=0.0)
    return [(name, 0.0 if abs(value) <= ROUNDING * largest else value) for name, value in rows]


def sum_lines(rows: Rows) -> list[str]:
    """Return a sum as lines of text."""
    cells = [(shorten(name), signed(value)) for name, value in rows]
    width = max(len(name) for name, _ in cells)
    return [f"{name:{width}}  {value:>9}" for name, value in cells]


def sum_html(rows: Rows) -> str:
    """Return a sum as an escaped table, with bars behind the numbers."""
    largest = max((abs(v) for _, v in rows[:-1] if math.isfinite(v)), default=0.0) or 1.0
    cells = []
    for name, value in rows[:-1]:
        share = min(1.0, abs(value) / largest) if math.isfinite(value) else 0.0
        colour = BLUE if value > 0 else ORANGE
        style = f"background:rgb({colour} / {0.5 * share:.3f})"
        cells.append(f'<tr><td>{escape(name)}</td><td style="{style}">{signed(value)}</td></tr>')
    name, value = rows[-1]
    cells.append(f"<tr><th>{escape(name)}</th><th>{signed(value)}</th></tr>")
    return f"<table>{''.join(cells)}</table>"
