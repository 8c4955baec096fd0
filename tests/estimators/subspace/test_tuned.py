import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.metrics as sk
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    cross_validate,
)

from eigenlabel import SharedSubspaceClassifier, SharedSubspaceClassifierCV, metrics, thresholds
from eigenlabel.datasets import make_shared_subspace

ALPHAS, BETAS, RANKS = [0.0, 1e-2, 1.0, np.inf], [0.0, 1e-3, 1e-1], [0, 2, 5]
SMALL = {"alphas": ALPHAS, "betas": BETAS, "n_components": RANKS}


@pytest.fixture(scope="module")
def data():
    return make_shared_subspace(90, 12, 6, random_state=1)


@pytest.fixture(scope="module")
def wide():
    return make_shared_subspace(45, 70, 6, random_state=2)


def test_it_finds_what_a_grid_search_finds(data):
    splits = list(KFold(3).split(data.X))
    grid = {"alpha": ALPHAS[1:3], "beta": BETAS[1:], "n_components": RANKS}
    search = GridSearchCV(SharedSubspaceClassifier(), grid, scoring="f1_micro", cv=splits)
    search.fit(data.X, data.Y)
    ours = SharedSubspaceClassifierCV(
        ALPHAS[1:3], BETAS[1:], RANKS, scoring="f1_micro", cv=splits, threshold="zero"
    ).fit(data.X, data.Y)
    theirs = {
        tuple(p[k] for k in ("alpha", "beta", "n_components")): i
        for i, p in enumerate(search.cv_results_["params"])
    }
    for i, params in enumerate(ours.cv_results_["params"]):
        j = theirs[tuple(params.values())]
        for column in [*(f"split{k}_test_score" for k in range(3)), "mean_test_score"]:
            assert ours.cv_results_[column][i] == pytest.approx(search.cv_results_[column][j])
        assert ours.cv_results_["std_test_score"][i] == pytest.approx(
            search.cv_results_["std_test_score"][j]
        )


@pytest.mark.parametrize(
    ("scoring", "expected"),
    [
        ("f1_macro", lambda Y, S, P: sk.f1_score(Y, P, average="macro")),
        ("f1_micro", lambda Y, S, P: sk.f1_score(Y, P, average="micro")),
        ("f1_samples", lambda Y, S, P: sk.f1_score(Y, P, average="samples", zero_division=0)),
        ("hamming_loss", lambda Y, S, P: -sk.hamming_loss(Y, P)),
        ("auc_macro", lambda Y, S, P: sk.roc_auc_score(Y, S)),
        ("ranking_loss", lambda Y, S, P: -metrics.ranking_loss(Y, S)),
        ("roc_auc", lambda Y, S, P: sk.roc_auc_score(Y, S)),  # scikit-learn's name
        ("jaccard_macro", lambda Y, S, P: sk.jaccard_score(Y, P, average="macro")),
        (
            sk.make_scorer(
                sk.label_ranking_loss, greater_is_better=False, response_method="decision_function"
            ),
            lambda Y, S, P: -sk.label_ranking_loss(Y, S),
        ),
        (
            lambda estimator, X, y: -np.abs(estimator.predict(X) - y).sum(),
            lambda Y, S, P: -np.abs(P - Y).sum(),
        ),
    ],
    ids=lambda v: v if isinstance(v, str) else "callable",
)
def test_any_scoring_is_what_it_says_on_held_out_scores(data, scoring, expected):
    model = SharedSubspaceClassifierCV(**SMALL, scoring=scoring, cv=3).fit(data.X, data.Y)
    decided = (model.oof_scores_ > model.thresholds_).astype(int)
    assert model.best_score_ == pytest.approx(expected(data.Y, model.oof_scores_, decided))
    assert model.best_score_ == pytest.approx(model.cv_results_["pooled_test_score"].max())


