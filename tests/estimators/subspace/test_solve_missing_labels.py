"""NaN in y: what ML-LS and all around it make of labels that are not observed."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.metrics import make_scorer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, cross_validate

import eigenlabel
from eigenlabel import (
    SharedSubspaceClassifier,
    SharedSubspaceClassifierCV,
    metrics,
)
from eigenlabel.datasets import DataError, from_frame, iterate, load, make_shared_subspace, save
from eigenlabel.estimators.subspace import solve as module
from eigenlabel.model_selection import MultilabelStratifiedKFold
from eigenlabel.model_selection.scorers import COMPUTABLE
from eigenlabel.thresholds import Mixed, get_rule
from helpers import masked_ml_ls, masked_objective

BOTH = [SharedSubspaceClassifier, SharedSubspaceClassifierCV]


def blank(Y, M):
    return np.where(M, Y, np.nan)


@pytest.fixture
def data():
    return make_shared_subspace(80, 8, 5, n_components=2, noise=0.7, random_state=1)


@pytest.fixture
def M(data, rng):
    """Observed cells; no two labels on the same samples."""
    mask = rng.random(data.Y.shape) < np.array([0.3, 0.5, 0.7, 0.9, 0.6])
    mask[:4] = True
    mask[7] = False
    return mask


@pytest.mark.parametrize("solver", ["gram", "covariance", "krylov"])
@pytest.mark.parametrize("alpha", [0.0, 0.1, np.inf])
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_are_those_of_the_definition(data, M, rng, solver, alpha, weighted):
    w = rng.integers(0, 3, 80).astype(float) if weighted else None
    model = SharedSubspaceClassifier(alpha, 0.03, 2, solver=solver, tol=1e-13)
    model.fit(data.X, blank(data.Y, M), sample_weight=w)
    T = 2.0 * data.Y - 1
    U, b = masked_ml_ls(data.X, T, M if w is None else M & (w > 0)[:, None], alpha, 0.03, 2, w)
    # The oracle takes the limit of growing alpha at 1e8.
    atol = 1e-6 if np.isinf(alpha) else 1e-8
    np.testing.assert_allclose(model.coef_.T, U, atol=atol)
    np.testing.assert_allclose(model.intercept_, b, atol=atol)


def test_kernels_are_linear_in_their_features(data, M):
    K = rbf_kernel(data.X, gamma=0.1)
    lam, Q = np.linalg.eigh(K)
    Z = Q * np.sqrt(np.maximum(lam, 0))
    model = SharedSubspaceClassifier(0.1, 0.03, 2, kernel="rbf", gamma=0.1)
    found = model.fit(data.X, blank(data.Y, M)).decision_function(data.X)
    U, b = masked_ml_ls(Z, 2.0 * data.Y - 1, M, 0.1, 0.03, 2)
    np.testing.assert_allclose(found, Z @ U + b, atol=1e-8)
    given = SharedSubspaceClassifier(0.1, 0.03, 2, kernel="precomputed").fit(K, blank(data.Y, M))
    np.testing.assert_allclose(given.decision_function(K), found, atol=1e-8)
    np.testing.assert_allclose(model.transform(data.X).mean(axis=0), 0, atol=1e-8)


@pytest.mark.parametrize("estimator", BOTH)
def test_a_y_of_floats_without_nan_changes_nothing(estimator, data):
    plain, floats = (estimator().fit(data.X, Y) for Y in (data.Y, data.Y.astype(float)))
    for name in ("coef_", "intercept_", "eigenlabels_", "components_"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(floats, name))


@pytest.mark.parametrize("solver", ["gram", "covariance"])
def test_one_mask_for_all_labels_is_a_fit_to_those_samples(data, solver):
    rows = np.arange(80) % 3 > 0
    Y = blank(data.Y, np.repeat(rows[:, None], 5, axis=1))
    whole = SharedSubspaceClassifier(0.1, 0.01, 2, solver=solver).fit(data.X, Y)
    part = SharedSubspaceClassifier(0.1, 0.01, 2, solver=solver).fit(data.X[rows], data.Y[rows])
    np.testing.assert_allclose(whole.coef_, part.coef_, atol=1e-8)
    np.testing.assert_allclose(whole.intercept_, part.intercept_, atol=1e-8)
    np.testing.assert_allclose(whole.eigenvalues_, part.eigenvalues_, atol=1e-8)


def minimum(X, T, M, alpha, beta, r, start):
    """Minimise the objective numerically from given weights."""

    def function(u):
        value, gradient = masked_objective(X, T, M, u.reshape(start.shape), alpha, beta, r)
        return value, gradient.ravel()

    options = {"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-16, "gtol": 1e-11}
    found = minimize(function, start.ravel(), jac=True, method="L-BFGS-B", options=options)
    return found.fun, found.x.reshape(start.shape)


@pytest.mark.parametrize(
    ("alpha", "r", "common"),
    [(0.0, 2, False), (0.3, 0, False), (0.3, 5, False), (0.3, 2, True), (3.0, 1, True)],
)
def test_where_the_closed_form_is_exact_it_is_the_minimum(data, M, rng, alpha, r, common):
    """Exact for r = 0, r = m and alpha = 0, whatever the masks, and for one mask for all labels."""
    M = np.repeat(M[:, :1], 5, axis=1) if common else M
    T = 2.0 * data.Y - 1
    model = SharedSubspaceClassifier(alpha, 0.05, r).fit(data.X, blank(data.Y, M))
    value = masked_objective(data.X, T, M, model.coef_.T, alpha, 0.05, r)[0]
    best, U = minimum(data.X, T, M, alpha, 0.05, r, rng.standard_normal((8, 5)))
    assert value == pytest.approx(best, rel=1e-8)
    # Weights are known to the square root of what the objective is.
    np.testing.assert_allclose(model.coef_.T, U, atol=1e-4)


def test_elsewhere_it_is_near_the_minimum_but_not_there(data, M):
    T = 2.0 * data.Y - 1
    model = SharedSubspaceClassifier(0.3, 0.05, 2).fit(data.X, blank(data.Y, M))
    value = masked_objective(data.X, T, M, model.coef_.T, 0.3, 0.05, 2)[0]
    best, _ = minimum(data.X, T, M, 0.3, 0.05, 2, model.coef_.T)
    assert best < value < 1.05 * best


@pytest.mark.parametrize("estimator", BOTH)
def test_samples_and_labels_that_are_never_observed_change_nothing(estimator, data, M):
    """Samples and labels that are never observed change nothing for the others."""
    Y = blank(data.Y, M)
    model = estimator(n_components=2)
    rows = np.r_[np.arange(80), np.arange(20)]
    taller = np.vstack([Y, np.full((20, 5), np.nan)])
    wider = np.column_stack([Y, np.full(80, np.nan)])
    plain = model.fit(data.X, Y).decision_function(data.X)
    if estimator is SharedSubspaceClassifier:  # folds depend on the number of samples
        found = model.fit(data.X[rows], taller).decision_function(data.X)
        np.testing.assert_allclose(found, plain, atol=1e-8)
    model.fit(data.X, wider)
    np.testing.assert_allclose(model.decision_function(data.X)[:, :5], plain, atol=1e-8)
    np.testing.assert_allclose(model.decision_function(data.X)[:, 5], -1)
    assert not model.predict(data.X)[:, 5].any()
    if estimator is SharedSubspaceClassifierCV:
        assert model.thresholds_[5] == np.inf


@pytest.mark.parametrize("estimator", BOTH)
def test_labels_observed_as_one_class_only(estimator, data, M):
    Y = blank(data.Y, M)
    Y[:, 0] = np.where(M[:, 0], 0, np.nan)
    Y[:, 1] = np.where(M[:, 1], 1, np.nan)
    model = estimator().fit(data.X, Y)
    scores, decided = model.decision_function(data.X), model.predict(data.X)
    np.testing.assert_allclose(scores[:, 0], -1, atol=1e-12)
    np.testing.assert_allclose(scores[:, 1], 1, atol=1e-12)
    assert not decided[:, 0].any()
    assert decided[:, 1].all()


def test_label_order_and_copies_of_samples_do_not_matter(data, M, rng):
    Y, order = blank(data.Y, M), rng.permutation(5)
    plain = SharedSubspaceClassifier(0.1, 0.01, 2).fit(data.X, Y)
    turned = SharedSubspaceClassifier(0.1, 0.01, 2).fit(data.X, Y[:, order])
    np.testing.assert_allclose(turned.coef_, plain.coef_[order], atol=1e-8)
    times = rng.integers(0, 3, 80)
    weighted = SharedSubspaceClassifier(0.1, 0.01, 2).fit(data.X, Y, sample_weight=times)
    copies = np.repeat(np.arange(80), times)
    repeated = SharedSubspaceClassifier(0.1, 0.01, 2).fit(data.X[copies], Y[copies])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-8)
    np.testing.assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-8)


def masked(Y):
    """Hide what is NaN, above a value that is no label."""
    return np.ma.array(np.nan_to_num(Y, nan=9).astype(int), mask=np.isnan(Y))


def nullable(Y):
    return pd.DataFrame(Y, columns=list("abcde")).astype("Int64")


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize(
    "form",
    [
        lambda Y: Y.tolist(),
        lambda Y: pd.DataFrame(Y, columns=list("abcde")),
        nullable,
        lambda Y: nullable(Y).astype("boolean"),
        lambda Y: np.where(np.isnan(Y), None, Y),
        sp.csr_array,
        sp.csc_matrix,
        lambda Y: Y.astype(np.float32),
        masked,
    ],
)
def test_every_form_of_y_has_the_same_model(estimator, form, data, M):
    Y = blank(data.Y, M)
    given = form(Y)
    before = given.copy() if hasattr(given, "copy") else list(given)
    plain, model = estimator().fit(data.X, Y), estimator().fit(data.X, given)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    decided = model.predict(data.X)
    if sp.issparse(given):
        assert type(decided) is type(given)
        decided = decided.toarray()
        np.testing.assert_array_equal(before.toarray(), given.toarray())
    np.testing.assert_array_equal(decided, plain.predict(data.X))
    names = list("abcde") if hasattr(given, "columns") else range(5)
    assert list(model.classes_) == list(names)
    assert model.score(data.X, given) == metrics.accuracy(Y, plain.predict(data.X))


@pytest.mark.parametrize(
    "form", [np.array, pd.DataFrame, lambda Y: np.where(np.isnan(Y), None, Y), masked]
)
def test_one_label_is_fitted_to_its_observed_samples(form, data, M):
    Y = blank(data.Y, M)[:, :1]
    o = M[:, 0]
    model = SharedSubspaceClassifier(0.1, 0.1, 1).fit(data.X, form(Y))
    part = SharedSubspaceClassifier(0.1, 0.1, 1).fit(data.X[o], data.Y[o, :1])
    np.testing.assert_allclose(model.coef_, part.coef_, atol=1e-8)
    assert model.predict(data.X).shape == (80, 1)


def test_single_precision_stays_single(data, M):
    Y = blank(data.Y, M)
    model = SharedSubspaceClassifier().fit(data.X.astype(np.float32), Y)
    assert model.coef_.dtype == model.intercept_.dtype == np.float32
    double = SharedSubspaceClassifier().fit(data.X, Y)
    np.testing.assert_allclose(model.coef_, double.coef_, atol=1e-4)  # digits of single precision


@pytest.mark.parametrize("solver", ["gram", "covariance", "krylov"])
@pytest.mark.parametrize("alpha", [0.1, np.inf])
def test_held_out_scores_are_those_of_refits(data, M, solver, alpha):
    Y, cv = blank(data.Y, M), KFold(4, shuffle=True, random_state=0)
    model = SharedSubspaceClassifierCV([alpha], [0.03], 2, cv=cv, solver=solver, tol=1e-13)
    model.fit(data.X, Y)
    for train, test in cv.split(data.X):
        part = SharedSubspaceClassifier(alpha, 0.03, 2).fit(data.X[train], Y[train])
        np.testing.assert_allclose(
            model.oof_scores_[test], part.decision_function(data.X[test]), atol=1e-8
        )
    whole = SharedSubspaceClassifier(alpha, 0.03, 2).fit(data.X, Y)
    np.testing.assert_allclose(model.coef_, whole.coef_, atol=1e-8)
    decided = model.oof_scores_ > model.thresholds_
    assert model.best_score_ == pytest.approx(metrics.f1_macro(Y, decided), rel=1e-12)
    np.testing.assert_allclose(model.thresholds_, Mixed().fit(model.oof_scores_, Y))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_leaving_one_out_equals_refitting(data, M, kernel):
    X, Y = data.X[:25], blank(data.Y, M)[:25]
    settled = {"kernel": kernel, "gamma": 0.1}  # None depends on all samples
    model = SharedSubspaceClassifierCV([0.1], [0.1], 2, cv=LeaveOneOut(), **settled).fit(X, Y)
    for i in range(0, 25, 6):
        rest = np.delete(np.arange(25), i)
        part = SharedSubspaceClassifier(0.1, 0.1, 2, **settled).fit(X[rest], Y[rest])
        found = part.decision_function(X[i : i + 1])[0]
        np.testing.assert_allclose(model.oof_scores_[i], found, atol=1e-8)


def test_a_kernel_matrix_has_the_same_grid_as_its_features(data, M):
    Y, grid = blank(data.Y, M), {"alphas": [0.1, np.inf], "betas": [0.01, 1.0], "cv": 3}
    linear = SharedSubspaceClassifierCV(**grid).fit(data.X, Y)
    kernel = SharedSubspaceClassifierCV(**grid, kernel="precomputed").fit(data.X @ data.X.T, Y)
    np.testing.assert_allclose(kernel.score_grid_, linear.score_grid_, atol=1e-8)
    np.testing.assert_allclose(kernel.oof_scores_, linear.oof_scores_, atol=1e-8)


@pytest.mark.parametrize("estimator", BOTH)
def test_a_single_observed_cell_is_enough(estimator, data):
    Y = np.full((80, 5), np.nan)
    Y[3, 2] = 1
    with pytest.warns(UserWarning, match="All observed cells of y are 1"):
        model = estimator().fit(data.X, Y)
    np.testing.assert_array_equal(model.decision_function(data.X[:2]), [[-1, -1, 1, -1, -1]] * 2)
    np.testing.assert_array_equal(model.predict(data.X[:1]), [[0, 0, 1, 0, 0]])


def test_samples_without_weight_are_in_no_fold(data, M, rng):
    Y, w = blank(data.Y, M), rng.integers(0, 3, 80).astype(float)
    model = SharedSubspaceClassifierCV([0.1], [0.1], 2, cv=3).fit(data.X, Y, sample_weight=w)
    assert np.isnan(model.oof_scores_[w == 0]).all()
    kept = w > 0
    rest = SharedSubspaceClassifierCV([0.1], [0.1], 2, cv=3)
    rest.fit(data.X[kept], Y[kept], sample_weight=w[kept])
    np.testing.assert_allclose(model.coef_, rest.coef_, atol=1e-8)


@pytest.mark.parametrize("scoring", COMPUTABLE)
def test_every_metric_scores_the_grid_on_observed_cells(data, M, scoring):
    Y = blank(data.Y, M)
    model = SharedSubspaceClassifierCV([0.1], [0.1], 2, cv=3, scoring=scoring).fit(data.X, Y)
    metric = metrics.METRICS[scoring]
    given = model.oof_scores_
    given = given if metric.reads == "scores" else given > model.thresholds_
    sign = 1 if metric.greater_is_better else -1
    assert model.best_score_ == pytest.approx(sign * metric.function(Y, given), rel=1e-12)


def test_metrics_of_probabilities_raise_an_error(data, M):
    model = SharedSubspaceClassifierCV([0.1], [0.1], 2, cv=3, scoring="log_loss")
    with pytest.raises(ValueError, match="scoring='log_loss' needs probabilities"):
        model.fit(data.X, blank(data.Y, M))


def test_scorers_of_scikit_learn_raise_an_error_and_callables_are_accepted(data, M):
    Y = blank(data.Y, M)
    with pytest.raises(ValueError, match="scoring='jaccard_samples' does not support"):
        SharedSubspaceClassifierCV(cv=3, scoring="jaccard_samples").fit(data.X, Y)
    scorer = make_scorer(metrics.auc_macro, response_method="decision_function")
    called = SharedSubspaceClassifierCV(cv=3, scoring=scorer).fit(data.X, Y)
    named = SharedSubspaceClassifierCV(cv=3, scoring="auc_macro").fit(data.X, Y)
    np.testing.assert_allclose(called.score_grid_, named.score_grid_)


def test_thresholds_on_training_scores(data, M):
    Y = blank(data.Y, M)
    model = SharedSubspaceClassifierCV(cv=3, threshold="f1", threshold_on="training")
    model.fit(data.X, Y)
    expected = get_rule("f1").fit(model.decision_function(data.X), Y)
    np.testing.assert_array_equal(model.thresholds_, expected)


@pytest.mark.parametrize("cv", [MultilabelStratifiedKFold(3), KFold(3)])
def test_model_selection_of_scikit_learn(data, M, cv):
    Y = blank(data.Y, M)
    scoring = {
        "f1": make_scorer(metrics.f1_macro),
        "auc": make_scorer(metrics.auc_macro, response_method="decision_function"),
    }
    model = SharedSubspaceClassifier(0.1, 0.1, 2)
    found = cross_validate(model, data.X, Y, cv=cv, scoring=scoring, error_score="raise")
    train, test = next(cv.split(data.X, Y))
    scores = model.fit(data.X[train], Y[train]).decision_function(data.X[test])
    assert found["test_auc"][0] == metrics.auc_macro(Y[test], scores)
    assert found["test_f1"][0] == metrics.f1_macro(Y[test], scores > 0)
    search = GridSearchCV(model, {"beta": [0.01, 1.0]}, cv=cv, error_score="raise")
    assert 0 <= search.fit(data.X, Y).best_score_ <= 1


def test_splits_spread_observed_positives(data, M):
    Y = blank(data.Y, M)
    folds = [test for _, test in MultilabelStratifiedKFold(3).split(data.X, Y)]
    filled = [test for _, test in MultilabelStratifiedKFold(3).split(data.X, np.nan_to_num(Y))]
    for a, b in zip(folds, filled, strict=True):
        np.testing.assert_array_equal(a, b)


def test_too_many_patterns_go_to_products(data, M, monkeypatch):
    Y = blank(data.Y, M)
    exact = SharedSubspaceClassifier(tol=1e-12).fit(data.X, Y)
    assert exact.n_iter_ == 1
    monkeypatch.setattr(module, "EXACT_WORK", 4 * 8.0**3)
    products = SharedSubspaceClassifier(tol=1e-12).fit(data.X, Y)
    assert products.n_iter_ > 1
    np.testing.assert_allclose(products.coef_, exact.coef_, atol=1e-8)
    kernel = SharedSubspaceClassifier(kernel="rbf").fit(data.X, Y)
    assert kernel.n_iter_ == 1
    monkeypatch.setattr(module, "EXACT_WORK", 5 * 8.0**3)
    assert SharedSubspaceClassifier().fit(data.X, Y).n_iter_ == 1


def test_products_of_kernels_raise_an_error(data, M):
    model = SharedSubspaceClassifier(kernel="rbf", solver="krylov")
    with pytest.raises(ValueError, match=r"does not work with labels that are not observed .*MEKA"):
        model.fit(data.X, blank(data.Y, M))


@pytest.mark.parametrize("estimator", BOTH)
@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.full((80, 5), np.nan), "y is NaN everywhere"),
        (np.full((80, 1), np.nan), "y is NaN everywhere"),
        (np.r_[np.nan, np.ones(79)], "contains NaN"),
        (np.where(np.eye(80, 5) > 0, np.nan, -1.0), r"Pass np.where\(np.isnan\(Y\), Y, Y > 0\)"),
        (np.where(np.eye(80, 5) > 0, np.nan, 2.0), "found 2.0"),
        (np.where(np.eye(80, 5) > 0, np.inf, 1.0), "found inf"),
        (np.where(np.eye(80, 5) > 0, None, "a"), "found 'a'"),
    ],
)
def test_values_that_are_not_labels_raise_an_error(estimator, y, message, data):
    with pytest.raises(ValueError, match=message):
        estimator().fit(data.X, y)


@pytest.mark.parametrize("estimator", BOTH)
def test_weights_of_samples_without_labels_only_raise_an_error(estimator, data):
    M = np.ones(data.Y.shape, dtype=bool)
    M[:40] = False
    weights = (np.arange(80) < 40).astype(float)
    with pytest.raises(ValueError, match="NaN wherever sample_weight is positive"):
        estimator().fit(data.X, blank(data.Y, M), weights)


OTHERS = [
    name
    for name in eigenlabel.__all__
    if hasattr(getattr(eigenlabel, name), "fit")
    and isinstance(getattr(eigenlabel, name), type)
    # These do not use a label matrix.
    and name
    not in ("PCA", "LPP", "MEKA", "HomogeneityAnalysis", "MultisetCCA", *[c.__name__ for c in BOTH])
    # They accept what their classifiers accept.
    and name not in ("ThresholdedClassifier", "MultilabelBlend")
]


@pytest.mark.parametrize("name", OTHERS)
def test_other_estimators_raise_an_error_that_names_those_that_accept_nan(name, data, M):
    thing = getattr(eigenlabel, name)
    # KernelSum reads labels for some weights only, and one wraps a classifier.
    first = {"KernelSum": "alignment", "ProjectedClassifierCV": SharedSubspaceClassifier()}
    model = thing(first[name]) if name in first else thing()
    with pytest.raises(ValueError, match="fit of SharedSubspaceClassifier"):
        model.fit(data.X, blank(data.Y, M))


def test_a_mask_hides_labels_wherever_nan_does(data, M):
    Y, hidden = blank(data.Y, M), masked(blank(data.Y, M))
    assert metrics.f1_micro(hidden, data.Y) == metrics.f1_micro(Y, data.Y)
    assert metrics.accuracy(np.ma.array(data.Y), data.Y) == 1
    for call in (
        lambda: metrics.f1_micro(data.Y, hidden),
        lambda: eigenlabel.MLkNN().fit(data.X, hidden),
        lambda: SharedSubspaceClassifier().partial_fit(data.X, hidden),
        lambda: SharedSubspaceClassifier().fit(np.ma.array(data.X, mask=data.X > 1), data.Y),
        lambda: SharedSubspaceClassifier().fit(data.X, masked(Y)[:, 0]),
        lambda: metrics.ranking_loss(data.Y, np.ma.array(data.Y + 0.5, mask=~M)),
    ):
        with pytest.raises(ValueError, match=r"contains NaN|must be finite, found nan"):
            call()


@pytest.mark.parametrize("estimator", BOTH)
def test_nan_in_blocks_raises_an_error(estimator, data, M):
    Y = blank(data.Y, M)
    model = estimator().partial_fit(data.X, data.Y)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match=r"Block 2: y contains NaN, at .* every label"):
        model.partial_fit(data.X, Y)
    np.testing.assert_array_equal(model.coef_, before)
    with pytest.raises(ValueError, match="Block 1: y contains NaN"):
        estimator().partial_fit(data.X, Y)


def test_nan_in_partitions_raises_an_error(data, M):
    with pytest.raises(ValueError, match="Partition 1: y contains NaN"):
        eigenlabel.distributed.fit(SharedSubspaceClassifier(), data.X, blank(data.Y, M))


def test_leaving_out_beats_calling_absent():
    """Half of the cells are unknown; the labels of test samples are known."""
    data = make_shared_subspace(1500, 40, 20, n_components=3, noise=1.0, random_state=3)
    train, test = slice(300), slice(300, 1500)
    M = np.random.default_rng(0).random(data.Y[train].shape) < 0.5
    given = {"masked": blank(data.Y[train], M), "absent": np.where(M, data.Y[train], 0)}
    found = {
        name: SharedSubspaceClassifierCV(n_components=3, cv=3).fit(data.X[train], Y)
        for name, Y in given.items()
    }
    for metric in ("f1_macro", "f1_micro", "auc_macro"):
        figures = {
            name: metrics.evaluate(
                data.Y[test], model.decision_function(data.X[test]), model.predict(data.X[test])
            )[metric]
            for name, model in found.items()
        }
        assert figures["masked"] > figures["absent"] + 0.01


CSV = "size,a,b\n1,0,1\n2,,0\n3,1,\n"
JSON = '{"size": 1, "a": 0, "b": 1}\n{"size": 2, "b": 0}\n{"size": 3, "a": 1, "b": null}\n'
ARFF = "@relation 'x: -C 2'\n@attribute a {0,1}\n@attribute b {0,1}\n@attribute size real\n@data\n"
FILES = {
    "a.csv": (CSV, {"labels": ["a", "b"]}),
    "question.csv": (CSV.replace("2,,", "2,?,"), {"labels": ["a", "b"]}),
    "a.jsonl": (JSON, {"labels": ["a", "b"]}),
    "dense.arff": (ARFF + "0,1,1\n?,0,2\n1,?,3\n", {}),
    "sparse.arff": (ARFF + "{1 1,2 1}\n{0 ?,2 2}\n{0 1,1 ?,2 3}\n", {}),
}


@pytest.mark.parametrize("name", list(FILES))
def test_files_with_labels_that_are_not_there(tmp_path, name):
    text, options = FILES[name]
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(DataError, match=r"must be 0 or 1, found .*pass missing_labels='nan'"):
        load(path, **options)
    with pytest.raises(ValueError, match="missing_labels must be one of 'error', 'nan'"):
        load(path, **options, missing_labels="zero")
    read = load(path, **options, missing_labels="nan")
    expected = [[0, 1], [np.nan, 0], [1, np.nan]]
    np.testing.assert_array_equal(read.Y.toarray(), expected)
    np.testing.assert_array_equal(np.asarray(read.subset(samples=[1, 2]).Y.todense()), expected[1:])
    pieces = list(iterate(path, rows=2, **options, missing_labels="nan"))
    np.testing.assert_array_equal(np.vstack([p.Y.toarray() for p in pieces]), expected)
    save(read, tmp_path / "b.npz")
    np.testing.assert_array_equal(load(tmp_path / "b.npz").Y.toarray(), expected)
    with pytest.raises(DataError, match=r"found nan; save labels that were not observed as \.npz"):
        save(read, tmp_path / "b.csv")
    SharedSubspaceClassifier().fit(read.X, read.Y)


def test_frames_with_labels_that_are_not_there():
    frame = pd.DataFrame({"size": [1, 2], "a": [0, None], "b": [pd.NA, 1]})
    found = from_frame(frame, labels=["a", "b"], missing_labels="nan").Y
    np.testing.assert_array_equal(found.toarray(), [[0, np.nan], [np.nan, 1]])


@pytest.mark.parametrize("wrap", [np.array, sp.csr_array])
def test_nan_in_reports_raises_an_error(wrap, data, M):
    decided = np.zeros((80, 5), dtype=int)
    with pytest.raises(ValueError, match=r"Y contains NaN.* fit of SharedSubspaceClassifier"):
        eigenlabel.report.per_label(wrap(blank(data.Y, M)), decided, list("abcde"))
