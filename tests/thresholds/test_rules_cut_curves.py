import numpy as np
import pytest

from eigenlabel.thresholds import rules
from eigenlabel.thresholds.rules import CutCurves, cut_thresholds


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("tied", [False, True])
def test_candidates_count_what_lies_above_each_positive(rng, weighted, tied):
    scores, truth = rng.standard_normal((2, 3, 12)), rng.random((3, 12)) < 0.4
    scores = np.round(scores) if tied else scores
    w = rng.uniform(0.5, 2, 12) if weighted else None
    curves = CutCurves(scores, truth, w)
    each = np.ones(12) if w is None else w
    np.testing.assert_allclose(curves.positives, truth @ each)
    assert curves.tied.any() == tied
    for g in range(2):
        for c, j in enumerate(curves.label):
            if c in curves.starts:
                assert curves.count[g, c] == 0
                continue
            rank = c - curves.starts[j]  # of this positive among those of the label
            cut = np.sort(scores[g, j][truth[j]])[::-1][rank - 1]
            above = scores[g, j] >= cut
            assert curves.count[g, c] == above.sum()
            assert curves.predicted[g, c] == pytest.approx(each[above].sum())
            assert curves.hits[g, c] == pytest.approx(each[above & truth[j]].sum())


@pytest.mark.parametrize("numbers", [1, 30])
def test_curves_of_few_labels_at_a_time_are_the_same(numbers, rng, monkeypatch):
    scores, truth = rng.standard_normal((2, 5, 12)), rng.random((5, 12)) < 0.4
    whole = CutCurves(scores, truth)
    monkeypatch.setattr(rules, "CACHED", numbers)
    parts = CutCurves(scores, truth)
    np.testing.assert_array_equal(whole.sorted, parts.sorted)
    np.testing.assert_array_equal(whole.count, parts.count)


def test_the_lowest_of_the_best_cuts_wins_and_empty_labels_are_never_predicted():
    scores = np.array([[[3.0, 2.0, 1.0], [3.0, 2.0, 1.0]]])
    truth = np.array([[True, True, False], [False, False, False]])
    curves = CutCurves(scores, truth)
    best = curves.best(np.zeros((1, len(curves.label))))
    np.testing.assert_array_equal(curves.count[0, best[0]], [2, 0])
    found = curves.thresholds(curves.best(curves.f1()))
    np.testing.assert_array_equal(found, [[1.5, np.inf]])


def test_thresholds_lie_in_the_gap_below_the_predicted_scores():
    ordered = np.array([4.0, 2.0, 1.0, -np.inf])
    found = [cut_thresholds(ordered, np.array(k)) for k in range(4)]
    np.testing.assert_array_equal(found, [np.inf, 3.0, 1.5, -np.inf])
    close = np.array([np.nextafter(1.0, 2.0), 1.0])
    assert cut_thresholds(close, np.array(1)) == 1.0
