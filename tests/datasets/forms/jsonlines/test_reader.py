"""JSON lines are read as tables; broken lines raise errors with their numbers."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from eigenlabel.datasets import (
    DataError,
    find_form,
    load,
    load_jsonlines,
)
from forms import GOOD, lines
from noise import damage, noisy, read_or_refuse

JSON_SEEDS = [
    lines(GOOD, {"x": None, "labels": ["b"], "features": {"u": 1.5}}).encode(),
    lines({"text": "a red car", "tags": "a|b", "k": "u"}, {"text": "x", "tags": "a"}).encode(),
]


@noisy
@given(data=st.data())
def test_noise_in_json_lines(data, tmp_path):
    path = tmp_path / "it.jsonl"
    path.write_bytes(damage(data.draw, data.draw(st.sampled_from(JSON_SEEDS))))
    read_or_refuse(load_jsonlines, path)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@noisy
@given(
    objects=st.lists(
        st.dictionaries(
            st.sampled_from(["text", "labels", "features", "x", "y", ""]), json_values, max_size=4
        ),
        min_size=1,
        max_size=4,
    )
)
def test_any_objects_as_json_lines(objects, tmp_path):
    path = tmp_path / "it.jsonl"
    path.write_text("\n".join(map(json.dumps, objects)))
    read_or_refuse(load_jsonlines, path)


def test_json_lines_of_everything(write):
    path = write(
        lines(
            {"id": "x1", "text": "Red car", "year": 2001, "new": True, "labels": ["a", "b"]},
            "",
            {"id": "x2", "text": None, "kind": "u", "labels": []},
            {"id": "x3", "text": "car", "year": 1.5, "kind": "v", "labels": ["b", "b"]},
        ),
        "it.jsonl",
    )
    assert find_form(path) == "jsonl"
    data = load(path, samples="id")
    assert data.feature_names.tolist() == ["year", "new", "kind", "car", "red"]
    nan = np.nan
    np.testing.assert_array_equal(
        data.X.toarray(), [[2001, 1, nan, 1, 1], [nan, nan, 0, 0, 0], [1.5, nan, 1, 1, 0]]
    )
    assert data.Y.toarray().tolist() == [[1, 1], [0, 0], [0, 1]]
    assert data.sample_names.tolist() == ["x1", "x2", "x3"]


def test_sparse_features_of_json_lines(write):
    path = write(
        lines(
            {"features": {"b": 1, "a": 0.5}, "tags": ["x"]},
            {"features": {"c": None, "d": 0}, "tags": ["y"]},
            {"tags": ["x"]},
        ),
        "it.jsonl",
    )
    data = load(path)
    assert sp.issparse(data.X)
    assert data.feature_names.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(
        data.X.toarray(), [[0.5, 1, 0, 0], [0, 0, np.nan, 0], [0, 0, 0, 0]]
    )
    new = load(write(lines({"features": {"b": 2, "z": 9}}), "new.jsonl"), like=data)
    assert new.X.toarray().tolist() == [[0, 2, 0, 0]]
    assert new.notes == ("no labels in the file",)
    table = load(write("a,b,c,d,tags\n1,2,3,4,x\n"), like=data)
    assert table.X.tolist() == [[1, 2, 3, 4]]


def test_names_beside_json_lines(write):
    path = write(lines({"features": {"b": 1}, "labels": ["x"]}), "it.jsonl")
    write("z\nx\n", "it.labels.txt")
    write("c\nb\n", "it.features.txt")
    data = load(path)
    assert data.label_names.tolist() == ["z", "x"]
    assert data.feature_names.tolist() == ["c", "b"]
    write("x\nx\n", "it.labels.txt")
    write("other\n", "it.features.txt")
    data = load(path)
    assert data.label_names.tolist() == ["x"]
    assert data.feature_names.tolist() == ["b"]


def test_labels_of_json_lines(write):
    path = write(lines({"x": 1, "tags": "a|b", "n": [1, 2.5, 10**400]}, {"x": 2, "tags": "b"}))
    assert load_jsonlines(path, drop="n").label_names.tolist() == ["a", "b"]
    numbers = load_jsonlines(path, labels="n", drop="tags")
    assert numbers.label_names.tolist() == ["1", str(10**400), "2.5"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lines(GOOD, '{"x": 1'), "line 2: not one JSON object on its line"),
        (lines(GOOD, "", "[1, 2]"), "line 3: not a JSON object but list"),
        (lines(GOOD, {"x": "y"}), "line 2: 'x' holds words here, numbers before"),
        (lines(GOOD, {"x": {"y": 1}}), "line 2: 'x' holds objects here, numbers before"),
        (lines({"x": {"y": 1}, "labels": ["a"]}), "'x' holds objects; features are"),
        (lines({"x": [1, 2], "labels": ["a"]}), "'x' holds lists; features are"),
        (lines(GOOD, {"x": 1, "labels": [["a"]]}), "line 2: a list in 'labels' holds lists"),
        (lines(GOOD, {"x": 1, "labels": [{"a": 1}]}), "line 2: a list in 'labels' holds objects"),
        (lines(GOOD, {"x": 1, "labels": "a"}), "line 2: 'labels' holds words here, lists before"),
        (lines(GOOD, '{"x": 1, "x": 2}'), "line 2: .*the field 'x' occurs twice"),
        (lines(GOOD, '{"features": {"x": 1, "x": 2}}'), "line 2: .*'x' occurs twice"),
        (lines(GOOD, {"features": {"x": 1}, "x": 1}), "column 'x' occurs twice"),
        (lines(GOOD, {"features": {"y": "u"}}), "line 2: feature 'y' is 'u', not a number"),
        (lines(GOOD, {"features": {"y": [1]}}), r"line 2: feature 'y' is '\[1\]', not a number"),
        (lines(GOOD, '{"x": ' + "[" * 100_000), "line 2: nested too deeply"),
        (lines(GOOD, '{"x":' * 100_000), "line 2: nested too deeply"),
        (lines(GOOD, '{"x": ' + "9" * 100_000 + "}"), "line 2: .*Exceeds the limit"),
        (lines(GOOD, '{"x": ' + "9" * 4000 + "}"), "line 2: the number in 'x' is too large"),
        (lines(GOOD, '{"x": 1e999}'), "line 2: the number in 'x' is too large"),
        (lines(GOOD, '{"x": Infinity}'), "line 2: the number in 'x' is too large"),
        (lines(GOOD, '{"features": {"u": null, "v": 1e999}}'), "line 2: the number in 'v' is too"),
        (
            lines(GOOD, '{"features": {"u": null, "v": ' + "9" * 4000 + "}}"),
            "line 2: the number in 'v' is too large",
        ),
        (lines(GOOD, '{"x": "\\ud800"}'), "line 2: .*surrogates not allowed"),
        (lines(GOOD, "{'x': 1}"), "line 2: not one JSON object"),
        (lines(GOOD).encode() + b"\n\xff", "line 2: not utf-8 text"),
        (lines({"x": 1}), r"which columns are labels\?.* There are 'x'"),
        ("{\n", "line 1: not one JSON object on its line"),
    ],
)
def test_broken_json_lines_raise_an_error(write, content, message):
    with pytest.raises(DataError, match=message):
        load(write(content, "it.jsonl"))


def test_many_different_fields_do_not_fill_memory(write, monkeypatch):
    monkeypatch.setattr("eigenlabel.datasets.tables.features.memory_limit", lambda: 2**20)
    path = write(lines(*({f"x{i}": 1, "labels": ["a"]} for i in range(1000))), "it.jsonl")
    with pytest.raises(DataError, match="1,000 x 1,000 values do not fit into memory"):
        load(path)


def test_blank_lines_do_not_take_forever(write):
    path = write(lines(GOOD) + "\n" * 2**21, "it.jsonl")
    with pytest.raises(DataError, match="lines without a sample"):
        load(path)
