"""The layout of critical-difference diagrams."""

import re

from eigenlabel import report


def test_the_diagram_joins_methods_that_do_not_differ():
    names = ["one", "two", "three", "four with a long name"]
    shown = report.critical_difference(names, [1.0, 1.8, 2.4, 3.2], 1.5)
    html = report.render(report.page("t", [shown]))
    assert html.count('class="join"') == len(shown["groups"]) == 2
    assert all(name in html for name in names)
    bars = re.findall(r'class="join" d="M([\d.]+) ([\d.]+)H([\d.]+)"', html)
    (a, y1, b), (c, y2, d) = (tuple(map(float, bar)) for bar in bars)
    assert a < c < b < d  # they overlap,
    assert y1 != y2  # so they are on different levels
    width = float(re.search(r'class="diagram" viewBox="0 0 (\d+)', html)[1])
    assert 0 < a < d < width
