"""Files that are damaged on purpose: a DataError in every case, within bounded memory."""

import contextlib
import cProfile
import json
import struct
import time
import zipfile
import zlib

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import eigenlabel as el
from eigenlabel.datasets import DataError, iterate, load, load_mat

X = np.array([[1.0, 0, 2, 0], [0, 3, 0, 0], [0, 0, 4, 5]])
Y = np.array([[1, 0], [0, 1], [1, 1]])


# MATLAB v5


def element(kind, content):
    """Write a data element of a MATLAB v5 file."""
    padding = 0 if kind == 15 else -len(content) % 8  # compressed ones follow each other closely
    return struct.pack("<II", kind, len(content)) + content + bytes(padding)


def array(name, kind, shape, *parts, flags=0):
    """Write an array of a MATLAB class, of the given parts."""
    head = element(6, struct.pack("<II", kind | flags, 99))
    head += element(5, np.array(shape, "<i4").tobytes()) + element(1, name.encode())
    return element(14, head + b"".join(parts))


def doubles(values):
    return element(9, np.array(values, "<f8").tobytes())


def integers(values):
    return element(5, np.array(values, "<i4").tobytes())


def matrix(name, A):
    return array(name, 6, A.shape, doubles(A.T.ravel()))


def v5(*variables, order=b"IM"):
    return b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01" + order + b"".join(variables)


def sparse(name, data, indices, indptr, shape):
    return array(name, 5, shape, integers(indices), integers(indptr), doubles(data))


def test_matlab_sparse_parts_are_read(write):
    A = sp.csc_array(X)
    stored = sparse("X", [*A.data, 7], [*A.indices, 2], A.indptr, X.shape)  # room for one more
    data = load(write(v5(stored, matrix("Y", Y)), "a.mat"))
    np.testing.assert_array_equal(data.X.toarray(), X)
    np.testing.assert_array_equal(data.Y.toarray(), Y)


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
def test_matlab_sparse_places_are_checked(write, case):
    data, indices, indptr, message = BAD_PARTS[case]
    stored = sparse("X", data, indices, indptr, (3, 2))
    with pytest.raises(DataError, match=message):
        load(write(v5(stored, matrix("Y", Y)), "a.mat"))


@pytest.mark.parametrize("case", [case for case in BAD_PARTS if case != "too few pointers"])
def test_matlab_73_sparse_places_are_checked(tmp_path, case):
    h5py = pytest.importorskip("h5py", reason="h5py is an extra")
    data, indices, indptr, message = BAD_PARTS[case]
    with h5py.File(tmp_path / "a.mat", "w") as file:
        file["Y"] = Y.T
        group = file.create_group("X")
        group.attrs["MATLAB_sparse"] = 3
        group["data"], group["ir"], group["jc"] = data, np.array(indices), np.array(indptr)
    with pytest.raises(DataError, match=message):
        load(tmp_path / "a.mat")


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
def test_damaged_matlab_arrays_are_refused(write, case):
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


def test_compression_bombs_in_matlab_files_are_refused(write, monkeypatch):
    monkeypatch.setattr("eigenlabel.datasets.files.BOMB_BYTES", 2**20)
    zeros = bytes(2**24)
    bomb = element(15, zlib.compress(array("X", 6, (2**10, 2**11), element(9, zeros)), 9))
    path = write(v5(bomb, matrix("Y", np.ones((2**10, 1)))), "a.mat")
    with pytest.raises(DataError, match="compression bomb; pass max_bytes"):
        load_mat(path)
    assert load_mat(path, max_bytes=2**26).X.shape == (2**10, 2**11)


def test_whole_numbers_of_a_matlab_file_count_as_the_floats_they_become(write):
    small = array("X", 9, (2**10, 2**10), element(2, bytes(2**20)))
    path = write(v5(small, matrix("Y", np.ones((2**10, 1)))), "a.mat")
    with pytest.raises(DataError, match="larger than 4 MiB; pass max_bytes"):
        load_mat(path, max_bytes=2**22)


