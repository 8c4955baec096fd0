"""Blocks of samples, taken in, taken out and merged, against one fit on all rows."""

import copy
import pickle
import tracemalloc

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
from eigenlabel.datasets import Dataset, load, make_shared_subspace, save
from eigenlabel.estimators.subspace import classifier as shared_subspace
from eigenlabel.estimators.subspace import many_labels, stream, streaming
from eigenlabel.estimators.subspace.stream import draw
from eigenlabel.kernels import factor
from eigenlabel.linalg import memory, statistics
from eigenlabel.linalg.statistics import Statistics
from eigenlabel.persistence import SavedModel, load_model, save_model

FITTED = ("coef_", "intercept_", "eigenvalues_", "components_")


@pytest.fixture
def data():
    made = make_shared_subspace(300, 12, 6, 2, prevalence=0.3, random_state=0)
    X = made.X + 3 * np.arange(12)  # means that are no zeros
    X[np.abs(made.X) < 0.5] = 0
    return X, made.Y


def fed(model, X, Y, blocks, **more):
    for rows in blocks:
        extra = {k: v[rows] for k, v in more.items()}
        model.partial_fit(X[rows], Y[rows], **extra)
    return model


def assert_equal_models(found, expected, tolerance=1e-8):
    for name in FITTED:
        wanted = getattr(expected, name)
        scale = np.abs(wanted).max()
        np.testing.assert_allclose(getattr(found, name), wanted, atol=tolerance * scale)


def state_of(model):
    """Give what must not change when a block is refused."""
    found = {k: v for k, v in vars(model).items() if k != "_stream"}
    kept = vars(model).get("_stream")
    return found, None if kept is None else (kept, copy.deepcopy(kept.settle().folds[0].total))


def assert_same_state(model, before):
    found, kept = state_of(model)
    assert found.keys() == before[0].keys()
    for name, value in before[0].items():
        assert found[name] is value
    if kept is not None:
        assert kept[0] is before[1][0]
        np.testing.assert_array_equal(kept[1].XX, before[1][1].XX)


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


def test_more_features_than_samples(rng):
    X, Y = rng.standard_normal((20, 50)), (rng.random((20, 4)) < 0.5).astype(int)
    model = fed(SharedSubspaceClassifier(), X, Y, np.array_split(np.arange(20), 4))
    assert_equal_models(model, SharedSubspaceClassifier().fit(X, Y))


def test_sparse_labels_come_back_sparse(data):
    X, Y = data
    model = SharedSubspaceClassifier().partial_fit(X, sp.csr_array(Y))
    assert isinstance(model.predict(X), sp.csr_array)


def test_a_thousand_blocks_less_half_of_them(rng):
    X, Y = rng.standard_normal((3000, 8)) + 5, (rng.random((3000, 5)) < 0.4).astype(int)
    X[:, 0] += Y[:, 0]
    blocks = np.split(np.arange(3000), 1000)
    model = fed(SharedSubspaceClassifier(), X, Y, blocks)
    gone = rng.choice(1000, 500, replace=False)
    for k in gone:
        model.forget(X[blocks[k]], Y[blocks[k]])
    left = np.delete(np.arange(1000), gone)
    rest = np.concatenate([blocks[k] for k in left])
    expected = SharedSubspaceClassifier().fit(X[rest], Y[rest])
    assert_equal_models(model, expected)  # 1e-6 is asked for
    assert model.n_samples_seen_ == 1500


def test_forgetting_weighted_sparse_samples(data, rng):
    X, Y = sp.csr_array(data[0]), data[1]
    w = rng.uniform(0.1, 3, 300)
    model = SharedSubspaceClassifier().partial_fit(X, Y, sample_weight=w)
    model.forget(X[:100], Y[:100], sample_weight=w[:100])
    expected = SharedSubspaceClassifier().fit(X[100:], Y[100:], w[100:])
    assert_equal_models(model, expected)


