"""Both engines read the same tables."""

import cProfile
import sys

import numpy as np
import pytest

from eigenlabel.datasets import (
    DataError,
    load,
)
from eigenlabel.datasets.tables.polars_and_pandas import PandasCells, PolarsCells, guarded
from forms import FILMS

CELLS = [
    " 1",
    "1 ",
    "\t1",
    "1\x0b",
    '" 1"',
    "+1",
    "1.",
    ".5",
    "1e5",
    "nan",
    "-inf",
    "1_000",
    "0x10",
    "",
]
CELLS += ["Infinity", "1e400", "true", "x", " ", '"1"', "-", "1e-400"]


@pytest.mark.parametrize("cell", CELLS)
def test_engines_agree_on_what_a_plain_number_is(cell):
    pytest.importorskip("polars", reason="polars is an extra")
    pytest.importorskip("pandas", reason="pandas is an extra")
    block = f"2;{cell}\n3;4\n".encode()
    polars, pandas = (kind("it.csv", block, ";") for kind in (PolarsCells, PandasCells))
    expected, found = polars.numbers(1), pandas.numbers(1)
    assert (found is None) == (expected is None)
    if expected is not None:
        np.testing.assert_array_equal(found, expected)
    assert polars.words(1).values == pandas.words(1).values


def test_only_errors_and_panics_of_an_engine_become_data_errors():
    panic = type("PanicException", (BaseException,), {})
    for error in (ValueError("why\nmore"), panic("why\nmore")):
        with pytest.raises(DataError, match=r"not a table, or damaged \(why\)"):
            guarded("it.csv", "not a table", _raiser(error))
    for error in (KeyboardInterrupt(), SystemExit(), GeneratorExit(), MemoryError()):
        with pytest.raises(type(error)):
            guarded("it.csv", "not a table", _raiser(error))


def _raiser(error):
    def fail():
        raise error

    return fail


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
