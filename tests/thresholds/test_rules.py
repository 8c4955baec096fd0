import numpy as np
import pytest

import helpers
from eigenlabel.metrics import f1_macro, f1_micro
from eigenlabel.thresholds import (
    RULES,
    Global,
    Mixed,
    PerLabelF1,
    Proportional,
    Rule,
    Top,
    Zero,
    get_rule,
    top_labels,
)
from eigenlabel.thresholds.rules import cut_thresholds


def f1(hits, predicted, positives):
    return 2 * hits / max(predicted + positives, 1)


@pytest.fixture(params=["smooth", "tied", "constant"])
def problem(request, rng):
    n, m = 60, 5
    Y = rng.uniform(size=(n, m)) < np.array([0.5, 0.2, 0.1, 0.03, 0.9])
    scores = rng.standard_normal((n, m)) + Y
    if request.param == "tied":
        scores = np.round(scores)
    if request.param == "constant":
        scores = np.zeros((n, m))
    return scores, Y


@pytest.mark.parametrize("weighted", [False, True])
def test_per_label_f1_equals_trying_every_cut(problem, rng, weighted):
    scores, Y = problem
    w = rng.uniform(0.5, 2, len(Y)) if weighted else None
    decided = scores > PerLabelF1().fit(scores, Y, w)
    for j in range(Y.shape[1]):
        expected, _ = helpers.best_thresholds(scores[:, j], Y[:, j], f1, w)
        np.testing.assert_array_equal(decided[:, j], expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_global_equals_trying_every_common_cut(problem, rng, weighted):
    scores, Y = problem
    w = rng.uniform(0.5, 2, len(Y)) if weighted else None
    thresholds = Global().fit(scores, Y, w)
    assert len(set(thresholds)) == 1
    flat = None if w is None else np.repeat(w, Y.shape[1])
    expected, _ = helpers.best_thresholds(scores.ravel(), Y.ravel(), f1, flat)
    np.testing.assert_array_equal((scores > thresholds).ravel(), expected)


def test_hand_worked_table():
    # label 0: sorted 4+ 3- 2+ 1-: F1 after 1, 3 is 2/3, 4/5; cut between 2 and 1.
    # label 1: one positive on top; label 2 never occurs; label 3 always.
    scores = np.array([[4, 9, 1, 3], [3, 2, 2, 4], [2, 1, 3, 5], [1, 0, 4, 6]], dtype=float)
    Y = np.array([[1, 1, 0, 1], [0, 0, 0, 1], [1, 0, 0, 1], [0, 0, 0, 1]])
    np.testing.assert_array_equal(PerLabelF1().fit(scores, Y), [1.5, 5.5, np.inf, -np.inf])


def test_of_equal_optima_the_lowest_threshold_wins():
    # F1 is 2/3 after one and after four: + - - + would have 2/3, 1/2, 2/5, 4/6.
    scores, Y = np.array([[4.0], [3], [2], [1]]), np.array([[1], [0], [0], [1]])
    assert PerLabelF1().fit(scores, Y)[0] == -np.inf


@pytest.mark.parametrize("steps", [0, 1])  # the middle rounds to the even one: down, then up
def test_a_cut_between_neighbouring_floats_separates_them(steps):
    low = 1.0 + steps * np.finfo(float).eps
    high = np.nextafter(low, 2)
    threshold = cut_thresholds(np.array([[high, low]]), np.array([1]))
    np.testing.assert_array_equal(np.array([low, high]) > threshold, [False, True])


@pytest.mark.parametrize("rule", [PerLabelF1(), Global(), Proportional()])
def test_scores_that_differ_by_rounding_are_not_cut_apart(rule):
    """Products of equal samples may differ in their last digits."""
    scores = np.array([[3.0], [1.0], [1.0 + 4e-15], [1.0 - 4e-15], [-2.0]])
    Y = np.array([[1], [0], [1], [0], [0]])
    decided = scores > rule.fit(scores, Y)
    assert decided[1] == decided[2] == decided[3]
    np.testing.assert_allclose(rule.fit(scores, Y), rule.fit(scores.round(9), Y), rtol=1e-12)


def test_top_labels_that_tie_up_to_rounding_go_by_order():
    scores = np.array([[0.1 + 0.2, 0.3, 5.0], [0.3, 0.1 + 0.2, 5.0], [-np.inf, 1.0, 2.0]])
    np.testing.assert_array_equal(top_labels(scores, 2), [[2, 0], [2, 0], [2, 1]])


def test_fbr_does_not_trust_a_weak_cut(rng):
    scores = rng.standard_normal((200, 2))
    Y = np.zeros((200, 2), dtype=int)
    Y[:2, 0] = 1  # two positives at random places: best F1 is small
    Y[:, 1] = scores[:, 1] > 1  # perfectly separable
    scores[:2, 0] = np.sort(scores[:, 0])[[60, 100]]
    plain, careful = PerLabelF1().fit(scores, Y), get_rule("fbr").fit(scores, Y)
    assert plain[0] < careful[0] == scores[:, 0].max()
    assert plain[1] == careful[1]
    Y[:, 0] = 0  # no positives at all: nobody, not the highest score
    assert get_rule("fbr").fit(scores, Y)[0] == np.inf


@pytest.mark.parametrize("weighted", [False, True])
def test_proportional_predicts_as_often_as_labels_occur(rng, weighted):
    scores, Y = rng.standard_normal((50, 4)), rng.uniform(size=(50, 4)) < 0.3
    Y[:, 3] = False
    w = rng.integers(1, 3, 50).astype(float) if weighted else np.ones(50)
    predicted = w @ (scores > Proportional().fit(scores, Y, w if weighted else None))
    assert np.abs(predicted - w @ Y).max() <= (1.0 if weighted else 0.0)


def test_proportional_keeps_ties_together():
    scores, Y = np.array([[2.0], [1], [1], [1], [0]]), np.array([[1], [1], [1], [0], [0]])
    # Three are wanted; one or four are possible, four is nearer.
    assert (scores > Proportional().fit(scores, Y)).sum() == 4


def test_top_marks_the_highest_and_breaks_ties_by_order():
    scores = np.array([[3.0, 1, 2], [1, 1, 1]])
    rule = Top(n_labels=2)
    decided = rule.decide(scores, rule.fit(scores, np.ones((2, 3))))
    np.testing.assert_array_equal(decided, [[True, False, True], [True, True, False]])
    assert not Top(n_labels=0).decide(scores, np.zeros(3)).any()
    assert Top(n_labels=9).decide(scores, np.zeros(3)).all()


def test_the_thresholds_of_zero_are_zero():
    np.testing.assert_array_equal(Zero().fit(np.ones((3, 2)), np.ones((3, 2))), [0, 0])


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.7, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_mixed_never_ends_below_its_start_and_is_a_fixed_point(problem, rng, weight, weighted):
    scores, Y = problem
    w = rng.uniform(0.5, 2, len(Y)) if weighted else None

    def value(thresholds):
        P = scores > thresholds
        macro, micro = (f(Y, P, sample_weight=w) for f in (f1_macro, f1_micro))
        return weight * macro + (1 - weight) * micro

    found = Mixed(weight).fit(scores, Y, w)
    assert value(found) >= value(PerLabelF1().fit(scores, Y, w)) - 1e-12
    # No single label can raise it by another cut.
    for j in range(Y.shape[1]):
        for cut in [-np.inf, *np.unique(scores[:, j])]:
            other = found.copy()
            other[j] = cut
            assert value(other) <= value(found) + 1e-12


def test_mixed_is_per_label_f1_or_micro_f1_at_its_ends(rng):
    scores, Y = rng.standard_normal((80, 3)), rng.uniform(size=(80, 3)) < 0.3
    scores += Y
    np.testing.assert_array_equal(Mixed(1.0).fit(scores, Y), PerLabelF1().fit(scores, Y))
    micro = f1_micro(Y, scores > Mixed(0.0).fit(scores, Y))
    assert micro >= f1_micro(Y, scores > Global().fit(scores, Y)) - 1e-12


FITTED = [name for name in RULES if name not in ("zero", "top")]  # those that look at the data


@pytest.mark.parametrize("name", FITTED)
def test_a_grid_has_the_thresholds_of_each_set_of_scores(name, rng):
    scores, Y = rng.standard_normal((4, 30, 3)), rng.uniform(size=(30, 3)) < 0.3
    grid = np.ascontiguousarray(scores.transpose(0, 2, 1))
    together = RULES[name].fit_grid(grid, np.ascontiguousarray(Y.T), None)
    alone = np.stack([RULES[name].fit(s, Y) for s in scores])
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("name", FITTED)
def test_weights_count_like_copies(name, rng):
    scores, Y = rng.standard_normal((30, 3)), rng.uniform(size=(30, 3)) < 0.4
    w = rng.integers(1, 4, 30)
    copies = np.repeat(np.arange(30), w)
    weighted = RULES[name].fit(scores, Y, w.astype(float))
    repeated = RULES[name].fit(scores[copies], Y[copies])
    np.testing.assert_array_equal(
        RULES[name].decide(scores, weighted), RULES[name].decide(scores, repeated)
    )


def test_unknown_names_and_bad_settings_are_explained():
    with pytest.raises(ValueError, match=r"Unknown threshold rule 'best'.*'mixed'"):
        get_rule("best")
    assert get_rule(Mixed(0.5)) == Mixed(0.5)
    data = np.ones((2, 1))
    with pytest.raises(ValueError, match="weight must be a number between 0 and 1, got 2"):
        Mixed(2).fit(data, data)
    with pytest.raises(ValueError, match="fbr"):
        PerLabelF1(fbr=-1).fit(data, data)
    with pytest.raises(TypeError, match=r"n_labels must be an integer >= 0, got 1\.5"):
        Top(1.5).fit(data, data)
    with pytest.raises(ValueError, match="must be finite, found nan at"):
        Mixed().fit(np.array([[np.nan]]), np.array([[1]]))
    with pytest.raises(NotImplementedError):
        Rule().fit(data, data)


def test_fbr_trusts_a_cut_that_just_reaches_it():
    scores, Y = np.array([[2.0], [1.0]]), np.array([[0], [1]])  # best F1 is 2/3
    assert PerLabelF1(fbr=2 / 3).fit(scores, Y)[0] == -np.inf
    assert PerLabelF1(fbr=0.7).fit(scores, Y)[0] == 2.0


def test_global_weighs_samples_not_labels(rng):
    def value(hits, predicted, positives):  # weights may sum to less than 1 here
        return 2 * hits / (predicted + positives)

    for _ in range(10):
        scores, Y = rng.standard_normal((30, 4)), rng.uniform(size=(30, 4)) < 0.3
        w = 10 ** rng.uniform(-2, 2, 30)  # weights that matter
        decided = scores > Global().fit(scores, Y, w)
        expected, _ = helpers.best_thresholds(scores.ravel(), Y.ravel(), value, np.repeat(w, 4))
        np.testing.assert_array_equal(decided.ravel(), expected)


def test_top_equals_sorting_by_score_then_order(rng):
    scores = rng.integers(0, 4, (20, 100)).astype(float)
    decided = Top(n_labels=7).decide(scores, np.zeros(100))
    for row, marks in zip(scores, decided, strict=True):
        expected = np.lexsort((np.arange(100), -row))[:7]
        assert set(np.flatnonzero(marks)) == set(expected)


def test_a_score_at_the_threshold_is_not_predicted():
    assert not Zero().decide(np.zeros((2, 1)), np.zeros(1)).any()


@pytest.mark.parametrize("weights", [np.ones(2), [np.nan, 1, 1], [-1, 1, 1]])
def test_wrong_weights_raise_an_error(weights):
    with pytest.raises(ValueError, match="sample_weight"):
        PerLabelF1().fit(np.ones((3, 1)), np.ones((3, 1)), weights)


def test_an_outlier_does_not_tie_the_other_scores(rng):
    y = np.arange(300) < 100
    scores = np.where(y, 1.0, 0.0) + 0.2 * rng.standard_normal(300)
    scores[0] = 1e7
    wanted = scores > PerLabelF1().fit(scores[:, None], y[:, None])
    found = scores > PerLabelF1().fit(scores[:, None].astype(np.float32), y[:, None])
    np.testing.assert_array_equal(found, wanted)
    assert f1((wanted & y).sum(), wanted.sum(), y.sum()) > 0.95


def test_many_float32_scores_are_not_one_tie(rng):
    scores = rng.random((2000, 1000), dtype=np.float32)  # closer together than their precision
    Y = scores > 0.9
    for rule in (Global(), Proportional()):
        one = scores.reshape(-1, 1), Y.reshape(-1, 1)
        decided = scores > rule.fit(*one)
        assert f1((decided & Y).sum(), decided.sum(), Y.sum()) > 1 - 1e-5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rare_probabilities_over_several_decades_are_separated(dtype, rng):
    scores = np.exp(rng.normal(-14, 1.5, (2000, 1))).astype(dtype)
    Y = scores > np.quantile(scores, 0.95)
    scores[0], Y[0] = 0.9, True
    np.testing.assert_array_equal(scores > PerLabelF1().fit(scores, Y), Y)


@pytest.mark.parametrize(
    "rule", [PerLabelF1(), Global(), Mixed(), Mixed(0.2), Proportional()], ids=repr
)
def test_the_scale_of_the_weights_changes_no_threshold(rule):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        scores, Y = rng.normal(size=(12, 2)), rng.random((12, 2)) < 0.4
        wanted = rule.fit(scores, Y)
        for scale in (0.1, 0.3, 0.7, 1 / 3):
            # Without weights, the last bits of the scores are not part of a threshold.
            found = rule.fit(scores, Y, np.full(12, scale))
            np.testing.assert_allclose(found, wanted, rtol=1e-15)


@pytest.mark.parametrize("name", ["f1", "fbr", "global", "mixed", "proportional"])
def test_samples_of_weight_zero_count_as_absent(name, rng):
    scores, Y = rng.standard_normal((40, 3)).round(1), rng.random((40, 3)) < 0.3
    weights = rng.integers(0, 3, 40).astype(float)
    weights[Y[:, 0]] = 0.0  # the first label has no positive sample that counts
    used = weights > 0
    rule = get_rule(name)
    found = rule.fit(scores, Y, sample_weight=weights)
    np.testing.assert_allclose(found, rule.fit(scores[used], Y[used], sample_weight=weights[used]))
    assert name == "global" or (scores[:, 0] <= found[0]).all()
    with pytest.raises(ValueError, match="none of positive weight"):
        rule.fit(scores, Y, sample_weight=np.zeros(40))


@pytest.mark.parametrize("k", [0, 1, 3, 6])
def test_ties_go_to_the_first_label(rng, k):
    scores = rng.integers(0, 3, (40, 5)).astype(float)
    wanted = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(top_labels(scores, k), wanted)
