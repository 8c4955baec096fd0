"""Both engines read the same tables."""

import cProfile
import sys

import numpy as np
import pytest

from eigenlabel.datasets import (
    DataError,
    load,
)
from forms import FILMS


def test_no_query_is_run_for_each_column_of_a_table(write):
    pytest.importorskip("polars", reason="polars is an extra")
    head = ",".join(f"c{i}" for i in range(500))
    rows = "\n".join(",".join(["1.5", *["2"] * 499]) + ",x" for _ in range(3))
    path = write(f"{head},labels\n{rows}\n")
    with cProfile.Profile() as profile:
        data = load(path)
    calls = [entry.callcount for entry in profile.getstats() if "'collect'" in str(entry.code)]
    np.testing.assert_array_equal(data.X, np.tile([1.5, *[2.0] * 499], (3, 1)))
    assert 0 < sum(calls) < 50


def test_tables_without_an_engine_raise_an_error(write, monkeypatch):
    for name in ("polars", "pandas", "pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        DataError, match=r"needs polars or pandas: pip install 'eigenlabel\[data\]'"
    ):
        load(write(FILMS), labels="genres")
    with pytest.raises(DataError, match=r"needs pyarrow: pip install 'eigenlabel\[data\]'"):
        load(write(b"PAR1" + bytes(20) + b"PAR1", "it.parquet"))
