"""FastTag: its closed form, its limits and missing views."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.kernel_approximation import AdditiveChi2Sampler
from sklearn.linear_model import Ridge

from eigenlabel import FastTag


@pytest.fixture
def data(rng):
    """Two views of 50 samples, histograms and numbers, ten new ones, and labels, one never seen."""
    S = rng.standard_normal((60, 3))
    histograms = rng.poisson(np.exp(S @ rng.standard_normal((3, 6)) + 1)).astype(float)
    numbers = S @ rng.standard_normal((3, 8)) + 0.3 * rng.standard_normal((60, 8))
    scores = S @ rng.standard_normal((3, 7)) + 0.5 * rng.standard_normal((60, 7))
    Y = (scores > np.linspace(0, 2, 7)).astype(int)
    Y[:50, 6] = 0
    views = {"histograms": histograms, "numbers": numbers}
    train = {name: A[:50] for name, A in views.items()}
    new = {name: A[50:] for name, A in views.items()}
    return train, Y[:50], new


def naive_fasttag(X, Y, ridge, gamma, p, n_sweeps):
    """Chen et al.: alternate between B and W, each in closed form, on centred X."""
    n, m = Y.shape
    Xc = X - X.mean(axis=0)
    B, q = np.eye(m), 1 - p
    S = Y.T @ Y
    P, Q = q * S, q * q * S + np.diag(q * p * np.diag(S))
    for _ in range(n_sweeps):
        target = Y @ B.T
        W = np.linalg.solve(Xc.T @ Xc + n * ridge * np.eye(X.shape[1]), Xc.T @ target)
        b = target.mean(axis=0)
        B = np.linalg.solve((gamma * Q + Y.T @ Y).T, (gamma * P + (Xc @ W + b).T @ Y).T).T
    return W, b - X.mean(axis=0) @ W, B


def test_fasttag_is_the_limit_of_alternating_steps(data):
    train, Y, new = data
    Y, X = Y[:, :5].astype(float), np.hstack(list(train.values()))
    model = FastTag(0.5, 2.0, 0.4).fit(train, Y.astype(int))
    W, b, B = naive_fasttag(X, Y, 0.5, 2.0, 0.4, 2000)
    np.testing.assert_allclose(model.coef_, W, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, b, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.completion_, B, rtol=1e-7, atol=1e-9)
    scores = 2 * (np.hstack(list(new.values())) @ W + b) - 1
    np.testing.assert_allclose(model.decision_function(new), scores, rtol=1e-7, atol=1e-8)


def test_fasttag_expectation_is_the_mean_over_blanked_labels(data):
    """The completion alone (features that predict nothing) minimises the mean error."""
    _, Y, _ = data
    Y, p = Y[:, :4], 0.3
    rows, weights, wanted = [], [], []
    for y in Y:
        for kept in itertools.product([0, 1], repeat=4):
            rows.append(y * kept)
            weights.append(np.prod([1 - p if k else p for k in kept]))
            wanted.append(y)
    root = np.sqrt(weights)[:, None]
    expected = np.linalg.lstsq(root * np.array(rows), root * np.array(wanted), rcond=None)[0].T
    model = FastTag(1.0, 1e9, p).fit(np.ones((50, 1)), Y)
    np.testing.assert_allclose(model.completion_, expected, rtol=1e-7, atol=1e-7)  # gamma 1e9


def test_fasttag_limits(data):
    train, Y, new = data
    X, Z, Y = train["numbers"], new["numbers"], Y[:, :5]
    ridge = Ridge(alpha=50 * 0.3).fit(X, Y).predict(Z)
    found = FastTag(0.3, 1e10, 0.0).fit(X, Y).decision_function(Z)
    np.testing.assert_allclose((found + 1) / 2, ridge, rtol=1e-6, atol=1e-7)  # trade_off 1e10
    chi2 = AdditiveChi2Sampler()
    mapped = FastTag(transformers=chi2).fit(train["histograms"], Y)
    outside = FastTag().fit(chi2.fit_transform(train["histograms"]), Y)
    np.testing.assert_allclose(mapped.coef_, outside.coef_, rtol=1e-12)


def test_fasttag_replaces_a_missing_view_by_zeros(data):
    train, Y, new = data
    hidden, zeros = train["numbers"].copy(), train["numbers"].copy()
    hidden[:4], zeros[:4] = np.nan, 0
    a = FastTag().fit({**train, "numbers": hidden}, Y)
    b = FastTag().fit({**train, "numbers": zeros}, Y)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-12)
    only = a.decision_function({"histograms": new["histograms"]})
    np.testing.assert_allclose(
        only, b.decision_function({**new, "numbers": np.zeros((10, 8))}), rtol=1e-10, atol=1e-12
    )
    sparse = FastTag().fit({**train, "histograms": sp.csr_array(train["histograms"])}, Y)
    whole = FastTag().fit(train, Y)
    np.testing.assert_allclose(sparse.coef_, whole.coef_, rtol=1e-8, atol=1e-10)


def test_fasttag_with_a_tag_never_seen_and_wide_features(data, rng):
    _, Y, _ = data
    X = rng.standard_normal((50, 200))
    model = FastTag(1e-3).fit(X, Y)
    assert (model.completion_[6] == 0).all()
    np.testing.assert_allclose(model.decision_function(X)[:, 6], -1, atol=1e-12)
    again = FastTag(1e-3).fit(sp.csr_array(X), Y)
    np.testing.assert_allclose(again.coef_, model.coef_, rtol=1e-6, atol=1e-9)
