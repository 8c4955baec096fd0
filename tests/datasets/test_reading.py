"""What all readers share: pipes, the options of files like another one, bounded memory."""

import contextlib
import gzip
import json
import os
import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.cli import main
from eigenlabel.datasets import (
    DataError,
    Dataset,
    find_form,
    from_frame,
    iterate,
    load,
    load_table,
    save,
)
from eigenlabel.persistence import load_model
from forms import same

DATA = Dataset(
    X=np.array([[1.0, 0, 2], [0, 3, 0], [4, 0, 5]]),
    Y=sp.csr_array(np.array([[1, 0], [0, 1], [1, 1]])),
    feature_names=np.array(["0", "1", "2"]),
    label_names=np.array(["0", "1"]),
)


# Pipes


@pytest.fixture
def pipe(tmp_path):
    """Make a pipe of a name, into which bytes are written once it is opened."""
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    threads = []

    def make(content, name):
        path = tmp_path / "pipes" / name
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        os.mkfifo(path)

        def feed():
            with contextlib.suppress(BrokenPipeError):  # if the reader has had enough
                path.write_bytes(content)

        threads.append(threading.Thread(target=feed, daemon=True))
        threads[-1].start()
        return path

    yield make
    for thread in threads:
        thread.join(timeout=10)
        assert not thread.is_alive()


@pytest.mark.parametrize("suffix", ["npz", "mat", "svm", "csv", "parquet", "jsonl", "csv.gz"])
def test_pipes_are_read_as_files_are(tmp_path, pipe, suffix):
    save(DATA, tmp_path / f"it.{suffix}")
    for beside in tmp_path.glob("it.*.txt"):
        beside.unlink()
    content = (tmp_path / f"it.{suffix}").read_bytes()
    data = load(pipe(content, f"it.{suffix}"))
    same(data, load(tmp_path / f"it.{suffix}"))
    assert data.source in (f"it.{suffix}", "")
    pieces = list(iterate(pipe(content, f"it.{suffix}"), rows=2))
    np.testing.assert_array_equal(sp.vstack([sp.csr_array(p.X) for p in pieces]).toarray(), DATA.X)


def test_errors_about_pipes_name_them(pipe):
    path = pipe(b"a,labels\n1,x\n2\n", "it.csv")
    with pytest.raises(DataError, match=rf"^{path}, line 3: 1 values for 2 columns"):
        load(path)
    path = pipe(b"a,labels\n1,x\n2\n", "it.csv")
    with pytest.raises(DataError, match=rf"^{path}, line 3: 1 values for 2 columns"):
        list(iterate(path))


def test_a_reader_of_one_form_reads_pipes(pipe):
    assert load_table(pipe(b"a,labels\n1,x\n2,y\n", "it")).X.tolist() == [[1], [2]]


def test_a_pipe_does_not_fill_the_disk(pipe):
    path = pipe(b"0 1:1\n" * 100_000, "it.svm")
    with pytest.raises(DataError, match="the content of the pipe is larger than 0 MiB"):
        load(path, max_bytes=100_000)


def test_the_form_of_a_pipe_is_not_looked_for(tmp_path):
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    os.mkfifo(tmp_path / "it.csv")
    with pytest.raises(DataError, match="a pipe, which can be read only once; load and iterate"):
        find_form(tmp_path / "it.csv")


def test_devices_are_refused():
    if not os.path.exists("/dev/null"):
        pytest.skip("this system has no devices")
    with pytest.raises(DataError, match="a device or socket; pipe its content in"):
        load("/dev/null")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/stdin is a pipe on Linux")
def test_standard_input_is_read():
    program = "from eigenlabel.datasets import load; print(load('/dev/stdin'))"
    found = subprocess.run(
        [sys.executable, "-c", program], input=b"0 1:1\n1 2:1\n", capture_output=True, check=True
    )
    assert found.stdout == b"Dataset(2 samples, 2 features, 2 labels; stdin)\n"


def test_predictions_of_a_pipe(tmp_path, pipe, capsys):
    rows = "".join(f"{i % 7},{i % 3},{'a|b' if i % 2 else 'b'}\n" for i in range(30))
    (tmp_path / "train.csv").write_text("x,z,kinds\n" + rows)
    model = str(tmp_path / "m")
    main(
        ["fit", str(tmp_path / "train.csv"), "--labels", "kinds", "--method", "ridge", "-o", model]
    )
    capsys.readouterr()
    main(["predict", model, str(tmp_path / "train.csv")])
    expected = capsys.readouterr().out
    main(["predict", model, str(pipe(f"x,z,kinds\n{rows}".encode(), "new.csv"))])
    assert capsys.readouterr().out == expected
    assert len(expected.splitlines()) == 31


