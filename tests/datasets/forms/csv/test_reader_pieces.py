"""Comma-separated text is read in pieces, with rows of several lines."""

import pytest

from eigenlabel.datasets import DataError, iterate, load
from forms import check_equal


def test_rows_of_empty_values_are_rows(tmp_path):
    path = tmp_path / "it.csv"
    path.write_text("x\ty\tlabels\n1\t2\ta\n\t\t\n \t\n3\t4\ta\n\t\t\n\n")
    whole = load(path)
    assert whole.X.shape == (4, 2)
    check_equal(list(iterate(path, rows=1)), whole, 1)


def test_rows_of_several_lines_are_not_cut(tmp_path):
    path = tmp_path / "it.csv"
    path.write_text('"a\nb","label:x"\n1,0\n\n2,"1"\n\n"3\n",0\nbad,1\n')
    with pytest.raises(DataError, match=r"line 9: 'a\\nb' is 'bad', not a number"):
        list(iterate(path, rows=1))
    path.write_text('"a\nb","label:x"\n1,0\n\n2,"1"\n\n"3\n",0\n')
    check_equal(list(iterate(path, rows=1)), load(path), 1)


def test_a_quote_that_is_never_closed_does_not_fill_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("eigenlabel.datasets.forms.csv.reader.LONGEST", 1000)
    path = tmp_path / "it.csv"
    path.write_text('a,label:x\n1,0\n2,1\n"3,0\n' + "4,1\n" * 1000)
    with pytest.raises(DataError, match="line 4: a quote is never closed, or a row is too long"):
        list(iterate(path, rows=1))
