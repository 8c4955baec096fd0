"""ARFF files are read in pieces."""

import pytest

from eigenlabel.datasets import DataError, iterate, load
from forms import check_equal


@pytest.mark.parametrize(
    "rows", [["{0 1, 1 yes}", "{2 3}", "{}"], ["1,yes,2", "0,'no',?", "0,no,1"]]
)
def test_arff_with_words_is_read_in_pieces(tmp_path, rows):
    path = tmp_path / "it.arff"
    head = "@relation 'x: -C 1'\n@attribute l {0,1}\n@attribute c {no,yes}\n@attribute n real\n"
    path.write_text(head + "% remark\n@DATA\n" + "\n".join(rows))
    whole = load(path)
    assert whole.categories == {"c": ("no", "yes")}
    check_equal(list(iterate(path, rows=2)), whole, 2)


def test_a_header_without_end_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("eigenlabel.datasets.forms.arff.reader.LONGEST", 1000)
    path = tmp_path / "it.arff"
    path.write_text("@relation r\n" + "% remark\n" * 1000)
    with pytest.raises(DataError, match="no @data line among the first"):
        list(iterate(path))
