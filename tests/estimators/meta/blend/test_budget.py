import math

import pytest

from eigenlabel.estimators.meta.blend.budget import Budget, OutOfTimeError


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_without_a_limit_there_is_always_time():
    budget = Budget(None, Clock())
    assert budget.left() == math.inf
    assert budget.why_not(1e9) == ""
    budget.check(0.0, 1, 1000)


def test_a_tenth_is_reserved_for_the_end():
    clock = Clock()
    budget = Budget(10.0, clock)
    assert budget.left() == pytest.approx(9.0)
    clock.now += 4
    assert budget.left() == pytest.approx(5.0)


def test_a_member_that_does_not_fit_is_refused_with_both_numbers():
    clock = Clock()
    budget = Budget(10.0, clock)
    assert budget.why_not(8.9) == ""
    assert budget.why_not(None) == ""
    assert budget.why_not(20.0) == "about 20 s needed, 9 s left of time_budget=10 s"
    clock.now += 9.5
    assert budget.why_not(None) == "no time left of time_budget=10 s"


def test_measurements_correct_predictions():
    budget = Budget(10.0, Clock())
    budget.learn(1.0, 4.0)
    assert budget.factor == pytest.approx(2.0)  # the root of 4: half of the way
    assert budget.why_not(5.0) != ""
    budget.learn(None, 4.0)
    budget.learn(1.0, 0.001)  # too short to say anything
    assert budget.factor == pytest.approx(2.0)


def test_a_member_stops_if_its_folds_take_too_long():
    clock = Clock()
    budget = Budget(10.0, clock)
    clock.now += 1
    budget.check(100.0, 1, 6)
    clock.now += 2
    with pytest.raises(OutOfTimeError, match=r"about 15 s more needed after 3 s, 6 s left"):
        budget.check(100.0, 1, 6)


def test_the_end_is_given_as_much_time_as_it_is_expected_to_take():
    budget = Budget(10.0, Clock())
    budget.expect_end(0.2)
    assert budget.left() == pytest.approx(9.0)
    budget.expect_end(2.0)
    assert budget.left() == pytest.approx(6.0)
    budget.expect_end(0.1)
    assert budget.left() == pytest.approx(6.0)


def test_members_are_sure_if_four_of_them_fit():
    budget = Budget(10.0, Clock())
    assert budget.is_sure(2.2)
    assert not budget.is_sure(2.3)
    assert not budget.is_sure(None)
    assert Budget(None, Clock()).is_sure(None)
    budget.factor = 2.0
    assert not budget.is_sure(2.2)


def test_repeated_steps_go_on_while_another_batch_fits():
    clock = Clock()
    go_on = Budget(10.0, clock).share(0.5)  # 4.5 s
    clock.now += 2.0
    assert go_on(10)  # ten more take 2 s
    clock.now += 0.5
    assert not go_on(10)
    assert go_on(20)
