"""Features of tables: numbers, dates and categories."""

import datetime
import io
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from eigenlabel.cli import main
from eigenlabel.datasets import (
    DataError,
    from_frame,
    iterate,
    load,
    load_table,
)
from eigenlabel.datasets.tables.columns import ABSENT, EMPTY, MISSING, is_empty
from eigenlabel.persistence import load_model
from forms import SHOP_TABLE, both, mixed_data


@both
def test_notes_mention_columns_that_look_wrong(write):
    many = "".join(f"word{min(i, 48)},1,a\n" for i in range(50))
    (note,) = load(write("x,y,labels\n" + many)).notes
    assert "column 'x' has 49 different values in 50 samples; pass text='x'" in note


@both
def test_a_column_that_names_the_samples_is_not_a_category(write):
    rows = "".join(f"S{i},{i % 3},{'ab'[i % 2]}\n" for i in range(30))
    train = load(write("title,x,labels\n" + rows))
    assert train.feature_names.tolist() == ["x"]
    assert train.categories == {}
    (note,) = train.notes
    assert "column 'title' has a different value in every sample: left out; pass text=" in note
    assert load(write("title,x\nA new one,1\n"), like=train).X.tolist() == [[1]]
    assert "s7" in load(write("title,x,labels\n" + rows), text="title").feature_names
    few = load(write("title,x,labels\n" + "\n".join(rows.split("\n")[:20])))
    assert few.feature_names.tolist() == ["title", "x"]  # too few rows to decide
    only = write("title,labels\n" + "".join(f"story {i},a\n" for i in range(30)))
    with pytest.raises(DataError, match=r"no column is left for .* pass text='title'"):
        load(only)


@both
def test_columns_of_texts_are_found_by_their_content(write):
    rows = "".join(f"The story of no. {i},{i % 3},{'ab'[i % 2]}\n" for i in range(30))
    train = load(write("title,x,labels\n" + rows))
    assert {"x", "story", "the"} <= set(train.feature_names.tolist())
    assert list(train.words) == ["title"]
    (note,) = train.notes
    assert "column 'title' is read as text, and its words are counted; pass drop='title'" in note
    new = load(write("title,x\nThe story,1\n"), like=train)
    found = dict(zip(train.feature_names.tolist(), np.ravel(new.X.toarray()), strict=True))
    assert (found["story"], found["of"], found["x"]) == (1, 0, 1)
    without = load(write("title,x,labels\n" + rows), drop="title")
    assert without.feature_names.tolist() == ["x"]


@both
def test_a_value_that_like_does_not_have_counts_as_missing(write):
    train = load(write("size,colour,labels\n1,red,a|b\n2,blue,c\n"))
    rows = "colour,size,labels\nred,1,a\ngreen,1,a\n,2,b\ngrey,3,c\n"
    test = load(write(rows), like=train)
    np.testing.assert_array_equal(test.X, [[1, 1], [1, np.nan], [2, np.nan], [3, np.nan]])
    assert test.categories == {"colour": ("blue", "red")}
    (note,) = test.notes
    why = "because the value is not one of 'blue', 'red'"
    assert note == f"'colour': 2 cells count as missing, {why}"


SHOPS = ("A", "B", "G")


DAYS = [19753.0, 19754.0, np.nan, 19783.0]


@both
def test_the_reader_finds_the_type_of_each_column(write):
    data = mixed_data(write)
    assert sp.issparse(data.X)
    assert data.column_types == {"shop": "category", "price": "number", "when": "date"}
    assert data.categories == {"shop": SHOPS}
    assert data.words == {"text": slice(3, 8)}
    np.testing.assert_array_equal(data.X[:, [2]].toarray().ravel(), DAYS)
    np.testing.assert_array_equal(data.X[:, [1]].toarray().ravel(), [1.5, np.nan, 4.5, 9])
    part = data.subset(features=[1, 3, 4])
    assert part.column_types == {"price": "number"}
    assert part.words == {"text": slice(1, 3)}


@both
def test_dates_are_days(write):
    cells = ["2024-01-31", "2024-01-31 12:00", "2024-01-31T18:00:00Z", "31.1.2024", ""]
    cells += ["2024-01-31T00:00:00+06:00"]
    data = load(write("when,labels\n" + "".join(f"{cell},x\n" for cell in cells)))
    days = [19753, 19753.5, 19753.75, 19753, np.nan, 19752.75]
    np.testing.assert_array_equal(data.X[:, 0], days)
    assert data.column_types == {"when": "date"}


def test_dates_of_frames_and_parquet(tmp_path):
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    day, noon = datetime.date(2024, 1, 31), datetime.datetime(2024, 1, 31, 12)
    zoned = noon.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=6)))
    for cell, days in ((day, 19753), (noon, 19753.5), (zoned, 19753.25)):
        for module in (pl, pd):
            frame = module.DataFrame({"x": [cell, None], "labels": ["a", "b"]})
            path = tmp_path / "it.parquet"
            getattr(frame, "write_parquet", getattr(frame, "to_parquet", None))(path)
            for data in (from_frame(frame), load(path)):
                np.testing.assert_array_equal(data.X[:, 0], [days, np.nan])
                assert data.column_types == {"x": "date"}


