"""Tables like another table have its features and labels."""

from types import SimpleNamespace

import numpy as np
import pytest

from eigenlabel.datasets import (
    DataError,
    iterate,
    load,
)
from forms import both


@both
def test_like_orders_and_checks(write):
    train = load(write("size,colour,labels\n1,red,a|b\n2,blue,c\n"))
    same_again = load(write("labels,new,colour,size\nc,9,blue,4\na,8,,5\n"), like=train)
    assert same_again.feature_names.tolist() == ["size", "colour"]
    np.testing.assert_array_equal(same_again.X, [[4, 0], [5, np.nan]])
    assert same_again.Y.toarray().tolist() == [[0, 0, 1], [1, 0, 0]]
    assert same_again.categories == {"colour": ("blue", "red")}
    assert same_again.notes == ("columns left out, as like does not have them: 'new'",)


@both
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("size,labels\n1,a\n", "no column for the features 'colour'"),
        ("colour,size,labels\nred,1,a\nred,big,a\n", "line 3: 'size' is 'big', not a number"),
        ("colour,size,labels\nred,1,a\nred,2,ab\n", r"line 3: no label 'ab'; did you mean|line 3"),
        ("colour,size,a,b\nred,1,0,1\n", "no column for the label 'c'"),
        ("colour,size,a,b,c\nred,1,0,1,x\n", "label 'c' must be 0 or 1, found 'x'"),
    ],
)
def test_tables_that_differ_from_like_raise(write, text, message):
    train = load(write("size,colour,labels\n1,red,a|b\n2,blue,c\n"))
    with pytest.raises(DataError, match=message):
        load(write(text, "new.csv"), like=train)


@both
@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("x\n5\n6\n", {}),
        ("x,t_a\n5,1\n6,1\n", {}),
        ("x,t_a,t_b\n5,,\n6,0,1\n", {"labels": "t_*"}),
        ("x,t_a,t_b\n5,?,no\n6,0,1\n", {}),
        ("t_c,t_b,x\n1,0,5\n1,1,6\n", {"labels": "t_*"}),
        ("x,tags\n5,none of them\n6,t_a|t_d\n", {}),
        ("x,tags\n5,\n6,\n", {"labels": "tags"}),
    ],
)
def test_labels_are_ignored_if_none_are_asked_for(write, text, options):
    train = load(write("x,t_a,t_b\n1,0,1\n"), labels="t_*")
    path = write(text)
    data = load(path, like=train, labelled=False, **options)
    assert (data.X.tolist(), data.Y.shape, data.Y.nnz) == ([[5], [6]], (2, 2), 0)
    assert data.notes == ()
    pieces = list(iterate(path, rows=1, like=train, labelled=False, **options))
    assert [piece.X.tolist() for piece in pieces] == [[[5]], [[6]]]
    with pytest.raises(DataError, match="labelled=False needs like"):
        load(write("x,labels\n1,a\n"), labelled=False)


@both
def test_like_with_label_columns(write):
    train = load(write("x,t_a,t_b\n1,0,1\n"), labels="t_*")
    data = load(write("t_b,t_a,x\n1,0,5\n"), like=train)  # found by their names
    assert data.Y.toarray().tolist() == [[0, 1]]
    with pytest.raises(DataError, match=r"no label 't_c'"):
        load(write("t_b,t_a,t_c,x\n1,0,1,5\n"), like=train, labels="t_*")


@both
@pytest.mark.parametrize("options", [{}, {"labels": "t_*"}, {"labels": ["t_a", "t_b"]}])
def test_files_to_predict_have_no_labels(write, options):
    train = load(write("x,t_a,t_b\n1,0,1\n"), labels="t_*")
    data = load(write("x,id\n5,7\n6,8\n"), like=train, samples="id", drop="other", **options)
    assert (data.Y.shape, data.Y.nnz) == ((2, 2), 0)
    assert data.label_names.tolist() == ["t_a", "t_b"]
    assert data.notes == ("no labels in the file",)


@both
def test_like_may_be_anything_with_names(write):
    like = SimpleNamespace(
        feature_names=["red", "size"], categories={}, label_names=np.array(["b", "a"])
    )
    data = load(write("text,size,labels\nred car,3,a\n"), like=like)
    assert data.X.toarray().tolist() == [[1, 3]]
    assert data.Y.toarray().tolist() == [[0, 1]]
