"""MATLAB files contain X, Y and cell arrays of names."""

import numpy as np
from scipy.io import loadmat

from eigenlabel.datasets import Dataset, save


def test_scipy_reads_the_variables(tmp_path):
    names = np.array(["a", "b"]), np.array(["y"])
    save(Dataset(np.eye(2), np.array([[1], [0]]), *names), tmp_path / "it.mat")
    found = loadmat(tmp_path / "it.mat")
    np.testing.assert_array_equal(found["X"], np.eye(2))
    np.testing.assert_array_equal(found["Y"].toarray(), [[1], [0]])
    assert [str(cell[0]) for cell in found["feature_names"].ravel()] == ["a", "b"]
