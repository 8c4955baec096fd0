"""LIBSVM text is read; broken lines raise errors with their numbers."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from eigenlabel.datasets import (
    DataError,
    iterate,
    load,
    load_svmlight,
)


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
        ("1 3:1 2:1\n", {}, "line 1: feature 2 after 3: must increase"),
        ("1 3:1 3:1\n", {}, "line 1: feature 3 after 3: must increase"),
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
def test_broken_svmlight_raises_an_error(tmp_path, text, options, message):
    path = tmp_path / "c.svm"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        load_svmlight(path, **options)


def test_a_wide_file_is_read_if_its_width_is_passed_or_its_size_allows_it(tmp_path, monkeypatch):
    path = tmp_path / "wide.svm"
    path.write_text("0 1:1\n1 5000000:2\n")
    for read in (load, lambda path: next(iterate(path))):
        with pytest.raises(DataError, match="line 2: feature 5000000 in a small file"):
            read(path)
    data = load(path, n_features=5_000_000)
    assert data.X.shape == (2, 5_000_000)
    assert data.feature_names[[0, 9, 10, 4_999_999]].tolist() == ["0", "9", "10", "4999999"]
    monkeypatch.setattr("eigenlabel.datasets.forms.libsvm.parsing.MANY_FEATURES", 5_000_000)
    assert load(path).X.shape == (2, 5_000_000)
    (tmp_path / "wide.txt").write_text("1 6000000 2\n0 1:1\n")
    for read in (load, lambda path: next(iterate(path))):
        with pytest.raises(DataError, match=r"line 1: 6000000 features .* too many for this file"):
            read(tmp_path / "wide.txt")
    with pytest.raises(DataError, match="columns are more than this machine can name"):
        load(path, n_features=10**12)


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


def test_svmlight_like_another_numbers_features_in_the_same_way(tmp_path):
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
    with pytest.raises(DataError, match="line 1: feature 0, but features are numbered from 1"):
        load(test, like=load(train))
