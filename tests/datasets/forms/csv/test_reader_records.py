"""Rows of comma-separated text are found with a strict check of their quotes."""

import pytest

from eigenlabel.datasets import DataError
from eigenlabel.datasets.forms.csv import reader as records
from eigenlabel.datasets.forms.csv.reader import find_rows


@pytest.mark.parametrize("segment", [1, 3, 2**22])
def test_rows_may_contain_quoted_line_breaks_and_delimiters(monkeypatch, segment):
    monkeypatch.setattr(records, "SEGMENT", segment)
    block = b'1,2\n\n"a,\n""b""",3\n4,5'
    starts, ends, n_records = find_rows("it", block, ",", 2, 1)
    rows = [block[start:end] for start, end in zip(starts, ends, strict=True)]
    assert rows == [b"1,2", b'"a,\n""b""",3', b"4,5"]
    assert n_records == 4


@pytest.mark.parametrize(
    ("block", "message"),
    [
        (b"1,2\n3\n", "line 3: 1 values for 2 columns"),
        (b'1,2\n3,"4\n', "line 3: a quote is never closed"),
        (b'1,2\n3,a"b"\n', "line 3: a quote inside a value"),
    ],
)
def test_broken_rows_raise_with_their_lines(block, message):
    with pytest.raises(DataError, match=message):
        find_rows("it", block, ",", 2, 2)
