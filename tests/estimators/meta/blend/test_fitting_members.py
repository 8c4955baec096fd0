import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import RidgeClassifier

from blend_tasks import judge_nothing, make_task
from eigenlabel.estimators.meta.blend import fitting_members as module
from eigenlabel.estimators.meta.blend import forest as forest_module
from eigenlabel.estimators.meta.blend.apart import Apart
from eigenlabel.estimators.meta.blend.budget import Budget
from eigenlabel.estimators.meta.blend.fitting_members import fit_candidates
from eigenlabel.estimators.meta.blend.members import RECIPES, Candidate


class Failing(ClassifierMixin, BaseEstimator):
    """A classifier that cannot be fitted."""

    def fit(self, X, y):  # noqa: ARG002
        raise RuntimeError("out of luck")

    def decision_function(self, X):
        return np.zeros(len(X))


class Stopping(Failing):
    """A classifier during whose fit the user presses Ctrl-C."""

    def fit(self, X, y):  # noqa: ARG002
        raise KeyboardInterrupt


class Hanging(RidgeClassifier):
    """A classifier whose fit takes too long."""

    def fit(self, X, y):  # noqa: ARG002
        time.sleep(600)


class Unpicklable(RidgeClassifier):
    """A classifier that cannot be sent to another process."""

    def __reduce__(self):
        return threading.Lock().__reduce_ex__(2)


def fit_all(candidates, task, verbose=0):
    return fit_candidates(candidates, task, "auto", verbose, judge_nothing)


def own(name):
    return Candidate(name, RECIPES[name])


RIDGE = Candidate("ridge", None, RidgeClassifier())


def test_candidates_are_fitted_in_order():
    entries = fit_all([own("linear"), own("neighbours"), RIDGE], make_task())
    assert [entry.name for entry in entries] == ["linear", "neighbours", "ridge"]
    assert all(entry.member is not None and entry.seconds > 0 for entry in entries)
    assert all(entry.logits.shape == (90, 4) for entry in entries)


def test_a_member_that_fails_is_reported_and_left_out():
    with pytest.warns(UserWarning, match="Member 'bad' .* RuntimeError: out of luck"):
        entries = fit_all([Candidate("bad", None, Failing()), RIDGE], make_task())
    assert entries[0].member is None
    assert "out of luck" in entries[0].reason
    assert entries[1].member is not None


@pytest.mark.filterwarnings("ignore:Member")
def test_if_all_fail_the_error_names_the_reasons():
    bad = [Candidate(name, None, Failing()) for name in ("one", "two")]
    with pytest.raises(ValueError, match=r"'one' failed: .*out of luck; 'two' failed"):
        fit_all(bad, make_task())


def test_an_interruption_is_not_a_failure():
    with pytest.raises(KeyboardInterrupt):
        fit_all([Candidate("stop", None, Stopping())], make_task())


def test_a_budget_too_small_for_any_member_returns_the_linear_model():
    task = make_task(seconds=1e-5)
    with pytest.warns(UserWarning, match=r"time_budget=1e-05 s is too short for any member"):
        entries = fit_all([own("linear"), own("forest"), RIDGE], task)
    assert entries[0].member is not None
    assert [e.reason for e in entries[1:]] == [
        "not fitted: no time left of time_budget=1e-05 s"
    ] * 2


def test_without_a_linear_member_it_is_the_last_resort():
    with pytest.warns(UserWarning, match="The blend is the linear model alone"):
        entries = fit_all([RIDGE, own("forest")], make_task(seconds=1e-5))
    assert [entry.name for entry in entries] == ["ridge", "forest", "linear"]
    assert [entry.member is not None for entry in entries] == [False, False, True]


def test_expensive_members_are_left_out_and_cheap_ones_fitted():
    task = make_task(seconds=60.0)
    slow = module.RECIPES["forest"]
    costly = Candidate("forest", type(slow)(slow.make, lambda _: 1e5, 1.0, slow.suits))
    entries = fit_all([own("linear"), costly, own("neighbours")], task)
    assert [entry.member is not None for entry in entries] == [True, False, True]
    assert "s left of time_budget=60 s" in entries[1].reason
    assert task.budget.factor != 1.0 or entries[0].seconds < 1e-2


