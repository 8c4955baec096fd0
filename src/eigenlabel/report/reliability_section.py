"""The section that compares probabilities with what is observed, and its layout in pixels."""

from typing import Any

import numpy as np

from eigenlabel.metrics import calibration_error, reliability_bins
from eigenlabel.report.json_values import clean, plain, significant
from eigenlabel.report.sections import Section

SIDE = 320  # of the square
LEFT, TOP = 60, 12
SMALLEST, LARGEST = 4.0, 13.0  # radius of a dot


def reliability(
    Y: Any, probabilities: Any, *, n_bins: int = 10, title: str = "Reliability of the probabilities"
) -> Section:
    """Return how often labels are true, for probabilities of each size.

    The cost is that of :func:`eigenlabel.metrics.reliability_bins`.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        The true labels, NaN where a label is not observed.
    probabilities : array-like or sparse matrix of shape (n_samples, n_labels)
        The probabilities of the labels, of samples that were not used in training.
    n_bins : int, default=10
        The number of intervals of probabilities.
    title : str, default="Reliability of the probabilities"
        The heading of the section.

    Returns
    -------
    section : dict
        The section, for :func:`page`.

    Examples
    --------
    >>> from eigenlabel import report
    >>> shown = report.reliability([[1, 0], [0, 1]], [[0.9, 0.2], [0.2, 0.6]])
    >>> shown["bins"]  # mean probability, observed share and number of cases
    [[0.2, 0.0, 2], [0.6, 1.0, 1], [0.9, 1.0, 1]]
    """
    bins = reliability_bins(Y, probabilities, n_bins=n_bins)
    rows = zip(
        significant(bins.predicted), significant(bins.observed), plain(bins.count), strict=True
    )
    return {
        "kind": "reliability",
        "title": clean(title),
        "bins": [list(row) for row in rows],
        "error": significant(calibration_error(Y, probabilities, n_bins=n_bins)),
    }


def place(section: dict[str, Any]) -> dict[str, Any]:
    """Return the size, ticks and dots of the diagram; a larger dot is more cases."""
    largest = np.log1p(max((count for *_, count in section["bins"]), default=1))
    dots = [
        {
            "x": round(LEFT + SIDE * predicted, 1),
            "y": round(TOP + SIDE * (1 - observed), 1),
            "r": round(SMALLEST + (LARGEST - SMALLEST) * float(np.log1p(count) / largest), 1),
            "text": f"mean probability {predicted:.3f}, observed {observed:.3f}, {count:,} cases",
        }
        for predicted, observed, count in section["bins"]
    ]
    shares = [0.0, 0.25, 0.5, 0.75, 1.0]
    return {
        "width": LEFT + SIDE + 20,
        "height": TOP + SIDE + 48,
        "left": LEFT,
        "right": LEFT + SIDE,
        "top": TOP,
        "bottom": TOP + SIDE,
        "across": [{"x": LEFT + SIDE * v, "text": f"{v:g}"} for v in shares],
        "up": [{"y": TOP + SIDE * (1 - v), "text": f"{v:g}"} for v in shares],
        "path": "M" + "L".join(f"{dot['x']} {dot['y']}" for dot in dots) if dots else "",
        "dots": dots,
    }
