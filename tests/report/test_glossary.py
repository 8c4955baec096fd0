"""The words and metrics that a page explains."""

import pytest

from eigenlabel import report
from eigenlabel.metrics import METRICS
from eigenlabel.report.glossary import guide, meaning
from pages import NASTY, Reader


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_is_explained_in_a_sentence(metric):
    assert meaning(metric).endswith(".")
    assert "{" not in meaning(metric)


@pytest.mark.parametrize("word", ["", "_", "precision_at_", "precision_at_x", *NASTY])
def test_other_words_have_no_explanation(word):
    assert meaning(word) == ""


def test_a_page_explains_the_words_that_it_uses_and_no_others(page):
    words = dict(guide(page["sections"]))
    assert {"label", "eigenlabel", "F1", "threshold", "f1_macro"} <= set(words)
    assert guide([report.text("Why", "Because.")]) == []
    table = report.table("Results", ["metric", "value"], [["ndcg_at_3", 0.5], [NASTY[0], 1.0]])
    assert [word for word, _ in guide([table])] == ["ndcg_at_3"]


def test_the_guide_is_on_the_page_and_in_its_menu(page):
    html = report.render(page)
    assert "How to read this page" in "".join(Reader(html).text)
    assert ("a", {"href": "#guide"}) in Reader(html).tags
    assert 'href="#guide"' not in report.render(report.page("Empty", []))