@pytest.mark.parametrize("last", ["label", "feature", "every feature"])
def test_forgetting_goes_on_where_something_has_become_constant(data, last):
    X, Y = data
    only = np.arange(len(X)) == 7
    X, Y = {
        "label": (X, np.c_[Y, only]),
        "feature": (np.c_[X, 0.3 * only], Y),
        "every feature": (0.3 * only[:, None], Y),
    }[last]
    model = SharedSubspaceClassifier().partial_fit(X, Y).forget(X[7:8], Y[7:8])
    for k in (20, 30, 40):
        model.forget(X[k : k + 1], Y[k : k + 1])
    left = ~np.isin(np.arange(len(X)), (7, 20, 30, 40))
    whole = SharedSubspaceClassifier().fit(X[left], Y[left])
    np.testing.assert_allclose(
        model.decision_function(X[left]), whole.decision_function(X[left]), atol=1e-9
    )
    total = model._stream.total()
    assert (np.diag(total.XX) >= 0).all()
    assert (total.TT >= 0).all()


@pytest.mark.parametrize("beta", [1e-3, 1.0])
def test_forgetting_samples_that_never_were_there_is_reported(beta):
    drawn = make_shared_subspace(140, 80, 6, random_state=0)
    X, Y, strange = drawn.X, drawn.Y, slice(100, 140)
    model = SharedSubspaceClassifier(beta=beta).partial_fit(X[:100], Y[:100])
    model.forget(X[strange], Y[strange])  # no single feature says so
    with pytest.raises(ValueError, match="were not all among those taken in"):
        model.predict(X)
    model.partial_fit(X[strange], Y[strange])
    whole = SharedSubspaceClassifier(beta=beta).fit(X[:100], Y[:100])
    np.testing.assert_allclose(
        model.decision_function(X), whole.decision_function(X), rtol=0, atol=1e-7
    )  # what was taken out and added again leaves its rounding


def test_forgetting_everything_and_starting_again(data):
    X, Y = data
    model = SharedSubspaceClassifier().partial_fit(X, Y).forget(X, Y)
    assert model.n_samples_seen_ == 0
    assert not hasattr(model, "coef_")
    with pytest.raises(NotFittedError, match="No samples are left"):
        model.predict(X)
    model.partial_fit(X[:200], Y[:200])
    assert_equal_models(model, SharedSubspaceClassifier().fit(X[:200], Y[:200]))


def test_merging(data):
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
def test_classes(centres):
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


def test_classes_must_be_told_and_kept(data):
    X = data[0]
    y = np.arange(300) % 3
    model = SharedSubspaceClassifier()
    with pytest.raises(ValueError, match="classes must be passed with the first block"):
        model.partial_fit(X, y)
    assert not vars(model).keys() & {"_stream", "n_features_in_", "classes_"}
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
    solve = shared_subspace.solve_shared_subspace

    def counted(*args):
        calls.append(1)
        return solve(*args)

    monkeypatch.setattr(shared_subspace, "solve_shared_subspace", counted)
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


def test_what_a_block_holds_may_change_afterwards(data):
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


def test_copies(data, tmp_path):
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
    with pytest.warns(UserWarning, match="fit keeps no statistics to add to"):
        model.partial_fit(X[100:], Y[100:])
    assert_equal_models(model, SharedSubspaceClassifier().fit(X[100:], Y[100:]))


def test_a_finished_model_is_that_of_fit(data):
    X, Y = data
    for kind in (SharedSubspaceClassifier, SharedSubspaceClassifierCV):
        model = kind().partial_fit(X, Y)
        expected = copy.deepcopy(model).predict(X)
        assert model.finish() is model
        fitted = set(vars(kind().fit(X, Y)))
        assert set(vars(model)) == fitted | {"_finished"}
        np.testing.assert_array_equal(model.predict(X), expected)
        with pytest.raises(NotFittedError, match="finish needs a model fitted by partial_fit"):
            model.finish()
        with pytest.raises(ValueError, match="no block can be added after finish"):
            model.partial_fit(X, Y)
        np.testing.assert_array_equal(model.predict(X), expected)
        assert set(vars(model.fit(X, Y))) == fitted


# What cannot be


