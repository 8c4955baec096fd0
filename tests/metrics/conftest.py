"""A table of labels and scores with every kind of row."""

import numpy as np
import pytest


@pytest.fixture(params=["smooth", "tied"])
def problem(request, rng):
    """Labels with a row of none and a row of all, scores with or without ties, weights."""
    Y = rng.uniform(size=(80, 6)) < np.array([0.5, 0.4, 0.3, 0.2, 0.1, 0.6])
    Y[0], Y[1] = False, True
    scores = rng.standard_normal(Y.shape) + Y
    if request.param == "tied":
        scores = np.round(scores)
    w = rng.uniform(0.5, 2, len(Y))
    return Y.astype(int), scores, (scores > 0.7).astype(int), w
