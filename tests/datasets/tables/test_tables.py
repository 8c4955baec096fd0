"""Tables: what a user has, and what is wrong with it."""

import bz2
import gzip
import json
import lzma
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.datasets import (
    DataError,
    find_form,
    from_frame,
    iterate,
    load,
    load_table,
    save,
)
from forms import FILMS, dense, same

both = pytest.mark.usefixtures("engine")


def films(write, **options):
    return load_table(write(FILMS), labels="genres", samples="title", **options)


# What a table gives


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
def test_the_same_film_as_everything(write):
    expected = films(write)
    plain = FILMS.encode()
    for pack in (gzip.compress, bz2.compress, lzma.compress):
        same(load(write(pack(plain)), labels="genres", samples="title"), expected)
    forms = {
        "tabs": FILMS.replace(",", "\t"),
        "semicolons": FILMS.replace(",", ";"),
        "CRLF": FILMS.replace("\n", "\r\n"),
        "CR": FILMS.replace("\n", "\r"),
        "mark": b"\xef\xbb\xbf" + plain,
        "UTF-16": FILMS.encode("utf-16"),
        "no last line end": FILMS.removesuffix("\n"),
        "blank lines": FILMS.replace("\n", "\n\n  \n"),
        "all quoted": "\n".join(
            ",".join(f'"{c}"' for c in line.replace('"', "").split(","))
            for line in FILMS.split("\n")[:-1]
        ),
    }
    for text in forms.values():
        path = write(text, "it.dat")
        assert find_form(path) == "table"
        same(load(path, labels="genres", samples="title"), expected)


def test_frames_and_parquet_are_the_same_table(write, tmp_path):
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    expected = films(write)
    options = {"labels": "genres", "samples": "title"}
    path = write(FILMS)
    for frame in (pl.read_csv(path), pd.read_csv(path)):
        same(from_frame(frame, **options), expected)
        listed = from_frame(
            frame.rename(columns=str) if hasattr(frame, "iloc") else frame, **options
        )
        assert listed.source == "frame"
    pl.read_csv(path).write_parquet(tmp_path / "a.parquet")
    pd.read_csv(path).to_parquet(tmp_path / "b.parquet")
    for name in ("a.parquet", "b.parquet"):
        assert find_form(tmp_path / name) == "table"
        same(load(tmp_path / name, **options), expected)
        packed = write(gzip.compress((tmp_path / name).read_bytes()), "packed.gz")
        same(load(packed, **options), expected)


@both
def test_the_delimiter_is_what_all_rows_have(write):
    data = load(write("first;second;third,labels\n1,a\n2,b\n"))
    assert data.feature_names.tolist() == ["first;second;third"]
    data = load(write('"a,b,c";labels\n1;"x,y"\n2;x\n'))
    assert data.feature_names.tolist() == ["a,b,c"]


@both
def test_labels_in_columns(write):
    text = "topic_b,x,topic_a\n0,1.5,TRUE\n1,2,False\n"
    path = write(text)
    data = load(path, labels=["topic_a", "topic_b"])
    assert data.label_names.tolist() == ["topic_a", "topic_b"]
    assert data.Y.toarray().tolist() == [[1, 0], [0, 1]]
    assert data.feature_names.tolist() == ["x"]
    data = load(path, labels="topic_*")  # in the order of the file
    assert data.label_names.tolist() == ["topic_b", "topic_a"]
    data = load(path, labels=["topic_a", "*_b"])
    assert data.label_names.tolist() == ["topic_a", "topic_b"]


@both
@pytest.mark.parametrize("name", ["labels", "label", "tags", "Tags", " LABELS"])
def test_columns_that_say_they_are_labels(write, name):
    data = load(write(f"x,{name}\n1,a\n2,b\n"))
    assert data.label_names.tolist() == ["a", "b"]