# MATLAB v7.3


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
    check_refused(h5, tmp_path, "X is a link to elsewhere")


def test_soft_links_are_not_followed(h5, tmp_path):
    h5[1]["way"] = h5[0].ExternalLink(str(tmp_path / "secret.h5"), "/")
    h5[1]["X"] = h5[0].SoftLink("/way/X")
    check_refused(h5, tmp_path, "X is a link to elsewhere")


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
    check_refused(h5, tmp_path, "jc is a link to elsewhere")


def test_arrays_that_are_hardly_stored_are_refused(h5, tmp_path):
    h5[1].create_dataset("X", shape=(10, 2**22), chunks=(10, 2**10), dtype="f8", compression="gzip")
    check_refused(h5, tmp_path, "compression bomb; pass max_bytes")


# npz

WHOLE = {"X": X, "Y": Y}
ABOUT = {
    "source": "here",
    "notes": ["a note"],
    "views": {"left": [0, 2], "right": [2, 4]},
    "categories": {"1": ["no", "a", "b", "c"]},
    "splits": ["first"],
}
SPLIT = {"split0_train": np.array([0, 2]), "split0_test": np.array([1])}


def npz(path, about=None, **arrays):
    """Write arrays as they are, with metadata."""
    if about is not None:
        text = about if isinstance(about, bytes) else json.dumps(about).encode()
        arrays["about"] = np.frombuffer(text, dtype=np.uint8)
    np.savez(path, **arrays)
    return path


def test_npz_metadata_are_read(tmp_path):
    data = load(npz(tmp_path / "a.npz", ABOUT, **WHOLE, **SPLIT))
    assert (data.source, data.notes) == ("here", ("a note",))
    assert data.views == {"left": slice(0, 2), "right": slice(2, 4)}
    assert data.categories == {"1": ("no", "a", "b", "c")}
    assert [rows.tolist() for rows in data.splits["first"]] == [[0, 2], [1]]


BAD_ABOUT = {
    "not JSON": (b"{", "is not JSON"),
    "not text": (b"\xff\xfe{}", "is not JSON"),
    "nested deeply": (b"[" * 100_000, "is not JSON"),
    "no object": ([1], "an object is expected, found"),
    "a source of numbers": ({"source": 3}, "'source' must be text, found 3"),
    "notes as text": ({"notes": "abc"}, "'notes' must be a list, found 'abc'"),
    "notes of numbers": ({"notes": [1]}, "'notes' must be a list of text"),
    "views as a list": ({"views": [1]}, "'views' must be an object"),
    "a view of one number": ({"views": {"a": [1]}}, "'a' in 'views' must be two column numbers"),
    "a view beyond X": ({"views": {"a": [0, 9]}}, "column numbers from 0 to 4, found .0, 9."),
    "a view that falls": ({"views": {"a": [3, 1]}}, "'a' in 'views'"),
    "a view of halves": ({"views": {"a": [0, 1.5]}}, "'a' in 'views'"),
    "a view of nothing": ({"views": {"a": None}}, "'a' in 'views'"),
    "words beyond X": ({"words": {"a": [0, 9]}}, "'a' in 'words' must be two column numbers"),
    "an unknown type": ({"column_types": {"1": "sound"}}, "'1' is of type 'sound'; types are"),
    "a type of no feature": ({"column_types": {"zz": "date"}}, "the column 'zz' is of type"),
    "a category of no feature": ({"categories": {"zz": ["a"]}}, "category 'zz' is not a feature"),
    "a category of numbers": ({"categories": {"1": [1]}}, "must be a list of text"),
    "a category as text": ({"categories": {"1": "abcd"}}, "must be a list of text"),
    "splits as an object": ({"splits": {"a": 1}}, "'splits' must be a list"),
    "a split twice": ({"splits": ["a", "a"]}, "a split occurs twice"),
    "a split that is not there": ({"splits": ["a", "b"]}, "no array 'split1_train'"),
}


