import numpy as np

from eigenlabel.model_selection.scorers import MAX_SPLIT_COLUMNS, Truth

Y = np.array([[1, 0], [0, 1], [1, 1], [0, 0], [1, 0]], dtype=bool)
ROWS = np.array([0, 2, 3, 4])
FOLDS = [(None, np.array([0, 1])), (None, np.array([3]))]


def test_the_truth_holds_the_rows_of_the_search_with_samples_last():
    weights, cells = np.arange(5.0), ~Y
    truth = Truth.of(Y, weights, cells, ROWS, FOLDS)
    np.testing.assert_array_equal(truth.labels, Y[ROWS].T)
    np.testing.assert_array_equal(truth.weights, [0, 2, 3, 4])
    np.testing.assert_array_equal(truth.cells, cells[ROWS].T)
    np.testing.assert_array_equal(truth.fold, [0, 0, -1, 1])
    np.testing.assert_array_equal(truth.times, [1, 1, 0, 1])
    assert (truth.n_folds, truth.by_fold) == (2, True)


def test_only_tested_samples_remain():
    tested = Truth.of(Y, np.arange(5.0), None, ROWS, FOLDS).only_tested()
    np.testing.assert_array_equal(tested.labels, Y[[0, 2, 4]].T)
    np.testing.assert_array_equal(tested.weights, [0, 2, 4])
    np.testing.assert_array_equal(tested.fold, [0, 0, 1])
    assert tested.cells is None
    assert tested.only_tested() is tested


def test_samples_that_are_tested_twice_have_no_scores_by_fold():
    folds = [(None, np.array([0, 1])), (None, np.array([1, 2]))]
    assert not Truth.of(Y, None, None, ROWS, folds).by_fold


def test_many_folds_have_no_scores_by_fold():
    n = MAX_SPLIT_COLUMNS + 1
    labels = np.zeros((n, 1), dtype=bool)
    folds = [(None, np.array([k])) for k in range(n)]
    assert not Truth.of(labels, None, None, np.arange(n), folds).by_fold
    rows = np.arange(n - 1)
    assert Truth.of(labels, None, None, rows, folds[:-1]).by_fold