def test_results_are_consistent(data):
    model = SharedSubspaceClassifierCV(**SMALL, cv=3).fit(data.X, data.Y)
    results = model.cv_results_
    n_points = len(ALPHAS) * len(BETAS) * len(RANKS)
    assert model.score_grid_.shape == (4, 3, 3)
    for key, value in results.items():
        assert len(value) == n_points, key
    for i, p in enumerate(results["params"]):
        place = ALPHAS.index(p["alpha"]), BETAS.index(p["beta"]), RANKS.index(p["n_components"])
        assert model.score_grid_[place] == results["pooled_test_score"][i]
        assert p == {k: results[f"param_{k}"][i] for k in p}
    assert results["rank_test_score"][model.best_index_] == 1
    assert results["params"][model.best_index_] == model.best_params_
    assert (model.alpha_, model.beta_) == (model.best_params_["alpha"], model.best_params_["beta"])
    by_fold = np.stack([results[f"split{k}_test_score"] for k in range(3)])
    np.testing.assert_allclose(by_fold.mean(axis=0), results["mean_test_score"])
    pd.DataFrame(results)  # one row per grid point


def test_the_final_model_is_the_classifier_with_the_best_parameters(data):
    for kernel in ("linear", "rbf"):
        model = SharedSubspaceClassifierCV(**SMALL, cv=3, kernel=kernel).fit(data.X, data.Y)
        plain = SharedSubspaceClassifier(**model.best_params_, kernel=kernel).fit(data.X, data.Y)
        np.testing.assert_allclose(
            model.decision_function(data.X), plain.decision_function(data.X), atol=1e-12
        )
        np.testing.assert_array_equal(
            model.predict(data.X), plain.decision_function(data.X) > model.thresholds_
        )


@pytest.mark.parametrize("name", list(thresholds.RULES))
def test_thresholds_are_those_of_the_rule_on_held_out_scores(data, name):
    model = SharedSubspaceClassifierCV([0.1], [0.01], cv=3, threshold=name).fit(data.X, data.Y)
    expected = thresholds.RULES[name].fit(model.oof_scores_, data.Y)
    np.testing.assert_array_equal(model.thresholds_, expected)


def test_training_thresholds_on_request(data):
    model = SharedSubspaceClassifierCV([0.1], [0.01], threshold="f1", threshold_on="training")
    model.fit(data.X, data.Y)
    expected = thresholds.PerLabelF1().fit(model.decision_function(data.X), data.Y)
    np.testing.assert_array_equal(model.thresholds_, expected)


def test_weights_count_like_copies_kept_in_one_fold(data, rng):
    w = rng.integers(0, 3, 90)
    copies = np.repeat(np.arange(90), w)
    fold = np.arange(90) % 3
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    repeated_fold = fold[copies]
    repeated_splits = [
        (np.flatnonzero(repeated_fold != k), np.flatnonzero(repeated_fold == k)) for k in range(3)
    ]
    for scoring in ("f1_macro", "ranking_loss", "auc_macro"):
        kw = {**SMALL, "scoring": scoring}
        weighted = SharedSubspaceClassifierCV(**kw, cv=splits).fit(data.X, data.Y, w)
        repeated = SharedSubspaceClassifierCV(**kw, cv=repeated_splits)
        repeated.fit(data.X[copies], data.Y[copies])
        np.testing.assert_allclose(
            weighted.cv_results_["pooled_test_score"],
            repeated.cv_results_["pooled_test_score"],
            atol=1e-9,
        )
        np.testing.assert_allclose(
            weighted.decision_function(data.X), repeated.decision_function(data.X), atol=1e-8
        )
    assert np.isnan(weighted.oof_scores_[w == 0]).all()
    assert not np.isnan(weighted.oof_scores_[w > 0]).any()


def test_zero_weights_with_a_precomputed_kernel(data):
    w = np.ones(90)
    w[:10] = 0
    K = data.X @ data.X.T
    given = SharedSubspaceClassifierCV(**SMALL, cv=3, kernel="precomputed").fit(K, data.Y, w)
    linear = SharedSubspaceClassifierCV(**SMALL, cv=3).fit(data.X, data.Y, w)
    np.testing.assert_allclose(given.oof_scores_, linear.oof_scores_, atol=1e-8)


