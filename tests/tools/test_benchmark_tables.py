"""The tables that benchmarks print become CSV files."""

import importlib.util
from pathlib import Path

FILE = Path(__file__).parents[2] / "benchmarks" / "_tables.py"
TEXT = """A title

| data | ours |
|---|---|
| a | 0.5 ± 0.1 (6 of 30 runs) |
| b | 0.7 |

seconds, left

| x | y |
|---|---|
| 1 | 2 |

seconds, right

| x | y |
|---|---|
| 3 | 4 |
"""


def test_tables_become_files_with_means_deviations_and_runs_apart(tmp_path):
    spec = importlib.util.spec_from_file_location("tables", FILE)
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    assert tables.write_tables("one", TEXT, tmp_path) == ["one.csv", "one-2.csv"]
    found = {path.name: path.read_text().splitlines() for path in tmp_path.glob("*.csv")}
    assert found == {
        "one.csv": ["data,ours,ours sd,ours runs", "a,0.5,0.1,6", "b,0.7,,"],
        "one-2.csv": ["part,x,y", '"seconds, left",1,2', '"seconds, right",3,4'],
    }


def test_pairs_and_data_sets_are_counted_too():
    spec = importlib.util.spec_from_file_location("_tables", FILE)
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    for text, runs in (("0.03 (6 of 30 pairs)", "6"), ("0.03 (30 pairs)", "30")):
        assert tables.FIGURE.fullmatch(text)["runs"] == runs
    assert tables.FIGURE.fullmatch("0.5 ± 0.1 (2 of 11 data sets)")["runs"] == "2"


def test_tables_of_a_run_replace_those_of_the_run_before(tmp_path):
    spec = importlib.util.spec_from_file_location("_tables", FILE)
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    for name in ("x.csv", "x-2.csv", "x-3.csv", "x-y.csv", "xx.csv"):
        (tmp_path / name).write_text("old\n")
    text = "One.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nTwo.\n\n| c |\n|---|\n| 3 |\n"
    assert tables.write_tables("x", text, tmp_path) == ["x.csv", "x-2.csv"]
    found = {path.name: path.read_text() for path in tmp_path.glob("*.csv")}
    assert found == {
        "x.csv": "a,b\n1,2\n",
        "x-2.csv": "c\n3\n",
        "x-y.csv": "old\n",
        "xx.csv": "old\n",
    }
