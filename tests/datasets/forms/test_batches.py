"""Lines are cut into batches of samples, with their numbers."""

from pathlib import Path

import pytest

from eigenlabel.datasets import DataError
from eigenlabel.datasets.forms import batches as module
from eigenlabel.datasets.forms.batches import Batch, batches, byte_lines


def test_batches_contain_blank_lines_but_do_not_count_them():
    lines = ["a", "", "b", "c", ""]
    found = list(batches(Path("it"), lines, 3, 2, bool))
    assert found == [Batch(["a", "", "b"], 3, 0), Batch(["c", ""], 6, 2)]
    assert found[0].encode("utf-8") == b"a\n\nb\n"


def test_many_lines_without_a_sample_raise(monkeypatch):
    monkeypatch.setattr(module, "EMPTIEST", 2)
    with pytest.raises(DataError, match=r"it, line 4: over .* lines without a sample"):
        list(batches(Path("it"), ["a", "", "", ""], 1, 2, bool))


def test_byte_lines_have_no_byte_order_mark(tmp_path):
    path = tmp_path / "it.txt"
    path.write_bytes(b"\xef\xbb\xbf1\r\n\xff\n")
    assert list(byte_lines(path, None)) == ["1", "\xff"]
