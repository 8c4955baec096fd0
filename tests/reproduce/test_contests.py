"""KGHA's tables on other data: what is run, how orders of methods are compared."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kendalltau

from eigenlabel import JEC, KGHA, SharedSubspaceClassifier, catalogue, metrics
from eigenlabel.cli import main
from eigenlabel.comparison import wilcoxon
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.experiment import Data, Method, Protocol, Splits, load_data, plan, run
from eigenlabel.experiment.keys import fingerprint
from eigenlabel.reproduce import CONTESTS, at_hand, data_sets, get_table, published
from eigenlabel.reproduce.contests import row_name
from eigenlabel.thresholds import Top

VIEWS = {"left": slice(0, 4), "right": slice(4, 10)}


def planted(seed=0, n=90):
    data = make_shared_subspace(n, 10, 8, 3, prevalence=0.3, noise=0.1, random_state=seed)
    return replace(data, views=VIEWS)


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


@pytest.mark.parametrize("name", CONTESTS)
def test_contests_have_the_rows_of_the_paper(name):
    contest = get_table(name)
    figures = published()[name]
    assert {row_name(f) for f in figures} == {m.name for m in contest.methods}
    assert {f.dataset for f in figures} == set(contest.lacking)
    assert {f.metric for f in figures} == set(contest.metrics)
    assert not set(contest.lacking) & set(contest.data)
    assert contest.reference in contest.runnable()
    assert set(contest.all_metrics()) <= set(metrics.METRICS)
    assert str(len(contest.data)) in contest.status()


@pytest.mark.parametrize("name", CONTESTS)
def test_every_method_of_a_contest_has_the_same_effort(name):
    protocol = get_table(name).protocol()
    wanted = "label_f1_at_5" if name in ("kgha-table3", "kgha-table4") else "ranking_accuracy"
    assert {m.scoring for m in protocol.methods} == {wanted}
    for method in protocol.methods:
        tuned = method.make()
        candidates = np.prod([len(values) for values in tuned.param_grid.values()])
        assert (candidates, tuned.cv.n_splits) == (9, 4), method.name
        assert tuned.estimator.threshold == Top(5)
    spec = protocol.splits
    assert (spec.kind, spec.n_splits, spec.train_size) == ("shuffle", 10, 0.6)


def test_a_table_of_shares_has_other_dimensions_and_nothing_else():
    for method in get_table("kgha-table6").protocol().methods:
        model = method.make().estimator
        assert model.n_components == float(method.name.removeprefix("p/m "))
        plain = KGHA(threshold=Top(5), random_state=0).get_params()
        assert {k: v for k, v in model.get_params().items() if k != "n_components"} == {
            k: v for k, v in plain.items() if k != "n_components"
        }


def test_the_papers_names_are_settings():
    def setting(name):
        return catalogue.make(name, grid={}).get_params()

    plain = setting("KGHA")
    changed = {
        "KGHA-d": {"n_components": 1.0},
        "KGHA-r": {"trade_off": 1e-6},
        "KGHA-eq31": {"decoding": "pseudo-inverse", "fit_intercept": False},
        "L-HA": {"kernel": "linear"},
        "r-KMLR": {"n_components": 1.0, "trade_off": 0.0, "label_ridge": 0.0},
        "r-MLR": {"n_components": 1.0, "trade_off": 0.0, "label_ridge": 0.0, "kernel": "linear"},
    }
    for name, parts in changed.items():
        assert setting(name) == {**plain, **parts}


@pytest.mark.parametrize(("name", "kernel"), [("r-MLR", "linear"), ("r-KMLR", "rbf")])
def test_regressions_by_the_papers_names_are_ridge_regressions(name, kernel):
    data = planted()
    X, Y, new = data.X[:60], data.Y[:60], data.X[60:]
    model = catalogue.make(name, {"views": VIEWS, "ridge": 0.3}, grid={}).fit(X, Y)
    expected = np.zeros((len(new), Y.shape[1]))
    for cut in VIEWS.values():
        A, B = X[:, cut], new[:, cut]
        if kernel == "rbf":
            apart = np.linalg.norm(A[:, None] - A[None], axis=2)
            gamma = 1 / (2 * apart.mean() ** 2)
            K = np.exp(-gamma * apart**2)
            k = np.exp(-gamma * np.linalg.norm(B[:, None] - A[None], axis=2) ** 2)
        else:
            K, k = A @ A.T, B @ A.T
        # Kernel ridge regression with an intercept: the Lagrange form.
        n = len(K)
        system = np.block([[K + 0.3 * np.eye(n), np.ones((n, 1))], [np.ones(n), 0.0]])
        solution = np.linalg.solve(system, np.vstack([Y, np.zeros(Y.shape[1])]))
        expected += (k @ solution[:-1] + solution[-1]) / 2
    np.testing.assert_allclose(model.decision_function(new), 2 * expected - 1, atol=1e-8)


def test_another_grid_or_none_replaces_that_of_a_method():
    assert isinstance(catalogue.make("KGHA", {"ridge": 2.0}, grid={}), KGHA)
    tuned = catalogue.make("KGHA", {"n_components": 3}, {"ridge": [1.0]}, "ranking_accuracy")
    assert (tuned.param_grid, tuned.estimator.n_components) == ({"ridge": [1.0]}, 3)
    assert Method("ridge").make().cv == 5
    assert set(Method("KGHA").make().param_grid) == {"trade_off", "ridge"}
    assert Method("KGHA", grid={"ridge": [1.0]}).make().param_grid == {"ridge": [1.0]}


def test_a_parameter_that_is_set_is_not_tuned():
    assert catalogue.make("JEC", {"n_neighbors": 7}).n_neighbors == 7  # nothing is left to tune
    tuned = catalogue.make("KGHA", {"ridge": 2.0})
    assert (set(tuned.param_grid), tuned.estimator.ridge) == ({"trade_off"}, 2.0)
    inner = {"estimator__estimator__alpha": 3.0}
    assert not hasattr(catalogue.make("ASO_SVM", inner), "param_grid")
    tuned = catalogue.make("CCA+Ridge", {"estimator__estimator__then__alpha": 3.0})
    assert set(tuned.param_grid) == {"estimator__projection__reg"}
    own = {"estimator__projection__reg": [0.1, 1.0]}
    assert catalogue.make("CCA+Ridge", {"param_grid": own}).param_grid == own


def test_taggers_are_tuned_by_scores_where_label_sets_say_nothing():
    data = make_shared_subspace(60, n_labels=4, n_features=8, random_state=0)
    model = catalogue.make("JEC")
    with pytest.warns(UserWarning, match=r"Top\(5\) gives all 4 labels .* as threshold"):
        model.fit(data.X, data.Y)
    assert np.ptp(model.cv_results_["mean_test_score"]) > 0
    assert Method("JEC").searched_by == "average_precision"
    assert Method("ridge").searched_by == Method("a", JEC()).searched_by == "f1_macro"
    assert Method("JEC", scoring="f1_micro").searched_by == "f1_micro"


def test_a_part_of_a_data_set_is_drawn_the_same_each_time():
    data = planted(n=120)
    part = load_data(Data("d", data, max_samples=50))
    again = load_data(Data("d", data, max_samples=50))
    assert part.X.shape == (50, 10)
    np.testing.assert_array_equal(part.X, again.X)
    assert not np.array_equal(part.X, data.X[:50]), "not the first ones"
    assert {tuple(row) for row in part.X} <= {tuple(row) for row in data.X}
    assert load_data(Data("d", data, max_samples=500)).X.shape == data.X.shape
    rare = replace(data, Y=data.Y * (np.arange(120) < 40)[:, None])
    assert load_data(Data("d", rare, min_positives=1, max_samples=30)).Y.any(axis=1).all()
    whole, cut = (
        Protocol([Data("d", data, max_samples=size)], [Method("ridge")]) for size in (0, 50)
    )
    prints = [fingerprint(p, p.data[0], p.methods[0]) for p in (whole, cut)]
    assert prints[0] != prints[1]
    with pytest.raises(ValueError, match="max_samples must be an integer"):
        Data("d", data, max_samples=-1)


def test_tests_are_of_the_reference_within_a_data_set(rng):
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


def test_what_the_paper_finds_against_its_method_can_hold_too(rng):
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
    assert tagprop.paper is None, "a tie says nothing"


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


def small_contest():
    methods = tuple(
        Method(name, SharedSubspaceClassifier(alpha))
        for name, alpha in (("r-KMLR", 0.1), ("KGHA-d", 1.0), ("KGHA", 10.0))
    )
    data = {f"planted {k}": (Data(f"planted {k}", planted(k)),) for k in range(2)}
    return replace(
        get_table("kgha-table7"), methods=methods, beyond=(), data=data, splits=Splits("shuffle", 3)
    )


def test_the_command_prints_a_contest_and_writes_its_page(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(CONTESTS, "kgha-table7", small_contest())
    page, folder = tmp_path / "page.html", str(tmp_path / "runs")
    words = ["reproduce", "kgha-table7", "-o", folder]
    assert main([*words, "--report", str(page)]) == 0
    out = capsys.readouterr().out
    lines = [line.split() for line in out.splitlines()]
    assert sum(line[:3] == ["planted", "0", "KGHA-d"] for line in lines) == 4  # metrics
    assert ["KGHA-d", "78.7", "75.2"] in lines  # the paper's, in a table of its own
    assert "findings that the paper has on all its data sets" in out
    assert "orders of methods can be compared, figures cannot" in out
    assert "planted 1" in page.read_text(encoding="utf-8")
    assert main([*words, "--methods", "KGHA-d", "--format", "markdown"]) == 0
    assert "| planted 0 | KGHA-d |" in capsys.readouterr().out
    assert main([*words, "--methods", "nobody"]) == 2
    with pytest.raises(ValueError, match="No method 'nobody' in kgha-table7; there are: r-KMLR"):
        small_contest().protocol(methods=["nobody"])


def test_a_contest_runs_with_the_data_that_is_there(data_folder, tmp_path, monkeypatch):
    contest = get_table("kgha-table7")
    monkeypatch.setenv("EIGENLABEL_DATA", str(tmp_path))
    there, missing = at_hand(contest)
    assert list(there.data) == ["debtags"]
    assert list(missing) == ["yeast", "emotions"]
    assert "corel5k-guillaumin" in data_sets(get_table("kgha-table4"))
    monkeypatch.setenv("EIGENLABEL_DATA", str(data_folder))
    protocol = contest.protocol(n_splits=1, methods=["TMEC"])
    small = [d for d in protocol.data if d.name == "emotions"]
    found = run(replace(protocol, data=small), tmp_path)
    assert len(plan(protocol).tasks) == 3
    for record in found:
        assert "error" not in record, record
        assert record["metrics"]["ranking_accuracy"] > 0.8
        assert record["parameters"]