def test_linear_kernels_only(data):
    model = SharedSubspaceClassifier(kernel="rbf").fit(*data)
    for name in ("partial_fit", "forget", "merge", "fit_files", "finish"):
        assert not hasattr(model, name)
    with pytest.raises(AttributeError, match="kernel='linear' only, this is kernel='rbf'"):
        model.partial_fit(*data)
    for solver in ("gram", "krylov"):
        with pytest.raises(ValueError, match=f"use solver='auto' or 'covariance', got '{solver}'"):
            SharedSubspaceClassifier(solver=solver).partial_fit(*data)


def test_too_many_features_are_refused_before_they_are_counted(data, monkeypatch):
    X, message = sp.csr_array((3, 2**17)), r"640 GiB .* limit is 1 GiB .*\. Hash the features"
    with pytest.raises(MemoryError, match=message):
        SharedSubspaceClassifier(max_memory=2**30).partial_fit(X, data[1][:3])
    with pytest.raises(MemoryError, match=r"5\.62 KiB .* limit is 500 bytes .*\. Hash"):
        SharedSubspaceClassifier(max_memory=500).partial_fit(*data)
    for module in (factor, memory):
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


def test_weights_that_are_wrong(data):
    X, Y = data
    model = SharedSubspaceClassifier().partial_fit(X, Y)
    before = state_of(model)
    with pytest.raises(ValueError, match=r"Block 2: .*[Nn]egative"):
        model.partial_fit(X, Y, sample_weight=-np.ones(300))
    assert_same_state(model, before)


def test_what_cannot_be_forgotten(data):
    X, Y = data
    model = SharedSubspaceClassifier().partial_fit(X[:50], Y[:50])
    before = state_of(model)
    for block, labels, weights, message in (
        (X[:60], Y[:60], None, "Cannot forget 60 samples: the model has seen 50"),
        (X[:50], Y[:50], np.full(50, 2.0), "of weight 100 are to be forgotten, of 50"),
        (X[:50], Y[:50], np.full(50, 0.5), "of weight 25 are to be forgotten, of 50"),
        (X[:5] + 100, Y[:5], None, "were not all in the model"),
        (X[:40], 1 - Y[:40], None, "were not all in the model"),
        (X[:5, :3], Y[:5], None, "X has 3 features"),
        (X[:5], Y[:5, :2], None, "y has 2 labels"),
    ):
        with pytest.raises(ValueError, match=message):
            model.forget(block, labels, weights)
        assert_same_state(model, before)
    with pytest.raises(NotFittedError, match="forget needs a model fitted by partial_fit"):
        SharedSubspaceClassifier().fit(X, Y).forget(X, Y)


@pytest.mark.parametrize("estimator", [SharedSubspaceClassifier, SharedSubspaceClassifierCV])
def test_many_labels_are_refused_at_once(estimator, data, tmp_path, monkeypatch):
    X, Y = data
    save(Dataset(X, Y, [f"x{j}" for j in range(12)], list("abcdef")), tmp_path / "a.npz")
    monkeypatch.setattr(many_labels, "MANY", 6)
    model = estimator()
    for refuse in (
        lambda: model.partial_fit(X, Y),
        lambda: model.partial_fit(X, sp.csr_array(Y)),
        lambda: model.partial_fit(X, np.zeros(300), classes=range(6)),
        lambda: model.fit_files(tmp_path / "a.npz"),
        lambda: distributed.fit(model, X, Y),
    ):
        with pytest.raises(ValueError, match=r"m = 6 labels \(the limit is 6\). Fit all rows"):
            refuse()
    assert not hasattr(model, "classes_")
    model.partial_fit(X, Y[:, :5])


def test_a_later_file_that_is_wider_says_what_to_pass(tmp_path):
    (tmp_path / "a.svm").write_text("0 1:1 2:1\n1 1:2\n")
    (tmp_path / "b.svm").write_text("1 1:1 5:1\n")
    paths = [tmp_path / "a.svm", tmp_path / "b.svm"]
    with pytest.raises(ValueError, match=r"b\.svm, line 1: feature 5 .*first file; pass n_f"):
        SharedSubspaceClassifier().fit_files(paths)
    model = SharedSubspaceClassifier().fit_files(paths, n_features=6, n_labels=2)
    assert model.n_features_in_ == 6


