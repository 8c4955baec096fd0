"""The parts of stored sparse matrices are checked before they are used."""

import numpy as np
import pytest

from eigenlabel.datasets import DataError, load
from matlab_files import matrix, sparse, v5

Y = np.array([[1, 0], [0, 1], [1, 1]])


BAD_PARTS = {
    "index far outside": ([1.0], [10**7], [0, 1, 1], "between 0 and 2, found 10000000"),
    "index just outside": ([1.0], [3], [0, 1, 1], "between 0 and 2, found 3"),
    "negative index": ([1.0], [-1], [0, 1, 1], "between 0 and 2, found -1"),
    "pointers fall": ([1.0, 2.0], [0, 1], [0, 5, 2], "do not decrease"),
    "pointers begin late": ([1.0, 2.0], [0, 1], [1, 2, 2], "should start with 0"),
    "too few pointers": ([1.0], [0], [0, 1], "index pointer size 2 should be 3"),
    "too many entries": ([1.0], [0], [0, 1, 9], "9 entries|Last value of index pointer"),
    "negative end": ([1.0], [0], [0, 0, -1], "-1 entries|do not decrease"),
}


@pytest.mark.parametrize("case", list(BAD_PARTS))
def test_sparse_indices_of_matlab_files_are_checked(write, case):
    data, indices, indptr, message = BAD_PARTS[case]
    stored = sparse("X", data, indices, indptr, (3, 2))
    with pytest.raises(DataError, match=message):
        load(write(v5(stored, matrix("Y", Y)), "a.mat"))


@pytest.mark.parametrize("case", [case for case in BAD_PARTS if case != "too few pointers"])
def test_sparse_indices_of_matlab_73_files_are_checked(tmp_path, case):
    h5py = pytest.importorskip("h5py", reason="h5py is an extra")
    data, indices, indptr, message = BAD_PARTS[case]
    with h5py.File(tmp_path / "a.mat", "w") as file:
        file["Y"] = Y.T
        group = file.create_group("X")
        group.attrs["MATLAB_sparse"] = 3
        group["data"], group["ir"], group["jc"] = data, np.array(indices), np.array(indptr)
    with pytest.raises(DataError, match=message):
        load(tmp_path / "a.mat")


BAD_CSR = {
    "index outside": ({"indices": np.array([9, 0])}, "between 0 and 3, found 9"),
    "pointers fall": ({"indptr": np.array([0, 2, 1, 2])}, "do not decrease"),
    "too few values": ({"data": np.array([1.0])}, "indices and data should have the same size"),
    "pointers end early": (
        {"indptr": np.array([0, 1, 1, 1])},
        "1 entries are announced, 2 are there",
    ),
    "indices of halves": ({"indices": np.array([0.5, 1])}, "its indices are float64"),
    "values of words": ({"data": np.array(["a", "b"])}, "its values are <U1"),
    "a shape of one length": ({"shape": np.array([3])}, "its shape is"),
    "a shape of halves": ({"shape": np.array([3.5, 4])}, "X_shape must be two whole numbers"),
    "a negative shape": ({"shape": np.array([3, -4])}, "its shape is"),
    "far too many columns": ({"shape": np.array([3, 10**12])}, "in a file of"),
    "a huge pointer": ({"indptr": np.array([0, 1, 1, 2**64 - 1], np.uint64)}, "is too large"),
}


@pytest.mark.parametrize("case", list(BAD_CSR))
def test_npz_sparse_parts_are_checked(tmp_path, case):
    parts = {
        "data": np.array([1.0, 2.0]),
        "indices": np.array([0, 3]),
        "indptr": np.array([0, 1, 1, 2]),
        "shape": np.array([3, 4]),
    }
    path = tmp_path / "a.npz"
    np.savez(path, Y=Y, **{f"X_{name}": part for name, part in parts.items()})
    np.testing.assert_array_equal(load(path).X.toarray(), [[1, 0, 0, 0], [0] * 4, [0, 0, 0, 2]])
    changes, message = BAD_CSR[case]
    np.savez(path, Y=Y, **{f"X_{name}": part for name, part in {**parts, **changes}.items()})
    with pytest.raises(DataError, match=message):
        load(path)