@both
@pytest.mark.parametrize(
    ("cells", "separator", "expected"),
    [
        (["a|b;c", "a"], None, ["a", "b;c"]),
        (["a;b", "c,d"], None, ["a", "b", "c,d"]),
        (["a,b", "c"], None, ["a", "b", "c"]),
        (["a b", "c"], None, ["a b", "c"]),
        (["a b", "c"], " ", ["a", "b", "c"]),
        (["a|b", "c"], "", ["a|b", "c"]),
        (["a / b", "c"], "/", ["a", "b", "c"]),
        (["a||b|", "|"], None, ["a", "b"]),
        (["a|a", "b"], None, ["a", "b"]),
    ],
)
def test_separators(write, cells, separator, expected):
    data = load(write("x\tlabels\n" + "".join(f"1\t{c}\n" for c in cells)), separator=separator)
    assert data.label_names.tolist() == expected
    assert data.Y.max() == 1


@both
def test_lists_that_pandas_writes(tmp_path):
    pd = pytest.importorskip("pandas")
    lists = [["it's", 'a "b"', "c, d"], [], ["x"], ["x", 7]]
    path = tmp_path / "it.csv"
    pd.DataFrame({"x": [1, 2, 3, 4], "labels": lists}).to_csv(path, index=False)
    data = load(path)
    assert data.label_names.tolist() == ["7", 'a "b"', "c, d", "it's", "x"]
    assert data.Y.sum(axis=1).tolist() == [3, 0, 1, 2]
    path.write_text(f"x\tlabels\n1\t{json.dumps(['a', 'b'])}\n".replace('"', "'"))
    assert load(path).label_names.tolist() == ["a", "b"]
    assert load(path, separator="").label_names.tolist() == ["['a', 'b']"]


@both
def test_labels_with_blanks_are_mentioned(write):
    data = load(write("x,labels\n1,3 5\n2,5 7\n"))
    assert data.notes == ("labels in 'labels' may hold blanks; pass separator=' ' to cut there",)
    assert load(write("x,labels\n1,3 5\n2,5 7\n"), separator=" ").notes == ()


def test_lists_of_labels(tmp_path):
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    lists = [["b", "a"], [], None, ["b", "c"]]
    numbers = [[2, 1], [], None, [2, 30]]
    for frame in (
        pl.DataFrame({"x": [1, 2, 3, 4], "labels": lists, "n": numbers}),
        pd.DataFrame({"x": [1, 2, 3, 4], "labels": lists, "n": numbers}),
    ):
        data = from_frame(frame, drop="n")
        assert data.label_names.tolist() == ["a", "b", "c"]
        assert data.Y.toarray().tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 0], [0, 1, 1]]
        path = tmp_path / "it.parquet"
        getattr(frame, "write_parquet", getattr(frame, "to_parquet", None))(path)
        same(load(path, drop=["n"]), data)
        assert load(path, labels="n", drop="labels").label_names.tolist() == ["1", "2", "30"]


@both
def test_text_is_counted(write):
    path = write('text,length,labels\n"Tea, tea & a biscuit",3,a\n,1,b\nTEA time,2,a\n')
    data = load(path)
    assert sp.issparse(data.X)
    assert data.feature_names.tolist() == ["length", "biscuit", "tea", "time"]
    assert data.X.toarray().tolist() == [[3, 1, 2, 0], [1, 0, 0, 0], [2, 0, 1, 1]]
    assert data.view("text").shape == (3, 3)
    assert load(path, text=()).categories["text"] == ("TEA time", "Tea, tea & a biscuit")
    both = load(write("a,b,labels\nx1 x2,x2 x3,l\n"), text=["a", "b"])
    assert dict(zip(both.feature_names, both.X.toarray()[0], strict=True)) == {
        "a=x1": 1,
        "a=x2": 1,
        "b=x2": 1,
        "b=x3": 1,
    }


@both
def test_a_word_that_is_also_a_column(write):
    path = write("text,price,labels\nlow price,3,a\nhigh,2,b\n")
    data = load(path)
    assert data.feature_names.tolist() == ["price", "high", "low", "price (word)"]
    again = load(write("price,labels,text\n7,a,price PRICE new\n"), like=data)
    assert again.X.toarray().tolist() == [[7, 0, 0, 2]]


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
def test_what_is_no_number(write, cells):
    data = load(write("x,labels\n" + "".join(f"{c},a\n" for c in cells)))
    assert set(data.categories["x"]) == set(cells)


