"""The section of an explanation: marked words, both sums, everything escaped and bounded."""

import json

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline

import eigenlabel as el
from eigenlabel import report
from eigenlabel.inspection import explain
from eigenlabel.report.explanations import LONGEST_TEXT
from explained import make_data
from pages import NASTY, Reader

TEXTS = ["Red <script>alert(1)</script> apple", "green apple", "red car", "a fast car"]
Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])


@pytest.fixture(scope="module")
def found():
    model = make_pipeline(TfidfVectorizer(), el.SharedSubspaceClassifier(n_components=1))
    return explain(model.fit(TEXTS, Y), TEXTS, n_top=None, label_names=["<fruit>", "vehicle"])


def test_both_sums_have_the_score_as_their_last_row(found):
    section = report.explanation(found, 0, 0)
    assert [sum_["term"] for sum_ in section["sums"]] == ["feature", "label"]
    for sum_ in section["sums"]:
        *rows, last = sum_["rows"]
        assert last["total"]
        assert last["name"] == "= score"
        values = [float(row["text"].replace("\u2212", "-")) for row in rows]
        # Three decimals of each row are shown.
        assert sum(values) == pytest.approx(found.score[0, 0], abs=5e-4 * len(values))
        assert max(row["share"] for row in rows) == 1.0
    assert json.loads(json.dumps(section)) == section


def test_words_are_marked_and_escaped(found):
    section = report.explanation(found, 0, 0)
    pieces = section["texts"][0]["pieces"]
    assert "".join(piece["text"] for piece in pieces) == TEXTS[0]
    marked = {piece["text"]: piece["for"] for piece in pieces if piece["contribution"]}
    terms = found.terms(0, 0)
    assert marked == {w: terms[w.lower()] > 0 for w in ("Red", "script", "alert", "apple")}
    html = report.render(report.page("Why", [section]))
    assert "<script>alert" not in html
    reader = Reader(html)
    assert sum(tag == "mark" for tag, _ in reader.tags) == 5 + 2  # script twice; the legend
    assert "<fruit>" in reader.text


def test_the_number_of_terms_is_bounded(found):
    section = report.explanation(found, 3, "vehicle", n_top=1)
    assert [row["name"] for row in section["sums"][0]["rows"]][2] == "1 other"
    assert section["title"] == "vehicle"
    with pytest.raises(ValueError, match="n_top"):
        report.explanation(found, n_top=0)


def test_models_that_share_nothing_have_one_sum(rng):
    X, labels = make_data(rng)
    found = explain(RidgeClassifier().fit(X, labels), X[:1], feature_names=NASTY)
    section = report.explanation(found)
    assert len(section["sums"]) == 1
    assert section["texts"] == []
    html = report.render(report.page("Why", [section]))
    assert "<script>alert" not in html
    assert "mark class" not in html


def test_long_texts_and_control_characters():
    texts = ["apple\x00 " * 5000, "car"]
    model = make_pipeline(TfidfVectorizer(), RidgeClassifier()).fit(texts, np.eye(2, dtype=int))
    section = report.explanation(explain(model, texts, n_top=None))
    shown = "".join(piece["text"] for piece in section["texts"][0]["pieces"])
    assert len(shown) == LONGEST_TEXT + 1
    assert shown.startswith("apple\ufffd apple")
    assert shown.endswith("…")


def test_log_odds_of_a_sample_without_neighbours_may_be_infinite():
    views = {"left": np.arange(8.0).reshape(4, 2), "right": np.ones((4, 1))}
    labels = np.array([[0, 1], [0, 1], [0, 0], [0, 0]])
    model = el.TagProp(2).fit(views, labels)
    nobody = {name: np.full((1, table.shape[1]), np.nan) for name, table in views.items()}
    found = explain(model, nobody)
    assert found.score[0, 0] == -np.inf
    html = report.render(report.page("Why", [report.explanation(found, 0, 0)]))
    assert "\u2212inf" in html
    assert "log-odds" in html
