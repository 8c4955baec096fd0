"""Files to predict: the features of the training data, with labels or without."""

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from eigenlabel.datasets import (
    DataError,
    Dataset,
    iterate,
    load,
    save,
)
from forms import dense, same

X = np.array([[1.0, 0, 2], [0, 3, 0]])


Y = np.array([[1, 0], [1, 1]])


def arff(*columns, rows):
    head = "".join(f"@attribute {name} {kind}\n" for name, kind in columns)
    return f"@relation r\n{head}@data\n{rows}"


FEATURES = [(name, "numeric") for name in "abc"]


NUMBERED = {
    "svm": ("0 1:1 3:2\n0,1 2:3\n", " 1:1 3:2\n 2:3\n", "7 1:1 3:2\n0.5 2:3\n"),
    "txt": ("2 3 2\n0 0:1 2:2\n0,1 1:3\n", "2 3 2\n 0:1 2:2\n 1:3\n", "2 3 2\n9 0:1 2:2\n 1:3\n"),
    "arff": (
        arff(*FEATURES, ("u", "{0,1}"), ("v", "{0,1}"), rows="1,0,2,1,0\n0,3,0,1,1\n"),
        arff(*FEATURES, rows="1,0,2\n0,3,0\n"),
        arff(*FEATURES, ("v", "{0,1}"), rows="1,0,2,?\n0,3,0,1\n"),
    ),
}


def rows_of(A):
    """Write rows of 16-bit numbers, each with its length before it."""
    return np.insert(A, 0, A.shape[1], axis=1).astype("<i2").tobytes()


def write(folder, form, which, name):
    """Write the samples with labels (0), without (1) or with labels that are wrong (2)."""
    path = folder / f"{name}.{form}"
    labels = [{"Y": Y}, {}, {"Y": Y / 2}][which]
    if form in NUMBERED:
        path.write_text(NUMBERED[form][which])
        if form == "arff" and which == 0:
            path.with_suffix(".xml").write_text('<l><label name="u"/><label name="v"/></l>')
    elif form == "hvecs":
        path = folder / f"{name}_hue.hvecs"
        path.write_bytes(rows_of(X))
        if labels:
            (folder / f"{name}_annot.hvecs").write_bytes(rows_of([Y, None, 5 * Y][which]))
    elif form == "npz":
        np.savez(path, X=X, **labels)
    else:
        scipy.io.savemat(path, {"X": X} | labels)
    return path


@pytest.mark.parametrize("form", [*NUMBERED, "npz", "mat", "hvecs"])
def test_a_file_to_predict_needs_no_labels(tmp_path, form):
    (tmp_path / "new").mkdir()
    full = write(tmp_path, form, 0, "train")
    train = load(full)
    bare, odd = (write(tmp_path / "new", form, k, f"new{k}") for k in (1, 2))
    if form != "txt":  # whose first line states the number of labels
        with pytest.raises(DataError):
            load(bare)
    for path, labelled in ((bare, True), (bare, False), (odd, False)):
        data = load(path, like=train, labelled=labelled)
        np.testing.assert_array_equal(dense(data.X), X)
        assert (data.Y.shape, data.Y.nnz) == ((2, 2), 0)
        assert data.label_names.tolist() == train.label_names.tolist()
        pieces = list(iterate(path, rows=1, like=train, labelled=labelled))
        np.testing.assert_array_equal(np.vstack([dense(piece.X) for piece in pieces]), X)
    with pytest.raises(DataError, match="label"):
        load(odd, like=train)
    with pytest.raises(DataError, match="labelled=False needs like"):
        load(full, labelled=False)


@pytest.mark.parametrize("form", ["npz", "mat", "arff"])
def test_files_without_labels_have_a_note(tmp_path, form):
    (tmp_path / "new").mkdir()
    train = load(write(tmp_path, form, 0, "train"))
    bare = write(tmp_path / "new", form, 1, "new")
    assert load(bare, like=train).notes == ("no labels in the file",)
    assert load(bare, like=train, labelled=False).notes == ()


@pytest.mark.parametrize("wrap", [np.array, sp.csr_array])
@pytest.mark.parametrize("labels", [Y / 2, 2 * Y - 1, Y * 3])
def test_npz_labels_are_0_or_1(tmp_path, wrap, labels):
    data = Dataset(X, wrap(Y), np.array(list("abc")), np.array(list("uv")))
    object.__setattr__(data, "Y", wrap(labels))
    save(data, tmp_path / "a.npz")
    with pytest.raises(DataError, match="labels in Y must be 0 or 1, found"):
        load(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": X.astype(str), "Y": Y}, "X must be a matrix and hold numbers"),
        (
            {"X": X, "Y": Y, "feature_names": np.array(["a"])},
            r"feature_names must be text, one for each of 3, found .* \(1,\)",
        ),
        ({"X": X, "Y": Y, "label_names": np.arange(2)}, "label_names"),
    ],
)
def test_npz_names_and_features_are_checked(tmp_path, arrays, message):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(DataError, match=message):
        load(tmp_path / "a.npz")


def test_values_of_an_arff_list_are_matched_by_name(tmp_path):
    train, test = tmp_path / "train.arff", tmp_path / "test.arff"
    label = ("y", "{0,1}")
    train.write_text(arff(("c", "{red,blue}"), label, rows="red,1\nblue,0\n"))
    test.write_text(arff(("c", "{blue,green,red}"), label, rows="red,1\nblue,0\ngreen,0\n?,1\n"))
    (tmp_path / "train.xml").write_text('<l><label name="y"/></l>')
    like = load(train)
    data = load(test, like=like)
    np.testing.assert_array_equal(data.X.ravel(), [0, 1, np.nan, np.nan])
    assert data.categories == {"c": ("red", "blue")}
    why = "because the value is not one of 'red', 'blue'"
    assert data.notes == (f"'c': 1 cell counts as missing, {why}",)
    test.write_text(arff(("c", "{blue,red}"), label, rows="{0 red}\n"))
    with pytest.raises(DataError, match="'c' has the values 'blue', 'red', in like 'red', 'blue'"):
        load(test, like=like)


def test_like_for_the_other_forms(tmp_path, write):
    train = load(write("f,g,label:x,label:y\n1,2,0,1\n3,4,1,0\n"))
    path = write("0 1:5\n", "it.svm")
    data = load(path, like=train)
    assert (data.X.shape, data.Y.shape) == ((1, 2), (1, 2))
    assert data.feature_names.tolist() == ["f", "g"]
    with pytest.raises(DataError, match="feature 3 beyond the 2 features"):
        load(write("0 3:5\n", "it.svm"), like=train, zero_based=False)
    assert load(write("1 2 2\n0 1:5\n", "it.txt"), like=train).label_names.tolist() == ["x", "y"]
    with pytest.raises(DataError, match=r"it\.txt: 3 features, like has 2"):
        load(write("1 3 2\n0 1:5\n", "it.txt"), like=train)
    for suffix in ("arff", "npz", "mat"):
        path = tmp_path / f"same.{suffix}"
        save(train, path)
        same(load(path, like=train), train)
        wrong = load(write("f,h,label:x,label:y\n1,2,0,1\n3,4,1,0\n"))
        with pytest.raises(DataError, match=r"feature 1 is 'g', in like it is 'h'"):
            load(path, like=wrong)
    xml = tmp_path / "same.xml"
    text = (tmp_path / "same.arff").read_text().replace("'f' numeric", "'f' {1,x,3}")
    with pytest.raises(DataError, match="'f' has the values '1', 'x', '3', in like"):
        load(write(text, "same.arff"), like=train, xml=xml)
