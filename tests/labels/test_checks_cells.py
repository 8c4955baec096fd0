import numpy as np
import pytest

from eigenlabel.labels.checks import blank, check_observed

OBSERVED = np.array([[True, False], [False, False]])


def test_labels_that_are_not_observed_become_nan():
    Y = np.array([[True, False], [True, True]])
    np.testing.assert_array_equal(blank(Y, OBSERVED), [[1, np.nan], [np.nan, np.nan]])
    assert blank(Y, None) is Y


def test_some_label_of_a_sample_with_weight_must_be_observed():
    check_observed(None, None)
    check_observed(OBSERVED, None)
    check_observed(OBSERVED, np.array([1.0, 0.0]))
    with pytest.raises(ValueError, match="y is NaN everywhere"):
        check_observed(np.zeros((2, 2), dtype=bool), None)
    with pytest.raises(ValueError, match="wherever sample_weight is positive"):
        check_observed(OBSERVED, np.array([0.0, 1.0]))
