"""Words are marked where they stand, and their marks add up."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline

from eigenlabel.inspection import MarkedText, Span, explain
from eigenlabel.inspection.words import TextColumn, Tokeniser, as_texts, tokeniser_of

WORD = r"(?u)\b\w\w+\b"


def test_words_keep_their_places_and_lose_their_case():
    spans = Tokeniser(WORD).spans("Red car, RED Car; blue.", {"red": 1.0, "blue": -0.5, "far": 9.0})
    assert spans == [Span(0, 3, 0.5), Span(9, 12, 0.5), Span(18, 22, -0.5)]


def test_pairs_of_words_share_their_contribution():
    tokens = Tokeniser(WORD, lengths=range(1, 3), stop_words=frozenset({"the"}))
    spans = tokens.spans("eat the apple", {"eat apple": 1.0, "apple": 0.25})
    assert spans == [Span(0, 3, 0.5), Span(8, 13, 0.75)]


@pytest.mark.parametrize(
    "vectorizer",
    [
        CountVectorizer(),
        TfidfVectorizer(ngram_range=(1, 3), sublinear_tf=True),
        CountVectorizer(strip_accents="unicode", stop_words="english"),
        CountVectorizer(token_pattern=r"(\w+)-?"),
        CountVectorizer(lowercase=False),
    ],
)
def test_marks_add_up_to_the_contributions_of_the_words(vectorizer):
    texts = ["Crème brûlée and the apple-tart", "the Apple apple", "A car and a café", "car, car!"]
    labels = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    model = make_pipeline(vectorizer, RidgeClassifier()).fit(texts, labels)
    found = explain(model, texts, n_top=None)
    for i in range(4):
        marked = found.mark(i, 1)[0]
        total = sum(span.contribution for span in marked.spans)
        assert total == pytest.approx(found.contributions[i, 1].sum())
        assert "".join(piece for piece, _ in marked.pieces()) == texts[i]


def test_vectorizers_that_do_not_count_words_by_a_pattern_have_no_tokeniser():
    assert tokeniser_of(CountVectorizer(analyzer="char")) is None
    assert tokeniser_of(CountVectorizer(analyzer=str.split)) is None
    assert tokeniser_of(CountVectorizer(tokenizer=str.split, token_pattern=None)) is None
    assert tokeniser_of(object()) is None


def test_html_is_escaped():
    text = '<b onclick="x()">apple & pear</b>'
    start = text.index("apple")
    marked = MarkedText(
        "title", text, (Span(start, start + 5, 0.5), Span(start + 8, start + 12, -1))
    )
    html = marked.to_html()
    assert "&lt;b onclick=&quot;x()&quot;&gt;" in html
    assert html.count("<mark ") == 2
    assert "<b" not in html
    assert 'title="+0.5">apple</mark> &amp; <mark' in html
    assert MarkedText("", "plain", ()).to_html() == "plain"
    token = MarkedText("", "a <b>", (Span(2, 5, 0.5),)).to_html()  # a tokeniser may keep brackets
    assert token.endswith(">&lt;b&gt;</mark>")


def test_a_span_that_contributes_nothing_is_not_marked():
    assert MarkedText("", "apple", (Span(0, 5, 0.0),)).to_html() == "apple"


def test_columns_of_texts_select_their_own_features():
    column = TextColumn("title", ["red car"], Tokeniser(WORD), prefix="title=")
    assert column.mark(0, {"title=red": 1.0, "red": 5.0}).spans == (Span(0, 3, 1.0),)
    listed = TextColumn("title", ["red car"], Tokeniser(WORD), words={"red (word)": "red"})
    assert listed.mark(0, {"red (word)": 1.0, "red": 5.0}).spans == (Span(0, 3, 1.0),)


def test_texts_are_columns_of_strings():
    assert as_texts(["a", "b"]) == ["a", "b"]
    assert as_texts("ab") is None
    assert as_texts([1, 2]) is None
    assert as_texts(np.zeros((2, 2))) is None
    assert as_texts(iter(["a"])) is None
