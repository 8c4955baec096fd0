"""Files of all forms in pieces: the same data as in one piece, in bounded memory."""

import bz2
import gzip
import json
import lzma
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.datasets import DataError, Dataset, iterate, load, save
from eigenlabel.inputs import progress as _progress
from forms import check_equal, dense

TEXTS = ("svm", "txt", "csv", "tsv", "jsonl", "arff")


SUFFIXES = (*TEXTS, "parquet", "npz", "mat")


def toy(rng, n=11, d=4, m=3, sparse=True):
    X = rng.standard_normal((n, d)) * (rng.uniform(size=(n, d)) < 0.5)
    Y = (rng.uniform(size=(n, m)) < 0.4).astype(np.int8)
    X[3], Y[3] = 0, 0  # a sample without anything
    return Dataset(
        X=sp.csr_array(X) if sparse else X,
        Y=sp.csr_array(Y),
        feature_names=np.array([f"f {j}" for j in range(d)]),
        label_names=np.array([f"l {j}" for j in range(m)]),
        sample_names=np.array([f"s\n{i}" for i in range(n)]),
    )


def save_as(data, folder, suffix):
    path = folder / f"it.{suffix}"
    if suffix in ("arff", "svm", "txt", "mat"):  # they have no names of samples
        data = replace(data, sample_names=None)
    save(data, path, form="xmc" if suffix == "txt" else None)
    return path


CHANGES = {
    "plain": lambda b: b,
    "no last line end": lambda b: b.removesuffix(b"\n"),
    "CRLF": lambda b: b.replace(b"\n", b"\r\n"),
    "CR": lambda b: b.replace(b"\n", b"\r"),
    "mark": lambda b: b"\xef\xbb\xbf" + b,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}


@pytest.mark.parametrize("rows", [1, 3, 11, 100])
@pytest.mark.parametrize("change", list(CHANGES))
@pytest.mark.parametrize("suffix", TEXTS)
def test_pieces_of_text_are_the_whole(tmp_path, rng, suffix, change, rows):
    data = toy(rng)
    path = save_as(data, tmp_path, suffix)
    path.write_bytes(CHANGES[change](path.read_bytes()))
    whole = load(path, like=data)
    np.testing.assert_array_equal(dense(whole.X), data.X.toarray())
    check_equal(list(iterate(path, rows=rows, like=data)), whole, rows)


@pytest.mark.parametrize("rows", [1, 3, 11, 100])
@pytest.mark.parametrize("suffix", ["parquet", "npz", "mat"])
def test_pieces_of_binary_files_are_the_whole(tmp_path, rng, suffix, rows):
    data = toy(rng)
    path = save_as(data, tmp_path, suffix)
    check_equal(list(iterate(path, rows=rows, like=data)), load(path, like=data), rows)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_without_like_the_first_piece_decides_the_columns(tmp_path, rng, suffix, sparse):
    data = toy(rng, sparse=sparse)
    path = save_as(data, tmp_path, suffix)
    check_equal(list(iterate(path, rows=4)), load(path), 4)


def test_words_and_text_keep_their_columns(tmp_path):
    path = tmp_path / "it.csv"
    rows = ["size,colour,text,tags", "1,red,one two,a|b", "2,blue,two,b", "3,red,two three,a"]
    path.write_text("\n".join(rows))
    pieces = list(iterate(path, rows=2))
    assert pieces[1].feature_names.tolist() == ["size", "colour", "one", "two"]
    assert pieces[1].X.toarray().tolist() == [[3, 1, 0, 1]]  # three was not seen before
    assert pieces[1].categories == {"colour": ("blue", "red")}
    whole = load(path)
    check_equal(list(iterate(path, rows=2, like=whole)), load(path, like=whole), 2)
    path.write_text("\n".join([*rows, "4,red,x,a;b"]))
    with pytest.raises(DataError, match=r"line 5: no label 'a;b'.*pass separator="):  # | separates
        list(iterate(path, rows=2))
    path.write_text("\n".join([*rows, "4,green,x,a"]))
    with pytest.raises(DataError, match="line 5: 'colour' is 'green', not one of 'blue', 'red'"):
        list(iterate(path, rows=2))


def test_the_first_piece_with_a_separator_decides_it(tmp_path):
    path = tmp_path / "it.csv"
    path.write_text("x;labels\n1;a\n2;b\n3;a,b\n4;b,a\n")
    check_equal(list(iterate(path, rows=2)), load(path), 2)
    path.write_text("x;labels\n1;['a', 'b']\n2;['b']\n3;[]\n4;['a']\n")
    check_equal(list(iterate(path, rows=2)), load(path), 2)
    path.write_text("x;labels\n1;a,b\n2;b\n3;a|b\n")
    with pytest.raises(DataError, match=r"line 4: no label 'a\|b'.*pass separator="):
        list(iterate(path, rows=2))


