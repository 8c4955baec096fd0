import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning

from eigenlabel.labels.codec import LabelCodec

Y = np.array([[1, 0, 1], [0, 0, 1]])


@pytest.mark.parametrize(
    "form",
    [
        Y,
        Y.astype(bool),
        Y.astype(float),
        Y.astype(object),
        Y.tolist(),
        sp.csr_matrix(Y),
        sp.csc_array(Y),
        sp.coo_array(Y),
        pd.DataFrame(Y, columns=list("abc")),
        pl.DataFrame(Y, schema=list("abc")),
    ],
    ids=lambda f: type(f).__name__ + getattr(getattr(f, "dtype", None), "name", ""),
)
def test_every_form_of_label_matrix(form):
    codec, found = LabelCodec.fit(form)
    assert codec.kind == "matrix"
    np.testing.assert_array_equal(found, Y.astype(bool))
    decided = codec.decide(np.where(Y, 0.5, -0.5))
    assert sp.issparse(decided) == sp.issparse(form)
    np.testing.assert_array_equal(decided.toarray() if sp.issparse(decided) else decided, Y)
    if sp.issparse(form):
        assert type(decided) is type(form)
    if hasattr(form, "columns"):
        np.testing.assert_array_equal(codec.classes, ["a", "b", "c"])


def test_vectors_of_classes():
    codec, found = LabelCodec.fit(["b", "a", "c", "a"])
    assert codec.kind == "multiclass"
    np.testing.assert_array_equal(found.argmax(axis=1), [1, 0, 2, 0])
    np.testing.assert_array_equal(codec.decide(np.eye(3)), ["a", "b", "c"])
    codec, found = LabelCodec.fit(np.array([5, 7, 5]))
    assert codec.kind == "binary"
    np.testing.assert_array_equal(found[:, 0], [False, True, False])
    np.testing.assert_array_equal(codec.decide(np.array([[-1.0], [1.0]])), [5, 7])
    assert codec.shape_scores(np.zeros((4, 1))).shape == (4,)
    codec, found = LabelCodec.fit(["only", "only"])
    np.testing.assert_array_equal(codec.decide(np.ones((3, 1))), ["only"] * 3)


def test_one_column_of_zeros_and_ones_is_a_matrix_of_one_label():
    codec, _ = LabelCodec.fit(np.array([[0], [1]]))
    assert codec.kind == "matrix"
    assert codec.decide(np.array([[1.0], [-1.0]])).shape == (2, 1)


def test_one_column_of_classes_is_a_vector():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        codec, _ = LabelCodec.fit(np.array([[0], [1], [2]]))
    assert codec.kind == "multiclass"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.array([[1, -1], [-1, 1]]), r"found -1. Pass \(Y > 0\)"),
        (np.array([[1, 2], [0, 1]]), "found 2.*MultiLabelBinarizer"),
        (np.array([[1, np.nan], [0, 1]]), "contains NaN"),
        (np.array([["a", "b"], ["c", "d"]]), "dtype <U1.*MultiLabelBinarizer"),
        (np.array([["a", None], ["c", "d"]], dtype=object), "found 'a'"),
        ([[1], [2, 3]], "unequal lengths.*MultiLabelBinarizer"),
        ([["0", "1"], ["1", "1"]], "dtype <U1.*MultiLabelBinarizer"),
        (np.array([{"a"}, 1]), "a set per sample.*MultiLabelBinarizer"),
        ([{"a"}, {1}], "labels of several types"),
        ([set(), set()], "no label: at least one"),
        (np.zeros((2, 0)), "no columns"),
        (np.array([[1j, 0]]), "dtype complex128"),
        (np.array([0.5, 1.5, 0.7]), "continuous"),
        (np.array([0.0, np.nan]), "NaN or infinity, at sample 1: every sample needs a class. Drop"),
        (np.array(["a", None]), "NaN or infinity, at sample 1"),
        (np.array(["a", np.nan], dtype=object), "NaN or infinity, at sample 1"),
        (np.ma.array(["a", "b"], mask=[False, True]), "NaN or infinity, at sample 1"),
        (None, "y is None"),
    ],
)
def test_bad_labels_say_what_to_do(bad, message):
    with pytest.raises(ValueError, match=message):
        LabelCodec.fit(bad)


def test_a_single_class_is_present():
    assert LabelCodec.fit(["only", "only"])[1].all()


def test_the_boundary_belongs_to_the_negatives():
    assert not LabelCodec.fit([[1, 0], [0, 1]])[0].decide(np.zeros((2, 2))).any()
    codec, _ = LabelCodec.fit(["a", "b"])
    np.testing.assert_array_equal(codec.decide(np.zeros((2, 1))), ["a", "a"])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, pd.DataFrame])
