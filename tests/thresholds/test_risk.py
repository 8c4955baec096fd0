import math

import numpy as np
import pytest

import naive
from eigenlabel.thresholds import RiskControl, fit_calibration, risk
from eigenlabel.thresholds.risk import (
    CUTS,
    STARTS,
    bound_false_discovery,
    bound_precision,
    bound_recall,
    hoeffding_bentkus,
    mean_losses,
    missed_labels,
    wrong_labels,
)

DRAWS = 1000


def draw(rng, n, m=6, power=1.5):
    """Draw probabilities, which are wrong, and labels; some samples have none."""
    truth = rng.beta(0.5, 1.5, (n, m))
    return truth**power, rng.random((n, m)) < truth


@pytest.fixture(params=["all", "observed", "tied"])
def problem(request, rng):
    P, Y = draw(rng, 60)
    observed = np.ones(Y.shape, dtype=bool)
    if request.param == "observed":
        observed = rng.random(Y.shape) < 0.5
        observed[:4] = False
        Y &= observed
    if request.param == "tied":
        P = np.round(P, 1)
    return P, Y, observed


def fit(rule, problem):
    P, Y, observed = problem
    return rule.fit(P, np.where(observed, Y, np.nan))


def test_p_values_are_those_of_the_definition(rng):
    for bound in (0.05, 0.3, 0.9):
        for n in (1, 7, 60):
            for losses in (np.zeros(n), np.ones(n), rng.random(n), rng.integers(0, 2, n) / 1.0):
                found = hoeffding_bentkus(losses.mean(), n, bound)
                assert found == pytest.approx(naive.p_value(losses, bound), rel=1e-9)


def test_p_values_of_bounds_that_always_or_never_hold():
    risk = np.array([0.0, 0.5, 1.0])
    np.testing.assert_array_equal(hoeffding_bentkus(risk, 10, 0.0), 1)
    np.testing.assert_array_equal(hoeffding_bentkus(risk, 10, 1.0), 0)
    np.testing.assert_array_equal(hoeffding_bentkus(risk, np.zeros(3), 0.5), 1)


def test_p_values_are_valid(rng):
    for bound in (0.1, 0.5):
        means = rng.binomial(30, bound, 20_000) / 30  # losses of mean ``bound``
        p = hoeffding_bentkus(means, 30, bound)
        for level in (0.01, 0.1, 0.3):
            assert np.mean(p <= level) <= level + 3 * math.sqrt(level / 20_000)


def test_losses_of_all_cuts(problem, monkeypatch):
    P, Y, observed = problem
    some = observed.any(axis=1)
    hidden = np.where(observed, P, -np.inf)[some].T
    monkeypatch.setattr("eigenlabel.linalg.operators.BLOCK_BYTES", 8 * (18 + 6 * len(CUTS)) * 9)
    missed, share = mean_losses(hidden, Y[some].T, missed_labels)
    wrong, _ = mean_losses(hidden, Y[some].T, wrong_labels)
    for c in range(0, len(CUTS), 10):
        a, b, any_ = naive.losses(P, Y, observed, CUTS[c])
        assert missed[c] == pytest.approx(np.mean(a), rel=1e-12)
        assert wrong[c] == pytest.approx(np.mean(b), rel=1e-12)
        assert share[c] == len(any_) / some.sum()


@pytest.mark.parametrize("recall", [0.0, 0.5, 0.8, 0.9, 0.95])
def test_conformal_recall_has_the_highest_cut(problem, recall):
    P, Y, observed = problem
    cut = fit(RiskControl(recall=recall), problem)[0]
    n = observed.any(axis=1).sum()

    def fine(t):
        missed = naive.losses(P, Y, observed, t)[0]
        return (sum(missed) + 1) / (n + 1) <= 1 - recall + 1e-12

    values = np.unique(P[observed])
    middles = [-np.inf, *(values[1:] / 2 + values[:-1] / 2), np.inf]
    best = max(t for t in middles if fine(t))
    np.testing.assert_array_equal(P[observed] > cut, P[observed] > best)
    assert cut == pytest.approx(best, rel=1e-12)


def in_sequence(cuts, losses, bound, level):
    """Return the last cut before the first one that is not accepted."""
    found = None
    for cut in cuts:
        if naive.p_value(losses(cut), bound) > level:
            break
        found = cut
    return found


@pytest.mark.parametrize("confidence", [0.5, 0.9])
def test_cuts_are_tested_in_sequence(problem, confidence):
    P, Y, observed = problem
    for kind, which, cuts, safe in (
        ("recall", 0, CUTS, -np.inf),
        ("false_discovery", 1, CUTS[::-1], np.inf),
    ):
        for bound in (0.2, 0.4):
            given = 1 - bound if kind == "recall" else bound
            expected = in_sequence(
                cuts,
                lambda cut, which=which: naive.losses(P, Y, observed, cut)[which],
                bound,
                1 - confidence,
            )
            rule = RiskControl(**{kind: given}, confidence=confidence)
            if expected is None:
                with pytest.warns(UserWarning, match="No cut keeps"):
                    found = fit(rule, problem)[0]
            else:
                found = fit(rule, problem)[0]
            assert found == (safe if expected is None else expected)


