"""MtSDA against Algorithm 2 written out, its limits, and odd input."""

import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.linalg as sl
import scipy.sparse as sp
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning

from eigenlabel import MtSDA
from helpers import (
    centre,
    equicorrelation,
    paper_mtsda,
    penalised_discriminant_analysis,
    projector,
    ridge,
    sda_objective,
    with_equal_first_label_sets,
)

PENALTIES = [(5.0, 1.0, 0.0), (5.0, 3.0, 0.4), (20.0, 0.5, 0.0), (1.0, 1.0, -0.02), (0.0, 1.0, 0.0)]


def symmetric_start(Y):
    lam, V = np.linalg.eigh(Y.T @ Y / len(Y))
    return (V / np.sqrt(lam)) @ V.T


@pytest.mark.parametrize(("l1", "l2", "rho"), PENALTIES[:-1])
@pytest.mark.parametrize("which", ["data", "wide"])
@pytest.mark.parametrize("intercept", [True, False])
def test_it_equals_algorithm_2_written_out(l1, l2, rho, which, intercept, request):
    source = request.getfixturevalue(which)
    X, Y = (centre(source.X), centre(source.Y)) if intercept else (source.X, source.Y.astype(float))
    model = MtSDA(l1, l2, rho, tol=1e-4, fit_intercept=intercept).fit(source.X, source.Y)
    steps = model.n_iter_
    assert steps > 1
    B, theta, objective = paper_mtsda(X, Y, symmetric_start(Y), l1, l2, rho, steps, exact=True)
    np.testing.assert_allclose(model.objective_, objective, rtol=1e-10)
    np.testing.assert_allclose(model.components_.T, B, atol=1e-8)
    np.testing.assert_allclose(model.label_scores_, theta, atol=1e-8)
    offset = source.Y.mean(axis=0) if intercept else 0.0
    scores = X @ B @ np.linalg.pinv(theta) + offset  # Eq. 11
    np.testing.assert_allclose(model.decision_function(source.X), scores, atol=1e-8)
    np.testing.assert_allclose(model.transform(source.X), X @ B, atol=1e-8)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_score_step_of_the_paper_is_equation_9(data, intercept):
    # Rows whose label sets are independent come first: the paper's start is made of them.
    order = sl.qr((data.Y - data.Y.mean(axis=0)).T, pivoting=True)[2]
    data = SimpleNamespace(X=data.X[order], Y=data.Y[order])
    X, Y = (centre(data.X), centre(data.Y)) if intercept else (data.X, data.Y.astype(float))
    start = np.sqrt(len(X)) * np.linalg.pinv(Y)[:, :5]  # Algorithm 2, step 1
    model = MtSDA(0.5, 1.0, 0.2, scores="paper", n_iter=3, tol=0, fit_intercept=intercept)
    with pytest.warns(ConvergenceWarning, match="stopped after n_iter=3"):
        model.fit(data.X, data.Y)
    B, theta, objective = paper_mtsda(X, Y, start, 0.5, 1.0, 0.2, 3, exact=False)
    np.testing.assert_allclose(model.objective_, objective, rtol=1e-10)
    np.testing.assert_allclose(model.components_.T, B, atol=1e-8)
    np.testing.assert_allclose(model.label_scores_, theta, atol=1e-8)


@pytest.mark.parametrize(("l1", "l2", "rho"), [*PENALTIES, (40.0, 0.0, 0.0), (10.0, 1.0, 1.0)])
@pytest.mark.parametrize("which", ["data", "wide"])
@pytest.mark.parametrize("n_components", [None, 2])
def test_the_objective_never_rises(l1, l2, rho, which, n_components, request):
    source = request.getfixturevalue(which)
    model = MtSDA(l1, l2, rho, n_components=n_components, tol=1e-6, n_iter=1000)
    model.fit(source.X, source.Y)
    assert (np.diff(model.objective_) <= 1e-12 * model.objective_[0]).all()
    X, Y = (centre(source.X), centre(source.Y))
    last = sda_objective(X, Y, model.components_.T, model.label_scores_, l1, l2, rho)
    assert model.objective_[-1] == pytest.approx(last, rel=1e-10)
    D = Y.T @ Y / len(Y)
    theta = model.label_scores_
    np.testing.assert_allclose(theta.T @ D @ theta, np.eye(theta.shape[1]), atol=1e-10)


