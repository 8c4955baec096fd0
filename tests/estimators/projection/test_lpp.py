"""LPP against its eigenproblem."""

import numpy as np
import pytest
import scipy.linalg as sl
from sklearn.neighbors import NearestNeighbors

from eigenlabel import (
    LPP,
)
from eigenlabel.estimators.projection import lpp
from helpers import centre


def test_lpp_equals_its_eigenproblem(rng):
    X = rng.standard_normal((40, 6))
    Xc = centre(X)
    distance, index = NearestNeighbors(n_neighbors=5).fit(X).kneighbors()
    W = np.zeros((40, 40))
    for i in range(40):
        for d, j in zip(distance[i], index[i], strict=True):
            W[i, j] = max(W[i, j], np.exp(-(d**2) / 2 / 1.5**2))
            W[j, i] = max(W[j, i], W[i, j])
    D = np.diag(W.sum(axis=1))
    A, B = Xc.T @ (D - W) @ Xc, Xc.T @ D @ Xc
    model = LPP(3, n_neighbors=5, width=1.5).fit(X)
    P = model.components_.T
    np.testing.assert_allclose(model.eigenvalues_[:3], sl.eigh(A, B, eigvals_only=True)[:3])
    np.testing.assert_allclose(P.T @ B @ P, np.eye(3), atol=1e-8)
    np.testing.assert_allclose(A @ P, B @ P * model.eigenvalues_[:3], atol=1e-8)


def test_a_width_that_joins_no_samples_raises_an_error(rng):
    X = rng.standard_normal((50, 7))
    with pytest.raises(ValueError, match="leaves hardly any weight"):
        LPP(2, width=0.01).fit(X)
    for width in (0.05, 0.5, 5.0, None):
        assert (LPP(2, n_neighbors=5, width=width).fit(X).eigenvalues_ >= 0).all()
    with pytest.warns(UserWarning, match="LPP found no direction: the features do not vary"):
        assert LPP().fit(np.ones((20, 3))).n_components_ == 0


def test_equally_near_neighbours_are_chosen_by_their_order():
    Z = np.array([[0.0], [1.0], [-1.0], [2.0], [1.0]])
    distances, neighbours = lpp.nearest_neighbours(Z, 2, float)
    np.testing.assert_array_equal(neighbours[0], [1, 2])  # the last sample is as near
    np.testing.assert_array_equal(distances[0], [1, 1])


def test_the_graph_is_symmetric_and_joins_no_sample_to_itself(rng):
    graph = lpp.heat_graph(rng.standard_normal((20, 3)), 4, None, float)
    W = graph.weights.toarray()
    np.testing.assert_array_equal(W, W.T)
    assert not np.diag(W).any()
    assert ((W > 0).sum(axis=1) >= 4).all()
