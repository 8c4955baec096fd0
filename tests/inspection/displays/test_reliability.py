import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier

from eigenlabel import MLkNN, SharedSubspaceClassifierCV
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.inspection import ReliabilityDisplay
from eigenlabel.thresholds import held_out_probabilities


@pytest.fixture
def probabilities(case):
    return 1 / (1 + np.exp(-case.scores))


def test_the_drawing_shows_the_bins(case, probabilities):
    shown = ReliabilityDisplay.from_predictions(
        case.missing, probabilities, sample_weight=case.weights, n_bins=5, label_names=case.names
    )
    (bins,) = shown.bins
    used = bins.weight > 0
    expected = np.column_stack([bins.predicted, bins.observed])[used]
    np.testing.assert_allclose(shown.lines_[0].get_xydata(), expected)
    vertices = shown.bands_[0].get_paths()[0].vertices
    for x, low, high in zip(bins.predicted[used], bins.low[used], bins.high[used], strict=True):
        near = vertices[np.isclose(vertices[:, 0], x)][:, 1]
        np.testing.assert_allclose([near.min(), near.max()], [low, high])
    rows = np.isfinite(case.missing)
    w = (rows * case.weights[:, None])[rows]
    columns = np.histogram(probabilities[rows], np.linspace(0, 1, 21), weights=w)[0]
    np.testing.assert_allclose(shown.bars_[0].get_data().values, columns)
    assert shown.legend_.get_texts()[0].get_text() == (
        f"all labels (ECE {bins.calibration_error:.3f})"
    )
    assert shown.ax_histogram_.get_xlabel() == "predicted probability"


def test_chosen_labels_have_a_curve_each(case, probabilities):
    shown = ReliabilityDisplay.from_predictions(
        case.missing, probabilities, labels=["_b", 0], label_names=case.names, confidence=0.8
    )
    assert [bins.name for bins in shown.bins] == ["_b", "$a_1$"]
    texts = [text.get_text() for text in shown.legend_.get_texts()]
    assert texts[0].startswith("_b (ECE ")
    assert texts[1].startswith("$a_1$ (ECE ")
    assert texts[2] == "80% confidence"
    assert len({line.get_color() for line in shown.lines_}) == 2
    (alone,) = ReliabilityDisplay.from_predictions(
        case.missing[:, [1]], probabilities[:, [1]], confidence=0.8
    ).bins
    for a, b in zip(shown.bins[0][1:], alone[1:], strict=True):
        np.testing.assert_allclose(a, b)


def test_parts_can_be_left_out_and_a_second_display_shares_the_histogram(case, probabilities):
    first = ReliabilityDisplay.from_predictions(case.Y, probabilities)
    second = ReliabilityDisplay.from_predictions(
        case.Y, probabilities**2, ax=first.ax_, histogram=first.ax_histogram_, band=False
    )
    assert second.ax_histogram_ is first.ax_histogram_
    assert second.bands_ == []
    assert len(first.figure_.axes) == 2
    ax = pyplot.subplots()[1]
    bare = first.plot(ax, histogram=False, legend=False)
    assert bare.ax_histogram_ is None
    assert bare.legend_ is None
    assert ax.figure.axes == [ax]
    assert ax.get_xlabel() == "predicted probability"


def test_columns_that_differ_much_are_logarithmic():
    p = np.concatenate([np.full(1000, 0.01), np.linspace(0, 1, 21)])[:, None]
    uneven = ReliabilityDisplay.from_predictions(p > 0.5, p)
    assert uneven.ax_histogram_.get_yscale() == "log"
    even = ReliabilityDisplay.from_predictions(p[1000:] > 0.5, p[1000:])
    assert even.ax_histogram_.get_yscale() == "linear"


@pytest.mark.parametrize(
    "model",
    [
        MLkNN(3),
        OneVsRestClassifier(LogisticRegression()),
        MultiOutputClassifier(LogisticRegression()),
    ],
    ids=lambda m: type(m).__name__,
)
def test_from_estimator_draws_probabilities(model, planted):
    model.fit(planted.X, planted.Y)
    shown = ReliabilityDisplay.from_estimator(model, planted.X, planted.Y, n_bins=4)
    p = model.predict_proba(planted.X)
    p = np.column_stack([each[:, 1] for each in p]) if isinstance(p, list) else p
    expected = ReliabilityDisplay.from_predictions(planted.Y, p, n_bins=4)
    np.testing.assert_allclose(shown.lines_[0].get_xydata(), expected.lines_[0].get_xydata())


def test_a_model_without_probabilities_raises_an_error_with_the_next_step(planted):
    class Scorer:
        def decision_function(self, X):
            return X

    with pytest.raises(TypeError, match=r"Scorer has no predict_proba.*from_predictions"):
        ReliabilityDisplay.from_estimator(Scorer(), planted.X, planted.Y)


def test_bad_input_raises_an_error(case, probabilities):
    with pytest.raises(ValueError, match=r"between 0 and 1, found .* Scores are not probab"):
        ReliabilityDisplay.from_predictions(case.Y, case.scores)
    gone = np.where(np.arange(5) == 2, np.nan, case.Y)
    for Y, options, message in [
        (case.Y, {"n_bins": 0}, "n_bins must be an integer >= 1, got 0"),
        (case.Y, {"strategy": "other"}, "strategy must be one of 'uniform', 'quantile'"),
        (case.Y, {"confidence": 1.0}, "confidence must be a number between 0.01 and 0.999"),
        (case.Y, {"labels": [9]}, "label must be between 0 and 4"),
        (gone, {"labels": [2]}, "No cell of 'label 2' is observed: leave it out"),
        (case.Y, {"labels": []}, "labels is empty"),
    ]:
        with pytest.raises(ValueError, match=message):
            ReliabilityDisplay.from_predictions(Y, probabilities, **options)
    assert pyplot.get_fignums() == []


def test_without_samples_the_held_out_probabilities_are_drawn():
    data = make_shared_subspace(120, n_labels=3, noise=0.3, random_state=0)
    model = SharedSubspaceClassifierCV().fit(data.X, data.Y)
    found = ReliabilityDisplay.from_estimator(model, None, data.Y)
    P = held_out_probabilities(model.oof_scores_, data.Y, method=model.calibration)
    expected = ReliabilityDisplay.from_predictions(data.Y, P)
    for ours, theirs in zip(found.bins, expected.bins, strict=True):
        np.testing.assert_allclose(ours.observed, theirs.observed, rtol=1e-8)
