"""Odd and broken input: a clear error that says what to do, or the right answer."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel import (
    KGHA,
    ASOClassifier,
    MtSDA,
    SharedSubspaceClassifier,
    SharedSubspaceClassifierCV,
    SVMPerfClassifier,
)
from eigenlabel.datasets import make_shared_subspace

BOTH = [SharedSubspaceClassifier, SharedSubspaceClassifierCV]


@pytest.fixture
def data():
    return make_shared_subspace(60, 5, 4, random_state=0)


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X, Y: (_with(X, np.nan), Y), "contains NaN"),
        (lambda X, Y: (_with(X, np.inf), Y), "contains infinity"),
        (lambda X, Y: (sp.csr_array(_with(X, np.nan)), Y), "contains NaN"),
        (lambda X, Y: (X[:0], Y[:0]), "0 sample"),
        (lambda X, Y: (X[:, :0], Y), "0 feature"),
        (lambda X, Y: (X[:, 0], Y), "Expected 2D array"),
        (lambda X, Y: (X.astype(complex), Y), "Complex data not supported"),
        (lambda X, Y: (np.full(X.shape, "a"), Y), "could not convert|dtype"),
        (lambda X, Y: (np.full(X.shape, {}, dtype=object), Y), "float"),
        (lambda X, Y: (X, Y[:-1]), "inconsistent numbers of samples"),
        (lambda X, Y: (X, Y * 2 - 1), r"Pass \(Y > 0\)"),
        (lambda X, Y: (X, Y.astype(str)), "MultiLabelBinarizer"),
    ],
)
def test_broken_data(estimator, spoil, message, data):
    X, Y = spoil(data.X, data.Y)
    with pytest.raises((ValueError, TypeError), match=message):
        estimator().fit(X, Y)


def _with(X, value):
    X = X.copy()
    X[3, 2] = value
    return X


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"alpha": -1}, ValueError, "alpha must be a number >= 0, or infinity, got -1"),
        ({"alpha": np.nan}, ValueError, "alpha must be .* got nan"),
        ({"alpha": "1"}, TypeError, "alpha must be a number"),
        ({"beta": -1e-3}, ValueError, "beta must be a number >= 0, got -0.001"),
        ({"beta": np.inf}, ValueError, "beta must be a number >= 0, got inf"),
        ({"beta": True}, TypeError, "beta must be a number"),
        ({"n_components": 5}, ValueError, "n_components must be an integer between 0 and 4, got 5"),
        ({"n_components": -1}, ValueError, "an integer >= 0, got -1"),
        ({"n_components": 2.0}, TypeError, "n_components must be an integer"),
        ({"kernel": "gauss"}, ValueError, "kernel must be one of 'linear', 'poly'"),
        ({"kernel": "rbf", "gamma": -1}, ValueError, "gamma must be a number >= 0, got -1"),
        ({"kernel": "rbf", "solver": "covariance"}, ValueError, "Use solver='auto'"),
        ({"solver": "svd"}, ValueError, "solver must be one of 'auto', 'gram', 'covariance'"),
        ({"kernel_params": {"p": 1}}, ValueError, "kernel_params are the keyword arguments"),
        ({"kernel": lambda X, Z: np.ones(3)}, ValueError, r"expected shape \(60, 60\), got \(3,\)"),
        (
            {"kernel": lambda X, Z: np.full((len(X), len(Z)), np.nan)},
            ValueError,
            "returns NaN or infinity",
        ),
    ],
)
def test_bad_parameters(params, error, message, data):
    with pytest.raises(error, match=message):
        SharedSubspaceClassifier(**params).fit(data.X, data.Y)


def test_precomputed_kernels_are_checked(data):
    model = SharedSubspaceClassifier(kernel="precomputed")
    with pytest.raises(ValueError, match=r"needs a square kernel matrix .* got \(60, 5\)"):
        model.fit(data.X, data.Y)
    K = data.X @ data.X.T
    K[2, 7] += 1
    with pytest.raises(ValueError, match=r"not symmetric: K\[2, 7\] = "):
        model.fit(K, data.Y)
    model.fit(data.X @ data.X.T, data.Y)
    with pytest.raises(ValueError, match="expecting 60 features"):
        model.predict(data.X)


def test_an_indefinite_kernel_is_repaired_with_a_warning(data):
    K = data.X @ data.X.T
    lam, Q = np.linalg.eigh(K)
    bad = (Q * np.r_[-lam[-1] / 2, lam[1:]]) @ Q.T
    repaired = (Q * np.r_[0.0, np.maximum(lam[1:], 0)]) @ Q.T
    model = SharedSubspaceClassifier(kernel="precomputed", fit_intercept=False)
    with pytest.warns(UserWarning, match="smallest eigenvalue -0.5 of the largest"):
        model.fit(bad, data.Y)
    found = model.decision_function(repaired)
    expected = model.fit(repaired, data.Y).decision_function(repaired)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_the_sigmoid_kernel_works(data):
    model = SharedSubspaceClassifierCV(kernel="sigmoid", gamma=0.05, coef0=0.0, cv=3)
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        model.fit(data.X, data.Y)
    assert model.best_score_ > 0.5


@pytest.mark.parametrize("estimator", BOTH)
def test_labels_never_or_always_present(estimator, data):
    Y = data.Y.copy()
    Y[:, 0], Y[:, 1] = 0, 1
    decided = estimator().fit(data.X, Y).predict(data.X)
    assert not decided[:, 0].any()
    assert decided[:, 1].all()


@pytest.mark.parametrize("estimator", BOTH)
def test_one_label(estimator, data):
    model = estimator().fit(data.X, data.Y[:, :1])
    assert model.predict(data.X).shape == (60, 1)
    assert model.decision_function(data.X).shape == (60, 1)


def test_one_sample():
    model = SharedSubspaceClassifier().fit([[1.0, 2.0]], [[1, 0]])
    np.testing.assert_array_equal(model.predict([[5.0, 5.0]]), [[1, 0]])
    with pytest.raises(ValueError, match="n_splits=5 needs at least 5 samples, got 1"):
        SharedSubspaceClassifierCV().fit([[1.0, 2.0]], [[1, 0]])


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_constant_features_zero_rows_and_duplicates_make_no_trouble(estimator, form, data):
    X = np.column_stack([data.X, np.full(60, 3.0), np.zeros(60)])
    X[:5] = 0
    X[5:10] = X[5]
    model = estimator().fit(form(X), data.Y)
    assert np.isfinite(model.decision_function(form(X))).all()
    np.testing.assert_allclose(model.coef_[:, 6], 0, atol=1e-12)


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize("kernel", ["linear", "rbf", "cosine"])
def test_all_zero_x_predicts_the_mean(estimator, kernel, data):
    model = estimator(kernel=kernel).fit(np.zeros((60, 5)), data.Y)
    expected = np.tile(2 * data.Y.mean(axis=0) - 1, (60, 1))
    np.testing.assert_allclose(model.decision_function(np.zeros((60, 5))), expected, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-70, 1e-6, 1e6, 1e70])
def test_scale_of_x_with_scaled_penalties(scale, data):
    plain = SharedSubspaceClassifier(0.1, 0.01, 2).fit(data.X, data.Y)
    penalties = (0.1 * scale**2, 0.01 * scale**2)
    scaled = SharedSubspaceClassifier(*penalties, 2).fit(scale * data.X, data.Y)
    np.testing.assert_allclose(
        scaled.decision_function(scale * data.X), plain.decision_function(data.X), atol=1e-7
    )


@pytest.mark.parametrize("estimator", BOTH)
def test_arguments_are_never_changed(estimator, data):
    for X in (data.X, sp.csr_array(data.X), sp.csc_matrix(data.X)):
        Y, w = sp.csr_array(data.Y), np.ones(60) * 2
        before = X.copy(), Y.copy(), w.copy()
        estimator().fit(X, Y, w).predict(X)
        assert (before[0] != X).sum() == 0
        assert (before[1] != Y).sum() == 0
        np.testing.assert_array_equal(w, before[2])
    K = data.X @ data.X.T
    before = K.copy()
    estimator(kernel="precomputed").fit(K, data.Y)
    np.testing.assert_array_equal(K, before)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(60), "at least one non-zero number"),
        (-np.ones(60), "Negative values"),
        (np.full(60, np.nan), "NaN"),
        (np.ones(59), "sample_weight.shape"),
    ],
)
def test_bad_weights(weights, message, data):
    with pytest.raises(ValueError, match=message):
        SharedSubspaceClassifier().fit(data.X, data.Y, weights)


def test_rounding_below_zero_in_a_kernel_is_no_reason_to_warn(data):
    lam, Q = np.linalg.eigh(data.X @ data.X.T)
    K = (Q * np.r_[-1e-10 * lam[-1], np.maximum(lam[1:], 0)]) @ Q.T
    model = SharedSubspaceClassifier(kernel="precomputed").fit((K + K.T) / 2, data.Y)
    assert np.isfinite(model.dual_coef_).all()  # and warnings are errors


def test_a_distance_is_no_kernel(data):
    model = SharedSubspaceClassifier(kernel="precomputed")
    with pytest.raises(ValueError, match=r"no positive eigenvalue.*not a distance"):
        model.fit(-(data.X @ data.X.T), data.Y)


@pytest.mark.parametrize("scale", [1e-200, 1e-100, 1e100, 1e200])
def test_values_out_of_range_are_refused(scale, data):
    with pytest.raises(ValueError, match="leave the range of floats: rescale X"):
        SharedSubspaceClassifier().fit(scale * data.X, data.Y)


def test_sparse_kernels_take_64_bit_indices(data):
    X = sp.csr_array(data.X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    for kernel in ("laplacian", "rbf", "poly"):
        expected = SharedSubspaceClassifier(kernel=kernel).fit(data.X, data.Y).dual_coef_
        found = SharedSubspaceClassifier(kernel=kernel).fit(X, data.Y).dual_coef_
        np.testing.assert_allclose(found, expected, atol=1e-8)


@pytest.mark.parametrize(
    "estimator", [ASOClassifier, KGHA, MtSDA, SVMPerfClassifier, SharedSubspaceClassifier]
)
def test_a_word_is_no_flag(estimator, data):
    with pytest.raises(TypeError, match="fit_intercept must be True or False, got 'no'"):
        estimator(fit_intercept="no").fit(data.X, data.Y)
