"""Tables in files: whole files, broken files and noise."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given
from hypothesis import strategies as st

from eigenlabel.datasets import (
    DataError,
    load,
    load_table,
)
from forms import FILMS, both, films, same
from noise import damage, noisy, read_or_refuse

TABLE_SEEDS = [
    FILMS.encode(),
    b'a;b;labels\n1,5;"x\n";u|v\n2;"y""z";v\n',
    b"text\tlabels\nred car\ta\nblue\tb\n",
    b"label:x,f\n1,2\n0,3\n",
]


@noisy
@given(data=st.data())
def test_noise_in_tables_and_both_engines_agree(data, tmp_path):
    pytest.importorskip("polars")
    pytest.importorskip("pandas")
    path = tmp_path / "it.csv"
    path.write_bytes(damage(data.draw, data.draw(st.sampled_from(TABLE_SEEDS))))
    found = []
    for hidden in (None, "polars"):
        with pytest.MonkeyPatch.context() as patch:
            if hidden:
                patch.setitem(sys.modules, hidden, None)
            found.append(read_or_refuse(load_table, path))
    if isinstance(found[0], str):
        assert found[0] == found[1]
    else:
        same(*found)


@noisy
@given(content=st.binary(max_size=80) | st.text(max_size=80).map(str.encode))
@example(content=b'a,labels\n"\r",x\n')
@example(content=b"\xff\xfea\x00,\x00l\x00a\x00b\x00e\x00l\x00s\x00\n\x001\x00")
def test_any_bytes_as_a_table(content, tmp_path):
    path = tmp_path / "it.csv"
    path.write_bytes(b"a,labels\n" + content)
    read_or_refuse(load_table, path)
    path.write_bytes(content)
    read_or_refuse(load, path)


@both
def test_a_table_of_films(write):
    data = films(write)
    assert data.feature_names.tolist() == ["length", "country", "colour"]
    np.testing.assert_array_equal(
        data.X, [[95, 0, 1], [120.5, 1, 0], [np.nan, 0, 1], [88, np.nan, 0]]
    )
    assert data.categories == {"country": ("it", "us")}
    assert data.label_names.tolist() == ["crime", "drama", "western"]
    assert data.Y.toarray().tolist() == [[1, 1, 0], [1, 0, 0], [0, 0, 0], [1, 0, 1]]
    assert sp.issparse(data.Y)
    assert data.sample_names.tolist() == ["Alpha", "Beta", "Gamma", "Delta"]
    assert data.source == "it.csv"
    assert data.notes == ()


@both
def test_the_index_that_pandas_writes_is_left_out(tmp_path):
    pd = pytest.importorskip("pandas")
    path = tmp_path / "it.csv"
    frame = pd.DataFrame({"x": [5, 6], "labels": ["a", "b"]})
    frame.to_csv(path)
    data = load(path)
    assert data.feature_names.tolist() == ["x"]
    assert data.notes == ("the first column has no name and numbers the rows: left out",)
    frame.index = [1, 2]
    frame.to_csv(path)
    assert load(path).feature_names.tolist() == ["", "x"]


@both
@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a,b\n1,2\n", {}, r"which columns are labels\? Pass labels=.* There are 'a', 'b'"),
        ("1,2\n1,2\n", {}, "The first line must name the columns; here it holds '1', '2'"),
        ("size,b\n1,2\n", {"labels": "sizes"}, "no column 'sizes'; did you mean 'size'"),
        ("size,b\n1,2\n", {"labels": ["b", "zzz"]}, "no column 'zzz'; there are 'size', 'b'"),
        ("size,b\n1,2\n", {"labels": "t_*"}, r"no column 't_\*'"),
        ("a,labels\n1,x\n", {"text": "txt"}, "no column 'txt'"),
        ("a,labels\n1,x\n", {"samples": "id"}, "no column 'id'"),
        ("a,labels\n1,x\n", {"drop": ("id",)}, "no column 'id'"),
        ("a,a,labels\n1,2,x\n", {}, "column 'a' occurs twice"),
        ("a,b\n1,0\n\n2,2\n", {"labels": ["b"]}, "line 4: label 'b' must be 0 or 1, found 2"),
        ("a,b\n1,0\n2,\n", {"labels": ["b"]}, "line 3: label 'b' must be 0 or 1, found nothing"),
        (
            "a,b\n1,0\n2,yes\n",
            {"labels": ["b"]},
            "line 3: label 'b' must be 0 or 1, found 'yes'; pass labels='b'",
        ),
        ("a,labels\n1,x\n2,y,z\n", {}, "line 3: 3 values for 2 columns"),
        ("a,labels\n1,x\n\n2\n", {}, "line 4: 1 values for 2 columns"),
        ('a,labels\n1,"x\ny"\n2\n', {}, "line 4: 1 values for 2 columns"),
        ('a,labels\n1,5" disk\n', {}, "line 2: a quote inside a value.*from_frame"),
        ('a,labels\n1,"x"y\n', {}, "line 2: a quote inside a value"),
        ('a,labels\n1,"x\n2,y\n', {}, "line 2: a quote is never closed"),
        ('a,"labels\n1,x\n', {}, "line 1: cannot read the names of the columns"),
        ("a,labels\n", {}, "no rows"),
        ("a,labels\n\n\n", {}, "no rows"),
        ("\n\n", {}, "empty"),
        ("a,labels\n1,\n2,\n", {}, "no sample has a label"),
        ("labels,b\nx,2\n", {"drop": "b"}, "no column is left for the features"),
        ("when,labels\n1/2/2024,x\n2/2/2024,y\n", {}, "order of day and month .*drop='when'"),
        ("when,labels\n2024-01-31,x\n2024-02-30,y\n", {}, "line 3: 'when' is '2024-02-30', not a"),
        ("text,labels\n1 2 3,x\n", {"text": "text"}, "no word in 'text'"),
        (b"a,labels\n1,x\n2,\xe9\n", {}, "line 3: not utf-8 text .* pass encoding="),
        (b"a,labels\n1,x\x00\n", {}, "a binary file"),
        ("a,labels\n1,x\n", {"encoding": "utf-99"}, "unknown encoding: utf-99"),
        ("a,labels\n1,x\n", {"encoding": "hex"}, "not a text encoding"),
        ("a,labels\n1,x\n" * 100, {"max_bytes": 100}, "pass max_bytes"),
    ],
)
def test_broken_tables_raise_an_error(write, text, options, message):
    with pytest.raises(DataError, match=f"it.csv.*{message}"):
        load_table(write(text), **options)


@both
def test_another_encoding_can_be_passed(write):
    data = load(write("größe,labels\n1,é\n".encode("latin-1")), encoding="latin-1")
    assert data.feature_names.tolist() == ["größe"]
    assert data.label_names.tolist() == ["é"]
