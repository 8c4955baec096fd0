"""Held-out scores of ML-LS equal those of refitting, for samples, streams and many labels."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel import SharedSubspaceClassifier, SharedSubspaceClassifierCV
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators.base import check_training
from eigenlabel.estimators.heldout_by_refitting import calibration_folds
from eigenlabel.estimators.subspace import many_labels
from eigenlabel.estimators.subspace.exact_heldout import (
    default_folds,
    exact_scores,
    single,
    stream_scores,
)
from eigenlabel.estimators.subspace.solve import factorise_folds
from eigenlabel.estimators.subspace.stream import draw
from eigenlabel.thresholds import Calibrator, fit_calibration

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


@pytest.mark.parametrize("kernel", ["linear", "precomputed"])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_labels_are_calibrated_on_refits_in_pieces(kernel, weighted, data, rng, monkeypatch):
    monkeypatch.setattr(many_labels, "MANY", M)
    monkeypatch.setattr("eigenlabel.linalg.operators.BLOCK_BYTES", 8 * M * 4)  # four rows at once
    w = rng.integers(0, 3, N).astype(float) if weighted else None
    X = data.X if kernel == "linear" else data.X @ data.X.T
    settings = {"alpha": np.inf, "beta": 0.1, "n_components": 2, "kernel": kernel}
    Y = sp.csr_array(data.Y)
    model = SharedSubspaceClassifier(**settings, calibration="sigmoid").fit(X, Y, w)
    rows = np.arange(N) if w is None else np.flatnonzero(w > 0)
    calibrator = Calibrator(M)
    plain = SharedSubspaceClassifier(**settings)
    for part in np.array_split(np.random.default_rng(0).permutation(rows), 5):
        test = np.sort(part)
        train = np.setdiff1d(rows, test)
        columns = slice(None) if kernel == "linear" else train
        part_weights = None if w is None else w[train]
        plain.fit(X[train][:, columns], Y[train], part_weights)
        scores = plain.decision_function(X[test][:, columns])
        calibrator.add(scores, data.Y[test], None if w is None else w[test])
    expected = calibrator.fit("sigmoid").probabilities(model.decision_function(X))
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-6)  # eigenvectors iterate
    labels, values = model.rank_labels(X, 2)
    np.testing.assert_array_equal(
        values, np.take_along_axis(model.predict_proba(X), labels, axis=1)
    )


def test_many_classes_share_one_map(data, monkeypatch):
    monkeypatch.setattr(many_labels, "MANY", 3)
    y = data.Y[:, 0] + data.Y[:, 1] + data.Y[:, 2]
    model = SharedSubspaceClassifier(np.inf, 0.1, 2, calibration="auto").fit(data.X, y)
    P = model.predict_proba(data.X)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(data.X))
    assert len(set(model.calibration_.slopes)) == 1
    with pytest.raises(ValueError, match="n_samples = 1"):
        model.fit(data.X[:1], sp.csr_array(data.Y[:1]))


def test_probabilities_that_do_not_fit_in_memory_raise_before_they_are_computed(data, monkeypatch):
    monkeypatch.setattr(many_labels, "MANY", M)
    model = SharedSubspaceClassifier(np.inf, 0.1, 2, calibration="auto")
    model.fit(data.X, sp.csr_array(data.Y)).set_params(max_memory=8 * M * 10)
    with pytest.raises(MemoryError, match="Probabilities of 60 x 5 numbers"):
        model.predict_proba(data.X)
    assert model.predict_proba(data.X[:10]).shape == (10, M)
