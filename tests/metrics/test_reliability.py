"""Reliability bins and calibration error: by hand, by naive loops, and as in scikit-learn."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.calibration import calibration_curve

from eigenlabel import metrics

NAN = np.nan


def naive_error(y, p, w, n_bins):
    """Return the error of some cells in bins of equal width."""
    error = 0.0
    for b in range(n_bins):
        low, high = b / n_bins, (b + 1) / n_bins
        inside = [i for i in range(len(p)) if (low < p[i] <= high) or (b == 0 and p[i] == 0)]
        weight = sum(w[i] for i in inside)
        if weight:
            share = sum(w[i] * y[i] for i in inside) / weight
            mean = sum(w[i] * p[i] for i in inside) / weight
            error += weight / sum(w) * abs(share - mean)
    return error


@pytest.fixture
def table(rng):
    """Truth with NaN, a column without any and a row without any; many probabilities are 0."""
    Y = (rng.random((60, 6)) < 0.4).astype(float)
    Y[rng.random(Y.shape) < 0.3] = NAN
    Y[4], Y[:, 3] = NAN, NAN
    P = rng.random(Y.shape)
    P[rng.random(Y.shape) < 0.5] = 0
    return Y, P, rng.uniform(0.5, 2, len(Y))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_error_equals_a_naive_loop(form, weighted, table):
    Y, P, w = table
    w = w if weighted else np.ones(len(Y))
    kw = {"n_bins": 7, "sample_weight": w if weighted else None}
    seen = ~np.isnan(Y)
    expected = naive_error(Y[seen], P[seen], np.repeat(w[:, None], 6, axis=1)[seen], 7)
    by_label = [
        naive_error(Y[s, j], P[s, j], w[s], 7) if s.any() else NAN for j, s in enumerate(seen.T)
    ]
    for truth in (Y, sp.csr_array(Y)):
        found = metrics.calibration_error(truth, form(P), **kw)
        assert found == pytest.approx(expected, rel=1e-12)
        found = metrics.calibration_error(truth, form(P), average="macro", **kw)
        assert found == pytest.approx(np.nanmean(by_label), rel=1e-12)
        found = metrics.calibration_error_per_label(truth, form(P), **kw)
        np.testing.assert_allclose(found, by_label, rtol=1e-12)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("n_bins", [1, 5, 15])
def test_bins_are_those_of_scikit_learn(strategy, n_bins, rng):
    Y, P = rng.random((90, 4)) < 0.4, rng.random((90, 4))
    for label, y, p in ((None, Y.ravel(), P.ravel()), (2, Y[:, 2], P[:, 2])):
        bins = metrics.reliability_bins(Y, P, label=label, n_bins=n_bins, strategy=strategy)
        shares, means = calibration_curve(y, p, n_bins=n_bins, strategy=strategy)
        np.testing.assert_allclose(bins.observed, shares, rtol=1e-12)
        np.testing.assert_allclose(bins.predicted, means, rtol=1e-12)
        assert bins.count.sum() == len(y)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("label", [None, 0, 5])
def test_sparse_probabilities_have_the_bins_of_dense_ones(strategy, label, table):
    Y, P, w = table
    kw = {"label": label, "strategy": strategy, "sample_weight": w}
    dense = metrics.reliability_bins(Y, P, **kw)
    for truth in (Y, sp.csr_array(Y)):
        sparse = metrics.reliability_bins(truth, sp.csr_array(P), **kw)
        for name in ("predicted", "observed", "count", "weight", "lower", "upper"):
            np.testing.assert_allclose(getattr(sparse, name), getattr(dense, name), rtol=1e-12)


@pytest.mark.parametrize("average", ["micro", "macro"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_bins_of_equal_mass_by_label_and_together(average, form, table):
    Y, P, w = table
    kw = {"n_bins": 4, "strategy": "quantile", "sample_weight": w}
    labels = [None] if average == "micro" else [0, 1, 2, 4, 5]
    errors = []
    for label in labels:
        bins = metrics.reliability_bins(Y, form(P), label=label, **kw)
        differences = np.abs(bins.observed - bins.predicted)
        errors.append(np.average(differences, weights=bins.weight))
    found = metrics.calibration_error(Y, form(P), average=average, **kw)
    assert found == pytest.approx(np.mean(errors), rel=1e-12)
    if average == "macro":
        by_label = metrics.calibration_error_per_label(Y, form(P), **kw)
        np.testing.assert_allclose(by_label[labels], errors, rtol=1e-12)
        assert np.isnan(by_label[3])


def test_bins_worked_by_hand():
    Y = np.array([[1, 0], [0, NAN], [1, 1]])
    P = np.array([[0.9, 0.2], [0.3, 0.1], [0.7, 0.25]])
    bins = metrics.reliability_bins(Y, P, n_bins=4, sample_weight=[1, 2, 3])
    # (0, 1/4]: 0.2 absent, 0.25 present; (1/4, 1/2]: 0.3 absent; (1/2, 3/4]: 0.7; (3/4, 1]: 0.9.
    np.testing.assert_allclose(bins.predicted, [0.95 / 4, 0.3, 0.7, 0.9], rtol=1e-14)
    np.testing.assert_allclose(bins.observed, [3 / 4, 0, 1, 1], rtol=1e-14)
    np.testing.assert_array_equal(bins.count, [2, 1, 1, 1])
    np.testing.assert_array_equal(bins.weight, [4, 2, 3, 1])
    np.testing.assert_array_equal(bins.lower, [0, 0.25, 0.5, 0.75])
    np.testing.assert_array_equal(bins.upper, [0.25, 0.5, 0.75, 1])
    error = (4 * (3 / 4 - 0.95 / 4) + 2 * 0.3 + 3 * 0.3 + 1 * 0.1) / 10
    found = metrics.calibration_error(Y, P, n_bins=4, sample_weight=[1, 2, 3])
    assert found == pytest.approx(error, rel=1e-14)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_probability_on_an_edge_is_in_the_lower_bin_whatever_its_last_digit(kind):
    P = np.array([[0.0, 0.1, 0.2, 0.3, 0.1 + 0.2, 0.6, 0.7, 1.0]], dtype=kind)
    bins = metrics.reliability_bins(np.zeros(P.shape), P, n_bins=10)
    np.testing.assert_array_equal(bins.count, [2, 1, 2, 1, 1, 1])
    np.testing.assert_allclose(bins.upper, [0.1, 0.2, 0.3, 0.6, 0.7, 1], rtol=1e-15)


def test_bins_of_equal_mass_worked_by_hand():
    P = np.array([0.0, 0.0, 0.0, 0.0, 0.1, 0.2, 0.3, 0.3, 0.4])[:, None]
    Y = np.array([0, 0, 0, 1, 0, 1, 0, 1, 1])[:, None]
    bins = metrics.reliability_bins(Y, P, n_bins=3, strategy="quantile")
    # Equal ones are not parted: four zeros; five cells are left for two bins, and 2 are nearer to
    # 2.5 than 4.
    np.testing.assert_array_equal(bins.count, [4, 2, 3])
    np.testing.assert_array_equal(bins.lower, [0, 0.1, 0.3])
    np.testing.assert_array_equal(bins.upper, [0, 0.2, 0.4])
    np.testing.assert_allclose(bins.observed, [1 / 4, 1 / 2, 2 / 3])
    weighted = metrics.reliability_bins(
        Y, P, n_bins=2, strategy="quantile", sample_weight=[1, 1, 1, 1, 1, 1, 1, 1, 30]
    )
    np.testing.assert_array_equal(weighted.count, [8, 1])
    np.testing.assert_array_equal(weighted.weight, [8, 30])
    few = metrics.reliability_bins(Y[4:6], P[4:6], n_bins=15, strategy="quantile")
    np.testing.assert_array_equal(few.count, [1, 1])


@pytest.mark.parametrize("n_bins", range(1, 9))
def test_bins_of_equal_mass_do_not_depend_on_the_last_digits_of_weights(n_bins):
    for n in range(1, 40):
        P, Y = np.arange(n)[:, None] / n, np.zeros((n, 1))
        plain = metrics.reliability_bins(Y, P, n_bins=n_bins, strategy="quantile")
        assert np.ptp(plain.count) <= 1
        assert len(plain.count) == min(n, n_bins)
        for weight in (0.1, 0.3, 1 / 7):
            w = np.full(n, weight)
            found = metrics.reliability_bins(
                Y, P, n_bins=n_bins, strategy="quantile", sample_weight=w
            )
            np.testing.assert_array_equal(found.count, plain.count)


def test_weights_too_small_to_change_a_sum():
    P, w = np.array([[0.1], [0.2], [0.3]]), [1, 1e-20, 1e-20]
    bins = metrics.reliability_bins(P > 0.2, P, n_bins=2, strategy="quantile", sample_weight=w)
    np.testing.assert_array_equal(bins.lower, [0.1, 0.2])


def test_shares_are_at_most_one_whatever_the_order_of_sums(rng):
    for _ in range(20):
        w = rng.uniform(0, 1, 50)
        nothing = sp.csr_array((50, 3))
        bins = metrics.reliability_bins(np.ones((50, 3)), nothing, sample_weight=w)
        assert (bins.observed <= 1).all()


def test_weights_make_bins_as_copies_do(rng):
    Y, P, w = rng.random((40, 3)) < 0.5, np.round(rng.random((40, 3)), 1), rng.integers(0, 4, 40)
    copies = np.repeat(np.arange(40), w)
    for strategy in ("uniform", "quantile"):
        found = metrics.reliability_bins(Y, P, strategy=strategy, n_bins=6, sample_weight=w)
        expected = metrics.reliability_bins(Y[copies], P[copies], strategy=strategy, n_bins=6)
        for name in ("predicted", "observed", "weight", "lower", "upper"):
            np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12)


def test_calibrated_probabilities_have_a_small_error(rng):
    P = rng.random((20_000, 5))
    Y = rng.random(P.shape) < P
    # By chance alone: 15 bins of 6667 cells, each off by about 0.8 * 0.5 / 81.
    assert metrics.calibration_error(Y, P) < 0.01
    assert metrics.calibration_error(Y, P**2) > 0.1


def test_no_cells_make_no_bins():
    Y, P = np.full((2, 2), NAN), np.full((2, 2), 0.5)
    for strategy in ("uniform", "quantile"):
        for form in (np.asarray, sp.csr_array):
            assert len(metrics.reliability_bins(Y, form(P), strategy=strategy).count) == 0
            for average in ("micro", "macro"):
                kw = {"strategy": strategy, "average": average}
                assert np.isnan(metrics.calibration_error(Y, form(P), **kw))
                kw["sample_weight"] = [0, 0]
                assert np.isnan(metrics.calibration_error(P > 0, form(P), **kw))


def test_wrong_options_raise_an_error():
    Y, P = np.eye(2), np.eye(2)
    with pytest.raises(ValueError, match="n_bins must be an integer >= 1, got 0"):
        metrics.calibration_error(Y, P, n_bins=0)
    with pytest.raises(ValueError, match="strategy must be one of 'uniform', 'quantile'"):
        metrics.reliability_bins(Y, P, strategy="mass")
    with pytest.raises(ValueError, match="average must be one of 'micro', 'macro'"):
        metrics.calibration_error(Y, P, average="labels")


def test_memory_depends_on_stored_cells_alone(rng):
    """20,000 samples and 30,000 labels: a dense matrix has 600 MB even as one byte a cell."""
    n, m, k = 20_000, 30_000, 20
    labels = rng.integers(0, m // k, (n, k)) + np.arange(k) * (m // k)
    starts = np.arange(0, n * k + 1, k)
    P = sp.csr_array((rng.random(n * k), labels.ravel(), starts), shape=(n, m))
    Y = sp.csr_array((rng.random(n * k) < P.data, labels.ravel(), starts), shape=(n, m))
    Y.eliminate_zeros()
    propensities = metrics.label_propensities(Y)
    tracemalloc.start()
    try:
        found = metrics.evaluate(Y, P, probabilities=P, propensities=propensities)
        metrics.log_loss_per_label(Y, P)
        metrics.reliability_bins(Y, P, strategy="quantile")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert {"precision_at_5", "propensity_ndcg_at_5", "log_loss", "label_f1_at_5"} <= set(found)
    assert "ranking_loss" not in found
    # Some ten arrays of 8 bytes a stored cell, and four for each bin of each of the labels.
    assert peak < 20 * 8 * (P.nnz + Y.nnz) + 8 * 8 * 15 * m
    assert found["calibration_error"] < 0.001
    assert found["precision_at_1"] > 0.9
