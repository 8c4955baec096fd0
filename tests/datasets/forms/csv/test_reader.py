"""Comma-separated text is read within limits of memory."""

import pytest

from eigenlabel.datasets import (
    DataError,
    load,
)
from forms import both


@both
def test_many_short_rows_do_not_fill_memory(write, monkeypatch):
    monkeypatch.setattr("eigenlabel.datasets.forms.csv.reader.memory_limit", lambda: 2**20)
    path = write("a,labels\n" + ",\n" * 10_000)
    with pytest.raises(DataError, match="10,000 lines of 2 values do not fit into memory; use it"):
        load(path)