ARFF = "@relation 'x: -C -1'\n@attribute a numeric\n@attribute x {0,1}\n@data\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.svm", "0 1:1\n\n# remark\n1 1:1\n0 1:x\n", "line 5: value 'x' is not a number"),
        (
            "a.svm",
            "0 1:1\n\n1 1:1\n7 1:1\n",
            r"line 4: label 7 .*\(as in the first piece",
        ),
        ("a.svm", "0 1:1\n1 1:1\n\n1 9:1\n", r"line 4: feature 9 beyond .*pass n_features"),
        ("a.svm", "0 1:1\n1 1:1\n1 0:1\n", r"line 3: feature 0, but features are numbered from 1"),
        ("a.txt", "4 5 3\n0 1:1\n1 1:1\n\n2 9:1\n", "line 5: feature 9 beyond the 5 features"),
        ("a.txt", "4 5 3\n0 1:1\n1 1:1\n\n3 1:1\n", "line 5: label 3 is not between"),
        ("a.txt", "4 5 3\n0 1:1\n1 1:1\n\n", "line 1: .* promises 4 samples, there are 3"),
        ("a.csv", "a,label:x\n1,0\n2,1\n\n3\n", "line 5: 1 values for 2 columns"),
        (
            "a.csv",
            "a,label:x\n1,0\n2,1\n\n3,2\n",
            "line 5: label 'label:x' must be 0 or 1, found 2",
        ),
        ("a.csv", 'a,label:x\n1,0\n2,1\n\n3 "x",2\n', "line 5: a quote inside a value"),
        ("a.csv", 'a,label:x\n1,0\n2,1\n\n"3\n', "line 5: a quote is never closed"),
        ("a.jsonl", '{"a": 1, "labels": ["x"]}\n' * 3 + "\n{]", "line 5: not one JSON object"),
        (
            "a.jsonl",
            '{"a": 1, "labels": ["x"]}\n' * 3 + '\n{"a": "b"}',
            "line 5: 'a' holds words",
        ),
        ("a.csv", "a,label:x\n\n", "no samples"),
        ("a.arff", ARFF + "1,0\n% remark\n2,1\n\n3\n", "line 9: 1 values for 2 attributes"),
        ("a.arff", ARFF + "{0 1}\n{}\n\n{0 x}\n", "line 8: 'a' is 'x', not a number"),
        ("a.arff", ARFF + "{0 1}\n{}\n\n1,1\n", "line 8: a sparse row must be in braces"),
        ("a.arff", ARFF + "1,0\n2,1\n3,7\n", "line 7: 'x' is '7', not in its list"),
        ("a.arff", ARFF.replace("{0,1}", "real") + "1,0\n2,7\n", "must be 0 or 1, found 7"),
        ("a.arff", ARFF.replace("@attribute a", "@attribute x") + "1,0\n", "'x' occurs twice"),
        ("a.arff", ARFF, "no samples"),
        ("a.arff", ARFF.replace("@data", "%"), "no @data line"),
        ("a.csv", b"a,label:x\n1,0\n2,1\n\xff,1\n", "line 4: not utf-8 text"),
    ],
)
def test_errors_name_the_true_line(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError, match=message):
        list(iterate(path, rows=2))


