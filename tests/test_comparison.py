"""Statistics against hand-worked examples, naive counts and scipy."""

import itertools

import numpy as np
import pytest
from scipy import stats

from eigenlabel.comparison import (
    collect,
    compare_pair,
    friedman,
    holm,
    paired_t,
    summarise,
    wilcoxon,
)


def exact_signed_rank(difference):
    """Enumerate all signs: the definition of the two-sided p-value."""
    ranks = stats.rankdata(np.abs(difference))
    total = ranks.sum()
    seen = min(ranks[difference > 0].sum(), total - ranks[difference > 0].sum())
    sums = [
        sum(r for r, sign in zip(ranks, signs, strict=True) if sign)
        for signs in itertools.product([0, 1], repeat=len(ranks))
    ]
    return min(1.0, 2 * np.mean([s <= seen for s in sums]))


def test_wilcoxon_equals_the_enumeration_of_all_signs(rng):
    for _ in range(10):
        a, b = rng.standard_normal((2, 8))
        assert wilcoxon(a, b) == pytest.approx(exact_signed_rank(a - b))


def test_wilcoxon_leaves_equal_pairs_out(rng):
    a, b = rng.standard_normal((2, 9))
    assert wilcoxon([*a, 1.0, 2.0], [*b, 1.0, 2.0]) == wilcoxon(a, b)
    assert wilcoxon([1.0, 2.0], [1.0, 2.0]) == 1.0
    assert wilcoxon([*a, np.nan], [*b, 1.0]) == wilcoxon(a, b)


def test_the_papers_smallest_p_value_is_the_normal_approximation():
    a = np.arange(1, 31) / 100
    assert wilcoxon(a, np.zeros(30), method="approx") == pytest.approx(
        1.73e-6, rel=3e-3
    )  # as printed
    assert wilcoxon(a, np.zeros(30)) == pytest.approx(2 / 2**30)


def test_the_paired_t_test_equals_scipy_and_the_corrected_formula(rng):
    a, b = rng.standard_normal((2, 12))
    assert paired_t(a, b) == pytest.approx(stats.ttest_rel(a, b).pvalue)
    n, d = 12, a - b
    t = d.mean() / np.sqrt(d.var(ddof=1) * (1 / n + 0.25))
    expected = 2 * stats.t.sf(abs(t), n - 1)
    assert paired_t(a, b, test_over_train=0.25) == pytest.approx(expected)
    assert expected > paired_t(a, b)
    assert paired_t(a, a) == 1.0
    assert paired_t([2.0, 3.0], [1.0, 2.0]) == 0.0
    assert np.isnan(paired_t([2.0], [1.0]))


def test_wins_ties_and_losses_depend_on_the_direction_of_the_metric():
    a, b = [0.5, 0.6, 0.7, 0.1], [0.4, 0.6, 0.5, 0.6]
    up, down = compare_pair(a, b), compare_pair(a, b, greater_is_better=False)
    assert (up.wins, up.ties, up.losses) == (2, 1, 1)
    assert (down.wins, down.ties, down.losses) == (1, 1, 2)
    assert up.difference == pytest.approx(-0.05) == -down.difference
    with pytest.raises(ValueError, match="two vectors of the same length"):
        compare_pair([1.0], [1.0, 2.0])


def test_holm_equals_its_definition(rng):
    p = rng.uniform(0, 0.2, 7)
    order = np.argsort(p)
    expected = np.zeros(7)
    for i, k in enumerate(order):  # the largest of all steps so far
        expected[k] = max(min(1.0, (7 - j) * p[order[j]]) for j in range(i + 1))
    np.testing.assert_allclose(holm(p), expected)
    with_nan = holm([0.01, np.nan, 0.04])
    assert with_nan[[0, 2]].tolist() == [0.02, 0.04]
    assert np.isnan(with_nan[1])
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]


def test_friedman_equals_scipy_and_the_published_critical_values(rng):
    F = rng.standard_normal((10, 4))
    ranking = friedman(dict(zip("abcd", F.T, strict=True)))
    expected = stats.friedmanchisquare(*F.T)
    assert ranking.statistic == pytest.approx(expected.statistic)
    assert ranking.p_value == pytest.approx(expected.pvalue)
    naive = np.mean([[1 + sum(row > v) for v in row] for row in F], axis=0)
    np.testing.assert_allclose(ranking.ranks, naive)
    # Demsar (2006), Table 5a: q at 0.05 for 2..10 classifiers begins 1.960 2.343 2.569 2.728.
    assert ranking.critical_difference == pytest.approx(2.569 * np.sqrt(4 * 5 / 60), rel=1e-3)
    losses = friedman(dict(zip("abcd", -F.T, strict=True)), greater_is_better=False)
    np.testing.assert_allclose(losses.ranks, ranking.ranks)


