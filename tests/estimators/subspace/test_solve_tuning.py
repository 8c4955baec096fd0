"""The outcome of a search, in the form of the fitted attributes."""

import numpy as np

from eigenlabel.estimators.subspace.solve import Tuning
from eigenlabel.estimators.subspace.tuning import Grid
from eigenlabel.model_selection.search import SearchResult


def test_the_outcome_of_a_search():
    grid = Grid(np.array([0.1, 1.0]), np.array([0.5]), [2])
    keys = ("alpha", "beta", "n_components")
    params = [dict(zip(keys, point, strict=True)) for point in grid.points]
    pooled = np.array([0.3, 0.7])
    table = {"params": params, "pooled_test_score": pooled}
    oof_scores = np.ones((2, 4))
    result = SearchResult(table, np.array(1), pooled[1], np.zeros(4), oof_scores)
    tuning = Tuning.of(result, grid, np.array([0, 2]), 3)
    assert tuning.point == (0.1, 0.5, 2)  # the larger penalty comes first in the grid
    assert (tuning.best_index, tuning.best_score) == (1, 0.7)
    np.testing.assert_array_equal(tuning.score_grid, [[[0.7]], [[0.3]]])
    np.testing.assert_array_equal(np.isnan(tuning.oof_scores).all(axis=1), [False, True, False])
