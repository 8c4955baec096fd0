"""The nearest samples from products in float32 are those of all distances in float64."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from eigenlabel.linalg import nearest as module
from eigenlabel.linalg.euclidean import distance_rounding
from eigenlabel.linalg.nearest import NearestEuclidean
from eigenlabel.linalg.ties import nearest

SHAPES = {
    "normal": lambda rng: rng.standard_normal((300, 20)),
    "tenths": lambda rng: rng.integers(0, 3, (300, 4)) / 10,
    "few values": lambda rng: rng.integers(0, 2, (300, 6)).astype(float),
    "far from zero": lambda rng: 1e6 + rng.standard_normal((300, 10)),
    "close": lambda rng: 1 + 1e-7 * rng.standard_normal((300, 10)),
    "an outlier": lambda rng: np.vstack([rng.standard_normal((299, 10)), np.full((1, 10), 1e9)]),
    "rows of zeros": lambda rng: rng.standard_normal((300, 10)) * (rng.random((300, 1)) < 0.8),
    "all zero": lambda rng: np.zeros((30, 3)),
    "tiny": lambda rng: 1e-60 * rng.standard_normal((300, 5)),
    "large": lambda rng: 1e60 * rng.standard_normal((300, 5)),
    "float32": lambda rng: rng.standard_normal((300, 8)).astype(np.float32),
    "equal lengths": lambda rng: np.sign(rng.standard_normal((300, 12))),
}


def expected(X, Z, k, own=None):
    D = cdist(X.astype(float), Z.astype(float))
    if own is not None:
        D[np.arange(len(X)), own.start + np.arange(len(X))] = np.inf
    return nearest(D, k, distance_rounding(X))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("k", [1, 7, 29])
def test_neighbours_are_those_of_all_distances(shape, k, rng):
    Z = SHAPES[shape](rng)
    X = np.concatenate([Z[: len(Z) // 3], Z[: len(Z) // 3] + 0.5 * Z[-1]]).astype(Z.dtype)
    search = NearestEuclidean(Z)
    found = search(X, k, distance_rounding(X))
    np.testing.assert_array_equal(found, expected(X, Z, k))
    own = slice(10, 25)
    found = search(Z[own], k, distance_rounding(Z[own]), own)
    np.testing.assert_array_equal(found, expected(Z[own], Z, k, own))


def test_most_rows_are_decided_in_float32(rng, monkeypatch):
    """All distances in float64 would be computed again if float32 decided too little."""
    Z = rng.standard_normal((500, 30))
    search = NearestEuclidean(Z)
    monkeypatch.setattr(search, "_distances", _NoDistances(search._distances))
    found = search(Z[:50], 5, distance_rounding(Z[:50]), slice(0, 50))
    np.testing.assert_array_equal(found, expected(Z[:50], Z, 5, slice(0, 50)))


class _NoDistances:
    def __init__(self, distances):
        self.centre_rows = distances.centre_rows

    def __call__(self, _):
        raise AssertionError("all distances in float64")


def test_undecided_columns_that_are_one_sample_are_not_compared(rng, monkeypatch):
    """Rows of zeros are equally far from everything."""
    Z = np.vstack([np.zeros((40, 6)), 100 + rng.standard_normal((200, 6))])
    X = rng.standard_normal((20, 6))
    monkeypatch.setattr(module, "AMBIGUOUS", 1.0)
    search = NearestEuclidean(Z)
    monkeypatch.setattr(module, "nearest", None)  # would be called to compare columns
    found = search(X, 5, distance_rounding(X))
    np.testing.assert_array_equal(found, np.tile(np.arange(5), (20, 1)))


def test_strips_that_float32_cannot_decide_use_float64(rng):
    Z = 1 + 1e-9 * rng.standard_normal((200, 5))
    Z[0] = 1e3
    search = NearestEuclidean(Z)
    np.testing.assert_array_equal(search(Z, 9, distance_rounding(Z)), expected(Z, Z, 9))
    assert not search._single


def test_sparse_samples_have_the_neighbours_of_dense_ones(rng):
    Z = rng.standard_normal((60, 12)) * (rng.random((60, 12)) < 0.3)
    found = NearestEuclidean(sp.csr_array(Z))(sp.csr_array(Z[:9]), 4, distance_rounding(Z[:9]))
    np.testing.assert_array_equal(found, expected(Z[:9], Z, 4))
    found = NearestEuclidean(Z)(sp.csr_array(Z[:9]), 4, distance_rounding(Z[:9]))
    np.testing.assert_array_equal(found, expected(Z[:9], Z, 4))


def test_the_bound_on_products_in_float32_holds(rng):
    """Sums of many products of one sign err most; every order of summation is within the bound."""
    Z, X = rng.random((50, 5000)) + 1, rng.random((20, 5000)) + 1
    exact = cdist(X, Z)
    for k in (1, 10, 49):
        found = NearestEuclidean(Z)(X, k, distance_rounding(X))
        limit = np.sort(exact, axis=1)[:, k - 1 : k]
        assert (np.take_along_axis(exact, found, axis=1) <= limit * (1 + 1e-12)).all()


def test_samples_much_longer_than_the_others_are_compared_in_float64(rng):
    Z = rng.standard_normal((80, 6))
    X = np.vstack([Z[:3], 1e45 * rng.standard_normal((2, 6))])
    with np.errstate(all="raise", under="ignore"):
        found = NearestEuclidean(Z)(X, 6, distance_rounding(X))
    np.testing.assert_array_equal(found, expected(X, Z, 6))
