"""Drawings of tables and figures."""

from dataclasses import replace

import numpy as np
import pytest

from eigenlabel.cli import main
from eigenlabel.reproduce import CONTESTS, FIGURES, TABLES, draw, get_table, published
from eigenlabel.reproduce import plots as plots_module
from eigenlabel.reproduce.published_figures import values_by_method
from protocols import record, small_figure

pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def fake_records(table, n_splits=3):
    """Return records of all methods with values that grow by split, and by method."""
    protocol = table.protocol()
    return [
        record(data.name, method.name, split, **dict.fromkeys(protocol.metrics, 0.3 + j / 50))
        | {"seconds": {"fit": 1.0}, "cpu_seconds": 1.0 + split}
        for data in protocol.data
        for j, method in enumerate(protocol.methods)
        for split in range(n_splits)
    ]


def dots(ax, marker):
    """Return the x-values of all points with a marker."""
    lines = [line for line in ax.lines if line.get_marker() == marker]
    return np.concatenate([np.asarray(line.get_xdata(), float) for line in lines])


def test_a_table_shows_published_values_and_ours():
    table = replace(TABLES["mlls-table4"], data={"Science": TABLES["mlls-table4"].data["Science"]})
    records = [record("Science", "ML_LS", k, f1_macro=0.3 + k / 10) for k in range(3)]
    drawing = draw(table, records)
    ax = next(a for a in drawing.axes if a.get_xlabel() == "f1_macro")
    figures = [
        f.mean
        for f in published()["mlls-table4"]
        if (f.dataset, f.metric) == ("Science", "macro_f1")
    ]
    np.testing.assert_allclose(np.sort(dots(ax, "D")), np.sort(figures))
    np.testing.assert_allclose(dots(ax, "o"), [0.4])
    assert ax.get_title() == "Science"
    (segment,) = ax.collections[-1].get_segments()
    np.testing.assert_allclose(segment[:, 0], [0.3, 0.5])  # 0.4, deviation 0.1
    assert "3 runs; bars are standard deviations" in drawing.get_suptitle()


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_drawn(name):
    figure = get_table(name)
    drawing = draw(figure, fake_records(figure, 2))
    titles = [ax.get_title() for ax in drawing.axes]
    assert [title for title in titles if title] == list(figure.data)
    names = {text.get_text() for ax in drawing.axes if ax.legend_ for text in ax.legend_.texts}
    assert names == set(figure.curves())


@pytest.mark.parametrize("name", ["mlls-table5", "mddm-table1", "kgha-table6", "mtsda-table2"])
def test_tables_of_every_kind_are_drawn(name):
    table = get_table(name)
    drawing = draw(table, fake_records(table))
    shown = {ax.get_title() for ax in drawing.axes if ax.lines}
    assert set(table.data) <= shown
    if name in CONTESTS:
        assert f"paper: minus {table.reference}, 2 sets" in shown


def test_points_have_the_bounds_of_han_et_al():
    figure = get_table("mtsda-figure1")
    records = [
        record("Science", method, k, auc_micro=value)
        for method in ("MtSDA(I)", "rho = 1/2", "rho = 1/4")
        for k, value in enumerate((0.7, 0.8, 0.9))
    ]
    assert figure.intervals(records)["Science"]["MtSDA(Delta)", "1/2"] == pytest.approx(
        1.96 * 0.1 / np.sqrt(3)
    )
    drawing = draw(figure, records)
    ax, narrow = drawing.axes[:2]
    line = next(a for a in ax.lines if a.get_marker() == "s")
    np.testing.assert_allclose(np.sort(line.get_xdata(orig=False)), [1 / 4, 1 / 2])
    paper = values_by_method("han2010", "mtsda-table2", "auc", "Science")
    drawn = [line.get_ydata()[0] for line in narrow.lines]
    assert drawn == [paper["MtSDA(I)"], paper["MtSDA(Delta)"]]


def test_values_without_a_number_stand_in_order():
    ax = pyplot.subplots()[1]
    assert plots_module._places(ax, ["0", "1e-05", "10"]) == {"0": 0, "1e-05": 1, "10": 2}
    assert plots_module._places(ax, ["fixed", "tuned"]) == {"fixed": 0, "tuned": 1}
    assert plots_module._places(ax, ["1/4", "0.5"]) == {"1/4": 0.25, "0.5": 0.5}
    assert ax.get_xscale() == "linear"
    plots_module._places(ax, ["0.01", "1"])
    assert ax.get_xscale() == "log"


def test_nothing_to_draw_is_an_error():
    for name in ("mlls-table3", "mlls-figure3", "kgha-table4"):
        with pytest.raises(ValueError, match=f"{name} has no runs to draw"):
            draw(get_table(name), [])
    with pytest.raises(ValueError, match="mlls-table2 contains sizes of data sets"):
        draw(get_table("mlls-table2"), [])


def test_the_command_writes_a_drawing(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(FIGURES, "f", small_figure())
    monkeypatch.chdir(tmp_path)
    words = ["reproduce", "f", "-o", str(tmp_path / "runs")]
    assert main([*words, "--plot"]) == 0
    assert "plot: f.svg" in capsys.readouterr().out
    text = (tmp_path / "f.svg").read_text(encoding="utf-8")
    assert "<svg" in text
    assert main([*words, "--so-far", "--plot", "other.png"]) == 0
    assert (tmp_path / "other.png").read_bytes().startswith(b"\x89PNG")
    assert main([*words, "--plot", "f.txt"]) == 2
    assert "--plot writes files that end in .svg, .png, .pdf" in capsys.readouterr().err
    assert main(["reproduce", "mlls-table2", "--plot"]) in (1, 2)


def test_titles_and_many_names_have_room():
    figure = get_table("mlls-time-n")
    drawing = draw(figure, fake_records(figure, 2))
    title = drawing.get_suptitle()
    assert " ".join(title.split()).startswith(figure.title)
    assert max(map(len, title.splitlines())) <= 11 * drawing.get_figwidth()
    ax = pyplot.subplots()[1]
    plots_module._places(ax, [f"name {k}" for k in range(9)])
    assert ax.get_xticklabels()[0].get_rotation() == 45
