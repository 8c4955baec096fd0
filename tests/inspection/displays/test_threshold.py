import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_recall_fscore_support
from sklearn.multiclass import OneVsRestClassifier

from eigenlabel import SharedSubspaceClassifierCV, ThresholdedClassifier, metrics
from eigenlabel.inspection import ThresholdDisplay
from eigenlabel.thresholds import PerLabelF1, RiskControl, held_out_probabilities


def at(case, j, t):
    """Return precision, recall and F1 of a label at a threshold."""
    rows = ~np.isnan(case.missing[:, j]) & (case.weights > 0)
    return precision_recall_fscore_support(
        case.missing[rows, j],
        case.scores[rows, j] > t,
        average="binary",
        sample_weight=case.weights[rows],
        zero_division=np.nan,
    )[:3]


def test_lines_are_exact_between_any_two_scores(case):
    shown = ThresholdDisplay.from_predictions(
        case.missing, case.scores, label="_b", label_names=case.names, sample_weight=case.weights
    )
    x = shown.lines_["f1"].get_xdata()
    assert (np.diff(x) > 0).all()
    for t in (x[1:] + x[:-1])[:-1] / 2:
        expected = at(case, 1, t)
        k = np.searchsorted(x, t, side="right") - 1  # drawn as steps that begin at their points
        drawn = [shown.lines_[key].get_ydata()[k] for key in ("precision", "recall", "f1")]
        np.testing.assert_allclose(drawn, expected)
        np.testing.assert_allclose(list(shown.at(t).values()), expected)
    for t in x[1:-2]:  # a score is not above itself
        np.testing.assert_allclose(list(shown.at(t).values()), at(case, 1, t))
    assert {line.get_drawstyle() for line in shown.lines_.values()} == {"steps-post"}
    assert np.isnan(shown.lines_["precision"].get_ydata()[-1])
    assert shown.ax_.get_title() == f"_b ({shown.positives:g} positives)"


def test_the_chosen_threshold_is_marked(planted):
    shown = ThresholdDisplay.from_estimator(planted.model, None, planted.Y_train, label=1)
    threshold = planted.model.thresholds_[1]
    assert set(shown.threshold_line_.get_xdata()) == {threshold}
    predicted = planted.model.oof_scores_[:, [1]] > threshold
    f1 = metrics.f1_macro(planted.Y_train[:, [1]], predicted)
    assert shown.at(threshold)["f1"] == pytest.approx(f1)
    texts = [text.get_text() for text in shown.legend_.get_texts()]
    assert texts[2] == f"F1 ({f1:.3f})"
    assert texts[3] == f"threshold ({threshold:.3g})"


def test_new_samples_are_scored(planted):
    shown = ThresholdDisplay.from_estimator(planted.model, planted.X, planted.Y, label=0)
    scores = planted.model.decision_function(planted.X)
    other = ThresholdDisplay.from_predictions(planted.Y, scores, label=0)
    np.testing.assert_allclose(
        shown.lines_["f1"].get_xydata(), other.lines_["f1"].get_xydata(), atol=1e-12
    )
    assert other.threshold is None
    assert other.threshold_line_ is None
    assert [t.get_text() for t in other.legend_.get_texts()] == ["precision", "recall", "F1"]


def test_rules_find_thresholds(case):
    shown = ThresholdDisplay.from_predictions(
        case.missing, case.scores, label=2, thresholds="f1", sample_weight=case.weights
    )
    expected = PerLabelF1().fit(case.scores, case.missing, case.weights)[2]
    assert shown.threshold == pytest.approx(expected)
    assert shown.at(shown.threshold)["f1"] == pytest.approx(shown.curve.f1.max())


def test_all_cells_have_one_threshold(case):
    shown = ThresholdDisplay.from_predictions(case.missing, case.scores, thresholds="global")
    decided = case.scores > shown.threshold
    assert shown.at(shown.threshold)["f1"] == pytest.approx(metrics.f1_micro(case.missing, decided))
    assert shown.name == "all labels"
    several = ThresholdDisplay.from_predictions(case.Y, case.scores, thresholds=np.arange(5.0))
    assert several.threshold is None


