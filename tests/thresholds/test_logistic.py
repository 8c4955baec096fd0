import numpy as np
import pytest

import naive
from eigenlabel.thresholds import logistic
from eigenlabel.thresholds.logistic import (
    Prior,
    estimate_prior,
    fit_maps,
    fit_pairs,
    fit_pooled,
    fit_rising_pairs,
    inverse,
    likelihood,
    locate,
    product,
)
from eigenlabel.thresholds.score_bins import Bins


@pytest.fixture
def bins(rng):
    """Labels of all kinds: one separable, one falling, one without and one with all positives."""
    T = rng.standard_normal((8, 40))
    odds = np.array([[0.0], [-1], [-3], [-3], [-99], [99], [0], [0]])
    Y = rng.random((8, 40)) < 1 / (1 + np.exp(-2 * T - odds))
    Y[6], Y[7] = T[6] > 0.4, T[7] < 0
    W = rng.choice([0.0, 1.0, 2.0], (8, 40))
    return Bins(np.where(W > 0, T, 0.0), W, np.where(Y, W, 0.0))


@pytest.fixture
def prior():
    return Prior(np.array([1.0, -1.5]), inverse(np.array([0.8, -0.3, 1.2])))


def gradient(bins, j, pair, prior):
    """Return the gradient of the penalised log-loss of label j, naively."""
    g = naive.log_loss(pair, *(each[j] for each in bins.arrays()))[1]
    return g + naive.full(prior.precision) @ (pair - prior.mean)


def test_two_by_two_matrices(rng):
    A = rng.standard_normal((6, 2, 2))
    A = A @ A.transpose(0, 2, 1) + 0.1 * np.eye(2)
    H, v = A[:, [0, 0, 1], [0, 1, 1]], rng.standard_normal((6, 2))
    np.testing.assert_allclose(product(H, v), np.einsum("jik,jk->ji", A, v), rtol=1e-12)
    expected = np.linalg.inv(A)[:, [0, 0, 1], [0, 1, 1]]
    np.testing.assert_allclose(inverse(H), expected, rtol=1e-9)


