"""Tests of the search over a projection and a classifier: it is a grid search of a pipeline."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import Pipeline

from eigenlabel import CCA
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.experiment.grid_search import search
from eigenlabel.reproduce.hinge_svms import HingeSVMs
from eigenlabel.reproduce.projection_search import ProjectionSearchCV, with_training_thresholds

PENALTIES = [1e-3, 0.1, 10.0]
AFTER = {
    "ridge": (RidgeClassifier(), {"alpha": [1e-2, 1.0, 100.0]}),
    "svm": (HingeSVMs(tol=1e-8), {"C": [0.01, 0.3, 10.0]}),
}


@pytest.mark.parametrize("scoring", ["f1_macro", "auc_micro", "hamming_loss"])
@pytest.mark.parametrize("after", AFTER)
@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_it_is_a_grid_search_of_a_pipeline(kernel, after, scoring):
    data = make_shared_subspace(120, 20, 5, random_state=1)
    X, X_new, Y = data.X[:90], data.X[90:], data.Y[:90]
    if kernel == "precomputed":
        X, X_new = X @ X.T, X_new @ X.T
    classifier, grid = AFTER[after]
    projection = CCA(kernel=kernel)
    ours = ProjectionSearchCV(projection, classifier, PENALTIES, grid, scoring, cv=3).fit(X, Y)
    steps = Pipeline([("projection", projection), ("then", classifier)])
    names = {f"estimator__then__{name}": values for name, values in grid.items()}
    theirs = search(
        with_training_thresholds(steps),
        {"estimator__projection__reg": PENALTIES, **names},
        scoring,
        cv=3,
    ).fit(X, Y)
    np.testing.assert_allclose(
        ours.scores_.ravel(), theirs.cv_results_["mean_test_score"], atol=1e-12
    )
    chosen = {name.rpartition("__")[2]: value for name, value in theirs.best_params_.items()}
    assert ours.best_params_ == chosen
    np.testing.assert_allclose(ours.decision_function(X_new), theirs.decision_function(X_new))
    np.testing.assert_array_equal(ours.predict(X_new), theirs.predict(X_new))


def test_the_first_of_equally_good_candidates_is_chosen():
    data = make_shared_subspace(60, 10, 3, random_state=0)
    grid = {"alpha": [2.0, 1.0, 2.0]}
    found = ProjectionSearchCV(CCA(n_components=1), RidgeClassifier(), [0.1, 0.1], grid, cv=3)
    found.fit(data.X, data.Y)
    np.testing.assert_array_equal(found.scores_[0], found.scores_[1])
    best = int(np.argmax(found.scores_[0]))
    assert found.best_params_ == {"reg": 0.1, "alpha": grid["alpha"][best]}
    assert found.best_score_ == found.scores_.max()
