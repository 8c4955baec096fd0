import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.datasets import Dataset, make_shared_subspace


def test_planted_structure():
    data = make_shared_subspace(20_000, 30, 12, 4, prevalence=0.2, noise=0.0, random_state=1)
    Theta, V = data.truth["components"], data.truth["loadings"]
    np.testing.assert_allclose(Theta @ Theta.T, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(V, axis=0), 1)
    signal = data.X @ Theta.T @ V
    for j in range(12):  # without noise a label is exactly a cut of its signal
        assert signal[data.Y[:, j] == 1, j].min() >= signal[data.Y[:, j] == 0, j].max()
    share = data.Y.mean(axis=0)
    assert share.min() > 0.2 / 3.1
    assert share.max() < 0.2 * 3.1


def test_seed_decides():
    a, b = make_shared_subspace(50, random_state=3), make_shared_subspace(50, random_state=3)
    np.testing.assert_array_equal(a.Y, b.Y)
    assert (a.X != make_shared_subspace(50, random_state=4).X).any()
    assert len(a.feature_names) == a.X.shape[1]
    assert len(a.label_names) == a.Y.shape[1]


def test_bad_sizes():
    with pytest.raises(ValueError, match="n_components must be an integer between 1 and 5, got 6"):
        make_shared_subspace(10, 5, 3, 6)
    with pytest.raises(ValueError, match="noise"):
        make_shared_subspace(noise=-1)


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
def test_a_subset_by_wrong_positions_is_refused(small, samples):
    with pytest.raises(ValueError, match="between 0 and 3"):
        small.subset(samples=samples)


def test_sparse_parts_are_what_compiled_classifiers_take(small):
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