def test_scores_of_the_paper_have_full_rank(rng):
    X, Y = with_equal_first_label_sets(rng)
    model = MtSDA(0.0, 1.0, scores="paper").fit(X, Y)
    assert np.linalg.matrix_rank(model.label_scores_, 1e-6) == 4
    ridge = MtSDA(0.0, 1.0).fit(X, Y)  # ridge regression, whatever theta
    np.testing.assert_allclose(model.decision_function(X), ridge.decision_function(X), atol=1e-8)


def test_undetermined_scores_do_not_depend_on_rounding(rng):
    X, Y = with_equal_first_label_sets(rng)
    model = MtSDA(5.0, 1.0, scores="paper", tol=1e-8).fit(X, Y)
    order, signs = rng.permutation(10), np.r_[-np.ones(3), np.ones(7)]
    other = MtSDA(5.0, 1.0, scores="paper", tol=1e-8).fit((X * signs)[:, order] * (1 + 1e-15), Y)
    # The elastic nets stop at 1e-9, and the score step divides by small singular values.
    np.testing.assert_allclose(other.label_scores_, model.label_scores_, atol=1e-6)
    assert np.linalg.matrix_rank(model.label_scores_, 1e-6) == 4


def test_the_score_step_of_the_paper_without_any_weights(data):
    model = MtSDA(1e6, 1.0, scores="paper").fit(data.X, data.Y)
    assert not model.components_.any()
    assert np.linalg.matrix_rank(model.label_scores_, 1e-6) == 5
    np.testing.assert_allclose(model.decision_function(data.X)[3], data.Y.mean(axis=0))


@pytest.mark.parametrize("which", ["data", "wide"])
def test_without_l1_it_is_ridge_regression(which, request):
    source = request.getfixturevalue(which)
    l2 = 2.0
    model = MtSDA(0.0, l2).fit(source.X, source.Y)
    U, intercept = ridge(source.X, source.Y.astype(float), l2 / len(source.X))
    np.testing.assert_allclose(model.coef_.T, U, atol=1e-10)
    np.testing.assert_allclose(model.intercept_, intercept, atol=1e-10)
    assert model.n_iter_ == 2  # every rotation of the scores is as good
    tiny = MtSDA(1e-9, l2).fit(source.X, source.Y)
    np.testing.assert_allclose(tiny.coef_, model.coef_, atol=1e-7)  # l1 = 1e-9 of its own


@pytest.mark.parametrize("rho", [0.5, -0.02])
@pytest.mark.parametrize("which", ["data", "wide"])
def test_without_l1_the_equicorrelation_penalty_is_generalised_ridge(rho, which, request):
    source = request.getfixturevalue(which)
    X, Y = (centre(source.X), centre(source.Y))
    model = MtSDA(0.0, 2.0, rho).fit(source.X, source.Y)
    H = X.T @ X + 2.0 * equicorrelation(X.shape[1], rho)
    np.testing.assert_allclose(model.coef_.T, np.linalg.solve(H, X.T @ Y), atol=1e-10)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("l2", [1.0, 30.0])
def test_correlated_features_have_similar_weights(rho, l2, rng):
    """Theorem 1, for features of unit length: the length that its proof uses."""
    base = rng.standard_normal((60, 4))
    X = np.repeat(base, 3, axis=1) + 0.1 * rng.standard_normal((60, 12))
    X -= X.mean(axis=0)
    X /= np.linalg.norm(X, axis=0)
    Y = (base @ rng.standard_normal((4, 3)) > 0.3).astype(int)
    model = MtSDA(0.5, l2, rho).fit(X, Y)
    length = np.linalg.norm((Y - Y.mean(axis=0)) @ model.label_scores_, axis=0)
    r = X.T @ X
    pairs = 0
    for b, t in zip(model.components_, length, strict=True):
        for i, k in itertools.combinations(np.flatnonzero(b), 2):
            if b[i] * b[k] > 0:
                bound = np.sqrt(2 * (1 - r[i, k])) / (l2 * (1 - rho))
                assert abs(b[i] - b[k]) / t <= bound + 1e-12
                pairs += r[i, k] > 0.9
    assert pairs > 5


@pytest.mark.parametrize("rho", [0.0, 0.3])
def test_one_iteration_on_classes_is_penalised_discriminant_analysis(rho, classes):
    X, y = classes
    l2 = 50.0
    model = MtSDA(0.0, l2, rho, n_iter=1).fit(X, y)
    V, expected = penalised_discriminant_analysis(X, y, l2, equicorrelation(7, rho))
    np.testing.assert_allclose(projector(model.components_.T), projector(V), atol=1e-9)
    found = model.decision_function(X)
    np.testing.assert_allclose(found, len(X) * expected, atol=1e-8)  # ours divides S_W by n
    assert (model.predict(X) == expected.argmax(axis=1)).all()
    assert model.n_components_ == 3


