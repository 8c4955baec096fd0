"""NPZ files are read without pickles, and their arrays are checked."""

import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.datasets import (
    DataError,
    Dataset,
    load,
    load_npz,
    save_npz,
)
from forms import dense, npz


@pytest.mark.parametrize("sparse", [False, True])
def test_npz_round_trip(tmp_path, rng, sparse):
    X = rng.standard_normal((6, 4))
    data = Dataset(
        X=sp.csr_array(X) if sparse else X,
        Y=sp.csr_array(np.eye(6, 3, dtype=np.int8)),
        feature_names=np.array(["a", "b", "ü", "<script>"]),
        label_names=np.array(["x", "y", "z"]),
        sample_names=np.array(list("uvwxyz")),
        views={"left": slice(0, 1), "right": slice(1, 4)},
        splits={"published": (np.arange(4), np.arange(4, 6))},
        categories={"a": ("no", "yes")},
        source="here",
        notes=("a note",),
    )
    save_npz(data, tmp_path / "j.npz")
    again = load(tmp_path / "j.npz")
    np.testing.assert_array_equal(dense(again.X), X)
    np.testing.assert_array_equal(again.Y.toarray(), data.Y.toarray())
    for name in ("feature_names", "label_names", "sample_names"):
        np.testing.assert_array_equal(getattr(again, name), getattr(data, name))
    for name in ("views", "categories", "source", "notes"):
        assert getattr(again, name) == getattr(data, name)
    np.testing.assert_array_equal(again.splits["published"][1], [4, 5])
    np.testing.assert_array_equal(dense(again.view("right")), X[:, 1:])


def test_npz_never_unpickles(tmp_path):
    path = tmp_path / "k.npz"

    class Evil:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "touched",))

    np.savez(path, X=np.array([Evil()], dtype=object), Y=np.ones((1, 1)))
    with pytest.raises(DataError, match="without pickles"):
        load(path)
    assert not (tmp_path / "touched").exists()


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.ones((2, 2))}, "no array 'Y'; there are: X"),
        ({"X": np.ones((2, 2)), "Y": np.ones((3, 2))}, "do not fit"),
        (
            {
                "Y": np.ones((2, 1)),
                "X_data": np.ones(1),
                "X_indices": np.array([7]),
                "X_indptr": np.array([0, 1, 1]),
                "X_shape": np.array([2, 2]),
            },
            "X is not a valid sparse matrix",
        ),
    ],
)
def test_broken_npz_raises_an_error(tmp_path, arrays, message):
    path = tmp_path / "l.npz"
    np.savez(path, **arrays)
    with pytest.raises(DataError, match=message):
        load(path)
    with pytest.raises(DataError, match="pass max_bytes"):
        load_npz(path, max_bytes=10)


X = np.array([[1.0, 0, 2, 0], [0, 3, 0, 0], [0, 0, 4, 5]])


Y = np.array([[1, 0], [0, 1], [1, 1]])


WHOLE = {"X": X, "Y": Y}


SPLIT = {"split0_train": np.array([0, 2]), "split0_test": np.array([1])}


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


def test_members_of_an_npz_that_are_not_arrays_raise(tmp_path):
    path = npz(tmp_path / "a.npz", **WHOLE)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("sample_names", "abc")
    with pytest.raises(DataError, match="'sample_names' in it is not an array"):
        load(path)


def test_labels_at_the_same_position_are_added_before_they_are_checked(tmp_path):
    path = tmp_path / "a.npz"
    parts = {"data": [1, 1], "indices": [0, 0], "indptr": [0, 2, 2, 2], "shape": [3, 1]}
    np.savez(path, X=X, **{f"Y_{name}": np.array(part) for name, part in parts.items()})
    with pytest.raises(DataError, match="labels in Y must be 0 or 1, found 2"):
        load(path)
