"""What the writers of all forms share."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.datasets import DataError, Dataset
from eigenlabel.datasets.forms.writing import dense_rows, label_matrix, short, sparse_rows

PATH = Path("it")


@pytest.mark.parametrize(("value", "text"), [(2.0, "2"), (0.1, "0.1"), (-1e300, "-1e+300")])
def test_short_numbers_are_exact(value, text):
    assert short(value) == text
    assert float(text) == value


def test_rows_of_categories_are_words_and_nan_is_none():
    names = np.array(["colour", "size"]), np.array(["y"])
    X = np.array([[1.0, 2.5], [np.nan, 3]])
    data = Dataset(X, np.ones((2, 1)), *names, categories={"colour": ("red", "blue")})
    assert list(dense_rows(PATH, data)) == [["blue", 2.5], [None, 3.0]]


def test_sparse_rows_are_columns_and_values():
    A = sp.csr_array([[0.0, 2], [0, 0], [1, 3]])
    assert list(sparse_rows(A)) == [([1], [2.0]), ([], []), ([0, 1], [1.0, 3.0])]


def test_labels_other_than_0_and_1_raise():
    with pytest.raises(DataError, match="labels must be 0 or 1, found 2"):
        label_matrix(PATH, np.array([[0, 2]]))
