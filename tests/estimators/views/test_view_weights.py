"""Weights of views: by alignment, by left-out predictions, or given."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from eigenlabel import (
    KGHA,
    KernelSum,
)
from eigenlabel.estimators.views.view_weights import loo_error


@pytest.fixture
def data(rng):
    n = 50
    S = rng.standard_normal((n, 2))
    left = S @ rng.standard_normal((2, 4)) + rng.standard_normal((n, 4))
    right = S @ rng.standard_normal((2, 6)) + rng.standard_normal((n, 6))
    scores = S @ rng.standard_normal((2, 5))
    return left, right, (scores > 0.2).astype(int)


def noise_and_signal(rng):
    """Return one view that predicts the labels, one that does not, and one that is constant."""
    n = 60
    S = rng.standard_normal((n, 3))
    Y = (S @ rng.standard_normal((3, 4)) > 0).astype(int)
    return {"good": S, "noise": rng.standard_normal((n, 5)), "flat": np.ones((n, 2))}, Y


def centred(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


def alignment(weights, matrices, L):
    K = sum(w * A for w, A in zip(weights, matrices, strict=True))
    return np.sum(K * L) / np.linalg.norm(K)


@pytest.mark.parametrize("chunk", [2**22, 500])
def test_alignment_is_the_largest_there_is(rng, chunk, monkeypatch):
    views, Y = noise_and_signal(rng)
    monkeypatch.setattr("eigenlabel.linalg.operators.BLOCK_BYTES", 8 * chunk)
    model = KernelSum("alignment", kernel="linear").fit(views, Y)
    matrices = [centred(linear_kernel(A)) for A in views.values()]
    L = centred(Y @ Y.T)
    best = alignment(model.weights_, matrices, L)
    for w in rng.random((300, 3)):
        assert alignment(w, matrices, L) <= best + 1e-10
    assert model.weights_.sum() == pytest.approx(1)
    assert model.weights_[2] == 0
    weights = KGHA(kernel="linear", view_weights="alignment").fit(views, Y).view_weights_
    norms = np.array([np.linalg.norm(K) for K in matrices])
    np.testing.assert_allclose(
        weights[:2] / weights[0],
        (model.weights_ * norms)[:2] / (model.weights_ * norms)[0],
        rtol=1e-9,
    )
    assert weights[0] > 3 * weights[1]


def test_alignment_is_of_samples_that_all_views_have(rng):
    views, Y = noise_and_signal(rng)
    del views["flat"]
    hidden = {k: A.copy() for k, A in views.items()}
    hidden["good"][[3, 9]], hidden["noise"][[4, 20]] = np.nan, np.nan
    here = np.setdiff1d(np.arange(60), [3, 4, 9, 20])
    part = KernelSum("alignment", gamma=0.1).fit({k: A[here] for k, A in views.items()}, Y[here])
    whole = KernelSum("alignment", gamma=0.1).fit(hidden, Y)
    np.testing.assert_allclose(whole.weights_, part.weights_, rtol=1e-10)
    K = {k: rbf_kernel(np.nan_to_num(A), gamma=0.1) for k, A in hidden.items()}
    for k, A in hidden.items():
        K[k][np.isnan(A[:, 0])], K[k][:, np.isnan(A[:, 0])] = np.nan, np.nan
    given = KernelSum("alignment", kernel="precomputed").fit(K, Y)
    np.testing.assert_allclose(given.weights_, part.weights_, rtol=1e-9)
    nothing = {"a": views["good"].copy(), "b": views["noise"].copy()}
    nothing["a"][:30], nothing["b"][30:] = np.nan, np.nan
    for model in (KernelSum("alignment"), KGHA(view_weights="heldout")):
        with pytest.raises(ValueError, match="every view has, and there are 0"):
            model.fit(nothing, Y)


def test_heldout_weights_fit_left_out_predictions(rng):
    """Refitting without each sample in turn leads to the same weights."""
    views, Y = noise_and_signal(rng)
    del views["flat"]
    T = Y - Y.mean(axis=0)
    left_out = {k: np.empty(Y.shape) for k in views}
    for k, A in views.items():
        for i in range(60):
            rest = np.arange(60) != i
            left_out[k][i] = Ridge(alpha=0.3).fit(A[rest], T[rest]).predict(A[[i]])
    model = KGHA(kernel="linear", ridge=0.3, view_weights="heldout").fit(views, Y)
    w = model.view_weights_
    assert w.mean() == pytest.approx(1)
    assert w[0] > 3 * w[1] >= 0

    def error(w):
        return np.sum((T - sum(a * P for a, P in zip(w, left_out.values(), strict=True))) ** 2)

    best = min(error(s * w) for s in np.linspace(0, 3, 3001))
    for other in rng.random((500, 2)) * 1.5:
        assert error(other) > best - 1e-3


def naive_loo(K, T, c):
    """Refit kernel ridge regression with an intercept without each sample in turn."""
    n, residual = len(K), np.empty(T.shape)
    for i in range(n):
        rest = np.flatnonzero(np.arange(n) != i)
        mean = T[rest].mean(axis=0)
        H = np.eye(n - 1) - 1 / (n - 1)
        ridge = KernelRidge(alpha=c, kernel="precomputed")
        ridge.fit(H @ K[np.ix_(rest, rest)] @ H, T[rest] - mean)
        row = (K[i, rest] - K[np.ix_(rest, rest)].mean(axis=0)) @ H
        residual[i] = T[i] - mean - row @ ridge.dual_coef_
    return np.mean(residual**2)


def test_leave_one_out_error_and_its_gradient(rng):
    views, Y = noise_and_signal(rng)
    matrices = [centred(rbf_kernel(A)) for A in views.values()][:2]
    T, w = Y - Y.mean(axis=0), np.array([0.7, 0.4])
    value, gradient = loo_error(w, matrices, T, 0.2)
    K = sum(a * A for a, A in zip(w, matrices, strict=True))
    assert value == pytest.approx(naive_loo(K, T, 0.2), rel=1e-9)
    for j in range(2):
        step = 1e-6 * np.eye(2)[j]
        slope = loo_error(w + step, matrices, T, 0.2)[0] - loo_error(w - step, matrices, T, 0.2)[0]
        assert gradient[j] == pytest.approx(slope / 2e-6, rel=1e-6)  # finite differences
    model = KernelSum("heldout", ridge=0.2).fit(views, Y)
    assert model.weights_[2] == 0
    assert model.weights_[0] > 3 * model.weights_[1]


def test_weights_that_are_passed_are_used_unchanged(data):
    left, right, Y = data
    views = {"a": left, "b": right}
    only = KGHA(view_weights={"a": 2, "b": 0}).fit(views, Y)
    alone = KGHA(trade_off=0.2).fit({"a": left}, Y)  # weights have a mean of one
    np.testing.assert_allclose(
        only.decision_function(views), alone.decision_function({"a": left}), atol=1e-9
    )
    np.testing.assert_array_equal(only.view_weights_, [2, 0])
    equal = KGHA(view_weights=[3, 3]).fit(views, Y)
    np.testing.assert_array_equal(
        equal.decision_function(views), KGHA().fit(views, Y).decision_function(views)
    )