def test_without_penalties_it_is_linear_discriminant_analysis(classes):
    X, y = classes
    names = np.array(["d", "a", "c", "b"])[y]
    model = MtSDA(0.0, 0.0).fit(X, names)
    lda = LinearDiscriminantAnalysis(priors=np.full(4, 0.25)).fit(X, names)
    assert (model.predict(X) == lda.predict(X)).all()
    assert (model.classes_ == lda.classes_).all()
    two = MtSDA(0.0, 0.0).fit(X, y > 1)
    lda = LinearDiscriminantAnalysis(priors=[0.5, 0.5]).fit(X, y > 1)
    found, expected = two.decision_function(X), lda.decision_function(X)
    assert np.corrcoef(found, expected)[0, 1] > 1 - 1e-12
    assert ((found > 0) == (expected > 0)).all()


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csr_array, sp.csc_array, pd.DataFrame])
def test_all_forms_of_data_have_the_same_result(form, data):
    expected = MtSDA(5.0, 1.0, 0.1).fit(data.X, data.Y)
    sparse_labels = sp.csr_array(data.Y)
    X = form(data.X)
    if form is pd.DataFrame:
        X.columns = [f"f{i}" for i in range(X.shape[1])]
    model = MtSDA(5.0, 1.0, 0.1).fit(X, sparse_labels)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-9)
    found = model.predict(X)
    assert sp.issparse(found)
    assert (found.toarray() == expected.predict(data.X)).all()


@pytest.mark.parametrize("sparse", [False, True])
def test_a_weight_counts_like_copies(sparse, wide, rng):
    weights = rng.integers(0, 3, len(wide.X))
    X, Y = np.repeat(wide.X, weights, axis=0), np.repeat(wide.Y, weights, axis=0)
    form = sp.csr_array if sparse else np.asarray
    expected = MtSDA(2.0, 1.0, 0.1).fit(X, Y)
    found = MtSDA(2.0, 1.0, 0.1).fit(form(wide.X), wide.Y, weights)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-8)
    np.testing.assert_allclose(found.thresholds_, expected.thresholds_, atol=1e-8)
    y, twice = wide.Y[:, :3].argmax(axis=1), Y[:, :3].argmax(axis=1)
    expected = MtSDA(2.0, 1.0).fit(X, twice)
    found = MtSDA(2.0, 1.0).fit(form(wide.X), y, weights)
    np.testing.assert_allclose(
        found.decision_function(wide.X), expected.decision_function(wide.X), atol=1e-7
    )  # 1e-7: the metric of the class means is inverted


def test_the_order_of_labels_makes_no_difference(data):
    order = np.array([3, 1, 4, 0, 2])
    one = MtSDA(5.0, 1.0).fit(data.X, data.Y)
    other = MtSDA(5.0, 1.0).fit(data.X, data.Y[:, order])
    np.testing.assert_allclose(other.coef_, one.coef_[order], atol=1e-8)


def test_equal_labels_get_equal_scores(data):
    Y = np.column_stack([data.Y, data.Y[:, 1]])
    model = MtSDA(5.0, 1.0).fit(data.X, Y)
    scores = model.decision_function(data.X)
    np.testing.assert_allclose(scores[:, 1], scores[:, 5], atol=1e-10)
    assert model.n_components_ == 5
    assert (model.predict(data.X)[:, 1] == model.predict(data.X)[:, 5]).all()


def test_one_label_is_enough(data):
    for y in (data.Y[:, :1], data.Y[:, 0]):
        model = MtSDA(5.0, 1.0).fit(data.X, y)
        assert model.label_scores_.shape == (1, 1)
        for method in ("auto", "discrete"):
            assert (model.predict(data.X, method).ravel() == data.Y[:, 0]).mean() > 0.8


def test_labels_that_no_or_all_samples_have_are_accepted(data):
    Y = data.Y.copy()
    Y[:, 0], Y[:, 1] = 0, 1
    model = MtSDA(5.0, 1.0).fit(data.X, Y)
    scores = model.decision_function(data.X)
    np.testing.assert_allclose(scores[:, :2], Y[:, :2], atol=1e-10)
    decided = model.predict(data.X)
    assert not decided[:, 0].any()
    assert decided[:, 1].all()
    constant = MtSDA(5.0, 1.0).fit(data.X, Y[:, :2])
    assert (constant.predict(data.X) == Y[:, :2]).all()
    assert constant.n_features_selected_ == constant.n_components_ == 0