def test_samples_held_out_several_times_or_never(data):
    cv = ShuffleSplit(3, test_size=0.3, random_state=0)
    model = SharedSubspaceClassifierCV([0.1], [0.01], [2], cv=cv).fit(data.X, data.Y)
    total, times = np.zeros(data.Y.shape), np.zeros(90)
    for train, test in cv.split(data.X):
        part = SharedSubspaceClassifier(0.1, 0.01, 2).fit(data.X[train], data.Y[train])
        total[test] += part.decision_function(data.X[test])
        times[test] += 1
    assert (times > 1).any()
    assert (times == 0).any()
    mean = np.where(times[:, None] > 0, total / np.maximum(times, 1)[:, None], np.nan)
    np.testing.assert_allclose(model.oof_scores_, mean, atol=1e-9)


def test_groups_reach_the_splitter(data):
    groups = np.arange(90) // 10
    model = SharedSubspaceClassifierCV([0.1], [0.01], [2], cv=GroupKFold(3))
    model.fit(data.X, data.Y, groups=groups)
    expected = naive_scores_groups(data, groups)
    np.testing.assert_allclose(model.oof_scores_, expected, atol=1e-9)


def naive_scores_groups(data, groups):
    out = np.zeros(data.Y.shape)
    for train, test in GroupKFold(3).split(data.X, groups=groups):
        model = SharedSubspaceClassifier(0.1, 0.01, 2).fit(data.X[train], data.Y[train])
        out[test] = model.decision_function(data.X[test])
    return out


def test_leave_one_out_keeps_no_column_per_sample():
    data = make_shared_subspace(120, 5, 4, random_state=0)
    model = SharedSubspaceClassifierCV([0.1], [0.01], cv=LeaveOneOut()).fit(data.X, data.Y)
    assert not [k for k in model.cv_results_ if k.startswith("split")]
    assert np.isfinite(model.best_score_)


def test_double_cross_validation_is_one_call(data):
    outer = cross_validate(
        SharedSubspaceClassifierCV(), data.X, data.Y, cv=3, scoring=["f1_macro", "f1_micro"]
    )
    assert outer["test_f1_macro"].mean() > 0.5


def test_it_tunes_towards_the_planted_dimension():
    data = make_shared_subspace(600, 60, 15, 3, random_state=5)
    model = SharedSubspaceClassifierCV(n_components=range(16), scoring="auc_macro")
    model.fit(data.X, data.Y)
    assert model.best_params_["alpha"] > 0
    assert model.best_params_["n_components"] == 3


def test_vector_targets_are_decided_by_the_highest_score(rng):
    X = rng.standard_normal((90, 4))
    y = np.array(["a", "b", "c"])[X[:, :3].argmax(axis=1)]
    model = SharedSubspaceClassifierCV(cv=3).fit(X, y)
    expected = model.classes_[model.decision_function(X).argmax(axis=1)]
    np.testing.assert_array_equal(model.predict(X), expected)
    assert model.score(X, y) > 0.8
    assert SharedSubspaceClassifierCV(cv=3, scoring="ranking_loss").fit(X, y).best_score_ > -0.3


