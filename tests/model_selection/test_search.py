from types import SimpleNamespace

import numpy as np
import pytest

from eigenlabel.model_selection.search import Chunk, SearchResult, search, store, to_floats


class Points:
    """Two points, each in a chunk of its own."""

    params = ({"a": 1}, {"a": 2})

    def chunks(self):
        for k in range(2):
            yield Chunk(np.array([k]), np.full((1, 2, 3), float(k)))


class Largest:
    """Chooses the point with the largest scores."""

    def prepare(self, n_points):
        self.values = np.full(n_points, np.nan)

    def read(self, chunk):
        for point, scores in zip(chunk.points, chunk.scores, strict=True):
            self.values[point] = scores.mean()
            yield 1

    def conclude(self, held_out):
        best = np.argmax(self.values)
        return SearchResult({"params": held_out.params}, best, self.values[best])


def test_every_chunk_is_judged_and_every_step_reported():
    steps = []
    found = search(Points(), Largest(), steps.append)
    assert (found.best, found.score, steps) == (1, 1.0, [1, 1])
    assert search(Points(), Largest()).best == 1


def test_the_attributes_of_a_tuned_classifier_are_stored():
    table = {"params": [{"a": 1}, {"a": 2}]}
    scores = np.array([[0.5, 1.0]])
    result = SearchResult(table, np.array(1), np.array(0.25), np.array([0.1, 0.2]), scores)
    model = SimpleNamespace()
    store(model, result, np.array([2]), 3)
    assert (model.best_index_, model.best_score_, model.best_params_) == (1, 0.25, {"a": 2})
    assert model.best_params_ is not table["params"][1]
    assert model.cv_results_ is table
    np.testing.assert_array_equal(model.thresholds_, [0.1, 0.2])
    np.testing.assert_array_equal(model.oof_scores_, [[np.nan] * 2, [np.nan] * 2, [0.5, 1.0]])


def test_lists_of_numbers_become_arrays():
    np.testing.assert_array_equal(to_floats("alphas", (1, np.inf)), [1.0, np.inf])
    np.testing.assert_array_equal(to_floats("alphas", 2), [2.0])
    for bad in ([], "x", [[1.0]]):
        with pytest.raises(ValueError, match="alphas must be a non-empty list of numbers"):
            to_floats("alphas", bad)
