"""Euclidean distances that are accurate wherever the samples are."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from eigenlabel.linalg.euclidean import EuclideanDistances, distance_rounding, largest_entries


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_distances_have_a_small_relative_error(rng, sparse, offset):
    Z, X = rng.standard_normal((30, 5)), rng.standard_normal((12, 5))
    if sparse:
        Z[:, 1:] *= rng.random((30, 4)) < 0.3
        X[:, 1:] *= rng.random((12, 4)) < 0.3
    Z[:, 0], X[:, 0] = Z[:, 0] + offset, X[:, 0] + offset  # a full column far from zero
    X[0] = Z[0]
    form = sp.csr_array if sparse else np.asarray
    found = EuclideanDistances(form(Z))(form(X))
    np.testing.assert_allclose(found, cdist(X, Z), rtol=1e-9, atol=1e-12)
    assert found[0, 0] == 0


def test_dense_and_sparse_samples_go_together(rng):
    X = rng.standard_normal((6, 4))
    np.testing.assert_allclose(EuclideanDistances(sp.csr_array(X))(X), cdist(X, X), atol=1e-12)
    np.testing.assert_allclose(EuclideanDistances(X)(sp.csr_array(X)), cdist(X, X), atol=1e-12)


def test_the_bound_grows_with_the_entries():
    X = np.array([[1.0, -5.0], [0.0, 0.0]])
    np.testing.assert_array_equal(largest_entries(X), [[5.0], [0.0]])
    np.testing.assert_array_equal(largest_entries(sp.csr_array(X)), [[5.0], [0.0]])
    assert largest_entries(np.zeros((2, 0))).shape == (2, 1)
    bound = distance_rounding(X).absolute
    assert bound[0, 0] == pytest.approx(20 * np.finfo(float).eps)
    assert (distance_rounding(X, np.float32).absolute >= bound).all()
