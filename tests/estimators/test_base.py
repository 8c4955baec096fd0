"""What classifiers share: checked training data, scores, and label sets."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from eigenlabel import GaussianFields, SharedSubspaceClassifier
from eigenlabel.estimators.base import RuleClassifier, ScoreClassifier, Training, check_training
from eigenlabel.thresholds import PerLabelF1, Top, Zero

Y = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0], [0, 1, 0]])


class FirstColumns(ScoreClassifier):
    """Scores are the first columns of X."""

    def __init__(self, calibration=None):
        self.calibration = calibration

    def fit(self, X, y):
        training = check_training(self, X, y)
        self._codec, self.m_ = training.codec, training.Y.shape[1]
        self.classes_ = training.codec.classes
        self._calibrate(X, y, training.Y)
        return self

    def _scores(self, X):
        return np.asarray(X)[:, : self.m_]


class RuledColumns(RuleClassifier):
    """Scores are the first columns of X, and a rule decides."""

    def __init__(self, rule=None, calibration=None):
        self.rule = rule
        self.calibration = calibration

    def fit(self, X, y):
        training = check_training(self, X, y)
        self._codec, self.m_, self.calls_ = training.codec, training.Y.shape[1], 0
        self.classes_ = training.codec.classes
        heldout = self._calibrate(X, y, training.Y)
        self._fit_rule(self.rule, training.Y, lambda: self._count(X), heldout)
        return self

    def _count(self, X):
        self.calls_ += 1
        return self._scores(X)

    def _scores(self, X):
        return np.asarray(X)[:, : self.m_]


def test_training_data_are_checked_and_encoded(rng):
    X = pd.DataFrame(rng.standard_normal((4, 2)), columns=["a", "b"])
    estimator = BaseEstimator()
    found = check_training(estimator, X, pd.DataFrame(Y, columns=list("pqr")), [1, 0, 2, 3])
    np.testing.assert_array_equal(found.X, X)
    np.testing.assert_array_equal(found.Y, Y == 1)
    np.testing.assert_array_equal(found.weights, [1, 0, 2, 3])
    np.testing.assert_array_equal(found.used, [0, 2, 3])
    np.testing.assert_array_equal(found.targets, 2 * Y - 1)
    assert found.observed is None
    assert found.codec.classes.tolist() == ["p", "q", "r"]
    assert estimator.feature_names_in_.tolist() == ["a", "b"]


def test_all_samples_are_used_if_they_have_no_weights():
    found = check_training(BaseEstimator(), np.eye(4), Y)
    assert found.weights is None
    np.testing.assert_array_equal(found.used, range(4))


def test_nan_in_y_is_a_label_that_is_not_observed():
    partly = np.where(Y[:, ::-1] > 0, Y, np.nan)
    found = check_training(BaseEstimator(), np.eye(4), partly)
    np.testing.assert_array_equal(found.observed, ~np.isnan(partly))
    np.testing.assert_array_equal(found.Y, partly == 1)


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (np.eye(3), Y, {}, "inconsistent numbers of samples"),
        (np.ones((4, 3)), Y, {"square": True}, "square"),
        (np.eye(4), np.where(Y > 0, 1, np.nan), {"complete": True}, "NaN"),
        (np.eye(4), np.full((4, 3), np.nan), {}, "y is NaN everywhere"),
        (np.eye(4), Y, {"sample_weight": [1, 1]}, "sample_weight"),
        (np.eye(4), np.where(Y[:, :1] > 0, Y, np.nan), {"sample_weight": [0, 1, 0, 1]}, "NaN"),
    ],
)
def test_wrong_training_data_raise_an_error(X, y, options, message):
    with pytest.raises(ValueError, match=message):
        check_training(BaseEstimator(), X, y, **options)


def test_training_data_cannot_be_changed():
    found = Training(np.eye(4), Y, None, None, None)
    with pytest.raises(AttributeError, match="X"):
        found.X = np.zeros((4, 4))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_labels_with_a_positive_score_are_predicted_in_the_form_of_y(form, rng):
    X = rng.standard_normal((4, 5))
    model = FirstColumns().fit(X, form(Y))
    np.testing.assert_array_equal(model.decision_function(X), X[:, :3])
    found = model.predict(X)
    assert sp.issparse(found) == (form is sp.csr_array)
    np.testing.assert_array_equal(found.toarray() if sp.issparse(found) else found, X[:, :3] > 0)


def test_two_classes_have_one_score(rng):
    X = rng.standard_normal((4, 2))
    model = FirstColumns().fit(X, ["no", "yes", "no", "yes"])
    np.testing.assert_array_equal(model.decision_function(X), X[:, 0])
    np.testing.assert_array_equal(model.predict(X), np.where(X[:, 0] > 0, "yes", "no"))


def test_models_must_be_fitted():
    for method in ("predict", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(FirstColumns(), method)(np.eye(3))
    with pytest.raises(NotFittedError):
        RuledColumns().predict(np.eye(3))


def test_a_class_must_define_its_scores():
    with pytest.raises(NotImplementedError):
        ScoreClassifier()._scores(np.eye(2))


def test_a_rule_decides_by_thresholds_of_training_scores(rng):
    X = rng.standard_normal((4, 3))
    model = RuledColumns(PerLabelF1()).fit(X, Y)
    np.testing.assert_array_equal(model.thresholds_, PerLabelF1().fit(X, Y))
    np.testing.assert_array_equal(model.predict(X), model.thresholds_ < X)
    assert model.calls_ == 1


@pytest.mark.parametrize("rule", [Zero(), Top(2)])
def test_rules_that_need_no_scores_compute_none(rule, rng):
    X = rng.standard_normal((4, 3))
    model = RuledColumns(rule).fit(X, Y)
    assert model.calls_ == 0
    np.testing.assert_array_equal(model.predict(X), rule.decide(X, np.zeros(3)))


def test_classes_have_no_thresholds(rng):
    X = rng.standard_normal((4, 3))
    model = RuledColumns(PerLabelF1()).fit(X, Y)
    model.fit(X, [0, 1, 2, 1])
    assert not hasattr(model, "thresholds_")
    np.testing.assert_array_equal(model.predict(X), X.argmax(axis=1))


def test_classes_that_are_not_known_do_not_count_in_the_score(rng):
    X = rng.standard_normal((40, 3))
    y = (X[:, 0] > 0).astype(float)
    model = SharedSubspaceClassifier().fit(X, y)
    weights = rng.random(40)
    right = model.predict(X) == y
    known = np.arange(40) % 3 > 0
    partly = np.where(known, y, np.nan)
    assert model.score(X, partly) == right[known].mean()
    expected = np.average(right[known], weights=weights[known])
    assert model.score(X, partly, weights) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match="at least one class must be known"):
        model.score(X, np.full(40, np.nan))


def test_graph_methods_score_samples_of_known_class(rng):
    X = rng.standard_normal((40, 3))
    classes = (X[:, 0] > 0).astype(float) + (X[:, 1] > 0)
    y = np.where(np.arange(40) % 4 > 0, classes, np.nan)
    model = GaussianFields().fit(X, y)
    known = ~np.isnan(y)
    assert model.score(X, y) == (model.predict(X)[known] == y[known]).mean()


def test_the_training_samples_of_a_kernel_model_are_public(rng):
    X, Y = rng.standard_normal((20, 3)), rng.integers(0, 2, (20, 4))
    model = SharedSubspaceClassifier(kernel="rbf", gamma=0.1).fit(X, Y)
    np.testing.assert_array_equal(model.X_fit_, X)
    assert not hasattr(SharedSubspaceClassifier().fit(X, Y), "X_fit_")


def test_the_number_of_samples_is_listed_before_a_stream_is_solved(rng):
    X, Y = rng.standard_normal((20, 3)), rng.integers(0, 2, (20, 4))
    listed = dir(SharedSubspaceClassifier().partial_fit(X, Y))
    assert "n_samples_seen_" in listed
    assert "coef_" not in listed
