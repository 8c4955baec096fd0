import numpy as np
import pytest
from scipy.special import expit, logit

from blend_tasks import make_task
from eigenlabel import SharedSubspaceClassifierCV
from eigenlabel.estimators.meta.blend.blending import (
    added_by,
    blend_logits,
    calibrate,
    fit_mixture,
    fit_points,
    identity,
    log_odds,
    recalibrate,
)
from eigenlabel.estimators.meta.blend.weights import BlendCells, fit_shared
from eigenlabel.thresholds import fit_calibration, held_out_probabilities
from eigenlabel.thresholds.calibration import fit_probabilities


@pytest.fixture(scope="module")
def task():
    return make_task()


@pytest.fixture(scope="module")
def scores(task):
    model = SharedSubspaceClassifierCV([0.1], [0.1], calibration=None).fit(task.X, task.Y)
    return model.oof_scores_


def test_log_odds_are_bounded():
    P = np.array([[0.0, 0.5], [1.0, 0.25]])
    np.testing.assert_allclose(
        log_odds(P), [[logit(1e-7), 0], [-logit(1e-7), logit(0.25)]], rtol=1e-8
    )
    assert np.isnan(log_odds(np.array([[np.nan]]))).all()


def test_the_identity_maps_log_odds_to_their_probabilities(rng):
    z = rng.normal(0, 3, (20, 4))
    np.testing.assert_allclose(identity(4).probabilities(z), expit(z), rtol=1e-12)


def test_members_are_calibrated_on_other_samples(task, scores):
    found = calibrate(scores, task, "sigmoid")
    expected = held_out_probabilities(scores, task.Y, method="sigmoid")
    np.testing.assert_allclose(expit(found.logits), expected, rtol=1e-6)
    whole = fit_calibration(scores, task.Y, method="sigmoid")
    np.testing.assert_array_equal(found.calibration.slopes, whole.slopes)


def test_samples_that_belong_together_are_calibrated_together():
    task = make_task(exchangeable=False)
    scores = np.random.default_rng(0).standard_normal(task.Y.shape)
    plain = calibrate(scores, task, "sigmoid").logits
    for _, test in task.folds:
        task.Y[test] = ~task.Y[test]  # what a fold says does not reach its own probabilities
        np.testing.assert_array_equal(calibrate(scores, task, "sigmoid").logits[test], plain[test])
        task.Y[test] = ~task.Y[test]


def test_classes_share_a_map(rng):
    X, y = rng.standard_normal((60, 3)), np.array(list("abc") * 20)
    task = make_task(X, y)
    scores = X.copy()
    found = calibrate(scores, task, "auto")
    expected = fit_probabilities(task.codec, scores, task.Y)
    np.testing.assert_allclose(expit(found.logits), expected.probabilities(scores), rtol=1e-6)


def test_blends_are_weighted_sums(rng):
    a, b = rng.standard_normal((2, 5, 3))
    np.testing.assert_allclose(
        blend_logits(np.array([0.1, 0.5, 2.0]), [a, b]), 0.1 + 0.5 * a + 2 * b, rtol=1e-12
    )
    by_label = rng.random((3, 3))
    expected = np.stack(
        [by_label[j, 0] + by_label[j, 1] * a[:, j] + by_label[j, 2] * b[:, j] for j in range(3)], 1
    )
    np.testing.assert_allclose(blend_logits(by_label, [a, b]), expected, rtol=1e-12)


def test_members_of_small_weight_are_dropped_and_the_others_fitted_again(task, rng):
    good = np.where(task.Y, 1.0, -1.0) + rng.standard_normal(task.Y.shape)
    noise = rng.standard_normal((3, *task.Y.shape))
    logits = [noise[0], good, noise[1], good + noise[2]]
    found = fit_mixture(logits, task, "shared")
    assert found.kept[1]
    assert not found.kept.all()
    kept = [z for z, use in zip(logits, found.kept, strict=True) if use]
    usable = np.ones(task.Y.shape, dtype=bool)
    again = fit_shared(BlendCells.of(kept, task.Y, None, usable))
    np.testing.assert_allclose(found.points, again, rtol=1e-8)
    assert (found.weights > 0).all()


def test_equal_weights_drop_nobody(task, rng):
    found = fit_mixture(list(rng.standard_normal((4, *task.Y.shape))), task, "equal")
    assert found.kept.all()
    np.testing.assert_array_equal(found.points, [0, 0.25, 0.25, 0.25, 0.25])


