"""Xiong et al. (KGHA): methods, effort and rows of the contests."""

import numpy as np
import pytest

from eigenlabel import JEC, KGHA, catalogue, metrics
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.experiment import Method
from eigenlabel.reproduce import CONTESTS, get_table, published
from eigenlabel.reproduce.contests import row_name
from eigenlabel.thresholds import Top
from protocols import VIEWS, planted_views


@pytest.mark.parametrize("name", [name for name in CONTESTS if name.startswith("kgha")])
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


@pytest.mark.parametrize("name", [name for name in CONTESTS if name.startswith("kgha")])
def test_every_method_of_a_contest_has_the_same_effort(name):
    protocol = get_table(name).protocol()
    wanted = "label_f1_at_5" if name in ("kgha-table3", "kgha-table4") else "ranking_accuracy"
    assert {m.scoring for m in protocol.methods} == {wanted}
    for method in protocol.methods:
        tuned = method.make()
        candidates = np.prod([len(values) for values in tuned.param_grid.values()])
        printed = method.name.startswith("KGHA-eq31")  # with the candidates of the paper
        assert (candidates, tuned.cv.n_splits) == (25 if printed else 9, 4), method.name
        assert tuned.estimator.threshold == Top(5)
    spec = protocol.splits
    assert (spec.kind, spec.n_splits, spec.train_size) == ("shuffle", 10, 0.6)


def test_a_table_of_shares_varies_the_dimension_and_nothing_else():
    for method in get_table("kgha-table6").protocol().methods:
        model = method.make().estimator
        assert model.n_components == float(method.name.removeprefix("p/m "))
        plain = KGHA(threshold=Top(5), random_state=0).get_params()
        assert {k: v for k, v in model.get_params().items() if k != "n_components"} == {
            k: v for k, v in plain.items() if k != "n_components"
        }


def test_the_names_of_the_paper_are_settings_of_kgha():
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
def test_the_regressions_of_the_paper_are_ridge_regressions(name, kernel):
    data = planted_views()
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


def test_taggers_are_tuned_by_scores_even_if_label_sets_contain_every_label():
    data = make_shared_subspace(60, n_labels=4, n_features=8, random_state=0)
    model = catalogue.make("JEC")
    with pytest.warns(UserWarning, match=r"Top\(5\) predicts all 4 labels .* as threshold"):
        model.fit(data.X, data.Y)
    assert np.ptp(model.cv_results_["mean_test_score"]) > 0
    assert Method("JEC").searched_by == "average_precision"
    assert Method("ridge").searched_by == Method("a", JEC()).searched_by == "f1_macro"
    assert Method("JEC", scoring="f1_micro").searched_by == "f1_micro"


def test_the_method_as_printed_has_the_candidates_of_the_paper():
    printed, intercept = (catalogue.make(f"KGHA-eq31{end}") for end in ("", "-intercept"))
    for model in (printed, intercept):
        for name in ("trade_off", "ridge"):
            np.testing.assert_allclose(model.param_grid[name], [1e-5, 1e-4, 1e-3, 1e-2, 1e-1])
        assert model.estimator.decoding == "pseudo-inverse"
    assert (printed.estimator.fit_intercept, intercept.estimator.fit_intercept) == (False, True)
    assert catalogue.METHODS["KGHA-eq31"].revision == 2
    assert "KGHA-eq31-intercept" in {m.name for m in get_table("kgha-table7").beyond}
