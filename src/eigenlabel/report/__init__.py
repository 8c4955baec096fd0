"""A page that shows a model and its results: one HTML file, which needs nothing else.

First collect: each function gives a section as a plain dictionary, :func:`page` puts them
together. Then :func:`render` turns the page into HTML, or :func:`write` into a file.
"""

from eigenlabel.report.collect import (
    critical_difference,
    curves,
    label_map,
    page,
    per_label,
    resources,
    surface,
    table,
    text,
    threshold_curves,
)
from eigenlabel.report.render import render, write

__all__ = [
    "critical_difference",
    "curves",
    "label_map",
    "page",
    "per_label",
    "render",
    "resources",
    "surface",
    "table",
    "text",
    "threshold_curves",
    "write",
]