# The options of files like another one


TRAIN = "name,review,size,kinds,junk\nr1,good tea,1,a/b,9\nr2,bad tea,2,b,8\n"
TEST = "junk,kinds,size,review,name\n7,b/a,3,tea,r9\n"
OPTIONS = {
    "labels": "kinds",
    "separator": "/",
    "text": "review",
    "samples": "name",
    "drop": ["junk"],
}


def test_a_file_like_another_is_read_with_its_options(write):
    train = load(write(TRAIN), **OPTIONS)
    assert train.options == OPTIONS
    path = write(TEST, "test.csv")
    test = load(path, like=train)
    same(test, load(path, like=train, **OPTIONS))
    assert test.sample_names.tolist() == ["r9"]
    assert test.Y.toarray().tolist() == [[1, 1]]
    (piece,) = iterate(path, like=train)
    same(test, piece)
    same(test, load_table(path, like=train))
    assert test.options == piece.options == OPTIONS


def test_json_lines_and_frames_remember_their_options(write):
    pd = pytest.importorskip("pandas", reason="pandas is an extra")
    text = write(TRAIN, "train.csv")
    frame = pd.read_csv(text)
    objects = "\n".join(json.dumps(row) for row in frame.to_dict("records"))
    path = write(objects, "train.jsonl")
    for train in (load(path, **OPTIONS), from_frame(frame, **OPTIONS)):
        assert train.options == OPTIONS
        for again in (
            load(path, like=train),
            from_frame(frame, like=train),
            load(text, like=train),
        ):
            same(again, load(text, **OPTIONS))


def test_options_that_are_passed_go_before_those_of_like(write):
    train = load(write(TRAIN), **OPTIONS)
    path = write(TEST.replace("b/a", "b+a"), "test.csv")
    assert load(path, like=train, separator="+").Y.toarray().tolist() == [[1, 1]]
    with pytest.raises(DataError, match=r"no label 'b\+a'"):
        load(path, like=train)
    assert load(path, like=train, separator="+", samples=None).sample_names is None


def test_the_separator_that_was_found_holds_for_files_like_it(write):
    train = load(write('x,labels\n1,"a, or b|c"\n2,c\n'))
    assert train.label_names.tolist() == ["a, or b", "c"]
    test = load(write('x,labels\n1,"a, or b"\n', "test.csv"), like=train)
    assert test.Y.toarray().tolist() == [[1, 0]]


def test_missing_labels_and_encodings_hold_for_files_like_it(write):
    options = {"labels": ["ä", "b"], "missing_labels": "nan", "encoding": "latin-1"}
    path = write("x,ä,b\n1,,1\n2,0,1\n".encode("latin-1"))
    train = load(path, **options)
    assert train.options == options
    same(load(path, like=train), train)
    with pytest.raises(DataError, match="must be 0 or 1, found nothing"):
        load(path, like=train, missing_labels="error")


def test_a_file_like_another_may_be_of_another_form(write):
    train = load(write(TRAIN), **{**OPTIONS, "text": (), "drop": ["junk", "review"]})
    path = write("0 0:3\n", "test.svm")
    np.testing.assert_array_equal(load(path, like=train, zero_based=True).X.toarray(), [[3]])
    test = load(write("size,labels\n3,a\n", "test.csv"), like=train)  # other names of columns
    assert (test.X.tolist(), test.Y.toarray().tolist()) == ([[3]], [[1, 0]])


def test_words_counted_before_need_no_column_of_text(write):
    train = load(write(TRAIN), **OPTIONS)
    counted = load(write("size,good,tea,bad,kinds\n3,0,1,0,a\n", "test.csv"), like=train)
    found = dict(zip(train.feature_names.tolist(), counted.X[0].tolist(), strict=True))
    assert found == {"size": 3, "bad": 0, "good": 0, "tea": 1}


# A separator that does not separate


SEMICOLONS = "x,labels\n" + "".join(f"{i},a;{'b' if i % 2 else 'c;d'}\n" for i in range(20))


def test_a_separator_that_never_occurs_is_noted(write):
    data = load(write(SEMICOLONS), separator="/")
    assert data.label_names.tolist() == ["a;b", "a;c;d"]
    assert data.notes == (
        "no cell of 'labels' holds the separator '/', but 20 of 20 hold ';'; pass separator=';' "
        "if it stands between labels",
    )
    assert next(iterate(write(SEMICOLONS), separator="/")).notes == data.notes


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        (SEMICOLONS, ";"),
        (SEMICOLONS, ""),
        (SEMICOLONS, None),
        ("x,labels\n1,a\n2,b\n3,b\n", "/"),
        ("x,labels\n" + "1,a\n" * 20 + "2,c;d\n", "/"),
        ("x,labels\n1,a/b\n2,c;d\n3,c;d\n", "/"),
    ],
)
def test_other_separators_are_not_noted(write, text, separator):
    assert load(write(text), separator=separator).notes == ()


