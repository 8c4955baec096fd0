import itertools

import numpy as np
import pytest
import skops.io
from hypothesis import given
from hypothesis import strategies as st

import naive
from eigenlabel.persistence.types import TRUSTED
from eigenlabel.thresholds import (
    PROBABILITY_RULES,
    RULES,
    Between,
    Costs,
    ExpectedF1,
    RiskControl,
    get_rule,
)
from eigenlabel.thresholds import probability_rules as module
from eigenlabel.thresholds.probability_rules import expected_f1

P = np.array([[0.9, 0.6, 0.2, 0.1], [0.3, 0.3, 0.1, 0.0], [0.8, 0.9, 0.7, 0.6]])
Y = np.array([[1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1]])


def decide(rule, P, Y=Y):
    return rule.decide(P, rule.fit(P, Y))


@pytest.mark.parametrize("zero_division", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("m", [1, 2, 5, 7])
def test_expected_f1_is_the_best_of_all_label_sets(m, zero_division, rng):
    P = rng.random((12, m)) ** rng.choice([0.3, 1, 4], (12, 1))
    P[0], P[1] = 0.0, 1.0
    P[2] = 0.5  # ties
    decided = decide(ExpectedF1(zero_division), P, np.zeros(P.shape))
    for p, chosen in zip(P, decided, strict=True):
        best = max(
            naive.expected_f1(p, each, zero_division)
            for each in itertools.product((0, 1), repeat=m)
        )
        assert naive.expected_f1(p, chosen, zero_division) == pytest.approx(best, rel=1e-11)


def test_expected_f1_of_each_number_of_labels(rng):
    P = -np.sort(-rng.random((5, 6)), axis=1)
    found = expected_f1(P, 0.3)
    for p, values in zip(P, found, strict=True):
        for k, value in enumerate(values):
            chosen = np.arange(6) < k
            assert value == pytest.approx(naive.expected_f1(p, chosen, 0.3), rel=1e-12)


def by_recursion(p):
    """Return the expected F1 of the k most probable labels by the recursion of Ye et al. (2012)."""
    p = -np.sort(-p)
    m = len(p)
    inverse = [1 / i if i else 0.0 for i in range(2 * m + 1)]  # of k + hits + the positives left
    found = np.zeros(m + 1)
    hits = [np.ones(1)]
    for q in p:
        hits.append(np.convolve(hits[-1], [1 - q, q]))
    for k in range(m, 0, -1):
        found[k] = sum(2 * a * hits[k][a] * inverse[k + a] for a in range(1, k + 1))
        q = p[k - 1]
        inverse = [(1 - q) * s + q * t for s, t in itertools.pairwise(inverse)]
    return found


@pytest.mark.parametrize(("m", "mean"), [(40, 1.0), (150, 3.0), (150, 60.0), (400, 25.0)])
def test_few_nodes_are_exact_up_to_rounding(m, mean, rng):
    P = rng.random((3, m)) ** 6
    P = np.minimum(P * mean / P.sum(axis=1, keepdims=True), 1.0)
    found = expected_f1(P)
    for p, values in zip(P, found, strict=True):
        expected = by_recursion(p)
        np.testing.assert_allclose(values, expected[: len(values)], rtol=1e-10, atol=1e-14)
        assert expected.max() == pytest.approx(values.max(), rel=1e-12)  # none left out is better


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_numbers_that_are_left_out_are_not_better(p):
    p = np.array(p)
    assert expected_f1(p[None]).max() == pytest.approx(by_recursion(p).max(), rel=1e-9, abs=1e-300)


def test_blocks_of_samples_change_nothing(rng, monkeypatch):
    P = rng.random((50, 6)) ** 3
    whole = decide(ExpectedF1(), P, np.zeros(P.shape))
    monkeypatch.setattr("eigenlabel.linalg.operators.BLOCK_BYTES", 8 * module.ARRAYS * 6 * 7)
    np.testing.assert_array_equal(decide(ExpectedF1(), P, np.zeros(P.shape)), whole)


def test_of_equally_good_sets_the_smaller_one_with_the_first_labels():
    # One of two labels that are certain to be absent or present alike: ties go to the first.
    assert decide(ExpectedF1(), np.array([[0.0, 0.0]]), np.zeros((1, 2))).sum() == 0
    found = decide(ExpectedF1(), np.array([[0.2, 0.9, 0.9, 0.2]]), np.zeros((1, 4)))
    np.testing.assert_array_equal(found, [[False, True, True, False]])


def test_expected_f1_of_float32(rng):
    P = rng.random((20, 5))
    np.testing.assert_array_equal(
        decide(ExpectedF1(), P.astype(np.float32), np.zeros(P.shape)),
        decide(ExpectedF1(), P.astype(np.float32).astype(float), np.zeros(P.shape)),
    )


def test_costs_are_compared(rng):
    P = rng.random((30, 4))
    miss, alarm = (1.0, 2.0, 5.0, 0.0), (1.0, 0.0, 1.0, 3.0)
    found = decide(Costs(miss, alarm), P, np.zeros(P.shape))
    np.testing.assert_array_equal(found, np.array(miss) * P > np.array(alarm) * (1 - P))
    np.testing.assert_array_equal(decide(Costs(3.0, 1.0), P, np.zeros(P.shape)), P > 0.25)
    np.testing.assert_array_equal(decide(Costs(), P, np.zeros(P.shape)), P > 0.5)


def test_tiny_and_huge_costs():
    for size in (1e-310, 1e140):
        np.testing.assert_allclose(Costs(3 * size, size).fit(P, Y), 0.25, rtol=1e-8)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (Between(), [[1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 1, 1]]),
        (Between(0, 2), [[1, 1, 0, 0], [0, 0, 0, 0], [1, 1, 0, 0]]),
        (Between(3, 3), [[1, 1, 1, 0], [1, 1, 1, 0], [1, 1, 1, 0]]),
        (Between(0, threshold=0.15), [[1, 1, 1, 0], [1, 1, 0, 0], [1, 1, 1, 1]]),
        (Between(9), [[1, 1, 1, 1]] * 3),
        (Between(0, 0), [[0, 0, 0, 0]] * 3),
    ],
)
def test_numbers_of_labels(rule, expected):
    np.testing.assert_array_equal(decide(rule, P), np.array(expected, dtype=bool))


