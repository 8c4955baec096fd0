"""Tests of the search over kernels and C: it is a grid search of a pipeline."""

import numpy as np
import pytest
from sklearn.pipeline import Pipeline

from eigenlabel import MDDM
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.experiment.grid_search import search
from eigenlabel.reproduce.hinge_svms import HingeSVMs
from eigenlabel.reproduce.kernel_search import KernelSearchCV
from eigenlabel.reproduce.paper_estimators import OnGaussianKernel

WIDTHS, COSTS = [0.001, 0.05, 1.0], [0.01, 1.0, 10.0]


@pytest.mark.parametrize("scoring", ["f1_micro", "hamming_loss"])
@pytest.mark.parametrize("projection", [None, MDDM(kernel="rbf", label_kernel="rbf")])
def test_it_is_a_grid_search_of_a_pipeline(projection, scoring):
    data = make_shared_subspace(120, 20, 5, prevalence=0.3, random_state=1)
    X, X_new, Y = data.X[:90], data.X[90:], data.Y[:90]
    grid = {"gamma": WIDTHS}
    if projection is not None:
        grid["projection__label_gamma"] = [0.5, 2.0]
    ours = KernelSearchCV(OnGaussianKernel(projection), grid, COSTS, scoring, cv=3)
    ours.fit(X, Y)
    steps = [("kernel", OnGaussianKernel(projection)), ("svm", HingeSVMs(kernel="precomputed"))]
    names = {f"kernel__{name}": values for name, values in grid.items()}
    theirs = search(Pipeline(steps), {**names, "svm__C": COSTS}, scoring, cv=3).fit(X, Y)
    # Scores of samples near zero may differ in sign: both solvers stop at 1e-3.
    np.testing.assert_allclose(
        ours.scores_.ravel(), theirs.cv_results_["mean_test_score"], atol=0.02
    )
    chosen = {name.partition("__")[2]: value for name, value in theirs.best_params_.items()}
    assert ours.best_params_ == chosen
    np.testing.assert_allclose(
        ours.decision_function(X_new), theirs.decision_function(X_new), atol=5e-3
    )
    assert ours.predict(X_new).shape == (30, 5)