def test_precision_is_tested_from_several_starts(problem):
    P, Y, observed = problem
    for bound in (0.4, 0.6):
        found = [
            in_sequence(
                CUTS[start::-1],
                lambda cut: naive.losses(P, Y, observed, cut)[2],
                bound,
                0.2 / len(STARTS),
            )
            for start in STARTS
        ]
        expected = min((cut for cut in found if cut is not None), default=np.inf)
        rule = RiskControl(precision=1 - bound, confidence=0.8)
        if np.isinf(expected):
            with pytest.warns(UserWarning, match="No cut keeps"):
                assert fit(rule, problem)[0] == expected
        else:
            assert fit(rule, problem)[0] == expected


def population_losses(P, Y, cut):
    """Return the expected losses of a cut in a population of samples."""
    found = cut < P
    hits, size, number = (found & Y).sum(axis=1), Y.sum(axis=1), found.sum(axis=1)
    missed = np.where(size > 0, 1 - hits / np.maximum(size, 1), 0.0)
    wrong = np.where(number > 0, 1 - hits / np.maximum(number, 1), 0.0)
    return missed.mean(), wrong.mean(), wrong[number > 0].mean() if number.any() else 0.0


def test_the_expected_recall_keeps_its_bound(rng):
    P, Y = draw(rng, 20_000)
    n, bound = 40, 0.2
    risks = []
    for _ in range(DRAWS):
        rows = rng.integers(0, len(P), n)
        cut = bound_recall(P[rows].T, Y[rows].T, bound, None)
        risks.append(population_losses(P[::20], Y[::20], cut)[0])
    error = 3 * np.std(risks) / math.sqrt(DRAWS) + 0.01  # every twentieth sample of the population
    assert np.mean(risks) <= bound + error
    assert np.mean(risks) >= bound - 2 / (n + 1) - error  # and is not far from it


@pytest.mark.parametrize(
    "kind",
    [
        "false_discovery",
        pytest.param("recall", marks=pytest.mark.slow),
        pytest.param("precision", marks=pytest.mark.slow),
    ],
)
def test_the_bound_holds_with_its_confidence(rng, kind):
    P, Y = draw(rng, 20_000)
    n, bound, confidence = (250, 0.35, 0.8) if kind == "precision" else (80, 0.3, 0.8)
    find, which = {
        "recall": (bound_recall, 0),
        "false_discovery": (bound_false_discovery, 1),
        "precision": (bound_precision, 2),
    }[kind]
    known = np.array([population_losses(P, Y, cut)[which] for cut in CUTS])
    failures, found = 0, 0
    for _ in range(DRAWS):
        rows = rng.integers(0, len(P), n)
        cut = find(P[rows].T, Y[rows].T, bound, confidence)
        if cut is not None:
            found += 1
            failures += known[cut == CUTS][0] > bound
    assert found > DRAWS / 2
    allowed = 1 - confidence
    assert failures / DRAWS <= allowed + 3 * math.sqrt(allowed * (1 - allowed) / DRAWS)


def test_samples_without_labels_count_as_found(rng):
    P, Y = draw(rng, 100)
    Y[:50] = False
    found = bound_recall(P.T, Y.T, 0.2, None)
    # 101 samples, half of which lose nothing: the others may lose twice as much, but for the 1.
    room = 0.2 * 101 - 1
    missed, _, _ = naive.losses(P, Y, np.ones(Y.shape, dtype=bool), found)
    assert sum(missed) <= room + 1e-9
    assert bound_recall(P[:50].T, Y[:50].T, 0.2, None) == np.inf  # nothing can be missed


def test_bounds_that_cannot_be_kept(rng):
    P, Y = draw(rng, 8)
    for kind, value in (("recall", 0.9), ("recall", 1.0)):
        with pytest.warns(UserWarning, match="on 8 samples: all labels are predicted"):
            cut = RiskControl(**{kind: value}).fit(P, Y)
        assert RiskControl(recall=0.9).decide(P, cut).all()
    for kind, value in (("false_discovery", 0.1), ("precision", 0.9), ("precision", 1.0)):
        with pytest.warns(UserWarning, match="confidence 0.9 on 8 samples: no label is predicted"):
            cut = RiskControl(**{kind: value}).fit(P, Y)
        assert not RiskControl(**{kind: value}).decide(P, cut).any()
    with pytest.warns(UserWarning, match="all labels are predicted"):
        cut = RiskControl(recall=0.9, confidence=0.99).fit(P, Y)
    np.testing.assert_array_equal(cut, -np.inf)


def test_nine_samples_admit_a_recall_of_nine_tenths(rng):
    """The smallest number of samples: 1 / (n + 1) = 0.1, although 1 - 0.9 is a little less."""
    P, Y = draw(rng, 9)
    cut = RiskControl(recall=0.9).fit(P, Y)[0]
    assert np.isfinite(cut) or cut == -np.inf
    assert (P[Y] > cut).all()


