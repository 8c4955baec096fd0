"""Every form stores and returns the same data, also with difficult names."""

import gzip
import os
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from eigenlabel.datasets import (
    DataError,
    Dataset,
    find_form,
    load,
    load_mat,
    load_npz,
    save,
)
from forms import dense

NASTY = [
    "",
    " ",
    " a ",
    "it's",
    '"quoted"',
    "a,b",
    "a;b",
    "a|b",
    "{x}",
    "%",
    "# no",
    "?",
    "ü",
    "日本",
    "😀",
    "<script>alert(1)</script>",
    "a\\b",
    "\\",
    "'",
    '"',
    "\ufeffmark",
    "a\tb",
    "a:b",
    "0",
    "1e5",
    "NA",
    "label",
    "labels",
    "text",
    "true",
    "../../etc/passwd",
    "@data",
    "&amp;",
    "x" * 300,
]


# Hypothesis draws words that stand in the library's source too. Among them is "label:", with which
# our own files mark labels: no feature may be called so, which has a test of its own.
names = st.one_of(
    st.sampled_from(NASTY),
    st.text(
        st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\ufffe\uffff"),
        max_size=6,
    ),
).filter(lambda name: not name.startswith("label:"))


numbers = st.one_of(
    st.floats(width=64, allow_infinity=False, allow_nan=False),
    st.sampled_from([0.0, 1.0, -1.5, 0.1, 1 / 3, 5e-324, 1.7976931348623157e308, 2.0**53 + 2]),
)


@st.composite
def datasets(draw, nan=True, infinite=False, apart=False):
    """Draw a Dataset; ``apart`` asks for features and labels that have no name in common."""
    n, d, m = draw(st.integers(1, 5)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    both = draw(st.lists(names, min_size=d + m, max_size=d + m, unique=True))
    odd = ([np.nan] if nan else []) + ([np.inf, -np.inf] if infinite else [])
    cell = st.one_of(st.just(0.0), numbers, *([st.sampled_from(odd)] if odd else []))
    X = np.array(draw(st.lists(cell, min_size=n * d, max_size=n * d))).reshape(n, d)
    bits = draw(st.lists(st.integers(0, 1), min_size=n * m, max_size=n * m))
    return Dataset(
        X=sp.csr_array(X) if draw(st.booleans()) else X,
        Y=sp.csr_array(np.array(bits, dtype=np.int8).reshape(n, m)),
        feature_names=np.array(both[:d]),
        label_names=np.array(both[d:] if apart or draw(st.booleans()) else both[:m]),
        sample_names=draw(st.none() | st.lists(names, min_size=n, max_size=n).map(np.array)),
        source="here",
    )


def check_same(data, again, held=("feature_names", "label_names")):
    np.testing.assert_array_equal(dense(again.X), dense(data.X))
    np.testing.assert_array_equal(dense(again.Y), dense(data.Y))
    for name in held:
        assert list(getattr(again, name)) == list(getattr(data, name))


ALL = ("feature_names", "label_names", "sample_names")


NAMED = ("feature_names", "label_names")


FORMS = {
    "npz": ({"infinite": True}, {}, ALL, True),
    "arff": ({"apart": True}, {}, NAMED, True),
    "svm": ({"infinite": True}, {}, NAMED, None),
    "txt": ({"infinite": True}, {"form": "xmc"}, (), None),
    "mat": ({"infinite": True}, {}, NAMED, True),
    "csv": ({"infinite": True}, {}, ALL, False),
    "tsv": ({"infinite": True}, {}, ALL, False),
    "parquet": ({"infinite": True}, {}, ALL, False),
    "jsonl": ({}, {}, ALL, True),
}


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("suffix", list(FORMS))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=st.data())
def test_round_trip(suffix, packed, drawn, tmp_path):
    wanted, options, held, keeps = FORMS[suffix]
    data = drawn.draw(datasets(**wanted))
    if suffix == "jsonl" and not sp.issparse(data.X):
        assume("labels" not in data.feature_names)
    path = tmp_path / f"it.{suffix}{packed}"
    if packed and suffix in ("npz", "mat", "parquet"):
        with pytest.raises(DataError, match=r"leave out \.gz"):
            save(data, path, **options)
        return
    lost = data.sample_names is not None and "sample_names" not in held
    with pytest.warns(UserWarning, match="the names of samples") if lost else nullcontext():
        save(data, path, **options)
    again = load(path)
    if data.sample_names is None or "sample_names" not in held:
        assert again.sample_names is None
        held = [name for name in held if name != "sample_names"]
    check_same(data, again, held)
    assert sp.issparse(again.Y)
    # keeps: sparse stays sparse and dense dense; None: always sparse; False: always dense
    sparse = sp.issparse(data.X)
    assert sp.issparse(again.X) == {True: sparse, None: True, False: False}[keeps]
    event("sparse" if sparse else "dense")