def test_frames_and_sparse_labels_have_the_same_scores(data):
    dense = SharedSubspaceClassifierCV(**SMALL, cv=3).fit(data.X, data.Y)
    frame = pd.DataFrame(data.Y, columns=data.label_names)
    for y in (frame, sp.csr_array(data.Y), data.Y.tolist()):
        other = SharedSubspaceClassifierCV(**SMALL, cv=3).fit(data.X, y)
        np.testing.assert_array_equal(other.score_grid_, dense.score_grid_)
    copy = pickle.loads(pickle.dumps(dense))
    np.testing.assert_array_equal(copy.predict(data.X), dense.predict(data.X))


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"alphas": []}, ValueError, "alphas must be a non-empty list"),
        ({"alphas": [-1]}, ValueError, "alphas must be a number >= 0, or infinity, got -1.0"),
        ({"betas": [np.inf]}, ValueError, "betas must be a number >= 0, got inf"),
        ({"betas": [np.nan]}, ValueError, "betas"),
        ({"n_components": [7]}, ValueError, "n_components must be an integer between 0 and 6"),
        ({"n_components": []}, ValueError, "n_components is empty"),
        ({"n_components": 1.5}, TypeError, "n_components must be an integer"),
        ({"cv": 1}, ValueError, "cv must be an integer >= 2, got 1"),
        ({"cv": 91}, ValueError, "91 folds need at least 91 samples, got 90"),
        ({"cv": [([], [1])]}, ValueError, "split without training samples"),
        ({"cv": []}, ValueError, "cv is empty"),
        ({"scoring": "f1"}, ValueError, "binary"),
        (
            {"scoring": "nonsense"},
            ValueError,
            "Unknown scoring 'nonsense' for this y: use one of hamming",
        ),
        ({"scoring": lambda *_: np.nan}, ValueError, "undefined .NaN. at every grid point"),
        ({"scoring": None}, TypeError, "scoring must be a name or a callable, got None"),
        ({"scoring": "neg_log_loss"}, ValueError, "needs probabilities"),
        ({"alphas": ["x"]}, ValueError, "alphas must be a non-empty list of numbers"),
        ({"threshold": "nonsense"}, ValueError, "Unknown threshold rule"),
        ({"threshold_on": "test"}, ValueError, "threshold_on must be one of 'heldout'"),
    ],
)
def test_wrong_parameters_raise_an_error(data, params, error, message):
    with pytest.raises(error, match=message):
        SharedSubspaceClassifierCV(**params).fit(data.X, data.Y)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scoring", ["f1_macro", "f1_micro"])
def test_vector_targets_are_scored_as_scikit_learn_scores_them(rng, n_classes, scoring):
    X = rng.standard_normal((60, 4))
    y = X[:, :n_classes].argmax(axis=1)
    model = SharedSubspaceClassifierCV([0.1], [0.01], cv=3, scoring=scoring).fit(X, y)
    scores = model.oof_scores_
    decided = scores.argmax(axis=1) if n_classes == 3 else (scores[:, 0] > 0).astype(int)
    expected = sk.f1_score(y, decided, average=scoring[3:])
    assert model.best_score_ == pytest.approx(expected)


def test_scorers_of_scikit_learn_get_the_weights(data):
    w = np.linspace(0.5, 3, 90)
    model = SharedSubspaceClassifierCV([0.1], [0.01], cv=3, scoring="jaccard_macro")
    model.fit(data.X, data.Y, w)
    decided = model.oof_scores_ > model.thresholds_
    expected = sk.jaccard_score(data.Y, decided, average="macro", sample_weight=w)
    assert model.best_score_ == pytest.approx(expected)


def test_scorers_that_take_no_weights_are_called_without(data):
    w = np.linspace(0.5, 3, 90)
    scorer = sk.make_scorer(lambda y, p: float((y == p).mean()))
    model = SharedSubspaceClassifierCV([0.1], [0.01], cv=3, scoring=scorer).fit(data.X, data.Y, w)
    decided = model.oof_scores_ > model.thresholds_
    assert model.best_score_ == pytest.approx((decided == data.Y).mean())


def test_accuracy_of_a_vector_is_that_of_its_classes(rng):
    X = rng.standard_normal((60, 4))
    y = X[:, :3].argmax(axis=1)
    model = SharedSubspaceClassifierCV([0.1], [0.01], cv=3, scoring="accuracy").fit(X, y)
    assert model.best_score_ == pytest.approx((model.oof_scores_.argmax(axis=1) == y).mean())


def test_a_score_of_zero_is_the_first_class():
    y = np.tile([0, 1], 6)  # every training mean is zero, and so is every score
    model = SharedSubspaceClassifierCV([0.1], [0.01], cv=KFold(3)).fit(np.zeros((12, 2)), y)
    assert not model.oof_scores_.any()
    assert model.best_score_ == pytest.approx(sk.f1_score(y, np.zeros(12), average="macro"))


