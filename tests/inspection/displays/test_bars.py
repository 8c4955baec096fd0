import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib import pyplot
from sklearn import metrics as sk

from eigenlabel import metrics
from eigenlabel.inspection import LabelBarsDisplay
from eigenlabel.inspection.displays.bars import OF_SCORES, OF_SETS

FUNCTIONS = {
    "f1": sk.f1_score,
    "precision": sk.precision_score,
    "recall": sk.recall_score,
    "auc": sk.roc_auc_score,
    "average_precision": sk.average_precision_score,
}


@pytest.mark.parametrize("metric", OF_SETS + OF_SCORES)
def test_bars_are_the_metrics_of_scikit_learn(metric, case):
    predictions = case.scores if metric in OF_SCORES else case.scores > 0.5
    shown = LabelBarsDisplay.from_predictions(
        case.missing,
        predictions,
        metric=metric,
        sample_weight=case.weights,
        label_names=case.names,
    )
    expected = np.empty(5)
    for j in range(5):
        rows = ~np.isnan(case.missing[:, j])
        zero = {"zero_division": 0} if metric in OF_SETS else {}
        expected[j] = FUNCTIONS[metric](
            case.missing[rows, j], predictions[rows, j], sample_weight=case.weights[rows], **zero
        )
    np.testing.assert_allclose(shown.values, expected)
    order = np.argsort(-expected)
    np.testing.assert_allclose([bar.get_width() for bar in shown.bars_], expected[order])
    names = [" ".join(case.names[j].split()) for j in order]
    ticks = shown.ax_.get_yticklabels()
    assert [tick.get_text() for tick in ticks] == names
    assert not any(tick.get_parse_math() for tick in ticks)
    texts = [text.get_text() for text in shown.texts_]
    assert texts[:5] == [f"{expected[j]:.2f}" for j in order]
    support = np.nansum(case.missing * case.weights[:, None], axis=0)
    assert texts[5:] == [f"{support[j]:g}" for j in order]
    np.testing.assert_allclose(shown.mean_line_.get_xdata(), expected.mean())


def test_the_mean_is_the_macro_average(case):
    decided = case.scores > 0.5
    shown = LabelBarsDisplay.from_predictions(case.missing, decided, max_labels=2)
    macro = metrics.f1_macro(case.missing, decided)
    assert shown.mean_line_.get_xdata()[0] == pytest.approx(macro)
    title = f"2 most frequent of 5 labels; dashed: mean of 5, {macro:.3f}"
    assert shown.ax_.get_title(loc="left") == title
    assert len(shown.bars_) == 2


@pytest.mark.parametrize("select", ["frequent", "best", "worst"])
def test_labels_are_selected_and_it_is_said(select, rng):
    Y = rng.uniform(size=(200, 300)) < np.linspace(0.05, 0.5, 300)
    shown = LabelBarsDisplay.from_predictions(
        Y, rng.standard_normal((200, 300)) + Y, metric="auc", select=select, max_labels=10
    )
    key = {"frequent": Y.sum(axis=0), "best": shown.values, "worst": -shown.values}[select]
    assert set(shown.shown) == set(np.argsort(-key, kind="stable")[:10])
    assert (np.diff(shown.values[shown.shown]) <= 0).all()
    words = {"frequent": "most frequent"}.get(select, select)
    assert shown.chosen == f"10 {words} of 300 labels"


def test_chosen_labels_are_drawn_also_undefined_ones(case):
    case.Y[:, 2] = 0
    shown = LabelBarsDisplay.from_predictions(
        case.Y, case.scores, metric="auc", labels=[2, 0], mean=False
    )
    assert shown.shown.tolist() == [0, 2]
    assert shown.texts_[1].get_text() == "not defined"
    assert shown.bars_[1].get_width() == 0
    assert shown.mean_line_ is None
    bare = shown.plot(include_values=False)
    assert bare.texts_ == []
    assert bare.ax_.get_title(loc="left").endswith(f"mean of 4, {np.nanmean(shown.values):.3f}")


def test_labels_that_are_never_observed_are_left_out(case):
    case.missing[:, 1] = np.nan
    shown = LabelBarsDisplay.from_predictions(case.missing, case.scores > 0)
    assert np.isnan(shown.values[1])
    assert 1 not in shown.shown
    macro = metrics.f1_macro(case.missing, case.scores > 0)
    assert shown.mean_line_.get_xdata()[0] == pytest.approx(macro)


def test_from_estimator_predicts_or_scores(planted):
    shown = LabelBarsDisplay.from_estimator(
        planted.model, planted.X, planted.Y, label_names=planted.names
    )
    expected = sk.f1_score(
        planted.Y, planted.model.predict(planted.X), average=None, zero_division=0
    )
    np.testing.assert_allclose(shown.values, expected)
    scores = LabelBarsDisplay.from_estimator(planted.model, None, planted.Y_train, metric="auc")
    np.testing.assert_allclose(
        scores.values, metrics.auc_per_label(planted.Y_train, planted.model.oof_scores_)
    )
    with pytest.raises(TypeError, match=r"'f1' compares label sets, which need X. For held-out"):
        LabelBarsDisplay.from_estimator(planted.model, None, planted.Y_train)


def test_sparse_label_sets_are_read(case):
    decided = case.scores > 0
    dense = LabelBarsDisplay.from_predictions(case.Y, decided)
    sparse = LabelBarsDisplay.from_predictions(
        sp.csr_array(case.Y), sp.csr_array(decided.astype(int))
    )
    np.testing.assert_allclose(sparse.values, dense.values)


def test_bad_input_raises_an_error(case):
    for predictions, options, message in [
        (case.scores, {}, r"F1, precision and recall compare label sets: pass scores > thresholds"),
        (case.scores > 0, {"metric": "other"}, "metric must be one of 'f1', 'precision', 'recall'"),
        (case.scores > 0, {"select": "other"}, "select must be one of 'frequent', 'best', 'worst'"),
        (case.scores > 0, {"max_labels": 0}, "max_labels must be an integer >= 1, got 0"),
        (case.scores > 0, {"labels": []}, "labels is empty"),
        (case.scores[:, :2] > 0, {}, r"predictions has shape \(60, 2\), the label matrix"),
    ]:
        with pytest.raises(ValueError, match=message):
            LabelBarsDisplay.from_predictions(case.Y, predictions, **options)
    with pytest.raises(ValueError, match="area under the ROC curve is defined for no label"):
        LabelBarsDisplay.from_predictions(np.zeros((3, 2)), np.zeros((3, 2)), metric="auc")
    assert pyplot.get_fignums() == []