@st.composite
def worded(draw, values):
    """Draw a Dataset whose first column holds positions in a list of words."""
    data = draw(datasets(nan=False, apart=True).filter(lambda d: "text" not in d.feature_names))
    words = draw(st.lists(values, min_size=1, max_size=4, unique=True))
    X = dense(data.X).copy()
    n = len(X)
    codes = [np.nan, *range(len(words))]
    X[:, 0] = draw(st.lists(st.sampled_from(codes), min_size=n, max_size=n))
    categories = {str(data.feature_names[0]): tuple(words)}
    return replace(data, X=X, categories=categories)


@pytest.mark.parametrize("suffix", ["npz", "arff", "csv", "tsv", "parquet", "jsonl"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=st.data())
def test_words_come_back_or_raise(suffix, drawn, tmp_path):
    data = drawn.draw(worded(names))
    assume(not (suffix == "jsonl" and "labels" in data.feature_names))
    if suffix == "arff":  # it has no names of samples
        data = replace(data, sample_names=None)
    path = tmp_path / f"it.{suffix}"
    try:
        save(data, path)
    except DataError as error:
        event("refused")
        assert any(  # noqa: PT017  nothing else raises an error
            word in str(error)
            for word in ("would be read as", "means missing", "not a position", "ARFF has")
        )
        return
    exact = suffix in ("npz", "arff")
    again = load(path) if exact else load(path, like=data)
    check_same(data, again)
    assert again.categories == data.categories
    if not exact:
        spelled = load(path)
        name = str(data.feature_names[0])
        words = np.array([*data.categories[name], "none"], dtype=object)
        there = ~np.isnan(data.X[:, 0])
        expected = words[data.X[there, 0].astype(int)].tolist()
        if expected and name in spelled.words:
            event("words that look like a text")
        elif expected:
            found = np.array(spelled.categories[name], dtype=object)
            assert found[spelled.X[there, 0].astype(int)].tolist() == expected
            assert sorted(found) == list(found)


def test_a_label_called_labels_comes_back_from_json_lines(tmp_path):
    data = toy(Y=np.array([[1], [0]]), label_names=np.array(["labels"]))
    save(data, tmp_path / "it.jsonl")
    check_same(data, load(tmp_path / "it.jsonl", like=data))


def toy(**changes):
    whole = {
        "X": np.array([[1.0, 2.0], [3.0, 4.0]]),
        "Y": np.array([[1, 0], [0, 1]]),
        "feature_names": np.array(["a", "b"]),
        "label_names": np.array(["x", "y"]),
    }
    return Dataset(**{**whole, **changes})


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("it.svm", {"label_names": np.array(["x\ny", "z"])}, r"label 'x\\ny' contains '\\n'"),
        ("it.arff", {"feature_names": np.array(["x\ry", "z"])}, r"contains '\\r'"),
        ("it.arff", {"label_names": np.array(["x\x07", "z"])}, r"contains '\\x07'"),
        ("it.arff", {"label_names": np.array(["a", "z"])}, "two attributes are called 'a'; rename"),
        ("it.arff", {"X": np.array([[np.inf, 1], [1, 1]])}, "no infinite numbers; use .npz"),
        ("it.arff", {"categories": {"a": ("?", "b")}}, "means missing"),
        ("it.arff", {"categories": {"a": ("b", "b")}}, "has a value twice"),
        ("it.arff", {"categories": {"a": ("1", "2", "3", "4")}}, "would be read as numbers"),
        ("it.csv", {"feature_names": np.array(["a", "a"])}, "two features are called 'a'"),
        ("it.csv", {"feature_names": np.array(["a", "label:b"])}, "is named as a label"),
        ("it.csv", {"feature_names": np.array(["a\r", "b"])}, r"contains '\\r'"),
        ("it.csv", {"sample_names": np.array(["a\r", "b"])}, "carriage return or NUL"),
        ("it.csv", {"categories": {"a": ("1", "2", "3", "4")}}, "'a' would be read as numbers"),
        ("it.csv", {"categories": {"a": ("x", "", "z", "u")}}, "'a' would be read as missing"),
        (
            "it.csv",
            {"categories": {"a": ("x", "2020-01-02", "z", "2021-02-03")}},
            "'a' would be read as dates",
        ),
        ("it.csv", {"categories": {"a": ("u", "v")}}, "3 is not a position in the list 'u', 'v'"),
        ("it.csv", {"categories": {"a": ("u", "v\r", "w", "x")}}, "carriage return"),
        (
            "it.parquet",
            {"feature_names": np.array(["text", "b"]), "categories": {"text": tuple("uvwx")}},
            "read as a text; rename",
        ),
        ("it.parquet", {"feature_names": np.array(["a", "b\ud800"])}, "half a character"),
        ("it.csv", {"feature_names": np.array(["a", "b\ud800"])}, "half a character"),
        ("it.jsonl", {"feature_names": np.array(["labels", "b"])}, "named as another field"),
        ("it.jsonl", {"feature_names": np.array(["b", "b"])}, "two features are called 'b'"),
        ("it.jsonl", {"label_names": np.array(["b", "b"])}, "two labels are called 'b'"),
        ("it.jsonl", {"X": np.array([[np.inf, 1], [1, 1]])}, "JSON has no infinite numbers"),
        ("it.svm", {"Y": np.array([[2, 0], [0, 1]])}, "labels must be 0 or 1, found 2"),
        ("it.svm", {"Y": np.zeros((3, 2))}, r"X of shape \(2, 2\) and Y of shape \(3, 2\)"),
        ("it.svm", {"Y": np.zeros((2, 0)), "label_names": np.zeros(0)}, "nothing to write"),
        ("it.svm", {"label_names": np.array(["a"])}, "1 names for 2 labels"),
        ("it.npz", {"X": np.array([["a", "b"], ["c", "d"]])}, "are not numbers"),
        ("it.doc", {}, r"unknown form; the suffixes are .*\.csv.* or pass form="),
        ("it.csv.xz", {}, r"unknown form"),
        ("nowhere/it.csv", {}, "cannot be written"),
    ],
)
def test_data_that_a_form_cannot_store_raise(tmp_path, name, changes, message):
    with pytest.raises(DataError, match=message):
        save(toy(**changes), tmp_path / name)
    assert list(tmp_path.iterdir()) == []  # neither the file nor what was begun of it


