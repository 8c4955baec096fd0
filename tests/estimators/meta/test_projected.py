"""The best dimension is chosen, and any classifier works at it."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multiclass import OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from eigenlabel import (
    MDDM,
    PCA,
    MLkNN,
    ProjectedClassifierCV,
    SharedSubspaceClassifier,
)
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.thresholds import fit_calibration
from eigenlabel.thresholds.calibration import fit_probabilities


@pytest.fixture(scope="module")
def data():
    return make_shared_subspace(150, 12, 6, 3, prevalence=0.3, noise=0.3, random_state=0)


def test_the_best_dimension_is_chosen_and_fitted(data):
    for scoring in ("average_precision", "ranking_loss"):
        model = ProjectedClassifierCV(dimensions=[1, 2, 6], cv=3, scoring=scoring)
        model.fit(sp.csr_array(data.X), sp.csr_array(data.Y))
        means = model.path_.scores.mean(axis=1)
        best = means.argmax() if scoring == "average_precision" else means.argmin()
        assert model.n_components_ == model.path_.dimensions[best]
        expected = MDDM(model.n_components_).fit(data.X, data.Y)
        knn = MLkNN().fit(expected.transform(data.X), data.Y)
        own = knn.predict_proba(expected.transform(data.X))
        np.testing.assert_allclose(model.estimator_.predict_proba(expected.transform(data.X)), own)
        np.testing.assert_allclose(
            model.predict_proba(data.X), model.calibration_.probabilities(own), rtol=1e-10
        )
        model.set_params(calibration=None).fit(sp.csr_array(data.X), sp.csr_array(data.Y))
        np.testing.assert_allclose(model.predict_proba(data.X), own)
        assert not hasattr(model, "oof_scores_")


def test_any_classifier_and_its_methods(data):
    model = ProjectedClassifierCV(OneVsRestClassifier(LogisticRegression()), PCA(), [1, 4], cv=3)
    model.fit(data.X, data.Y)
    assert model.decision_function(data.X).shape == data.Y.shape
    assert model.predict(data.X).shape == data.Y.shape
    assert not hasattr(ProjectedClassifierCV(), "decision_function"), "ML-kNN has none"


def test_equal_scores_take_the_smallest_dimension(data):
    X = np.c_[data.X[:, 0], np.zeros((150, 3))]
    model = ProjectedClassifierCV(dimensions=[4, 2, 1], cv=3).fit(X, data.Y)
    assert model.n_components_ == 1, "X has one direction only, more add nothing"


def test_the_dimension_is_that_of_the_projection(data):
    model = ProjectedClassifierCV(dimensions=[100], cv=2).fit(data.X, data.Y)
    assert model.n_components_ == model.projection_.n_components_ == data.Y.shape[1]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"projection": 3}, r"projection must be a transformer such as MDDM\(\), got 3"),
        ({"estimator": 3}, r"estimator must be a classifier such as MLkNN\(\), got 3"),
        ({"dimensions": 3}, "dimensions must be a sequence of integers, got 3"),
    ],
)
def test_wrong_parts_raise(parameters, words, rng):
    with pytest.raises(TypeError, match=words):
        ProjectedClassifierCV(**parameters).fit(
            rng.standard_normal((30, 4)), rng.integers(0, 2, (30, 3))
        )


@pytest.mark.filterwarnings("ignore:A column-vector y")  # of scikit-learn's neighbours
def test_one_label_and_neighbours_of_scikit_learn():
    data = make_shared_subspace(90, 6, 3, 2, prevalence=0.3, random_state=0)
    model = ProjectedClassifierCV(KNeighborsClassifier(), dimensions=[1], cv=3, scoring="auc_macro")
    model.fit(data.X, data.Y[:, :1])
    assert model.path_.scores.shape == (1, 3)
    assert np.isfinite(model.path_.scores).all()
    assert model.predict(data.X).shape == (90, 1)


@pytest.mark.parametrize("scoring", ["average_precision", "f1_macro"])
def test_the_held_out_scores_of_the_best_dimension_are_calibrated(scoring, data, rng):
    w = rng.integers(1, 4, len(data.Y)).astype(float)
    base = SharedSubspaceClassifier(0.1, 0.1, 2)
    cv = KFold(3, shuffle=True, random_state=0)
    model = ProjectedClassifierCV(base, MDDM(), [1, 3, 6], cv=cv, scoring=scoring)
    model.fit(data.X, data.Y, sample_weight=w)
    expected = np.full(data.Y.shape, np.nan)
    for train, test in cv.split(data.X):
        widest = MDDM(6).fit(data.X[train], data.Y[train])
        Z = widest.transform(data.X)[:, : model.n_components_]
        part = SharedSubspaceClassifier(0.1, 0.1, 2)
        part.fit(Z[train], data.Y[train], sample_weight=w[train])
        expected[test] = part.decision_function(Z[test])
    np.testing.assert_allclose(model.oof_scores_, expected, rtol=1e-8, atol=1e-10)
    wanted = fit_calibration(expected, data.Y, w).probabilities(model.decision_function(data.X))
    np.testing.assert_allclose(model.predict_proba(data.X), wanted, rtol=1e-8)


def test_samples_that_are_tested_never_or_twice(data):
    half = np.arange(75)
    cv = [(half + 75, half), (half + 75, half[:10])]
    model = ProjectedClassifierCV(SharedSubspaceClassifier(), MDDM(), [2], cv=cv)
    model.fit(data.X, data.Y)
    np.testing.assert_array_equal(np.isnan(model.oof_scores_).all(axis=1), np.arange(150) >= 75)
    once = ProjectedClassifierCV(SharedSubspaceClassifier(), MDDM(), [2], cv=cv[:1])
    once.fit(data.X, data.Y)
    np.testing.assert_allclose(model.oof_scores_[half], once.oof_scores_[half], rtol=1e-10)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_vector_of_classes_has_probabilities_of_refits(classes, data):
    y = data.Y[:, 0] + (data.Y[:, 1] if classes == 3 else 0)
    cv = KFold(3, shuffle=True, random_state=0)
    model = ProjectedClassifierCV(SharedSubspaceClassifier(), MDDM(), [1, 3], cv=cv).fit(data.X, y)
    expected = []
    for train, test in cv.split(data.X):
        part = MDDM(model.best_params_["n_components"]).fit(data.X[train], y[train])
        Z = part.transform(data.X)
        inner = SharedSubspaceClassifier().fit(Z[train], y[train])
        expected.append((test, inner.decision_function(Z[test])))
    for test, scores in expected:
        np.testing.assert_allclose(
            model.oof_scores_[test], scores.reshape(len(test), -1), rtol=1e-8, atol=1e-10
        )
    codec, Y = LabelCodec.fit(y)
    calibration = fit_probabilities(codec, model.oof_scores_, Y)
    scores = model.decision_function(data.X).reshape(150, -1)
    P = model.predict_proba(data.X)
    wanted = codec.shape_probabilities(calibration.probabilities(scores))
    np.testing.assert_allclose(P, wanted, rtol=1e-10)
    assert P.shape == (150, classes)
    np.testing.assert_array_equal(P.argmax(axis=1), model.predict(data.X))
    own = ProjectedClassifierCV(MLkNN(), MDDM(), [1, 3], cv=3).fit(data.X, y)
    assert not hasattr(own, "calibration_")
    Z = own.projection_.transform(data.X)
    np.testing.assert_array_equal(own.predict_proba(data.X), own.estimator_.predict_proba(Z))


def test_a_classifier_that_only_decides_has_no_probabilities(data):
    model = ProjectedClassifierCV(
        MultiOutputClassifier(OutputCodeClassifier(LinearSVC())),
        MDDM(),
        [2],
        cv=3,
        scoring="f1_macro",
    )
    assert not hasattr(model, "predict_proba")
    model.fit(data.X, data.Y)
    with pytest.raises(AttributeError, match="pass calibration='auto' and a classifier with"):
        model.predict_proba(data.X)
