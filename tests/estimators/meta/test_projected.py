"""The best dimension is chosen, and any classifier works at it."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier

from eigenlabel import (
    MDDM,
    PCA,
    MLkNN,
    ProjectedClassifierCV,
)
from eigenlabel.datasets import make_shared_subspace


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
        np.testing.assert_allclose(
            model.predict_proba(data.X), knn.predict_proba(expected.transform(data.X))
        )


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
