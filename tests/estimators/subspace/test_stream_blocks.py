"""Blocks of samples, taken in, taken out and merged, against one fit on all rows."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import PredefinedSplit
from sklearn.utils.validation import check_is_fitted

from eigenlabel import SharedSubspaceClassifier, SharedSubspaceClassifierCV, distributed
from eigenlabel.datasets import Dataset, make_shared_subspace, save
from eigenlabel.estimators.subspace import many_labels, solve
from eigenlabel.estimators.subspace.stream import draw
from eigenlabel.kernels import factor
from eigenlabel.linalg import machine
from eigenlabel.linalg.statistics import Statistics
from eigenlabel.persistence import SavedModel, load_model, save_model
from streams import assert_equal_models, assert_same_state, fed, make_data, state_of


@pytest.fixture
def data():
    return make_data()


# Equal to one fit


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("alpha", [0.1, np.inf])
def test_blocks_in_any_order_equal_one_fit(data, rng, form, weighted, intercept, alpha):
    X, Y = data
    X = form(X)
    more = {"sample_weight": rng.integers(0, 4, 300).astype(float)} if weighted else {}
    blocks = np.array_split(rng.permutation(300), 23)
    model = SharedSubspaceClassifier(alpha, 0.01, fit_intercept=intercept)
    found = fed(clone(model), X, Y, blocks, **more)
    expected = model.fit(X, Y, **more)
    assert_equal_models(found, expected)
    np.testing.assert_allclose(found.decision_function(X), expected.decision_function(X), atol=1e-8)
    np.testing.assert_allclose(found.transform(X), expected.transform(X), atol=1e-8)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    assert (found.n_samples_seen_, found.n_features_in_) == (300, 12)
    assert found.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()


def test_dense_and_sparse_blocks_may_follow_each_other(data):
    X, Y = data
    model = SharedSubspaceClassifier()
    for k in range(6):
        part = X[k::6]
        model.partial_fit(sp.csr_array(part) if k % 2 else part, Y[k::6])
    assert_equal_models(model, SharedSubspaceClassifier().fit(X, Y))


def test_float32_stays(data):
    X, Y = data
    X = X.astype(np.float32)
    model = fed(SharedSubspaceClassifier(), X, Y, np.array_split(np.arange(300), 7))
    assert model.coef_.dtype == model.decision_function(X).dtype == np.float32
    # Both are rounded to float32 at the end.
    assert_equal_models(model, SharedSubspaceClassifier().fit(X, Y), tolerance=1e-6)


def test_more_features_than_samples_are_accepted(rng):
    X, Y = rng.standard_normal((20, 50)), (rng.random((20, 4)) < 0.5).astype(int)
    model = fed(SharedSubspaceClassifier(), X, Y, np.array_split(np.arange(20), 4))
    assert_equal_models(model, SharedSubspaceClassifier().fit(X, Y))


def test_sparse_labels_come_back_sparse(data):
    X, Y = data
    model = SharedSubspaceClassifier().partial_fit(X, sp.csr_array(Y))
    assert isinstance(model.predict(X), sp.csr_array)


def test_merged_models_equal_one_fit(data):
    X, Y = data
    first = SharedSubspaceClassifier().partial_fit(X[:50], Y[:50])
    second = SharedSubspaceClassifier().partial_fit(X[50:200], Y[50:200])
    alone = copy.deepcopy(second)
    third = SharedSubspaceClassifier().partial_fit(X[200:], Y[200:])
    assert first.merge(second).merge(third) is first
    assert_equal_models(first, SharedSubspaceClassifier().fit(X, Y))
    assert_equal_models(second, alone, 0)
    assert (first.n_samples_seen_, second.n_samples_seen_) == (300, 150)


# Vectors of classes


@pytest.mark.parametrize("centres", [1, 2, 4])
def test_blocks_of_classes_equal_one_fit(centres):
    X, y = make_blobs(80, centers=centres, random_state=1)
    names = np.array(["b", "c", "d", "a"])
    y = names[y]
    classes = np.unique(y)
    model = SharedSubspaceClassifier().partial_fit(X[:1], y[:1], classes=classes)
    model.partial_fit(X[1:], y[1:])
    expected = SharedSubspaceClassifier().fit(X, y)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))
    scores = expected.decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-8)
    np.testing.assert_array_equal(model.classes_, classes)


def test_classes_must_be_passed_first_and_stay_the_same(data):
    X = data[0]
    y = np.arange(300) % 3
    model = SharedSubspaceClassifier()
    with pytest.raises(ValueError, match="classes must be passed with the first block"):
        model.partial_fit(X, y)
    assert vars(model) == vars(SharedSubspaceClassifier())
    model.partial_fit(X, y, classes=[0, 1, 2, 3])
    with pytest.raises(ValueError, match=r"Block 2: y holds the class .*7.*among the 4 classes"):
        model.partial_fit(X[:1], [7])
    with pytest.raises(ValueError, match="classes differ from those of the first call"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"classes has shape \(2,\), y has 6 labels"):
        SharedSubspaceClassifier().partial_fit(*data, classes=["a", "b"])


# Solved when asked


def test_many_blocks_are_solved_once(data, monkeypatch):
    X, Y = data
    calls = []
    closed_form = solve.solve_shared_subspace

    def counted(*args):
        calls.append(1)
        return closed_form(*args)

    monkeypatch.setattr(solve, "solve_shared_subspace", counted)
    collected = []
    of = Statistics.of
    monkeypatch.setattr(Statistics, "of", lambda *args: collected.append(1) or of(*args))
    model = fed(SharedSubspaceClassifier(), X, Y, np.array_split(np.arange(300), 100))
    assert not calls
    model.predict(X), model.coef_, model.transform(X), model.eigenlabels_
    assert (len(calls), len(collected)) == (1, 1)  # small blocks are collected together
    model.partial_fit(X[:1], Y[:1])
    assert hasattr(model, "coef_")
    assert len(calls) == 2


def test_a_block_may_be_changed_after_it_was_added(data):
    X, Y = data[0].copy(), data[1].copy()
    expected = SharedSubspaceClassifier().fit(X, Y)
    model = SharedSubspaceClassifier()
    for form in (np.asarray, sp.csr_array):
        Z, Q = form(X[:150].copy()), Y[:150].copy()
        model.partial_fit(Z, Q)
        (Z.data if sp.issparse(Z) else Z)[:] = 7
        Q[:] = 1
        X, Y = X[150:], Y[150:]
    assert_equal_models(model, expected)


def test_copies_can_be_continued(data, tmp_path):
    X, Y = data
    model = SharedSubspaceClassifier().partial_fit(X[:200], Y[:200])
    again = pickle.loads(pickle.dumps(model))
    assert not vars(again)["_stream"].folds[0].waiting  # a file holds no rows
    twin = copy.deepcopy(model)
    saved = SavedModel(model, np.arange(12).astype(str), np.arange(6).astype(str))
    save_model(saved, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops").model
    expected = SharedSubspaceClassifier().fit(X, Y)
    for each in (again, twin, loaded):
        check_is_fitted(each)
        assert_equal_models(each.partial_fit(X[200:], Y[200:]), expected)
    assert model.n_samples_seen_ == 200
    fresh = clone(model)
    assert not hasattr(fresh, "coef_")
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        model.nothing  # noqa: B018


def test_fit_ends_a_stream_and_a_stream_a_fit(data):
    X, Y = data
    model = SharedSubspaceClassifier().partial_fit(X, Y).fit(X[:100], Y[:100])
    assert not hasattr(model, "n_samples_seen_")
    assert_equal_models(model, SharedSubspaceClassifier().fit(X[:100], Y[:100]), 0)
    with pytest.warns(UserWarning, match="fit keeps no statistics that a block"):
        model.partial_fit(X[100:], Y[100:])
    assert_equal_models(model, SharedSubspaceClassifier().fit(X[100:], Y[100:]))


def test_a_finished_model_is_that_of_fit(data):
    X, Y = data
    for kind in (SharedSubspaceClassifier, SharedSubspaceClassifierCV):
        model = kind().partial_fit(X, Y)
        expected = copy.deepcopy(model).predict(X)
        assert model.finish() is model
        fitted = set(vars(kind().fit(X, Y)))
        assert set(vars(model)) == fitted
        assert model._stream is None
        np.testing.assert_array_equal(model.predict(X), expected)
        with pytest.raises(NotFittedError, match="finish needs a model fitted by partial_fit"):
            model.finish()
        with pytest.raises(ValueError, match="No block can be added after finish"):
            model.partial_fit(X, Y)
        np.testing.assert_array_equal(model.predict(X), expected)
        assert set(vars(model.fit(X, Y))) == fitted


# What cannot be


def test_other_kernels_have_no_blocks(data):
    model = SharedSubspaceClassifier(kernel="rbf").fit(*data)
    for name in ("partial_fit", "forget", "merge", "fit_files", "finish"):
        assert not hasattr(model, name)
    with pytest.raises(AttributeError, match="kernel='linear' only, this is kernel='rbf'"):
        model.partial_fit(*data)
    for solver in ("gram", "krylov"):
        with pytest.raises(ValueError, match=f"use solver='auto' or 'covariance', got '{solver}'"):
            SharedSubspaceClassifier(solver=solver).partial_fit(*data)


def test_too_many_features_raise_an_error_before_statistics_are_computed(data, monkeypatch):
    X, message = sp.csr_array((3, 2**17)), r"640 GiB .* limit is 1 GiB .*\. Hash the features"
    with pytest.raises(MemoryError, match=message):
        SharedSubspaceClassifier(max_memory=2**30).partial_fit(X, data[1][:3])
    with pytest.raises(MemoryError, match=r"5\.62 KiB .* limit is 500 bytes .*\. Hash"):
        SharedSubspaceClassifier(max_memory=500).partial_fit(*data)
    for module in (factor, machine):
        monkeypatch.setattr(module, "memory_limit", lambda: 2.0**30)
    with pytest.raises(MemoryError, match=message):
        SharedSubspaceClassifier().partial_fit(X, data[1][:3])


def bad_blocks(X, Y):
    late = X[:5].copy()
    late[3, 2] = np.nan
    infinite = sp.csr_array(X[:5])
    infinite.data[infinite.indptr[4]] = np.inf
    frame = pd.DataFrame(Y[:5], columns=list("abcdeg"))
    return {
        "NaN": (late, Y[:5], r"Block 3, row 3: Input X contains NaN"),
        "infinity": (infinite, Y[:5], r"Block 3, row 4: Input X contains infinity"),
        "width": (X[:5, :7], Y[:5], "Block 3: X has 7 features, but Shared.* expecting 12"),
        "labels": (X[:5], Y[:5, :4], "Block 3: y has 4 labels, the blocks before 6"),
        "names": (X[:5], frame, "Block 3: Label 5 of y is 'g', of the blocks before 'f'"),
        "vector": (X[:5], [0, 1, 2, 1, 0], "Block 3: y must be a label matrix"),
        "length": (X[:5], Y[:4], "Block 3: .*inconsistent numbers of samples"),
        "empty": (X[:0], Y[:0], "Block 3: Found array with 0 sample"),
        "no y": (X[:5], None, "Block 3: requires y to be passed"),
        "huge": (X[:5] * 1e80, Y[:5], "Block 3: The largest value of X is"),
        "half labels": (X[:5], Y[:5] * 0.5, "Block 3: y must be a label matrix of 0 and 1"),
    }


@pytest.mark.parametrize("fault", bad_blocks(np.ones((9, 12)), np.ones((9, 6), dtype=int)))
def test_a_bad_block_changes_nothing(data, fault):
    X, Y = data
    frame = pd.DataFrame(Y, columns=list("abcdef"))
    model = SharedSubspaceClassifier().partial_fit(X[:100], frame[:100])
    model.partial_fit(X[100:], frame[100:])
    model.coef_  # noqa: B018  solved, and to stay so
    before = state_of(model)
    block, labels, message = bad_blocks(X, Y)[fault]
    with pytest.raises(ValueError, match=message):
        model.partial_fit(block, labels)
    assert_same_state(model, before)
    first = SharedSubspaceClassifier()
    if fault in ("NaN", "empty", "no y", "huge", "half labels", "length"):
        with pytest.raises(ValueError):
            first.partial_fit(block, labels)
        assert vars(first) == vars(SharedSubspaceClassifier())


def test_wrong_weights_raise_an_error(data):
    X, Y = data
    model = SharedSubspaceClassifier().partial_fit(X, Y)
    before = state_of(model)
    with pytest.raises(ValueError, match=r"Block 2: .*[Nn]egative"):
        model.partial_fit(X, Y, sample_weight=-np.ones(300))
    assert_same_state(model, before)


@pytest.mark.parametrize("estimator", [SharedSubspaceClassifier, SharedSubspaceClassifierCV])
def test_many_labels_raise_an_error_at_once(estimator, data, tmp_path, monkeypatch):
    X, Y = data
    save(Dataset(X, Y, [f"x{j}" for j in range(12)], list("abcdef")), tmp_path / "a.npz")
    monkeypatch.setattr(many_labels, "MANY", 6)
    model = estimator()
    for call in (
        lambda: model.partial_fit(X, Y),
        lambda: model.partial_fit(X, sp.csr_array(Y)),
        lambda: model.partial_fit(X, np.zeros(300), classes=range(6)),
        lambda: model.fit_files(tmp_path / "a.npz"),
        lambda: distributed.fit(model, X, Y),
    ):
        with pytest.raises(ValueError, match=r"m = 6 labels \(the limit is 6\). Fit all rows"):
            call()
    assert not hasattr(model, "classes_")
    model.partial_fit(X, Y[:, :5])


def test_models_that_cannot_be_merged_raise_an_error(data):
    X, Y = data
    with pytest.raises(TypeError, match=r"merge needs another SharedSubspaceClassifier .* got 5"):
        SharedSubspaceClassifier().partial_fit(X, Y).merge(5)
    model = SharedSubspaceClassifier().partial_fit(X, Y)
    before = state_of(model)
    for other, message in (
        (SharedSubspaceClassifier().partial_fit(X[:, :4], Y), "other model has 4 features"),
        (SharedSubspaceClassifier().partial_fit(X, Y[:, :4]), "different labels"),
        (SharedSubspaceClassifierCV().partial_fit(X, Y), "models of the same class"),
        (SharedSubspaceClassifier().fit(X, Y), "merge needs two models"),
    ):
        with pytest.raises(ValueError, match=message):
            model.merge(other)
        assert_same_state(model, before)
    left, right = (
        SharedSubspaceClassifier().partial_fit(pd.DataFrame(X[:, :2], columns=names), Y)
        for names in (["a", "b"], ["b", "a"])
    )
    with pytest.raises(ValueError, match="features of different names"):
        left.merge(right)


def test_features_of_very_different_spread_warn(data):
    X, Y = data
    X = X * np.r_[1e-9, np.ones(11) * 1e3]
    model = SharedSubspaceClassifier().partial_fit(X, Y)
    with pytest.warns(UserWarning, match="The spreads of the features differ"):
        model.predict(X)


# Tuning


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_tuned_on_blocks_equals_tuned_on_all(data, rng, form, weighted, intercept):
    X, Y = form(data[0]), data[1]
    more = {"sample_weight": rng.integers(0, 3, 300).astype(float)} if weighted else {}
    setting = {"alphas": [0, 0.1, np.inf], "betas": [1e-3, 0.1], "n_components": [1, 3]}
    setting["fit_intercept"] = intercept
    model = SharedSubspaceClassifierCV(**setting)
    fed(model, X, Y, np.array_split(np.arange(300), 11), **more)
    cv = PredefinedSplit(draw(0, 300, 5)[0])
    expected = SharedSubspaceClassifierCV(**setting, cv=cv).fit(X, Y, **more)
    np.testing.assert_allclose(model.score_grid_, expected.score_grid_, atol=1e-8)
    assert model.best_params_ == expected.best_params_
    np.testing.assert_allclose(model.thresholds_, expected.thresholds_, atol=1e-8)
    used = ~np.isnan(expected.oof_scores_).any(axis=1)
    np.testing.assert_allclose(model.oof_scores_, expected.oof_scores_[used], atol=1e-8)
    assert_equal_models(model, expected)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))


@pytest.mark.parametrize("centres", [2, 3])
@pytest.mark.parametrize("scoring", ["f1_macro", "accuracy"])
def test_tuned_on_blocks_of_classes(centres, scoring):
    X, y = make_blobs(90, centers=centres, cluster_std=4, random_state=1)
    setting = {"alphas": [0.1], "betas": [1e-3, 0.1], "scoring": scoring}
    model = SharedSubspaceClassifierCV(**setting).partial_fit(X[:9], y[:9], range(centres))
    model.partial_fit(X[9:], y[9:])
    cv = PredefinedSplit(draw(0, 90, 5)[0])
    expected = SharedSubspaceClassifierCV(**setting, cv=cv).fit(X, y)
    np.testing.assert_allclose(model.score_grid_, expected.score_grid_, atol=1e-8)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))


def test_thresholds_on_training_scores(data):
    X, Y = data
    setting = {"alphas": [0.1], "betas": [0.1], "threshold_on": "training"}
    model = SharedSubspaceClassifierCV(**setting).partial_fit(X, Y)
    expected = SharedSubspaceClassifierCV(**setting).fit(X, Y)
    np.testing.assert_allclose(model.thresholds_, expected.thresholds_, atol=1e-8)


def test_tuned_models_merge(data):
    X, Y = data
    setting = {"alphas": [0.1], "betas": [0.01, 0.1]}
    model, other = (
        SharedSubspaceClassifierCV(**setting).partial_fit(X[rows], Y[rows])
        for rows in (slice(0, 130), slice(130, 300))
    )
    folds = np.concatenate([draw(0, n, 5)[0] for n in (130, 170)])
    expected = SharedSubspaceClassifierCV(**setting, cv=PredefinedSplit(folds)).fit(X, Y)
    model.merge(other)
    np.testing.assert_allclose(model.score_grid_, expected.score_grid_, atol=1e-8)
    np.testing.assert_allclose(model.oof_scores_, expected.oof_scores_, atol=1e-8)
    assert_equal_models(model, expected)


def test_tuned_streams_are_saved_and_go_on(data, tmp_path):
    X, Y = data
    model = SharedSubspaceClassifierCV([0.1], [0.1]).partial_fit(X[:200], Y[:200])
    saved = SavedModel(model, np.arange(12).astype(str), np.arange(6).astype(str))
    save_model(saved, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops").model
    assert not hasattr(again, "forget")
    for each in (model, again):
        each.partial_fit(X[200:], Y[200:])
    np.testing.assert_array_equal(again.thresholds_, model.thresholds_)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_tuning_needs_folds_by_number(data):
    X, Y = data
    with pytest.raises(TypeError, match="cv must be an integer >= 2"):
        SharedSubspaceClassifierCV(cv=PredefinedSplit(np.arange(300) % 2)).partial_fit(X, Y)
    model = SharedSubspaceClassifierCV().partial_fit(X[:1], Y[:1])
    with pytest.raises(ValueError, match="1 samples are too few to tune on"):
        model.predict(X)


# Files


@pytest.mark.parametrize("kind", [SharedSubspaceClassifier, SharedSubspaceClassifierCV])
def test_the_display_of_a_notebook_does_not_solve(kind):
    data = make_shared_subspace(40, 5, 3, random_state=0)
    model = kind().partial_fit(data.X, data.Y)
    shown = model._repr_html_()
    assert kind.__name__ in shown
    assert kind.__name__ in model._repr_mimebundle_()["text/html"]
    assert "n_features_in_" in dir(model)
    assert "coef_" not in dir(model)
    assert model._stream.solution is None
    model.coef_  # noqa: B018  solves
    assert len(model._repr_html_()) > 1000
    assert "coef_" in dir(model)
    assert model.get_feature_names_out().size == model.n_components_
