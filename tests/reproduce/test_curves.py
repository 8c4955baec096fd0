"""Figures: what is run, averaged and tested."""

from dataclasses import replace

import numpy as np
import pytest

from eigenlabel.cli import main
from eigenlabel.comparison import wilcoxon
from eigenlabel.experiment import Splits, plan, run
from eigenlabel.reproduce import FIGURES, get_table
from protocols import small_figure


def test_a_figure_averages_splits_and_then_sets(tmp_path):
    figure = small_figure()
    records = run(figure.protocol(), tmp_path)
    assert len(records) == 3 * 3 * 2
    means = figure.means(records)
    assert list(means) == ["two", "one"]
    assert list(means["two"]) == [("a", "1"), ("a", "2"), ("b", "2")]
    loss = {(r["data"], r["method"], r["split"]): r["metrics"]["hamming_loss"] for r in records}
    expected = np.mean([loss[f"planted {k}", "a @ 1", s] for k in (0, 1) for s in (0, 1)])
    assert means["two"]["a", "1"] == pytest.approx(expected, rel=1e-12)
    alone = figure.protocol(n_splits=1, methods=["b"])
    assert [m.name for m in alone.methods] == ["b @ 2"]
    assert len(plan(alone).tasks) == 3
    only = figure.means([r for r in records if r["method"] == "b @ 2"])
    assert list(only["one"]) == [("b", "2")]
    point = next(iter(figure.points.values()))
    assert [m.name for m in figure.protocol(methods=[point.name]).methods] == [point.name]
    with pytest.raises(ValueError, match="No curve 'c' in f; there are: a, b"):
        figure.protocol(methods=["c"])


def test_a_figure_of_times_shows_seconds(tmp_path):
    figure = small_figure("cpu seconds")
    records = run(figure.protocol(n_splits=1), tmp_path)
    fits = {(r["data"], r["method"]): r["cpu_seconds"] for r in records}
    assert figure.means(records)["one"]["b", "2"] == fits["planted 2", "b @ 2"]


def test_a_figure_tests_its_points_against_a_reference(tmp_path):
    figure = replace(small_figure(), reference=("a", "1"), splits=Splits("shuffle", 3))
    records = run(figure.protocol(), tmp_path)
    p_values = figure.tests(records)
    assert list(p_values["two"]) == [("a", "2"), ("b", "2")]
    loss = {(r["data"], r["method"], r["split"]): r["metrics"]["hamming_loss"] for r in records}
    keys = [(f"planted {k}", s) for k in (0, 1) for s in range(3)]
    a, b = ([loss[d, name, s] for d, s in keys] for name in ("a @ 2", "a @ 1"))
    assert p_values["two"]["a", "2"].p == pytest.approx(min(1, 2 * wilcoxon(a, b)))
    assert p_values["two"]["a", "2"].pairs == 6
    assert p_values["one"]["a", "2"].pairs == 3
    assert small_figure().tests(records) == {}


def test_the_command_prints_a_figure_and_writes_its_page(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(FIGURES, "f", small_figure())
    page = tmp_path / "page.html"
    assert main(["reproduce", "f", "-o", str(tmp_path / "runs"), "--report", str(page)]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["r", "a", "b"] in lines
    numbers = [line for line in lines if line[:1] in (["1"], ["2"])]
    assert [len(n) for n in numbers] == [2, 3, 2, 3]  # b has no point at 1
    assert page.read_text(encoding="utf-8").count('<svg class="diagram lines"') == 2


def test_a_figure_may_share_the_records_of_a_table():
    figure, table = get_table("mlls-figure1"), get_table("mlls-table3")
    ours = figure.protocol(methods=["ML_LS"])
    theirs = table.protocol(methods=["ML_LS"])
    assert ours.name == theirs.name == "web-pages"
    assert [m.name for m in ours.methods] == ["ML_LS fixed", "ML_LS"]
    assert ours.metrics == theirs.metrics
