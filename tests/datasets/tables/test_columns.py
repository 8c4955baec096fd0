"""Columns are numbers or words, depending on how they are written."""

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigenlabel.datasets import (
    DataError,
    from_frame,
    load,
)
from eigenlabel.datasets.tables.columns import Words, find_order, is_date, read_date
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
        ([datetime.time(10, 15), None], "'x' holds times of day"),
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


FORMS = (
    ("%Y-%m-%d", ""),
    ("%Y/%m/%d", ""),
    ("%d.%m.%Y", ""),
    ("%d %b %Y", ""),
    ("%d-%b-%Y", ""),
    ("%b %d, %Y", ""),
    ("%B %d %Y", ""),
    ("%d/%m/%Y", "day"),
    ("%m/%d/%Y", "month"),
    ("%Y-%m-%dT%H:%M:%S", ""),
    ("%d/%m/%Y %H:%M", "day"),
    ("%d %B %Y %H:%M:%S", ""),
    ("%m/%d/%Y %I:%M %p", "month"),
    ("%d.%m.%Y %I:%M:%S%p", ""),
)


@pytest.mark.parametrize(("form", "order"), FORMS)
@given(st.datetimes(datetime.datetime(1000, 1, 1), datetime.datetime(9999, 12, 31)))
def test_dates_are_read_in_every_form(form, order, moment):
    written = moment.strftime(form)
    assert is_date(written)
    expected = datetime.datetime.strptime(written, form) - datetime.datetime(1970, 1, 1)
    assert read_date(written, order) == pytest.approx(expected / datetime.timedelta(1), abs=1e-9)


def test_words_that_are_no_dates():
    for word in (
        "31/1/24",
        "2024",
        "may",
        "32.1.2024",
        "2024-13-01",
        "Jan 2024",
        "1 Foo 2024",
        "1.1.2024 13:05 PM",
    ):
        assert read_date(word, "day") is None
    assert read_date("1/2/2024") is None, "without an order"


@pytest.mark.parametrize(
    ("dates", "order"),
    [
        (["1/2/2024", "13/2/2024"], "day"),
        (["1/2/2024", "2/13/2024", "2024-01-31"], "month"),
        (["1/2/2024", "2/3/2024"], None),
        (["13/2/2024", "2/13/2024"], None),
        (["2024-01-31", "31.1.2024"], ""),
    ],
)
def test_the_order_of_day_and_month(dates, order):
    assert find_order(dates) == order


@both
def test_yes_and_no_are_numbers_and_labels(write):
    data = load(write("x,label:a\nyes,No\nNO,yes\n,yes\n"))
    np.testing.assert_array_equal(data.X, [[1], [0], [np.nan]])
    assert data.Y.toarray().tolist() == [[0], [1], [1]]


def test_frames_of_pyarrow_are_read_too():
    pa = pytest.importorskip("pyarrow")
    columns = {"x": [1.5, None], "c": ["u", "v"], "labels": ["a", "b"]}
    found = from_frame(pa.table(columns))
    same(found, from_frame(pytest.importorskip("polars").DataFrame(columns)))


def test_numbers_among_words_are_words_if_the_table_allows_it():
    from eigenlabel.datasets.tables.frames import to_table

    pd = pytest.importorskip("pandas")
    table = to_table("it", pd.DataFrame({"x": [1, "n/a", 2.5]}))
    with pytest.raises(DataError, match="'x' holds words here, numbers before"):
        table.column("x")
    table.mixed = True
    found = table.column("x")
    assert isinstance(found, Words)
    assert [found.values[code] for code in found.codes] == ["1", "n/a", "2.5"]
