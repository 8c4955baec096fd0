"""Held-out scores of ML-LS equal those of refitting, for samples and streams."""

import numpy as np
import pytest

from eigenlabel import SharedSubspaceClassifier, SharedSubspaceClassifierCV
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators.base import check_training
from eigenlabel.estimators.heldout_by_refitting import calibration_folds
from eigenlabel.estimators.subspace.exact_heldout import (
    default_folds,
    exact_scores,
    single,
    stream_scores,
)
from eigenlabel.estimators.subspace.solve import factorise_folds
from eigenlabel.estimators.subspace.stream import draw
from eigenlabel.thresholds import fit_calibration

N, M = 60, 5


@pytest.fixture
def data():
    return make_shared_subspace(N, 8, M, 2, prevalence=0.3, noise=0.5, random_state=0)


def exact(model, X, y, weights=None):
    """Return the exact held-out scores of a model, and the folds."""
    kernel, solver = model._make_kernel(), model._make_solver()
    training = check_training(model, X, y, weights, square=kernel.precomputed)
    kernel = kernel.settle(training.X, training.weights)
    folds = default_folds(training)
    _, some = factorise_folds(kernel, training, folds, solver)
    point = model._point(training.Y.shape[1])
    found = exact_scores(some, training, folds, point, solver.limit)
    return found, calibration_folds(training.Y, training.used)


def refitted(model, X, y, folds, weights=None):
    out = np.full((len(y), M), np.nan)
    for test in folds:
        train = np.setdiff1d(np.arange(len(y)), test)
        w = None if weights is None else weights[train]
        K, A = (X, X) if model.kernel != "precomputed" else (X[:, train], X[:, train])
        out[test] = model.fit(K[train], y[train], w).decision_function(A[test])
    return out


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(
    "settings",
    [
        {"alpha": 0.1, "beta": 0.01, "n_components": 2},
        {"alpha": np.inf, "beta": 0.1, "n_components": 3},
        {"alpha": 0.5, "beta": 0.01, "n_components": 1, "kernel": "rbf", "gamma": 0.1},
        {"alpha": 0.0, "beta": 0.1, "n_components": 2, "fit_intercept": False},
        {"alpha": 0.1, "beta": 0.1, "n_components": 2, "kernel": "precomputed"},
    ],
)
def test_exact_scores_are_those_of_refitting(settings, missing, data, rng):
    y = data.Y.astype(float)
    if missing:
        y[rng.random(y.shape) < 0.2] = np.nan
    X = data.X @ data.X.T if settings.get("kernel") == "precomputed" else data.X
    w = rng.integers(0, 3, N).astype(float)
    model = SharedSubspaceClassifier(**settings)
    found, folds = exact(model, X, y, w)
    np.testing.assert_array_equal(np.isnan(found).all(axis=1), w == 0)
    expected = refitted(model, X, y, folds, w)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)


def test_the_calibration_is_that_of_the_exact_scores(data, rng):
    y = data.Y.astype(float)
    y[rng.random(y.shape) < 0.1] = np.nan
    w = rng.integers(0, 3, N).astype(float)
    model = SharedSubspaceClassifier(0.1, 0.1, 2, calibration="sigmoid").fit(data.X, y, w)
    scores, _ = exact(SharedSubspaceClassifier(0.1, 0.1, 2), data.X, y, w)
    expected = fit_calibration(scores, y, w, method="sigmoid")
    np.testing.assert_allclose(
        model.predict_proba(data.X),
        expected.probabilities(model.decision_function(data.X)),
        rtol=1e-8,
    )
    plain = SharedSubspaceClassifier(0.1, 0.1, 2).fit(data.X, y, w)
    np.testing.assert_allclose(
        model.decision_function(data.X), plain.decision_function(data.X), rtol=1e-10
    )


def streamed(model, data, size=17):
    for start in range(0, N, size):
        model.partial_fit(data.X[start : start + size], data.Y[start : start + size])
    return model


def test_a_stream_holds_its_kept_rows_out(data):
    model = streamed(SharedSubspaceClassifier(0.1, 0.1, 2, calibration="auto"), data)
    scores, truth = stream_scores(model._stream.settle(), single((0.1, 0.1, 2)), True)
    fold, _ = draw(0, N, 5)
    folds = [np.flatnonzero(fold == k) for k in range(5)]
    expected = refitted(SharedSubspaceClassifier(0.1, 0.1, 2), data.X, data.Y, folds)
    np.testing.assert_allclose(scores.at(0).T, expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_array_equal(truth.labels.T, data.Y)
    wanted = fit_calibration(expected, data.Y)
    np.testing.assert_allclose(
        model.predict_proba(data.X),
        wanted.probabilities(model.decision_function(data.X)),
        rtol=1e-8,
    )


def test_a_tuned_stream_calibrates_the_rows_that_it_keeps(data):
    model = streamed(SharedSubspaceClassifierCV([0.1], [0.1], 2), data)
    expected = fit_calibration(model.oof_scores_, data.Y)
    np.testing.assert_allclose(
        model.predict_proba(data.X),
        expected.probabilities(model.decision_function(data.X)),
        rtol=1e-10,
    )
    assert model.finish().predict_proba(data.X).shape == data.Y.shape


def test_streams_merge_and_do_not_forget_with_a_calibration(data):
    make = lambda: SharedSubspaceClassifier(0.1, 0.1, 2, calibration="auto")  # noqa: E731
    one, two = (make().partial_fit(data.X[s], data.Y[s]) for s in (slice(30), slice(30, N)))
    whole = one.merge(two)
    plain = SharedSubspaceClassifier(0.1, 0.1, 2).fit(data.X, data.Y)
    np.testing.assert_allclose(whole.coef_, plain.coef_, rtol=1e-8)
    P = whole.predict_proba(data.X)
    assert ((P > 0) & (P < 1)).all()
    with pytest.raises(ValueError, match="fold of a sample is not known again"):
        whole.forget(data.X[:2], data.Y[:2])
    plain = SharedSubspaceClassifier(0.1, 0.1, 2).partial_fit(data.X, data.Y)
    with pytest.raises(ValueError, match="same number of folds"):
        whole.merge(plain)
    plain.set_params(calibration="auto")
    with pytest.raises(ValueError, match="set calibration before the first block"):
        plain.predict(data.X)
    assert plain.set_params(calibration=None).predict(data.X).shape == (N, M)
    whole.set_params(calibration=None).partial_fit(data.X, data.Y)
    assert not hasattr(whole, "calibration_")


def test_one_sample_of_a_stream_cannot_be_held_out(data):
    model = SharedSubspaceClassifier(calibration="auto").partial_fit(data.X[:1], data.Y[:1])
    with pytest.raises(ValueError, match="1 samples are too few"):
        model.predict(data.X)
