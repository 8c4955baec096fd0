"""Probabilities of many labels are those of refits, in pieces of rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel import SharedSubspaceClassifier
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators.subspace import many_labels
from eigenlabel.thresholds import Calibrator

N, M = 60, 5


@pytest.fixture
def data():
    return make_shared_subspace(N, 8, M, 2, prevalence=0.3, noise=0.5, random_state=0)


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
