"""Orthogonal centroids against the centroids themselves."""

import numpy as np

from eigenlabel import (
    OrthogonalCentroid,
)


def test_the_directions_span_the_centroids_of_classes(rng):
    X = rng.standard_normal((60, 8))
    y = rng.integers(3, size=60)
    means = np.array([X[y == k].mean(axis=0) for k in range(3)]) - X.mean(axis=0)
    model = OrthogonalCentroid().fit(X, y)
    assert model.n_components_ == 2
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(means @ model.components_.T @ model.components_, means, atol=1e-10)