@both
def test_names_and_labels_stay_as_written(write):
    data = load(write("id,x,labels\n007,1,01\n008,2,1.0\n"), samples="id")
    assert data.sample_names.tolist() == ["007", "008"]
    assert data.label_names.tolist() == ["01", "1.0"]


@both
def test_the_index_that_pandas_writes_is_left_out(tmp_path):
    pd = pytest.importorskip("pandas")
    path = tmp_path / "it.csv"
    frame = pd.DataFrame({"x": [5, 6], "labels": ["a", "b"]})
    frame.to_csv(path)
    data = load(path)
    assert data.feature_names.tolist() == ["x"]
    assert data.notes == ("the first column has no name and counts the rows: left out",)
    frame.index = [1, 2]
    frame.to_csv(path)
    assert load(path).feature_names.tolist() == ["", "x"]


@both
def test_notes_say_what_looks_odd(write):
    many = "".join(f"word{min(i, 48)},1,a\n" for i in range(50))
    (note,) = load(write("x,y,labels\n" + many)).notes
    assert "column 'x' has 49 different values in 50 samples; pass text='x'" in note


@both
def test_a_column_that_names_the_samples_is_no_category(write):
    rows = "".join(f"The story no. {i},{i % 3},{'ab'[i % 2]}\n" for i in range(30))
    train = load(write("title,x,labels\n" + rows))
    assert train.feature_names.tolist() == ["x"]
    assert train.categories == {}
    (note,) = train.notes
    assert "column 'title' has another value in every sample: left out; pass text='title'" in note
    assert load(write("title,x\nA new one,1\n"), like=train).X.tolist() == [[1]]
    assert "story" in load(write("title,x,labels\n" + rows), text="title").feature_names
    few = load(write("title,x,labels\n" + "\n".join(rows.split("\n")[:20])))
    assert few.feature_names.tolist() == ["title", "x"]  # too few to tell
    only = write("title,labels\n" + "".join(f"story {i},a\n" for i in range(30)))
    with pytest.raises(DataError, match=r"no column is left for .* pass text='title'"):
        load(only)


@both
@pytest.mark.parametrize("options", [{}, {"labels": "label"}, {"labels": ["label"]}])
def test_a_column_of_0_and_1_is_one_label(write, options):
    train = load(write("x,label\n1,0\n2,1\n3,1\n"), **options)
    assert train.label_names.tolist() == ["label"]
    assert train.Y.toarray().tolist() == [[0], [1], [1]]
    test = load(write("label,x\n1,5\n1,6\n"), like=train, **options)
    assert test.Y.toarray().tolist() == [[1], [1]]
    several = load(write("x,label\n1,0\n2,1\n3,2\n"))
    assert several.label_names.tolist() == ["0", "1", "2"]
    assert load(write("x,label\n1,0\n2,1\n"), like=several).Y.shape == (2, 3)


@both
def test_our_own_columns_are_known(write):
    data = load(write("sample:name,tags,label:b,label:a\nfirst,1,0,1\nsecond,2,1,1\n"))
    assert data.label_names.tolist() == ["b", "a"]
    assert data.feature_names.tolist() == ["tags"]
    assert data.sample_names.tolist() == ["first", "second"]


# like


@both
def test_like_orders_and_checks(write):
    train = load(write("size,colour,labels\n1,red,a|b\n2,blue,c\n"))
    same_again = load(write("labels,new,colour,size\nc,9,blue,4\na,8,,5\n"), like=train)
    assert same_again.feature_names.tolist() == ["size", "colour"]
    np.testing.assert_array_equal(same_again.X, [[4, 0], [5, np.nan]])
    assert same_again.Y.toarray().tolist() == [[0, 0, 1], [1, 0, 0]]
    assert same_again.categories == {"colour": ("blue", "red")}
    assert same_again.notes == ("columns left out, as like does not have them: 'new'",)


