import numpy as np
import pytest
from scipy.special import expit

from blend_tasks import judge_nothing, make_task
from eigenlabel import MultilabelBlend
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators.meta.blend.blending import added_by, fit_points, log_odds
from eigenlabel.estimators.meta.blend.fitting_members import fit_candidates, fit_second
from eigenlabel.estimators.meta.blend.members import RECIPES, Candidate
from eigenlabel.estimators.meta.blend.stages import (
    ENOUGH,
    _weigh_second,
    blend_stages,
    read_stages,
)
from eigenlabel.estimators.meta.blend.weights import kept_members
from eigenlabel.persistence import load_model, save_model

LABELS = Candidate("labels", RECIPES["labels"])
LABEL_SETS = Candidate("sets", RECIPES["sets"])


@pytest.fixture(scope="module")
def together():
    """Return samples with a third label, present if exactly one of the first two is."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    two = X[:, :2] + 0.2 * rng.standard_normal((300, 2)) > 0
    return X, np.column_stack([two, two[:, 0] ^ two[:, 1]]).astype(int)


def first_stage(task):
    some = [Candidate(name, RECIPES[name]) for name in ("linear", "neighbours")]
    return fit_candidates(some, task, "auto", 0, judge_nothing)


def test_without_a_second_stage_weights_are_those_of_the_members():
    task = make_task()
    entries = first_stage(task)
    stages = blend_stages(entries, task, "shared", [], 0)
    assert stages.first is None
    assert stages.n_second == 0
    assert stages.entries == entries
    assert len(stages.kept) == stages.mixture.kept.sum()


def test_the_second_stage_reads_the_blend_of_the_first(together, capsys):
    task = make_task(*together)
    seen = []

    def second(P):
        seen.append(P)
        return fit_second(LABELS, task, "auto", judge_nothing, P)

    stages = blend_stages(first_stage(task), task, "shared", [second], 1)
    assert "labels: macro F1" in capsys.readouterr().err
    alone = blend_stages(first_stage(task), task, "shared", [], 0)
    logits = [entry.logits for entry in alone.kept]
    b, *w = alone.mixture.points
    expected = b + sum(wk * z for wk, z in zip(w, logits, strict=True))
    np.testing.assert_allclose(seen[0], expit(expected), atol=1e-12)
    np.testing.assert_array_equal(stages.first, alone.mixture.points)
    assert [entry.name for entry in stages.kept] == [*(e.name for e in alone.kept), "labels"]
    assert stages.mixture.points.shape == (len(stages.kept) + 1,)


def test_a_second_stage_that_adds_nothing_is_dropped():
    task = make_task()
    entries = first_stage(task)
    noise = np.random.default_rng(0).random(task.Y.shape)
    stages = blend_stages(
        entries,
        task,
        "shared",
        [lambda _: fit_second(LABELS, task, "auto", judge_nothing, noise)],
        0,
    )
    assert stages.first is None
    assert stages.n_second == 0
    assert not stages.mixture.kept[-1]
    assert stages.entries[-1].member is not None
    assert stages.mixture.points.shape == (len(stages.kept) + 1,)


def test_members_of_the_second_stage_are_dropped_one_by_one():
    task = make_task()
    noise = np.random.default_rng(0).random(task.Y.shape)
    truth = np.clip(task.Y, 0.2, 0.8)

    def fit(candidate, P):
        return lambda _: fit_second(candidate, task, "auto", judge_nothing, P)

    readers = [fit(LABELS, noise), fit(LABEL_SETS, truth)]
    stages = blend_stages(first_stage(task), task, "shared", readers, 0)
    assert [entry.name for entry in stages.entries[-2:]] == ["labels", "sets"]
    np.testing.assert_array_equal(stages.mixture.kept[-2:], [False, True])
    assert stages.n_second == 1
    assert stages.kept[-1].name == "sets"
    # The weights are those of a second stage of the useful member alone.
    alone = blend_stages(first_stage(task), task, "shared", readers[1:], 0)
    np.testing.assert_allclose(stages.mixture.points, alone.mixture.points, atol=1e-9)


def test_a_member_of_the_second_stage_must_lower_the_log_loss():
    """Few cells draw weights to equal ones, so that a weight alone does not say that it helps."""
    rng = np.random.default_rng(8)
    task = make_task(rng.standard_normal((40, 2)), rng.integers(0, 2, (40, 2)))
    good = np.where(task.Y, 1.0, -1.0) + rng.standard_normal((40, 2))
    other = np.where(task.Y, 1.0, -1.0) + rng.standard_normal((40, 2))
    copies = [0.5 * good + 0.3 * rng.standard_normal((40, 2)) for _ in range(2)]
    every = [good, other, *copies]
    assert kept_members(fit_points(every, task, "shared")[1:]).all()
    rises = added_by(every, task, "shared", start=1) * task.Y.size
    assert rises[0] > ENOUGH
    assert (rises[1:] < ENOUGH).all()
    used, points = _weigh_second([good], every[1:], task, "shared")
    np.testing.assert_array_equal(used, [True, False, False])
    np.testing.assert_array_equal(points, fit_points([good, other], task, "shared"))
    used, points = _weigh_second([good], copies, task, "shared")
    assert not used.any()
    assert points is None
    used, _ = _weigh_second([good], copies, task, "equal")
    assert used.all()


def test_useless_members_are_dropped_one_after_the_other():
    """Two members with the same news: without the other, each of them is needed."""
    rng = np.random.default_rng(0)
    task = make_task(rng.standard_normal((60, 2)), rng.integers(0, 2, (60, 2)))
    good = np.where(task.Y, 1.0, -1.0) + rng.standard_normal((60, 2))
    news = np.where(task.Y, 1.0, -1.0) + rng.standard_normal((60, 2))
    twins = [news, news + 0.01 * rng.standard_normal((60, 2))]
    rises = added_by([good, *twins], task, "shared", start=1) * task.Y.size
    assert (rises < ENOUGH).all()
    used, _ = _weigh_second([good], twins, task, "shared")
    assert used.sum() == 1


def test_samples_without_held_out_scores_leave_it_out():
    task = make_task()
    P = np.full(task.Y.shape, 0.5)
    P[0] = np.nan
    entry = fit_second(LABELS, task, "auto", judge_nothing, P)
    assert entry.member is None
    assert entry.reason == "not fitted: it needs held-out scores of all samples"
    stages = blend_stages(first_stage(task), task, "shared", [lambda _: entry], 0)
    assert stages.first is None
    assert stages.entries[-1] is entry


def test_log_odds_are_passed_on_in_order():
    z = [np.array([[1.0, 2.0]]), np.array([[3.0, -1.0]])]
    points = np.array([[0.5, 1.0, 2.0], [0.0, -1.0, 1.0]])
    found = list(read_stages(iter(z), points, [lambda P: P, lambda P: -P]))
    np.testing.assert_array_equal(found[0], z[0])
    np.testing.assert_array_equal(found[1], z[1])
    expected = expit(np.array([[0.5 + 1 + 6, 0 - 2 - 1]]))
    np.testing.assert_allclose(found[2], expected, atol=1e-12)
    np.testing.assert_allclose(found[3], -expected, atol=1e-12)


@pytest.mark.parametrize("weights", ["shared", "by_label"])
def test_predictions_of_both_stages(together, weights, tmp_path):
    X, Y = together
    model = MultilabelBlend(["linear", "labels"], weights=weights, random_state=0).fit(X, Y)
    assert list(model.members_) == ["linear", "labels"]
    new = X[:9] + 0.1
    z = log_odds(
        model.member_calibrations_["linear"].probabilities(
            model.members_["linear"].decision_function(new)
        )
    )
    # By two members, one of which reads the other: P = sigmoid(b + w z) goes into the trees.
    first = model._first
    P = expit(first[..., 0] + first[..., 1] * z)
    forest = model.members_["labels"].decision_function(P)
    z2 = log_odds(model.member_calibrations_["labels"].probabilities(forest))
    w = model.weights_
    expected = model.intercept_ + w[..., 0] * z + w[..., 1] * z2
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-10)
    assert list(model.member_log_odds(new)) == ["linear", "labels"]
    path = tmp_path / "model.eigenlabel"
    save_model(model, path)
    np.testing.assert_array_equal(load_model(path).model.predict(new), model.predict(new))


def test_labels_that_go_together_are_learned(together):
    X, Y = together
    both = MultilabelBlend(["linear", "labels"], random_state=0).fit(X, Y)
    board = {row["name"]: row for row in both.leaderboard_}
    # No linear model of X knows the third label, but the probabilities of the others show it.
    assert board["labels"]["adds"] > 0.1
    assert board["blend"]["log_loss"] < board["linear"]["log_loss"] - 0.1


def test_predictions_of_two_members_of_the_second_stage(together, tmp_path):
    X, Y = together
    names = ["linear", "labels", "sets"]
    model = MultilabelBlend(names, weights="equal", random_state=0).fit(X, Y)  # drops none
    assert list(model.members_) == names
    new = X[:9] + 0.1
    found = model.member_log_odds(new)
    first = model._first
    P = expit(first[0] + first[1] * found["linear"])
    for name in names[1:]:  # both read the blend of the first stage
        scores = model.members_[name].decision_function(P)
        expected = log_odds(model.member_calibrations_[name].probabilities(scores))
        np.testing.assert_allclose(found[name], expected, atol=1e-10)
    total = model.intercept_ + sum(
        w * z for w, z in zip(model.weights_, found.values(), strict=True)
    )
    np.testing.assert_allclose(model.decision_function(new), total, atol=1e-10)
    path = tmp_path / "model.eigenlabel"
    save_model(model, path)
    np.testing.assert_array_equal(load_model(path).model.predict(new), model.predict(new))


def test_it_needs_another_member():
    data = make_shared_subspace(60, 4, 3, random_state=0)
    with pytest.raises(ValueError, match="'labels' and 'sets' read the probabilities of other"):
        MultilabelBlend(["labels", "sets"]).fit(data.X, data.Y)
    with pytest.raises(ValueError, match="'labels' reads the probabilities of other members"):
        MultilabelBlend(["labels"]).fit(data.X, data.Y)