@pytest.mark.parametrize("case", list(BAD_ABOUT))
def test_npz_metadata_are_checked(tmp_path, case):
    about, message = BAD_ABOUT[case]
    with pytest.raises(DataError, match=message):
        load(npz(tmp_path / "a.npz", about, **WHOLE, **SPLIT))


def test_positions_beyond_the_values_of_a_category_are_refused(tmp_path):
    like = load(npz(tmp_path / "a.npz", ABOUT, **WHOLE, **SPLIT))
    path = npz(tmp_path / "b.npz", {"categories": {"1": ["no", "a"]}}, **WHOLE)
    with pytest.raises(DataError, match="'1' holds 3, which is no position in its 2 values"):
        load(path, like=like)


@pytest.mark.parametrize("dtype", ["f2", ">f4", ">f8", ">i4", "g"])
@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array])
def test_npz_numbers_of_any_type_are_read(tmp_path, dtype, wrap):
    A = sp.csr_array(X)
    parts = {"data": A.data, "indices": A.indices, "indptr": A.indptr}
    arrays = {
        f"X_{k}": np.asarray(v).astype(dtype if k == "data" else ">i4") for k, v in parts.items()
    }
    arrays |= {"X_shape": np.array(X.shape)}
    arrays = {"X": X.astype(dtype)} if wrap is np.asarray else arrays
    np.savez(tmp_path / "a.npz", Y=Y, **arrays)
    data = load(tmp_path / "a.npz")
    np.testing.assert_array_equal(data.X if wrap is np.asarray else data.X.toarray(), X)
    assert data.X.dtype.isnative


BAD_NPZ = {
    "rows beyond X": ({"split0_test": np.array([3])}, "names row 3; rows lie between 0 and 2"),
    "rows before X": ({"split0_test": np.array([-1])}, "names row -1"),
    "rows of halves": ({"split0_test": np.array([0.5])}, "must be a list of row numbers"),
    "a matrix of rows": ({"split0_test": np.array([[1]])}, "must be a list of row numbers"),
    "too few samples": ({"sample_names": np.array(["a"])}, "sample_names must be text"),
    "samples by number": ({"sample_names": np.arange(3)}, "sample_names must be text"),
    "X of one number": ({"X": np.array(1.0)}, "X must be a matrix"),
    "X of words": ({"X": np.array([["a"]] * 3)}, "X must be a matrix and hold numbers"),
    "Y of words": ({"Y": np.array([["a"]] * 3)}, "Y must be a matrix and hold numbers"),
    "Y of complex numbers": ({"Y": Y * 1j}, "Y must be a matrix and hold numbers"),
    "X without columns": ({"X": np.zeros((3, 0))}, "no samples or no features"),
    "metadata of floats": ({"about": np.zeros(3)}, "must be JSON as bytes"),
}


@pytest.mark.parametrize("case", list(BAD_NPZ))
def test_npz_arrays_are_checked(tmp_path, case):
    changes, message = BAD_NPZ[case]
    arrays = {**WHOLE, **SPLIT, "about": np.frombuffer(b'{"splits": ["a"]}', dtype=np.uint8)}
    np.savez(tmp_path / "a.npz", **{**arrays, **changes})
    with pytest.raises(DataError, match=message):
        load(tmp_path / "a.npz")


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


def test_files_in_an_npz_that_are_no_arrays_are_refused(tmp_path):
    path = npz(tmp_path / "a.npz", **WHOLE)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("sample_names", "abc")
    with pytest.raises(DataError, match="'sample_names' in it is not an array"):
        load(path)


def test_labels_at_the_same_place_are_added_before_they_are_checked(tmp_path):
    path = tmp_path / "a.npz"
    parts = {"data": [1, 1], "indices": [0, 0], "indptr": [0, 2, 2, 2], "shape": [3, 1]}
    np.savez(path, X=X, **{f"Y_{name}": np.array(part) for name, part in parts.items()})
    with pytest.raises(DataError, match="labels in Y must be 0 or 1, found 2"):
        load(path)


# Numbers that are too large


