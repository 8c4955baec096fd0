import numpy as np
import pytest
from sklearn import metrics as sk

from eigenlabel.inspection.displays.checked_inputs import read_judged
from eigenlabel.inspection.displays.curve_points import (
    Curve,
    cut,
    precision_recall_curve,
    precisions_at,
    rates_at,
    roc_curve,
    threshold_curve,
)


@pytest.fixture(params=["plain", "weights", "missing"])
def cells(request, case):
    Y = case.missing if request.param == "missing" else case.Y
    weights = None if request.param == "plain" else case.weights
    return read_judged(Y, case.scores, weights, None).label(1)


def test_cuts_are_those_of_a_loop(cells):
    found = cut(cells)
    distinct = sorted(set(cells.scores.tolist()), reverse=True)
    assert found.scores.tolist() == distinct
    for k, score in enumerate(distinct):
        here = [i for i in range(len(cells.scores)) if cells.scores[i] >= score]
        assert found.predicted[k] == sum(cells.weights[i] for i in here)
        assert found.hits[k] == sum(cells.weights[i] for i in here if cells.truth[i])
        assert found.misses[k] == sum(cells.weights[i] for i in here if not cells.truth[i])


def test_weights_of_any_size_keep_rates_and_precisions_in_their_range(rng):
    Y, scores = rng.uniform(size=(500, 1)) < 0.5, rng.standard_normal((500, 1))
    scores[Y] += 3
    cells = read_judged(Y, scores, rng.uniform(size=500) ** 9, None).label(0)
    for curve in (roc_curve("x", cells), precision_recall_curve("x", cells)):
        assert (np.diff(curve.x) >= 0).all()
        assert curve.x[0] == 0
        assert curve.x[-1] == 1
        assert 0 <= curve.y.min() <= curve.y.max() <= 1


def test_roc_curves_are_those_of_scikit_learn(cells):
    found = roc_curve("x", cells)
    x, y, _ = sk.roc_curve(
        cells.truth, cells.scores, sample_weight=cells.weights, drop_intermediate=False
    )
    np.testing.assert_allclose(found.x, x, atol=1e-12)
    np.testing.assert_allclose(found.y, y, atol=1e-12)
    area = sk.roc_auc_score(cells.truth, cells.scores, sample_weight=cells.weights)
    assert found.area == pytest.approx(area, rel=1e-12)


def test_precision_recall_curves_are_those_of_scikit_learn(cells):
    found = precision_recall_curve("x", cells)
    precision, recall, _ = sk.precision_recall_curve(
        cells.truth, cells.scores, sample_weight=cells.weights
    )
    some = recall > 0  # scikit-learn ends at (0, 1), and with cuts that have no hit
    np.testing.assert_allclose(found.x[1:], recall[some][::-1], atol=1e-12)
    np.testing.assert_allclose(found.y[1:], precision[some][::-1], atol=1e-12)
    assert found.x[0] == 0
    assert found.y[0] == found.y[1]
    area = sk.average_precision_score(cells.truth, cells.scores, sample_weight=cells.weights)
    assert found.area == pytest.approx(area, rel=1e-12)


def test_rates_are_interpolated_and_jumps_are_taken_at_their_upper_end():
    curve = Curve("x", np.array([0, 0, 0.5, 0.5, 1.0]), np.array([0, 0.2, 0.4, 0.8, 1.0]), 0.0)
    np.testing.assert_allclose(
        rates_at(curve, np.array([0, 0.25, 0.5, 0.75, 1.0])), [0.2, 0.3, 0.8, 0.9, 1.0]
    )


def test_rates_between_the_points_of_a_curve_are_those_of_numpy(cells):
    curve = roc_curve("x", cells)
    grid = np.setdiff1d(np.linspace(0.003, 0.997, 301), curve.x)
    np.testing.assert_allclose(rates_at(curve, grid), np.interp(grid, curve.x, curve.y))


def test_precisions_are_those_of_the_first_cut_that_reaches_a_recall(cells):
    curve = precision_recall_curve("x", cells)
    for recall in np.linspace(0, 1, 31):
        reached = [k for k in range(1, len(curve.x)) if curve.x[k] >= recall - 1e-12]
        assert precisions_at(curve, np.array([recall]))[0] == curve.y[reached[0]]


def test_the_mean_of_precisions_on_a_fine_grid_is_the_area(cells):
    curve = precision_recall_curve("x", cells)
    middles = (np.arange(20_000) + 0.5) / 20_000
    # A step function changes inside of at most one interval for each cut.
    assert precisions_at(curve, middles).mean() == pytest.approx(curve.area, abs=2e-3)


def test_threshold_curves_are_those_of_a_loop(cells):
    found = threshold_curve(cells)
    assert found.thresholds[0] == -np.inf
    assert (np.diff(found.thresholds) > 0).all()
    positives = cells.weights[cells.truth].sum()
    for k, t in enumerate(found.thresholds):
        predicted = cells.scores > t
        hits = cells.weights[predicted & cells.truth].sum()
        claims = cells.weights[predicted].sum()
        assert found.recall[k] == pytest.approx(hits / positives)
        assert found.f1[k] == pytest.approx(2 * hits / (positives + claims))
        if claims:
            assert found.precision[k] == pytest.approx(hits / claims)
        else:
            assert k == len(found.thresholds) - 1
            assert np.isnan(found.precision[k])


def test_a_label_without_positives_has_no_recall():
    cells = read_judged([[0], [0]], [[0.1], [0.2]], None, None).label(0)
    found = threshold_curve(cells)
    assert np.isnan(found.recall).all()
    assert found.precision.tolist()[:2] == [0, 0]
    assert found.f1.tolist() == [0, 0, 0]


def test_weights_count_like_copies(case):
    some = read_judged(case.Y, case.scores, case.weights, None)
    copies = np.repeat(np.arange(len(case.Y)), case.weights)
    same = read_judged(case.Y[copies], case.scores[copies], None, None)
    for j in range(case.Y.shape[1]):
        for function in (cut, threshold_curve):
            for a, b in zip(function(some.label(j)), function(same.label(j)), strict=True):
                np.testing.assert_allclose(a, b)
