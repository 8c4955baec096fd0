"""The layout of charts of curves."""

import re

import pytest

from eigenlabel import report
from pages import Reader


def test_curves_rise_with_their_numbers():
    series = {"up": [0.0, 0.5, 1.0], "gap": [1.0, None, 0.25], "one": [None, 0.75, float("nan")]}
    shown = report.curves("t", ["1%", "5%", "25%"], series, x="share", y="loss")
    html = report.render(report.page("t", [shown]))
    paths = re.findall(r'class="curve" d="M([^"h]+)"', html)
    up, gap = ([tuple(map(float, p.split())) for p in path.split("L")] for path in paths)
    assert [x for x, _ in up] == sorted({x for x, _ in up})
    assert up[0][1] > up[1][1] > up[2][1]  # downwards on the screen
    assert up[1][1] == (up[0][1] + up[2][1]) / 2
    assert gap == [
        (up[0][0], up[2][1]),
        (up[2][0], pytest.approx(0.75 * up[0][1] + 0.25 * up[2][1])),
    ]
    tags = Reader(html).tags
    assert sum(tag == "circle" and at["r"] == "3" for tag, at in tags) == 3 + 2 + 1
    assert "search" not in {at.get("id") for _, at in tags}
    flat = report.curves("t", [1], {"a": [2.0]}, x="x", y="y")
    assert "nan" not in report.render(report.page("t", [flat]))
