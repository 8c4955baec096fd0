"""Models with one classifier for each label."""

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenlabel.inspection import explain
from eigenlabel.inspection.contributions.per_label import constant_labels, each_label
from explained import assert_adds_up, make_data


@pytest.fixture
def data(rng):
    return make_data(rng)


def test_each_label_may_select_features_of_its_own(data):
    X, Y = data
    inner = make_pipeline(StandardScaler(), SelectKBest(k=3), LogisticRegression())
    model = OneVsRestClassifier(inner).fit(X, Y)
    found = explain(model, X[:4], n_top=None)
    assert_adds_up(model, X[:4], found)
    for j, fitted in enumerate(model.estimators_):
        kept = fitted[1].get_support(indices=True)
        Z = fitted[0].transform(X[:4])
        naive = {f"x{k}": Z[0, k] * fitted[2].coef_[0, p] for p, k in enumerate(kept)}
        assert found.terms(0, j) == pytest.approx(naive)


def test_pipelines_inside_with_a_label_that_all_samples_have(data):
    X, Y = data
    Y = np.column_stack([Y, np.ones(len(Y), int)])
    with pytest.warns(UserWarning, match="Label"):
        model = OneVsRestClassifier(make_pipeline(StandardScaler(), LogisticRegression())).fit(X, Y)
    assert constant_labels(model.estimators_).tolist() == [False] * 4 + [True]
    found = explain(model, X[:3], labels=[4, 1])
    np.testing.assert_allclose(
        found.intercept + found.contributions.sum(axis=2), model.decision_function(X[:3])[:, [4, 1]]
    )
    assert found.terms(0, 0) == {}


def test_the_classifiers_of_an_ensemble_are_not_those_of_labels(data):
    X, Y = data
    ensemble = BaggingClassifier(LogisticRegression(), 3, random_state=0).fit(X, Y[:, 0])
    assert each_label(ensemble) is None