@both
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("size,labels\n1,a\n", "no column for the features 'colour'"),
        ("colour,size,labels\nred,1,a\nred,big,a\n", "line 3: 'size' is 'big', not a number"),
        ("colour,size,labels\nred,1,a\nred,2,ab\n", r"line 3: no label 'ab'; did you mean|line 3"),
        ("colour,size,a,b\nred,1,0,1\n", "no column for the label 'c'"),
        ("colour,size,a,b,c\nred,1,0,1,x\n", "label 'c' must be 0 or 1, found 'x'"),
    ],
)
def test_unlike(write, text, message):
    train = load(write("size,colour,labels\n1,red,a|b\n2,blue,c\n"))
    with pytest.raises(DataError, match=message):
        load(write(text, "new.csv"), like=train)


@both
def test_a_value_that_like_does_not_know_counts_as_missing(write):
    train = load(write("size,colour,labels\n1,red,a|b\n2,blue,c\n"))
    rows = "colour,size,labels\nred,1,a\ngreen,1,a\n,2,b\ngrey,3,c\n"
    test = load(write(rows), like=train)
    np.testing.assert_array_equal(test.X, [[1, 1], [1, np.nan], [2, np.nan], [3, np.nan]])
    assert test.categories == {"colour": ("blue", "red")}
    (note,) = test.notes
    why = "because the value is not one of 'blue', 'red'"
    assert note == f"'colour': 2 cells count as missing, {why}"


@both
@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("x\n5\n6\n", {}),
        ("x,t_a\n5,1\n6,1\n", {}),
        ("x,t_a,t_b\n5,,\n6,0,1\n", {"labels": "t_*"}),
        ("x,t_a,t_b\n5,?,no\n6,0,1\n", {}),
        ("t_c,t_b,x\n1,0,5\n1,1,6\n", {"labels": "t_*"}),
        ("x,tags\n5,none of them\n6,t_a|t_d\n", {}),
        ("x,tags\n5,\n6,\n", {"labels": "tags"}),
    ],
)
def test_labels_are_not_looked_at_where_none_are_asked_for(write, text, options):
    train = load(write("x,t_a,t_b\n1,0,1\n"), labels="t_*")
    path = write(text)
    data = load(path, like=train, labelled=False, **options)
    assert (data.X.tolist(), data.Y.shape, data.Y.nnz) == ([[5], [6]], (2, 2), 0)
    assert data.notes == ()
    pieces = list(iterate(path, rows=1, like=train, labelled=False, **options))
    assert [piece.X.tolist() for piece in pieces] == [[[5]], [[6]]]
    with pytest.raises(DataError, match="labelled=False needs like"):
        load(write("x,labels\n1,a\n"), labelled=False)


@both
def test_like_with_label_columns(write):
    train = load(write("x,t_a,t_b\n1,0,1\n"), labels="t_*")
    data = load(write("t_b,t_a,x\n1,0,5\n"), like=train)  # found by their names
    assert data.Y.toarray().tolist() == [[0, 1]]
    with pytest.raises(DataError, match=r"no label 't_c'"):
        load(write("t_b,t_a,t_c,x\n1,0,1,5\n"), like=train, labels="t_*")


@both
@pytest.mark.parametrize("options", [{}, {"labels": "t_*"}, {"labels": ["t_a", "t_b"]}])
def test_files_to_predict_have_no_labels(write, options):
    train = load(write("x,t_a,t_b\n1,0,1\n"), labels="t_*")
    data = load(write("x,id\n5,7\n6,8\n"), like=train, samples="id", drop="other", **options)
    assert (data.Y.shape, data.Y.nnz) == ((2, 2), 0)
    assert data.label_names.tolist() == ["t_a", "t_b"]
    assert data.notes == ("no labels in the file",)


