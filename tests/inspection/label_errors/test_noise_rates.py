"""Rates of label errors, estimated from planted ones."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit, logit

from eigenlabel.inspection.label_errors.noise_rates import LOST, WRONG, fit_noise_rates


def plant(rng, uniform, share, lost, n=4000, m=24):
    """Return the evidence of all cells, their labels, and what is given after errors."""
    frequency = np.geomspace(0.004, 0.4, m)
    odds = 3 * rng.normal(size=(n, m))
    for j, f in enumerate(frequency):  # calibrated: the mean probability is the frequency
        odds[:, j] += brentq(lambda shift, j=j, f=f: expit(odds[:, j] + shift).mean() - f, -30, 30)
    truth = rng.random((n, m)) < expit(odds)
    r = uniform + share * frequency
    given = np.where(truth, rng.random((n, m)) >= lost, rng.random((n, m)) < r)
    seen = (given.sum(axis=0) + 0.5) / (n + 1)
    label = np.broadcast_to(np.arange(m), (n, m)).ravel()
    positive = given.ravel().astype(float)
    return (odds - logit(frequency)).ravel(), label, positive, 1 - positive, seen, n


@pytest.mark.parametrize("rate", [0.01, 0.03, 0.08])
def test_uniform_errors_are_found(rng, rate):
    found = fit_noise_rates(*plant(rng, rate, 0.0, rate))
    # estimates of a rate from samples, on a grid whose steps are 23%
    np.testing.assert_allclose(found.wrong, rate, rtol=0.6)
    assert rate / 2 < found.missing < rate + 2 * LOST + WRONG


@pytest.mark.parametrize("share", [0.02, 0.05])
def test_errors_in_proportion_to_the_frequency_are_found(rng, share):
    *cells, seen, n = plant(rng, 0.0, share, share)
    found = fit_noise_rates(*cells, seen, n)
    np.testing.assert_allclose(found.wrong, share * seen, rtol=0.6)
    assert share / 2 < found.missing <= share + 2 * LOST


def test_clean_labels_have_low_rates(rng):
    *cells, seen, n = plant(rng, 0.0, 0.0, 0.0)
    found = fit_noise_rates(*cells, seen, n)
    assert (found.wrong < 0.01 * seen).all()
    assert found.missing < 0.01 + LOST


def test_the_order_of_cells_and_labels_does_not_matter(rng):
    evidence, label, positive, negative, seen, n = plant(rng, 0.02, 0.0, 0.02, n=300)
    place = rng.permutation(len(seen))
    order = rng.permutation(len(label))
    parts = (evidence[order], place[label[order]], positive[order], negative[order])
    again = fit_noise_rates(*parts, seen[np.argsort(place)], n)
    found = fit_noise_rates(evidence, label, positive, negative, seen, n)
    np.testing.assert_allclose(again.wrong[place], found.wrong, rtol=1e-12)
    assert again.missing == pytest.approx(found.missing, rel=1e-8)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_samples_have_rates_between_0_and_1(n):
    label = np.repeat([0, 1], n)
    positive = np.tile([1.0, 0.0, 1.0], 2)[: 2 * n]
    frequency = (np.bincount(label, positive) + 0.5) / (n + 1)
    found = fit_noise_rates(np.zeros(2 * n), label, positive, 1 - positive, frequency, n)
    assert ((found.wrong > 0) & (found.wrong < 1)).all()
    assert 0 < found.missing < 1


@pytest.mark.parametrize("rate", [0.02, 0.05])
def test_without_evidence_the_frequencies_decide(rate):
    n, true = 2000, np.geomspace(0.001, 0.3, 30)
    label = np.arange(30)

    def fit(frequency):
        positive = n * frequency
        return fit_noise_rates(np.zeros(30), label, positive, n - positive, frequency, n).wrong

    assert (fit(true) < 0.01).all()
    np.testing.assert_allclose(fit(rate + (1 - 2 * rate) * true), rate, rtol=0.5)  # a grid
