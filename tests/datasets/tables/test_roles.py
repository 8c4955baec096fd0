"""The roles of columns: labels, text, names of samples and features."""

import numpy as np
import pandas as pd
import pytest

from eigenlabel.datasets import (
    DataError,
    from_frame,
    iterate,
    load,
    load_table,
)
from forms import both, lines


def test_the_exact_name_of_the_label_field_is_preferred(write):
    objects = [{"Labels": "p", "x": 1, "labels": ["u"]}, {"Labels": "q", "x": 2, "labels": []}]
    data = load(write(lines(*objects), "it.jsonl"))
    assert data.label_names.tolist() == ["u"]
    assert data.feature_names.tolist() == ["Labels", "x"]
    train = load(write("Tags,x,tags\np,1,u\nq,2,v\n"))
    assert (train.label_names.tolist(), train.feature_names.tolist()) == (["u", "v"], ["Tags", "x"])


@both
@pytest.mark.parametrize("name", ["labels", "label", "tags", "Tags", " LABELS"])
def test_columns_that_are_named_as_labels_are_labels(write, name):
    data = load(write(f"x,{name}\n1,a\n2,b\n"))
    assert data.label_names.tolist() == ["a", "b"]


@both
@pytest.mark.parametrize("options", [{}, {"labels": "label"}, {"labels": ["label"]}])
def test_a_column_of_0_and_1_is_one_label(write, options):
    train = load(write("x,label\n1,0\n2,1\n3,1\n"), **options)
    assert train.label_names.tolist() == ["label"]
    assert train.Y.toarray().tolist() == [[0], [1], [1]]
    test = load(write("label,x\n1,5\n1,6\n"), like=train, **options)
    assert test.Y.toarray().tolist() == [[1], [1]]
    several = load(write("x,label\n1,0\n2,1\n3,2\n"))
    assert several.label_names.tolist() == ["0", "1", "2"]
    assert load(write("x,label\n1,0\n2,1\n"), like=several).Y.shape == (2, 3)


@both
def test_our_own_columns_are_known(write):
    data = load(write("sample:name,tags,label:b,label:a\nfirst,1,0,1\nsecond,2,1,1\n"))
    assert data.label_names.tolist() == ["b", "a"]
    assert data.feature_names.tolist() == ["tags"]
    assert data.sample_names.tolist() == ["first", "second"]


@both
@pytest.mark.parametrize("hole", ["", "NA", "n/a"])
def test_a_label_column_of_0_and_1_with_a_hole_is_one_label(write, hole):
    path = write(f"x,y\n1,0\n2,1\n3,{hole}\n4,1\n")
    with pytest.raises(DataError, match=r"line 4.*must be 0 or 1, found nothing; pass missing_la"):
        load_table(path, labels="y")
    data = load_table(path, labels="y", missing_labels="nan")
    assert data.label_names.tolist() == ["y"]
    np.testing.assert_array_equal(data.Y.toarray(), [[0], [1], [np.nan], [1]])
    (piece,) = iterate(path, labels="y", missing_labels="nan")
    np.testing.assert_array_equal(piece.Y.toarray(), data.Y.toarray())


@pytest.mark.parametrize("cells", [[0, 1, None], ["0", "1", None], ["0", "1", "missing"]])
def test_a_label_column_of_a_frame_with_a_hole_is_one_label(cells):
    frame = pd.DataFrame({"x": [1.0, 2, 3], "y": pd.Series(cells, dtype=object)})
    with pytest.raises(DataError, match="found nothing; pass missing_labels='nan'"):
        from_frame(frame, labels="y")
    data = from_frame(frame, labels="y", missing_labels="nan")
    np.testing.assert_array_equal(data.Y.toarray(), [[0], [1], [np.nan]])
    again = from_frame(frame, labels="y", missing_labels="nan", like=data)
    np.testing.assert_array_equal(again.Y.toarray(), data.Y.toarray())


@both
@pytest.mark.parametrize("hole", ["-1", ""])
def test_a_label_column_of_minus_1_and_1_raises(write, hole):
    path = write(f"x,y\n1,-1\n2,1\n3,{hole}\n")
    with pytest.raises(DataError, match=r"label 'y' holds -1 and 1; write 0 for -1"):
        load_table(path, labels="y")


@both
def test_a_column_of_other_numbers_still_names_labels(write):
    assert load_table(write("x,y\n1,0\n2,1\n3,2\n"), labels="y").label_names.tolist() == list("012")
