import numpy as np
import pytest

import naive
from eigenlabel.thresholds import logistic as module
from eigenlabel.thresholds.logistic import IDENTITY, apply_link, fit_link, softplus
from eigenlabel.thresholds.score_bins import Bins


def draw(rng, shown, true, n=400, m=5):
    """Draw labels whose log-odds are ``true(z)`` where the maps show z."""
    z = rng.uniform(-8, 4, (m, n))
    Y = rng.random((m, n)) < 1 / (1 + np.exp(-true(z)))
    return Bins(shown(z), np.ones((m, n)), Y.astype(float))


def test_the_identity_changes_nothing(rng):
    z = rng.uniform(-800, 800, 50)
    np.testing.assert_allclose(apply_link(z, IDENTITY), z, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(softplus(z), [naive.softplus(each) for each in z], rtol=1e-12)


def test_the_curve_is_that_of_the_definition(rng):
    z, curve = rng.uniform(-9, 9, 20), np.array([0.3, 1.2, 0.4])
    expected = [0.3 - 1.2 * naive.softplus(-x) + 0.4 * naive.softplus(x) for x in z]
    np.testing.assert_allclose(apply_link(z, curve), expected, rtol=1e-12)
    assert (np.diff(apply_link(np.sort(z), curve)) > 0).all()


def test_the_curve_is_stationary(rng, monkeypatch):
    monkeypatch.setattr(module, "STEP", 1e-4)  # hardly any two cells in one bin
    monkeypatch.setattr(module, "CACHE_NUMBERS", 2 * 400)  # two labels at a time
    bins = draw(rng, lambda z: z, lambda z: np.where(z < 0, 1.3 * z, 0.4 * z))
    curve = fit_link(bins, np.tile([1.0, 0.0], (5, 1)))
    g = module.PENALTY * (curve - IDENTITY)
    for z, y in zip(bins.scores.ravel(), bins.positives.ravel(), strict=True):
        x = np.array([1.0, -naive.softplus(-z), naive.softplus(z)])
        g += (naive.sigmoid(curve @ x) - y) * x
    np.testing.assert_allclose(g, 0, atol=1e-2)  # bins of width 1e-4 times 2000 cells
    assert curve[1] > 1.1
    assert curve[2] < 0.7


def test_wide_bins_are_accurate(rng, monkeypatch):
    bins = draw(rng, lambda z: z, lambda z: np.where(z < 0, 1.3 * z, 0.4 * z))
    pairs = np.tile([1.0, 0.0], (5, 1))
    found = fit_link(bins, pairs)
    monkeypatch.setattr(module, "STEP", 1e-4)
    # Bins of width 0.1 have a relative error of about 0.1^2 / 24.
    np.testing.assert_allclose(found, fit_link(bins, pairs), rtol=5e-3, atol=5e-3)


@pytest.mark.parametrize("side", [-1, 1])
def test_slopes_are_not_negative(rng, side):
    # The labels fall with the log-odds on one side.
    bins = draw(rng, lambda z: z, lambda z: np.where(side * z > 0, -2 * z, 2 * z), n=4000)
    curve = fit_link(bins, np.tile([1.0, 0.0], (5, 1)))
    assert (curve[1:] >= 0).all()
    assert curve[1 if side < 0 else 2] == 0


def test_the_shift_may_be_negative(rng):
    bins = draw(rng, lambda z: z, lambda z: z - 1, n=4000)
    curve = fit_link(bins, np.tile([1.0, 0.0], (5, 1)))
    np.testing.assert_allclose(curve, [-1, 1, 1], atol=0.2)  # few of 20,000 cells are near zero


def test_few_cells_leave_the_identity(rng):
    bins = draw(rng, lambda z: z, lambda z: 0 * z, n=1, m=1)
    np.testing.assert_allclose(fit_link(bins, np.array([[1.0, 0.0]])), IDENTITY, atol=0.5)


def test_log_odds_beyond_the_range_are_used(rng):
    bins = draw(rng, lambda z: 100 * z, lambda z: z)
    assert np.isfinite(fit_link(bins, np.tile([1.0, 0.0], (5, 1)))).all()