@both
def test_like_counts_the_same_words(write):
    train = load(write("text,labels\nred green,a\nblue,b\n"))
    data = load(write("labels,text,red\na,red blue red other,1\n", "new.csv"), like=train)
    assert data.feature_names.tolist() == ["blue", "green", "red"]
    assert data.X.toarray().tolist() == [[1, 0, 2]]
    alone = load(write("text\nred\n\ngreen\n\n", "new.csv"), like=train)  # a column alone
    assert alone.X.toarray().tolist() == [[0, 0, 1], [0, 1, 0]]
    numbers = load(write("text\n123\n", "new.csv"), like=train)
    assert numbers.X.nnz == 0
    with pytest.raises(
        DataError, match="no column of text 'text', whose words are features; pass text="
    ):
        load(write("labels,words\na,red\n", "new.csv"), like=train)
    again = load(write("labels,words\na,red\n", "new.csv"), like=train, text="words")
    assert again.X.toarray().tolist() == [[0, 0, 1]]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl", "svm", "arff", "npz", "mat"])
def test_words_that_were_counted_before(write, tmp_path, suffix):
    train = load(write("text,size,labels\nred green,1,a\nblue,2,b\n"))
    path = tmp_path / f"counted.{suffix}"
    save(train, path)
    again = load(path, like=train)
    assert dense(again.X).tolist() == train.X.toarray().tolist()
    assert again.feature_names.tolist() == ["size", "blue", "green", "red"]


@both
def test_like_may_be_anything_with_names(write):
    like = SimpleNamespace(
        feature_names=["red", "size"], categories={}, label_names=np.array(["b", "a"])
    )
    data = load(write("text,size,labels\nred car,3,a\n"), like=like)
    assert data.X.toarray().tolist() == [[1, 3]]
    assert data.Y.toarray().tolist() == [[0, 1]]


def test_like_for_the_other_forms(tmp_path, write):
    train = load(write("f,g,label:x,label:y\n1,2,0,1\n3,4,1,0\n"))
    path = write("0 1:5\n", "it.svm")
    data = load(path, like=train)
    assert (data.X.shape, data.Y.shape) == ((1, 2), (1, 2))
    assert data.feature_names.tolist() == ["f", "g"]
    with pytest.raises(DataError, match="feature 3 beyond the 2 features"):
        load(write("0 3:5\n", "it.svm"), like=train, zero_based=False)
    assert load(write("1 2 2\n0 1:5\n", "it.txt"), like=train).label_names.tolist() == ["x", "y"]
    with pytest.raises(DataError, match=r"it\.txt: 3 features, like has 2"):
        load(write("1 3 2\n0 1:5\n", "it.txt"), like=train)
    for suffix in ("arff", "npz", "mat"):
        path = tmp_path / f"same.{suffix}"
        save(train, path)
        same(load(path, like=train), train)
        wrong = load(write("f,h,label:x,label:y\n1,2,0,1\n3,4,1,0\n"))
        with pytest.raises(DataError, match=r"feature 1 is 'g', in like it is 'h'"):
            load(path, like=wrong)
    xml = tmp_path / "same.xml"
    text = (tmp_path / "same.arff").read_text().replace("'f' numeric", "'f' {1,x,3}")
    with pytest.raises(DataError, match="'f' has the values '1', 'x', '3', in like"):
        load(write(text, "same.arff"), like=train, xml=xml)


# What is wrong


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
        ("a,a,labels\n1,2,x\n", {}, "column 'a' stands twice"),
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
def test_broken_tables(write, text, options, message):
    with pytest.raises(DataError, match=f"it.csv.*{message}"):
        load_table(write(text), **options)


@both
def test_another_encoding(write):
    data = load(write("größe,labels\n1,é\n".encode("latin-1")), encoding="latin-1")
    assert data.feature_names.tolist() == ["größe"]
    assert data.label_names.tolist() == ["é"]


def test_without_an_engine(write, monkeypatch):
    for name in ("polars", "pandas", "pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        DataError, match=r"needs polars or pandas: pip install 'eigenlabel\[data\]'"
    ):
        load(write(FILMS), labels="genres")
    with pytest.raises(DataError, match=r"needs pyarrow: pip install 'eigenlabel\[data\]'"):
        load(write(b"PAR1" + bytes(20) + b"PAR1", "it.parquet"))


def test_wrong_frames():
    pl = pytest.importorskip("polars")
    with pytest.raises(TypeError, match="must be a pandas or polars DataFrame, got list"):
        from_frame([1, 2])
    with pytest.raises(TypeError, match=r"got LazyFrame; call its collect\(\) first"):
        from_frame(pl.LazyFrame({"a": [1]}))


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