def test_rows_of_nan_are_samples_without_known_labels(form):
    given = Y.astype(float)
    given[1] = np.nan
    codec, found, known = LabelCodec.fit_known(form(given))
    assert codec.kind == "matrix"
    np.testing.assert_array_equal(found, [[True, False, True], [False, False, False]])
    np.testing.assert_array_equal(known, [True, False])
    assert LabelCodec.fit_known(form(Y))[2].all()


@pytest.mark.parametrize(
    "y",
    [
        np.array([2.0, np.nan, 5.0, 2.0]),
        [2, None, 5, 2],
        pd.array([2, pd.NA, 5, 2]),
        np.ma.array([2, 0, 5, 2], mask=[False, True, False, False]),
    ],
    ids=["nan", "None", "NA", "mask"],
)
def test_missing_classes_are_samples_without_known_labels(y):
    codec, found, known = LabelCodec.fit_known(y)
    assert codec.classes.tolist() == [2, 5]
    np.testing.assert_array_equal(known, [True, False, True, True])
    np.testing.assert_array_equal(found[:, 0], [False, False, True, False])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[1.0, np.nan], [0.0, 1.0]], "some labels of sample 0 only"),
        ([[np.nan, np.nan]], "No sample is labelled"),
        ([np.nan, np.nan], "No sample is labelled"),
        ([[1, 0], [-1, -1]], r"found -1.*'not observed', np.where\(Y == -1, np.nan, Y\)"),
        ([0, 1, -1], "class -1.*pass NaN"),
        (None, "y is None"),
    ],
)
def test_minus_one_is_no_code_for_unknown_labels(y, message):
    with pytest.raises(ValueError, match=message):
        LabelCodec.fit_known(y)


def test_minus_one_and_another_value_are_two_classes():
    codec, _, known = LabelCodec.fit_known([-1, 1, -1])
    assert codec.classes.tolist() == [-1, 1]
    assert known.all()


def test_probabilities_of_labels_are_returned_as_they_are(rng):
    P = rng.random((4, 3))
    assert LabelCodec.fit(np.eye(4, 3))[0].shape_probabilities(P) is P


def test_probabilities_of_classes_sum_to_one(rng):
    P = rng.random((5, 3))
    P[2] = 0
    found = LabelCodec.fit(["a", "b", "c"])[0].shape_probabilities(P)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(found[0], P[0] / P[0].sum(), rtol=1e-12)
    np.testing.assert_array_equal(found[2], [1 / 3] * 3)
    two = LabelCodec.fit(["a", "b"])[0].shape_probabilities(P[:, :1])
    np.testing.assert_array_equal(two, np.column_stack([1 - P[:, 0], P[:, 0]]))
    np.testing.assert_array_equal(LabelCodec.fit(["a"])[0].shape_probabilities(P[:, :1]), 1)


def test_classes_that_look_like_label_sets_are_reported():
    with pytest.warns(UserWarning, match=r"'a;b' look like several labels.*value.split\(';'\)"):
        codec, _ = LabelCodec.fit(np.array(["a;b", "a", "b", "a"]))
    assert codec.kind == "multiclass"
    advised = [{label.strip() for label in value.split(";")} for value in ("a; b", "b")]
    codec, Y = LabelCodec.fit(advised)
    assert codec.multilabel
    np.testing.assert_array_equal(Y, [[True, True], [False, True]])


def test_names_of_labels_occur_once():
    with pytest.raises(ValueError, match="Two columns of y are called 'a'"):
        LabelCodec.fit(pd.DataFrame(np.eye(3, dtype=int), columns=["a", "b", "a"]))


def test_labels_without_an_observed_zero_cause_a_warning():
    with pytest.warns(UserWarning, match="All observed cells of y are 1"):
        LabelCodec.fit_observed(np.array([[1.0, np.nan], [np.nan, 1.0]]))
    LabelCodec.fit_observed(np.array([[1.0, np.nan], [0.0, 1.0]]))  # no warning


def test_the_advice_for_joined_labels_can_be_followed():
    y = ["red;round", "", "red", "round"]
    with pytest.warns(UserWarning, match="look like several labels") as caught:
        LabelCodec.fit(y)
    advice = str(caught[0].message).partition("pass ")[2].rstrip(".")
    codec, Y = LabelCodec.fit(eval(advice, {"y": y}))
    assert codec.classes.tolist() == ["red", "round"]
    np.testing.assert_array_equal(Y, [[1, 1], [0, 0], [1, 0], [0, 1]])
