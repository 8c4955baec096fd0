"""Options are remembered for files like the one that was read."""

import json

import numpy as np
import pytest

from eigenlabel.datasets import (
    DataError,
    from_frame,
    iterate,
    load,
    load_table,
)
from forms import same

TRAIN = "name,review,size,kinds,junk\nr1,good tea,1,a/b,9\nr2,bad tea,2,b,8\n"


TEST = "junk,kinds,size,review,name\n7,b/a,3,tea,r9\n"


OPTIONS = {
    "labels": "kinds",
    "separator": "/",
    "text": "review",
    "samples": "name",
    "drop": ["junk"],
}


def test_a_file_like_another_is_read_with_its_options(write):
    train = load(write(TRAIN), **OPTIONS)
    assert train.options == OPTIONS
    path = write(TEST, "test.csv")
    test = load(path, like=train)
    same(test, load(path, like=train, **OPTIONS))
    assert test.sample_names.tolist() == ["r9"]
    assert test.Y.toarray().tolist() == [[1, 1]]
    (piece,) = iterate(path, like=train)
    same(test, piece)
    same(test, load_table(path, like=train))
    assert test.options == piece.options == OPTIONS


def test_json_lines_and_frames_remember_their_options(write):
    pd = pytest.importorskip("pandas", reason="pandas is an extra")
    text = write(TRAIN, "train.csv")
    frame = pd.read_csv(text)
    objects = "\n".join(json.dumps(row) for row in frame.to_dict("records"))
    path = write(objects, "train.jsonl")
    for train in (load(path, **OPTIONS), from_frame(frame, **OPTIONS)):
        assert train.options == OPTIONS
        for again in (
            load(path, like=train),
            from_frame(frame, like=train),
            load(text, like=train),
        ):
            same(again, load(text, **OPTIONS))


def test_passed_options_override_those_of_like(write):
    train = load(write(TRAIN), **OPTIONS)
    path = write(TEST.replace("b/a", "b+a"), "test.csv")
    assert load(path, like=train, separator="+").Y.toarray().tolist() == [[1, 1]]
    with pytest.raises(DataError, match=r"no label 'b\+a'"):
        load(path, like=train)
    assert load(path, like=train, separator="+", samples=None).sample_names is None


def test_a_found_separator_applies_to_files_like_it(write):
    train = load(write('x,labels\n1,"a, or b|c"\n2,c\n'))
    assert train.label_names.tolist() == ["a, or b", "c"]
    test = load(write('x,labels\n1,"a, or b"\n', "test.csv"), like=train)
    assert test.Y.toarray().tolist() == [[1, 0]]


def test_missing_labels_and_encodings_apply_to_files_like_it(write):
    options = {"labels": ["ä", "b"], "missing_labels": "nan", "encoding": "latin-1"}
    path = write("x,ä,b\n1,,1\n2,0,1\n".encode("latin-1"))
    train = load(path, **options)
    assert train.options == options
    same(load(path, like=train), train)
    with pytest.raises(DataError, match="must be 0 or 1, found nothing"):
        load(path, like=train, missing_labels="error")


def test_a_file_like_another_may_be_of_another_form(write):
    train = load(write(TRAIN), **{**OPTIONS, "text": (), "drop": ["junk", "review"]})
    path = write("0 0:3\n", "test.svm")
    np.testing.assert_array_equal(load(path, like=train, zero_based=True).X.toarray(), [[3]])
    test = load(write("size,labels\n3,a\n", "test.csv"), like=train)  # other names of columns
    assert (test.X.tolist(), test.Y.toarray().tolist()) == ([[3]], [[1, 0]])


def test_words_counted_before_need_no_column_of_text(write):
    train = load(write(TRAIN), **OPTIONS)
    counted = load(write("size,good,tea,bad,kinds\n3,0,1,0,a\n", "test.csv"), like=train)
    found = dict(zip(train.feature_names.tolist(), counted.X[0].tolist(), strict=True))
    assert found == {"size": 3, "bad": 0, "good": 0, "tea": 1}
