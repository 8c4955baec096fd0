from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from blend_tasks import make_task
from eigenlabel import SharedSubspaceClassifier, SharedSubspaceClassifierCV, Views
from eigenlabel.estimators.meta.blend.budget import OutOfTimeError
from eigenlabel.estimators.meta.blend.each_label import EachLabel
from eigenlabel.estimators.meta.blend.members import (
    RECIPES,
    Candidate,
    check_members,
    fit_member,
    list_candidates,
    order_candidates,
    read_scores,
)
from eigenlabel.estimators.meta.blend.task import Form
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.model_selection.classifier_scores import scores_matrix

TABLE = Form(1000, 50, 5, 50.0, False, True, False, False)
TEXT = Form(1000, 5000, 5, 60.0, True, False, False, False)


def names(candidates):
    return [candidate.name for candidate in candidates]


def test_default_members_depend_on_the_form():
    expected = ["linear", "neighbours", "forest", "laplacian", "labels", "sets"]
    assert names(list_candidates("auto", TABLE)) == expected
    text = ["linear", "neighbours", "words", "forest", "presence", "labels", "sets"]
    assert names(list_candidates("auto", TEXT)) == text
    signed = Form(1000, 5000, 5, 60.0, True, True, False, False)
    assert names(list_candidates("auto", signed)) == [
        "linear",
        "neighbours",
        "forest",
        "labels",
        "sets",
    ]
    constant = Form(1000, 50, 5, 50.0, False, True, True, False)
    assert names(list_candidates("auto", constant)) == ["linear"]
    views = Form.of(Views([np.eye(3)]), 2)
    table = ["linear", "neighbours", "forest", "laplacian", "views", "labels", "sets"]
    assert names(list_candidates("auto", views)) == table
    missing = Form.of(Views([np.full((3, 1), np.nan), np.eye(3)]), 2)
    assert names(list_candidates("auto", missing)) == ["views", "labels", "sets"]
    classes = replace(TABLE, multilabel=False)
    assert not {"labels", "sets"} & set(names(list_candidates("auto", classes)))
    assert not {"labels", "sets"} & set(names(list_candidates("auto", replace(TABLE, m=1))))
    assert "sets" not in names(list_candidates("auto", replace(TABLE, complete=False)))


@pytest.mark.parametrize("name", [n for n in RECIPES if n != "views"])
def test_every_member_can_be_fitted_by_name(name, rng):
    X = rng.poisson(0.7, (90, 6)).astype(float)
    Y = (X[:, :3] + rng.random((90, 3)) > 1.2).astype(int)
    task = make_task(sp.csr_array(X), Y)
    if RECIPES[name].second:
        task = task.reading(rng.random(Y.shape))
    found = fit_member(Candidate(name, RECIPES[name]), task)
    assert found.scores.shape == Y.shape
    assert np.isfinite(found.scores).all()
    assert read_scores(found.estimator, task.X, task.codec).shape == Y.shape
    assert RECIPES[name].seconds(task.form) > 0


def test_the_views_have_kgha(rng):
    X = Views({"a": rng.standard_normal((40, 3)), "b": rng.standard_normal((40, 2))})
    Y = (X["a"][:, :2] > 0).astype(int)
    found = fit_member(Candidate("views", RECIPES["views"]), make_task(X, Y))
    assert np.isfinite(found.scores).all()


def test_costs_grow_with_the_data():
    for recipe in RECIPES.values():
        small = recipe.seconds(Form(500, 40, 5, 40.0, False, False, False, False))
        for larger in (
            Form(5000, 40, 5, 40.0, False, False, False, False),
            Form(500, 40, 500, 40.0, False, False, False, False),
        ):
            assert recipe.seconds(larger) >= small


def test_the_linear_model_comes_first_and_others_by_gain_per_second():
    ordered = order_candidates(list_candidates("auto", TABLE), TABLE, by_gain=True)
    assert names(ordered)[0] == "linear"
    rates = [c.recipe.gain / c.predicted(TABLE) for c in ordered[1:]]
    assert rates == sorted(rates, reverse=True)
    given = [Candidate("b", None, GaussianNB()), Candidate("a", None, GaussianNB())]
    assert names(order_candidates(given, TABLE, by_gain=False)) == ["b", "a"]
    with_linear = [*given, Candidate("linear", RECIPES["linear"])]
    assert names(order_candidates(with_linear, TABLE, by_gain=False)) == ["linear", "b", "a"]


@pytest.mark.parametrize(
    ("members", "error", "message"),
    [
        ("linear", TypeError, "must be 'auto', 'all', or a list"),
        (3, TypeError, "must be 'auto', 'all', or a list"),
        ([], ValueError, "members is empty"),
        (["svm"], ValueError, "Unknown member 'svm': use one of 'linear'"),
        ([("a", GaussianNB(), 1)], TypeError, "must be a name or a pair"),
        ([GaussianNB()], TypeError, "must be a name or a pair"),
        ([("a__b", GaussianNB())], ValueError, "must not contain '__'"),
        ([("a", GaussianNB)], TypeError, "Member 'a' must be a classifier"),
        (["linear", ("linear", GaussianNB())], ValueError, "Two members are called 'linear'"),
    ],
)
def test_wrong_members_are_reported(members, error, message):
    with pytest.raises(error, match=message):
        check_members(members)