def test_scores_that_do_not_fit_in_memory_bound_the_members(monkeypatch):
    monkeypatch.setattr(module, "memory_limit", lambda: 8 * 4 * (module.ARRAYS * 90 + 1.5 * 96))
    with pytest.warns(
        UserWarning, match=r"2 arrays of 90 x 4 and 6 x 4 numbers.* at most 1 members"
    ):
        entries = fit_all([own("linear"), own("neighbours")], make_task())
    assert entries[1].reason == "not fitted: no memory for the scores of more than 1 members"


def test_progress_on_request(capsys):
    fit_all([own("linear"), own("neighbours")], make_task(), verbose=1)
    shown = capsys.readouterr()
    for name in ("linear", "neighbours"):
        assert f"{name}: macro F1 94.000, micro F1 94.000" in shown.err
    assert "log-loss 94.000 held out, 0." in shown.err
    assert shown.out == ""


def test_scores_that_are_all_nan_are_a_failure():
    class Odd(RidgeClassifier):
        def decision_function(self, X):
            return np.full((len(X), 4), np.nan)

    with pytest.warns(UserWarning, match="Member 'odd'"):
        entries = fit_all([Candidate("odd", None, Odd()), RIDGE], make_task())
    assert "its held-out scores are all NaN" in entries[0].reason


class Clock:
    """A clock that moves when it is told to."""

    now = 0.0

    def __call__(self):
        return self.now


def with_clock(task, seconds):
    clock = Clock()
    return replace(task, budget=Budget(seconds, clock)), clock


def test_a_forest_stops_growing_when_half_of_the_time_is_over(monkeypatch):
    task, clock = with_clock(make_task(), 10.0)
    real = forest_module._grow

    def grow(*arguments):
        clock.now += 0.1
        return real(*arguments)

    monkeypatch.setattr(forest_module, "_grow", grow)
    entries = fit_all([own("forest")], task)
    member = entries[0].member
    assert len(member.estimator.trees_.roots) == 40  # 4 of 4.5 seconds, another batch takes 1
    assert member.note == "40 trees, time was short"
    assert entries[0].seconds == pytest.approx(4.0)


def test_members_that_leave_doubt_run_where_they_can_be_ended(monkeypatch):
    task, _ = with_clock(make_task(), 10.0)
    apart = []

    def call(_, function, arguments, seconds):
        apart.append((arguments[0].name, seconds))
        return function(*arguments)

    monkeypatch.setattr(Apart, "call", call)
    slow = RECIPES["neighbours"]
    doubtful = Candidate("neighbours", type(slow)(slow.make, lambda _: 3.0, 1.0, slow.suits))
    entries = fit_all([own("linear"), RIDGE, doubtful, own("margin")], task)
    assert apart == [("ridge", pytest.approx(9.0)), ("neighbours", pytest.approx(9.0))]
    assert [entry.member is not None for entry in entries[:3]] == [True] * 3
    plain = fit_all([RIDGE], make_task())[0]
    np.testing.assert_allclose(entries[1].logits, plain.logits, atol=1e-12)


def test_a_member_of_the_user_that_hangs_is_ended():
    task = make_task(seconds=3.0)
    with pytest.warns(UserWarning, match=r"time_budget=3 s is too short for any member but"):
        entries = fit_all([own("linear"), Candidate("slow", None, Hanging())], task)
    assert entries[0].member is not None
    assert entries[1].member is None
    assert entries[1].reason.startswith("stopped: ended after ")


def test_a_member_that_cannot_travel_is_fitted_in_place():
    entries = fit_all([Candidate("odd", None, Unpicklable())], make_task(seconds=60.0))
    assert entries[0].member is not None


def test_time_for_the_end_follows_the_calibration():
    task, clock = with_clock(make_task(), 10.0)

    def slow_judge(logits, P):
        clock.now += 4.0
        return judge_nothing(logits, P)

    with pytest.warns(UserWarning, match=r"any member but the linear model, which took 4 s"):
        entries = fit_candidates([own("linear"), own("neighbours")], task, "auto", 0, slow_judge)
    assert task.budget.closing == pytest.approx(8.0)  # as much as two members
    assert task.budget.left() < 0
    assert entries[1].reason == "not fitted: no time left of time_budget=10 s"
