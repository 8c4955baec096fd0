"""KernelSum: weighted sums of the kernels of views."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline

from eigenlabel import (
    KernelSum,
    SharedSubspaceClassifierCV,
)


@pytest.fixture
def data(rng):
    n = 50
    S = rng.standard_normal((n, 2))
    left = S @ rng.standard_normal((2, 4)) + rng.standard_normal((n, 4))
    right = S @ rng.standard_normal((2, 6)) + rng.standard_normal((n, 6))
    scores = S @ rng.standard_normal((2, 5))
    return left, right, (scores > 0.2).astype(int)


def test_an_indefinite_kernel_in_a_sum_is_named_in_a_warning(data):
    left, right, Y = data
    K = [left @ left.T, right @ right.T - 5 * np.eye(50)]
    with pytest.warns(UserWarning, match="kernel matrix of view 'view1' is not positive semi-"):
        model = KernelSum("heldout", kernel="precomputed").fit(K, Y)
    assert np.isfinite(model.weights_).all()


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


@pytest.mark.parametrize("scales", [(1, 1), (100, 0.1), (1e-3, 1e-3)])
def test_heldout_sums_are_no_worse_than_equal_weights_or_one_view(data, scales):
    left, right, Y = data
    K = [s * rbf_kernel(A) for s, A in zip(scales, (left, right), strict=True)]
    for ridge in (0.05, 1.0):
        w = KernelSum("heldout", ridge=ridge, kernel="precomputed").fit(K, Y).weights_
        assert w.sum() == pytest.approx(1)
        found = naive_loo(w[0] * K[0] + w[1] * K[1], Y.astype(float), ridge)
        for a in np.linspace(0, 1, 11):  # the corners and the middle are among them
            other = naive_loo(a * K[0] + (1 - a) * K[1], Y.astype(float), ridge)
            assert found <= other * (1 + 1e-8)


def test_the_kernel_is_the_weighted_sum_of_those_of_the_views(data):
    left, right, Y = data
    views = {"a": left, "b": right}
    model = KernelSum({"a": 0.2, "b": 3.0}, kernel={"a": "linear", "b": "rbf"}, gamma=0.1)
    K = model.fit(views).transform(views)
    wanted = 0.2 * left @ left.T + 3 * rbf_kernel(right, gamma=0.1)
    np.testing.assert_allclose(K, wanted, atol=1e-12)
    np.testing.assert_allclose(KernelSum(kernel="linear").fit(views).weights_, [0.5, 0.5])
    hidden = right[:3].copy()
    hidden[1] = np.nan
    new = model.transform({"a": left[:3], "b": hidden})
    np.testing.assert_allclose(new[[0, 2]], wanted[[0, 2]], atol=1e-12)
    np.testing.assert_allclose(new[1], 0.2 * left[1] @ left.T, atol=1e-12)
    pipe = make_pipeline(KernelSum("alignment"), SharedSubspaceClassifierCV(kernel="precomputed"))
    assert pipe.fit(views, Y).predict({"a": left[:3], "b": right[:3]}).shape == (3, 5)
    with pytest.raises(ValueError, match="y to be passed"):
        KernelSum("alignment").fit(views)
    with pytest.raises(ValueError, match="'alignment', 'heldout', got 'other'"):
        KernelSum("other").fit(views, Y)
    with pytest.raises(ValueError, match="weights must be"):
        KernelSum([1, -1]).fit(views, Y)
