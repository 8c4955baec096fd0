"""Label sets as label matrices and back."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from eigenlabel import metrics
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.labels.label_sets import (
    NamedLabels,
    common_matrices,
    compare_sets,
    find_separator,
    holds_label_sets,
    label_matrix,
    read_labels,
    to_label_sets,
)

label_sets = st.lists(st.sets(st.sampled_from("abcde")), min_size=1, max_size=9).filter(any)


@given(label_sets)
def test_sets_become_a_matrix_and_come_back(sets):
    Y = label_matrix(sets)
    names = sorted(set().union(*sets))
    assert Y.columns.tolist() == names
    assert Y.tolist() == [[int(name in labels) for name in names] for labels in sets]
    assert [set(labels) for labels in to_label_sets(Y == 1, Y.columns)] == sets


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        ([["a"], ["b", "c"]], True),
        ([("a", "b"), ("b", "c")], True),
        ([{"a"}, set()], True),
        ([frozenset([3]), frozenset([1, 2])], True),
        ([["a"], None, []], True),
        ([np.array(["a", "b"]), np.array(["b"])], True),
        ([[1, 0], [0, 1]], False),
        ([[1], [2, 3]], False),
        ([["0", "1"], ["1", "1"]], False),
        ([[], []], False),
        (["a", "b"], False),
        ([1, 0], False),
        (np.array([["a", "b"], ["c", "d"]]), False),
        ([[["a"]], [["b"]]], False),
        ([{"a"}, "b"], False),
        (None, False),
        ([], False),
        (sp.csr_array(np.eye(2)), False),
        (np.eye(2), False),
    ],
)
def test_what_label_sets_are(y, expected):
    assert holds_label_sets(y) is expected
    assert isinstance(read_labels(y), NamedLabels) is expected
    assert expected or read_labels(y) is y


def test_series_of_lists():
    for library in ("pandas", "polars"):
        module = pytest.importorskip(library)
        found = read_labels(module.Series([["a"], [], ["b", "a"]]))
        assert found.tolist() == [[1, 0], [0, 0], [1, 1]]
        frame = module.DataFrame({"a": [0, 1]})
        assert read_labels(frame) is frame


def test_unknown_label_sets_are_rows_of_nan():
    codec, Y, observed = LabelCodec.fit_observed([["a"], None, ["b"], []])
    assert codec.classes.tolist() == ["a", "b"]
    assert observed.tolist() == [[True] * 2, [False] * 2, [True] * 2, [True] * 2]
    assert Y.tolist() == [[True, False], [False, False], [False, True], [False, False]]


def test_rows_keep_the_names_and_columns_lose_them():
    Y = label_matrix([["a"], ["b", "c"], ["a", "c"]])
    assert Y[[2, 0]].columns.tolist() == ["a", "b", "c"]
    assert not hasattr(Y[:, :2], "columns")
    assert not hasattr(Y[0], "columns")
    assert type(np.asarray(Y)) is np.ndarray


def test_bad_label_sets_say_what_to_do():
    with pytest.raises(ValueError, match="several types"):
        label_matrix([{"a"}, {1}])
    with pytest.raises(ValueError, match="Sample 1 of y has the label 'z', which is not among"):
        label_matrix([["a"], ["z"]], ["a", "b"])
    with pytest.raises(ValueError, match="no label: at least one sample"):
        label_matrix([set(), set()])


def test_an_empty_label_says_where_it_comes_from():
    y = [text.split(";") for text in ("red;round", "")]
    with pytest.raises(ValueError, match=r"^Sample 1 of y has the empty string as a label"):
        label_matrix(y)
    np.testing.assert_array_equal(label_matrix([["red", "round"], []]), [[1, 1], [0, 0]])


def test_label_sets_of_many_labels_do_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr("eigenlabel.labels.label_sets.memory_limit", lambda: 100.0)
    with pytest.raises(MemoryError, match=r"3 samples and 3 labels need .*sparse_output=True"):
        label_matrix([["a"], ["b"], ["c"]])


def test_labels_that_fit_did_not_see_are_compared_too():
    T, P = compare_sets([["a", "z"], ["b"], None], [("a",), ("b",), ()], ["a", "b"])
    np.testing.assert_array_equal(T, [[1, 0, 1], [0, 1, 0], [np.nan] * 3])
    np.testing.assert_array_equal(P, [[1, 0, 0], [0, 1, 0], [0, 0, 0]])
    T, _ = compare_sets([[1, 0], [0, 1]], [(), ()], ["a", "b"])
    np.testing.assert_array_equal(T, [[1, 0, 0], [0, 1, 0]])
    T, _ = compare_sets([[], []], [(), ()], ["a", "b"])
    np.testing.assert_array_equal(T, np.zeros((2, 3)))


def test_metrics_read_label_sets():
    truth = [["a", "b"], ["b"], ["c"], []]
    found = [("a",), ("b", "d"), ("c",), ()]
    names = "abcd"
    Y, P = (np.array([[int(n in s) for n in names] for s in sets]) for sets in (truth, found))
    for name in ("f1_macro", "f1_micro", "hamming_loss", "accuracy"):
        metric = getattr(metrics, name)
        assert metric(truth, found) == pytest.approx(metric(Y, P))
    with pytest.raises(ValueError, match="both be label sets"):
        metrics.f1_macro(truth, P)
    assert common_matrices(Y, P)[0] is Y


def test_blocks_of_label_sets():
    codec = LabelCodec.start([["b"], ["a"]], classes=["a", "b", "c"])
    assert codec.encode([["c"], ["a", "b"]]).tolist() == [[False, False, True], [True, True, False]]
    assert codec.encode([[], []]).tolist() == [[False] * 3] * 2
    assert codec.encode([[0, 1, 1]]).tolist() == [[False, True, True]]
    with pytest.raises(ValueError, match="label 'z'"):
        codec.encode([["z"], []])


@pytest.mark.parametrize(
    ("classes", "separator"),
    [
        (["a;b", "a", "b"], ";"),
        (["a;b", "b;c", "a;c"], ""),  # three labels, three classes: it may be either
        (["a;b", "b;c", "a;c", "a;b;c"], ";"),
        (["red | blue", "blue"], "|"),
        (["red, blue", "red", "blue"], ","),
        (["Smith, Ann", "Smith, Bob", "Smith, Cid", "Jones, Ann"], ""),
        (["a, b", "a"], ""),  # as many labels as classes
        (["a", "b"], ""),
        (["<=50K;", ">50K;"], ""),
        ([1, 2], ""),
        ([], ""),
    ],
)
def test_separators_are_found_if_parts_are_labels(classes, separator):
    assert find_separator(classes) == separator
