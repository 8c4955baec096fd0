"""Numbers, names and sums as text and HTML."""

import math

import pytest

from eigenlabel.inspection.rendering import (
    pairs_text,
    shorten,
    signed,
    sum_html,
    sum_lines,
    without_rounding,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.5, "+0.500"), (-1.25, "-1.250"), (0.0, "+0.000"), (2e-5, "+2.00e-05"), (1e5, "+1.00e+05")],
)
def test_numbers_have_a_sign(value, text):
    assert signed(value) == text
    assert signed(-math.inf) == "-inf"


def test_long_names_are_cut_and_stay_on_one_line():
    assert shorten("a\nb") == "a b"
    assert len(shorten("x" * 100)) == 40
    assert pairs_text([("a", 1.0), ("b", -2.0)]) == "a +1.000, b -2.000"


def test_rounding_is_not_shown():
    rows = [("a", 1.0), ("b", 3e-17), ("c", -math.inf), ("= score", 1.0)]
    assert without_rounding(rows)[1:3] == [("b", 0.0), ("c", -math.inf)]
    small = [("a", 1e-20), ("= score", 1e-20)]
    assert without_rounding(small) == small


def test_sums_are_aligned_and_escaped():
    rows = [("intercept", -0.5), ("<i>", 1.5), ("c", -math.inf), ("= score", 1.0)]
    assert sum_lines(rows)[1] == "<i>           +1.500"
    html = sum_html(rows)
    assert "&lt;i&gt;" in html
    assert "<th>= score</th><th>+1.000</th>" in html
    assert "213 94 0 / 0.167" in html