def test_compare_and_fit_print_the_note(write, tmp_path, capsys):
    path = str(write(SEMICOLONS))
    main(["fit", path, "--separator", "/", "--method", "ridge", "-o", str(tmp_path / "m")])
    assert "hold ';'; pass --separator ';' if it stands" in capsys.readouterr().out
    options = ["--methods", "ridge", "--splits", "2", "--output", str(tmp_path / "r.jsonl")]
    main(["compare", path, "--separator", "/", *options])
    assert "hold ';'; pass --separator ';' if it stands" in capsys.readouterr().err


# Memory


SHORT = {
    "it.svm": "0 1:1\n" + "0\n" * 5000,
    "commas.svm": "0 1:1\n0" + ",0" * 20_000 + " 1:1\n",
    "it.txt": "5000 1 1\n" + "0\n" * 5000,
    "it.arff": "@relation 'r: -C -1'\n@attribute a numeric\n@attribute y {0,1}\n@data\n"
    + "{}\n" * 5000,
    "it.jsonl": '{"x": 1, "labels": ["a"]}\n' + "{}\n" * 5000,
}


@pytest.mark.parametrize("name", list(SHORT))
def test_very_many_short_lines_do_not_fill_the_memory(write, monkeypatch, name):
    path = write(SHORT[name], name)
    load(path)
    monkeypatch.setattr("eigenlabel.datasets.files.memory_limit", lambda: 1e6)
    with pytest.raises(DataError, match=r"lines need about .* more than half of the memory"):
        load(path)
    load(path, max_bytes=10**6)


def test_lack_of_memory_is_an_error_about_the_file(write, monkeypatch):
    def parse(*_, **__):
        raise MemoryError

    monkeypatch.setattr("eigenlabel.datasets.forms.sparse_text.load_svmlight_file", parse)
    path = write(gzip.compress(b"0 1:1\n"), "it.svm.gz")
    with pytest.raises(DataError, match="needs more memory than there is; read it in pieces"):
        load(path)


# Several columns of text


TEXTS = "a,b,size,y\nred car,blue,1,1\nblue,red red,2,0\nred,,3,1\n"


def texts_of(write, form):
    """Return a function that reads lines of comma-separated text in another form."""
    pd = pytest.importorskip("pandas", reason="pandas is an extra")

    def read(rows, like=None, **options):
        path = write(rows, "it.csv")
        frame = pd.read_csv(path)
        if form == "frame":
            return from_frame(frame, like=like, **options)
        if form == "jsonl":
            path = write(frame.to_json(orient="records", lines=True), "it.jsonl")
        if form == "parquet":
            pytest.importorskip("pyarrow", reason="pyarrow is an extra")
            path = path.with_suffix(".parquet")
            frame.to_parquet(path)
        if form == "iterate":
            return next(iterate(path, like=like, **options))
        return load(path, like=like, **options)

    return read


forms = pytest.mark.parametrize("form", ["csv", "iterate", "frame", "jsonl", "parquet"])


def pooled(data):
    """Return data as they were when the words of several texts were counted together."""
    names = ["size", "blue", "car", "red"]
    columns = {"feature_names": np.array(names), "words": {"a, b": slice(1, 4)}}
    views = {"columns": slice(0, 1), "text": slice(1, 4)}
    return replace(data, X=data.X[:, :4], views=views, **columns)


@forms
@pytest.mark.parametrize("old", [False, True])
def test_a_missing_text_is_an_error(write, form, old):
    read = texts_of(write, form)
    train = read(TEXTS, text=["a", "b"], labels=["y"])
    with pytest.raises(DataError, match="no column of text 'b', whose words are features"):
        read(TEXTS.replace(",b,", ",v,"), pooled(train) if old else train)
    single = read(TEXTS, text="a", labels=["y"])
    for other in ("v", "text"):
        with pytest.raises(DataError, match="no column of text 'a', whose words are features"):
            read(TEXTS.replace("a,b", f"{other},b"), single)


