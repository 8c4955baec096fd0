"""Conditional means without the row and the column that are predicted."""

import numpy as np
import pytest
import scipy.sparse as sp

import helpers
from eigenlabel.linalg.conditional_means import ConditionalMeans


def draw(rng, n=12, m=6):
    common = rng.random((n, 1)) < 0.5
    B = ((rng.random((n, m)) < 0.25) ^ (common & (rng.random((n, m)) < 0.7))).astype(float)
    B[:, 1] = 0.0
    B[0, 2] = 0.37
    return B


@pytest.mark.parametrize("numbers", [2**22, 22, 8])
def test_equals_one_ridge_regression_for_each_entry(rng, numbers):
    B = draw(rng)
    mean = B.mean(axis=0)
    D = B - mean
    found = ConditionalMeans(sp.csr_array(B), mean, 0.3, numbers)
    predictors = found.predictors
    assert len(predictors) * (len(predictors) + 6) <= numbers
    assert 1 <= len(predictors) <= 5
    penalty = 0.3 * np.mean([D[:, j] @ D[:, j] for j in predictors])
    expected = helpers.conditional_means(D, penalty, predictors)
    rows = np.vstack([found.of_rows(slice(0, 5)), found.of_rows(slice(5, 12))])
    np.testing.assert_allclose(rows, expected, atol=1e-11)


def test_the_predictors_are_the_columns_that_vary_most_and_ties_are_left_out():
    B = np.zeros((10, 4))
    B[:5, 0] = B[:2, 1] = B[3:5, 2] = B[:1, 3] = 1
    mean = B.mean(axis=0)
    assert ConditionalMeans(sp.csr_array(B), mean, numbers=4 * 8).predictors.tolist() == [
        0,
        1,
        2,
        3,
    ]
    assert ConditionalMeans(sp.csr_array(B), mean, numbers=3 * 7).predictors.tolist() == [0, 1, 2]
    assert ConditionalMeans(sp.csr_array(B), mean, numbers=2 * 6).predictors.tolist() == [0]


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_constant_columns_predict_nothing(value):
    B = np.full((4, 3), value)
    found = ConditionalMeans(sp.csr_array(B), B.mean(axis=0))
    np.testing.assert_array_equal(found.of_rows(slice(0, 4)), np.zeros((4, 3)))


def test_predictions_do_not_depend_on_the_predicted_entry(rng):
    B = draw(rng)
    mean = np.full(6, 0.4)
    share = 0.2
    before = ConditionalMeans(sp.csr_array(B), mean, share).of_rows(slice(0, 12))[3, 4]
    other = B.copy()
    other[3, 4] = 1 - other[3, 4]
    D, E = B - mean, other - mean
    # the penalty is relative to the lengths of all columns, which the entry changes
    share *= (D**2).sum() / (E**2).sum()
    after = ConditionalMeans(sp.csr_array(other), mean, share).of_rows(slice(0, 12))[3, 4]
    assert after == pytest.approx(before, abs=1e-12)
