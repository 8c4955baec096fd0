"""Wrappers are opened down to the classifier that computes scores."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import eigenlabel as el
from eigenlabel.inspection import explain
from eigenlabel.inspection.transformed_features import start
from eigenlabel.inspection.unwrapped_model import check_linear, count_labels, unwrap
from explained import MODELS, assert_adds_up, make_data


@pytest.fixture
def data(rng):
    return make_data(rng)


def test_the_chain_of_wrappers(data):
    X, Y = data
    inner = make_pipeline(StandardScaler(), RidgeClassifier())
    model = el.ThresholdedClassifier(GridSearchCV(inner, {"ridgeclassifier__alpha": [1.0]}, cv=2))
    opened = unwrap(model.fit(X, Y), start(X[:3]))
    kinds = ["ThresholdedClassifier", "GridSearchCV", "Pipeline", "RidgeClassifier"]
    assert [type(one).__name__ for one in opened.chain] == kinds
    np.testing.assert_allclose(opened.space.X, StandardScaler().fit(X).transform(X[:3]))


@pytest.mark.parametrize("name", MODELS)
def test_every_model_knows_its_number_of_labels(name, data):
    X, Y = data
    assert count_labels(unwrap(MODELS[name]().fit(X, Y), start(X[:2]))) == 4


def test_models_whose_scores_are_not_linear_are_found_without_samples(data):
    X, Y = data
    check_linear(unwrap(RidgeClassifier().fit(X, Y), start(None)), 0)
    check_linear(unwrap(el.MLkNN().fit(X, Y), start(None)), 0)
    check_linear(unwrap(OneVsRestClassifier(LogisticRegression()).fit(X, Y), start(None)), 0)
    pairs = SVC(kernel="linear").fit(X, Y[:, 0] + Y[:, 1])
    with pytest.raises(TypeError, match="not the sum of its coefficients"):
        check_linear(unwrap(pairs, start(None)), 0)


def test_a_projection_without_directions(data):
    X, Y = data
    constant = np.ones_like(X)
    model = el.ProjectedClassifierCV(RidgeClassifier(), el.MDDM(), [1], cv=2)
    model.fit(constant, Y)
    found = explain(model, constant[:2])
    assert_adds_up(model, constant[:2], found)
    assert found.contributions.shape == (2, 4, 0)
