"""Values of categorical variables: missing ones, distinct ones and positions."""

import numpy as np

from eigenlabel.estimators.agreement.homogeneity import (
    MISSING,
    UNKNOWN,
    encode,
    find_categories,
)


def test_categories_are_sorted_and_missing_ones_come_last():
    values = np.array(["b", None, "a", "b"], dtype=object)
    assert find_categories(values, with_missing=False) == ["a", "b"]
    assert find_categories(values, with_missing=True) == ["a", "b", None]
    mixed = np.array(["b", 1, "b"], dtype=object)  # cannot be sorted
    assert find_categories(mixed, with_missing=True) == ["b", 1]


def test_codes_are_positions_among_known_categories():
    values = np.array(["b", None, "c", "a"], dtype=object)
    assert encode(values, ["a", "b"]).tolist() == [1, MISSING, UNKNOWN, 0]
    assert encode(values, ["a", "b", None]).tolist() == [1, 2, UNKNOWN, 0]
