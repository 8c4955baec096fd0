"""The texts of a sample, as they are written in its file."""

import os

import pytest

from eigenlabel.datasets import load
from eigenlabel.datasets.sample_texts import read_texts

CSV = 'id,text,size,labels\na,"Red, <b>apple</b>",1,x|y\nb,"Two\nlines",2,y\nc,,3,x\n'
JSON = (
    '{"text": "Red apple", "size": 1, "labels": ["x"]}\n{"size": 2, "text": "Blue", "labels": []}\n'
)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("rows", [1, 2, 4096])
def test_texts_of_a_table(rows, write):
    path = write(CSV)
    assert read_texts(path, 0, rows=rows) == {"text": "Red, <b>apple</b>"}
    assert read_texts(path, 1, rows=rows) == {"text": "Two\nlines"}
    assert read_texts(path, 2, rows=rows) == {"text": ""}
    assert read_texts(path, 3, rows=rows) == {}


def test_texts_of_json_lines(write):
    path = write(JSON, "it.jsonl")
    assert read_texts(path, 1, rows=1) == {"text": "Blue"}


def test_texts_of_parquet(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "it.parquet"
    pq.write_table(pa.table({"text": ["Red apple", "Blue"], "labels": [["x"], ["y"]]}), path)
    assert read_texts(path, 1, rows=1) == {"text": "Blue"}


def test_the_columns_are_those_of_the_reader(write):
    path = write("title,body,tags\nRed,an apple,x\nBlue,a car,y\n")
    assert read_texts(path, 0) == {}
    options = {"text": ["title", "body"]}
    assert read_texts(path, 1, **options) == {"title": "Blue", "body": "a car"}
    like = load(path, **options)
    assert read_texts(path, 1, like=like) == {"title": "Blue", "body": "a car"}


def test_other_forms_and_pipes_have_no_texts(write, tmp_path):
    assert read_texts(write("0,2 1:0.5 3:1\n1 2:1\n", "it.svm"), 0) == {}
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert read_texts(pipe, 0) == {}