def test_wrong_calls_raise_an_error(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("0 1:1\n")
    with pytest.raises(ValueError, match="rows must be an integer >= 1, got 0"):
        iterate(path, rows=0)
    with pytest.raises(DataError, match=r"load_svmlight, .* has no option 'labels'; it has n_feat"):
        iterate(path, labels="x")
    with pytest.raises(DataError, match="no such file"):
        iterate(tmp_path / "nothing")


def test_splits_belong_to_the_whole(tmp_path, rng):
    X, Y = rng.standard_normal((4, 2)), np.eye(4, 2)
    names = np.array(["a", "b"])
    data = Dataset(X, Y, names, names, splits={"a": (np.arange(2), np.arange(2, 4))})
    save(data, tmp_path / "it.npz")
    assert [dict(piece.splits) for piece in iterate(tmp_path / "it.npz", rows=2)] == [{}, {}]


def write_large(path, suffix, n):
    """Write many rows of 40 numbers without holding them."""
    numbers = [f"0.{j}37" for j in range(40)]
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "wt") as stream:
        if suffix == "arff":
            stream.write("@relation 'x: -C -1'\n")
            stream.writelines(f"@attribute f{j} real\n" for j in range(41))
            stream.write("@data\n")
        if suffix == "txt":
            stream.write(f"{n} 40 2\n")
        if suffix == "csv":
            stream.write(",".join([f"f{j}" for j in range(40)] + ["label:x"]) + "\n")
        for i in range(n):
            if suffix in ("csv", "arff"):
                stream.write(",".join([*numbers, str(i % 2)]) + "\n")
            elif suffix == "jsonl":
                fields = ", ".join(f'"f{j}": {v}' for j, v in enumerate(numbers))
                stream.write(f'{{{fields}, "labels": ["x"]}}\n')
            else:
                pairs = " ".join(f"{j}:{v}" for j, v in enumerate(numbers))
                stream.write(f"{i % 2} {pairs}\n")


PEAKS = """
import gc, json, sys, tracemalloc
from eigenlabel.datasets import iterate
found = []
for until in (4, None):
    tracemalloc.start()
    count = 0
    for number, piece in enumerate(iterate(sys.argv[1], rows=100), 1):
        count += piece.X.shape[0]
        gc.collect()
        if number == until:
            break
    found.append((count, tracemalloc.get_traced_memory()[1]))
    tracemalloc.stop()
print(json.dumps(found))
"""


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "svm", "txt", "arff", "csv.gz"])
def test_memory_is_that_of_a_piece(tmp_path, suffix):
    path = tmp_path / f"it.{suffix}"
    write_large(path, suffix.removesuffix(".gz"), n=8000)
    # a process of its own: what other tests have cached or imported would count
    done = subprocess.run(
        [sys.executable, "-c", PEAKS, str(path)], check=True, capture_output=True, text=True
    )
    (_, few), (count, many) = json.loads(done.stdout)
    assert count == 8000
    assert many < 1.5 * few + 2**20  # eighty pieces need hardly more than four
    assert many < 2**24


def test_a_line_without_end_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("eigenlabel.datasets.files.text.LONGEST", 2**20)
    path = tmp_path / "it.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a": 1, "labels": ["x"]}\n{"a": "' + b"x" * 2**24))
    with pytest.raises(DataError, match="line 2: a line of more than 1 Mi characters"):
        list(iterate(path, rows=1))


def test_bombs_are_stopped_in_pieces(tmp_path):
    path = tmp_path / "it.csv.gz"
    with gzip.open(path, "wb") as stream:
        stream.write(b"a,label:x\n1,0\n")
        for _ in range(300):
            stream.write(b"\n" * 2**20)
    with pytest.raises(DataError, match="line 1048579: over 1048576 lines without a sample"):
        list(iterate(path))
    with pytest.raises(DataError, match="compression bomb"):
        load(path)
    with gzip.open(path, "wb") as stream:
        stream.write(b"a,label:x\n1,0\n")
        for _ in range(300):
            stream.write(b"1" * 2**20)
    with pytest.raises(DataError, match="a line of more than 64 Mi characters"):
        list(iterate(path))


class Terminal:
    """Something that says it is a terminal and keeps what is written."""

    def __init__(self, tty):
        self.tty, self.text = tty, ""

    def isatty(self):
        return self.tty

    def write(self, text):
        self.text += text
        return len(text)

    def flush(self):
        pass


@pytest.mark.parametrize("tty", [True, False])
def test_progress_is_shown_on_a_terminal_only(monkeypatch, tty):
    screen = Terminal(tty)
    monkeypatch.setattr(sys, "stderr", screen)
    with _progress.progress(10, "reading", "rows") as bar:
        bar.update(4)
        bar.refresh()
    assert ("reading" in screen.text) == tty
    assert ("4/10" in screen.text) == tty


@pytest.mark.parametrize("read", [load, lambda path: list(iterate(path))])
@pytest.mark.parametrize(("tty", "size"), [(True, 10), (True, 2**26), (False, 10)])
def test_large_files_show_progress(tmp_path, monkeypatch, read, tty, size):
    screen = Terminal(tty)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr("eigenlabel.datasets.files.decompression.WATCHED", size)
    for suffix in ("svm", "svm.gz"):
        path = tmp_path / f"it.{suffix}"
        text = b"0,1 1:1 2:1\n" * 1000
        path.write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
        read(path)
        assert (path.name in screen.text) == (tty and size == 10)
