"""The scores of any classifier, and its scores of labels that never occur in training."""

import csv

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenlabel import MLkNN, SharedSubspaceClassifier, ThresholdedClassifier
from eigenlabel.catalogue import search
from eigenlabel.cli import main
from eigenlabel.datasets import make_shared_subspace, save
from eigenlabel.experiment import Data, Method, Protocol, Splits, fit_split, scores_of
from eigenlabel.metrics import METRICS
from eigenlabel.model_selection.classifier_scores import (
    as_matrix,
    class_scores,
    has_scores,
    probabilities_matrix,
)
from eigenlabel.persistence import SavedModel, save_model

FOREST = RandomForestClassifier(5, random_state=0)


@pytest.fixture
def data():
    return make_shared_subspace(90, 6, 4, 2, prevalence=0.3, random_state=0)


@pytest.fixture
def Y(data):
    """Labels of which one never occurs and one always does."""
    Y = np.asarray(data.Y).copy()
    Y[:, 1], Y[:, 2] = 0, 1
    return Y


@pytest.mark.parametrize(
    "model",
    [
        FOREST,
        KNeighborsClassifier(3),
        MultiOutputClassifier(GaussianNB()),
        make_pipeline(StandardScaler(), FOREST),
        GridSearchCV(FOREST, {"max_depth": [2]}, cv=2, scoring="accuracy"),
        ThresholdedClassifier(FOREST, cv=None, calibration=None),
    ],
    ids=lambda model: type(model).__name__,
)
def test_constant_labels_have_the_probability_that_training_showed(model, data, Y):
    model.fit(data.X, Y)
    scores = scores_of(model, data.X, 4)
    np.testing.assert_array_equal(scores[:, 1], 0)
    np.testing.assert_array_equal(scores[:, 2], 1)
    for j in (0, 3):
        np.testing.assert_array_equal(scores[:, j], model.predict_proba(data.X)[j][:, 1])


@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
def test_a_single_label_that_is_constant(data, value):
    Y = np.full((90, 1), value)
    for model in (FOREST, KNeighborsClassifier(3)):
        scores = scores_of(model.fit(data.X, Y), data.X, 1)
        np.testing.assert_array_equal(scores, np.full((90, 1), value))


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
def test_a_single_label_has_one_column_of_scores(data):
    Y = np.asarray(data.Y)[:, :1]
    forest = FOREST.fit(data.X, Y)
    found = scores_of(forest, data.X, 1)
    np.testing.assert_array_equal(found[:, 0], forest.predict_proba(data.X)[:, 1])
    ours = MLkNN(3).fit(data.X, Y)
    np.testing.assert_array_equal(scores_of(ours, data.X, 1), ours.predict_proba(data.X))


def test_probabilities_are_read_where_scores_are_margins(data, Y):
    model = OneVsRestClassifier(LogisticRegression()).fit(data.X, data.Y)
    found = probabilities_matrix(model, data.X, 4)
    np.testing.assert_array_equal(found, model.predict_proba(data.X))
    assert (scores_of(model, data.X, 4) < 0).any()
    forest = FOREST.fit(data.X, Y)
    np.testing.assert_array_equal(
        probabilities_matrix(forest, data.X, 4), scores_of(forest, data.X, 4)
    )
    ridge = RidgeClassifier().fit(data.X, data.Y)
    with pytest.raises(TypeError, match="RidgeClassifier has no predict_proba"):
        probabilities_matrix(ridge, data.X, 4)


def test_two_labels_are_not_taken_for_two_classes(data):
    Y = np.asarray(data.Y)[:, :2]
    model = OneVsRestClassifier(GaussianNB()).fit(data.X, Y)
    np.testing.assert_array_equal(scores_of(model, data.X, 2), model.predict_proba(data.X))
    np.testing.assert_array_equal(scores_of(model, data.X), model.predict_proba(data.X))
    ours = SharedSubspaceClassifier().fit(data.X, Y)
    np.testing.assert_array_equal(scores_of(ours, data.X, 2), ours.decision_function(data.X))


def test_probabilities_without_classes_raise_an_error():
    response = [np.full((3, 2), 0.5), np.ones((3, 1))]
    with pytest.raises(ValueError, match="always or never present"):
        as_matrix(response, 2)
    found = as_matrix(response, 2, [np.array([0, 1]), np.array([0])])
    np.testing.assert_array_equal(found, [[0.5, 0]] * 3)


def test_runs_and_grids_score_a_label_never_seen_by_zero(data):
    Y = np.asarray(data.Y).copy()
    Y[:, 1] = np.arange(90) >= 60  # never in the first 60 samples
    rows = np.arange(90)
    split = {"published": (rows[:60], rows[60:])}
    planted = type(data)(data.X, Y, data.feature_names, data.label_names, splits=split)
    protocol = Protocol([Data("d", planted)], [Method("forest", FOREST)], Splits("published", 1))
    np.testing.assert_array_equal(fit_split(protocol, "d", "forest", 0).scores[:, 1], 0)

    forest = FOREST.fit(data.X[:60], Y[:60])
    probabilities = forest.predict_proba(data.X[60:])
    expected = np.column_stack(
        [probabilities[j][:, 1] if j != 1 else np.zeros(30) for j in range(4)]
    )
    for name in ("ranking_loss", "coverage"):
        tuned = search(FOREST, {"max_depth": [2]}, name)
        found = tuned.scoring(forest, data.X[60:], Y[60:])
        assert found == -METRICS[name].function(Y[60:], expected)


def test_predictions_and_pages_score_a_label_never_seen_by_zero(data, Y, tmp_path):
    model = make_pipeline(StandardScaler(), MultiOutputClassifier(GaussianNB())).fit(data.X, Y)
    names = data.feature_names, data.label_names
    save_model(SavedModel(model, *names), tmp_path / "m.skops")
    save(data, tmp_path / "new.npz")
    words = ["predict", "m.skops", "new.npz", "-o", "out.csv", "--scores"]
    assert main([str(tmp_path / w) if "." in w else w for w in words]) == 0
    with (tmp_path / "out.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert {row[f"score:{data.label_names[1]}"] for row in rows} == {"0"}
    assert {row[f"score:{data.label_names[2]}"] for row in rows} == {"1"}


def test_classes_that_a_part_did_not_see_have_no_scores():
    three = np.array([[1.0, 2, 3], [4, 5, 6]])
    every = ["a", "b", "c", "d"]
    np.testing.assert_array_equal(class_scores(three, ["a", "b", "c"], ["a", "b", "c"]), three)
    found = class_scores(three, ["a", "c", "d"], every)
    np.testing.assert_array_equal(found, [[1, np.nan, 2, 3], [4, np.nan, 5, 6]])
    found = class_scores([1.0, -2.0], ["b", "d"], every)
    np.testing.assert_array_equal(found, [[np.nan, -1, np.nan, 1], [np.nan, 2, np.nan, -2]])
    assert np.isnan(class_scores([1.0, 2.0], ["b"], every)).all()
    np.testing.assert_array_equal(class_scores([1.0, 2.0], ["a", "b"], ["a", "b"]), [[1], [2]])
    one = class_scores([1.0, 2.0], ["a"], ["a", "b"])
    assert one.shape == (2, 1)
    assert np.isnan(one).all()


def test_a_classifier_has_scores_if_it_has_either_method():
    assert has_scores(LogisticRegression())
    assert has_scores(GaussianNB())
    assert not has_scores(LinearRegression())