def test_what_cannot_be_merged(data):
    X, Y = data
    with pytest.raises(TypeError, match=r"merge needs another SharedSubspaceClassifier .* got 5"):
        SharedSubspaceClassifier().partial_fit(X, Y).merge(5)
    model = SharedSubspaceClassifier().partial_fit(X, Y)
    before = state_of(model)
    for other, message in (
        (SharedSubspaceClassifier().partial_fit(X[:, :4], Y), "other model has 4 features"),
        (SharedSubspaceClassifier().partial_fit(X, Y[:, :4]), "different labels"),
        (SharedSubspaceClassifierCV().partial_fit(X, Y), "models of one class"),
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


def test_features_of_very_different_spread_are_told_of(data):
    X, Y = data
    X = X * np.r_[1e-9, np.ones(11) * 1e3]
    model = SharedSubspaceClassifier().partial_fit(X, Y)
    with pytest.warns(UserWarning, match="The spreads of the features differ"):
        model.predict(X)


# Tuning


def test_folds_depend_on_the_position_alone():
    folds, keys = draw(0, 20_000, 5)
    for start, n in ((0, 7), (5119, 3), (5121, 5120), (12_345, 6000)):
        some = draw(start, n, 5)
        np.testing.assert_array_equal(some[0], folds[start : start + n])
        np.testing.assert_array_equal(some[1], keys[start : start + n])
    runs = np.sort(folds.reshape(-1, 5), axis=1)
    assert (runs == np.arange(5)).all()
    assert len(np.unique(folds.reshape(-1, 5), axis=0)) == 120
    assert len(np.unique(keys)) == 20_000


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


@pytest.mark.parametrize("bound", ["KEPT_SCORES", "KEPT_BYTES"])
def test_an_even_draw_of_samples_is_kept(data, monkeypatch, bound):
    X, Y = data
    monkeypatch.setattr(stream, bound, {"KEPT_SCORES": 6 * 100, "KEPT_BYTES": 100 * 102}[bound])
    setting = {"alphas": [0.1], "betas": [0.1, 10.0]}
    model = SharedSubspaceClassifierCV(**setting)
    fed(model, X, Y, np.array_split(np.arange(300), 13))
    keys = draw(0, 300, 5)[1]
    kept = next(keys < 2.0**-k for k in range(9) if (keys < 2.0**-k).sum() <= 100)
    cv = PredefinedSplit(draw(0, 300, 5)[0])
    expected = SharedSubspaceClassifierCV(**setting, cv=cv).fit(X, Y)
    assert model.oof_scores_.shape[0] == kept.sum() > 20
    # All samples count in every fold's fit.
    if model.best_params_ == expected.best_params_:
        np.testing.assert_allclose(model.oof_scores_, expected.oof_scores_[kept], atol=1e-8)
    assert_equal_models(model, SharedSubspaceClassifier(**_chosen(model.best_params_)).fit(X, Y))
    half = SharedSubspaceClassifierCV(**setting).partial_fit(X[:150], Y[:150])
    other = SharedSubspaceClassifierCV(**setting).partial_fit(X[150:], Y[150:])
    half.merge(other)
    assert 20 < half.oof_scores_.shape[0] <= 100
    assert_equal_models(half, SharedSubspaceClassifier(**_chosen(half.best_params_)).fit(X, Y))


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


def _chosen(params):
    return {k: params[k] for k in ("alpha", "beta", "n_components")}


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


def write(folder, X, Y, name):
    names = np.array([f"f{j}" for j in range(X.shape[1])]), np.array(list("abcdef"))
    save(Dataset(sp.csr_array(X), sp.csr_array(Y), *names), folder / name)
    return folder / name


@pytest.mark.parametrize("suffix", ["svm", "csv", "arff"])
def test_files_equal_one_fit(data, tmp_path, suffix):
    X, Y = data
    whole = load(write(tmp_path, X, Y, f"all.{suffix}"))
    paths = [
        write(tmp_path, X[part], Y[part], f"{k}.{suffix}")
        for k, part in enumerate((slice(0, 120), slice(120, 300)))
    ]
    model = SharedSubspaceClassifier(0.1).partial_fit(X[:, :3], Y[:, :2])
    assert model.fit_files(paths, rows=50) is model
    assert_equal_models(model, SharedSubspaceClassifier(0.1).fit(whole.X, whole.Y))
    assert (model.n_samples_seen_, model.classes_.tolist()) == (300, list("abcdef"))
    single = SharedSubspaceClassifier(0.1).fit_files(str(tmp_path / f"all.{suffix}"), rows=77)
    assert_equal_models(single, model)


def test_files_tuned(data, tmp_path):
    X, Y = data
    path = write(tmp_path, X, Y, "all.svm")
    whole = load(path)
    model = SharedSubspaceClassifierCV([0.1], [0.01, 1]).fit_files(path, rows=64)
    cv = PredefinedSplit(draw(0, 300, 5)[0])
    expected = SharedSubspaceClassifierCV([0.1], [0.01, 1], cv=cv).fit(whole.X, whole.Y)
    np.testing.assert_allclose(model.score_grid_, expected.score_grid_, atol=1e-8)
    np.testing.assert_allclose(model.thresholds_, expected.thresholds_, atol=1e-8)
    assert_equal_models(model, expected)


@pytest.mark.parametrize("kind", [SharedSubspaceClassifier, SharedSubspaceClassifierCV])
def test_an_interruption_changes_nothing(data, tmp_path, monkeypatch, kind):
    X, Y = data
    path = write(tmp_path, X, Y, "all.svm")
    pieces = streaming.iterate

    def interrupted(*args, **options):
        for k, piece in enumerate(pieces(*args, **options)):
            if k == 3:
                raise KeyboardInterrupt
            yield piece

    monkeypatch.setattr(streaming, "iterate", interrupted)
    for model in (kind(), kind().fit(X, Y), kind().partial_fit(X, Y)):
        before = state_of(model)
        with pytest.raises(KeyboardInterrupt):
            model.fit_files(path, rows=20)
        assert_same_state(model, before)


def test_a_fault_in_a_file_is_placed(data, tmp_path):
    X, Y = data
    path = write(tmp_path, X, Y, "all.csv")
    text = path.read_text().splitlines()
    text[251] = ",".join(["", *text[251].split(",")[1:]])
    path.write_text("\n".join(text) + "\n")
    model = SharedSubspaceClassifier()
    with pytest.raises(ValueError, match=r"all.csv, samples 200 to 299, row 50: .*NaN"):
        model.fit_files(path, rows=100)
    assert vars(model) == vars(SharedSubspaceClassifier())
    with pytest.raises(ValueError, match="fit_files got no paths"):
        model.fit_files([])


def test_files_take_the_memory_of_a_piece(tmp_path, monkeypatch):
    monkeypatch.setattr(statistics, "WAITING_BYTES", 2**18)
    path = tmp_path / "long.svm"
    with open(path, "w") as out:
        for i in range(20_000):
            row = " ".join(f"{j}:{(i * j) % 7}" for j in range(1, 31))
            out.write(f"{i % 3} {row}\n")
    peaks = []
    for cut in (4000, 20_000):
        short = tmp_path / f"{cut}.svm"
        short.write_text("".join(path.read_text().splitlines(keepends=True)[:cut]))
        tracemalloc.start()
        try:
            SharedSubspaceClassifier().fit_files(short, rows=500).predict(np.zeros((1, 30)))
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0] + 2**18


@pytest.mark.parametrize("kind", [SharedSubspaceClassifier, SharedSubspaceClassifierCV])
def test_the_display_of_a_notebook_does_not_solve(kind):
    data = make_shared_subspace(40, 5, 3, random_state=0)
    model = kind().partial_fit(data.X, data.Y)
    shown = model._repr_html_()
    assert kind.__name__ in shown
    assert kind.__name__ in model._repr_mimebundle_()["text/html"]
    assert "coef_" not in vars(model)
    model.coef_  # noqa: B018  solves
    assert len(model._repr_html_()) > 1000
    assert model.get_feature_names_out().size == model.n_components_