def test_a_failed_save_leaves_the_old_files(tmp_path):
    path = tmp_path / "it.jsonl"
    save(toy(), path)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    assert set(before) == {"it.jsonl", "it.labels.txt"}
    with pytest.raises(DataError):  # found in the second row, after the first was written
        save(toy(X=np.array([[1, 1], [np.inf, 1]]), label_names=np.array(["u", "v"])), path)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_saved_files_have_the_usual_permissions(tmp_path):
    (tmp_path / "plain").write_text("")
    save(toy(), tmp_path / "it.csv")
    usual = (tmp_path / "plain").stat().st_mode
    assert (tmp_path / "it.csv").stat().st_mode == usual


@pytest.mark.parametrize("name", ["it.csv.gz", "it.svm.gz", "it.arff.gz", "it.jsonl.gz", "it.npz"])
def test_equal_data_have_equal_bytes(tmp_path, monkeypatch, name):
    folders = [tmp_path / "one", tmp_path / "two"]
    for k, folder in enumerate(folders):
        folder.mkdir()
        monkeypatch.setattr("time.time", lambda k=k: 1.0e9 + 1e6 * k)
        save(toy(), folder / name)
    one, two = (sorted(folder.iterdir()) for folder in folders)
    assert [p.name for p in one] == [p.name for p in two]
    assert [p.read_bytes() for p in one] == [p.read_bytes() for p in two]
    if name.endswith(".gz"):
        assert gzip.decompress((folders[0] / name).read_bytes())


