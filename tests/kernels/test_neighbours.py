"""Nearest neighbours: ties, strips and views."""

import numpy as np
from sklearn.metrics import pairwise_distances

from eigenlabel.kernels.neighbours import (
    mean_over_views,
    nearest_by_mean,
    nearest_by_rank,
    nearest_in_strips,
    rounding_of_mean,
)
from eigenlabel.linalg.ties import Rounding, nearest


def naive_neighbours(D, k, own=None):
    """Sort by distance, then by index; equal distances may differ in their last digits."""
    rows = []
    for i, row in enumerate(D.round(12)):
        order = sorted((d, j) for j, d in enumerate(row) if own is None or j != own[i])
        rows.append(sorted(j for _, j in order[:k]))
    return np.array(rows)


def test_ties_go_to_the_lowest_index(rng):
    D = rng.integers(0, 4, (30, 20)).astype(float)
    D[:10] = rng.uniform(size=(10, 20))  # and rows without any
    for k in (1, 5, 19, 20):
        np.testing.assert_array_equal(nearest(D, k, Rounding()), naive_neighbours(D, k))


def test_strips_have_the_neighbours_of_the_whole_matrix(rng):
    X = rng.standard_normal((17, 3))
    D = pairwise_distances(X)
    for training in (False, True):
        found = nearest_in_strips(
            lambda rows: D[rows].copy(),
            lambda _: Rounding(),
            [slice(0, 5), slice(5, 17)],
            4,
            training=training,
        )
        index = np.vstack([near for _, near in found])
        own = range(17) if training else None
        np.testing.assert_array_equal(index, naive_neighbours(D, 4, own))


def test_the_mean_over_views_leaves_out_views_that_lack_a_sample():
    D = np.array([[[1.0, 2.0, np.nan]], [[3.0, np.nan, np.nan]]])
    np.testing.assert_array_equal(mean_over_views(D), [[2.0, 2.0, np.inf]])


def test_neighbours_by_rank_are_the_first_ones_of_every_view():
    D = np.array([[[0.1, 5.0, 6.0, 7.0]], [[9.0, 8.0, 0.2, 7.0]]])
    exact = [Rounding(), Rounding()]
    np.testing.assert_array_equal(nearest_by_rank(D, 2, exact), [[2, 0]])  # by the mean distance
    np.testing.assert_array_equal(nearest_by_mean(D, 2, exact), [[2, 0]])


def test_the_rounding_of_a_mean_is_the_largest_one():
    found = rounding_of_mean([Rounding(np.array([[1.0], [0.0]]), 0.1), Rounding(0.5, 0.2)])
    np.testing.assert_array_equal(found.absolute, [[1.0], [0.5]])
    assert found.relative == 0.2