@pytest.mark.parametrize("rule", [*PROBABILITY_RULES.values(), Costs((1.0, 2.0, 3.0, 4.0), 1.0)])
def test_labels_that_are_never_observed_have_infinite_thresholds(rule):
    hidden = Y.astype(float)
    hidden[:, 1] = np.nan
    hidden[0, 0] = np.nan
    thresholds = rule.fit(P, hidden)
    known = [0, 2, 3]
    assert thresholds[1] == np.inf
    np.testing.assert_array_equal(thresholds[known], rule.fit(P, Y)[known])
    decided = rule.decide(P, thresholds)
    assert not decided[:, 1].any()
    if isinstance(rule, Between):  # as if the label did not exist
        plain = rule.decide(P[:, known], rule.fit(P[:, known], Y[:, known]))
        np.testing.assert_array_equal(decided[:, known], plain)


def test_rules_by_name():
    assert get_rule("expected_f1") == ExpectedF1()
    assert get_rule("costs") == Costs()
    assert get_rule("between") == Between()
    assert {rule.reads for rule in PROBABILITY_RULES.values()} == {"probabilities"}
    assert {rule.reads for rule in RULES.values()} == {"scores"}
    assert all(rule.name == name for name, rule in PROBABILITY_RULES.items())
    with pytest.raises(ValueError, match="'mixed', 'expected_f1', 'costs', 'between'"):
        get_rule("best")


@pytest.mark.parametrize("rule", PROBABILITY_RULES.values())
def test_scores_are_no_probabilities(rule):
    for bad in (1.5, -0.1):
        with pytest.raises(ValueError, match=f"between 0 and 1, found {bad}.*predict_proba"):
            rule.fit(np.array([[0.5, bad]]), np.array([[0, 1]]))
    if not isinstance(rule, Costs):
        with pytest.raises(ValueError, match="between 0 and 1, found nan"):
            rule.decide(np.array([[0.5, np.nan]]), np.zeros(2))


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (Costs(-1.0), "miss must be a number >= 0"),
        (Costs((1.0, 2.0)), "miss has shape .2,.*4"),
        (Costs(1.0, (1.0, 1.0, 1.0, 1.0, 1.0)), "alarm has shape"),
        (Costs(0.0, 0.0), "both 0 for label 0"),
        (Costs((1.0, 1.0, 0.0, 1.0), (1.0, 1.0, 0.0, 1.0)), "both 0 for label 2"),
        (Between(-1), "least must be an integer >= 0"),
        (Between(3, 2), "most must be an integer >= 3"),
        (Between(0, threshold=2.0), "threshold must be a number between 0 and 1"),
        (ExpectedF1(2.0), "zero_division must be a number between 0 and 1"),
    ],
)
def test_settings_are_checked(rule, message):
    with pytest.raises(ValueError, match=message):
        rule.fit(P, Y)


@pytest.mark.parametrize(
    "rule", [*PROBABILITY_RULES.values(), Costs((1.0, 2.0), 3.0), RiskControl(recall=0.9)]
)
def test_rules_can_be_saved(rule):
    assert skops.io.loads(skops.io.dumps(rule), trusted=sorted(TRUSTED)) == rule


def test_probabilities_are_not_modified():
    copy = P.copy()
    for rule in PROBABILITY_RULES.values():
        rule.decide(P, np.full(4, np.inf))
    np.testing.assert_array_equal(P, copy)