def test_training_thresholds_are_weighted(data):
    w = np.where(np.arange(90) % 2, 0.1, 10.0)
    model = SharedSubspaceClassifierCV([0.1], [0.01], threshold="f1", threshold_on="training")
    scores = model.fit(data.X, data.Y, w).decision_function(data.X)
    expected = thresholds.PerLabelF1().fit(scores, data.Y, w)
    assert (expected != thresholds.PerLabelF1().fit(scores, data.Y)).any()
    np.testing.assert_array_equal(model.thresholds_, expected)


def test_grid_points_with_an_undefined_score_are_passed_over(data):
    calls = []

    def scorer(estimator, X, y):  # noqa: ARG001
        calls.append(1)
        return np.nan if len(calls) == 1 else 0.5

    model = SharedSubspaceClassifierCV([0.1, 1.0], [0.01], cv=3, scoring=scorer)
    model.fit(data.X, data.Y)
    assert (model.best_index_, model.best_score_) == (1, 0.5)


def test_a_fold_of_zero_weight_is_left_out(data):
    w = np.ones(90)
    w[:30] = 0
    model = SharedSubspaceClassifierCV([0.1], [0.01], [2], cv=KFold(3)).fit(data.X, data.Y, w)
    half = SharedSubspaceClassifier(0.1, 0.01, 2).fit(data.X[30:60], data.Y[30:60])
    found, expected = model.oof_scores_, half.decision_function(data.X[60:])
    np.testing.assert_allclose(found[60:], expected, atol=1e-9)
    assert np.isnan(found[:30]).all()
    assert "split2_test_score" not in model.cv_results_


def test_repeated_tests_have_no_columns_by_fold_and_repeated_rows_count_once(data):
    cv = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    model = SharedSubspaceClassifierCV([0.1], [0.01], [2], cv=cv).fit(data.X, data.Y)
    assert "mean_test_score" not in model.cv_results_
    once = [(np.arange(60), np.arange(60, 90))]
    twice = [(np.arange(60), np.r_[60:90, 60:70])]
    found = [
        SharedSubspaceClassifierCV([0.1], [0.01], [2], cv=c).fit(data.X, data.Y).oof_scores_
        for c in (once, twice)
    ]
    np.testing.assert_array_equal(found[0], found[1])


def test_held_out_scores_of_an_indefinite_kernel_generalise():
    data = make_shared_subspace(300, 10, 5, random_state=0)
    train, test = slice(150), slice(150, 300)
    model = SharedSubspaceClassifierCV(kernel="sigmoid", gamma=0.01, scoring="auc_macro")
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        model.fit(data.X[train], data.Y[train])
    found = metrics.auc_macro(data.Y[test], model.decision_function(data.X[test]))
    assert found > model.best_score_ - 0.05


def test_a_kernel_that_is_all_but_the_identity():
    data = make_shared_subspace(120, 20, 6, random_state=0)
    X = data.X.copy()
    X[:, 0] *= 1e6  # every sample is far from every other
    model = SharedSubspaceClassifierCV(kernel="rbf", cv=3).fit(X, data.Y)
    assert np.isfinite(model.oof_scores_).all()


def test_thresholds_on_training_scores_know_names_and_leave_out_weightless_rows():
    data = make_shared_subspace(120, 8, 5, 2, random_state=0)
    X = pd.DataFrame(data.X, columns=[f"f{k}" for k in range(8)])
    weights = np.repeat([0.0, 1.0], [40, 80])
    parameters = {"alphas": [0.1], "betas": [0.1], "threshold_on": "training", "threshold": "f1"}
    weighted = SharedSubspaceClassifierCV(**parameters).fit(X, data.Y, sample_weight=weights)
    part = SharedSubspaceClassifierCV(**parameters).fit(X[40:], data.Y[40:])
    np.testing.assert_allclose(weighted.thresholds_, part.thresholds_, rtol=1e-8)
