"""Every file form: what it should give, what is wrong with a broken one, and noise."""

import bz2
import gzip
import json
import lzma
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from eigenlabel.datasets import (
    DataError,
    Dataset,
    find_form,
    iterate,
    load,
    load_mat,
    load_mulan,
    load_npz,
    load_svmlight,
    load_xmc,
    save_npz,
)
from eigenlabel.datasets.files import number_names
from eigenlabel.datasets.forms.arff import reader as _arff

XML = '<labels xmlns="http://mulan.sourceforge.net/labels">{}</labels>'
DENSE = """% a comment
@RELATION 'toy data'

@attribute 'size of it' real
@attribute colour {red, 'light blue', green}
@attribute "b's" {0,1}
@attribute a numeric
@Attribute L1 {0,1}
@DATA
1.5,red,1,2e-3,0
-2,'light blue',0,?,1
"""
SPARSE = """@relation r
@attribute L1 {0,1}
@attribute f {0,1}
@attribute g numeric
@attribute L2 {0,1}
@data
{0 1,2 -0.5}
{}
{1 1, 3 1}
"""


def xml_of(*names):
    return XML.format("".join(f'<label name="{name}"/>' for name in names))


def dense_of(A):
    return A.toarray() if sp.issparse(A) else A


@pytest.fixture
def arff(tmp_path):
    def write(text, xml="default", name="toy.arff"):
        if xml:
            xml = xml_of("L1", "b's") if xml == "default" else xml
            (tmp_path / "toy.xml").write_text(xml)
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path / name

    return write


def test_dense_arff(arff):
    data = load(arff(DENSE))
    np.testing.assert_array_equal(data.feature_names, ["size of it", "colour", "a"])
    np.testing.assert_array_equal(data.label_names, ["b's", "L1"])  # in the order of the ARFF
    np.testing.assert_array_equal(data.X, [[1.5, 0, 2e-3], [-2, 1, np.nan]])
    np.testing.assert_array_equal(data.Y.toarray(), [[1, 0], [0, 1]])
    assert data.categories == {"colour": ("red", "light blue", "green")}


def test_sparse_arff(arff):
    data = load(arff(SPARSE, xml_of("L2", "L1")))
    assert sp.issparse(data.X)
    np.testing.assert_array_equal(data.X.toarray(), [[0, -0.5], [0, 0], [1, 0]])
    np.testing.assert_array_equal(data.Y.toarray(), [[1, 0], [0, 0], [0, 1]])


def test_sparse_arff_with_named_values_out_of_order(arff):
    text = "@relation r\n@attribute c {no,yes}\n@attribute L1 {0,1}\n@attribute b's {0,1}\n@data\n"
    data = load(arff(text + "{2 1, 0 yes}\n{1 1}\n"))
    np.testing.assert_array_equal(data.X.toarray(), [[1], [0]])
    np.testing.assert_array_equal(data.Y.toarray(), [[0, 1], [1, 0]])


@pytest.mark.parametrize(("count", "labels"), [(1, ["L1"]), (-2, ["g", "L2"])])
def test_meka_counts_labels_from_either_end(arff, count, labels):
    text = SPARSE.replace("@relation r", f"@relation 'x: -C {count} -split-percentage 50'")
    text = text.replace("-0.5", "1")
    assert load(arff(text, xml=None)).label_names.tolist() == labels


def test_the_xml_counts_more_than_a_relation_name(arff):
    text = SPARSE.replace("@relation r", "@relation 'x: -C 2'")
    assert load(arff(text, xml_of("L1", "L2"))).label_names.tolist() == ["L1", "L2"]


def test_a_label_hierarchy_is_ignored_with_a_note(arff):
    xml = '<labels><label name="L1"><label name="L2"/></label></labels>'
    data = load(arff(SPARSE, xml))
    assert data.label_names.tolist() == ["L1", "L2"]
    assert data.notes == ("the label hierarchy is ignored",)


