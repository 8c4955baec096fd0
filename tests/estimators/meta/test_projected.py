"""The path over dimensions equals fitting each one from scratch."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier

from eigenlabel import (
    CCA,
    MDDM,
    MLSI,
    PCA,
    DiscriminativeSelector,
    MLkNN,
    ProjectedClassifierCV,
    dimensions_path,
    metrics,
)
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.model_selection import MultilabelStratifiedKFold


@pytest.fixture(scope="module")
def data():
    return make_shared_subspace(150, 12, 6, 3, prevalence=0.3, noise=0.3, random_state=0)


@pytest.mark.parametrize("projection", [MDDM(), CCA(), PCA(), MLSI(), MDDM(kernel="rbf")])
@pytest.mark.parametrize("scoring", ["average_precision", "f1_macro", "ranking_loss"])
def test_the_path_equals_separate_fits(data, projection, scoring):
    dimensions = [5, 1, 3]
    path = dimensions_path(projection, MLkNN(5), data.X, data.Y, dimensions, cv=3, scoring=scoring)
    metric = metrics.METRICS[scoring]
    for k, (train, test) in enumerate(MultilabelStratifiedKFold(3).split(data.X, data.Y)):
        for i, r in enumerate(dimensions):
            model = clone(projection).set_params(n_components=r).fit(data.X[train], data.Y[train])
            knn = MLkNN(5).fit(model.transform(data.X[train]), data.Y[train])
            Z = model.transform(data.X[test])
            found = knn.predict(Z) if metric.reads == "labels" else knn.predict_proba(Z)
            assert path.scores[i, k] == pytest.approx(metric.function(data.Y[test], found))


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


def test_wrong_calls_say_so(data):
    with pytest.raises(ValueError, match="dimensions is empty"):
        dimensions_path(MDDM(), MLkNN(), data.X, data.Y, [])
    with pytest.raises(ValueError, match="dimensions must be an integer >= 1, got 0"):
        dimensions_path(MDDM(), MLkNN(), data.X, data.Y, [0])
    with pytest.raises(ValueError, match="scoring must be one of"):
        dimensions_path(MDDM(), MLkNN(), data.X, data.Y, [1], scoring="speed")
    with pytest.raises(TypeError, match="has no n_components"):
        dimensions_path(DiscriminativeSelector(), MLkNN(), data.X, data.Y, [1])


def test_the_path_of_a_precomputed_kernel_is_that_of_the_kernel(data):
    K = rbf_kernel(data.X, gamma=0.1)
    given = dimensions_path(MDDM(kernel="precomputed"), MLkNN(), K, data.Y, [1, 2], cv=3)
    named = dimensions_path(MDDM(kernel="rbf", gamma=0.1), MLkNN(), data.X, data.Y, [1, 2], cv=3)
    np.testing.assert_allclose(given.scores, named.scores, rtol=1e-12)


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
def test_parts_that_are_none(parameters, words, rng):
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


def test_no_folds_and_classes_are_refused():
    data = make_shared_subspace(40, 6, 3, 2, prevalence=0.3, random_state=0)
    with pytest.raises(ValueError, match="cv is empty"):
        dimensions_path(MDDM(), MLkNN(), data.X, data.Y, [1], cv=[])
    with pytest.raises(TypeError, match=r"projection must be a transformer such as MDDM\(\)"):
        dimensions_path(MDDM, MLkNN(), data.X, data.Y, [1])
    with pytest.raises(TypeError, match=r"must be a classifier such as MLkNN\(\)"):
        dimensions_path(MDDM(), MLkNN, data.X, data.Y, [1])
