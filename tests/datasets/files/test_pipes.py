"""Pipes are read as files are."""

import contextlib
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.cli import main
from eigenlabel.datasets import (
    DataError,
    Dataset,
    find_form,
    iterate,
    load,
    load_table,
    save,
)
from forms import same

DATA = Dataset(
    X=np.array([[1.0, 0, 2], [0, 3, 0], [4, 0, 5]]),
    Y=sp.csr_array(np.array([[1, 0], [0, 1], [1, 1]])),
    feature_names=np.array(["0", "1", "2"]),
    label_names=np.array(["0", "1"]),
)


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


def test_the_form_of_a_pipe_is_not_searched(tmp_path):
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    os.mkfifo(tmp_path / "it.csv")
    with pytest.raises(DataError, match="a pipe, which can be read only once; load and iterate"):
        find_form(tmp_path / "it.csv")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/stdin is a pipe on Linux")
def test_standard_input_is_read():
    program = "from eigenlabel.datasets import load; print(load('/dev/stdin'))"
    found = subprocess.run(
        [sys.executable, "-c", program], input=b"0 1:1\n1 2:1\n", capture_output=True, check=True
    )
    assert found.stdout == b"Dataset(2 samples, 2 features, 2 labels; stdin)\n"


def test_a_pipe_can_be_predicted(tmp_path, pipe, capsys):
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
