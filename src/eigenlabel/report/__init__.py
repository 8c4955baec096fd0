"""A page that shows a model and its results, as a single HTML file without external resources.

Each function such as :func:`table` returns a section as a plain dictionary, and :func:`page`
combines sections. :func:`render` returns the HTML of a page, and :func:`write` writes it to a file.
"""

from eigenlabel.report.boxplots import boxes
from eigenlabel.report.explanations import explanation
from eigenlabel.report.label_details_section import label_details
from eigenlabel.report.leaderboard_section import leaderboard
from eigenlabel.report.model_sections import label_map, per_label, surface, threshold_curves
from eigenlabel.report.reliability_section import reliability
from eigenlabel.report.render import render, write
from eigenlabel.report.sections import (
    critical_difference,
    curves,
    page,
    resources,
    table,
    text,
)

__all__ = [
    "boxes",
    "critical_difference",
    "curves",
    "explanation",
    "label_details",
    "label_map",
    "leaderboard",
    "page",
    "per_label",
    "reliability",
    "render",
    "resources",
    "surface",
    "table",
    "text",
    "threshold_curves",
    "write",
]
