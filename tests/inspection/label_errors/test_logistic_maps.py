"""Logistic maps that are shrunk to a common one."""

import numpy as np
import pytest

import helpers
from eigenlabel.inspection.label_errors.logistic_maps import Evidence, fit_maps, log_odds

START = np.array([1.0, 0.0])


def draw(rng, sizes, slope=2.0):
    label = np.repeat(np.arange(len(sizes)), sizes)
    F = np.column_stack([rng.normal(size=len(label)) * 3, np.ones(len(label))])
    y = rng.random(len(label)) < 1 / (1 + np.exp(-slope * F[:, 0] + label))
    return Evidence(label, F, y, np.ones(len(label)))


@pytest.mark.parametrize("ridge", [0.1, 1.0, 20.0])
def test_equals_maps_that_are_fitted_one_by_one(rng, ridge):
    cells = draw(rng, [40, 3, 25])
    found = fit_maps(cells, 4, START, ridge)
    common = helpers.logistic_map(cells.features, cells.positive, START, ridge)
    for j in range(3):
        own = cells.label == j
        expected = helpers.logistic_map(cells.features[own], cells.positive[own], common, ridge)
        np.testing.assert_allclose(found[j], expected, atol=1e-8)
    np.testing.assert_allclose(found[3], common, atol=1e-8)  # a label without cells


def test_separable_and_constant_labels_have_finite_maps(rng):
    x = np.concatenate([rng.uniform(5, 20, 30), rng.uniform(-20, -5, 30)])
    label, ones = np.repeat([0, 1, 2], 60), np.ones(60)
    F = np.column_stack([np.tile(x, 3), np.ones(180)])
    y = np.concatenate([x > 0, ones == 0, ones == 1])
    found = fit_maps(Evidence(label, F, y, np.ones(180)), 3, START)
    assert np.isfinite(found).all()
    odds = log_odds(F, found, label)
    assert ((odds[:60] > 0) == (x > 0)).all()
    assert (odds[60:120] < 0).sum() > (odds[120:] < 0).sum()


def test_a_weight_counts_as_that_many_cells(rng):
    cells = draw(rng, [30, 20])
    w = rng.integers(1, 4, 50).astype(float)
    again = np.repeat(np.arange(50), w.astype(int))
    parts = (cells.label, cells.features, cells.positive)
    repeated = Evidence(*(part[again] for part in parts), np.ones(len(again)))
    found = fit_maps(Evidence(*parts, w), 2, START)
    np.testing.assert_allclose(found, fit_maps(repeated, 2, START), atol=1e-8)


def test_no_cells_leave_the_start():
    none = Evidence(np.empty(0, int), np.empty((0, 2)), np.empty(0, bool), np.empty(0))
    np.testing.assert_array_equal(fit_maps(none, 3, START), np.tile(START, (3, 1)))
