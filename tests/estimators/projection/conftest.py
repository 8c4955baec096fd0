"""Matrices of every shape for the tests of projections."""

import numpy as np
import pytest

SHAPES = {"tall": (60, 7), "wide": (25, 60), "square": (30, 30)}


@pytest.fixture(params=SHAPES)
def X(request, rng):
    n, d = SHAPES[request.param]
    return rng.standard_normal((n, d)) @ np.diag(np.linspace(3, 1, d)) + rng.standard_normal(d)
