import numpy as np
import pytest
from scipy.special import expit

from blend_tasks import make_task
from eigenlabel.estimators.meta.blend.blending import fit_mixture
from eigenlabel.estimators.meta.blend.fitting_members import MemberEntry, fit_candidates
from eigenlabel.estimators.meta.blend.leaderboard import measure
from eigenlabel.estimators.meta.blend.leaderboard_rows import HeldOutJudge, rank_members
from eigenlabel.estimators.meta.blend.members import RECIPES, Candidate
from eigenlabel.thresholds import Costs, Mixed, get_rule


@pytest.fixture(scope="module")
def task():
    return make_task()


def test_thresholds_are_those_of_the_rule(task, rng):
    z = rng.standard_normal(task.Y.shape)
    judge = HeldOutJudge(task, Mixed())
    expected = Mixed().find_thresholds(z, task.Y)
    np.testing.assert_array_equal(judge.thresholds(z, expit(z)), expected)
    np.testing.assert_array_equal(judge.decisions(z, expit(z)), z > expected)


def test_rules_on_probabilities_read_them(task, rng):
    z = rng.standard_normal(task.Y.shape)
    rule = Costs(miss=3.0)
    decisions = HeldOutJudge(task, rule).decisions(z, expit(z))
    np.testing.assert_array_equal(decisions, rule.decide(expit(z), rule.fit(expit(z), task.Y)))


def test_classes_are_decided_by_the_highest_score(rng):
    y = np.array(list("abc") * 10)
    task = make_task(rng.standard_normal((30, 2)), y)
    z = rng.standard_normal((30, 3))
    found = HeldOutJudge(task, get_rule("mixed")).decisions(z, expit(z))
    np.testing.assert_array_equal(found, np.eye(3, dtype=bool)[z.argmax(axis=1)])


def test_the_blend_is_first_then_members_by_weight_then_those_left_out(task):
    names = ("linear", "neighbours", "forest")
    judge = HeldOutJudge(task, Mixed())
    candidates = [Candidate(n, RECIPES[n]) for n in names]
    entries = fit_candidates(candidates, task, "auto", 0, judge.figures)
    mixture = fit_mixture([entry.logits for entry in entries], task, "shared")
    kept = [entry.logits for entry, use in zip(entries, mixture.kept, strict=True) if use]
    scores = mixture.scores(kept)
    left_out = MemberEntry("bad", 0.5, reason="failed: of course")
    added, figures = np.arange(len(kept)) / 10, judge.figures(scores, expit(scores))
    board = rank_members([left_out, *entries], mixture, added, figures, 7.0)
    assert board[0]["name"] == "blend"
    assert board[0]["seconds"] == 7.0
    weights = [row["weight"] for row in board[1:4]]
    assert weights == sorted(weights, reverse=True)
    assert sum(weights) == pytest.approx(board[0]["weight"])
    assert board[4]["name"] == "bad"
    assert board[4]["status"] == "failed: of course"
    used = [e.name for e, use in zip(entries, mixture.kept, strict=True) if use]
    by_name = {row["name"]: row for row in board}
    assert [by_name[name]["adds"] for name in used] == added.tolist()
    for row in board[1:4]:
        assert np.isnan(row["adds"]) == (row["weight"] == 0)
        assert (row["status"] == "blended") == (row["weight"] > 0)
    z = entries[0].logits
    row = next(row for row in board if row["name"] == "linear")
    expected = measure(task.Y, None, judge.decisions(z, expit(z)), expit(z), None)
    assert {key: row[key] for key in expected} == pytest.approx(expected)
