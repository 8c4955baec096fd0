"""What all displays have in common."""

import sys

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot

from eigenlabel import DimensionsPath, inspection
from eigenlabel.inspection import (
    DimensionDisplay,
    ExplanationDisplay,
    GridDisplay,
    LabelBarsDisplay,
    LabelMapDisplay,
    LabelPrecisionRecallDisplay,
    LabelRocDisplay,
    ReliabilityDisplay,
    ThresholdDisplay,
)

NAMES = ["$a_1$", "_b", "c 50%", "d & #", "{e}", "f^2 \\alpha"]


def draw(cls, planted, ax=None):
    """Draw a display of a class whose names are hard to draw."""
    scores = planted.model.decision_function(planted.X)
    named = {"label_names": NAMES, "ax": ax}
    path = DimensionsPath(np.array([1, 2]), np.eye(2))
    calls = {
        DimensionDisplay: lambda: DimensionDisplay.from_paths(dict.fromkeys(NAMES, path), ax=ax),
        ExplanationDisplay: lambda: ExplanationDisplay.from_contributions(
            NAMES, np.arange(1, 7), title=NAMES[0], ax=ax
        ),
        GridDisplay: lambda: GridDisplay.from_estimator(planted.model, ax=ax),
        LabelBarsDisplay: lambda: LabelBarsDisplay.from_predictions(planted.Y, scores > 0, **named),
        LabelMapDisplay: lambda: LabelMapDisplay.from_estimator(
            planted.model, planted.Y, groups=NAMES, **named
        ),
        ReliabilityDisplay: lambda: ReliabilityDisplay.from_predictions(
            planted.Y, 1 / (1 + np.exp(-scores)), labels=NAMES, **named
        ),
        ThresholdDisplay: lambda: ThresholdDisplay.from_estimator(
            planted.model, planted.X, planted.Y, label=NAMES[0], **named
        ),
    }
    if cls in (LabelPrecisionRecallDisplay, LabelRocDisplay):
        return cls.from_predictions(planted.Y, scores, labels=NAMES, **named)
    return calls[cls]()


EVERY = pytest.mark.parametrize(
    "cls", [getattr(inspection, n) for n in inspection.__all__ if n.endswith("Display")]
)


@EVERY
def test_a_new_figure_is_made_and_axes_are_used(cls, planted):
    shown = draw(cls, planted)
    assert shown.figure_ is shown.ax_.figure
    assert pyplot.get_fignums() == [shown.figure_.number]
    figure, axes = pyplot.subplots(1, 2)
    again = draw(cls, planted, axes[0])
    assert again.ax_ is axes[0]
    assert again.figure_ is figure
    assert again.plot(axes[1]) is again
    assert again.ax_ is axes[1]
    assert len(pyplot.get_fignums()) == 2
    figure.canvas.draw()
    shown.figure_.canvas.draw()


@EVERY
def test_nothing_global_changes(cls, planted):
    ax = pyplot.subplots()[1]
    other = pyplot.subplots()[1]
    before = dict(matplotlib.rcParams)
    draw(cls, planted, ax)
    assert dict(matplotlib.rcParams) == before
    assert pyplot.gca() is other
    assert ax.figure.gca() is ax


@EVERY
def test_names_are_drawn_letter_by_letter_in_any_style(cls, planted):
    # LaTeX is needed for the ticks of a map, whose size decides where names have room.
    with matplotlib.rc_context({"text.usetex": cls is not LabelMapDisplay}):
        shown = draw(cls, planted)
    found = {}
    for text in shown.figure_.findobj(matplotlib.text.Text):
        for name in NAMES:
            if text.get_text().startswith(name):
                found[name] = text
    for text in found.values():
        assert not text.get_parse_math()
        assert not text.get_usetex()
    expected = {GridDisplay: 0, ThresholdDisplay: 1}.get(cls, len(NAMES))
    assert len(found) == expected


@EVERY
def test_figures_are_saved_in_every_form(cls, planted, tmp_path):
    shown = draw(cls, planted)
    for form in ("png", "pdf", "svg"):
        path = tmp_path / f"it.{form}"
        shown.figure_.savefig(path)
        assert 1000 < path.stat().st_size < 2**20


@EVERY
def test_bad_axes_and_a_missing_matplotlib_raise_errors(cls, planted, monkeypatch):
    with pytest.raises(TypeError, match="ax must be matplotlib axes or None, got list: pass one"):
        draw(cls, planted, [1])
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=rf"{cls.__name__} draws .*eigenlabel\[plot\]"):
        draw(cls, planted)


@EVERY
def test_every_display_is_listed_and_documents_what_it_has(cls, planted):
    shown = draw(cls, planted)
    fitted = {name for name in vars(shown) if name.endswith("_")}
    text = cls.__doc__.split("Attributes")[1]
    assert all(f"    {name} : " in text for name in fitted)