def test_one_feature_and_constant_features_are_accepted(data):
    one = MtSDA(1.0, 1.0, rho=-5.0).fit(data.X[:, :1], data.Y)  # any rho has the same penalty
    other = MtSDA(1.0, 1.0).fit(data.X[:, :1], data.Y)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-12)
    X = np.hstack([data.X, np.full((80, 1), 7.0)])
    model = MtSDA(1.0, 1.0).fit(X, data.Y)
    assert (model.coef_[:, -1] == 0).all()
    np.testing.assert_allclose(model.coef_[:, :-1], MtSDA().fit(data.X, data.Y).coef_, atol=1e-9)


def test_float32_stays_float32(data):
    model = MtSDA(5.0, 1.0).fit(data.X.astype(np.float32), data.Y)
    for value in (model.coef_, model.components_, model.intercept_, model.transform(data.X[:3])):
        assert value.dtype == np.float32
    exact = MtSDA(5.0, 1.0).fit(data.X, data.Y)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=1e-5)  # single precision


def test_rho_may_be_at_its_bounds_but_not_beyond(data):
    low = -1 / 19
    for rho in (low, 1.0):
        model = MtSDA(5.0, 1.0, rho).fit(data.X, data.Y)
        assert (np.diff(model.objective_) <= 1e-12).all()
        near = MtSDA(5.0, 1.0, rho * (1 - 1e-7)).fit(data.X, data.Y)
        np.testing.assert_allclose(model.coef_, near.coef_, atol=1e-5)  # 1e-7 away in rho
    for rho in (1.001, low * 1.001, np.nan, np.inf):
        with pytest.raises(ValueError, match="rho must"):
            MtSDA(5.0, 1.0, rho).fit(data.X, data.Y)
    with pytest.raises(ValueError, match=r"= -0\.0526316 and 1, got -0\.06"):
        MtSDA(5.0, 1.0, -0.06).fit(data.X, data.Y)


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"l1": -1}, ValueError, "l1 must be a number >= 0, got -1"),
        ({"l1": np.nan}, ValueError, "l1 must be .* got nan"),
        ({"l2": np.inf}, ValueError, "l2 must be a number >= 0, got inf"),
        ({"l2": "1"}, TypeError, "l2 must be a number"),
        ({"rho": "0"}, TypeError, "rho must be a number"),
        ({"n_components": 6}, ValueError, "n_components must be an integer between 1 and 5, got 6"),
        ({"n_components": 0}, ValueError, "an integer >= 1, got 0"),
        ({"scores": "best"}, ValueError, "scores must be one of 'exact', 'paper', got 'best'"),
        ({"n_iter": 0}, ValueError, "n_iter must be an integer >= 1, got 0"),
        ({"tol": -1e-3}, ValueError, "tol must be a number >= 0"),
        ({"threshold": "best"}, ValueError, "Unknown threshold rule 'best'"),
    ],
)
def test_wrong_parameters_raise_an_error(params, error, message, data):
    with pytest.raises(error, match=message):
        MtSDA(**params).fit(data.X, data.Y)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X, Y: (np.where(X > 1, np.nan, X), Y), "contains NaN"),
        (lambda X, Y: (X[:, 0], Y), "Expected 2D array"),
        (lambda X, Y: (X, Y[:-1]), "inconsistent numbers of samples"),
        (lambda X, Y: (X, Y * 2 - 1), r"Pass \(Y > 0\)"),
        (lambda X, Y: (X * 1e80, Y), "leave the range of floats"),
    ],
)
def test_wrong_data_raise_an_error(spoil, message, data):
    with pytest.raises(ValueError, match=message):
        MtSDA().fit(*spoil(data.X, data.Y))


def test_fewer_scores_are_the_most_predictable_ones(data):
    model = MtSDA(0.0, 1.0, n_components=2, tol=1e-12, n_iter=500).fit(data.X, data.Y)
    X, Y = (centre(data.X), centre(data.Y))
    lam, V = np.linalg.eigh(Y.T @ Y / 80)
    root = (V / np.sqrt(lam)) @ V.T
    S = root @ Y.T @ X @ np.linalg.solve(X.T @ X + np.eye(20), X.T @ Y) @ root
    best = np.linalg.eigvalsh(S)[::-1][:2].sum() / 80
    assert 2 - model.objective_[-1] == pytest.approx(best, rel=1e-6)  # the end of an iteration
    assert model.transform(data.X).shape == (80, 2)


def test_nothing_passed_in_is_changed(data):
    X, Y = data.X.copy(), data.Y.copy()
    MtSDA(5.0).fit(X, Y)
    assert (X == data.X).all()
    assert (Y == data.Y).all()
