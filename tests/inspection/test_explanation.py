"""Explanations as text, HTML, dictionaries and frames: complete, escaped, and adding up."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier

import eigenlabel as el
from eigenlabel.inspection import explain
from eigenlabel.inspection.explanation import find, label_rows, number, origin, sum_rows
from explained import make_data, total
from pages import NASTY, Reader


@pytest.fixture(scope="module")
def data():
    return make_data(np.random.default_rng(3))


@pytest.fixture(scope="module")
def found(data):
    X, Y = data
    model = el.SharedSubspaceClassifierCV([0.1], [0.1], 2).fit(X, Y)
    names = {"feature_names": NASTY, "label_names": NASTY[:4], "sample_names": NASTY[4:7]}
    return explain(model, X[:3], n_top=3, **names)


def test_fewer_terms_move_to_the_remainder(data):
    X, Y = data
    model = el.SharedSubspaceClassifier(n_components=2).fit(X, Y)
    every, few = explain(model, X[:3], n_top=None), explain(model, X[:3], n_top=2)
    short = every.top(2)
    for name in ("names", "values", "contributions", "n_others", "shared_contributions"):
        np.testing.assert_array_equal(getattr(short, name), getattr(few, name))
    np.testing.assert_allclose(short.remainder, few.remainder, atol=1e-14)
    np.testing.assert_array_equal(short.borrowed.labels, few.borrowed.labels)
    np.testing.assert_allclose(short.borrowed.remainder, few.borrowed.remainder, atol=1e-14)
    np.testing.assert_allclose(total(short), total(every))
    np.testing.assert_allclose(short.own, every.own, atol=1e-14)
    plain = explain(RidgeClassifier().fit(X, Y), X[:3]).top(1)
    assert plain.contributions.shape == (3, 4, 1)
    with pytest.raises(ValueError, match="n_top"):
        every.top(0)


def test_dictionaries_are_json_and_add_up(found):
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert content["scale"] == "score"
    for i, sample in enumerate(content["samples"]):
        assert sample["sample"] == NASTY[4 + i]
        for j, cell in enumerate(sample["labels"]):
            parts = [term["contribution"] for term in cell["contributions"]]
            score = cell["intercept"] + sum(parts) + cell["remainder"]
            assert score == pytest.approx(found.score[i, j])
            assert cell["intercept"] + cell["own"] + cell["shared"] == pytest.approx(score)
            lent = sum(one["contribution"] for one in cell["borrowed"])
            lent += cell["borrowed_from_itself"] + cell["borrowed_remainder"]
            assert lent == pytest.approx(cell["shared"])
            assert cell["label"] == NASTY[j]
            assert cell["predicted"] == found.predicted[i, j]


def test_numbers_that_are_not_finite_are_none_in_json():
    assert [number(v) for v in (1.5, np.nan, np.inf, np.float32(2))] == [1.5, None, None, 2.0]


@pytest.mark.parametrize("library", ["pandas", "polars", None])
def test_frames_add_up(library, found):
    frame = found.to_frame(library)
    assert type(frame).__module__.startswith(library or "pandas")
    rows = frame.to_dict("list") if library != "polars" else frame.to_dict(as_series=False)
    score, shared = {}, {}
    for sample, label, part, own in zip(
        rows["sample"], rows["label"], rows["contribution"], rows["shared"], strict=True
    ):
        score[sample, label] = score.get((sample, label), 0.0) + part
        shared[sample, label] = shared.get((sample, label), 0.0) + own
    for i, sample in enumerate(found.sample_names):
        for j, label in enumerate(found.label_names):
            assert score[sample, label] == pytest.approx(found.score[i, j])
            assert shared[sample, label] == pytest.approx(found.shared[i, j])
    assert {"(intercept)", "(others)"} <= set(rows["name"])


def test_frames_of_models_that_share_nothing_have_no_such_column(data):
    X, Y = data
    frame = explain(RidgeClassifier().fit(X, Y), X[:2]).to_frame()
    assert list(frame.columns) == ["sample", "label", "name", "value", "contribution"]


def test_html_is_escaped(found):
    html = found._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert html.count("<table>") == html.count("</table>") > 0


def test_every_name_and_note_in_html_is_escaped(data):
    X, Y = data
    model = el.SharedSubspaceClassifierCV([0.1], [0.1], 2).fit(X, Y)
    found = explain(
        model,
        X[:1],
        feature_names=[f"<i{k}>" for k in range(X.shape[1])],
        label_names=[f"<b{k}>" for k in range(4)],
        sample_names=["<u>"],
    )
    html = replace(found, notes=("<s>",))._repr_html_()
    reader = Reader(html)
    tags = {"div", "h4", "p", "b", "table", "tr", "td", "th", "small"}
    assert {tag for tag, _ in reader.tags} <= tags
    for name in ("<i1>", "<b1>", "<u>", "<s>"):
        assert name in "".join(reader.text)


def test_text_shows_predicted_labels_and_the_sum(data):
    X, Y = data
    model = el.SharedSubspaceClassifierCV([0.1], [0.1], 2).fit(X, Y)
    found = explain(model, X, n_top=2, label_names=["red", "green", "blue", "grey"])
    text = str(found)
    i = 0
    for j in np.flatnonzero(found.predicted[i]):
        assert f"{found.label_names[j]}: score {found.score[i, j]:.3f}, threshold" in text
    assert "= score" in text
    assert "through the shared subspace" in text
    assert "(50 other samples not shown)" in text
    assert repr(found) == "Explanation(60 samples, 4 labels; contributions by feature)"
    few = explain(model, X[:1], labels=0, n_top=1)
    assert "not shown" not in str(few)


def test_the_best_labels_are_shown_if_none_is_predicted(data):
    X, Y = data
    model = RidgeClassifier().fit(X, np.zeros_like(Y) + (np.arange(60) < 2)[:, None])
    found = explain(model, X[5:6])
    assert not found.predicted.any()
    assert str(found).count("not predicted") == 3
    assert "(1 other label not shown)" in str(found)


def test_rows_of_both_sums_add_up(found):
    for i in range(3):
        for j in range(4):
            for rows in (sum_rows(found, i, j), label_rows(found, i, j)):
                assert sum(v for _, v in rows[:-1]) == pytest.approx(rows[-1][1])
                assert rows[-1] == ("= score", pytest.approx(found.score[i, j]))


def test_models_that_share_nothing_have_no_rows_by_label(data):
    X, Y = data
    plain = explain(RidgeClassifier().fit(X, Y), X[:2])
    assert label_rows(plain, 0, 0) == []
    assert origin(plain, 0, 0) == ""
    assert plain.own is None
    assert list(plain.lenders(0, 0)) == []
    aso = explain(el.ASOClassifier(1.0, 0.1, 2, loss="squared").fit(X, Y), X[:2])
    assert [name for name, _ in label_rows(aso, 0, 0)][1:3] == ["own", "shared"]
    assert origin(aso, 0, 0).startswith("own ")


def test_samples_and_labels_are_found_by_name_or_position(found):
    assert found.find_sample(NASTY[5]) == 1
    assert found.find_label(-1) == 3
    with pytest.raises(ValueError, match="No sample is called 'me'"):
        found.find_sample("me")
    with pytest.raises(ValueError, match="There are 3 samples"):
        found.terms(3)
    with pytest.raises(ValueError, match=r"there are: 'a', 'b', 'c', 'd', 'e', \.\.\."):
        find("z", np.array(list("abcdef"), dtype=object), "label")


def test_samples_that_are_no_texts_cannot_be_marked(found):
    with pytest.raises(ValueError, match="not texts whose words are features"):
        found.mark()


def test_terms_of_the_same_name_are_added(data):
    X, Y = data
    model = RidgeClassifier().fit(X, Y)
    names = ["a", "a", *"bcdefg"]
    terms = explain(model, X[:1], n_top=None, feature_names=names).terms(0, 0)
    assert terms["a"] == pytest.approx(model.coef_[0, :2] @ X[0, :2])
