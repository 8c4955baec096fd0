"""MATLAB v7.3 files are read without following links to other files."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.datasets import (
    DataError,
    load,
)


def test_matlab_73_files_are_read(tmp_path, rng):
    h5py = pytest.importorskip("h5py", reason="h5py is an extra")
    X, Y = rng.standard_normal((6, 4)), (rng.uniform(size=(6, 3)) < 0.5).astype(float)
    path = tmp_path / "h.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        file["data"], file["target"] = X.T, Y  # transposed, as MATLAB stores them
    with path.open("r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file")
    data = load(path)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.Y.toarray(), Y)


def test_broken_matlab_73_files_raise_an_error(tmp_path):
    h5py = pytest.importorskip("h5py", reason="h5py is an extra")
    path = tmp_path / "h.mat"
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(50))
    with pytest.raises(DataError, match="not a MATLAB file, or damaged"):
        load(path)
    with h5py.File(path, "w") as file:  # 800 TB of nothing
        file.create_dataset("X", shape=(10**7, 10**7), chunks=(100, 100), dtype="f8")
    with pytest.raises(DataError, match=r"an array of shape .* is larger than .*; pass max_bytes"):
        load(path)


X = np.array([[1.0, 0, 2, 0], [0, 3, 0, 0], [0, 0, 4, 5]])


Y = np.array([[1, 0], [0, 1], [1, 1]])


def test_matlab_73_sparse_matrices_are_read(tmp_path):
    h5py = pytest.importorskip("h5py", reason="h5py is an extra")
    A = sp.csc_array(X)
    with h5py.File(tmp_path / "a.mat", "w") as file:
        file["Y"] = Y.T
        group = file.create_group("X")
        group.attrs["MATLAB_sparse"] = np.uint64(3)
        group["data"], group["ir"] = A.data, A.indices.astype(np.uint64)
        group["jc"] = A.indptr.astype(np.uint64)
    np.testing.assert_array_equal(load(tmp_path / "a.mat").X.toarray(), X)


@pytest.fixture
def h5(tmp_path):
    h5py = pytest.importorskip("h5py", reason="h5py is an extra")
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["X"] = X.T
    (tmp_path / "secret.bin").write_bytes(X.T.tobytes())
    with h5py.File(tmp_path / "a.mat", "w") as file:
        file["Y"] = Y.T
        yield h5py, file


def check_refused(h5, tmp_path, message):
    h5[1].close()
    with pytest.raises(DataError, match=message):
        load(tmp_path / "a.mat")


def test_external_links_are_not_followed(h5, tmp_path):
    h5[1]["X"] = h5[0].ExternalLink(str(tmp_path / "secret.h5"), "/X")
    check_refused(h5, tmp_path, "X is a link to another place")


def test_soft_links_are_not_followed(h5, tmp_path):
    h5[1]["way"] = h5[0].ExternalLink(str(tmp_path / "secret.h5"), "/")
    h5[1]["X"] = h5[0].SoftLink("/way/X")
    check_refused(h5, tmp_path, "X is a link to another place")


def test_external_storage_is_not_read(h5, tmp_path):
    outside = [(str(tmp_path / "secret.bin"), 0, X.nbytes)]
    h5[1].create_dataset("X", shape=X.T.shape, dtype="f8", external=outside)
    check_refused(h5, tmp_path, "X is stored in other files")


def test_virtual_arrays_are_not_read(h5, tmp_path):
    layout = h5[0].VirtualLayout(shape=X.T.shape, dtype="f8")
    layout[:] = h5[0].VirtualSource(str(tmp_path / "secret.h5"), "X", shape=X.T.shape)
    h5[1].create_virtual_dataset("X", layout)
    check_refused(h5, tmp_path, "X is stored in other files")


def test_parts_of_sparse_matrices_are_not_links(h5, tmp_path):
    group = h5[1].create_group("X")
    group.attrs["MATLAB_sparse"] = 3
    group["data"], group["ir"] = [1.0], [0]
    group["jc"] = h5[0].ExternalLink(str(tmp_path / "secret.h5"), "/X")
    check_refused(h5, tmp_path, "jc is a link to another place")


def test_arrays_that_are_much_larger_than_their_file_raise(h5, tmp_path):
    h5[1].create_dataset("X", shape=(10, 2**22), chunks=(10, 2**10), dtype="f8", compression="gzip")
    check_refused(h5, tmp_path, "compression bomb; pass max_bytes")