def test_mixed_cells_in_a_frame():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": [1, "a"], "labels": ["a", "b"]})
    with pytest.raises(DataError, match=r"frame: 'x' holds words here, numbers before \(row 1\)"):
        from_frame(frame)
    frame = pd.DataFrame({"x": pd.Categorical(["u", "v"], ["w", "v", "u"]), 5: [1, 2]})
    data = from_frame(frame.assign(labels=["a", None]))
    assert data.categories == {"x": ("u", "v")}
    assert data.feature_names.tolist() == ["x", "5"]
    assert data.Y.toarray().tolist() == [[1], [0]]
    numbers = from_frame(pd.DataFrame({"x": pd.Categorical([3, 1]), "labels": ["a", "b"]}))
    assert numbers.X.tolist() == [[3], [1]]


@pytest.mark.parametrize("kind", ["Categorical", "Enum"])
def test_categories_of_polars(tmp_path, kind):
    pl = pytest.importorskip("polars")
    kind = pl.Categorical if kind == "Categorical" else pl.Enum(["v", "u"])
    frame = pl.DataFrame({"x": pl.Series(["v", None, "u"], dtype=kind), "labels": ["a", "b", "a"]})
    data = from_frame(frame)
    assert data.categories == {"x": ("u", "v")}
    np.testing.assert_array_equal(data.X[:, 0], [1, np.nan, 0])
    pytest.importorskip("pyarrow")
    frame.write_parquet(tmp_path / "it.parquet")
    same(load(tmp_path / "it.parquet"), data)


def test_parquet_in_several_groups_of_rows(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({"x": ["d", "c", "b", None, "a"], "labels": [["l"], ["m"], None, ["l"], []]})
    pq.write_table(table, tmp_path / "it.parquet", row_group_size=2)
    data = load(tmp_path / "it.parquet")
    assert data.categories == {"x": ("a", "b", "c", "d")}
    np.testing.assert_array_equal(data.X[:, 0], [3, 2, 1, np.nan, 0])
    assert data.Y.toarray().tolist() == [[1, 0], [0, 1], [0, 0], [1, 0], [0, 0]]


def test_nothing_given_is_changed():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": [1.0, None], "labels": ["a|b", None]})
    copy = frame.copy(deep=True)
    data = from_frame(frame)
    data.X[:] = 7
    pd.testing.assert_frame_equal(frame, copy)


# Parquet that claims too much


def test_parquet_that_claims_too_much(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "it.parquet"
    n = 2**22
    table = pa.table(
        {"x": pa.array(np.zeros(n)), "labels": pa.array(["a"] * n).dictionary_encode()}
    )
    pq.write_table(table, path)
    assert path.stat().st_size < 2**16
    with pytest.raises(DataError, match="says it has 8,388,608 values; pass max_bytes"):
        load(path, max_bytes=2**20)


def test_a_long_word_repeated_is_held_once(tmp_path):
    import subprocess

    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "it.parquet"
    codes, values = pa.array(np.arange(2**12) % 2), pa.array(["x" * 2**16, "b"])
    words = pa.DictionaryArray.from_arrays(codes, values)
    pq.write_table(pa.table({"x": words, "labels": words}), path, store_schema=False)
    assert pq.read_schema(path).field("x").type == pa.string()
    code = (
        "import sys, pyarrow; from eigenlabel.datasets import load; data = load(sys.argv[1]);"
        "print(len(data.categories['x'][1]), pyarrow.default_memory_pool().max_memory())"
    )
    run = subprocess.run(  # a peak of its own
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    length, peak = map(int, run.stdout.split())
    assert length == 2**16
    assert peak < 2**24  # 256 MiB, written out


@pytest.mark.parametrize("cut", [4, 8, 20, 60])
def test_cut_parquet(tmp_path, cut):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "it.parquet"
    pq.write_table(pa.table({"x": [1.0], "labels": ["a"]}), path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    with pytest.raises(DataError, match="not a Parquet file, or damaged"):
        load(path)
