import subprocess
import sys

import numpy as np
import pytest
from matplotlib import pyplot

from eigenlabel.drawing.axes import COLOURS, LINES, axes_below, axes_for, style_of, thin


def test_importing_the_package_does_not_import_matplotlib():
    code = (
        "import sys, eigenlabel, eigenlabel.inspection, eigenlabel.report\n"
        "assert not [name for name in sys.modules if name.split('.')[0] == 'matplotlib']"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_axes_that_are_passed_are_used_and_others_are_made():
    figure, ax = pyplot.subplots()
    assert axes_for("Something", ax) is ax
    assert pyplot.get_fignums() == [figure.number]
    new = axes_for("Something", None, (3.0, 2.0))
    assert new.figure.get_size_inches().tolist() == [3.0, 2.0]
    assert len(pyplot.get_fignums()) == 2


@pytest.mark.parametrize("wrong", ["axes", pyplot.Figure(), np.zeros(2, dtype=object)])
def test_something_else_than_axes_raises_an_error_with_the_next_step(wrong):
    with pytest.raises(TypeError, match=f"ax must be .* got {type(wrong).__name__}: pass one of"):
        axes_for("Something", wrong)


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"Something draws with .*eigenlabel\[plot\]"):
        axes_for("Something", None)


def test_styles_of_curves_differ():
    styles = [tuple(style_of(k).values()) for k in range(len(COLOURS) * len(LINES))]
    assert len(set(styles)) == len(styles)
    assert style_of(len(styles)) == style_of(0)


def test_axes_below_share_the_x_axis_and_the_room():
    figure, (ax, other) = pyplot.subplots(2)
    pyplot.sca(other)
    room = ax.get_position()
    below = axes_below(ax, 0.25)
    upper, lower = ax.get_position(), below.get_position()
    assert lower.y1 < upper.y0
    np.testing.assert_allclose([lower.y0, upper.y1], [room.y0, room.y1])
    assert below.get_shared_x_axes().joined(below, ax)
    assert pyplot.gca() is other
    assert figure.axes == [ax, other, below]


def test_axes_without_a_place_in_a_grid_are_split_too():
    figure = pyplot.figure()
    ax = figure.add_axes([0.1, 0.2, 0.5, 0.6])
    below = axes_below(ax, 0.25)
    np.testing.assert_allclose(ax.get_position().bounds, [0.1, 0.35, 0.5, 0.45])
    np.testing.assert_allclose(below.get_position().bounds, [0.1, 0.2, 0.5, 0.15 - 0.018])


def test_short_lines_keep_all_points():
    x = np.linspace(0, 1, 50)
    np.testing.assert_array_equal(thin(x, x, 50), np.arange(50))


def test_long_lines_keep_both_ends_and_every_corner_nearly(rng):
    x = np.sort(rng.uniform(size=20_000))
    y = np.where(x < 0.3, 0.0, np.where(x < 0.6, 100.0, 50.0))
    kept = thin(x, y, 300)
    assert len(kept) <= 300
    assert kept[0] == 0
    assert kept[-1] == len(x) - 1
    assert (np.diff(kept) > 0).all()
    drawn = np.interp(x, x[kept], y[kept])
    assert (np.abs(drawn - y) > 1).mean() < 0.02  # beside the two jumps


def test_a_long_line_with_undefined_values_keeps_its_range():
    x, y = np.linspace(0, 1, 5000), np.full(5000, np.nan)
    kept = thin(x, y, 100)
    assert kept[0] == 0
    assert kept[-1] == 4999
    assert np.abs(np.diff(x[kept])).max() < 0.02