def test_weights_of_labels(task, rng):
    good = np.where(task.Y, 1.0, -1.0) + rng.standard_normal(task.Y.shape)
    other = np.where(task.Y, 1.0, -1.0) + rng.standard_normal(task.Y.shape)
    found = fit_mixture([good, other], task, "by_label")
    assert found.points.shape == (4, 3)
    assert len(np.unique(found.points[:, 1].round(6))) == 4


def test_cells_without_scores_of_all_members_are_left_out(task, rng):
    good = np.where(task.Y, 1.0, -1.0) + rng.standard_normal(task.Y.shape)
    other = good + rng.standard_normal(task.Y.shape)
    gaps = good.copy()
    gaps[:10] = np.nan
    found = fit_mixture([gaps, other], task, "shared")
    shorter = make_task(task.X[10:], task.Y[10:].astype(int))
    expected = fit_mixture([good[10:], other[10:]], shorter, "shared")
    np.testing.assert_allclose(found.points, expected.points, rtol=1e-8)
    nothing = fit_mixture([np.full(task.Y.shape, np.nan)] * 2, task, "shared")
    np.testing.assert_array_equal(nothing.points, [0, 0.5, 0.5])


def test_the_intercept_of_two_classes_is_zero(rng):
    y = rng.integers(0, 2, 60)
    task = make_task(rng.standard_normal((60, 2)), y)
    z = rng.standard_normal((60, 1)) + task.Y
    assert fit_mixture([z], task, "by_label").points[0] == 0.0


def test_log_odds_are_recalibrated_only_if_that_helps(task, rng):
    truth = rng.normal(-1, 2, (2000, 4))
    Y = (rng.random(truth.shape) < expit(truth)).astype(int)
    big = make_task(np.ones((2000, 1)), Y)
    calibration, P = recalibrate(3 * truth, big, "sigmoid")  # much too sure
    assert not np.array_equal(calibration.slopes, np.ones(4))
    assert np.abs(P - expit(truth)).max() < 0.15
    few = make_task(np.ones((40, 1)), Y[:40])
    calibration, P = recalibrate(truth[:40], few, "sigmoid")
    np.testing.assert_array_equal(calibration.slopes, np.ones(4))
    floor = 0.5 / (160 + 1)  # of 40 x 4 cells
    np.testing.assert_allclose(P, floor + (1 - 2 * floor) * expit(truth[:40]), rtol=1e-12)
    assert task.Y.shape == (90, 4)


@pytest.mark.parametrize("how", ["shared", "equal"])
def test_a_member_adds_what_the_log_loss_rises_without_it(how, task, scores, rng):
    z = calibrate(scores, task, "sigmoid").logits
    members = [z, z + rng.normal(0, 1, z.shape), rng.normal(-1, 1, z.shape)]
    found = added_by(members, task, how)

    def loss(some):
        cells = BlendCells.of(some, task.Y, None, np.ones(task.Y.shape, dtype=bool))
        point = np.r_[0, np.full(len(some), 1 / len(some))] if how == "equal" else fit_shared(cells)
        P = expit(blend_logits(point, some))
        return -np.mean(np.log(np.where(task.Y, P, 1 - P)))

    without = [loss([m for k, m in enumerate(members) if k != j]) for j in range(3)]
    np.testing.assert_allclose(found, np.array(without) - loss(members), rtol=1e-6, atol=1e-9)
    assert found.argmax() == 0
    assert np.isnan(added_by(members[:1], task, how)).all()


def test_no_blend_is_more_certain_than_its_cells_support(rng):
    task = make_task(rng.standard_normal((60, 3)), np.zeros((60, 2), dtype=int))
    calibration, P = recalibrate(np.full((60, 2), -30.0), task, "auto")
    assert P.min() >= 0.5 / (120 + 1)
    assert calibration.probabilities(np.full((1, 2), -40.0)).min() >= 0.5 / (120 + 1)


def test_many_labels_share_their_weights(monkeypatch):
    task = make_task()
    rng = np.random.default_rng(0)
    logits = [rng.standard_normal(task.Y.shape) + 2.0 * task.Y for _ in range(2)]
    assert fit_points(logits, task, "by_label").shape == (4, 3)
    monkeypatch.setattr("eigenlabel.estimators.meta.blend.blending.MOST_WEIGHED", 3)
    found = fit_points(logits, task, "by_label")
    np.testing.assert_array_equal(found, fit_points(logits, task, "shared"))
