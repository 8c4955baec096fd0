"""A list of bandwidths is tuned as separate fits would be, from one matrix of distances."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold

from eigenlabel import SharedSubspaceClassifierCV, persistence
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators.subspace import tuning
from eigenlabel.estimators.subspace.tuning import Grid
from eigenlabel.kernels import kernel as kernels
from eigenlabel.kernels.bandwidth import by_mean_distance
from eigenlabel.model_selection.search import Chunk

GRID = {"alphas": [1e-2, np.inf], "betas": [1e-1, 1e-3], "n_components": [2, 0], "cv": KFold(3)}
GAMMAS = [0.3, 0.01, 2.0]  # not in order


@pytest.fixture(scope="module")
def data():
    return make_shared_subspace(70, 8, 5, random_state=1)


def compare(path, X, Y, **fit):
    """Compare the fit of a list of bandwidths with separate fits; return both for the best."""
    path.fit(X, Y, **fit)
    models = {g: clone(path).set_params(gamma=g).fit(X, Y, **fit) for g in path.gamma}
    for k, g in enumerate(path.gamma):
        np.testing.assert_allclose(path.score_grid_[..., k], models[g].score_grid_, atol=1e-10)
    best = max(m.best_score_ for m in models.values())
    first = min(g for g, m in models.items() if np.isclose(m.best_score_, best, atol=1e-10))
    one = models[first]
    assert path.gamma_ == one.gamma_ == first
    assert path.best_params_ == {**one.best_params_, "gamma": first}
    np.testing.assert_allclose(path.best_score_, one.best_score_, atol=1e-10)
    np.testing.assert_allclose(path.oof_scores_, one.oof_scores_, atol=1e-9)
    np.testing.assert_allclose(path.thresholds_, one.thresholds_, atol=1e-9)
    np.testing.assert_allclose(path.dual_coef_, one.dual_coef_, atol=1e-9)
    return path, one


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "sigmoid", "chi2"])
@pytest.mark.filterwarnings("ignore:The kernel matrix is not positive semi-definite")
def test_it_finds_what_separate_fits_find(data, kernel, make):
    if kernel == "chi2" and make is sp.csr_array:
        pytest.skip("chi2 accepts dense features only")
    X = make(np.abs(data.X) if kernel == "chi2" else data.X)
    path, one = compare(SharedSubspaceClassifierCV(kernel=kernel, gamma=GAMMAS, **GRID), X, data.Y)
    np.testing.assert_allclose(path.decision_function(X), one.decision_function(X), atol=1e-9)
    table = path.cv_results_
    assert len(table["params"]) == 3 * 8
    np.testing.assert_array_equal(table["param_gamma"], np.repeat(sorted(GAMMAS), 8))
    best = table["params"][path.best_index_]
    assert best == path.best_params_
    assert table["pooled_test_score"][path.best_index_] == path.best_score_


@pytest.mark.parametrize("kind", ["weights", "missing", "repeated", "krylov", "classes", "groups"])
def test_it_finds_what_separate_fits_find_in_every_setting(data, kind, rng):
    X, Y, more, fit = data.X, data.Y.astype(float), {}, {}
    if kind == "weights":
        fit["sample_weight"] = rng.integers(0, 3, len(Y)).astype(float)  # some are zero
    if kind == "missing":
        Y[rng.random(Y.shape) < 0.1] = np.nan
    if kind == "repeated":
        more["cv"] = [(np.arange(30, 70), np.arange(30)), (np.arange(50), np.arange(20, 70))]
    if kind == "krylov":
        more.update(solver="krylov", tol=1e-12, betas=[1e-1])
    if kind == "classes":
        Y = data.Y.argmax(axis=1)
    if kind == "groups":
        more["cv"], fit["groups"] = GroupKFold(3), np.arange(70) // 7
    model = SharedSubspaceClassifierCV(kernel="rbf", gamma=GAMMAS, **{**GRID, **more})
    compare(model, X, Y, **fit)


def test_distances_are_computed_once(data, monkeypatch):
    calls = []
    distances = kernels.euclidean_distances
    monkeypatch.setattr(
        kernels, "euclidean_distances", lambda *a, **k: calls.append(1) or distances(*a, **k)
    )
    SharedSubspaceClassifierCV(kernel="rbf", gamma=GAMMAS, **GRID).fit(data.X, data.Y)
    assert len(calls) == 1


def test_none_is_the_rule_of_the_kernel_and_equal_bandwidths_are_searched_once(data):
    rule = by_mean_distance(data.X, None)
    model = SharedSubspaceClassifierCV(kernel="rbf", gamma=[None, 3.0, rule], **GRID)
    model.fit(data.X, data.Y)
    assert len(model.cv_results_["params"]) == 2 * 8
    assert model.score_grid_.shape == (2, 2, 2, 3)
    np.testing.assert_array_equal(model.score_grid_[..., 0], model.score_grid_[..., 2])


def test_of_equal_scores_the_smallest_bandwidth_wins(data):
    # All samples are equal to the kernel, whatever its bandwidth.
    X = np.ones_like(data.X)
    model = SharedSubspaceClassifierCV(kernel="rbf", gamma=[2.0, 0.5, 1.0], **GRID)
    assert model.fit(X, data.Y).gamma_ == 0.5


@pytest.mark.parametrize("gamma", [0.3, [0.3], (0.3,), np.array([0.3])])
def test_one_bandwidth_is_the_same_in_any_form(data, gamma):
    model = SharedSubspaceClassifierCV(kernel="rbf", gamma=gamma, **GRID).fit(data.X, data.Y)
    several = not isinstance(gamma, float)
    assert model.gamma_ == 0.3
    assert ("gamma" in model.best_params_) == ("param_gamma" in model.cv_results_) == several
    assert model.score_grid_.ndim == 3 + several


def test_only_kernels_with_a_bandwidth_have_one(data):
    assert not hasattr(SharedSubspaceClassifierCV(**GRID).fit(data.X, data.Y), "gamma_")
    model = SharedSubspaceClassifierCV(kernel="cosine", gamma=0.5, **GRID).fit(data.X, data.Y)
    assert not hasattr(model, "gamma_")


@pytest.mark.parametrize(
    ("kernel", "gamma", "error", "message"),
    [
        ("rbf", [], ValueError, "empty"),
        ("rbf", [0.1, -1.0], ValueError, "gamma must be"),
        ("rbf", [0.1, np.nan], ValueError, "gamma"),
        ("rbf", [0.1, "wide"], TypeError, "gamma must be"),
        ("rbf", [[0.1]], TypeError, "gamma must be"),
        ("rbf", -1.0, ValueError, "gamma must be"),
        ("rbf", "wide", TypeError, "gamma must be"),
        ("linear", [0.1], ValueError, "kernel='linear' has no bandwidth"),
        ("precomputed", [0.1], ValueError, "has no bandwidth"),
        (lambda X, Z: X @ Z.T, [0.1], ValueError, "has no bandwidth"),
    ],
)
def test_bad_bandwidths_raise_an_error(data, kernel, gamma, error, message):
    model = SharedSubspaceClassifierCV(kernel=kernel, gamma=gamma, **GRID)
    with pytest.raises(error, match=message):
        model.fit(data.X, data.Y)
    if kernel == "linear":
        with pytest.raises(error, match=message):
            model.set_params(cv=3).partial_fit(data.X, data.Y)


def test_the_matrix_that_bandwidths_share_counts_as_memory(data):
    n = len(data.X)
    model = SharedSubspaceClassifierCV(kernel="rbf", gamma=0.5, **GRID)
    needed = 8.0 * n * n
    while True:  # the smallest number of arrays that one bandwidth accepts
        try:
            model.set_params(max_memory=needed).fit(data.X, data.Y)
            break
        except MemoryError:
            needed += 8.0 * n * n
    with pytest.raises(MemoryError, match="kernel matrix"):
        clone(model).set_params(gamma=[0.5, 1.0]).fit(data.X, data.Y)
    model.set_params(gamma=[0.5, 1.0], max_memory=needed + 8.0 * n * n).fit(data.X, data.Y)


def test_the_model_does_not_keep_the_distances(data, tmp_path):
    model = SharedSubspaceClassifierCV(kernel="rbf", gamma=GAMMAS, **GRID).fit(data.X, data.Y)
    one = SharedSubspaceClassifierCV(kernel="rbf", gamma=0.3, **GRID).fit(data.X, data.Y)
    assert len(pickle.dumps(model)) < len(pickle.dumps(one)) + 8 * len(data.X) ** 2 / 2
    persistence.save_model(model, tmp_path / "model.zip")
    again = persistence.load_model(tmp_path / "model.zip")
    assert (again.model.gamma, again.model.gamma_) == (GAMMAS, model.gamma_)
    np.testing.assert_array_equal(again.model.predict(data.X), model.predict(data.X))


def test_scores_that_were_not_kept_are_computed_again():
    # The best of all points is within rounding of a better one that came later.
    grid = tuning.BandwidthGrid(Grid(np.array([0.0]), np.array([0.1, 0.2]), [1]), [1.0, 2.0])
    scores = {g: np.array([[g], [g + 0.5]]) for g in grid.values}
    prepared = []

    def prepare(gamma):
        prepared.append(gamma)
        chunk = Chunk(np.arange(2), scores[gamma][:, None])
        return SimpleNamespace(chunks=lambda: iter([chunk]), at=lambda k: scores[gamma][k, None])

    judge = SimpleNamespace(pooled=np.array([0.5, 0.7, 0.9, 0.8]))
    held_out = tuning.BandwidthScores(grid, prepare, judge)
    assert [c.points.tolist() for c in held_out.chunks()] == [[0, 1], [2, 3]]
    assert prepared == [1.0, 2.0]
    np.testing.assert_array_equal(held_out.at(2), [[2.0]])
    assert prepared == [1.0, 2.0]
    np.testing.assert_array_equal(held_out.at(1), [[1.5]])
    assert prepared == [1.0, 2.0, 1.0]
