"""Odd and wrong data: an error that states what to do, or the right result."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.svm import LinearSVC

from eigenlabel import (
    CCA,
    KGHA,
    BiRelationGraph,
    GaussianFields,
    KernelRidgeTagger,
    KernelSum,
    MLkNN,
    OneVsRestSearchCV,
    SharedSubspaceClassifier,
    SharedSubspaceClassifierCV,
    ThresholdedClassifier,
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
def test_wrong_data_raise_an_error(estimator, spoil, message, data):
    X, Y = spoil(data.X, data.Y)
    with pytest.raises((ValueError, TypeError), match=message):
        estimator().fit(X, Y)


def _with(X, value):
    X = X.copy()
    X[3, 2] = value
    return X


@pytest.mark.parametrize("estimator", BOTH)
def test_labels_that_no_or_all_samples_have_are_accepted(estimator, data):
    Y = data.Y.copy()
    Y[:, 0], Y[:, 1] = 0, 1
    decided = estimator().fit(data.X, Y).predict(data.X)
    assert not decided[:, 0].any()
    assert decided[:, 1].all()


@pytest.mark.parametrize("estimator", BOTH)
def test_one_label_is_enough(estimator, data):
    model = estimator().fit(data.X, data.Y[:, :1])
    assert model.predict(data.X).shape == (60, 1)
    assert model.decision_function(data.X).shape == (60, 1)


def test_one_sample_is_enough_without_folds():
    model = SharedSubspaceClassifier().fit([[1.0, 2.0]], [[1, 0]])
    np.testing.assert_array_equal(model.predict([[5.0, 5.0]]), [[1, 0]])
    with pytest.raises(ValueError, match="5 folds need at least 5 samples, got 1"):
        SharedSubspaceClassifierCV().fit([[1.0, 2.0]], [[1, 0]])


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_constant_features_zero_rows_and_duplicates_are_accepted(estimator, form, data):
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


@pytest.mark.parametrize("scale", [1e-200, 1e-100, 1e100, 1e200])
def test_values_out_of_range_raise_an_error(scale, data):
    with pytest.raises(ValueError, match="leave the range of floats: rescale X"):
        SharedSubspaceClassifier().fit(scale * data.X, data.Y)


@pytest.mark.parametrize("model", [GaussianFields(), BiRelationGraph()])
def test_empty_labels_raise_an_error(model, data):
    X, Y = data.X, data.Y
    for y in (Y[:0], Y[:0, 0], Y[:0].astype(float)):
        with pytest.raises(
            ValueError, match=r"0 sample|inconsistent numbers of samples|y is empty"
        ):
            model.fit(X, y)


def test_views_of_a_kernel_sum_are_checked(data):
    with pytest.raises(TypeError, match="views must be a dict of names -> columns, got 1"):
        KernelSum(views=1).fit(data.X, data.Y)


@pytest.mark.parametrize("estimator", [KernelRidgeTagger, KGHA, KernelSum, GaussianFields])
@pytest.mark.parametrize("wrong", [[], 3, LinearSVC(), MLkNN])
def test_a_wrong_transformer_raises_an_error(estimator, wrong, data):
    with pytest.raises(TypeError, match=r"transformers must be a transformer such as Standard"):
        estimator(transformers=wrong).fit(data.X, data.Y)


def test_an_array_in_place_of_a_kernel_raises_an_error(data):
    model = CCA(kernel=np.zeros((2, 2)))
    with pytest.raises(NotFittedError):
        model.transform(data.X)
    with pytest.raises(ValueError, match="kernel must be one of 'linear'"):
        model.fit(data.X, data.Y)


@pytest.mark.parametrize("meta", [OneVsRestSearchCV, ThresholdedClassifier])
@pytest.mark.parametrize("wrong", [LinearSVC, [], 3, "nonsense", np.zeros(2)])
def test_a_wrong_classifier_raises_an_error(meta, wrong, data):
    model = meta(wrong)
    with pytest.raises(TypeError, match="estimator must be a classifier"):
        model.fit(data.X, data.Y)
    with pytest.raises(NotFittedError):
        model.predict(data.X)


def test_complex_blocks_raise_an_error_without_a_warning(data):
    X, Y = data.X, data.Y
    with pytest.raises(ValueError, match="Complex data not supported"):
        SharedSubspaceClassifier().partial_fit(X + 1j, Y)
