"""Sample weights: wrong ones raise an error, and weights of one are no weights."""

import numpy as np
import pytest

from eigenlabel import (
    SharedSubspaceClassifier,
)
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.inputs.sample_weights import check_row_weights, check_weights


@pytest.fixture
def data():
    return make_shared_subspace(60, 5, 4, random_state=0)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(60), "at least one non-zero number"),
        (-np.ones(60), "Negative values"),
        (np.full(60, np.nan), "NaN"),
        (np.ones(59), "sample_weight.shape"),
    ],
)
def test_wrong_weights_raise_an_error(weights, message, data):
    with pytest.raises(ValueError, match=message):
        SharedSubspaceClassifier().fit(data.X, data.Y, weights)


def test_weights_that_are_all_one_are_left_out():
    X = np.zeros((3, 2))
    assert check_weights(None, X) is None
    assert check_weights([1, 1, 1], X) is None
    np.testing.assert_array_equal(check_weights([1, 2, 0], X), [1.0, 2.0, 0.0])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(2), r"sample_weight has shape \(2,\), needed \(3,\)"),
        ([1, -1, 1], "must be finite and not negative"),
        ([1, np.nan, 1], "must be finite and not negative"),
    ],
)
def test_wrong_weights_of_rows_raise_an_error(weights, message):
    assert check_row_weights(None, 3) is None
    np.testing.assert_array_equal(check_row_weights([0, 1, 2], 3), [0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match=message):
        check_row_weights(weights, 3)
