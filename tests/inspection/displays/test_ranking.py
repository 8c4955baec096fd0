import numpy as np
import pytest
from matplotlib import pyplot
from sklearn import metrics as sk

from eigenlabel import metrics
from eigenlabel.inspection import LabelPrecisionRecallDisplay, LabelRocDisplay
from eigenlabel.inspection.displays.ranking import GRID

BOTH = pytest.mark.parametrize("display", [LabelPrecisionRecallDisplay, LabelRocDisplay])


def observed(case, j):
    rows = ~np.isnan(case.missing[:, j]) & (case.weights > 0)
    return case.missing[rows, j], case.scores[rows, j], case.weights[rows]


def test_lines_of_labels_are_the_curves_of_scikit_learn(case):
    shown = LabelRocDisplay.from_predictions(
        case.missing,
        case.scores,
        labels=[2, "e"],
        sample_weight=case.weights,
        label_names=case.names,
    )
    for line, j in zip(shown.lines_, (2, 4), strict=True):
        y, s, w = observed(case, j)
        expected = sk.roc_curve(y, s, sample_weight=w, drop_intermediate=False)[:2]
        np.testing.assert_allclose(line.get_xydata(), np.column_stack(expected), atol=1e-12)
    shown = LabelPrecisionRecallDisplay.from_predictions(
        case.missing, case.scores, labels=[2], sample_weight=case.weights
    )
    y, s, w = observed(case, 2)
    precision, recall, _ = sk.precision_recall_curve(y, s, sample_weight=w)
    expected = np.column_stack([recall, precision])[recall > 0][::-1]
    np.testing.assert_allclose(shown.lines_[0].get_xydata()[1:], expected, atol=1e-12)
    assert shown.lines_[0].get_drawstyle() == "steps-pre"


def test_averages_are_those_of_the_metrics(case):
    given = (case.missing, case.scores)
    roc = LabelRocDisplay.from_predictions(*given, sample_weight=case.weights)
    micro, macro = (curve.area for curve in roc.averages)
    assert micro == pytest.approx(metrics.auc_micro(*given, sample_weight=case.weights))
    assert macro == pytest.approx(metrics.auc_macro(*given, sample_weight=case.weights))
    curves = LabelPrecisionRecallDisplay.from_predictions(*given, sample_weight=case.weights)
    expected = metrics.label_average_precision(*given, sample_weight=case.weights)
    assert curves.averages[1].area == pytest.approx(expected)
    y, s, w = (np.concatenate(p) for p in zip(*(observed(case, j) for j in range(5)), strict=True))
    expected = sk.average_precision_score(y, s, sample_weight=w)
    assert curves.averages[0].area == pytest.approx(expected)


def test_the_macro_average_is_the_mean_of_the_curves_and_the_band_their_quartiles(case):
    shown = LabelRocDisplay.from_predictions(case.missing, case.scores, max_labels=5)
    values = []
    for curve in shown.curves:
        right = GRID + 1e-9  # the upper end of jumps
        values.append(np.interp(np.minimum(right, 1), curve.x, curve.y))
    macro = shown.average_lines_[1].get_xydata()
    # The slopes of the curves, times the distance of 1e-9 to their jumps.
    np.testing.assert_allclose(macro[:, 1], np.mean(values, axis=0), atol=1e-6)
    low, high = np.quantile(values, [0.25, 0.75], axis=0)
    np.testing.assert_allclose(shown.spread, [low, high], atol=1e-6)
    points = shown.band_.get_paths()[0].vertices
    assert {tuple(np.round(p, 6)) for p in np.column_stack([GRID, low])} <= {
        tuple(np.round(p, 6)) for p in points
    }


@BOTH
def test_the_most_frequent_labels_are_shown_and_it_is_said(display, rng):
    Y = rng.uniform(size=(100, 300)) < np.linspace(0.02, 0.5, 300)
    shown = display.from_predictions(Y, rng.standard_normal((100, 300)))
    expected = np.argsort(-Y.sum(axis=0), kind="stable")[:5]
    assert [curve.name for curve in shown.curves] == [f"label {j}" for j in expected]
    assert shown.legend_.get_title().get_text() == "5 most frequent of 300 labels"
    assert len(shown.legend_.get_texts()) == 8