@pytest.mark.parametrize(
    "change", [lambda b: b, lambda b: b.replace(b"\n", b"\r\n"), lambda b: b"\xef\xbb\xbf" + b]
)
@pytest.mark.parametrize("pack", [lambda b: b, gzip.compress, bz2.compress, lzma.compress])
def test_line_ends_marks_and_compression_make_no_difference(arff, change, pack):
    # compressed files are known by content: the name says nothing
    data = load(arff(pack(change(DENSE.encode()))))
    np.testing.assert_array_equal(data.X[0], [1.5, 0, 2e-3])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DENSE.replace("1.5,red,1,2e-3,0", "1.5,red,1,2e-3"), "line 10: 4 values for 5 attributes"),
        (DENSE.replace("1.5,red", "big,red"), "line 10: 'size of it' is 'big', not a number"),
        (DENSE.replace("1.5,red", "1.5,pink"), "line 10: 'colour' is 'pink', not in its list"),
        (DENSE.replace("real", "string"), "line 4: attribute 'size of it' is of type 'string'"),
        (DENSE.replace("green}", "green"), "line 5: the value list of 'colour' is not closed"),
        (DENSE.replace("@attribute a ", "@attribut a "), "line 7: expected @attribute or @data"),
        (DENSE.replace("@attribute a", "@attribute L1"), "attribute 'L1' stands twice"),
        (DENSE.partition("@DATA")[0], "no @data line: the file is cut off"),
        (DENSE.partition("1.5")[0], "no data after @data"),
        ("@relation x\n@data\n1\n", "line 2: no @attribute before @data"),
        (
            DENSE.replace("L1 {0,1}", "L1 numeric").replace(",1\n", ",3\n"),
            "labels must be 0 or 1, found 3",
        ),
        (DENSE.encode().replace(b"red", b"r\xe9d"), "line 5: not utf-8 text"),
        (b"@relation \x00\x00\n" + DENSE.encode(), "binary file"),
        (SPARSE.replace("{0 1,2 -0.5}", "{0 1,9 1}"), "line 7: index 9 beyond the 4 attributes"),
        (SPARSE.replace("{0 1,2 -0.5}", "{0 1,0 1}"), "line 7: index 0 stands twice"),
        (SPARSE.replace("{0 1,2 -0.5}", "{0 1,2}"), "line 7: expected 'index value', found '2'"),
        (SPARSE.replace("{}", "{"), "line 8: a sparse row must stand in braces"),
        (SPARSE.replace("-0.5", "x"), "line 7: 'g' is 'x', not a number"),
        (SPARSE.replace("{0 1", "{0 7"), "found 7|not in its list"),
    ],
)
def test_broken_arff(arff, text, message):
    labels = (
        ("L1", "b's")
        if b"colour" in (text if isinstance(text, bytes) else text.encode())
        else ("L1", "L2")
    )
    with pytest.raises(DataError, match=message):
        load(arff(text, xml_of(*labels)))


def test_which_attributes_are_labels(arff, tmp_path):
    with pytest.raises(DataError, match=r"no XML file beside it and no '-C n'.*pass xml="):
        load(arff(DENSE, xml=None))
    with pytest.raises(DataError, match=r"toy.xml: label 'nobody' is no attribute of toy.arff"):
        load(arff(DENSE, xml_of("L1", "nobody")))
    with pytest.raises(DataError, match="no such file"):
        load_mulan(arff(DENSE), xml=tmp_path / "nowhere.xml")
    (tmp_path / "toy.xml").unlink()
    with pytest.raises(DataError, match="-C 9 with 4 attributes"):
        load_mulan(arff(SPARSE.replace("relation r", "relation 'a -C 9'"), xml=None))


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        ("<labels>", "not XML"),
        ("<labels/>", "no <label name"),
        ("<labels><label/></labels>", "no <label name"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><labels/>', "entities are not read"),
    ],
)
def test_broken_xml(arff, xml, message):
    with pytest.raises(DataError, match=message):
        load(arff(DENSE, xml))


