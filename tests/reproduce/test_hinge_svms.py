"""Tests of SVMs that share a kernel matrix: they are those of SVC."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from eigenlabel import OneVsRestSearchCV
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.reproduce import hinge_svms
from eigenlabel.reproduce.hinge_svms import HingeSVMs

TIGHT = 1e-10  # tolerance of LIBSVM, so that equal models have equal scores up to 1e-8
COSTS = [1e-3, 1e-1, 10.0, 1e3, 1e5]


@pytest.fixture
def data():
    return make_shared_subspace(80, 30, 4, random_state=3)


@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
def test_scores_are_those_of_svc_for_each_label(data, kernel, C):
    X, X_new = data.X[:60], data.X[60:]
    if kernel == "precomputed":
        X, X_new = X @ X.T, X_new @ X.T
    theirs = OneVsRestClassifier(SVC(kernel=kernel, C=C, tol=TIGHT)).fit(X, data.Y[:60])
    ours = HingeSVMs(C, kernel, tol=TIGHT).fit(X, data.Y[:60])
    np.testing.assert_allclose(
        ours.decision_function(X_new), theirs.decision_function(X_new), atol=1e-8
    )
    np.testing.assert_array_equal(ours.predict(X_new), theirs.predict(X_new))


def test_a_vector_of_labels_has_a_vector_of_scores(data):
    t = data.Y[:, 0]
    one = HingeSVMs(0.1).fit(data.X, t)
    every = HingeSVMs(0.1).fit(data.X, data.Y)
    np.testing.assert_allclose(
        one.decision_function(data.X), every.decision_function(data.X)[:, 0], atol=1e-12
    )
    assert one.predict(data.X).shape == t.shape


def test_a_label_that_all_samples_or_none_have_is_constant(data):
    Y = np.array(data.Y)
    Y[:, 0], Y[:, 1] = 0, 1
    scores = HingeSVMs().fit(data.X, Y).decision_function(data.X)
    assert (scores[:, 0] == -1).all()
    assert (scores[:, 1] == 1).all()


def test_models_along_c_are_those_of_single_fits(data):
    X, X_new = data.X[:50], data.X[50:]
    candidates = [{"C": C} for C in reversed(COSTS)]
    along = HingeSVMs(tol=TIGHT).fit_along(X, data.Y[:50, 1], candidates)
    for model, one in zip(along, candidates, strict=True):
        alone = SVC(kernel="linear", tol=TIGHT, **one).fit(X, data.Y[:50, 1])
        assert one["C"] == model.C
        # Separable samples: LIBSVM's own tolerance decides between equal solutions.
        np.testing.assert_allclose(
            model.decision_function(X_new), alone.decision_function(X_new), atol=1e-7
        )


def test_a_solution_inside_its_bounds_is_not_computed_again(data, monkeypatch):
    calls = []
    solve = HingeSVMs._solve
    monkeypatch.setattr(HingeSVMs, "_solve", lambda *a: calls.append(a[3]) or solve(*a))
    wide = np.hstack([data.X, np.eye(len(data.X))])  # separable
    HingeSVMs().fit_along(wide, data.Y[:, 0], [{"C": C} for C in COSTS])
    assert calls == COSTS[: len(calls)]
    assert 0 < len(calls) < len(COSTS)


def test_the_search_for_each_label_chooses_as_with_svc(data):
    K = data.X @ data.X.T
    ours, theirs = (
        OneVsRestSearchCV(svm, {"C": COSTS}, cv=3).fit(K, data.Y)
        for svm in (
            HingeSVMs(kernel="precomputed", tol=TIGHT),
            SVC(kernel="precomputed", tol=TIGHT),
        )
    )
    np.testing.assert_allclose(
        ours.cv_results_["label_test_score"], theirs.cv_results_["label_test_score"], atol=1e-8
    )
    assert ours.best_params_ == theirs.best_params_
    np.testing.assert_allclose(ours.oof_scores_, theirs.oof_scores_, atol=1e-7)  # as above
    np.testing.assert_allclose(ours.decision_function(K), theirs.decision_function(K), atol=1e-7)


def test_a_fit_that_stops_early_says_so(data):
    with pytest.warns(ConvergenceWarning, match="max_iter = 3 iterations for 4 of 4 labels"):
        HingeSVMs(max_iter=3).fit(data.X, data.Y)


@pytest.mark.parametrize("gamma", [0.02, 0.5, 20.0])
def test_a_path_of_costs_is_the_svms_of_each_cost(data, gamma):
    """Narrow kernels are solved at once for all labels, broad ones by LIBSVM."""
    X, X_new, Y = np.array(data.X[:60]), data.X[60:], np.array(data.Y[:60])
    Y[:, 0] = 0  # a label that no sample has
    X[1], Y[0, 1], Y[1, 1] = X[0], 1, 0  # twins with and without a label, at the bound for each C
    K, K_new = rbf_kernel(X, gamma=gamma), rbf_kernel(X_new, X, gamma=gamma)
    costs = [0.01, 0.1, 1.0, 10.0, 100.0]
    models = HingeSVMs(kernel="precomputed", tol=1e-7).fit_path(K, Y, costs)
    for model, C in zip(models, costs, strict=True):
        alone = HingeSVMs(C, "precomputed", tol=TIGHT).fit(K, Y)
        assert model.C == C
        # Iterations end when scores change by less than 1e-7.
        np.testing.assert_allclose(
            model.decision_function(K_new), alone.decision_function(K_new), atol=1e-5
        )


def test_labels_without_coefficients_at_the_bound_are_not_solved_again(data, monkeypatch):
    X, Y = np.array(data.X), np.array(data.Y)
    X[1], Y[0, :], Y[1, :] = X[0], 1, 1
    Y[1, 2] = 0  # only the third label separates the twins
    solved = []

    def solve(self, K, t, C):
        solved.append((C, int(np.flatnonzero((t == Y.T).all(axis=1))[0])))
        return original(self, K, t, C)

    original = HingeSVMs._solve
    monkeypatch.setattr(HingeSVMs, "_solve", solve)
    monkeypatch.setattr(hinge_svms, "NARROW", 0.0)  # LIBSVM solves all
    HingeSVMs(kernel="precomputed").fit_path(rbf_kernel(X, gamma=1.0), Y, [1e3, 1e4, 1e5])
    assert [j for C, j in solved if C == 1e3] == list(range(Y.shape[1]))
    assert [one for one in solved if one[0] > 1e3] == [(1e4, 2), (1e5, 2)]


def test_narrow_kernels_need_no_libsvm(data, monkeypatch):
    K = rbf_kernel(data.X, gamma=5.0)
    monkeypatch.setattr(HingeSVMs, "_solve", None)  # not called
    models = HingeSVMs(kernel="precomputed").fit_path(K, data.Y, [0.1, 1.0, 10.0])
    assert [model.C for model in models] == [0.1, 1.0, 10.0]


def test_iterations_that_are_not_enough_leave_the_work_to_libsvm(data, monkeypatch):
    monkeypatch.setattr(hinge_svms, "MOST_ITERATIONS", 1)
    K = rbf_kernel(data.X, gamma=5.0)
    found = HingeSVMs(kernel="precomputed", tol=TIGHT).fit_path(K, data.Y, [1.0])[0]
    alone = HingeSVMs(1.0, "precomputed", tol=TIGHT).fit(K, data.Y)
    np.testing.assert_allclose(found.dual_coef_, alone.dual_coef_, atol=1e-12)
