import numpy as np
import pytest
from matplotlib import pyplot

from eigenlabel.drawing.axes import GREY
from eigenlabel.inspection import ExplanationDisplay
from eigenlabel.inspection.displays.explanation import AGAINST, FOR


def test_bars_are_the_largest_contributions_the_rest_and_the_intercept(rng):
    values = rng.standard_normal(30)
    values[7] = 0.0
    names = [f"x_{j}" for j in range(30)]
    shown = ExplanationDisplay.from_contributions(names, values, -0.3, max_bars=4, title="$t$")
    largest = sorted(range(30), key=lambda j: -abs(values[j]))[:4]
    rest = sum(values[j] for j in range(30) if j not in largest)
    widths = [bar.get_width() for bar in shown.bars_]
    np.testing.assert_allclose(widths, [*values[largest], rest, -0.3])
    ticks = [tick.get_text() for tick in shown.ax_.get_yticklabels()]
    assert ticks == [*(f"x_{j}" for j in largest), "25 others", "intercept"]
    colours = [FOR if values[j] > 0 else AGAINST for j in largest] + [GREY, GREY]
    from matplotlib.colors import to_rgba

    assert [bar.get_facecolor() for bar in shown.bars_] == [to_rgba(c) for c in colours]
    assert shown.ax_.get_title() == "$t$"
    assert not shown.ax_.title.get_parse_math()


def test_the_bars_add_up_to_the_score(rng):
    for k in (0, 1, 3, 40):
        values = rng.standard_normal(k)
        shown = ExplanationDisplay.from_contributions(range(k), values, 0.7)
        assert sum(bar.get_width() for bar in shown.bars_) == pytest.approx(shown.score)
        assert shown.score == pytest.approx(values.sum() + 0.7)
        assert f"{shown.score:.3g}" in shown.ax_.get_xlabel()


def test_an_intercept_of_zero_and_contributions_of_zero_have_no_bar():
    shown = ExplanationDisplay.from_contributions(["a", "b", "c"], [0.0, 2.0, -1.0])
    assert shown.names == ["b", "c"]
    assert [text.get_text() for text in shown.texts_] == ["+2", "\N{MINUS SIGN}1"]
    nothing = ExplanationDisplay.from_contributions([], [])
    assert nothing.score == 0
    nothing.figure_.canvas.draw()


def test_a_display_can_be_made_of_bars_directly():
    shown = ExplanationDisplay(names=["a"], values=np.array([1.0]), score=1.0)
    ax = pyplot.subplots()[1]
    assert shown.plot(ax, values_format=".1f", bar_kwargs={"height": 0.2}).ax_ is ax
    assert shown.texts_[0].get_text() == "1.0"
    assert shown.bars_[0].get_height() == pytest.approx(0.2)


def test_bad_input_raises_an_error():
    for names, values, options, message in [
        (["a"], [1.0, 2.0], {}, "1 names for 2 values: pass one name per contribution"),
        (["a"], [np.nan], {}, "values must be finite, found nan at position 0"),
        (["a"], [[1.0]], {}, r"one contribution for each name, got shape \(1, 1\)"),
        (["a"], ["x"], {}, "values must be numbers"),
        (["a"], [1.0], {"max_bars": 0}, "max_bars must be an integer >= 1, got 0"),
        (["a"], [1.0], {"intercept": np.inf}, "intercept must be a number, got inf"),
    ]:
        with pytest.raises(ValueError, match=message):
            ExplanationDisplay.from_contributions(names, values, **options)
    assert pyplot.get_fignums() == []
