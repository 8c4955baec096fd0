"""Samples in every form that users pass."""

import datetime

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.datasets.tables.columns import Dates, Words
from eigenlabel.preprocessing.sample_forms import read_samples


def test_numbers_are_a_matrix():
    rows = [[1, 2.5], [3, np.nan]]
    for given in (rows, tuple(rows), np.array(rows), np.array(rows, dtype=np.float32)):
        samples = read_samples(given)
        assert samples.table is None
        np.testing.assert_array_equal(samples.matrix, rows)
        assert samples.matrix.dtype == np.float64
        assert samples.width == 2
        assert samples.as_table().names == ["x0", "x1"]
    found = read_samples(sp.coo_matrix(np.eye(3))).matrix
    assert found.format == "csr"
    masked = np.ma.array([[1.0, 2.0]], mask=[[False, True]])
    assert np.isnan(read_samples(masked).matrix[0, 1])


def test_objects_are_a_table_of_columns_by_content():
    day = datetime.date(2024, 1, 31)
    cells = [[1, "x", None, day, 1], [None, "y", 2.5, None, "n/a"], [3, None, np.nan, day, 2.5]]
    table = read_samples(cells).table
    assert table.names == ["x0", "x1", "x2", "x3", "x4"]
    np.testing.assert_array_equal(table.column("x0"), [1, np.nan, 3])
    np.testing.assert_array_equal(table.column("x2"), [np.nan, 2.5, np.nan])
    assert table.column("x1").values == ["x", "y"]
    assert isinstance(table.column("x3"), Dates)
    mixed = table.column("x4")
    assert isinstance(mixed, Words)
    assert [mixed.values[code] for code in mixed.codes] == ["1", "n/a", "2.5"]


@pytest.mark.parametrize("make", [list, tuple, np.array, lambda t: np.array(t, dtype=object)])
def test_strings_are_texts(make):
    samples = read_samples(make(["one two", "", "three"]))
    assert samples.texts
    assert samples.width == 1
    words = samples.table.column("")
    assert [words.values[code] for code in words.codes] == ["one two", "", "three"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_series_and_frames(library):
    module = pytest.importorskip(library)
    series = module.Series(["one two", None, "three"])
    samples = read_samples(series)
    assert samples.texts
    assert samples.table.column("").codes.tolist() == [0, -1, 1]
    frame = read_samples(module.DataFrame({"a": [1, 2], "b": ["x", "y"]}))
    assert frame.named
    assert frame.table.names == ["a", "b"]
    assert frame.as_table(["c", "d"]).words("d").values == ["x", "y"]


def test_what_is_not_samples_raises_an_error():
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    for given, error, message in [
        ("a text", TypeError, "X is a str: pass a frame"),
        ({"a": [1]}, TypeError, "X is a dict: pass a frame"),
        (pl.LazyFrame({"a": [1]}), TypeError, "lazy frame: pass X.collect"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "Two columns of X are called 'a'"),
        (pd.DataFrame([[1, 2]], columns=["1", 1]), ValueError, "Two columns of X are called '1'"),
        (pd.DataFrame({"a": []}), ValueError, "0 sample.s. .shape=.0, 1.. while a minimum of 1"),
        (pd.DataFrame(index=[1, 2]), ValueError, "0 feature.s. .shape=.2, 0.. while a minimum"),
        (np.zeros((0, 2)), ValueError, "0 sample"),
        (np.array([1.0, 2.0]), ValueError, "Expected 2D array, got 1D"),
        (np.array([[1.0, np.inf]]), ValueError, "'x1' of X contains infinity"),
        (sp.csr_array([[0, -np.inf]]), ValueError, "'x1' of X contains infinity"),
        (np.array([[1j]]), ValueError, "Complex data not supported"),
    ]:
        with pytest.raises(error, match=message):
            read_samples(given)
    table = read_samples(np.array([["a", {}], ["b", 2]], dtype=object)).table
    with pytest.raises(TypeError, match="'x1' holds a dict: every argument must be a string"):
        table.column("x1")
    with pytest.raises(TypeError, match="X is a sparse matrix"):
        read_samples(sp.csr_array(np.eye(2))).as_table()
    with pytest.raises(ValueError, match="held numbers only in fit"):
        read_samples([[1, "x"]]).as_matrix()
