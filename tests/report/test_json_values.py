"""Numbers and texts as a page stores them."""

import numpy as np
import pytest

from eigenlabel import report
from eigenlabel.report import model_sections

FSI, PDI = "\u2068", "\u2069"


def test_numbers_and_characters_that_json_lacks_are_replaced():
    rows = report.table("t", ["a"], [[np.nan], [np.inf], [-np.inf], [np.True_], [np.int8(3)]])
    assert rows["rows"] == [[None], ["inf"], ["-inf"], [True], [3]]
    assert report.text("a\x00b\ud800", "c\rd")["title"] == "a\ufffdb\ufffd"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("plain", "plain"),
        ("\u202egnp.exe", f"{FSI}\u202egnp.exe{PDI}"),
        ("שלום", f"{FSI}שלום{PDI}"),
        (f"a{PDI}\u202eb", f"{FSI}a\u202eb{PDI}"),  # it would end the isolation
        ("a\u2067b", f"{FSI}a\u2067b{PDI}{PDI}"),  # it would continue after it
        (f"{FSI}a{PDI}b\u202e", f"{FSI}{FSI}a{PDI}b\u202e{PDI}"),
    ],
)
def test_text_that_changes_the_direction_is_isolated(name, shown):
    assert report.text("t", name)["paragraphs"] == [shown]
    assert report.table(name, [name], [[name]])["rows"] == [[shown]]
    assert report.page(name, [])["title"] == shown
    assert report.per_label([[1]], [[1]], [name])["rows"][0][0] == shown


def test_a_shortened_name_stays_isolated():
    name = "\u202e" + "long" * 20
    found = report.critical_difference([name, "b"], [1.0, 2.0], 0.5)
    html = report.render(report.page("t", [found]))
    assert f">{FSI}\u202e" in html
    assert f"…{PDI} <tspan" in html
    facets = model_sections._facets([f"{name}::a", f"{name}::b"])[0]
    assert facets == [f"{FSI}{name}{PDI}"]
