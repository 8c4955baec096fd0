"""The form of a file is recognised by its content."""

import io

import pytest

from eigenlabel.datasets import (
    DataError,
    find_form,
    load,
)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("1,2 3:4 5:6", "svmlight"),
        ("1 1:1", "svmlight"),
        ("1:1 2:1", "svmlight"),
        (" 1:1\n", "svmlight"),
        ("0,2 1:0.5e-3 3:nan\n", "svmlight"),
        ("1.0,2.0 1:1\n", "svmlight"),
        ("# a, remark\n1,2 3:4\n", "svmlight"),
        ("1,2 " + " ".join(f"{j}:1.5" for j in range(2000)), "svmlight"),
        ("1,2 3:x\n", "table"),
        ("z 3:1 4:1\n", "svmlight"),
        ("3 5 2\n0,1 0:1\n", "xmc"),
        ("3\t5\t2\n0,1 0:1\n", "xmc"),
        ("1 5 2\n\n", "xmc"),
        ("3\t5\t2\n1\t2\t3\n", "table"),
        ("3,5,2\n1,2,3\n", "table"),
        ("a,b\n1:1,2:2\n", "table"),
        ("ratio 1:2,x\n1,2\n", "table"),
        ("name,ratio 1:2\n1,2\n", "table"),
        ("ratio 1:2\tx\n1\t2\n", "table"),
        ("0:00,1:00\n1,2\n", "table"),
        ("time: start,value\n1,2\n", "table"),
        ("%id,b\n1,2\n", "table"),
        ("a;b\n1;2\n", "table"),
        ('"a","b"\n1,2\n', "table"),
        ('{"a": 1}\n', "jsonl"),
        ('\n \n{"a": 1}\n', "jsonl"),
        ("@relation x,y\n", "arff"),
        ("% a, comment\n@relation x\n", "arff"),
    ],
)
def test_forms_are_not_confused(write, text, form):
    assert find_form(write(text, "it.dat")) == form
    assert find_form(write(b"\xef\xbb\xbf" + text.encode(), "it.dat")) == form
    assert find_form(write(text.replace("\n", "\r\n"), "it.dat")) == form


def test_the_suffix_decides_if_the_content_does_not(write):
    assert find_form(write("text\nhello there\n", "it.csv.gz")) == "table"
    with pytest.raises(DataError, match="the form of the data is unknown"):
        find_form(write("text\nhello there\n", "it.dat"))
    with pytest.raises(DataError, match="write one object per line"):
        find_form(write('[{"a": 1}]', "it.json"))


def test_excel_files_are_recognised(write):
    import zipfile

    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
    with pytest.raises(DataError, match="an Excel file; save the sheet as CSV"):
        load(write(stream.getvalue(), "it.xlsx"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"hello world\n", r"the form of the data is unknown .* b'hello world"),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "the form of the data is unknown"),
    ],
)
def test_unknown_content_raises_an_error(tmp_path, content, message):
    path = tmp_path / "n.dat"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        load(path)
