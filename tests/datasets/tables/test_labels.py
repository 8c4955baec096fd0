"""Labels are read from cells with separators, from lists and from columns."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from eigenlabel.cli import main
from eigenlabel.datasets import (
    DataError,
    from_frame,
    iterate,
    load,
    load_table,
)
from eigenlabel.datasets.tables import labels
from forms import both, same

SEMICOLONS = "x,labels\n" + "".join(f"{i},a;{'b' if i % 2 else 'c;d'}\n" for i in range(20))


def test_a_separator_that_never_occurs_is_noted(write):
    data = load(write(SEMICOLONS), separator="/")
    assert data.label_names.tolist() == ["a;b", "a;c;d"]
    assert data.notes == (
        "no cell of 'labels' contains the separator '/', but 20 of 20 contain ';'; pass "
        "separator=';' if it separates labels",
    )
    assert next(iterate(write(SEMICOLONS), separator="/")).notes == data.notes


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        (SEMICOLONS, ";"),
        (SEMICOLONS, ""),
        (SEMICOLONS, None),
        ("x,labels\n1,a\n2,b\n3,b\n", "/"),
        ("x,labels\n" + "1,a\n" * 20 + "2,c;d\n", "/"),
        ("x,labels\n1,a/b\n2,c;d\n3,c;d\n", "/"),
    ],
)
def test_other_separators_are_not_noted(write, text, separator):
    assert load(write(text), separator=separator).notes == ()


def test_compare_and_fit_print_the_note(write, tmp_path, capsys):
    path = str(write(SEMICOLONS))
    main(["fit", path, "--separator", "/", "--method", "ridge", "-o", str(tmp_path / "m")])
    assert "contain ';'; pass --separator ';' if it separates" in capsys.readouterr().out
    options = ["--methods", "ridge", "--splits", "2", "--output", str(tmp_path / "r.jsonl")]
    main(["compare", path, "--separator", "/", *options])
    assert "contain ';'; pass --separator ';' if it separates" in capsys.readouterr().err


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
def test_labels_are_split_at_their_separator(write, cells, separator, expected):
    data = load(write("x\tlabels\n" + "".join(f"1\t{c}\n" for c in cells)), separator=separator)
    assert data.label_names.tolist() == expected
    assert data.Y.max() == 1


@both
def test_lists_that_pandas_writes_are_read(tmp_path):
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
def test_labels_with_blanks_are_noted(write):
    data = load(write("x,labels\n1,3 5\n2,5 7\n"))
    assert data.notes == ("labels in 'labels' contain blanks; pass separator=' ' to split there",)
    assert load(write("x,labels\n1,3 5\n2,5 7\n"), separator=" ").notes == ()


def test_lists_of_labels_are_read(tmp_path):
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


def test_labels_with_leading_zeros_are_names(write):
    data = load_table(write("x,y\n1,00\n2,01\n"), labels="y")
    assert data.label_names.tolist() == ["00", "01"]


@both
def test_separators_beside_the_one_that_is_chosen_are_noted(write):
    path = write('x,labels\n1,a;b\n2,"a,b"\n3,"b,a"\n4,c\n5,"[a,b]"\n')
    note = (
        "labels in 'labels' are split at ';', but 2 of 4 cells contain ','; pass separator=',' if "
        "that separates labels, else separator=';'"
    )
    assert load_table(path).notes == (note,)
    assert next(iterate(path)).notes == (note,)
    assert load_table(path, separator=";").notes == ()
    assert load_table(path, like=load_table(path)).notes == ()


def test_the_more_frequent_separator_is_used(tmp_path):
    path = tmp_path / "labels.csv"
    rows = ["a;b", "c;a|b", "b;c", "c", "a|b;c", "b;a|b"] * 3
    path.write_text("x,tags\n" + "".join(f"{k},{row}\n" for k, row in enumerate(rows)))
    data = load(path, labels="tags")
    assert sorted(data.label_names) == ["a", "a|b", "b", "c"]
    assert any("'|'" in str(note) for note in data.notes)


LABEL_SETS = {
    "csv": "x,labels\n1,u;v\n2,u\n3,\n4,w\n5, \n",
    "jsonl": """{"x": 1, "labels": ["u", "v"]}
{"x": 2, "labels": ["u"]}
{"x": 3, "labels": null}
{"x": 4, "labels": ["w"]}
{"x": 5}
""",
    "words.jsonl": """{"x": 1, "labels": "u;v"}
{"x": 2, "labels": "u"}
{"x": 3, "labels": null}
{"x": 4, "labels": "w"}
{"x": 5}
""",
}


@both
@pytest.mark.parametrize("form", LABEL_SETS)
def test_label_sets_that_are_missing_are_not_observed_on_request(write, form):
    path = write(LABEL_SETS[form], f"data.{form}")
    data = load(path, missing_labels="nan")
    nothing = [np.nan] * 3
    expected = [[1, 1, 0], [1, 0, 0], nothing, [0, 0, 1], nothing]
    np.testing.assert_array_equal(data.Y.toarray(), expected)
    assert data.label_names.tolist() == ["u", "v", "w"]
    pieces = iterate(path, rows=2, like=data, missing_labels="nan")
    np.testing.assert_array_equal(np.vstack([p.Y.toarray() for p in pieces]), expected)
    without = load(path)
    assert without.Y.dtype.kind == "i"
    assert without.Y.toarray().tolist() == np.nan_to_num(expected).tolist()


@pytest.mark.parametrize(
    "cells", [[["u", "v"], [], None], [[1, 2], [], None], ["['u', 'v']", "[]", None]]
)
def test_an_empty_list_is_a_sample_without_labels(tmp_path, cells):
    columns = {"x": [1, 2, 3], "labels": cells}
    pl.DataFrame(columns).write_parquet(tmp_path / "d.parquet")
    for data in (
        from_frame(pl.DataFrame(columns), missing_labels="nan"),
        from_frame(pd.DataFrame(columns), missing_labels="nan"),
        load(tmp_path / "d.parquet", missing_labels="nan"),
    ):
        np.testing.assert_array_equal(data.Y.toarray(), [[1, 1], [0, 0], [np.nan] * 2])


def test_label_sets_that_are_not_observed_must_fit_into_memory(write, monkeypatch):
    monkeypatch.setattr(labels, "memory_limit", lambda: 64)
    with pytest.raises(DataError, match="2 samples without observed labels and 3 labels need 96"):
        load(write(LABEL_SETS["csv"]), missing_labels="nan")


def test_the_meaning_of_missing_labels_is_one_of_two(write):
    with pytest.raises(ValueError, match="missing_labels"):
        load(write(LABEL_SETS["csv"]), missing_labels="drop")
