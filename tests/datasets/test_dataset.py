"""Parts of a Dataset keep their names, views and splits."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.datasets import Dataset


@pytest.fixture
def small():
    return Dataset(
        X=sp.csr_array(np.arange(20.0).reshape(4, 5)),
        Y=sp.csr_array(np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]], dtype=np.int8)),
        feature_names=np.array(list("abcde")),
        label_names=np.array(["x", "y", "z"]),
        sample_names=np.array(["p", "q", "r", "s"]),
        views={"left": slice(0, 2), "right": slice(2, 5)},
        splits={"one": (np.array([0, 3]), np.array([2, 1]))},
        categories={"a": ("no", "yes"), "c": ("no", "yes")},
    )


def test_a_subset_keeps_all_that_belongs_to_it(small):
    part = small.subset(samples=[1, 2, 3], features=[1, 2, 4], labels=[False, True, True])
    np.testing.assert_array_equal(part.X.toarray(), small.X.toarray()[1:][:, [1, 2, 4]])
    np.testing.assert_array_equal(part.Y.toarray(), small.Y.toarray()[1:, 1:])
    assert part.feature_names.tolist() == ["b", "c", "e"]
    assert part.label_names.tolist() == ["y", "z"]
    assert part.sample_names.tolist() == ["q", "r", "s"]
    assert dict(part.views) == {"left": slice(0, 1), "right": slice(1, 3)}
    assert [rows.tolist() for rows in part.splits["one"]] == [[2], [1, 0]]
    assert dict(part.categories) == {"c": ("no", "yes")}


@pytest.mark.parametrize("samples", [[2, 1], [0, 4], [-1, 2], [[0, 1]], [1, 1]])
def test_a_subset_by_wrong_positions_raises(small, samples):
    with pytest.raises(ValueError, match="between 0 and 3"):
        small.subset(samples=samples)


def test_sparse_parts_have_the_types_that_compiled_classifiers_accept(small):
    wide = Dataset(
        X=sp.csr_array(
            (np.ones(2), np.array([0, 1], dtype=np.int64), np.array([0, 1, 2], dtype=np.int64))
        ),
        Y=np.eye(2, dtype=np.int8),
        feature_names=np.array(["a", "b"]),
        label_names=np.array(["x", "y"]),
    )
    assert wide.X.indices.dtype == wide.X.indptr.dtype == np.int32
    assert wide.Y.dtype == small.Y.dtype == np.int64