def test_groups_are_the_largest_within_the_critical_difference():
    ranking = friedman(
        {
            name: [place] * 40 if name != "c" else [3] * 20 + [2] * 20
            for name, place in zip("abcde", (5, 4, 3, 2, 1), strict=True)
        }
    )
    # c and d share ranks in half of the rows; all others are 1 apart, more than 0.96.
    assert ranking.ranks.tolist() == [1, 2, 3.25, 3.75, 5]
    assert ranking.critical_difference == pytest.approx(2.728 * np.sqrt(30 / 240), rel=1e-3)
    assert ranking.groups == (("c", "d"),)


def test_friedman_raises_for_too_few_or_undefined_figures():
    with pytest.raises(ValueError, match="3 methods and 2 data sets, got 2 and 4"):
        friedman({"a": [1, 2, 3, 4], "b": [1, 2, 3, 4]})
    with pytest.raises(ValueError, match="every method on every data set"):
        friedman({"a": [1, np.nan], "b": [1, 2], "c": [1, 2]})
    assert friedman({"a": [1, 2], "b": [1, 2], "c": [1, 2]}).p_value == 1.0


def record(data, method, split, f1, loss):
    metrics = {"f1_macro": f1, "ranking_loss": loss}
    return {"data": data, "method": method, "split": split, "metrics": metrics}


@pytest.fixture
def records(rng):
    return [
        record(d, m, s, 0.5 + 0.1 * k + 0.01 * rng.uniform(), 0.2 - 0.05 * k)
        for d in ("one", "two")
        for k, m in enumerate(("low", "middle", "high"))
        for s in range(6)
    ]


def test_a_summary_contains_means_pairs_and_ranks(records):
    summary = summarise(records, ["f1_macro", "ranking_loss"], reference="high")
    values = [
        r["metrics"]["f1_macro"] for r in records if (r["data"], r["method"]) == ("one", "low")
    ]
    mean, std, n = summary["f1_macro"]["means"]["one"]["low"]
    assert (mean, std, n) == pytest.approx((np.mean(values), np.std(values, ddof=1), 6))
    for metric in summary:
        pair = summary[metric]["against"]["two"]["low"]
        assert (pair.wins, pair.losses) == (6, 0)
        assert summary[metric]["ranking"].ranks.tolist() == [3, 2, 1]
    raw = [p.wilcoxon for row in summary["f1_macro"]["against"].values() for p in row.values()]
    np.testing.assert_allclose(list(summary["f1_macro"]["holm"].values()), holm(raw))


def test_failed_and_missing_runs_are_left_out(records):
    broken = [r for r in records if not (r["method"] == "middle" and r["split"] == 3)]
    broken.append({"data": "one", "method": "middle", "split": 3, "error": "it broke"})
    broken.append(record("one", "middle", 7, None, 0.1))
    found = collect(broken, "f1_macro")
    assert sorted(found["one"]["middle"]) == [0, 1, 2, 4, 5, 7]
    summary = summarise(broken, ["f1_macro"], reference="low")["f1_macro"]
    assert summary["means"]["one"]["middle"][2] == 5
    assert summary["against"]["one"]["middle"].losses == 5
    with pytest.raises(ValueError, match="No records of 'best'; there are: low, middle, high"):
        summarise(records, ["f1_macro"], reference="best")
    with pytest.raises(ValueError, match="There are no records"):
        summarise([], ["f1_macro"])


def test_one_data_set_is_ranked_by_its_splits(records):
    one = [r for r in records if r["data"] == "one"]
    ranking = summarise(one, ["f1_macro"])["f1_macro"]["ranking"]
    assert ranking.ranks.tolist() == [3, 2, 1]
    assert ranking.critical_difference == pytest.approx(2.343 * np.sqrt(3 * 4 / 36), rel=1e-3)
    two = [r for r in one if r["method"] != "low"]
    assert summarise(two, ["f1_macro"])["f1_macro"]["ranking"] is None


