"""Probabilities of every classifier of the library, found by discovery."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import has_fit_parameter

from discovery import instances, settled
from eigenlabel import SharedSubspaceClassifier, SharedSubspaceClassifierCV
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.thresholds import Costs, ExpectedF1, fit_calibration

CLASSIFIERS = [settled(e) for e in instances() if "calibration" in e.get_params(deep=False)]
N = 60


def name(model):
    kernel = model.get_params(deep=False).get("kernel")
    return type(model).__name__ if kernel is None else f"{type(model).__name__}-{kernel}"


every = pytest.mark.parametrize("model", CLASSIFIERS, ids=name)
methods = pytest.mark.parametrize("method", ["auto", "sigmoid", "isotonic"])


def calibrated(model, method="auto"):
    return clone(model).set_params(calibration=method)


@pytest.fixture
def data():
    return make_shared_subspace(N, 6, 4, 2, prevalence=0.3, noise=0.3, random_state=0)


def scores_of(model, X):
    """Return the scores (n, m) that probabilities are made of."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.estimator_.predict_proba(model.projection_.transform(X))


def check_probabilities(P, shape):
    assert P.shape == shape
    assert np.isfinite(P).all()
    assert P.min() >= 0
    assert P.max() <= 1


def check_monotone(P, scores):
    for p, s in zip(P.T, scores.T, strict=True):
        assert (np.diff(p[np.argsort(s, kind="stable")]) >= 0).all()


def test_every_classifier_has_the_parameter():
    without = {
        type(e).__name__
        for e in instances()
        if is_classifier(e) and "calibration" not in e.get_params(deep=False)
    }
    assert without == {"MLkNN"}, "which has probabilities of its own"
    assert len(CLASSIFIERS) > 16


@methods
@every
def test_probabilities_never_fall_with_the_score(model, method, data):
    model = calibrated(model, method).fit(data.X, data.Y)
    P = model.predict_proba(data.X)
    check_probabilities(P, data.Y.shape)
    check_monotone(P, scores_of(model, data.X))
    found = model.calibration_.probabilities(scores_of(model, data.X))
    np.testing.assert_allclose(P, found, rtol=1e-10)
    sparse = calibrated(model, method).fit(sp.csr_array(data.X), sp.csr_array(data.Y))
    check_probabilities(sparse.predict_proba(sp.csr_array(data.X)), data.Y.shape)


@every
def test_label_sets_and_scores_do_not_change_with_probabilities(model, data):
    plain = calibrated(model, None).fit(data.X, data.Y)
    model = calibrated(model).fit(data.X, data.Y)
    np.testing.assert_array_equal(model.predict(data.X), plain.predict(data.X))
    if hasattr(plain, "decision_function"):
        np.testing.assert_allclose(
            model.decision_function(data.X), plain.decision_function(data.X), rtol=1e-8, atol=1e-10
        )


@every
def test_without_calibration_there_is_no_method_and_the_error_names_the_parameter(model, data):
    model = calibrated(model, None)
    if type(model).__name__ == "ProjectedClassifierCV":
        model.set_params(estimator=SharedSubspaceClassifier())
    assert not hasattr(model, "predict_proba")
    assert hasattr(calibrated(model), "predict_proba")
    with pytest.raises(AttributeError, match=r"calibration='auto'"):
        model.predict_proba(data.X)
    model.fit(data.X, data.Y)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "calibration_")


@every
def test_another_fit_replaces_or_removes_the_calibration(model, data):
    model = calibrated(model)
    with pytest.raises(NotFittedError):
        model.predict_proba(data.X)
    model.fit(data.X, data.Y)
    first = model.predict_proba(data.X)
    model.set_params(calibration=None).fit(data.X, data.Y)
    assert not hasattr(model, "calibration_")
    model.set_params(calibration="auto").fit(data.X, data.Y)
    np.testing.assert_allclose(model.predict_proba(data.X), first, rtol=1e-8)
    with pytest.raises(
        ValueError, match="calibration must be one of 'auto', 'sigmoid', 'isotonic'"
    ):
        model.set_params(calibration="platt").fit(data.X, data.Y)


def test_a_calibration_that_was_set_after_fit_needs_another_fit(data):
    model = SharedSubspaceClassifier().fit(data.X, data.Y).set_params(calibration="auto")
    with pytest.raises(NotFittedError, match="fitted with calibration=None: call fit again"):
        model.predict_proba(data.X)


@every
def test_the_likeliest_class_has_the_highest_score_and_is_predicted(model, data):
    model = calibrated(model)
    three = np.array(["a", "b", "c"])[data.Y[:, 0] + data.Y[:, 1]]
    for y in (three, np.where(data.Y[:, 0], "yes", "no")):
        model.fit(data.X, y)
        P = model.predict_proba(data.X)
        check_probabilities(P, (N, len(model.classes_)))
        np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-6)  # some models compute in float32
        np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(data.X))
        if len(model.classes_) == 2 and hasattr(model, "decision_function"):
            check_monotone(P[:, 1:], model.decision_function(data.X)[:, None])