def test_rounding_of_the_bound_does_not_lose_a_label(rng):
    """Of 19 samples with one label, one may be missed: (1 + 1) / 20 = 0.1."""
    P = rng.permutation(np.linspace(0.1, 0.9, 19))[:, None]
    cut = RiskControl(recall=0.9).fit(P, np.ones((19, 1)))[0]
    assert np.count_nonzero(cut < P) == 18


def test_trivial_bounds(rng):
    P, Y = draw(rng, 30)
    np.testing.assert_array_equal(RiskControl(recall=0.0).fit(P, Y), np.inf)
    np.testing.assert_array_equal(RiskControl(false_discovery=1.0).fit(P, Y), CUTS[0])


def test_equal_probabilities_are_not_cut_apart():
    P = np.full((40, 3), 0.3)
    Y = np.zeros((40, 3), dtype=bool)
    Y[:, 0] = True
    assert RiskControl(recall=0.9).fit(P, Y)[0] == -np.inf
    P[3:, 0] *= 1 + 5e-16  # equal up to rounding
    P[::2, 1] = 0.1
    assert RiskControl(recall=0.9).fit(P, Y)[0] == pytest.approx(0.2)


def test_weights(rng):
    P, Y = draw(rng, 200)
    rule = RiskControl(recall=0.8)
    expected = rule.fit(P[:150], Y[:150])
    weights = np.where(np.arange(200) < 150, 2.5, 0.0)
    np.testing.assert_array_equal(rule.fit(P, Y, weights), expected)
    weights[3] = 1.0
    with pytest.raises(ValueError, match=r"equal weight, found weights from 1\.0 to 2\.5"):
        rule.fit(P, Y, weights)


def test_sets_of_probabilities_have_a_cut_each(rng):
    P, Y = draw(rng, 100)
    for rule in (RiskControl(recall=0.8), RiskControl(false_discovery=0.5)):
        together = rule.fit_grid(np.stack([P.T, P.T**2]), Y.T, None)
        np.testing.assert_array_equal(together[0], rule.fit(P, Y))
        np.testing.assert_array_equal(together[1], rule.fit(P**2, Y))


def test_a_monotone_change_of_probabilities_changes_no_conformal_decision(rng):
    P, Y = draw(rng, 150)
    rule = RiskControl(recall=0.85)
    decided = rule.decide(P, rule.fit(P, Y))
    np.testing.assert_array_equal(rule.decide(P**3, rule.fit(P**3, Y)), decided)


def test_label_that_is_never_observed(rng):
    P, Y = draw(rng, 100)
    hidden = Y.astype(float)
    hidden[:, 2] = np.nan
    cut = RiskControl(recall=0.8).fit(P, hidden)
    assert cut[2] == np.inf
    known = [0, 1, 3, 4, 5]
    np.testing.assert_array_equal(cut[known], RiskControl(recall=0.8).fit(P[:, known], Y[:, known]))


def test_float32_probabilities(rng):
    P, Y = draw(rng, 200)
    cut = RiskControl(recall=0.8).fit(P.astype(np.float32), Y)
    np.testing.assert_allclose(cut, RiskControl(recall=0.8).fit(P, Y), rtol=1e-6)  # float32


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "exactly one of recall, false_discovery and precision, got none"),
        ({"recall": 0.9, "precision": 0.9}, "got recall and precision"),
        ({"recall": 1.2}, "recall must be a number between 0 and 1"),
        ({"precision": -0.1}, "precision must be a number between 0 and 1"),
        ({"recall": 0.9, "confidence": 1.5}, "confidence must be a number between 0 and 1"),
        ({"recall": 0.9, "confidence": 1.0}, "confidence must be between 0 and 1, excluded"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(ValueError, match=message):
        RiskControl(**settings).fit([[0.2], [0.4]], [[0], [1]])


def test_scores_are_no_probabilities():
    with pytest.raises(ValueError, match="RiskControl reads probabilities between 0 and 1"):
        RiskControl(recall=0.5).fit([[-2.0], [0.4]], [[0], [1]])


def test_the_rule_reads_probabilities():
    assert RiskControl.reads == "probabilities"
    assert risk.CONFIDENCE == 0.9


def test_calibrated_probabilities_of_new_samples(rng):
    """The whole way: calibrate on one part, control on another, keep the bound on a third."""
    scores = rng.standard_normal((6000, 8))
    Y = rng.random(scores.shape) < 1 / (1 + np.exp(2 - 2 * scores))
    P = fit_calibration(scores[:2000], Y[:2000]).probabilities(scores)
    part, new = slice(2000, 4000), slice(4000, 6000)
    for which, rule, bound in (
        (0, RiskControl(recall=0.9), 0.1),
        (1, RiskControl(false_discovery=0.2), 0.2),
        (2, RiskControl(precision=0.8), 0.2),
    ):
        cut = rule.fit(P[part], Y[part])[0]
        loss = population_losses(P[new], Y[new], cut)[which]
        assert loss < bound + 0.02  # three standard errors of 2000 samples
        assert loss > bound - (0.1 if which == 2 else 0.05)
