"""Grid search and the memory of the last fits."""

import pickle

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenlabel import MLkNN, catalogue
from eigenlabel.metrics import METRICS
from protocols import planted


class Counting(StandardScaler):
    """A transformer that counts its fits."""

    fits = 0

    def fit(self, X, y=None):
        type(self).fits += 1
        return super().fit(X, y)


def test_a_grid_over_the_classifier_fits_the_projection_once_for_each_fold():
    data, Counting.fits = planted(), 0
    memory = catalogue.LastFits()
    pipeline = make_pipeline(Counting(), RidgeClassifier(), memory=memory)
    tuned = catalogue.search(pipeline, {"ridgeclassifier__alpha": [0.1, 1.0, 10.0]}, cv=3)
    tuned.fit(data.X, data.Y)
    assert Counting.fits == 3 + 1  # folds, and all samples
    plain = catalogue.search(
        make_pipeline(Counting(), RidgeClassifier()),
        {"ridgeclassifier__alpha": [0.1, 1.0, 10.0]},
        cv=3,
    ).fit(data.X, data.Y)
    np.testing.assert_array_equal(
        tuned.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    )
    again = pickle.loads(pickle.dumps(tuned))
    assert not again.estimator.memory._kept
    np.testing.assert_array_equal(again.predict(data.X), tuned.predict(data.X))


def test_the_memory_forgets_the_result_that_was_used_longest_ago():
    calls = []

    def note(x, by):
        calls.append((x, by))

    remembered = catalogue.LastFits(2).cache(note, ignore=["by"])
    for x in (1, 2, 1, 3, 1, 2):
        remembered(x, by=len(calls))
    assert calls == [(1, 0), (2, 1), (3, 2), (2, 3)]


@pytest.mark.parametrize("name", ["log_loss", "ndcg_at_3", "propensity_precision_at_3"])
def test_a_grid_is_searched_by_probabilities_or_scores(name):
    data = planted()
    tuned = catalogue.search(MLkNN(), {"n_neighbors": [3, 30]}, name, cv=3).fit(data.X, data.Y)
    metric = METRICS[name]
    expected = metric.function(data.Y, tuned.predict_proba(data.X))
    sign = 1 if metric.greater_is_better else -1
    assert tuned.score(data.X, data.Y) == sign * expected
    assert sign * tuned.best_score_ > 0


def test_a_search_by_probabilities_needs_them():
    data = planted()
    tuned = catalogue.search(RidgeClassifier(), {"alpha": [1.0]}, "log_loss", cv=3)
    with pytest.raises(TypeError, match="RidgeClassifier has no predict_proba"):
        tuned.scoring(RidgeClassifier().fit(data.X, data.Y), data.X, data.Y)