# LIBSVM and XMC


def test_svmlight_by_hand(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("0,2 1:0.5 3:2\n 2:1\n1 1:1 # remark\n")
    data = load(path)
    np.testing.assert_array_equal(data.X.toarray(), [[0.5, 0, 2], [0, 1, 0], [1, 0, 0]])
    np.testing.assert_array_equal(data.Y.toarray(), [[1, 0, 1], [0, 0, 0], [0, 1, 0]])
    (tmp_path / "a.labels.txt").write_text("x\ny\nz\n")
    (tmp_path / "a.features.txt").write_text("f\ng\nh\ni\n")
    named = load(path)
    assert named.label_names.tolist() == ["x", "y", "z"]
    assert named.feature_names.tolist() == ["f", "g", "h", "i"]  # the last one never occurs
    assert named.X.shape == (3, 4)
    given = load_svmlight(path, n_features=7, n_labels=5)  # what is asked for counts more
    assert (given.X.shape, given.Y.shape) == ((3, 7), (3, 5))
    assert given.label_names.tolist() == list("01234")
    (tmp_path / "a.labels.txt").write_text("x\n")  # too few: of another file
    assert load(path).label_names.tolist() == ["0", "1", "2"]


def test_svmlight_reads_what_scikit_learn_writes(tmp_path, rng):
    X = sp.random_array((30, 9), density=0.3, rng=rng, format="csr")
    Y = (rng.uniform(size=(30, 4)) < 0.4).astype(int)
    Y[0, 3] = 1
    for zero_based in (True, False):
        path = tmp_path / "b.svm"
        dump_svmlight_file(X, sp.csr_matrix(Y), str(path), zero_based=zero_based, multilabel=True)
        data = load_svmlight(path, n_features=9, zero_based=zero_based)
        np.testing.assert_allclose(data.X.toarray(), X.toarray(), rtol=1e-12)
        np.testing.assert_array_equal(data.Y.toarray(), Y)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("1 1:1\n2 x:3\n", {}, "line 2: expected 'index:value', found 'x:3'"),
        ("1 1:1\n2 3:y\n", {}, "line 2: value 'y' is not a number"),
        ("1 1:1\nz 3:1\n", {}, "line 2: label 'z' is not a number"),
        ("1 3:1 2:1\n", {}, "line 1: feature 2 after 3: must rise"),
        ("1 3:1 3:1\n", {}, "line 1: feature 3 after 3: must rise"),
        ("1 9:1\n", {"n_features": 4, "zero_based": False}, "line 1: feature 9 beyond the 4"),
        ("1 1:1\n-1 1:1\n", {}, "line 2: label -1 is not a number from 0"),
        ("1.5 1:1\n", {}, r"line 1: label 1\.5 is not a number from 0"),
        ("0 1:1\n99999999999 1:1\n", {}, "line 2: label 99999999999 is too many .*; pass n_labels"),
        ("1 1:1\n1 99999999999999999999:1\n", {}, "line 2: feature 9{20} is too large"),
        ("1 1:1\n1 2147483648:1\n", {}, "line 2: feature 2147483648 is too large"),
        ("1 1:1\n1 20000000:1\n", {}, "line 2: feature 20000000 in a small file; pass n_features"),
        ("1 1:1\n1 ²:1\n", {}, "line 2: expected 'index:value', found '²:1'"),
        ("5 1:1\n", {"n_labels": 3}, "label 5 is not between 0 and 2"),
        (" 1:1\n 2:1\n", {}, "no sample has a label"),
        ("\n\n", {}, "empty"),
    ],
)
def test_broken_svmlight(tmp_path, text, options, message):
    path = tmp_path / "c.svm"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        load_svmlight(path, **options)


