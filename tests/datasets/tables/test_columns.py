"""Columns are numbers or words, depending on how they are written."""

import numpy as np
import pytest

from eigenlabel.datasets import (
    DataError,
    from_frame,
    load,
)
from forms import both, same


@both
def test_numbers_as_people_write_them(write):
    cells = ["1", "-2.5", "+3", "1e3", " 4 ", ".5", "NA", "", "?", "null", "inf", "nan", "007"]
    data = load(write("x\tlabels\n" + "".join(f"{c}\ta\n" for c in cells)))
    nan = np.nan
    expected = [1, -2.5, 3, 1000, 4, 0.5, nan, nan, nan, nan, np.inf, nan, 7]
    np.testing.assert_array_equal(data.X[:, 0], expected)
    assert data.categories == {}


@both
def test_decimal_commas_where_commas_do_not_separate(write):
    data = load(write("x;y;labels\n1,5;1;a,b\n-2,25;2;b\n3;;a\n"))
    np.testing.assert_array_equal(data.X, [[1.5, 1], [-2.25, 2], [3, np.nan]])
    assert data.label_names.tolist() == ["a", "b"]
    words = load(write('x,labels\n"1,5",a\n"2,5",b\n'))
    assert words.categories == {"x": ("1,5", "2,5")}


@both
@pytest.mark.parametrize("cells", [["1_000", "2"], ["\u0661", "2"], ["0x1", "2"], ["1 2", "3"]])
def test_words_that_are_not_numbers_are_categories(write, cells):
    data = load(write("x,labels\n" + "".join(f"{c},a\n" for c in cells)))
    assert set(data.categories["x"]) == set(cells)


@both
def test_names_and_labels_are_kept_as_written(write):
    data = load(write("id,x,labels\n007,1,01\n008,2,1.0\n"), samples="id")
    assert data.sample_names.tolist() == ["007", "008"]
    assert data.label_names.tolist() == ["01", "1.0"]


def columns_that_are_no_features():
    import datetime
    from decimal import Decimal

    return [
        ([datetime.time(10, 15), None], "'x' holds times"),
        ([datetime.timedelta(1), None], "'x' holds times"),
        ([{"a": 1}, {"a": 2}], "'x' holds .*(objects|[sS]truct)"),
        ([b"ab", b"c"], "'x' holds .*(bytes|Binary|binary)"),
        ([[1, 2], [3]], "'x' holds lists"),
        ([Decimal("1.5"), None], None),
        ([True, None], None),
        ([None, None], None),
    ]


@pytest.mark.parametrize(("cells", "message"), columns_that_are_no_features())
def test_columns_of_other_types(tmp_path, cells, message):
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    for module in (pl, pd):
        frame = module.DataFrame({"x": cells, "labels": ["a", "b"]})
        path = tmp_path / "it.parquet"
        getattr(frame, "write_parquet", getattr(frame, "to_parquet", None))(path)
        if message is None:
            from_file, in_memory = load(path), from_frame(frame)
            same(from_file, in_memory)
            assert from_file.X[0, 0] in (1.5, 1) or np.isnan(from_file.X[0, 0])
            assert np.isnan(from_file.X[1, 0])
            continue
        with pytest.raises(DataError, match=message):
            load(path)
        with pytest.raises(DataError, match=message):
            from_frame(frame)
