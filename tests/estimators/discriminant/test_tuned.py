"""MtSDACV against refitting every fold, and what it stores."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit

from eigenlabel import MtSDA, MtSDACV, metrics, thresholds
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators.discriminant.tuned import PathScores
from eigenlabel.persistence import SavedModel, load_model, save_model

GRID = {"l1s": [20.0, 5.0, 0.0], "l2s": [0.5, 3.0], "rhos": [0.0, 0.3]}


@pytest.fixture(scope="module")
def data():
    return make_shared_subspace(60, 15, 4, random_state=5)


def heldout(model, X, y, cv, weights=None):
    found = None
    for train, test in cv.split(X):
        model.fit(X[train], y[train], None if weights is None else weights[train])
        scores = model.decision_function(X[test])
        found = np.full((len(y), *scores.shape[1:]), np.nan) if found is None else found
        found[test] = scores
    return found


# The score step of the paper does not minimise, and may go round in circles.
@pytest.mark.filterwarnings("ignore:MtSDA stopped:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", ["matrix", "binary", "multiclass"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scores", ["exact", "paper"])
def test_every_grid_point_equals_refitting(kind, sparse, weighted, scores, data, monkeypatch, rng):
    y = {"matrix": data.Y, "binary": data.Y[:, 0], "multiclass": data.Y.argmax(axis=1)}[kind]
    X = sp.csr_array(data.X) if sparse else data.X
    weights = rng.uniform(0.5, 2, 60) if weighted else None
    cv = KFold(3)
    kept = []
    original = PathScores.chunks

    def spy(self):
        for chunk in original(self):
            kept.append((self.params, chunk.scores))
            yield chunk

    monkeypatch.setattr(PathScores, "chunks", spy)
    MtSDACV(**GRID, cv=cv, scores=scores, scoring="f1_macro").fit(X, y, weights)
    points, found = kept[0]
    assert len(points) == 12
    for point, at in zip(points, found, strict=True):
        expected = heldout(MtSDA(**point, scores=scores), data.X, y, cv, weights)
        expected = expected.reshape(60, -1)
        # The metric of class means is inverted, which costs digits.
        tol = 1e-8 if kind == "matrix" else 1e-6 * max(1, np.abs(expected).max())
        np.testing.assert_allclose(at.T, expected, atol=tol)


def test_it_finds_what_a_grid_search_finds(data):
    splits = list(KFold(3).split(data.X))
    grid = {"l1": [20.0, 5.0], "l2": [0.5, 3.0], "rho": [0.0, 0.3]}
    search = GridSearchCV(MtSDA(threshold=thresholds.Top(1)), grid, scoring="f1_micro", cv=splits)
    search.fit(data.X, data.Y)
    ours = MtSDACV(
        [20.0, 5.0],
        [0.5, 3.0],
        [0.0, 0.3],
        scoring="f1_micro",
        cv=splits,
        threshold=thresholds.Top(1),
    ).fit(data.X, data.Y)
    theirs = {tuple(p.values()): i for i, p in enumerate(search.cv_results_["params"])}
    for i, params in enumerate(ours.cv_results_["params"]):
        j = theirs[tuple(params.values())]
        for column in [*(f"split{k}_test_score" for k in range(3)), "mean_test_score"]:
            assert ours.cv_results_[column][i] == pytest.approx(search.cv_results_[column][j])


def test_results_are_consistent(data):
    model = MtSDACV(**GRID, cv=3).fit(data.X, data.Y)
    results = model.cv_results_
    for key, value in results.items():
        assert len(value) == 12, key
    best = model.best_index_
    assert results["params"][best] == model.best_params_
    assert model.best_params_ == {"l1": model.l1_, "l2": model.l2_, "rho": model.rho_}
    assert model.best_score_ == results["pooled_test_score"].max()
    assert results["rank_test_score"][best] == 1
    assert (np.diff(results["param_l1"]) <= 0).all()
    assert results["converged"].all()
    sizes = results["n_features_selected"]
    assert sizes[results["param_l1"] == 0].min() == 15
    assert sizes[results["param_l1"] == 20].max() < 15
    decided = (model.oof_scores_ > model.thresholds_).astype(int)
    assert model.best_score_ == pytest.approx(metrics.f1_macro(data.Y, decided))
    expected = thresholds.get_rule("mixed").fit(model.oof_scores_, data.Y)
    np.testing.assert_array_equal(model.thresholds_, expected)
    refitted = MtSDA(**model.best_params_).fit(data.X, data.Y)
    np.testing.assert_allclose(model.coef_, refitted.coef_, atol=1e-9)
    scores = model.decision_function(data.X)
    np.testing.assert_array_equal(model.predict(data.X), scores > model.thresholds_)


def test_of_equal_scores_the_sparsest_wins(data):
    model = MtSDACV(**GRID, cv=3, scoring=lambda estimator, X, y: 1.0).fit(data.X, data.Y)
    assert model.best_params_ == {"l1": 20.0, "l2": 3.0, "rho": 0.3}


def test_defaults_scale_with_the_data(data):
    one = MtSDACV(cv=3).fit(data.X, data.Y)
    other = MtSDACV(cv=3).fit(1000 * data.X, data.Y)
    np.testing.assert_allclose(other.cv_results_["param_l1"], 1000 * one.cv_results_["param_l1"])
    np.testing.assert_allclose(other.cv_results_["param_l2"], 1e6 * one.cv_results_["param_l2"])
    np.testing.assert_allclose(other.oof_scores_, one.oof_scores_, atol=1e-8)
    assert len(one.cv_results_["params"]) == 8


def test_thresholds_of_training_scores_on_request(data):
    X = pd.DataFrame(data.X, columns=[f"f{i}" for i in range(15)])
    model = MtSDACV([5.0], [1.0], cv=3, threshold="global", threshold_on="training")
    model.fit(X, data.Y)
    expected = MtSDA(5.0, 1.0).fit(X, data.Y)
    np.testing.assert_allclose(model.thresholds_, expected.thresholds_, atol=1e-12)


def test_samples_without_weight_are_in_no_fold(data):
    weights = np.ones(60)
    weights[50:] = 0
    cv = ShuffleSplit(4, test_size=0.2, random_state=0)
    model = MtSDACV([5.0], [1.0], cv=cv).fit(data.X, data.Y, weights)
    assert np.isnan(model.oof_scores_[50:]).all()
    assert "split0_test_score" not in model.cv_results_  # tested repeatedly
    part = MtSDACV([5.0], [1.0], cv=3).fit(data.X, data.Y, weights)
    with_weight = ~np.isnan(part.oof_scores_).any(axis=1)
    assert with_weight[:50].all()
    assert not with_weight[50:].any()


def test_samples_tested_repeatedly_get_the_mean_of_their_scores(data):
    cv = ShuffleSplit(4, test_size=0.3, random_state=0)
    model = MtSDACV([5.0], [1.0], cv=cv).fit(data.X, data.Y)
    total, times = np.zeros((60, 4)), np.zeros(60)
    for train, test in cv.split(data.X):
        fitted = MtSDA(5.0, 1.0).fit(data.X[train], data.Y[train])
        total[test] += fitted.decision_function(data.X[test])
        times[test] += 1
    assert times.min() == 0
    assert times.max() > 1
    expected = total / np.where(times > 0, times, np.nan)[:, None]
    np.testing.assert_allclose(model.oof_scores_, expected, atol=1e-8)


def test_groups_stay_together(data):
    groups = np.arange(60) // 6
    model = MtSDACV([5.0], [1.0], cv=GroupKFold(3)).fit(data.X, data.Y, groups=groups)
    expected = np.full((60, 4), np.nan)
    for train, test in GroupKFold(3).split(data.X, groups=groups):
        fitted = MtSDA(5.0, 1.0).fit(data.X[train], data.Y[train])
        expected[test] = fitted.decision_function(data.X[test])
    np.testing.assert_allclose(model.oof_scores_, expected, atol=1e-8)


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"l1s": [-1.0]}, ValueError, "l1s must be a number >= 0, got -1"),
        ({"l2s": []}, ValueError, "l2s must be a non-empty list of numbers"),
        ({"rhos": "a"}, ValueError, "rhos must be a non-empty list of numbers"),
        ({"rhos": [0.0, 1.5]}, ValueError, "rho must lie between"),
        ({"cv": 1}, ValueError, "cv must be an integer >= 2"),
        ({"threshold_on": "test"}, ValueError, "threshold_on must be one of"),
        ({"scoring": "best"}, ValueError, "Unknown scoring 'best'"),
        ({"scores": "best"}, ValueError, "scores must be one of"),
    ],
)
def test_wrong_parameters_raise_an_error(params, error, message, data):
    with pytest.raises(error, match=message):
        MtSDACV(**params).fit(data.X, data.Y)


@pytest.mark.parametrize("sparse", [False, True])
def test_saved_models_predict_the_same(sparse, data, tmp_path):
    for model in (MtSDA(5.0), MtSDACV([5.0], [1.0], cv=3)):
        model.fit(data.X, data.Y)
        if sparse:
            model.sparsify()
        saved = SavedModel(model, data.feature_names, data.label_names)
        save_model(saved, tmp_path / "model.skops")
        again = load_model(tmp_path / "model.skops").model
        for method in ("auto", "discrete"):
            assert (again.predict(data.X, method) == model.predict(data.X, method)).all()


@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@pytest.mark.parametrize("few", [1, 2])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("scores", ["exact", "paper"])
def test_classes_of_few_samples_have_finite_scores(few, classes, scores, data):
    y = np.arange(60) % (classes - 1)
    y[:few] = classes - 1  # missing from the training part of a fold
    model = MtSDACV(l1s=[1.0], l2s=[1.0], cv=3, scores=scores).fit(data.X, y)
    assert np.isfinite(model.oof_scores_).all()
    assert np.isfinite(model.decision_function(data.X)).all()


def test_a_class_without_samples_never_wins(data):
    y = np.arange(60) % 3
    weights = (y != 1).astype(float)
    model = MtSDA(1.0, 1.0).fit(data.X, y, weights)
    without = MtSDA(1.0, 1.0).fit(data.X[y != 1], y[y != 1])
    np.testing.assert_array_equal(model.predict(data.X), without.predict(data.X))