def test_a_wide_file_is_read_where_its_width_is_said_or_its_size_allows_it(tmp_path, monkeypatch):
    path = tmp_path / "wide.svm"
    path.write_text("0 1:1\n1 5000000:2\n")
    for read in (load, lambda path: next(iterate(path))):
        with pytest.raises(DataError, match="line 2: feature 5000000 in a small file"):
            read(path)
    data = load(path, n_features=5_000_000)
    assert data.X.shape == (2, 5_000_000)
    assert data.feature_names[[0, 9, 10, 4_999_999]].tolist() == ["0", "9", "10", "4999999"]
    monkeypatch.setattr("eigenlabel.datasets.forms.sparse_text.MANY_FEATURES", 5_000_000)
    assert load(path).X.shape == (2, 5_000_000)
    (tmp_path / "wide.txt").write_text("1 6000000 2\n0 1:1\n")
    for read in (load, lambda path: next(iterate(path))):
        with pytest.raises(DataError, match=r"line 1: 6000000 features .* too many for this file"):
            read(tmp_path / "wide.txt")
    with pytest.raises(DataError, match="columns are more than this machine can name"):
        load(path, n_features=10**12)


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 100, 1234])
def test_numbers_as_names(count):
    np.testing.assert_array_equal(number_names("a", count), np.arange(count).astype(str))


def test_svmlight_with_comments_and_with_names_for_labels(tmp_path):
    path = tmp_path / "a.txt"
    X, Y = sp.csr_matrix(np.eye(3)), np.eye(3, dtype=int)
    dump_svmlight_file(X, Y, str(path), multilabel=True, comment="made by hand")
    assert load(path).X.shape == (3, 3)
    path.write_text("# hi\n0 1:1 # c\n1,0 2:1\n")
    assert load(path).Y.toarray().tolist() == [[1, 0], [1, 1]]
    path.write_text("cat,dog 1:1\ndog 1:1\n")
    with pytest.raises(DataError, match="line 1: label 'cat' is not a number"):
        load(path)


def test_svmlight_like_another_counts_features_as_that_does(tmp_path):
    train, test = tmp_path / "train.svm", tmp_path / "test.svm"
    train.write_text("0 0:1 2:1\n1 1:1\n")
    test.write_text("0 1:5\n1 2:7\n")  # without feature 0 it looks as if they counted from 1
    expected = [[0, 5, 0], [0, 0, 7]]
    like = load(train)
    assert load(test, like=like).X.toarray().tolist() == expected
    pieces = [piece.X.toarray()[0].tolist() for piece in iterate(test, rows=1, like=like)]
    assert pieces == expected
    train.write_text("0 1:1 3:1\n")
    test.write_text("0 0:1\n")
    with pytest.raises(DataError, match="line 1: feature 0, but they count from 1"):
        load(test, like=load(train))


def test_xmc_by_hand(tmp_path):
    path = tmp_path / "d.txt"
    path.write_text("4 5 3\n0,2 0:1.5 4:1\n 1:1\n\n1 2:1\n")
    (tmp_path / "d_trSplit.txt").write_text("1 2\n3 4\n")
    (tmp_path / "d_tstSplit.txt").write_text("2 1\n4 3\n")
    data = load(path)
    expected = np.zeros((4, 5))
    expected[[0, 0, 1, 3], [0, 4, 1, 2]] = [1.5, 1, 1, 1]
    np.testing.assert_array_equal(data.X.toarray(), expected)
    np.testing.assert_array_equal(data.Y.toarray(), [[1, 0, 1], [0, 0, 0], [0, 0, 0], [0, 1, 0]])
    assert {k: [p.tolist() for p in v] for k, v in data.splits.items()} == {
        "0": [[0, 2], [1, 3]],
        "1": [[1, 3], [0, 2]],
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("10000000000 5 3\n1 1:1\n", "promises 10000000000 samples, there are 1"),
        ("1 5 99999999999\n1 1:1\n", "too many"),
        ("1 5 3\n1 7:1\n", "line 2: feature 7 beyond the 5 features"),
        ("1 5 3\n4 1:1\n", "label 4 is not between 0 and 2"),
        ("2 5 3\n1 1:1\n1 1:\n", "line 3: value '' is not a number"),
    ],
)
def test_broken_xmc(tmp_path, text, message):
    path = tmp_path / "e.txt"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        load(path)


