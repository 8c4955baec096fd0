"""Tuning each label by itself, against scikit-learn's search on one label at a time."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.utils import get_tags

from eigenlabel import OneVsRestSearchCV, ThresholdedClassifier
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.thresholds import fit_calibration

GRID = {"C": [1e-4, 1e-2, 1.0, 100.0]}


@pytest.fixture
def data():
    return make_shared_subspace(150, 20, 5, noise=1.5, random_state=1)


def best_f1(t, s):
    return max(f1_score(t, s > cut, zero_division=0) for cut in [*s, s.min() - 1])


@pytest.mark.parametrize(
    ("scoring", "measure"),
    [("f1", best_f1), ("auc", roc_auc_score), ("average_precision", average_precision_score)],
)
@pytest.mark.parametrize("sparse", [False, True])
def test_each_label_gets_its_best_candidate(data, scoring, measure, sparse):
    X = sp.csr_array(data.X) if sparse else data.X
    cv, base = KFold(3, shuffle=True, random_state=0), LogisticRegression()
    model = OneVsRestSearchCV(base, GRID, cv=cv, scoring=scoring).fit(X, data.Y)
    for j, t in enumerate(data.Y.T):
        found = []
        for C in GRID["C"]:
            one = LogisticRegression(C=C)
            held = cross_val_predict(one, X, t, cv=cv, method="decision_function")
            found.append(measure(t, held))
        np.testing.assert_allclose(model.cv_results_["label_test_score"][:, j], found, atol=1e-9)
        assert model.best_params_[j] == {"C": GRID["C"][int(np.argmax(found))]}
        assert model.best_scores_[j] == pytest.approx(max(found))
        wanted = LogisticRegression(**model.best_params_[j]).fit(X, t).decision_function(X)
        np.testing.assert_allclose(model.decision_function(X)[:, j], wanted, atol=1e-6)
    assert len({p["C"] for p in model.best_params_}) > 1, "labels want different C"
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X) > 0)


def test_the_default_is_the_papers_svm(data):
    X, Y = data.X[:60], data.Y[:60]
    model = OneVsRestSearchCV(cv=3).fit(X, Y)
    assert [c["C"] for c in model.cv_results_["params"]] == [10.0**k for k in range(-5, 6)]
    assert all(isinstance(one, LinearSVC) for one in model.estimators_)
    parallel = OneVsRestSearchCV(LinearSVC(random_state=0), GRID, n_jobs=2).fit(data.X, data.Y)
    alone = OneVsRestSearchCV(LinearSVC(random_state=0), GRID).fit(data.X, data.Y)
    np.testing.assert_array_equal(
        parallel.decision_function(data.X), alone.decision_function(data.X)
    )


def test_probabilities_serve_as_scores(data):
    grid = {"n_neighbors": [1, 5, 15]}
    model = OneVsRestSearchCV(KNeighborsClassifier(), grid, cv=3).fit(data.X, data.Y)
    one = KNeighborsClassifier(**model.best_params_[0]).fit(data.X, data.Y[:, 0])
    wanted = one.predict_proba(data.X)[:, 1] * 2 - 1
    np.testing.assert_allclose(model.decision_function(data.X)[:, 0], wanted)


def test_labels_that_are_always_or_never_there(data):
    Y = data.Y.copy()
    Y[:, 0], Y[:, 1], Y[:, 2] = 0, 1, 0
    Y[7, 2] = 1  # in one test part, and in none of the other's training parts
    model = OneVsRestSearchCV(LogisticRegression(), GRID, cv=KFold(3)).fit(data.X, Y)
    assert model.estimators_[0] is model.estimators_[1] is None
    np.testing.assert_array_equal(model.predict(data.X)[:, :2], Y[:, :2])
    table = model.cv_results_["label_test_score"]
    assert np.isnan(model.best_scores_[:3]).all(), "nothing is known of one positive alone"
    assert np.isfinite(table[:, 3:]).all()
    common = GRID["C"][int(table[:, 3:].mean(axis=1).argmax())]
    assert [p["C"] for p in model.best_params_[:3]] == 3 * [common]


def test_samples_held_out_again_count_by_their_mean(data):
    """Some are never held out; a training part with a label on every sample does not count."""
    t = data.Y[:, 0]
    always = np.flatnonzero(t)
    folds = [
        (np.arange(40, 150), np.arange(40)),
        (always, np.arange(60)),
        (np.arange(60, 150), np.arange(50)),
    ]
    model = OneVsRestSearchCV(LogisticRegression(), {"C": [1.0]}, cv=folds, scoring="auc")
    total, times = np.zeros(150), np.zeros(150)
    for train, test in (folds[0], folds[2]):
        one = LogisticRegression().fit(data.X[train], t[train])
        total[test] += one.decision_function(data.X[test])
        times[test] += 1
    held = times > 0
    assert held.sum() == 50
    wanted = roc_auc_score(t[held], total[held] / times[held])
    assert model.fit(data.X, data.Y).best_scores_[0] == pytest.approx(wanted)


def test_vectors_of_classes_are_accepted(data):
    y = np.array(["a", "b", "c"])[np.argmax(data.X[:, :3], axis=1)]
    model = OneVsRestSearchCV(LogisticRegression(), GRID, cv=3).fit(data.X, y)
    assert list(model.classes_) == ["a", "b", "c"]
    assert model.score(data.X, y) > 0.8


def test_thresholds_go_around_it(data):
    inner = OneVsRestSearchCV(LogisticRegression(), GRID, cv=3)
    model = ThresholdedClassifier(inner, cv=None, strategy="f1").fit(data.X, data.Y)
    plain = inner.fit(data.X, data.Y).predict(data.X)
    scores = [f1_score(data.Y, p, average="macro") for p in (model.predict(data.X), plain)]
    assert scores[0] > scores[1]


def test_only_fits_that_are_kept_warn(data, recwarn):
    grid = {"max_iter": [1, 200]}
    model = OneVsRestSearchCV(LogisticRegression(), grid, cv=3, scoring="auc")
    model.fit(data.X, data.Y)
    kept = sum(p["max_iter"] == 1 for p in model.best_params_)
    told = [w for w in recwarn if issubclass(w.category, ConvergenceWarning)]
    assert len(told) == kept


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"scoring": "f1_macro"}, "scoring must be one of 'f1', 'auc', 'average_precision'"),
        ({"param_grid": []}, "param_grid has no candidates"),
        ({"param_grid": {"D": [1]}}, "Invalid parameter 'D'"),
        ({"cv": 1}, "cv must be"),
    ],
)
def test_wrong_parameters_raise_an_error(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        OneVsRestSearchCV(**parameters).fit(data.X, data.Y)


def test_a_classifier_without_scores_raises_an_error(data):
    class Mute(Perceptron):
        decision_function = property()

    with pytest.raises(TypeError, match="neither decision_function nor predict_proba"):
        OneVsRestSearchCV(Mute(), {"alpha": [1e-3]}).fit(data.X, data.Y)


def test_an_estimator_that_is_not_a_classifier_raises_an_error(data):
    with pytest.raises(TypeError, match="estimator must be a classifier or None, got 'svm'"):
        OneVsRestSearchCV("svm", GRID).fit(data.X, data.Y)


def test_kernels_are_classifiers_too(data):
    model = OneVsRestSearchCV(SVC(), {"gamma": [0.01, 0.1]}, cv=3).fit(data.X, data.Y)
    assert {p["gamma"] for p in model.best_params_} <= {0.01, 0.1}


@pytest.mark.parametrize("weighted", [False, True])
def test_the_held_out_scores_of_each_labels_best_candidate_are_calibrated(data, rng, weighted):
    cv = KFold(3, shuffle=True, random_state=0)
    w = rng.integers(0, 3, 150).astype(float) if weighted else None
    weights = {} if w is None else {"sample_weight": w}
    model = OneVsRestSearchCV(LogisticRegression(), GRID, cv=cv).fit(data.X, data.Y, **weights)
    used = np.ones(150, dtype=bool) if w is None else w > 0
    expected = np.full(data.Y.shape, np.nan)
    for parts in cv.split(data.X):
        train, test = (rows[used[rows]] for rows in parts)
        for j, t in enumerate(data.Y.T):
            one = LogisticRegression(**model.best_params_[j])
            one.fit(data.X[train], t[train], None if w is None else w[train])
            expected[test, j] = one.decision_function(data.X[test])
    np.testing.assert_allclose(model.oof_scores_, expected, rtol=1e-6)  # LBFGS iterates
    calibration = fit_calibration(model.oof_scores_, data.Y, w)
    P = calibration.probabilities(model.decision_function(data.X))
    np.testing.assert_allclose(model.predict_proba(data.X), P, rtol=1e-10)
    assert not hasattr(model.set_params(calibration=None).fit(data.X, data.Y), "oof_scores_")


def test_training_parts_that_agree_score_one_or_minus_one(data):
    Y = data.Y.copy()
    Y[:, 0], Y[:, 1], Y[0, 1], Y[:, 2] = 0, 0, 1, 1
    model = OneVsRestSearchCV(LogisticRegression(), {"C": [1.0]}, cv=KFold(3)).fit(data.X, Y)
    np.testing.assert_array_equal(model.oof_scores_[:, 0], -1)
    np.testing.assert_array_equal(model.oof_scores_[:50, 1], -1)  # the only positive is held out
    assert not np.isin(model.oof_scores_[50:, 1], (-1, 1)).any()
    np.testing.assert_array_equal(model.oof_scores_[:, 2], 1)


def test_a_kernel_matrix_gives_the_result_of_its_kernel(data):
    weights = np.ones(len(data.X))
    weights[::7] = 0
    cv = KFold(3, shuffle=True, random_state=0)
    plain = OneVsRestSearchCV(SVC(kernel="linear"), GRID, cv=cv)
    plain.fit(data.X, data.Y, sample_weight=weights)
    K = data.X @ data.X.T
    pairwise = OneVsRestSearchCV(SVC(kernel="precomputed"), GRID, cv=cv)
    pairwise.fit(K, data.Y, sample_weight=weights)
    assert pairwise.best_params_ == plain.best_params_
    np.testing.assert_allclose(pairwise.oof_scores_, plain.oof_scores_, atol=1e-2)  # LIBSVM's tol
    assert get_tags(pairwise).input_tags.pairwise
    np.testing.assert_allclose(
        pairwise.decision_function(K), plain.decision_function(data.X), atol=1e-2
    )
