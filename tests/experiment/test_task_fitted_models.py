"""Views, chosen parameters and scores of any model."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from eigenlabel import KGHA, ThresholdedClassifier
from eigenlabel.catalogue import chosen_parameters, make
from eigenlabel.experiment import scores_of
from eigenlabel.experiment.task import probabilities_of, with_views
from eigenlabel.reproduce.paper_estimators import ViewChoice
from protocols import planted


def test_chosen_parameters_are_found_inside_other_estimators():
    data = planted()
    model = make("ML_LS").fit(data.X, data.Y)
    assert chosen_parameters(model) == model[-1].best_params_
    tuned = make("linear-svm", grid={"estimator__estimator__C": [1.0, 2.0]}).fit(data.X, data.Y)
    assert chosen_parameters(tuned) == tuned.best_params_
    assert chosen_parameters(LinearSVC()) == {}
    by_label = make("SVM", {"estimator__svm__param_grid": {"C": [0.1, 1.0]}}).fit(data.X, data.Y)
    inside = by_label.estimator_[-1].best_params_
    assert chosen_parameters(by_label) == {"C": [one["C"] for one in inside]}


class Probabilities(ClassifierMixin, BaseEstimator):
    """Return a list of probabilities, one array for each label."""

    def __init__(self, n_labels=4):
        self.n_labels = n_labels

    def predict_proba(self, X):
        return [np.c_[np.full(len(X), 0.9), np.full(len(X), 0.1)] for _ in range(self.n_labels)]


def test_probabilities_of_each_label_become_scores():
    model = Probabilities()
    np.testing.assert_allclose(scores_of(model, np.zeros((6, 2))), np.full((6, 4), 0.1))
    assert scores_of(StandardScaler(), np.zeros((2, 2))) is None
    np.testing.assert_allclose(probabilities_of(model, np.zeros((6, 2)), 4), np.full((6, 4), 0.1))
    assert probabilities_of(LinearSVC(), np.zeros((2, 2)), 4) is None


def test_views_are_set_in_the_outermost_model_that_has_none():
    views = {"left": slice(0, 2), "right": slice(2, 5)}
    inner = with_views(ThresholdedClassifier(KGHA()), views)
    assert inner.estimator.views == views
    outer = with_views(ViewChoice(KGHA(), 0), views)
    assert (outer.views, outer.estimator.views) == (views, None)
    own = {"all": slice(0, 5)}
    assert with_views(KGHA(views=own), views).views == own
    assert with_views(KGHA(), {}).views is None
    plain = LinearSVC()
    assert with_views(plain, views) is plain
