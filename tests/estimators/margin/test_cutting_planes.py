"""Cutting planes: the minimum of known planes, and planes that are no longer needed."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.estimators.margin.cutting_planes import Planes, SampleVectors, minimise
from eigenlabel.estimators.margin.violations import most_violated


def test_inactive_planes_are_replaced():
    samples = SampleVectors(np.eye(2), 0.0)
    planes = Planes(samples, 100.0, 1e-3)
    for angle in np.linspace(0, 3, 60):
        planes.add(samples.combine(np.array([np.cos(angle), np.sin(angle)])), 1.0)
        planes.add(samples.combine(np.zeros(2)), -1.0)  # never touches the others
        planes.solve()
    assert planes.size < 80


def test_the_minimum_of_one_plane_is_known():
    # |w|^2 / (2 C) + max(0, 1 - w x) has its minimum at w = min(C x, 1 / x).
    for C, expected in ((0.1, 0.2), (10.0, 0.5)):
        found = minimise(np.array([[2.0]]), lambda _: (np.ones(1), 1.0), C, 0.0, 1e-9, 100)
        # A gap of 1e-9 determines w up to the square root of 2 C 1e-9.
        np.testing.assert_allclose(found.w, [expected, 0.0], atol=2 * np.sqrt(2e-9 * C))
        assert found.gap <= 1e-9


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_few_samples_keep_coefficients_and_many_keep_weights(rng, form):
    X = rng.standard_normal((30, 6))
    wide = np.hstack([X, np.zeros((30, 40))])  # the same samples with more features than samples
    y = X[:, 0] + 0.5 * rng.standard_normal(30) > 0
    find = partial(most_violated, "f1", y, int(y.sum()))
    narrow = minimise(form(X), find, 50.0, 2.0, 1e-8, 2000)
    other = minimise(form(wide), find, 50.0, 2.0, 1e-8, 2000)
    assert SampleVectors(wide, 2.0).by_coefficients
    assert not SampleVectors(X, 2.0).by_coefficients
    # A gap of 1e-8 determines w up to the square root of 2 C 1e-8 = 1e-3, for each of both.
    np.testing.assert_allclose(other.w[:6], narrow.w[:6], atol=2e-3)
    assert other.w[-1] == pytest.approx(narrow.w[-1], abs=2e-3)
    assert not other.w[6:-1].any()
