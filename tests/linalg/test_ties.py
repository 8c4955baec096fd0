"""Values that differ by rounding are equal, and the first of equal values comes first."""

import numpy as np
import pytest

from eigenlabel.linalg.ties import (
    Rounding,
    first_highest,
    first_largest,
    nearest,
    nearest_first,
    precision,
    same_as_next,
    same_scores,
    tied_order,
)

EXACT = Rounding()
LOOSE = Rounding(absolute=1e-9)


def test_precision_is_that_of_the_type():
    assert precision(np.float32) == np.finfo(np.float32).eps
    assert precision(int) == np.finfo(float).eps


@pytest.mark.parametrize("k", [0, 1, 3, 9])
def test_nearest_without_ties_is_a_sort(rng, k):
    D = rng.random((20, 9))
    expected = np.argsort(D, axis=1)[:, :k]
    np.testing.assert_array_equal(nearest_first(D, k, EXACT), expected)
    np.testing.assert_array_equal(nearest(D, k, EXACT), np.sort(expected, axis=1))


def test_of_equal_columns_the_first_are_taken():
    D = np.array([[2.0, 1.0 + 1e-12, 1.0, 1.0 - 1e-12, 0.5]])
    np.testing.assert_array_equal(nearest(D, 2, LOOSE), [[1, 4]])
    np.testing.assert_array_equal(nearest_first(D, 3, LOOSE), [[4, 1, 2]])


def test_equal_values_keep_the_order_of_their_indices():
    values = np.array([3.0, 1.0 + 1e-12, 1.0, 2.0])
    np.testing.assert_array_equal(tied_order(values, 1e-9), [1, 2, 3, 0])
    np.testing.assert_array_equal(tied_order(values, 0.0), [2, 1, 3, 0])


def test_a_group_of_equal_values_is_no_wider_than_the_slack():
    values = np.arange(10) * 0.6
    same = same_as_next(values, np.ones(9))
    groups = np.split(values, np.flatnonzero(~same) + 1)
    assert len(groups) > 1
    assert all(group[-1] - group[0] <= 1.0 + 1e-12 for group in groups)


def test_infinite_values_are_equal():
    assert same_as_next(np.array([np.inf, np.inf, 1.0]), np.full(2, 1e-9)).tolist() == [True, False]
    assert EXACT.at(np.array([np.inf]))[0] == 0


def test_scores_that_differ_by_rounding_are_the_same():
    assert same_scores(np.array([1.0, 1.0 - 1e-16, 0.5, 0.2])).tolist() == [True, False, False]


def test_the_first_of_the_largest_counts():
    values = np.array([[np.nan, 1.0], [1.0, 1.0 + 1e-15], [1.0 + 1e-15, np.nan]])
    np.testing.assert_array_equal(first_largest(values), [1, 0])
    assert first_largest(np.array([np.nan, np.nan])) == 0
    np.testing.assert_array_equal(first_highest(np.array([[0.1, 0.9, 0.9 + 1e-16]])), [1])


def test_bounds_of_some_rows_are_those_of_all(rng):
    values = rng.random((4, 3))
    rows = np.array([2, 0])
    for rounding in (Rounding(rng.random((4, 1)), 0.1, rng.random((4, 1))), Rounding(0.2, 0.1)):
        np.testing.assert_array_equal(
            rounding.some(rows).at(values[rows]), rounding.at(values)[rows]
        )
