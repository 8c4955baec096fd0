"""What is known about a label, as text, HTML, dictionary and frame."""

import json

import numpy as np
import pytest

from eigenlabel.inspection import Confusion, LabelExplanation
from pages import NASTY


@pytest.fixture
def found():
    return LabelExplanation(
        NASTY[0],
        "feature",
        [(NASTY[1], 1.5)],
        [("cold", -0.5)],
        [("warm", 0.9)],
        [("hot", -0.2)],
        [Confusion("mild", 3, 1)],
        intercept=-0.25,
        threshold=np.nan,
        notes=("A note.",),
    )


def test_text(found):
    assert str(found).splitlines()[1:] == [
        "  features for it: </script><b> +1.500",
        "  features against it: cold -0.500",
        "  most similar labels: warm +0.900",
        "  shares most with: hot -0.200",
        "  confused with: mild (predicted instead of it 3, the reverse 1)",
        "  intercept: -0.250",
        "  threshold: +nan",
        "  note: A note.",
    ]
    empty = LabelExplanation("a", "feature", [], [], [], [], [])
    assert str(empty) == "label a\n  confused with: none"


def test_html_is_escaped(found):
    html = found._repr_html_()
    assert "<script" not in html
    assert "</script>" not in html
    assert "&lt;/script&gt;&lt;b&gt; +1.500" in html


def test_dictionary_is_json(found):
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert content["speaks_for"] == [{"name": NASTY[1], "value": 1.5}]
    assert content["confused"] == [{"label": "mild", "missed": 3, "instead": 1}]
    assert content["threshold"] is None
    assert LabelExplanation("a", "feature", [], [], [], []).to_dict()["confused"] is None


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frame(library, found):
    pytest.importorskip(library)
    frame = found.to_frame(library)
    assert list(frame["role"]) == ["for", "against", "similar", "lender", "missed", "instead"]
    assert list(frame["value"]) == [1.5, -0.5, 0.9, -0.2, 3.0, 1.0]
