from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from eigenlabel import metrics
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.model_selection.scorers import Truth, make_scorer
from eigenlabel.model_selection.search import ByFold, ByLabel, Chunk, Pooled, search
from eigenlabel.thresholds import (
    Costs,
    Mixed,
    PerLabelF1,
    RiskControl,
    fit_calibration,
    held_out_probabilities,
)

N, M = 24, 3


class Scores:
    """Held-out scores (points, m, n) that are given."""

    def __init__(self, scores, folds=None):
        self.scores, self.folds = scores, folds
        self.params = [{"a": k} for k in range(len(scores))]

    def chunks(self):
        points = np.arange(len(self.scores))
        if self.folds is None:
            yield Chunk(points[:1], self.scores[:1])
            yield Chunk(points[1:], self.scores[1:])
            return
        for k, test in enumerate(self.folds):
            yield Chunk(points, self.scores[..., test], k)

    def at(self, point):
        return self.scores[point]


@pytest.fixture
def case(rng):
    Y = rng.random((N, M)) < 0.4
    Y[:2] = [[True] * M, [False] * M]
    scores = rng.standard_normal((4, M, N)) + np.array([0, 1.5, 1.5, 0.5])[:, None, None] * Y.T
    scores[2] = scores[1]  # a tie
    return Y, scores


def pooled(Y, folds, scoring, rule, room, **options):
    codec = LabelCodec.fit(Y)[0]
    truth = Truth.of(Y, None, None, np.arange(N), folds)
    scorer = make_scorer(scoring, Y, codec, truth, np.arange(N))
    return Pooled(scorer, rule, truth, room, **options)


@pytest.mark.parametrize("room", [1, 2 * N * M, 10**6])
def test_pooled_scores_are_of_all_tested_samples_at_fitted_thresholds(case, room):
    Y, scores = case
    folds = [(None, np.arange(0, 10)), (None, np.arange(10, 20))]  # four samples are never tested
    found = search(Scores(scores), pooled(Y, folds, "f1_macro", PerLabelF1(), room))
    expected, cuts = [], []
    for one in scores:
        cuts.append(PerLabelF1().fit(one.T[:20], Y[:20]))
        expected.append(metrics.f1_macro(Y[:20], one.T[:20] > cuts[-1]))
    np.testing.assert_allclose(found.table["pooled_test_score"], expected)
    best = int(np.argmax(expected))  # the first of equal ones
    assert (int(found.best), float(found.score)) == (best, pytest.approx(expected[best]))
    np.testing.assert_array_equal(found.thresholds, cuts[best])
    np.testing.assert_array_equal(found.oof_scores[:20], scores[best].T[:20])
    assert np.isnan(found.oof_scores[20:]).all()
    assert found.table["params"] == [{"a": k} for k in range(4)]
    assert found.table["split1_test_score"].shape == (4,)


def test_equal_points_share_a_rank_and_the_first_one_wins(case):
    Y, scores = case
    folds = [(None, np.arange(N))]
    found = search(Scores(scores[[1, 2, 1]]), pooled(Y, folds, "auc_macro", PerLabelF1(), 10**6))
    assert found.best == 0
    np.testing.assert_array_equal(found.table["rank_test_score"], [1, 1, 1])


def test_a_score_that_is_undefined_everywhere_raises(case):
    Y, scores = np.zeros((N, M), dtype=bool), case[1]
    judge = pooled(Y, [(None, np.arange(N))], "auc_macro", PerLabelF1(), 10**6)
    with pytest.raises(ValueError, match="'auc_macro' is undefined"):
        search(Scores(scores), judge)


@pytest.mark.parametrize("scoring", ["auc_macro", "ranking_loss"])
def test_the_mean_over_folds_decides_and_losses_are_minimised(case, scoring):
    Y, scores = case
    weights = np.linspace(1, 2, N)
    folds = [np.arange(0, 14), np.arange(8, N)]  # samples may be tested twice
    steps = []
    found = search(Scores(scores, folds), ByFold(scoring, Y, weights, folds), steps.append)
    function = getattr(metrics, scoring)
    expected = [
        [function(Y[t], one.T[t], sample_weight=weights[t]) for t in folds] for one in scores
    ]
    np.testing.assert_allclose(found.table["fold_test_score"], expected)
    means = np.mean(expected, axis=1)
    assert found.best == (np.argmin(means) if scoring == "ranking_loss" else np.argmax(means))
    assert steps == [1, 1]


