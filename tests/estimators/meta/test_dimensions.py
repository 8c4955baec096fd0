"""The path over dimensions equals fitting each one from scratch."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel

from eigenlabel import (
    CCA,
    MDDM,
    MLSI,
    PCA,
    DiscriminativeSelector,
    MLkNN,
    dimensions_path,
    metrics,
)
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.inputs.warning import NoDirectionWarning
from eigenlabel.model_selection import MultilabelStratifiedKFold


@pytest.fixture(scope="module")
def data():
    return make_shared_subspace(150, 12, 6, 3, prevalence=0.3, noise=0.3, random_state=0)


@pytest.mark.parametrize("projection", [MDDM(), CCA(), PCA(), MLSI(), MDDM(kernel="rbf")])
@pytest.mark.parametrize("scoring", ["average_precision", "f1_macro", "ranking_loss", "log_loss"])
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


def test_a_metric_of_probabilities_needs_a_classifier_that_has_them(data):
    with pytest.raises(TypeError, match="RidgeClassifier has no predict_proba: probabilities are"):
        dimensions_path(MDDM(), RidgeClassifier(), data.X, data.Y, [1], scoring="brier_score")


def test_wrong_dimensions_and_parts_raise(data):
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


def test_empty_folds_and_classes_in_place_of_objects_raise():
    data = make_shared_subspace(40, 6, 3, 2, prevalence=0.3, random_state=0)
    with pytest.raises(ValueError, match="cv is empty"):
        dimensions_path(MDDM(), MLkNN(), data.X, data.Y, [1], cv=[])
    with pytest.raises(TypeError, match=r"projection must be a transformer such as MDDM\(\)"):
        dimensions_path(MDDM, MLkNN(), data.X, data.Y, [1])
    with pytest.raises(TypeError, match=r"must be a classifier such as MLkNN\(\)"):
        dimensions_path(MDDM(), MLkNN, data.X, data.Y, [1])


def test_a_projection_without_directions_does_not_warn(data):
    X = np.zeros_like(data.X)
    with pytest.warns(NoDirectionWarning, match="found no direction"):
        MDDM().fit(X, data.Y)
    path = dimensions_path(MDDM(), MLkNN(), X, data.Y, [1, 2], cv=3)
    np.testing.assert_array_equal(path.scores[0], path.scores[1])
