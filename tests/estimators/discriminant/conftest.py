"""Data for the tests of discriminant analysis."""

import pytest

from eigenlabel.datasets import make_shared_subspace


@pytest.fixture(scope="module")
def data():
    return make_shared_subspace(80, 20, 5, random_state=3)


@pytest.fixture(scope="module")
def wide():
    return make_shared_subspace(40, 45, 4, random_state=4)


@pytest.fixture
def classes(rng):
    y = rng.integers(0, 4, 90)
    return rng.standard_normal((90, 7)) + 1.2 * rng.standard_normal((4, 7))[y], y