def test_each_label_takes_its_own_point_and_undefined_ones_the_common_best(case):
    Y, scores = case
    Y, scores = Y.copy(), scores.copy()
    scores[1, 0] = -scores[1, 0]
    scores[:, 1, 3:5] = np.nan  # not held out for this label
    Y[:, 2] = False
    found = search(Scores(scores), ByLabel("auc", np.ascontiguousarray(Y.T), None))
    table = found.table["label_test_score"]
    kept = np.setdiff1d(np.arange(N), [3, 4])
    for k, one in enumerate(scores):
        assert table[k, 0] == pytest.approx(roc_auc_score(Y[:, 0], one[0]))
        assert table[k, 1] == pytest.approx(roc_auc_score(Y[kept, 1], one[1, kept]))
    assert np.isnan(table[:, 2]).all()
    common = np.argmax(table[:, :2].mean(axis=1))
    expected = [np.argmax(table[:, 0]), np.argmax(table[:, 1]), common]
    np.testing.assert_array_equal(found.best, expected)
    assert np.isnan(found.score[2])


def test_f1_by_label_is_at_the_best_threshold():
    labels = np.array([[True, True, False, False]])
    judge = ByLabel("f1", labels, None)
    judge.prepare(1)
    list(judge.read(Chunk(np.array([0]), np.array([[[4.0, 3.0, 2.0, 1.0]]]))))
    assert judge.conclude(SimpleNamespace(params=[{}])).score == 1.0


FOLDS = [(None, np.arange(0, 10)), (None, np.arange(10, 20))]  # four samples are never tested


def test_the_held_out_scores_of_the_best_point_are_calibrated(case):
    Y, scores = case
    judge = pooled(Y, FOLDS, "f1_macro", PerLabelF1(), 10**6, calibration="sigmoid")
    found = search(Scores(scores), judge)
    expected = fit_calibration(found.oof_scores[:20], Y[:20], method="sigmoid")
    x = np.linspace(-3, 3, 3 * 11).reshape(11, 3)
    np.testing.assert_array_equal(found.calibration.probabilities(x), expected.probabilities(x))
    plain = search(Scores(scores), pooled(Y, FOLDS, "f1_macro", PerLabelF1(), 10**6))
    assert plain.calibration is None


def test_points_are_judged_by_mixed_and_a_rule_on_probabilities_is_fitted_at_the_best(case):
    Y, scores = case
    rule = RiskControl(recall=0.5)
    judge = pooled(Y, FOLDS, "f1_micro", rule, 10**6, calibration="auto")
    found = search(Scores(scores), judge)
    by_mixed = search(Scores(scores), pooled(Y, FOLDS, "f1_micro", Mixed(), 10**6))
    np.testing.assert_array_equal(
        found.table["pooled_test_score"], by_mixed.table["pooled_test_score"]
    )
    plain = search(Scores(scores), pooled(Y, FOLDS, "f1_micro", PerLabelF1(), 10**6))
    assert (plain.table["pooled_test_score"] < by_mixed.table["pooled_test_score"]).any()
    P = held_out_probabilities(found.oof_scores[:20], Y[:20])
    np.testing.assert_allclose(found.thresholds, rule.fit(P, Y[:20]), rtol=1e-12)
    training = scores[0].T
    P = found.calibration.probabilities(training)
    np.testing.assert_array_equal(
        judge.fit_to_training(training, found.calibration), rule.fit(P, Y)
    )


def test_a_rule_on_probabilities_is_refused_without_them_before_the_search(case):
    Y, _ = case
    with pytest.raises(ValueError, match="pass calibration='auto'"):
        pooled(Y, FOLDS, "f1_macro", Costs(), 10**6)


def test_the_held_out_scores_of_each_labels_best_point_are_kept(case):
    Y, scores = case
    scores = scores.copy()
    scores[..., 20:] = np.nan
    Y = np.column_stack([Y, np.zeros(N, dtype=bool)])  # a label whose score is undefined
    scores = np.concatenate([scores, scores[:, :1]], axis=1)
    judge = ByLabel("auc", np.ascontiguousarray(Y.T), None, keep=True)
    found = search(Scores(scores), judge)
    expected = np.column_stack([scores[k, j] for j, k in enumerate(found.best)])
    np.testing.assert_array_equal(found.oof_scores, expected)
    assert [len(kept) for kept in judge.kept[:3]] == [
        2 if k == 1 else 1 for k in found.best[:3].tolist()
    ], "a tie is kept, worse points are not"
    assert search(Scores(scores), ByLabel("auc", Y.T, None)).oof_scores is None