def test_infinite_thresholds_are_said_and_not_drawn(case):
    never = ThresholdDisplay.from_predictions(case.Y, case.scores, label=0, thresholds=np.inf)
    assert never.threshold_line_ is None
    assert "never predicted" in never.legend_.get_title().get_text()
    assert never.legend_.get_texts()[0].get_text() == "precision (not defined)"
    always = ThresholdDisplay.from_predictions(case.Y, case.scores, label=0, thresholds=-np.inf)
    assert always.at(-np.inf)["recall"] == 1
    unknown = ThresholdDisplay.from_predictions(case.Y, case.scores, label=0, thresholds=np.nan)
    assert unknown.threshold is None


def test_equal_scores_are_drawn():
    shown = ThresholdDisplay.from_predictions([[1], [0]], [[0.5], [0.5]], label=0, thresholds=0.1)
    assert shown.curve.thresholds.tolist() == [-np.inf, 0.5]
    assert shown.at(0.1) == {"precision": 0.5, "recall": 1.0, "f1": pytest.approx(2 / 3)}
    low, high = shown.ax_.get_xlim()
    assert low < 0.5 < high
    assert np.isfinite(shown.lines_["recall"].get_xdata()).all()


def test_bad_input_raises_an_error(case, planted):
    nobody = np.where(np.arange(5) == 3, 0, case.Y)
    for Y, options, message in [
        (nobody, {"label": 3}, "'label 3' has no positive .* Choose another label"),
        (case.Y, {"label": "x"}, "There is no label 'x'"),
        (case.Y, {"thresholds": [1, 2]}, r"thresholds has shape \(2,\): pass one number, or one f"),
        (case.Y, {"thresholds": "other"}, "Unknown threshold rule 'other'"),
    ]:
        with pytest.raises(ValueError, match=message):
            ThresholdDisplay.from_predictions(Y, case.scores, **options)
    plain = OneVsRestClassifier(LogisticRegression()).fit(planted.X, planted.Y)
    with pytest.raises(TypeError, match="has no thresholds_: pass thresholds=None"):
        ThresholdDisplay.from_estimator(plain, planted.X, planted.Y, label=0)
    shown = ThresholdDisplay.from_estimator(plain, planted.X, planted.Y, label=0, thresholds=0.5)
    assert shown.threshold == 0.5


def test_thresholds_of_probabilities_are_drawn_on_probabilities(planted):
    X, Y = planted.X, planted.Y
    rule = RiskControl(recall=0.8)
    model = SharedSubspaceClassifierCV([0.1], [0.1], 2, threshold=rule).fit(X, Y)
    held_out = ThresholdDisplay.from_estimator(model, None, Y)
    P = held_out_probabilities(model.oof_scores_, Y)
    assert held_out.threshold == model.thresholds_[0]
    true = Y.astype(bool)
    recall = (P[true] > model.thresholds_[0]).mean()
    assert held_out.at(held_out.threshold)["recall"] == pytest.approx(recall)
    new = ThresholdDisplay.from_estimator(model, X, Y)
    recall = model.predict(X)[true].mean()
    assert new.at(new.threshold)["recall"] == pytest.approx(recall)
    plain = SharedSubspaceClassifierCV([0.1], [0.1], 2).fit(X, Y)
    asked = ThresholdDisplay.from_estimator(plain, None, Y, thresholds=rule)
    assert asked.threshold == pytest.approx(rule.fit(P, Y)[0])
    own = ThresholdedClassifier(
        OneVsRestClassifier(LogisticRegression()), strategy=rule, calibration=None
    ).fit(X, Y)
    shown = ThresholdDisplay.from_estimator(own, None, Y)
    recall = (own.oof_scores_[true] > own.thresholds_[0]).mean()
    assert shown.at(shown.threshold)["recall"] == pytest.approx(recall)
