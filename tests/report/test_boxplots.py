"""Box plots of the splits of a comparison."""

import numpy as np
import pytest

from eigenlabel import report
from eigenlabel.report.boxplots import LEFT, WIDTH, place
from pages import NASTY, Reader


def test_quartiles_are_those_of_numpy_and_gaps_are_left_out():
    values = [0.3, None, 0.1, np.nan, 0.25, 0.7]
    shown = report.boxes("Splits", {"f1": {"a": values, "never": [None]}, "none": {"a": []}})
    (panel,) = shown["panels"]
    (group,) = panel["groups"]
    expected = np.quantile([0.3, 0.1, 0.25, 0.7], [0.25, 0.5, 0.75])
    np.testing.assert_allclose(group["quartiles"], expected, rtol=1e-3)  # four digits


@pytest.mark.parametrize("values", [[0.5], [0.0, 0.0], [-3.0, 1e6], [1e-9, 2e-9]])
def test_everything_is_inside_the_drawing_area(values):
    (plot,) = place(report.boxes("Splits", {"f1": {"a": values}}))
    (row,) = plot["rows"]
    for x in [*row["dots"], row["first"], row["median"], *(t["x"] for t in plot["ticks"])]:
        assert LEFT <= x <= LEFT + WIDTH
    assert row["first"] <= row["median"] <= row["first"] + row["width"] + 0.2  # rounding to 0.1


def test_hostile_names_are_only_text():
    section = report.boxes(NASTY[0], {NASTY[1]: {name: [0.1, 0.2] for name in NASTY}})
    read = Reader(report.render(report.page("P", [section])))
    assert not any("onmouseover" in attributes for _, attributes in read.tags)
    assert sum(tag == "script" for tag, _ in read.tags) == 2


def test_a_folded_section_is_behind_its_summary():
    section = {**report.text(NASTY[0], "Inside."), "folded": True}
    html = report.render(report.page("P", [section]))
    assert '<summary><h2 id="h0">&lt;script&gt;' in html
    assert 'href="#s0"' not in html  # the menu has what is open