@every
def test_a_vector_of_one_class_is_certain(model, data):
    try:
        model = calibrated(model).fit(data.X, np.full(N, 7))
    except ValueError as error:
        assert "class" in str(error)  # noqa: PT017
        return
    np.testing.assert_array_equal(model.predict_proba(data.X), np.ones((N, 1)))


@methods
@every
def test_labels_of_few_positives_have_probabilities(model, method, data):
    Y = np.zeros((N, 6), dtype=int)
    Y[0, 1] = Y[[0, 1], 2] = 1  # none, one and two positives
    Y[:, 3] = 1
    Y[5:, 4] = 1
    Y[:, 5] = data.Y[:, 0]
    model = calibrated(model, method).fit(data.X, Y)
    P = model.predict_proba(data.X)
    check_probabilities(P, Y.shape)
    check_monotone(P, scores_of(model, data.X))
    assert P[:, 0].mean() < 0.3
    assert P[:, 3].mean() > 0.7


@methods
@every
def test_equal_samples_have_equal_probabilities(model, method, data):
    X = np.ones((N, 3))
    model = calibrated(model, method).fit(X, data.Y)
    P = model.predict_proba(X)
    check_probabilities(P, data.Y.shape)
    np.testing.assert_allclose(P, P[:1].repeat(N, axis=0), rtol=1e-8)


@methods
@every
def test_separable_labels_have_finite_slopes(model, method):
    X = np.repeat([[-1.0, 0.0], [1.0, 0.5], [0.0, 3.0]], N // 3, axis=0)
    Y = np.repeat(np.eye(3, dtype=int), N // 3, axis=0)
    model = calibrated(model, method).fit(X, Y)
    P = model.predict_proba(X)
    check_probabilities(P, Y.shape)
    assert np.isfinite(model.calibration_.slopes).all()
    check_monotone(P, scores_of(model, X))


@every
def test_one_sample_is_too_few(model, data):
    with pytest.raises(ValueError, match="sample"):
        calibrated(model).fit(data.X[:1], data.Y[:1])


@every
def test_two_samples_have_probabilities_or_an_error_that_states_the_number(model, data):
    try:
        model = calibrated(model).fit(data.X[:2], np.array([[1, 0], [0, 1]]))
    except ValueError as error:
        assert "sample" in str(error)  # noqa: PT017
        return
    check_probabilities(model.predict_proba(data.X), (N, 2))


# The folds of the others are those of all samples.
WEIGHTED = [
    m
    for m in CLASSIFIERS
    if has_fit_parameter(m, "sample_weight") and "cv" not in m.get_params(deep=False)
]


@pytest.mark.parametrize("model", WEIGHTED, ids=name)
def test_samples_of_weight_zero_do_not_count(model, data, rng):
    w = rng.integers(0, 3, N).astype(float)
    model = calibrated(model)
    P = model.fit(data.X, data.Y, sample_weight=w).predict_proba(data.X)
    used = w > 0
    model.fit(data.X[used], data.Y[used], sample_weight=w[used])
    # Folds are those of the samples that count.
    np.testing.assert_allclose(model.predict_proba(data.X), P, rtol=1e-6)


@methods
@pytest.mark.parametrize("make", [SharedSubspaceClassifier, SharedSubspaceClassifierCV])
def test_labels_that_are_not_observed_are_left_out(make, method, data, rng):
    Y = data.Y.astype(float)
    Y[rng.random(Y.shape) < 0.3] = np.nan
    Y[:, 3] = np.nan  # never observed
    model = settled(make(calibration=method)).fit(data.X, Y)
    P = model.predict_proba(data.X)
    check_probabilities(P, Y.shape)
    check_monotone(P, model.decision_function(data.X))
    if make is SharedSubspaceClassifierCV:
        expected = fit_calibration(model.oof_scores_, Y, method=method)
        found = expected.probabilities(model.decision_function(data.X))
        np.testing.assert_allclose(P, found, rtol=1e-10)


def test_single_precision_is_kept(data):
    X = data.X.astype(np.float32)
    for model in (SharedSubspaceClassifierCV([0.1], [0.1]), SharedSubspaceClassifier()):
        P = calibrated(model).fit(X, data.Y).predict_proba(X)
        assert P.dtype == np.float32


RULED = [m for m in CLASSIFIERS if {"threshold", "strategy"} & set(m.get_params(deep=False))]


@pytest.mark.parametrize("model", RULED, ids=name)
def test_rules_on_probabilities_decide_on_them(model, data):
    key = "strategy" if "strategy" in model.get_params(deep=False) else "threshold"
    for rule in (Costs(miss=4.0), ExpectedF1()):
        model = calibrated(model).set_params(**{key: rule}).fit(data.X, data.Y)
        P = model.predict_proba(data.X)
        np.testing.assert_array_equal(model.predict(data.X), rule.decide(P, model.thresholds_))
    model.set_params(calibration=None)
    with pytest.raises(ValueError, match="decides on probabilities"):
        model.fit(data.X, data.Y)
    y = data.Y[:, 0]
    assert model.fit(data.X, y).predict(data.X).shape == y.shape  # rules do not apply to classes