def test_broken_splits(tmp_path):
    path = tmp_path / "e.txt"
    path.write_text("2 5 3\n1 1:1\n1 1:1\n")
    (tmp_path / "e_trSplit.txt").write_text("1\n")
    (tmp_path / "e_tstSplit.txt").write_text("3\n")
    with pytest.raises(
        DataError, match=r"tstSplit.txt, line 1: row numbers must lie between 1 and 2"
    ):
        load(path)


# MATLAB and npz


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
    np.testing.assert_allclose(dense_of(data.X), X)
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


def test_matlab_73(tmp_path, rng):
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


def test_broken_matlab_73(tmp_path):
    h5py = pytest.importorskip("h5py", reason="h5py is an extra")
    path = tmp_path / "h.mat"
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(50))
    with pytest.raises(DataError, match="not a MATLAB file, or damaged"):
        load(path)
    with h5py.File(path, "w") as file:  # 800 TB of nothing
        file.create_dataset("X", shape=(10**7, 10**7), chunks=(100, 100), dtype="f8")
    with pytest.raises(DataError, match=r"an array of shape .* is larger than .*; pass max_bytes"):
        load(path)


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
def test_broken_matlab(tmp_path, arrays, message):
    path = tmp_path / "i.mat"
    scipy.io.savemat(path, arrays)
    with pytest.raises(DataError, match=message):
        load(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError):
        load(path)


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
    np.testing.assert_array_equal(dense_of(again.X), X)
    np.testing.assert_array_equal(again.Y.toarray(), data.Y.toarray())
    for name in ("feature_names", "label_names", "sample_names"):
        np.testing.assert_array_equal(getattr(again, name), getattr(data, name))
    for name in ("views", "categories", "source", "notes"):
        assert getattr(again, name) == getattr(data, name)
    np.testing.assert_array_equal(again.splits["published"][1], [4, 5])
    np.testing.assert_array_equal(dense_of(again.view("right")), X[:, 1:])


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
def test_broken_npz(tmp_path, arrays, message):
    path = tmp_path / "l.npz"
    np.savez(path, **arrays)
    with pytest.raises(DataError, match=message):
        load(path)
    with pytest.raises(DataError, match="pass max_bytes"):
        load_npz(path, max_bytes=10)


# Whatever is not data


def test_bombs_and_large_files_are_stopped(tmp_path):
    path = tmp_path / "m.svm.gz"
    with gzip.open(path, "wb") as stream:
        for _ in range(300):
            stream.write(b"\n" * 2**20)
    with pytest.raises(DataError, match="compression bomb"):
        load_svmlight(path)
    with pytest.raises(DataError, match="larger than 1 MiB; pass max_bytes"):
        load_svmlight(path, max_bytes=2**20)