def test_likelihood_and_its_derivatives(bins, rng, monkeypatch):
    monkeypatch.setattr(logistic, "CACHE_NUMBERS", 90)  # two labels at a time
    pairs = rng.standard_normal((8, 2)) * 3
    f, g, H = likelihood(bins, pairs)
    for j in range(8):
        value, slope, curve = naive.log_loss(pairs[j], *(each[j] for each in bins.arrays()))
        assert f[j] == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(g[j], slope, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(naive.full(H[j]), curve, rtol=1e-10, atol=1e-12)


def test_pairs_are_stationary(bins, prior):
    pairs, g, H = fit_pairs(bins, prior, np.tile(prior.mean, (8, 1)))
    for j in range(8):
        np.testing.assert_allclose(gradient(bins, j, pairs[j], prior), 0, atol=1e-10)
    _, g2, H2 = likelihood(bins, pairs)
    np.testing.assert_allclose(g, g2, atol=1e-12)
    np.testing.assert_allclose(H, H2, rtol=1e-12)


@pytest.mark.parametrize("start", [(50.0, 80.0), (-50.0, -80.0), (0.0, 0.0)])
def test_the_safeguard_finds_the_minimum_from_anywhere(bins, prior, start):
    expected = fit_pairs(bins, prior, np.tile(prior.mean, (8, 1)))[0]
    found = fit_pairs(bins, prior, np.tile(start, (8, 1)))[0]
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_slopes_are_not_negative_and_optimal(bins, prior):
    pairs = fit_rising_pairs(bins, prior, np.tile(prior.mean, (8, 1)))
    assert pairs[7, 0] == 0
    assert (pairs[:7, 0] > 0).all()
    for j in range(8):
        g = gradient(bins, j, pairs[j], prior)
        assert abs(g[1]) < 1e-10
        assert g[0] > 0 if j == 7 else abs(g[0]) < 1e-10


def test_fitting_stops_where_rounding_decides(bins, prior):
    pairs = fit_pairs(bins, prior, np.tile(prior.mean, (8, 1)))[0]
    np.testing.assert_allclose(fit_pairs(bins, prior, pairs, 5)[0], pairs, rtol=1e-12)


def test_no_digits_cancel_where_cuts_separate():
    T = np.linspace(-3, 3, 40)[None]
    bins = Bins(T, np.ones((1, 40)), (T > 0).astype(float))
    f, g, _ = likelihood(bins, np.array([[400.0, 0.0]]))
    small = np.exp(-400 * np.abs(T[0]))  # all terms, to first order; the next ones are squares
    assert f[0] == pytest.approx(small.sum(), rel=1e-12, abs=0)
    assert g[0, 0] == pytest.approx(-(small * np.abs(T[0])).sum(), rel=1e-12, abs=0)


def test_labels_that_cuts_separate_take_few_steps(rng, monkeypatch):
    """Rounding errors decide there after some steps, and halving the step again is of no use."""
    calls = []
    real = logistic.likelihood
    monkeypatch.setattr(logistic, "likelihood", lambda *a: calls.append(1) or real(*a))
    T = np.sort(rng.standard_normal((30, 200)), axis=1) * 20
    Y = np.arange(200) >= rng.integers(20, 180, (30, 1))
    weak = Prior(np.array([3.0, -3.0]), np.array([1e-7, 0.0, 1e-7]))
    pairs = fit_pairs(Bins(T, np.ones_like(T), Y.astype(float)), weak, np.tile(weak.mean, (30, 1)))
    assert (pairs[0][:, 0] > 3).all()
    assert len(calls) < 200  # some 25 steps, the last of which are halved


def test_the_pooled_map_is_stationary(bins):
    T, W, Y = (each.reshape(1, -1) for each in bins.arrays())
    pair, H = fit_pooled(Bins(T, W, Y))
    centre = np.array([0.0, np.log((Y.sum() + 1) / ((W - Y).sum() + 1))])
    _, g, curve = naive.log_loss(pair, T[0], W[0], Y[0])
    np.testing.assert_allclose(g + logistic.POOLED_PENALTY * (pair - centre), 0, atol=1e-9)
    np.testing.assert_allclose(
        naive.full(H), curve + logistic.POOLED_PENALTY * np.eye(2), rtol=1e-10
    )


def test_the_pooled_map_of_separable_and_of_falling_scores():
    T, W = np.array([[-2.0, -1, 1, 2]]), np.ones((1, 4))
    pair, _ = fit_pooled(Bins(T, W, np.array([[0.0, 0, 1, 1]])))
    assert 0 < pair[0] < 10
    pair, H = fit_pooled(Bins(T, W, np.array([[1.0, 1, 0, 0]])))
    assert pair[0] == 0
    assert pair[1] == pytest.approx(0, abs=1e-12)
    assert H[2] == pytest.approx(1.0 + logistic.POOLED_PENALTY)


def naive_prior(bins, pair, H):
    """Estimate the prior as ``estimate_prior`` does, label by label with dense matrices."""
    m = len(bins.scores)
    rare = max(1, min(bins.positives.sum(), (bins.weights - bins.positives).sum()))
    expected = logistic.SPREAD * np.linalg.inv(naive.full(H) / rare)
    mean, S, pairs = pair, expected, [pair] * m
    for _ in range(logistic.ROUNDS):
        L = np.linalg.inv(S)
        prior = Prior(mean, L[[0, 0, 1], [0, 1, 1]])
        pairs = fit_pairs(bins, prior, np.array(pairs), logistic.STEPS)[0]
        parts = [naive.log_loss(pairs[j], *(x[j] for x in bins.arrays())) for j in range(m)]
        for _ in range(logistic.UPDATES):
            L = np.linalg.inv(S)
            C = [np.linalg.inv(L + h) for _, _, h in parts]
            near = [
                c @ (L @ mean + h @ theta - g)
                for c, theta, (_, g, h) in zip(C, pairs, parts, strict=True)
            ]
            mean = (sum(near) + logistic.PRIOR_MEANS * pair) / (m + logistic.PRIOR_MEANS)
            S = sum(C) + sum(np.outer(x - mean, x - mean) for x in near)
            S = (S + logistic.PRIOR_LABELS * expected) / (m + logistic.PRIOR_LABELS)
    return mean, np.linalg.inv(S)


def test_the_prior_is_that_of_the_naive_updates(bins):
    flat = Bins(*(each.reshape(1, -1) for each in bins.arrays()))
    pair, H = fit_pooled(flat)
    prior, _ = estimate_prior(bins, pair, H)
    mean, L = naive_prior(bins, pair, H)
    np.testing.assert_allclose(prior.mean, mean, rtol=1e-8)
    np.testing.assert_allclose(naive.full(prior.precision), L, rtol=1e-8)


def laplace(bins, mean, S):
    """Return the marginal likelihood of mean and covariance in Laplace's approximation."""
    L = np.linalg.inv(S)
    prior = Prior(mean, L[[0, 0, 1], [0, 1, 1]])
    pairs = fit_pairs(bins, prior, np.tile(mean, (len(bins.scores), 1)))[0]
    f, _, H = likelihood(bins, pairs)
    logdet = [np.linalg.slogdet(L + naive.full(h))[1] for h in H]
    return (
        -np.sum(f + prior.penalty(pairs))
        - np.sum(logdet) / 2
        + len(H) * np.linalg.slogdet(L)[1] / 2
    )


def test_the_prior_has_a_large_marginal_likelihood(rng):
    truth = rng.multivariate_normal([1.5, -2.0], [[0.3, -0.2], [-0.2, 0.5]], 60)
    T = rng.standard_normal((60, 200))
    Y = (rng.random((60, 200)) < 1 / (1 + np.exp(-truth[:, :1] * T - truth[:, 1:]))).astype(float)
    bins = Bins(T, np.ones_like(T), Y)
    pair, H = fit_pooled(Bins(*(each.reshape(1, -1) for each in bins.arrays())))
    prior, pairs = estimate_prior(bins, pair, H)
    S = np.linalg.inv(naive.full(prior.precision))
    value = laplace(bins, prior.mean, S)
    for factor in (0.3, 3.0):
        assert laplace(bins, prior.mean, factor * S) < value
    for off in ([0.3, 0], [-0.3, 0], [0, 0.3], [0, -0.3]):
        assert laplace(bins, prior.mean + off, S) < value
    # The estimates lie nearer to the truth than those of each label alone.
    alone = fit_pairs(bins, Prior(pair, np.full(3, 1e-6) * [1, 0, 1]), np.tile(pair, (60, 1)))[0]
    assert np.mean((pairs - truth) ** 2) < 0.8 * np.mean((alone - truth) ** 2)


def test_location_and_spread(rng):
    T = np.sort(rng.standard_normal((1, 999)))
    centre, spread = locate(Bins(T, np.ones_like(T), np.zeros_like(T)))
    assert centre == np.median(T)
    assert spread == pytest.approx(1.645, rel=0.1)  # half of the distance of normal quantiles
    T[0, -1] = 1e12  # an outlier does not matter
    assert locate(Bins(T, np.ones_like(T), np.zeros_like(T))) == (centre, spread)
    T = np.zeros((1, 100))
    T[0, -1] = 3.0
    ones = np.ones_like(T)
    assert locate(Bins(T, ones, ones)) == (0.0, pytest.approx(0.3))
    assert locate(Bins(T[:, :50], ones[:, :50], ones[:, :50])) == (0.0, 0.0)
    assert locate(Bins(T, 0 * ones, 0 * ones)) == (0.0, 0.0)


def test_equal_scores_have_smoothed_shares():
    Y = np.array([[0.0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1]])
    maps, prior = fit_maps(Bins(np.full((3, 4), 7.0), np.ones((3, 4)), Y))
    assert prior is None
    share = (6 + 1) / (12 + 2)
    expected = (np.array([0, 2, 4]) + 2 * share) / 6
    found = 1 / (1 + np.exp(-maps.log_odds(np.full((1, 3), 7.0))))
    np.testing.assert_allclose(found[0], expected, rtol=1e-12)
    np.testing.assert_array_equal(maps.pairs[:, 0], 0)
