"""JSON lines and hvecs: what they give, and what is wrong with them."""

import gzip

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.datasets import (
    DataError,
    find_form,
    load,
    load_hvecs,
    load_jsonlines,
)
from forms import GOOD, hvecs, lines

both = pytest.mark.usefixtures("engine")


# JSON lines


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
        (lines(GOOD, '{"x": 1, "x": 2}'), "line 2: .*the field 'x' stands twice"),
        (lines(GOOD, '{"features": {"x": 1, "x": 2}}'), "line 2: .*'x' stands twice"),
        (lines(GOOD, {"features": {"x": 1}, "x": 1}), "column 'x' stands twice"),
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
def test_broken_json_lines(write, content, message):
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


@both
def test_many_short_rows_do_not_fill_memory(write, monkeypatch):
    monkeypatch.setattr("eigenlabel.datasets.forms.csv.memory_limit", lambda: 2**20)
    path = write("a,labels\n" + ",\n" * 10_000)
    with pytest.raises(DataError, match="10,000 lines of 2 values do not fit into memory; use it"):
        load(path)


def test_one_long_name_does_not_fill_memory(write, monkeypatch):
    monkeypatch.setattr("eigenlabel.datasets.files.memory_limit", lambda: 2**30)
    long = "x" * 10**5
    rows = "".join(f"{i},1,a\n" for i in range(10**4))
    text = f"id,x,labels\n{long},1,a\n{rows}"
    with pytest.raises(DataError, match="10,001 names, one of 100,000 characters, are too long"):
        load(write(text), samples="id")
    assert load(write(text), drop="id").X.shape == (10_001, 1)
    with pytest.raises(DataError, match="names, one of 100,000 characters") as caught:
        load(write(text), labels="id", drop="labels")
    assert len(str(caught.value)) < 1000


def test_long_names_in_errors_are_cut(write):
    train = load(write(f"x,labels\n1,{'ab' * 10**5}\n"))
    with pytest.raises(
        DataError, match=r"no label '(ba)+\.\.\.'; there are '(ab)+\.\.\.'"
    ) as caught:
        load(write(f"x,labels\n1,{'ba' * 10**5}\n", "new.csv"), like=train)
    assert len(str(caught.value)) < 1000


# hvecs


def test_hvecs(write):
    path = write(hvecs([1, -2, 300], [4, 5, 6]), "set_train_Dense_Hue.hvecs")
    write(hvecs([0, 1], [1, 1]), "set_train_annot.hvecs")
    assert find_form(path) == "hvecs"
    data = load(path)
    assert data.X.tolist() == [[1, -2, 300], [4, 5, 6]]
    assert data.Y.toarray().tolist() == [[0, 1], [1, 1]]
    assert data.label_names.tolist() == ["0", "1"]
    write("sky\nsea\n", "set_dictionary.txt")
    write("1/1\n2/2\n", "set_train_list.txt")
    data = load(path)
    assert data.label_names.tolist() == ["sky", "sea"]
    assert data.sample_names.tolist() == ["1/1", "2/2"]
    write("sky\n", "set_dictionary.txt")  # of something else
    other = write(hvecs([1, 0], [0, 0]), "other.hvecs")
    data = load_hvecs(path, labels=other)
    assert data.Y.toarray().tolist() == [[1, 0], [0, 0]]
    assert data.label_names.tolist() == ["0", "1"]
    packed = write(gzip.compress(path.read_bytes()), "set_train_x.hvecs.gz")
    assert load(packed).X.tolist() == data.X.tolist()


@pytest.mark.parametrize(
    ("features", "labels", "message"),
    [
        (hvecs([1, 2], [3]), hvecs([1], [0]), "cut off: 5 numbers are not rows of 1 . 2"),
        (
            hvecs([1, 2, 3], [3], [4]),
            hvecs([1], [0]),
            "row 1 says it has 1 values, the first has 3",
        ),
        (hvecs([1, 2])[:-1], hvecs([1]), "5 bytes are not rows of 16-bit numbers"),
        (b"\x00\x00", hvecs([1]), "the first row says it has 0 values"),
        (b"\xff\xff\x01\x00", hvecs([1]), "the first row says it has -1 values"),
        (b"\xff\x7f\x01\x00", hvecs([1]), "cut off: 2 numbers are not rows of 1 . 32767"),
        (hvecs([1, 2]), hvecs([1], [0]), "labels of 2 samples, features of 1"),
        (hvecs([1, 2]), hvecs([1, 7]), "labels must be 0 or 1, found 7"),
        (hvecs([1, 2]), None, r"where are the labels\?.*pass labels="),
    ],
)
def test_broken_hvecs(write, features, labels, message):
    path = write(features, "set_test_x.hvecs")
    if labels is not None:
        write(labels, "set_test_annot.hvecs")
    with pytest.raises(DataError, match=message):
        load(path)


def test_the_exact_name_of_the_field_of_labels_goes_before_others(write):
    objects = [{"Labels": "p", "x": 1, "labels": ["u"]}, {"Labels": "q", "x": 2, "labels": []}]
    data = load(write(lines(*objects), "it.jsonl"))
    assert data.label_names.tolist() == ["u"]
    assert data.feature_names.tolist() == ["Labels", "x"]
    train = load(write("Tags,x,tags\np,1,u\nq,2,v\n"))
    assert (train.label_names.tolist(), train.feature_names.tolist()) == (["u", "v"], ["Tags", "x"])