@forms
def test_each_text_has_its_own_words(write, form):
    read = texts_of(write, form)
    train = read(TEXTS, text=["a", "b"], labels=["y"])
    names = ["size", "a=blue", "a=car", "a=red", "b=blue", "b=red"]
    assert train.feature_names.tolist() == names
    counts = [[1, 0, 1, 1, 1, 0], [2, 1, 0, 0, 0, 2], [3, 0, 0, 1, 0, 0]]
    assert train.X.toarray().tolist() == counts
    assert train.words == {"a": slice(1, 4), "b": slice(4, 6)}
    assert train.views == {"columns": slice(0, 1), "text": slice(1, 6)}
    again = read("b,size,a\ncar RED red,4,blue new\n", train)
    assert again.X.toarray().tolist() == [[4, 1, 0, 0, 0, 2]]
    assert (again.words, again.views) == (train.words, train.views)


@forms
def test_words_that_were_counted_together_are_still_counted_together(write, form):
    read = texts_of(write, form)
    like = pooled(read(TEXTS, text=["a", "b"], labels=["y"]))
    again = read("b,size,a\ncar RED red,4,blue new red\n", like)
    assert again.X.toarray().tolist() == [[4, 1, 1, 3]]


def test_a_part_of_several_texts(write):
    train = load(write(TEXTS), text=["a", "b"], labels=["y"])
    like = train.subset(features=[0, 1, 3])
    assert like.words == {"a": slice(1, 3)}
    again = load(write("a,size\nred blue red,4\n", "new.csv"), like=like)
    assert again.X.toarray().tolist() == [[4, 1, 2]]


def test_a_text_without_a_word_is_noted(write):
    train = load(write("a,b,y\nred,1,1\nblue,2,0\n"), text=["a", "b"], labels=["y"])
    assert train.feature_names.tolist() == ["a=blue", "a=red"]
    assert train.words == {"a": slice(0, 2)}
    assert train.notes == ("column 'b' has no word to count",)
    again = load(write("a\nred\n", "new.csv"), like=train)
    assert again.X.toarray().tolist() == [[0, 1]]


def test_names_of_texts_and_columns_that_look_like_words(write):
    rows = '"a","a=b","a=red","label",y\nred,red,1,red,1\nblue,red,2,red,0\n'
    train = load(write(rows), text=["a", "a=b", "label"], labels=["y"])
    names = ["a=red", "a=blue", "a=red (word)", "a=b=red", "label=red"]
    assert train.feature_names.tolist() == names
    assert train.words == {"a": slice(1, 3), "a=b": slice(3, 4), "label": slice(4, 5)}
    same(load(write(rows), like=train), train)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl", "svm", "arff", "npz", "mat"])
def test_several_texts_that_were_counted_before(write, tmp_path, suffix):
    train = load(write(TEXTS), text=["a", "b"], labels=["y"])
    path = tmp_path / f"counted.{suffix}"
    save(train, path)
    again = load(path, like=train)
    found = again.X.toarray() if sp.issparse(again.X) else again.X
    assert found.tolist() == train.X.toarray().tolist()
    assert again.feature_names.tolist() == train.feature_names.tolist()
    if suffix == "npz":
        assert load(path).words == train.words


def test_a_pattern_that_finds_another_text_does_not_count_its_words(write):
    train = load(write("t_a,y\nred,1\nblue,0\n"), text="t_*", labels=["y"])
    again = load(write("t_b,t_a\nred,blue\n", "new.csv"), like=train)
    assert again.X.toarray().tolist() == [[1, 0]]
    several = load(write("t_a,t_b,y\nred,red,1\n"), text="t_*", labels=["y"])
    with pytest.raises(DataError, match="no column of text 't_b', whose words are features"):
        load(write("t_a,t_c\nred,red\n", "new.csv"), like=several)


def test_a_model_of_several_texts_predicts(write, tmp_path, capsys):
    rows = "".join("red,blue,1,0\n" if i % 3 else "blue,red,0,1\n" for i in range(30))
    path, model = str(write("a,b,y,z\n" + rows)), str(tmp_path / "it.skops")
    options = ["--text", "a,b", "--labels", "y,z", "--method", "ridge"]
    assert main(["fit", path, *options, "-o", model]) == 0
    assert load_model(model).words == {"a": slice(0, 2), "b": slice(2, 4)}
    capsys.readouterr()
    assert main(["predict", model, path]) == 0
    found = [line.split(",")[1] for line in capsys.readouterr().out.splitlines()[1:]]
    assert found == ["y" if i % 3 else "z" for i in range(30)]
    other = str(write("a,v,y,z\n" + rows, "other.csv"))
    assert main(["predict", model, other]) != 0
    assert "no column of text 'b'" in capsys.readouterr().err