def naive_heldout(estimator, task):
    out = np.full(task.Y.shape, np.nan)
    for train, test in task.folds:
        model = estimator().fit(task.X[train], task.y[train])
        out[test] = scores_matrix(model, task.X[test], task.Y.shape[1])
    return out


def test_a_classifier_of_label_matrices_is_cross_validated():
    task = make_task()
    found = fit_member(Candidate("ridge", None, RidgeClassifier()), task)
    np.testing.assert_allclose(found.scores, naive_heldout(RidgeClassifier, task), atol=1e-10)
    assert isinstance(found.estimator, RidgeClassifier)


def test_a_binary_classifier_is_fitted_to_each_label():
    task = make_task()
    found = fit_member(Candidate("logistic", None, LogisticRegression()), task)
    expected = naive_heldout(lambda: EachLabel(LogisticRegression()), task)
    np.testing.assert_allclose(found.scores, expected, atol=1e-8)
    assert isinstance(found.estimator, EachLabel)


def test_probabilities_are_read_as_scores_around_zero():
    task = make_task()
    found = fit_member(Candidate("near", None, KNeighborsClassifier()), task)
    expected = 2 * naive_heldout(KNeighborsClassifier, task) - 1
    np.testing.assert_allclose(found.scores, expected, atol=1e-12)


def test_missing_labels_are_left_out_of_each_label(rng):
    task = make_task()
    Y = np.where(rng.random(task.Y.shape) < 0.3, np.nan, task.Y)
    task = make_task(task.X, Y)
    found = fit_member(Candidate("ridge", None, RidgeClassifier()), task)
    assert isinstance(found.estimator, EachLabel)
    assert np.isfinite(found.scores).all()
    own = fit_member(Candidate("ours", None, SharedSubspaceClassifier()), task)
    assert isinstance(own.estimator, SharedSubspaceClassifier)


def test_trees_are_cross_validated_if_samples_depend_on_each_other():
    task = make_task(exchangeable=False)
    found = fit_member(Candidate("forest", RECIPES["forest"]), task)
    assert not np.array_equal(found.scores, found.estimator.oof_scores_)
    bag = fit_member(Candidate("forest", RECIPES["forest"]), make_task())
    np.testing.assert_array_equal(bag.scores, bag.estimator.oof_scores_)


def test_weights_reach_members_that_accept_them(rng):
    w = rng.integers(1, 5, 90).astype(float)
    task = make_task(weights=w, params={"ridge": {"sample_weight": w}, "near": {}})
    found = fit_member(Candidate("ridge", None, RidgeClassifier()), task)
    plain = RidgeClassifier().fit(task.X, task.Y.astype(int), sample_weight=w)
    np.testing.assert_allclose(found.estimator.coef_, plain.coef_, atol=1e-10)
    assert found.note == ""
    without = fit_member(Candidate("near", None, KNeighborsClassifier()), task)
    assert "without sample weights" in without.note
    own = fit_member(Candidate("linear", RECIPES["linear"]), task)
    expected = SharedSubspaceClassifierCV(cv=task.folds).fit(task.X, task.Y, sample_weight=w)
    np.testing.assert_allclose(own.scores, expected.oof_scores_, atol=1e-8)


def test_a_member_of_the_user_stops_when_time_is_over():
    task = make_task(seconds=1e-6)
    with pytest.raises(OutOfTimeError, match="when the time was over"):
        fit_member(Candidate("ridge", None, RidgeClassifier()), task)


@pytest.mark.parametrize("model", [LogisticRegression(), GaussianNB()], ids=["margins", "shares"])
def test_classes_that_a_fold_lacks_have_no_score(model, rng):
    X = rng.standard_normal((30, 2))
    y = np.array(["a"] * 14 + ["b"] * 14 + ["c"] * 2)
    codec = LabelCodec.fit(y)[0]
    scores = read_scores(model.fit(X, y), X, codec)
    assert scores.shape == (30, 3)
    np.testing.assert_array_equal(codec.classes[scores.argmax(axis=1)], model.predict(X))
    scores = read_scores(model.fit(X[:28], y[:28]), X, codec)
    assert np.isnan(scores[:, 2]).all()
    np.testing.assert_allclose(scores[:, 0], -scores[:, 1], atol=1e-12)
    two = LabelCodec.fit(y[:28])[0]
    assert read_scores(model, X, two).shape == (30, 1)


def test_all_members_that_suit_the_data(rng):
    dense = Form.of(rng.standard_normal((20, 3)), 2)
    sparse = Form.of(sp.csr_array(np.abs(rng.standard_normal((20, 3)))), 2)
    names = {
        key: [{c.name for c in list_candidates(key, form)} for form in (dense, sparse)]
        for key in ("auto", "all")
    }
    for auto, every in zip(names["auto"], names["all"], strict=True):
        assert every - auto >= {"gaussian", "margin"}
        assert auto < every
    assert "words" not in names["all"][0]
    assert "laplacian" not in names["all"][1]


def test_a_classifier_of_matrices_cannot_have_missing_labels():
    task = make_task()
    Y = np.where(np.arange(90)[:, None] % 9 == 0, np.nan, task.Y)
    chain = Candidate("chain", None, ClassifierChain(LogisticRegression()))
    assert fit_member(chain, task).scores.shape == task.Y.shape
    with pytest.raises(ValueError, match="label matrices only, and none with missing labels"):
        fit_member(chain, make_task(task.X, Y))
