"""The grid of ML-LS: its points, their order, and their held-out scores."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import KFold, LeaveOneOut

from eigenlabel import SharedSubspaceClassifier, SharedSubspaceClassifierCV, metrics
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators.subspace import tuning
from eigenlabel.estimators.subspace.tuning import (
    CHUNK,
    Grid,
    GridLists,
    GridScores,
    chunk_size,
    readable_axes,
)
from eigenlabel.thresholds import Mixed

ALPHAS, BETAS, RANKS = [0.0, 1e-2, 1.0, np.inf], [0.0, 1e-3, 1e-1], [0, 2, 5]
SMALL = {"alphas": ALPHAS, "betas": BETAS, "n_components": RANKS}


@pytest.fixture(scope="module")
def data():
    return make_shared_subspace(90, 12, 6, random_state=1)


@pytest.fixture(scope="module")
def wide():
    return make_shared_subspace(45, 70, 6, random_state=2)


def test_points_are_distinct_and_ordered_from_the_simplest_model():
    found = Grid(np.array([0.1, np.inf, 0.1]), np.array([0.2, 0.5]), [3, 1, 3]).points
    penalties = [(np.inf, 0.5), (0.1, 0.5), (np.inf, 0.2), (0.1, 0.2)]
    assert found == [(a, b, r) for r in (1, 3) for a, b in penalties]


def test_shifts_are_all_beta_and_their_sums_with_alpha():
    it = Grid(np.array([0.0, 0.25, np.inf]), np.array([0.5, 0.25]), [1])
    assert it.shifts == [0.25, 0.5, 0.75, np.inf]
    for (alpha, beta), (i, j) in zip(it.penalties, it.shift_pairs, strict=True):
        assert (it.shifts[i], it.shifts[j]) == (beta, alpha + beta)
    assert it.light_shifts == {0, 1}


def test_shifts_that_are_equal_up_to_rounding_are_solved_once():
    it = Grid(np.array([0.0, 0.1]), np.array([0.2, 0.3]), [1])
    assert 0.1 + 0.2 != 0.3
    assert it.shifts == [0.2, 0.3, 0.4]
    assert it.shift_pair(0.1, 0.2) == (0, 1)


def test_alphas_may_differ_between_betas():
    alphas = np.array([[0.0, 0.0], [0.9, 1.8]])
    it = Grid(alphas, np.array([0.1, 0.2]), [1])
    assert it.penalties == [(1.8, 0.2), (0.0, 0.2), (0.9, 0.1), (0.0, 0.1)]
    found = it.arrange(np.array([10 * a + b for a, b, _ in it.points]))
    np.testing.assert_allclose(found[..., 0], 10 * alphas + [0.1, 0.2])


@pytest.mark.parametrize("variance", [1.0, 3.7e8, 2.2e-7])
def test_the_default_grid_is_relative_to_the_variance(variance):
    it = GridLists(None, None, [5]).grid(lambda: variance)
    np.testing.assert_allclose(it.betas, variance * 10.0 ** np.arange(-6, 0.1, 0.5))
    np.testing.assert_allclose(it.alphas[:2], np.outer([0, 9], it.betas))
    assert np.isinf(it.alphas[2]).all()
    # 10 beta is a beta as well, but for the two largest.
    assert len(it.shifts) == len(it.betas) + 2 + 1


@pytest.mark.parametrize("variance", [0.0, np.inf, np.nan])
def test_samples_without_variance_have_the_grid_of_variance_one(variance):
    it = GridLists(None, None, [5]).grid(lambda: variance)
    assert it.betas[-1] == 1.0


def test_lists_of_the_user_are_the_grid():
    def no_variance():
        raise AssertionError

    it = GridLists(np.array([0.5]), np.array([0.1]), [2]).grid(no_variance)
    assert it.points == [(0.5, 0.1, 2)]
    zero = GridLists(None, np.array([0.0]), [2]).grid(no_variance)
    assert zero.penalties == [(np.inf, 0.0), (0.0, 0.0)]
    relative = GridLists(None, np.array([0.1]), [2]).grid(no_variance)
    assert relative.penalties == [(np.inf, 0.1), (pytest.approx(0.9), 0.1), (0.0, 0.1)]


def test_multiples_of_beta_are_shown_as_ratios():
    it = GridLists(None, None, [5]).grid(lambda: 3.0)
    table = {key: np.array([point[key] for point in it.params]) for key in it.params[0]}
    shown = readable_axes(table)
    assert list(shown) == ["alpha / beta", "beta", "n_components"]
    assert set(shown["alpha / beta"]) == {0.0, 9.0, np.inf}
    absolute = {"alpha": [0.0, 1.0, 0.0, 1.0], "beta": [0.1, 0.1, 0.2, 0.2]}
    assert readable_axes(absolute) is absolute
    with_zero = {**table, "beta": np.where(table["beta"] == 3.0, 0.0, table["beta"])}
    assert readable_axes(with_zero) is with_zero


def test_values_are_arranged_as_the_lists_of_the_user():
    alphas, betas, ranks = np.array([1.0, 0.0, 1.0]), np.array([0.1, 0.5]), [2, 0]
    it = Grid(alphas, betas, ranks)
    found = it.arrange(np.array([100 * a + 10 * b + r for a, b, r in it.points]))
    assert found.shape == (3, 2, 2)
    for (i, j, k), value in np.ndenumerate(found):
        assert value == 100 * alphas[i] + 10 * betas[j] + ranks[k]


def test_the_memory_bounds_the_scores_held_at_once():
    assert chunk_size(np.inf) == CHUNK
    assert chunk_size(128 * 10 + 5) == 10


def naive_scores(X, Y, cv, alpha, beta, r, weights=None, **kw):
    """Fit each training part from scratch."""
    out = np.full(Y.shape, np.nan)
    for train, test in cv.split(X):
        model = SharedSubspaceClassifier(alpha, beta, r, **kw)
        model.fit(X[train], Y[train], None if weights is None else weights[train])
        out[test] = model.decision_function(X[test])
    return out


@pytest.mark.parametrize("shape", ["tall", "wide"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cv", [KFold(4), LeaveOneOut()], ids=["4-fold", "leave-one-out"])
def test_the_whole_grid_equals_refitting(
    shape, sparse, kernel, weighted, cv, data, wide, monkeypatch, rng
):
    source = data if shape == "tall" else wide
    n = 25 if isinstance(cv, LeaveOneOut) else 40
    X, Y = source.X[:n], source.Y[:n]
    w = rng.uniform(0.5, 2, n) if weighted else None
    kept = {}
    original = GridScores._scores

    def spy(self, ranks, pairs, shifts):
        found = original(self, ranks, pairs, shifts)
        for k, r in enumerate(ranks):
            for p, (a, b) in enumerate(pairs):
                kept[a, b, r] = found[k, p].T
        return found

    monkeypatch.setattr(GridScores, "_scores", spy)
    settled = {"kernel": kernel, "gamma": 0.1}  # None depends on all samples
    model = SharedSubspaceClassifierCV(**SMALL, cv=cv, **settled)
    model.fit(sp.csr_array(X) if sparse else X, Y, w)
    assert len(kept) == len(ALPHAS) * len(BETAS) * len(RANKS)
    points = [p for i, p in enumerate(kept) if i % 3 == 0 or not isinstance(cv, LeaveOneOut)]
    for a, b, r in points:
        found = kept[a, b, r]
        if kernel == "rbf" and b == 0 and a == 0:
            continue  # both are ill-conditioned there: an rbf matrix without any shift
        expected = naive_scores(X, Y, cv, a, b, r, w, **settled)
        np.testing.assert_allclose(found, expected, atol=1e-8 if b > 0 else 1e-6)
    np.testing.assert_allclose(
        model.oof_scores_, kept[tuple(model.best_params_.values())], atol=1e-12
    )


@pytest.mark.parametrize(("name", "numbers"), [("CHUNK", 1), ("TOGETHER", 1), ("TOGETHER", 2000)])
def test_chunks_make_no_difference(name, numbers, data, monkeypatch):
    whole = SharedSubspaceClassifierCV(**SMALL, cv=3).fit(data.X, data.Y)
    monkeypatch.setattr(tuning, name, numbers)
    parts = SharedSubspaceClassifierCV(**SMALL, cv=3).fit(data.X, data.Y)
    # Products of other sizes add in another order.
    for key in ("pooled_test_score", "split1_test_score"):
        np.testing.assert_allclose(whole.cv_results_[key], parts.cv_results_[key], rtol=1e-12)
    np.testing.assert_allclose(whole.thresholds_, parts.thresholds_, rtol=1e-8, atol=1e-12)
    np.testing.assert_array_equal(
        whole.cv_results_["param_alpha"], parts.cv_results_["param_alpha"]
    )


def test_ties_go_to_the_simplest_model(data):
    # A constant scorer ties everything: smallest subspace, then largest penalties.
    model = SharedSubspaceClassifierCV(**SMALL, cv=3, scoring=lambda *_: 1.0).fit(data.X, data.Y)
    assert model.best_params_ == {"alpha": np.inf, "beta": 0.1, "n_components": 0}


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
@pytest.mark.parametrize("weighted", [False, True])
def test_default_betas_are_shares_of_the_variance(data, kernel, weighted):
    w = np.arange(len(data.X)) % 3 + 0.5 if weighted else None
    X = data.X @ data.X.T if kernel == "precomputed" else data.X
    model = SharedSubspaceClassifierCV(kernel=kernel).fit(X, data.Y, sample_weight=w)
    centred = data.X - np.average(data.X, axis=0, weights=w)
    variance = np.average((centred**2).sum(axis=1), weights=w)
    assert max(model.cv_results_["param_beta"]) == pytest.approx(variance)
    assert min(model.cv_results_["param_beta"]) == pytest.approx(1e-6 * variance)
    assert set(model.cv_results_["param_n_components"]) == {5}


@pytest.mark.parametrize("scale", [1e-4, 1e5])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_scale_of_the_features_does_not_matter(data, scale, kernel):
    model = SharedSubspaceClassifierCV(kernel=kernel).fit(data.X, data.Y)
    scaled = SharedSubspaceClassifierCV(kernel=kernel).fit(scale * data.X, data.Y)
    factor = scale**2 if kernel == "linear" else 1.0
    assert scaled.beta_ == pytest.approx(factor * model.beta_)
    assert scaled.alpha_ == pytest.approx(factor * model.alpha_)
    # Rounding, which the smallest of the shifts multiplies by 10^6.
    np.testing.assert_allclose(scaled.score_grid_, model.score_grid_, atol=1e-6)
    found = scaled.predict_proba(scale * data.X)
    np.testing.assert_allclose(found, model.predict_proba(data.X), atol=1e-6)


def test_several_bandwidths_share_the_grid_of_the_largest(data):
    given = {"kernel": "rbf", "gamma": [0.01, 0.1, 0.03]}
    model = SharedSubspaceClassifierCV(**given).fit(data.X, data.Y)
    K = np.exp(-0.1 * ((data.X[:, None] - data.X) ** 2).sum(axis=-1))
    assert max(model.cv_results_["param_beta"]) == pytest.approx(1 - K.mean())


def test_blocks_have_the_grid_of_all_samples(data):
    model = SharedSubspaceClassifierCV()
    for part in (slice(0, 40), slice(40, None)):
        model.partial_fit(data.X[part], data.Y[part])
    variance = ((data.X - data.X.mean(axis=0)) ** 2).sum() / len(data.X)
    assert max(model.cv_results_["param_beta"]) == pytest.approx(variance)


@pytest.mark.parametrize("shape", ["tall", "wide"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_many_labels_of_which_few_are_left_out_equal_refitting(shape, kernel):
    # Only the eigenvectors that are left out are computed from 32 labels on.
    planted = make_shared_subspace(60, 8 if shape == "tall" else 90, 36, random_state=3)
    settled = {"kernel": kernel, "gamma": 0.05}
    choices = {"alphas": [1e-5, 0.1, np.inf], "betas": [1e-3, 0.1], "n_components": [30, 35, 36]}
    cv = KFold(3)
    model = SharedSubspaceClassifierCV(**choices, cv=cv, **settled).fit(planted.X, planted.Y)
    best = tuple(model.best_params_.values())
    expected = naive_scores(planted.X, planted.Y, cv, *best, **settled)
    np.testing.assert_allclose(model.oof_scores_, expected, atol=1e-8)
    # Every point has the score of a naive search, so that the choice is the same.
    for k, point in enumerate(model.cv_results_["params"]):
        scores = naive_scores(planted.X, planted.Y, cv, *point.values(), **settled)
        rule = Mixed()
        decided = rule.decide(scores, rule.fit(scores, planted.Y))
        wanted = metrics.f1_macro(planted.Y, decided)
        assert model.cv_results_["pooled_test_score"][k] == pytest.approx(wanted, rel=1e-10)
    first = np.flatnonzero(
        model.cv_results_["pooled_test_score"]
        >= model.cv_results_["pooled_test_score"].max() * (1 - 1e-13)
    )[0]
    assert model.best_index_ == first


def test_samples_in_any_order_have_the_same_held_out_scores(data, rng):
    # Scores are computed in the order of the folds and returned in the order of the samples.
    fold = rng.permutation(np.arange(len(data.X)) % 3)
    cv = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    model = SharedSubspaceClassifierCV([0.1], [0.01], 2, cv=cv).fit(data.X, data.Y)
    for train, test in cv:
        part = SharedSubspaceClassifier(0.1, 0.01, 2).fit(data.X[train], data.Y[train])
        expected = part.decision_function(data.X[test])
        np.testing.assert_allclose(model.oof_scores_[test], expected, atol=1e-10)


def test_shifts_that_do_not_fit_are_computed_again(data, monkeypatch):
    kept = SharedSubspaceClassifierCV(**SMALL, cv=3).fit(data.X, data.Y)
    monkeypatch.setattr(tuning, "KEPT", 0)
    monkeypatch.setattr(tuning, "CHUNK", 3 * data.Y.size)
    again = SharedSubspaceClassifierCV(**SMALL, cv=3).fit(data.X, data.Y)
    for key in ("pooled_test_score", "split0_test_score"):
        np.testing.assert_allclose(kept.cv_results_[key], again.cv_results_[key], rtol=1e-12)
    assert kept.best_params_ == again.best_params_


def symmetric(rng, values):
    Q = np.linalg.qr(rng.standard_normal((len(values), len(values))))[0]
    return (Q * values) @ Q.T


def test_the_last_eigenvectors_are_those_of_the_smallest_eigenvalues(rng):
    S = np.stack([symmetric(rng, np.arange(1.0, 41.0)) for _ in range(2)])
    found = tuning._last_eigenvectors(S, 5, {2, 5})
    for each, V in zip(S, found, strict=True):
        np.testing.assert_allclose(each @ V, V * np.arange(1.0, 6.0), atol=1e-10)
    assert tuning._last_eigenvectors(S, 11, {11}) is None  # too many
    assert tuning._last_eigenvectors(S[:, :20, :20], 2, {2}) is None  # too small to pay off


def test_a_cut_between_equal_eigenvalues_is_left_to_the_rule_for_them(rng):
    values = np.r_[1.0, 2.0, 2.0, np.arange(4.0, 41.0)]
    S = symmetric(rng, values)[None]
    assert tuning._last_eigenvectors(S, 3, {2}) is None
    assert tuning._last_eigenvectors(S, 3, {1, 3}) is not None
    # Eigenvalues of zero do not matter: their directions have no weights.
    zeros = symmetric(rng, np.r_[0.0, 0.0, 0.0, np.arange(4.0, 41.0)])[None]
    assert tuning._last_eigenvectors(zeros, 2, {2}) is not None
