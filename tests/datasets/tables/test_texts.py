"""The words of texts are counted, for each text separately."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.cli import main
from eigenlabel.datasets import (
    DataError,
    from_frame,
    iterate,
    load,
    save,
)
from eigenlabel.persistence import load_model
from forms import both, dense, same

TEXTS = "a,b,size,y\nred car,blue,1,1\nblue,red red,2,0\nred,,3,1\n"


def texts_of(write, form):
    """Return a function that reads lines of comma-separated text in another form."""
    pd = pytest.importorskip("pandas", reason="pandas is an extra")

    def read(rows, like=None, **options):
        path = write(rows, "it.csv")
        frame = pd.read_csv(path)
        if form == "frame":
            return from_frame(frame, like=like, **options)
        if form == "jsonl":
            path = write(frame.to_json(orient="records", lines=True), "it.jsonl")
        if form == "parquet":
            pytest.importorskip("pyarrow", reason="pyarrow is an extra")
            path = path.with_suffix(".parquet")
            frame.to_parquet(path)
        if form == "iterate":
            return next(iterate(path, like=like, **options))
        return load(path, like=like, **options)

    return read


forms = pytest.mark.parametrize("form", ["csv", "iterate", "frame", "jsonl", "parquet"])


def pooled(data):
    """Return data as they were when the words of several texts were counted together."""
    names = ["size", "blue", "car", "red"]
    columns = {"feature_names": np.array(names), "words": {"a, b": slice(1, 4)}}
    views = {"columns": slice(0, 1), "text": slice(1, 4)}
    return replace(data, X=data.X[:, :4], views=views, **columns)


@forms
@pytest.mark.parametrize("old", [False, True])
def test_a_missing_text_is_an_error(write, form, old):
    read = texts_of(write, form)
    train = read(TEXTS, text=["a", "b"], labels=["y"])
    with pytest.raises(DataError, match="no column of text 'b', whose words are features"):
        read(TEXTS.replace(",b,", ",v,"), pooled(train) if old else train)
    single = read(TEXTS, text="a", labels=["y"])
    for other in ("v", "text"):
        with pytest.raises(DataError, match="no column of text 'a', whose words are features"):
            read(TEXTS.replace("a,b", f"{other},b"), single)


@forms
def test_each_text_has_its_own_words(write, form):
    read = texts_of(write, form)
    train = read(TEXTS, text=["a", "b"], labels=["y"])
    names = ["size", "a=blue", "a=car", "a=red", "b=blue", "b=red"]
    assert train.feature_names.tolist() == names
    counts = [[1, 0, 1, 1, 1, 0], [2, 1, 0, 0, 0, 2], [3, 0, 0, 1, 0, 0]]
    assert train.X.toarray().tolist() == counts
    assert train.words == {"a": slice(1, 4), "b": slice(4, 6)}
    assert train.views == {"columns": slice(0, 1), "text": slice(1, 6)}
    again = read("b,size,a\ncar RED red,4,blue new\n", train)
    assert again.X.toarray().tolist() == [[4, 1, 0, 0, 0, 2]]
    assert (again.words, again.views) == (train.words, train.views)


@forms
def test_words_that_were_counted_together_are_still_counted_together(write, form):
    read = texts_of(write, form)
    like = pooled(read(TEXTS, text=["a", "b"], labels=["y"]))
    again = read("b,size,a\ncar RED red,4,blue new red\n", like)
    assert again.X.toarray().tolist() == [[4, 1, 1, 3]]


def test_a_part_of_several_texts(write):
    train = load(write(TEXTS), text=["a", "b"], labels=["y"])
    like = train.subset(features=[0, 1, 3])
    assert like.words == {"a": slice(1, 3)}
    again = load(write("a,size\nred blue red,4\n", "new.csv"), like=like)
    assert again.X.toarray().tolist() == [[4, 1, 2]]


def test_a_text_without_a_word_is_noted(write):
    train = load(write("a,b,y\nred,1,1\nblue,2,0\n"), text=["a", "b"], labels=["y"])
    assert train.feature_names.tolist() == ["a=blue", "a=red"]
    assert train.words == {"a": slice(0, 2)}
    assert train.notes == ("column 'b' has no word to count",)
    again = load(write("a\nred\n", "new.csv"), like=train)
    assert again.X.toarray().tolist() == [[0, 1]]


def test_names_of_texts_and_columns_that_look_like_words(write):
    rows = '"a","a=b","a=red","label",y\nred,red,1,red,1\nblue,red,2,red,0\n'
    train = load(write(rows), text=["a", "a=b", "label"], labels=["y"])
    names = ["a=red", "a=blue", "a=red (word)", "a=b=red", "label=red"]
    assert train.feature_names.tolist() == names
    assert train.words == {"a": slice(1, 3), "a=b": slice(3, 4), "label": slice(4, 5)}
    same(load(write(rows), like=train), train)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl", "svm", "arff", "npz", "mat"])
def test_several_texts_that_were_counted_before(write, tmp_path, suffix):
    train = load(write(TEXTS), text=["a", "b"], labels=["y"])
    path = tmp_path / f"counted.{suffix}"
    lost = pytest.warns(UserWarning, match="which texts the words are of")
    with nullcontext() if suffix == "npz" else lost:
        save(train, path)
    again = load(path, like=train)
    found = again.X.toarray() if sp.issparse(again.X) else again.X
    assert found.tolist() == train.X.toarray().tolist()
    assert again.feature_names.tolist() == train.feature_names.tolist()
    if suffix == "npz":
        assert load(path).words == train.words


def test_a_pattern_that_finds_another_text_does_not_count_its_words(write):
    train = load(write("t_a,y\nred,1\nblue,0\n"), text="t_*", labels=["y"])
    again = load(write("t_b,t_a\nred,blue\n", "new.csv"), like=train)
    assert again.X.toarray().tolist() == [[1, 0]]
    several = load(write("t_a,t_b,y\nred,red,1\n"), text="t_*", labels=["y"])
    with pytest.raises(DataError, match="no column of text 't_b', whose words are features"):
        load(write("t_a,t_c\nred,red\n", "new.csv"), like=several)


def test_a_model_of_several_texts_predicts(write, tmp_path, capsys):
    rows = "".join("red,blue,1,0\n" if i % 3 else "blue,red,0,1\n" for i in range(30))
    path, model = str(write("a,b,y,z\n" + rows)), str(tmp_path / "it.skops")
    options = ["--text", "a,b", "--labels", "y,z", "--method", "ridge"]
    assert main(["fit", path, *options, "-o", model]) == 0
    assert load_model(model).words == {"a": slice(0, 2), "b": slice(2, 4)}
    capsys.readouterr()
    assert main(["predict", model, path]) == 0
    found = [line.split(",")[1] for line in capsys.readouterr().out.splitlines()[1:]]
    assert found == ["y" if i % 3 else "z" for i in range(30)]
    other = str(write("a,v,y,z\n" + rows, "other.csv"))
    assert main(["predict", model, other]) != 0
    assert "no column of text 'b'" in capsys.readouterr().err


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
    lost = pytest.warns(UserWarning, match="which texts the words are of")
    with nullcontext() if suffix == "npz" else lost:
        save(train, path)
    again = load(path, like=train)
    assert dense(again.X).tolist() == train.X.toarray().tolist()
    assert again.feature_names.tolist() == ["size", "blue", "green", "red"]