def test_other_programs_read_what_is_saved(tmp_path):
    pd = pytest.importorskip("pandas")
    data = toy(sample_names=np.array(["one", "two"]), categories={"a": tuple("uvwx")})
    save(data, tmp_path / "it.csv")
    frame = pd.read_csv(tmp_path / "it.csv")
    assert frame.columns.tolist() == ["sample:name", "a", "b", "label:x", "label:y"]
    assert frame["a"].tolist() == ["v", "x"]
    assert frame["label:y"].tolist() == [0, 1]
    save(toy(), tmp_path / "it.svm")
    X, labels = load_svmlight_file(str(tmp_path / "it.svm"), multilabel=True)
    np.testing.assert_array_equal(X.toarray(), data.X)
    assert labels == [(0.0,), (1.0,)]
    arff = pytest.importorskip("arff")
    save(replace(data, sample_names=None), tmp_path / "it.arff")
    found = arff.loads((tmp_path / "it.arff").read_text())
    assert found["attributes"][0] == ("a", ["u", "v", "w", "x"])
    assert found["data"][1] == ["x", 4.0, "0", "1"]


def test_the_form_may_be_passed(tmp_path):
    save(toy(), tmp_path / "a.txt", form="xmc")
    assert (tmp_path / "a.txt").read_text() == "2 2 2\n0 0:1 1:2\n1 0:3 1:4\n"
    save(toy(), tmp_path / "b.txt", form="svmlight")
    assert find_form(tmp_path / "b.txt") == "svmlight"
    with pytest.raises(DataError, match=r"unknown form 'sql'; the suffixes are"):
        save(toy(), tmp_path / "c.txt", form="sql")


@pytest.mark.parametrize("form", [sp.coo_array, sp.csc_array, sp.lil_array, sp.csr_matrix])
def test_any_sparse_matrix(tmp_path, form):
    for suffix in ("csv", "svm", "arff", "npz", "mat", "jsonl", "parquet"):
        save(toy(X=form(toy().X), Y=form(toy().Y)), tmp_path / f"it.{suffix}")
        check_same(toy(), load(tmp_path / f"it.{suffix}"))


@pytest.mark.parametrize("suffix", list(FORMS))
def test_saving_changes_nothing(tmp_path, suffix):
    indices, ends = np.array([1, 0], dtype=np.int32), np.array([0, 1, 2], dtype=np.int32)
    X = sp.csr_array((np.array([0.0, 1.0]), indices, ends), shape=(2, 2))  # with a zero in it
    data = toy(X=X)
    save(data, tmp_path / f"it.{suffix}", form="xmc" if suffix == "txt" else None)
    for A in (X, data.X):
        assert (A.data.tolist(), A.indices.tolist()) == ([0, 1], [1, 0])
        assert A.indptr.tolist() == [0, 1, 2]


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64])
@pytest.mark.parametrize("form", [np.array, sp.csr_array])
def test_numbers_of_any_type(tmp_path, form, dtype):
    X = np.array([[0, 1], [1, 1]]).astype(dtype)
    for suffix in FORMS:
        save(toy(X=form(X)), tmp_path / f"it.{suffix}", form="xmc" if suffix == "txt" else None)
        found = dense(load(tmp_path / f"it.{suffix}").X)
        np.testing.assert_array_equal(found, X)