ARFF = "@relation 'r: -C -1'\n@attribute a numeric\n@attribute y {0,1}\n@data\n"
LARGE = {
    "it.csv": ("a,b,labels\n1,2,x\n3,WORD,y\n", "'b'", 3),
    "it.tsv": ("a\tb\tlabels\n1\t2\tx\n3\tWORD\ty\n", "'b'", 3),
    "semicolons.csv": ("a;b;labels\n1,5;2;x\n3;WORD;y\n", "'b'", 3),
    "missing.csv": ("a,b,labels\n1,NA,x\n3,WORD,y\n", "'b'", 3),
    "it.svm": ("# first\n0 1:2\n\n1 1:1 2:WORD 3:4\n", "feature 2", 4),
    "xmc.txt": ("2 3 2\n0 0:1\n1 1:WORD\n", "feature 1", 3),
    "dense.arff": (ARFF + "1,0\nWORD,1\n", "'a'", 6),
    "sparse.arff": (ARFF + "{0 1}\n{0 WORD, 1 1}\n", "'a'", 6),
    "it.jsonl": ('{"a": 1, "labels": ["x"]}\n{"a": WORD, "labels": ["y"]}\n', "'a'", 2),
    "features.jsonl": ('{"features": {"a": WORD}, "labels": ["x"]}\n', "'a'", 1),
}


@pytest.mark.parametrize("word", ["1e999", "-1e999", "9" * 400])
@pytest.mark.parametrize("name", list(LARGE))
def test_numbers_that_no_float_holds_are_refused(write, name, word, engine):  # noqa: ARG001
    text, place, line = LARGE[name]
    with pytest.raises(DataError, match=f"line {line}: .*{place}.*too large"):
        load(write(text.replace("WORD", word), name))
    with pytest.raises(DataError, match=f"line {line}: .*{place}.*too large"):
        list(iterate(write(text.replace("WORD", word), name), rows=9))


@pytest.mark.parametrize("name", [name for name in LARGE if "jsonl" not in name])
def test_infinity_is_read_where_it_is_written_as_such(write, name, engine):  # noqa: ARG001
    data = load(write(LARGE[name][0].replace("WORD", "inf"), name))
    X = data.X.toarray() if sp.issparse(data.X) else data.X
    assert np.isinf(X).sum() == 1


# Tables of very many columns, and names that stand twice


def test_no_query_is_run_for_each_column_of_a_table(write):
    pytest.importorskip("polars", reason="polars is an extra")
    head = ",".join(f"c{i}" for i in range(500))
    rows = "\n".join(",".join(["1.5", *["2"] * 499]) + ",x" for _ in range(3))
    path = write(f"{head},labels\n{rows}\n")
    with cProfile.Profile() as profile:
        data = load(path)
    calls = [entry.callcount for entry in profile.getstats() if "'collect'" in str(entry.code)]
    np.testing.assert_array_equal(data.X, np.tile([1.5, *[2.0] * 499], (3, 1)))
    assert 0 < sum(calls) < 50


@pytest.mark.parametrize(
    "estimator",
    [el.SharedSubspaceClassifier(), el.MLkNN(), el.preprocessing.DocumentFrequencySelector()],
)
def test_columns_of_a_frame_have_different_names(estimator):
    pd = pytest.importorskip("pandas", reason="pandas is an extra")
    frame = pd.DataFrame(X, columns=["a", "b", "a", "c"])
    with pytest.raises(ValueError, match="Two columns of X are called 'a'; rename one of them"):
        estimator.fit(frame, Y)


# Text that takes long to look at


LONG = {
    "labels.svm": "0" + ",10" * 40 + "x 1:1\n",
    "digits.csv": "a,labels\n" + "1" * 100_000 + "x,u\n2,v\n",
    "blanks.arff": ARFF.replace("a numeric", "a {x}") + "'x'" + " " * 200_000 + "y,0\n",
}


@pytest.mark.parametrize("name", list(LONG))
def test_long_words_are_read_in_linear_time(write, name):
    path = write(LONG[name], name)
    start = time.process_time()
    with contextlib.suppress(DataError):
        load(path)
    assert time.process_time() - start < 3  # minutes where a pattern goes back and forth