@BOTH
def test_the_legend_states_names_and_areas_letter_by_letter(display, case):
    shown = display.from_predictions(case.Y, case.scores, labels=[0, 1], label_names=case.names)
    texts = [text.get_text() for text in shown.legend_.get_texts()]
    word = "AUC" if display is LabelRocDisplay else "AP"
    assert texts[0] == f"micro-average ({word} {shown.averages[0].area:.3f})"
    assert texts[3:] == [f"{c.name} ({word} {c.area:.3f})" for c in shown.curves]
    assert shown.legend_.get_title().get_text() == "2 chosen of 5 labels"


@BOTH
def test_parts_can_be_left_out(display, case):
    shown = display.from_predictions(
        case.Y, case.scores, labels=[], averages="micro", spread=False, legend=False
    )
    assert shown.lines_ == []
    assert [curve.name for curve in shown.averages] == ["micro"]
    assert shown.band_ is None
    assert shown.legend_ is None
    nothing = display.from_predictions(case.Y, case.scores, labels=[], averages=())
    assert nothing.legend_ is None


@BOTH
def test_from_estimator_draws_the_scores_of_the_model(display, planted):
    one = display.from_estimator(planted.model, planted.X, planted.Y, label_names=planted.names)
    scores = planted.model.decision_function(planted.X)
    two = display.from_predictions(planted.Y, scores, label_names=planted.names)
    for a, b in zip(one.lines_ + one.average_lines_, two.lines_ + two.average_lines_, strict=True):
        np.testing.assert_allclose(a.get_xydata(), b.get_xydata())
    held = display.from_estimator(planted.model, None, planted.Y_train, ax=one.ax_, max_labels=1)
    assert held.ax_ is one.ax_


@BOTH
def test_properties_of_lines_are_passed_on(display, case):
    shown = display.from_predictions(
        case.Y, case.scores, labels=[0], curve_kwargs={"linewidth": 7, "color": "red"}
    )
    assert shown.lines_[0].get_linewidth() == 7
    assert shown.lines_[0].get_color() == "red"


def test_long_curves_are_drawn_with_few_points_and_stored_whole(rng):
    Y = rng.uniform(size=(30_000, 1)) < 0.3
    scores = rng.standard_normal((30_000, 1)) + Y
    shown = LabelPrecisionRecallDisplay.from_predictions(Y, scores)
    assert len(shown.curves[0].x) > 20_000
    x, y = shown.lines_[0].get_data()
    assert len(x) <= 2000
    drawn = np.interp(shown.curves[0].x, x, y)
    # Half of the points are spent on the first hundredth, where precision jumps up and down.
    assert np.abs(drawn - shown.curves[0].y)[shown.curves[0].x > 0.05].max() < 0.01


def test_labels_without_a_curve_are_left_out_or_raise_an_error(case):
    case.Y[:, 3], case.Y[:, 4] = 0, 1
    roc = LabelRocDisplay.from_predictions(case.Y, case.scores)
    assert len(roc.curves) == 3
    assert roc.averages[1].area == pytest.approx(metrics.auc_macro(case.Y, case.scores))
    curves = LabelPrecisionRecallDisplay.from_predictions(case.Y, case.scores)
    assert len(curves.curves) == 4
    with pytest.raises(ValueError, match="'label 4' does not have a positive and a negative"):
        LabelRocDisplay.from_predictions(case.Y, case.scores, labels=[4])
    with pytest.raises(ValueError, match="No label has a positive"):
        LabelPrecisionRecallDisplay.from_predictions(case.Y[:, [3]], case.scores[:, [3]])


@BOTH
def test_bad_input_raises_an_error(display, case):
    for options, message in [
        ({"averages": ("mean",)}, "averages must be one of 'micro', 'macro', got 'mean'"),
        ({"max_labels": -1}, "max_labels must be an integer >= 0, got -1"),
        ({"labels": ["x"]}, "There is no label 'x'"),
    ]:
        with pytest.raises(ValueError, match=message):
            display.from_predictions(case.Y, case.scores, **options)
    assert pyplot.get_fignums() == []  # nothing is drawn before everything is checked
