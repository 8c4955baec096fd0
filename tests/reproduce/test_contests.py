"""Contests: how orders of methods are compared with those of the paper."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kendalltau

from eigenlabel.comparison import wilcoxon
from eigenlabel.reproduce import get_table, published


def records(contest, figures):
    """Make records: data -> method -> figures of the splits, the same for all metrics."""
    return [
        {
            "data": data,
            "method": method,
            "split": split,
            "metrics": dict.fromkeys(contest.all_metrics(), value),
        }
        for data, by_method in figures.items()
        for method, values in by_method.items()
        for split, value in enumerate(values)
    ]


def test_the_reference_is_tested_against_the_others_on_each_data_set(rng):
    contest = get_table("kgha-table7")
    base = rng.uniform(0.5, 0.6, 8)
    figures = {
        "debtags": {
            "KGHA": base,
            "TMEC": base - 0.1 - 0.01 * np.arange(8),
            "SW": base + 0.1,
            "r-KMLR": base + np.array([0.01, -0.01, 0.02, -0.02, 0.005, -0.004, 0.003, -0.001]),
        },
        "yeast": {"KGHA": base, "KGHA-d": base - 0.2, "KGHA-eq31": base - 0.2},
    }
    rows = {
        (r.data, r.method): r
        for r in contest.standings(records(contest, figures))
        if r.metric == "ranking_accuracy"
    }
    assert list(rows) == [
        *(("debtags", m) for m in ("SW", "TMEC", "r-KMLR", "KGHA")),
        *(("yeast", m) for m in ("KGHA-d", "KGHA", "KGHA-eq31")),
    ]
    won = rows["debtags", "TMEC"]
    assert (won.pair.wins, won.pair.losses) == (8, 0)
    assert won.p == pytest.approx(3 * wilcoxon(base, figures["debtags"]["TMEC"]))
    assert rows["yeast", "KGHA-d"].p == pytest.approx(2 * 2 / 2**8)
    assert rows["debtags", "KGHA"].pair is None
    assert {key: r.verdict for key, r in rows.items()} == {
        ("debtags", "SW"): "",  # the paper: better on Human, worse on Yeast
        ("debtags", "TMEC"): "",
        ("debtags", "r-KMLR"): "open",
        ("debtags", "KGHA"): "",
        ("yeast", "KGHA-d"): "holds",
        ("yeast", "KGHA"): "",
        ("yeast", "KGHA-eq31"): "",
    }
    assert [rows["debtags", m].paper for m in ("SW", "TMEC", "r-KMLR")] == [(1, 2), (1, 2), (2, 2)]
    worse = {"yeast": {"KGHA": base, "KGHA-d": base + 0.2}}
    verdicts = [r.verdict for r in contest.standings(records(contest, worse))]
    assert verdicts[:2] == ["reversed", ""]
    assert contest.standings(records(contest, {"yeast": {"SW": base}}))[0].pair is None


def test_a_finding_against_the_method_of_the_paper_can_hold_too(rng):
    contest = get_table("kgha-table4")
    base = rng.uniform(0.5, 0.6, 8)
    turned = {"KGHA": -1.0, "TagProp": 1.0}
    orders = {"label_f1_at_5": {"one": turned, "two": turned}}
    figures = {"yeast": {"KGHA": base, "TagProp": base + 0.1}}
    object.__setattr__(contest := replace(contest), "orders", lambda: orders)
    rows = contest.standings(records(contest, figures))
    tagprop = next(r for r in rows if (r.method, r.metric) == ("TagProp", "label_f1_at_5"))
    assert (tagprop.paper, tagprop.verdict) == ((0, 2), "holds")
    orders["label_f1_at_5"]["two"] = {"KGHA": 1.0, "TagProp": 1.0}
    rows = contest.standings(records(contest, figures))
    tagprop = next(r for r in rows if (r.method, r.metric) == ("TagProp", "label_f1_at_5"))
    assert tagprop.paper is None, "a tie decides nothing"


def test_orders_of_methods_are_compared(rng):
    contest = get_table("kgha-table4")
    means = dict(zip([m.name for m in contest.methods], rng.uniform(size=10), strict=True))
    figures = {
        "yeast": {m: [v, v + 0.2] for m, v in means.items()} | {"TagProp-ML": [9.0]},
        "debtags": {"KGHA": [0.3], "JEC": [0.2]},
    }
    standings = contest.standings(records(contest, figures))
    taus = contest.agreement(standings, "label_recall_at_5")
    printed = {
        f.method: f.mean
        for f in published()["kgha-table4"]
        if (f.dataset, f.metric) == ("Espgame", "recall")
    }
    expected = kendalltau([means[m] for m in printed], list(printed.values())).statistic
    assert taus["yeast (ours)", "Espgame (paper)"] == pytest.approx(expected)
    assert np.isnan(taus["debtags (ours)", "Espgame (paper)"])
    assert taus["Espgame (paper)", "Iaprtc12 (paper)"] == pytest.approx(0.27, abs=0.005)
    assert len(taus) == 5 * 4 / 2
