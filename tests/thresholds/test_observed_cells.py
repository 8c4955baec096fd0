"""Thresholds of labels that are not observed on every sample."""

import numpy as np
import pytest

from eigenlabel import metrics
from eigenlabel.thresholds import RULES, Between, Mixed, Top, Zero, get_rule


def blank(Y, M):
    return np.where(M, Y, np.nan)


@pytest.fixture
def table(rng):
    """True labels with NaN and tied scores; one sample and one label are never observed."""
    Y = (rng.random((30, 6)) < 0.4).astype(float)
    M = rng.random((30, 6)) < 0.6
    M[4], M[:, 3] = False, False
    return blank(Y, M), np.round(rng.standard_normal((30, 6)) + Y, 1)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["f1", "fbr", "proportional"])
def test_thresholds_of_a_label_are_those_of_its_samples(name, table, rng, weighted):
    Y, scores = table
    w = rng.uniform(0.5, 2, len(Y)) if weighted else None
    found = get_rule(name).fit(scores, Y, w)
    for j in range(6):
        o = ~np.isnan(Y[:, j])
        part = None if w is None else w[o]
        if o.any():
            expected = get_rule(name).fit(scores[o, j : j + 1], Y[o, j : j + 1], part)
            assert found[j] == expected[0]
    assert found[3] == np.inf


@pytest.mark.parametrize("weighted", [False, True])
def test_the_common_threshold_is_that_of_all_observed_cells(table, rng, weighted):
    Y, scores = table
    o = ~np.isnan(Y)
    w = rng.uniform(0.5, 2, Y.shape[0]) if weighted else None
    cells = None if w is None else np.repeat(w[:, None], 6, axis=1)[o]
    expected = get_rule("global").fit(scores[o][:, None], Y[o][:, None], cells)[0]
    np.testing.assert_array_equal(
        get_rule("global").fit(scores, Y, w), np.where(o.any(axis=0), expected, np.inf)
    )


def test_mixed_thresholds_leave_no_label_anything_to_gain(table):
    Y, scores = table
    rule = Mixed(weight=0.6)

    def value(t):
        decided = scores > t
        return 0.6 * metrics.f1_macro(Y, decided) + 0.4 * metrics.f1_micro(Y, decided)

    found = rule.fit(scores, Y)
    for j in (0, 1, 2, 4, 5):
        for cut in (-np.inf, *scores[:, j]):
            t = found.copy()
            t[j] = cut
            assert value(t) <= value(found) + 1e-12


@pytest.mark.parametrize("name", list(RULES))
def test_a_mask_of_whole_samples_leaves_the_thresholds_of_the_others(name, table, rng):
    _, scores = table
    Y, rows = rng.random((30, 6)) < 0.4, np.arange(30) % 4 > 0
    found = get_rule(name).fit(scores, blank(Y, np.repeat(rows[:, None], 6, axis=1)))
    np.testing.assert_array_equal(found, get_rule(name).fit(scores[rows], Y[rows]))


def test_cells_that_are_not_observed_are_not_positives(rng):
    scores, observed = rng.standard_normal((1, 2, 20)), rng.random((2, 20)) < 0.5
    truth = rng.random((2, 20)) < 0.5
    for rule in (Top(1) if name == "top" else rule for name, rule in RULES.items()):
        a, b = (rule.fit_observed(scores, t, None, observed) for t in (truth, truth | ~observed))
        np.testing.assert_array_equal(a, b)


def test_a_rule_without_cuts_knows_what_is_never_observed(table):
    Y, scores = table
    np.testing.assert_array_equal(Zero().fit(scores, Y), [0, 0, 0, np.inf, 0, 0])


@pytest.mark.parametrize("rule", [Top(2), Between(2, 3), Between(2), Between(0, 2)])
def test_rules_that_rank_labels_leave_out_what_is_never_observed(table, rule):
    Y, scores = table
    P = 1 / (1 + np.exp(-scores))
    known = [0, 1, 2, 4, 5]
    found = rule.decide(P, rule.fit(P, Y))
    assert not found[:, 3].any()
    expected = rule.decide(P[:, known], rule.fit(P[:, known], Y[:, known]))
    np.testing.assert_array_equal(found[:, known], expected)


@pytest.mark.filterwarnings("ignore:Top")
def test_all_observed_labels_may_be_fewer_than_wanted(table):
    Y, scores = table
    found = Top(9).decide(scores, Top(9).fit(scores, Y))
    np.testing.assert_array_equal(found, np.tile(np.arange(6) != 3, (len(Y), 1)))
