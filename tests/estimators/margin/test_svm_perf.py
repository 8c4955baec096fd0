"""SVM-perf against the definition of its losses, tried on every label vector, and LIBLINEAR."""

import builtins
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.svm import LinearSVC

from eigenlabel import (
    SVMPerfClassifier,
    ThresholdedClassifier,
)
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators.margin.violations import LOSSES, most_violated


def objective(model, X, Y):
    """The primal value of each label, over 100 C, by the search that the test above proves."""
    values = []
    for w, b, y in zip(model.coef_, model.intercept_, Y.T.astype(bool), strict=True):
        k = int(y.sum()) if model.k is None else model.k
        c, loss = most_violated(model.loss, y, k, X @ w + b)
        size = w @ w + (b / model.intercept_scaling) ** 2
        values.append(size / (200 * model.C) + max(0.0, loss - (X @ w + b) @ c))
    return np.array(values)


@pytest.fixture
def data():
    return make_shared_subspace(120, n_features=6, n_labels=3, random_state=0)


@pytest.mark.parametrize("C", [0.1, 5.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_error_rate_equals_the_linear_svm(data, C, fit_intercept):
    X, Y = data.X, data.Y
    model = SVMPerfClassifier("error_rate", C, fit_intercept=fit_intercept, tol=1e-7).fit(X, Y)
    for label in range(3):
        svm = LinearSVC(
            C=100 * C / len(X), loss="hinge", fit_intercept=fit_intercept, tol=1e-10, max_iter=10**6
        ).fit(X, Y[:, label])
        # A gap of 1e-7 of the objective is a distance of its root, times sqrt(200 C), in w.
        atol = np.sqrt(1e-7 * 200 * C)
        np.testing.assert_allclose(model.coef_[label], svm.coef_[0], atol=atol)
        np.testing.assert_allclose(model.intercept_[label], svm.intercept_, atol=atol)
        np.testing.assert_allclose(
            0.5 * np.sum(np.append(svm.coef_, svm.intercept_) ** 2) / (100 * C)
            + np.maximum(0, 1 - (2 * Y[:, label] - 1) * svm.decision_function(X)).mean(),
            objective(model, X, Y)[label],
            atol=2e-7,  # the gap asked for
        )


@pytest.mark.parametrize("loss", LOSSES)
def test_no_step_lowers_the_objective_below_the_gap(data, loss):
    model = SVMPerfClassifier(loss, C=1, tol=1e-4).fit(data.X, data.Y)
    values = objective(model, data.X, data.Y)
    assert (model.gap_ <= 1e-4).all()
    for label in range(3):
        y = data.Y[:, label].astype(bool)

        def value(w, y=y):
            scores = data.X @ w[:-1] + w[-1]
            c, found = most_violated(loss, y, int(y.sum()), scores)
            return w @ w / 200 + max(0.0, found - scores @ c)

        start = np.append(model.coef_[label], model.intercept_[label])
        assert value(start) == pytest.approx(values[label])
        other = minimize(value, start, method="Powell", options={"maxiter": 50})
        assert other.fun >= values[label] - model.gap_[label] - 1e-12


@pytest.mark.parametrize("loss", LOSSES)
def test_sparse_x_and_scaled_problems_are_the_same(data, loss):
    model = SVMPerfClassifier(loss, C=2, tol=1e-6).fit(data.X, data.Y)
    sparse = SVMPerfClassifier(loss, C=2, tol=1e-6).fit(sp.csr_array(data.X), sp.csr_array(data.Y))
    # Two solutions within the gap of the best differ by its root, times sqrt(200 C).
    atol = 2 * np.sqrt(1e-6 * 400)
    np.testing.assert_allclose(sparse.coef_, model.coef_, atol=atol)
    assert sp.issparse(sparse.predict(sp.csr_array(data.X)))
    np.testing.assert_allclose(
        objective(sparse, data.X, data.Y), objective(model, data.X, data.Y), atol=1e-6
    )
    # w'x is the same for 1000 x, w / 1000 and C / 1000^2.
    large = SVMPerfClassifier(loss, C=2e-6, tol=1e-6, intercept_scaling=1000.0)
    large.fit(1000 * data.X, data.Y)
    np.testing.assert_allclose(1000 * large.coef_, model.coef_, atol=atol)
    np.testing.assert_allclose(large.intercept_, model.intercept_, atol=atol)


def test_labels_are_independent(data):
    X, Y = data.X, data.Y
    Y = np.column_stack([Y, Y[:, 0], np.zeros(len(Y)), np.ones(len(Y))]).astype(int)
    model = SVMPerfClassifier(C=10).fit(X, Y)
    np.testing.assert_array_equal(model.coef_[3], model.coef_[0])
    np.testing.assert_array_equal(model.coef_[4:], 0)
    np.testing.assert_array_equal(model.intercept_[4:], [-1, 1])
    np.testing.assert_array_equal(model.predict(X)[:, 4:], Y[:, 4:])
    np.testing.assert_array_equal(model.n_iter_[4:], 0)
    alone = SVMPerfClassifier(C=10).fit(X, Y[:, [1]])
    np.testing.assert_array_equal(alone.coef_[0], model.coef_[1])
    assert alone.predict(X).shape == (len(X), 1)


def test_one_feature_and_constant_features_are_enough():
    x = np.arange(20.0)[:, None]
    y = (x > 14).astype(int)
    assert (SVMPerfClassifier(C=100).fit(x, y).predict(x) == y).all()
    model = SVMPerfClassifier(C=100).fit(np.ones((20, 1)), y)
    assert np.isfinite(model.coef_).all()
    assert len(np.unique(model.predict(np.ones((20, 1))))) == 1


@pytest.mark.parametrize("loss", LOSSES)
def test_each_loss_is_best_for_its_own_measure(loss):
    data = make_shared_subspace(600, n_features=8, n_labels=2, random_state=1)
    train, test = slice(300), slice(300, 600)
    for label in range(2):
        y = data.Y[:, [label]]
        model = SVMPerfClassifier(loss, C=10).fit(data.X[train], y[train])
        assert roc_auc_score(y[test], model.decision_function(data.X[test])) > 0.8


def test_roc_area_has_no_intercept_and_takes_thresholds(data):
    model = ThresholdedClassifier(SVMPerfClassifier("roc_area", C=1)).fit(data.X, data.Y)
    np.testing.assert_array_equal(model.estimator_.intercept_, 0)
    assert f1_score(data.Y, model.predict(data.X), average="macro") > 0.6


def test_stopping_early_warns(data):
    with pytest.warns(ConvergenceWarning, match="3 of 3 labels did not reach tol = 0.001 in max"):
        model = SVMPerfClassifier(max_iter=3).fit(data.X, data.Y)
    np.testing.assert_array_equal(model.n_iter_, 3)
    assert (model.gap_ > 1e-3).all()


def test_float32_classes_and_pickles_are_accepted(data):
    model = SVMPerfClassifier(C=5).fit(data.X.astype(np.float32), data.Y)
    assert model.coef_.dtype == model.decision_function(data.X.astype(np.float32)).dtype == "f4"
    y = np.array(["b", "a", "c"])[data.Y.argmax(axis=1)]
    model = SVMPerfClassifier(C=5).fit(data.X, y)
    assert set(model.predict(data.X)) <= {"a", "b", "c"}
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(data.X), model.predict(data.X))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"loss": "auc"}, "loss must be one of 'f1'"),
        ({"C": 0}, "C must be"),
        ({"tol": 0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1"),
        ({"k": 3}, "k = 3 has no meaning for loss='f1'"),
        ({"loss": "recall_at_k", "k": 0}, "k must be an integer between 1 and 120"),
        ({"loss": "precision_at_k", "k": 121}, "k must be an integer between 1 and 120"),
        ({"intercept_scaling": -1}, "intercept_scaling must be"),
    ],
)
def test_wrong_parameters_raise_an_error(data, parameters, words):
    with pytest.raises(ValueError, match=words):
        SVMPerfClassifier(**parameters).fit(data.X, data.Y)


def test_wrong_data_raise_an_error(data):
    with pytest.raises(ValueError, match="NaN"):
        SVMPerfClassifier().fit(np.where(data.X > 1, np.nan, data.X), data.Y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SVMPerfClassifier().fit(data.X, data.Y[:-1])


def test_the_error_names_the_missing_solver(data, monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name == "piqp":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'eigenlabel\[margin\]'"):
        SVMPerfClassifier().fit(data.X, data.Y)


def test_scores_that_would_be_rounding_raise_an_error(data):
    X = np.abs(data.X) / np.abs(data.X).max()
    with pytest.raises(ValueError, match=r"longest sample has length .* Rescale X"):
        SVMPerfClassifier().fit(X * 1e6, data.Y)
    with pytest.warns(ConvergenceWarning, match="labels did not reach tol"):
        SVMPerfClassifier(C=1e3, tol=1e-14, max_iter=5).fit(X, data.Y)