def test_float32_comes_back_as_the_same_numbers(tmp_path):
    X = np.array([[0.1, 1 / 3], [1e-30, 3e38]], dtype=np.float32)
    for suffix in FORMS:
        save(toy(X=X), tmp_path / f"it.{suffix}", form="xmc" if suffix == "txt" else None)
        np.testing.assert_array_equal(dense(load(tmp_path / f"it.{suffix}").X), X.astype(float))


PARTS = {
    "sample_names": (np.array(["s", "t"]), "the names of samples"),
    "views": ({"left": slice(0, 1)}, "the views"),
    "splits": ({"a": (np.array([0]), np.array([1]))}, "the splits"),
    "words": ({"title": slice(0, 2)}, "which texts the words are of"),
}


@pytest.mark.parametrize("part", list(PARTS))
@pytest.mark.parametrize("suffix", list(FORMS))
def test_what_a_form_leaves_out_is_stated(tmp_path, suffix, part):
    value, words = PARTS[part]
    form, path = "xmc" if suffix == "txt" else None, tmp_path / f"it.{suffix}"
    kept = suffix == "npz" or (part == "sample_names" and part in FORMS[suffix][2])
    message = rf"it\.{suffix}: \w+ files do not contain {words}; save as \.npz to keep them"
    with nullcontext() if kept else pytest.warns(UserWarning, match=message):
        save(toy(**{part: value}), path, form=form)
    found = getattr(load(path), part)
    if not kept:
        assert not found
    elif part == "splits":
        assert [rows.tolist() for rows in found["a"]] == [[0], [1]]
    else:
        assert list(found) == list(value)


@pytest.mark.parametrize("suffix", ["svm", "txt", "mat"])
def test_categories_never_become_numbers(tmp_path, suffix):
    data = toy(categories={"a": ("u", "v", "w", "x")})
    with pytest.raises(DataError, match=r"words of categories, such as 'a'; save as \.npz, \.arff"):
        save(data, tmp_path / f"it.{suffix}", form="xmc" if suffix == "txt" else None)
    assert list(tmp_path.iterdir()) == []


def test_only_npz_stores_everything_else(tmp_path):
    data = toy(splits={"a": (np.array([0]), np.array([1]))}, notes=("a note",))
    save(data, tmp_path / "it.npz")
    again = load_npz(tmp_path / "it.npz")
    assert again.notes == ("a note",)
    assert again.splits["a"][1].tolist() == [1]


def test_names_in_matlab_files_that_are_none(tmp_path):
    from scipy.io import savemat

    cells = np.array([np.array([1.0]), "b"], dtype=object)
    savemat(tmp_path / "it.mat", {"X": np.eye(2), "Y": np.eye(2), "feature_names": cells})
    assert load_mat(tmp_path / "it.mat").feature_names.tolist() == ["0", "1"]
    assert os.listdir(tmp_path) == ["it.mat"]


def test_names_never_become_paths(write, tmp_path):
    name = "../../outside"
    path = write(f'"{name}","label:{name}x"\n1,0\n2,1\n')
    data = load(path)
    for suffix in ("csv", "npz", "svm", "arff", "mat", "jsonl", "parquet"):
        save(data, tmp_path / f"it.{suffix}")
    assert {p.name.partition(".")[0] for p in tmp_path.iterdir()} == {"it"}
    assert not list(tmp_path.parent.glob("outside*"))


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "jsonl"])
@pytest.mark.parametrize(
    ("words", "what"), [(("$5", "$1,200"), "numbers"), (("<NA>", "b"), "missing")]
)
def test_words_that_mean_something_else_are_refused(suffix, words, what, tmp_path):
    data = toy(X=np.array([[0.0], [1.0]]), feature_names=np.array(["c"]), categories={"c": words})
    path = tmp_path / f"it.{suffix}"
    if what == "missing" and suffix in ("parquet", "jsonl"):  # which have cells without a value
        save(data, path)
        assert set(load(path).categories["c"]) == set(words)
        return
    with pytest.raises(DataError, match=f"the words of 'c' would be read as {what}"):
        save(data, path)
