"""MATLAB files contain X, Y and cell arrays of names."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import loadmat

from eigenlabel.datasets import DataError, Dataset, save
from eigenlabel.datasets.forms.matlab import writer


def test_scipy_reads_the_variables(tmp_path):
    names = np.array(["a", "b"]), np.array(["y"])
    save(Dataset(np.eye(2), np.array([[1], [0]]), *names), tmp_path / "it.mat")
    found = loadmat(tmp_path / "it.mat")
    np.testing.assert_array_equal(found["X"], np.eye(2))
    np.testing.assert_array_equal(found["Y"].toarray(), [[1], [0]])
    assert [str(cell[0]) for cell in found["feature_names"].ravel()] == ["a", "b"]


@pytest.mark.parametrize(
    ("form", "size"),
    [(np.asarray, 3 * 4 * 8), (sp.csr_array, 4 * 8 + 4 * (4 + 5))],  # values, rows, columns
)
def test_variables_that_v5_files_cannot_hold_are_refused(tmp_path, monkeypatch, form, size):
    X = np.zeros((3, 4))
    X[[0, 0, 1, 2], [0, 1, 2, 3]] = 1.5
    data = Dataset(form(X), np.ones((3, 1), int), np.array(list("abcd")), np.array(["y"]))
    monkeypatch.setattr(writer, "LIMIT", size)
    with pytest.raises(DataError, match=f"X has {size} bytes, .*less than {size} bytes.*npz"):
        save(data, tmp_path / "it.mat")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(writer, "LIMIT", size + 1)
    save(data, tmp_path / "it.mat")
    np.testing.assert_array_equal(sp.csr_array(loadmat(tmp_path / "it.mat")["X"]).toarray(), X)


def test_pipes_are_refused_before_anything_is_copied(tmp_path, monkeypatch):
    data = Dataset(np.eye(2), np.eye(2, dtype=int), np.array(["a", "b"]), np.array(["x", "y"]))

    class Pipe:
        def seekable(self):
            return False

    write = writer.write_mat(data, tmp_path / "it.mat")[tmp_path / "it.mat"]
    monkeypatch.setattr(writer, "_cells", lambda _: pytest.fail("copied"))
    with pytest.raises(DataError, match="cannot be written to a pipe"):
        write(Pipe())
