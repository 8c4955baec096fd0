"""Pages quote figures and tables of results/ while the site is built."""

import importlib.util
import json
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "docs" / "_ext" / "results_in_pages.py"


@pytest.fixture(scope="module")
def pages():
    pytest.importorskip("sphinx")
    spec = importlib.util.spec_from_file_location("results_in_pages", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_figure_is_found_by_its_file_keys_and_positions(pages, tmp_path):
    content = {"a b": {"c": [1.25, 2.0]}, "share": 0.125, "wanted": "less"}
    (tmp_path / "x.json").write_text(json.dumps(content))
    assert pages.read_figure(tmp_path, "x.json a b/c/0 .1f") == "1.2"
    assert pages.read_figure(tmp_path, "x.json share .0%") == "12%"
    for wrong in ("x.json d .1f", "x.json a b/c/2 .1f", "x.json wanted .1f", "y.json share .1f"):
        with pytest.raises((OSError, LookupError, ValueError)):
            pages.read_figure(tmp_path, wrong)


def test_rows_with_the_same_name_become_their_mean(pages, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("set,model,f1,loss\nu,a,0.5,nan\nv,a,1,2\nu,b,0.25,1\nv,b,0.5,2\n")
    rows = {"b": "second", "a": "first"}
    header, cells = pages.read_table(path, "model", rows, {"loss": "loss", "f1": "F1"}, ".3f")
    assert header == ["model", "loss", "F1"]
    assert cells == [["second", "1.500", "0.375"], ["first", "", "0.750"]]
    for by, row, column in (("model", "c", "f1"), ("model", "a", "f2"), ("name", "a", "f1")):
        with pytest.raises(KeyError):
            pages.read_table(path, by, {row: row}, {column: column}, ".3f")


def test_single_rows_are_shown_as_they_are(pages, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("what,seconds,note\none,0.50,p = 0.1\ntwo,1.5,\n")
    header, cells = pages.read_table(path, "", {}, {}, "")
    assert header == ["what", "seconds", "note"]
    assert cells == [["one", "0.50", "p = 0.1"], ["two", "1.5", ""]]


def test_pairs_may_contain_equal_signs_and_line_breaks(pages):
    found = pages.pairs("a, b = ridge (alpha = 0);\n c; d = e")
    assert found == {"a, b": "ridge (alpha = 0)", "c": "c", "d": "e"}


def test_a_table_of_some_lines(pages, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("size,model,f1\nsmall,a,1\nsmall,b,2\nlarge,a,3\n")
    header, cells = pages.read_table(path, "", {}, {}, "", {"size": "small"})
    assert header == ["model", "f1"]
    assert cells == [["a", "1"], ["b", "2"]]
    with pytest.raises(KeyError, match="huge"):
        pages.read_table(path, "", {}, {}, "", {"size": "huge"})
