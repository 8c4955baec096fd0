"""Cutting planes: the minimum of known planes, and planes that are no longer needed."""

import numpy as np

from eigenlabel.estimators.margin.cutting_planes import Planes, minimise


def test_inactive_planes_are_replaced():
    planes = Planes(2, 100.0, 1e-3)
    for angle in np.linspace(0, 3, 60):
        planes.add(np.array([np.cos(angle), np.sin(angle)]), 1.0)
        planes.add(np.zeros(2), -1.0)  # never touches the others
        planes.solve()
    assert planes.size < 80


def test_the_minimum_of_one_plane_is_known():
    # |w|^2 / (2 C) + max(0, 1 - w x) has its minimum at w = min(C x, 1 / x).
    for C, expected in ((0.1, 0.2), (10.0, 0.5)):
        found = minimise(np.array([[2.0]]), lambda _: (np.ones(1), 1.0), C, 0.0, 1e-9, 100)
        # A gap of 1e-9 determines w up to the square root of 2 C 1e-9.
        np.testing.assert_allclose(found.w, [expected, 0.0], atol=2 * np.sqrt(2e-9 * C))
        assert found.gap <= 1e-9