def test_cut_off_compression(arff):
    packed = gzip.compress(DENSE.encode() * 50)
    with pytest.raises(DataError, match="damaged or cut off"):
        load(arff(packed[: len(packed) // 2]))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"hello world\n", r"cannot tell what form .* b'hello world"),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "cannot tell"),
    ],
)
def test_unknown_content(tmp_path, content, message):
    path = tmp_path / "n.dat"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        load(path)


def test_missing_files(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        load(tmp_path / "nothing")
    with pytest.raises(DataError, match="a folder, not a file"):
        load(tmp_path)


SEEDS = {
    "arff": DENSE.encode(),
    "sparse arff": SPARSE.encode(),
    "svmlight": b"0,2 1:0.5 3:2\n 2:1\n1 1:1\n",
    "xmc": b"3 5 3\n0,2 0:1.5 4:1\n 1:1\n1 2:1\n",
}


@pytest.mark.parametrize("form", list(SEEDS))
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_noise_gives_data_or_a_clear_error(form, data, tmp_path):
    seed = SEEDS[form]
    at = data.draw(st.integers(0, len(seed)))
    cut = data.draw(st.integers(0, 6))
    noise = data.draw(
        st.one_of(
            st.binary(max_size=6), st.sampled_from([b"9" * 12, b"{", b"}", b"'", b":", b",", b"\n"])
        )
    )
    (tmp_path / "toy.xml").write_text(xml_of("L1", "L2" if form == "sparse arff" else "b's"))
    path = tmp_path / "toy.arff"
    path.write_bytes(seed[:at] + noise + seed[at + cut :])
    try:
        found = load(path)
    except DataError:
        event("refused")
    else:
        event("read")
        assert found.X.shape == (found.Y.shape[0], len(found.feature_names))
        assert found.Y.shape[1] == len(found.label_names)
        assert set(np.unique(found.Y.toarray())) <= {0, 1}


# The published files


def shapes(folder):
    """Read the table 'Shapes by file' of the data's README."""
    text = (folder / "README.md").read_text().partition("## Shapes by file")[2]
    rows = [
        [c.strip(" `") for c in line.split("|")[1:-1]]
        for line in text.split("\n")
        if line.startswith("| `")
    ]
    return [(r[0], *map(int, (r[2], r[4], r[5])), r[3]) for r in rows]


def test_published_files_have_their_published_shapes(data_folder):
    seen = 0
    for name, n, m, positives, features in shapes(data_folder):
        part = name.rpartition(" ")[2] if name.startswith("yahoo_lamda") else None
        path = data_folder / (name.rpartition(" ")[0] if part else name.partition(" + ")[0])
        d = sum(map(int, features.split("+")))
        options = {"n_features": d} if find_form(path) == "svmlight" else {}
        data = load(path, **options)
        X, Y = data.X, data.Y
        if part:
            rows = data.splits["published"][part == "test"]
            X, Y = X[rows], Y[rows]
        assert (*X.shape, Y.shape[1], Y.sum()) == (n, d, m, positives), name
        seen += 1
    assert seen == 67


def test_the_same_data_in_two_forms(data_folder):
    dense = load(data_folder / "mulan/corel5k/Corel5k-test.arff")
    sparse = load(data_folder / "mulan/corel5k/Corel5k-test-sparse.arff")
    np.testing.assert_array_equal(dense.X, sparse.X.toarray())
    np.testing.assert_array_equal(dense.Y.toarray(), sparse.Y.toarray())
    xmc = load_xmc(data_folder / "xmc/Bibtex/Bibtex_data.txt.gz")
    mulan = load(data_folder / "mulan/bibtex/bibtex.arff")
    assert xmc.X.sum() == mulan.X.sum()
    np.testing.assert_array_equal(xmc.Y.sum(axis=0), mulan.Y.sum(axis=0))
    for train, test in xmc.splits.values():
        assert sorted([*train, *test]) == list(range(7395))
    assert json.dumps(list(xmc.splits)) == json.dumps([str(k) for k in range(10)])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a, 'b, c' ,d", ["a", "b, c", "d"]),
        ("'a',", ["a", ""]),
        ("'it\\'s',\"x\"", ["it's", "x"]),
        ("'", ["'"]),
        ("'a", ["'a"]),
        ("a,,'b'", ["a", "", "b"]),
        ("'a'b,c", ["'a'b", "c"]),
    ],
)
def test_splitting_at_commas_outside_quotes(line, words):
    assert _arff._split(line) == words
