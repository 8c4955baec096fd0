"""Damaged MATLAB v5 files raise DataError."""

import struct
import zlib

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from eigenlabel.datasets import DataError, load, load_mat
from matlab_files import array, doubles, element, integers, matrix, sparse, v5

X = np.array([[1.0, 0, 2, 0], [0, 3, 0, 0], [0, 0, 4, 5]])


Y = np.array([[1, 0], [0, 1], [1, 1]])


def test_matlab_sparse_parts_are_read(write):
    A = sp.csc_array(X)
    stored = sparse("X", [*A.data, 7], [*A.indices, 2], A.indptr, X.shape)  # room for one more
    data = load(write(v5(stored, matrix("Y", Y)), "a.mat"))
    np.testing.assert_array_equal(data.X.toarray(), X)
    np.testing.assert_array_equal(data.Y.toarray(), Y)


BAD_ARRAYS = {
    "more values than the shape": array("X", 6, (3, 2), doubles(np.ones(7))),
    "fewer values than the shape": array("X", 6, (30000, 20000), doubles(np.ones(6))),
    "negative shape": array("X", 6, (-3, -2), doubles(np.ones(6))),
    "one length only": array("X", 6, (6,), doubles(np.ones(6))),
    "a length beyond the file": struct.pack("<II", 14, 2**31) + bytes(40),
    "billions of cells": array("view", 1, (2**31 - 1, 2**31 - 1)),
    "a structure": array("X", 2, (1, 1), integers([8])),
    "complex numbers": array("X", 6, (3, 1), doubles(np.ones(3)), flags=0x800),
    "rows of nothing": sparse("X", [1.0], [0], [0, 1], (2**31 - 1, 1)),
    "text": array("X", 4, (1, 3), element(16, b"abc")),
    "characters of half a letter": array("X", 4, (1, 1), element(17, b"\x00\xd8")),
    "an unknown type of numbers": array("X", 6, (1, 1), element(99, bytes(8))),
    "not compressed at all": element(15, b"nothing at all"),
    "compressed nothing": element(15, zlib.compress(b"")),
}


@pytest.mark.parametrize("case", list(BAD_ARRAYS))
def test_damaged_matlab_arrays_raise(write, case):
    with pytest.raises(DataError):
        load(write(v5(BAD_ARRAYS[case], matrix("Y", Y)), "a.mat"))


def test_matlab_files_of_the_other_byte_order_are_read(write, tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"X": X, "Y": sp.csc_matrix(Y)})
    swapped = bytearray((tmp_path / "a.mat").read_bytes()[:128])
    assert bytes(swapped[126:128]) == b"IM"

    def big(kind, content):
        return struct.pack(">II", kind, len(content)) + content + bytes(-len(content) % 8)

    def values(name, A):
        head = big(6, struct.pack(">II", 6, 0)) + big(5, np.array(A.shape, ">i4").tobytes())
        return big(14, head + big(1, name.encode()) + big(9, A.T.astype(">f8").tobytes()))

    swapped[124:128] = b"\x01\x00MI"
    data = load(write(bytes(swapped) + values("X", X) + values("Y", Y), "b.mat"))
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.Y.toarray(), Y)


def test_a_compressed_matlab_array_does_not_grow_beyond_its_limit(write):
    zeros = bytes(2**24)
    bomb = element(15, zlib.compress(array("X", 6, (2**10, 2**11), element(9, zeros)), 9))
    path = write(v5(bomb, matrix("Y", np.ones((2**10, 1)))), "a.mat")
    assert path.stat().st_size < 2**16
    assert load_mat(path).X.shape == (2**10, 2**11)
    with pytest.raises(DataError, match="larger than 4 MiB; pass max_bytes"):
        load_mat(path, max_bytes=2**22)


def test_compression_bombs_in_matlab_files_raise(write, monkeypatch):
    monkeypatch.setattr("eigenlabel.datasets.files.limits.BOMB_BYTES", 2**20)
    zeros = bytes(2**24)
    bomb = element(15, zlib.compress(array("X", 6, (2**10, 2**11), element(9, zeros)), 9))
    path = write(v5(bomb, matrix("Y", np.ones((2**10, 1)))), "a.mat")
    with pytest.raises(DataError, match="compression bomb; pass max_bytes"):
        load_mat(path)
    assert load_mat(path, max_bytes=2**26).X.shape == (2**10, 2**11)
