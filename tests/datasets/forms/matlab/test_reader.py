"""MATLAB files are read in all layouts that are in use."""

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from eigenlabel.datasets import (
    DataError,
    load,
    load_mat,
)
from forms import dense
from matlab_files import array, element, matrix, v5


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("labels_first", [False, True])
def test_matlab_train_and_test(tmp_path, rng, sparse, signed, labels_first):
    X, Y = rng.standard_normal((9, 4)), (rng.uniform(size=(9, 3)) < 0.5).astype(int)
    T = 2 * Y - 1 if signed else Y
    T = T.T if labels_first else T
    part = (slice(None), slice(6)) if labels_first else slice(6)
    rest = (slice(None), slice(6, 9)) if labels_first else slice(6, 9)
    form = sp.csc_matrix if sparse else np.asarray
    path = tmp_path / "f.mat"
    names = {
        "train_data": X[:6],
        "test_data": X[6:],
        "train_target": T[part],
        "test_target": T[rest],
    }
    scipy.io.savemat(path, {k: form(v) for k, v in names.items()})
    if not labels_first:  # 3 test samples x 3 labels is square: this form has labels as rows
        Y[6:] = Y[6:].T
    data = load(path)
    np.testing.assert_allclose(dense(data.X), X)
    np.testing.assert_array_equal(data.Y.toarray(), Y)
    train, test = data.splits["published"]
    assert (train.tolist(), test.tolist()) == (list(range(6)), [6, 7, 8])


def test_matlab_other_forms(tmp_path, rng):
    X, Y = rng.standard_normal((5, 4)), np.eye(5, 3)
    path = tmp_path / "g.mat"
    scipy.io.savemat(path, {"X": X, "Y": Y})
    np.testing.assert_array_equal(load_mat(path).Y.toarray(), Y)
    views = np.empty((1, 2), dtype=object)
    views[0, 0], views[0, 1] = X[:, :1], X[:, 1:]
    scipy.io.savemat(path, {"view": views, "label": Y})
    data = load_mat(path)
    np.testing.assert_array_equal(data.view("view1"), X[:, 1:])
    with pytest.raises(KeyError, match="No view 'view9'; there are: 'view0', 'view1'"):
        data.view("view9")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.ones((3, 2))}, "no variable target; there are: X"),
        ({"Y": np.ones((3, 2))}, "no variable data; there are: Y"),
        ({"X": np.ones((3, 2)), "Y": np.ones((4, 2))}, r"labels of shape \(4, 2\) for 3 samples"),
        ({"X": np.ones((3, 2)), "Y": 5 * np.ones((3, 2))}, "labels must be 0/1 or -1/"),
        ({"X": np.array(["a", "b"]), "Y": np.ones((2, 2))}, "features must be a matrix of numbers"),
    ],
)
def test_broken_matlab_files_raise_an_error(tmp_path, arrays, message):
    path = tmp_path / "i.mat"
    scipy.io.savemat(path, arrays)
    with pytest.raises(DataError, match=message):
        load(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError):
        load(path)


def test_whole_numbers_of_a_matlab_file_count_as_floats_against_the_limit(write):
    small = array("X", 9, (2**10, 2**10), element(2, bytes(2**20)))
    path = write(v5(small, matrix("Y", np.ones((2**10, 1)))), "a.mat")
    with pytest.raises(DataError, match="larger than 4 MiB; pass max_bytes"):
        load_mat(path, max_bytes=2**22)
