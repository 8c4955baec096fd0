import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from eigenlabel.labels.checks import (
    check_label_matrix,
    check_observed_labels,
    check_sparse_labels,
    has_missing,
    is_vector,
)
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.labels.missing import find_missing

NAN = np.nan


def test_check_label_matrix_names_its_argument():
    with pytest.raises(ValueError, match=r"y_true must be a label matrix \(samples, labels\), got"):
        check_label_matrix(np.zeros(3), "y_true")


def test_cells_that_a_sparse_matrix_does_not_store_are_observed():
    Y = sp.csr_array(np.array([[np.nan, 0.0], [1.0, 0.0]]))
    labels, observed = check_observed_labels(Y)
    np.testing.assert_array_equal(labels, [[False, False], [True, False]])
    np.testing.assert_array_equal(observed, [[False, True], [True, True]])
    codec, _, cells = LabelCodec.fit_observed(Y)
    assert codec.multilabel
    assert cells.sum() == 3


@pytest.mark.parametrize(
    "form",
    [
        np.array([[1, NAN], [0, 1]]),
        np.array([[1, None], [0, 1]], dtype=object),
        pd.DataFrame({"a": [1, 0], "b": pd.array([pd.NA, 1])}),
        np.ma.array([[1, 0], [0, 1]], mask=[[False, True], [False, False]]),
    ],
    ids=["nan", "None", "NA", "mask"],
)
def test_every_form_of_missing_values_is_not_observed(form):
    labels, observed = check_observed_labels(form)
    np.testing.assert_array_equal(labels, [[True, False], [False, True]])
    np.testing.assert_array_equal(observed, [[True, False], [True, True]])
    assert has_missing(form)
    with pytest.raises(ValueError, match=r"y contains NaN, at \[0, 1\]. NaN stands for"):
        check_label_matrix(form)


@pytest.mark.parametrize(
    ("values", "advice"),
    [
        ([[1, -1]], r"Pass \(Y > 0\); if -1 stands for 'not observed'"),
        ([[1, -1, NAN]], r"Pass np.where\(np.isnan\(Y\), Y, Y > 0\)"),
        ([[1, 0, -1]], "Pass 1 for a label and 0 for none; if -1 stands for 'not observed'"),
        ([[1, 0, -2]], "MultiLabelBinarizer"),
    ],
)
def test_other_numbers_raise_with_the_next_step(values, advice):
    with pytest.raises(ValueError, match=advice):
        check_label_matrix(values)


def test_sparse_labels_stay_sparse():
    Y = sp.coo_array(([1, 0, 1], ([0, 0, 1], [1, 2, 0])), shape=(2, 3))
    found = check_sparse_labels(Y)
    assert (found.format, found.dtype, found.nnz) == ("csr", bool, 2)
    np.testing.assert_array_equal(found.toarray(), Y.toarray())
    assert sp.issparse(check_sparse_labels(np.eye(2)))
    stored = sp.csr_array(([1, 0, 1, 0], [0, 1, 1, 2], [0, 2, 4]), shape=(2, 3))
    assert check_sparse_labels(stored).nnz == 2
    np.testing.assert_array_equal(stored.indptr, [0, 2, 4])  # what was passed in stays as it is
    np.testing.assert_array_equal(stored.indices, [0, 1, 1, 2])
    with pytest.raises(ValueError, match="found 3"):
        check_sparse_labels(sp.csr_array([[0, 3]]))


def test_vectors_and_columns_of_classes_are_not_label_matrices():
    assert is_vector([0, 1])
    assert is_vector([[0], [2]])
    assert is_vector(np.array([["a"], [None]], dtype=object))
    assert not is_vector([[0], [1]])
    assert not is_vector(np.array([[0], [None]], dtype=object))
    assert not is_vector(sp.csr_array([[0], [1]]))
    assert not is_vector([[0], [1, 0]])  # reported by the checks of matrices


def test_missing_values_of_a_vector_are_found():
    np.testing.assert_array_equal(find_missing(np.array([1.0, NAN])), [False, True])
    objects = np.array(["a", None, NAN, pd.NA], dtype=object)
    np.testing.assert_array_equal(find_missing(objects), [False, True, True, True])
    assert not find_missing(np.array([1, 2])).any()


@pytest.mark.parametrize(
    "values",
    [
        np.array([1.0, np.nan]),
        np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"),
        np.array(["a", None], dtype=object),
        np.array(["a", pd.NA], dtype=object),
        np.array(["a", np.nan], dtype=object),
        np.array(["a", np.float32("nan")], dtype=object),
        np.array(["a", pd.NaT], dtype=object),
    ],
)
def test_the_second_value_find_missing(values):
    np.testing.assert_array_equal(find_missing(values), [False, True])


def test_label_sets_are_read_as_a_matrix():
    sets = np.array([{"b"}, {"a", "b"}, None], dtype=object)
    Y, observed = check_observed_labels(sets)
    np.testing.assert_array_equal(Y[:2], [[False, True], [True, True]])
    np.testing.assert_array_equal(observed.all(axis=1), [True, True, False])
    with pytest.raises(ValueError, match="contains NaN"):
        check_label_matrix(sets)
