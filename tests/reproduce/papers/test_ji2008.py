"""Ji et al. (2008): the candidates of Section 5.2."""

import numpy as np
from sklearn.svm import SVC

from eigenlabel import catalogue
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.reproduce import get_table
from eigenlabel.reproduce.hinge_svms import HingeSVMs


def powers(first, last):
    return [10.0**k for k in range(first, last + 1)]


def test_the_candidates_are_those_of_the_paper():
    subspace = catalogue.make("ML_LS")[-1]
    assert list(subspace.alphas) == list(subspace.betas) == [0.0, *powers(-6, 0)]
    svm = catalogue.make("SVM").estimator[-1]
    assert svm.param_grid == {"C": powers(-5, 5)}
    grids = {
        "CCA+Ridge": [powers(-6, 1), powers(-6, 0)],
        "CCA+SVM": [powers(-6, 1), powers(-4, 5)],
        "ASO_SVM": [powers(-4, 3)],
    }
    for name, expected in grids.items():
        made = catalogue.make(name)
        grid = made.param_grid if name == "ASO_SVM" else {"reg": made.penalties, **made.grid}
        for found, values in zip(grid.values(), expected, strict=True):
            np.testing.assert_allclose(found, values)


def test_the_first_and_the_last_sets_are_apart_as_in_the_paper():
    first, last = (get_table(f"kdd-table{number}") for number in (3, 4))
    assert set(first.data) == {"Arts", "Business", "Education", "Health"}
    assert set(last.data) == {"Reference", "Science"}
    assert last.splits.n_splits == 5


def test_thresholds_come_from_training_scores():
    for name in ("SVM", "SVM_C", "SVMperf"):
        model = catalogue.make(name)
        assert (model.strategy, model.cv) == ("f1", None)
    subspace = catalogue.make("ML_LS")[-1]
    assert (subspace.threshold, subspace.threshold_on) == ("f1", "training")


def test_svms_have_the_hinge_loss_of_libsvm():
    data = make_shared_subspace(80, 12, 4, noise=1.0, random_state=0)
    model = catalogue.make("SVM_C").fit(data.X, data.Y)
    for j, t in enumerate(data.Y.T):
        alone = SVC(kernel="linear").fit(data.X, t)
        found = model.decision_function(data.X)[:, j]
        np.testing.assert_allclose(found, alone.decision_function(data.X), atol=1e-2)  # its tol
    assert catalogue.make("SVM").estimator[-1].estimator.kernel == "precomputed"
    after = catalogue.make("CCA+SVM").classifier
    assert (type(after), after.kernel) == (HingeSVMs, "linear")


def test_the_squared_hinge_loss_has_names_of_its_own():
    assert catalogue.make("SVM_C-squared").estimator.estimator.loss == "squared_hinge"
    assert catalogue.make("SVM-squared").estimator.estimator is None, "LinearSVC"
    squared = catalogue.make("CCA+SVM-squared").classifier.estimator
    assert squared.loss == "squared_hinge"
    revisions = {name: catalogue.METHODS[name].revision for name in catalogue.METHODS}
    assert [revisions[name] for name in ("SVM", "SVM_C", "CCA+SVM")] == [2, 2, 2]
    assert (revisions["CCA+Ridge"], revisions["SVM-squared"]) == (1, 1)