def test_invalid_figures_and_levels_raise():
    for a, b in (([[1.0]], [[1.0]]), ([], []), ([1.0], [1.0, 2.0])):
        with pytest.raises(ValueError, match="two vectors of the same length"):
            compare_pair(a, b)
    with pytest.raises(ValueError, match="test_over_train"):
        paired_t([1.0, 2.0], [2.0, 1.0], test_over_train=-1)
    with pytest.raises(ValueError, match="level"):
        friedman({"a": [1, 2], "b": [2, 1], "c": [3, 3]}, level=0.9)
    with pytest.raises(ValueError, match="got 3 and 1"):
        friedman({"a": [1], "b": [2], "c": [3]})


def test_undefined_figures_of_either_side_are_left_out(rng):
    a, b = rng.standard_normal((2, 9))
    for c, d in (([*a, np.nan], [*b, 1.0]), ([*a, 1.0], [*b, np.nan])):
        assert wilcoxon(c, d) == wilcoxon(a, b)
        assert paired_t(c, d) == paired_t(a, b)
        assert compare_pair(c, d) == compare_pair(a, b)
    assert np.isnan(compare_pair([np.nan], [1.0]).difference)


def test_a_difference_of_rounding_errors_is_a_tie():
    a = np.array([0.3, 0.5, 0.7])
    b = a + np.array([5e-16, -5e-16, 0.1])
    pair = compare_pair(a, b)
    assert (pair.wins, pair.ties, pair.losses) == (0, 2, 1)
    assert wilcoxon(a, b) == wilcoxon(a[2:], b[2:])
    assert paired_t(a, b) < 1, "one difference is real"


def test_the_summary_uses_the_corrected_t_test(records):
    sized = [{**r, "test_size": 30, "train_size": 60} for r in records]
    plain, corrected = (
        summarise(part, ["f1_macro"])["f1_macro"]["against"]["one"]["high"]
        for part in (records, sized)
    )
    low, high = (
        [r["metrics"]["f1_macro"] for r in records if (r["data"], r["method"]) == ("one", m)]
        for m in ("low", "high")
    )
    assert plain.t_test == pytest.approx(paired_t(low, high))
    assert corrected.t_test == pytest.approx(paired_t(low, high, test_over_train=0.5))


def test_the_critical_difference_depends_on_the_level():
    table = {"a": [3, 3, 3], "b": [2, 2, 2], "c": [1, 1, 1]}
    strict, loose = friedman(table, level=0.01), friedman(table, level=0.1)
    # Demsar (2006), Table 5a: q at 0.10 for three classifiers is 2.052.
    assert loose.critical_difference == pytest.approx(2.052 * np.sqrt(12 / 18), rel=1e-3)
    assert strict.critical_difference > loose.critical_difference


def test_groups_within_groups_are_not_listed():
    ranking = friedman({name: [5 - k] * 2 for k, name in enumerate("abcd")})
    assert ranking.critical_difference > 3
    assert ranking.groups == (("a", "b", "c", "d"),)


def test_methods_without_the_reference_or_common_splits_are_not_compared(records):
    alone = [*records, record("three", "low", 0, 0.5, 0.1), record("four", "high", 0, 0.5, 0.1)]
    summary = summarise(alone, ["f1_macro"])["f1_macro"]
    assert summary["against"]["three"] == {} == summary["against"]["four"]
    apart = [record("d", "low", 0, 0.5, 0.1), record("d", "high", 1, 0.6, 0.1)]
    assert summarise(apart, ["f1_macro"])["f1_macro"]["against"]["d"] == {}
    assert summary["ranking"].ranks.tolist() == [3, 2, 1], "only data sets that all have"
    assert np.isnan(summarise(apart, ["f1_macro"])["f1_macro"]["means"]["d"]["low"][1])


def test_a_method_with_undefined_figures_has_no_mean_and_no_rank(records):
    undefined = [
        record(r["data"], r["method"], r["split"], None, 0.1) if r["method"] == "low" else r
        for r in records
    ]
    summary = summarise(undefined, ["f1_macro"], reference="high")["f1_macro"]
    assert summary["means"]["one"]["low"][2] == 0
    assert np.isnan(summary["means"]["one"]["low"][0])
    assert summary["ranking"] is None


def test_ranks_do_not_depend_on_the_order_of_records(rng):
    values = {m: rng.uniform(size=5) for m in "abc"}
    records = [record("d", m, s, values[m][s], 0.1) for m in "abc" for s in rng.permutation(5)]
    ranking = summarise(records, ["f1_macro"])["f1_macro"]["ranking"]
    np.testing.assert_allclose(ranking.ranks, friedman(values).ranks)