@both
def test_dates_of_files_like_the_first(write):
    train = load(write(SHOP_TABLE))
    new = load(write("when,text,price,shop\n,tea,1,A\n1.3.2024,,,Z\n"), like=train)
    assert new.column_types == train.column_types
    assert new.words == train.words
    np.testing.assert_array_equal(new.X[:, [2]].toarray().ravel(), [np.nan, 19783])
    np.testing.assert_array_equal(new.X[:, [0]].toarray().ravel(), [0, np.nan])
    with pytest.raises(DataError, match="line 3: 'when' is 'soon', not a date such as 2024-01-31"):
        load(write("when,text,price,shop\n,tea,1,A\nsoon,,,A\n"), like=train)
    with pytest.raises(DataError, match="line 2: 'when' is '5', not a date"):
        load(write("when,text,price,shop\n5,tea,1,A\n"), like=train)
    pieces = list(iterate(write(SHOP_TABLE), rows=2, like=train))
    whole = sp.vstack([piece.X for piece in pieces])
    assert pieces[1].column_types == train.column_types
    np.testing.assert_array_equal(whole[:, [2]].toarray().ravel(), DAYS)


def test_dates_are_neither_labels_nor_texts():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": [1, 2], "when": pd.to_datetime(["2024-01-31", "2024-02-01"])})
    for options in ({"labels": "when"}, {"labels": ["when"]}, {"labels": "x", "text": "when"}):
        with pytest.raises(DataError, match="'when' holds dates"):
            from_frame(frame, **options)
    train = from_frame(frame.assign(when=[1, 2]), labels="x")
    with pytest.raises(DataError, match="'when' holds dates, not numbers as in like"):
        from_frame(frame, labels="x", like=train)


PLANS = ["gold", "basic", "None", "n/a", "NA", "unknown"] * 5


def test_categories_have_no_value_where_pandas_reads_none(write, tmp_path):
    lines = [f"{plan},{i % 7},{'uvw'[i % 3]}\n" for i, plan in enumerate(PLANS)]
    path, model = write("plan,n,labels\n" + "".join(lines)), tmp_path / "m.skops"
    data = load_table(path)
    assert data.categories == {"plan": ("basic", "gold", "unknown")}
    assert np.isnan(data.X[:, 0]).tolist() == [plan in PLANS[2:5] for plan in PLANS]
    assert data.notes == ("column 'plan' has 15 cells such as 'None' (line 4), read as missing",)
    again = load_table(path, like=data)
    np.testing.assert_array_equal(again.X, data.X)
    assert again.notes == ()
    pieces = list(iterate(path, rows=6))  # values after the first piece must be known
    np.testing.assert_array_equal(np.vstack([piece.X for piece in pieces]), data.X)
    frames = pd.read_csv(path), pl.read_csv(path), pd.read_csv(path, keep_default_na=False)
    for frame in frames:
        np.testing.assert_array_equal(from_frame(frame, like=data).X, data.X)
    assert main(["tune", str(path), "-o", str(model), "--cv", "3"]) == 0
    saved = load_model(model)
    expected = saved.predict_proba(data.X)
    for frame in frames:
        np.testing.assert_array_equal(saved.predict_proba(frame), expected)


def test_the_words_for_empty_cells_are_those_of_pandas():
    for word in sorted({*EMPTY, *ABSENT, *MISSING} - {""}):
        read = pd.read_csv(io.StringIO(f"x,y\n{word},a\nb,b\n"))["x"]
        assert pd.isna(read[0]) == is_empty(word), word


def test_a_model_that_knows_such_a_word_as_a_value_still_reads_it(write):
    like = load_table(write("plan,labels\ngold,u\nold,v\n"))
    known = replace(like, categories={"plan": ("None", "gold")})
    data = load_table(write("plan,labels\ngold,u\nNone,v\nNA,v\n"), like=known)
    np.testing.assert_array_equal(data.X[:, 0], [1, 0, np.nan])


def test_a_column_of_nothing_but_such_words_is_empty(write):
    data = load_table(write("plan,n,labels\nNone,1,u\nn/a,2,v\n"))
    assert data.column_types == {"plan": "number", "n": "number"}
    assert np.isnan(data.X[:, 0]).all()


@both
def test_typed_words_stay_categories(write):
    rows = [f'{{"plan": "{plan}", "labels": ["{"uv"[i % 2]}"]}}\n' for i, plan in enumerate(PLANS)]
    data = load(write("".join(rows), "data.jsonl"))
    assert data.categories == {"plan": ("NA", "None", "basic", "gold", "n/a", "unknown")}


def test_a_text_that_is_such_a_word_has_no_words(write):
    path = write("text,labels\nnone of them,u\nNone,v\nn/a,v\nold car,u\n")
    data = load_table(path)
    assert data.X.sum(axis=1).tolist() == [3, 0, 0, 2]
    np.testing.assert_array_equal(
        from_frame(pd.read_csv(path), like=data).X.toarray(), data.X.toarray()
    )
