import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators.meta.blend.each_label import EachLabel


@pytest.fixture(scope="module")
def data():
    return make_shared_subspace(80, 5, 4, prevalence=0.3, noise=0.3, random_state=0)


def test_each_label_has_a_classifier_of_its_own(data):
    model = EachLabel(LogisticRegression()).fit(data.X, data.Y)
    for j, t in enumerate(data.Y.T):
        one = LogisticRegression().fit(data.X, t)
        np.testing.assert_allclose(
            model.decision_function(data.X)[:, j], one.decision_function(data.X), atol=1e-10
        )
    np.testing.assert_array_equal(model.predict(data.X), model.decision_function(data.X) > 0)


def test_probabilities_become_scores_around_zero(data):
    model = EachLabel(GaussianNB()).fit(data.X, data.Y)
    p = GaussianNB().fit(data.X, data.Y[:, 1]).predict_proba(data.X)[:, 1]
    np.testing.assert_allclose(model.decision_function(data.X)[:, 1], 2 * p - 1, atol=1e-12)


def test_constant_labels_have_constant_scores(data):
    Y = data.Y.astype(float)
    Y[:, 0], Y[:, 1], Y[:, 2] = 0, 1, np.nan
    model = EachLabel(LogisticRegression()).fit(data.X, Y)
    assert model.estimators_[:3] == [None, None, None]
    np.testing.assert_array_equal(model.decision_function(data.X)[:, :3], [[-1, 1, -1]] * 80)


def test_samples_count_for_the_labels_that_are_observed(data, rng):
    seen = rng.random(data.Y.shape) < 0.6
    weights = rng.integers(1, 4, 80).astype(float)
    Y = np.where(seen, data.Y, np.nan)
    model = EachLabel(LogisticRegression()).fit(data.X, Y, sample_weight=weights)
    for j in range(4):
        rows = seen[:, j]
        one = LogisticRegression().fit(data.X[rows], data.Y[rows, j], sample_weight=weights[rows])
        np.testing.assert_allclose(
            model.decision_function(data.X)[:, j], one.decision_function(data.X), atol=1e-10
        )
