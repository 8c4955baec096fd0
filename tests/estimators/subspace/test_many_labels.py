"""ML-LS with many labels against the fit that holds everything; what it holds; its predictions."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from eigenlabel import (
    SharedSubspaceClassifier,
    SharedSubspaceClassifierCV,
    ThresholdedClassifier,
)
from eigenlabel.estimators.meta import thresholded
from eigenlabel.estimators.subspace import many_labels
from eigenlabel.labels.codec import LabelCodec, check_sparse_labels, sparse_targets
from eigenlabel.linalg import machine, operators, top_subspace
from eigenlabel.linalg.factors import factorise as choosing
from eigenlabel.linalg.factors.covariance import CovarianceFactor
from eigenlabel.linalg.factors.gram import LinearGramFactor
from eigenlabel.linalg.factors.krylov import KrylovFactor
from eigenlabel.linalg.operators import CentredOperator
from eigenlabel.linalg.top_subspace import ExactSide, ProductSide, dense_memory, factored_memory
from eigenlabel.persistence import SavedModel, load_model, save_model

ALPHAS = [np.inf, 0.3, 0.0]
SHAPES = {"tall": (60, 9), "wide": (25, 40)}


@pytest.fixture
def many(monkeypatch):
    """Treat every number of labels as many."""
    monkeypatch.setattr(many_labels, "MANY", 1)


@pytest.fixture(params=SHAPES)
def data(request, rng):
    """Draw sparse X and labels that depend on it, one of them without and one with all samples."""
    n, d = SHAPES[request.param]
    X = sp.random_array((n, d), density=0.4, rng=rng, format="csr")
    Y = X @ rng.standard_normal((d, 12)) + rng.standard_normal((n, 12)) > 0.5
    Y[:, 3], Y[:, 5] = False, True
    return X, Y.astype(int)


def both(monkeypatch, X, Y, weights=None, **settings):
    """Fit as with few labels, and as with many."""
    few = SharedSubspaceClassifier(**settings).fit(X, Y, weights)
    monkeypatch.setattr(many_labels, "MANY", 1)
    return few, SharedSubspaceClassifier(**settings).fit(X, Y, weights)


def assert_same(few, more, X):
    k = more.n_components_
    assert k == few.n_components_
    np.testing.assert_allclose(
        more.decision_function(X), few.decision_function(X), rtol=0, atol=1e-8
    )
    np.testing.assert_allclose(more.eigenvalues_, few.eigenvalues_[:k], rtol=1e-8)
    W, V = few.eigenlabels_, more.eigenlabels_
    np.testing.assert_allclose(V @ V.T, W @ W.T, atol=1e-8)
    np.testing.assert_allclose(more.transform(X), few.transform(X), atol=1e-8)
    np.testing.assert_allclose(more.intercept_, few.intercept_, atol=1e-8)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("solver", ["gram", "covariance", "krylov"])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_fit_with_few_labels(monkeypatch, rng, data, alpha, solver, weighted):
    X, Y = data
    weights = rng.integers(0, 3, len(Y)) if weighted else None
    settings = {"alpha": alpha, "beta": 0.05, "n_components": 3, "solver": solver, "tol": 1e-13}
    few, more = both(monkeypatch, X, sp.csr_array(Y), weights, **settings)
    assert_same(few, more, X)
    np.testing.assert_allclose(more.coef_, few.coef_, atol=1e-8)
    assert hasattr(more, "label_weights_") == np.isinf(alpha)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("solver", ["auto", "krylov"])
def test_dense_data_intercepts_and_all_components(monkeypatch, data, alpha, intercept, solver):
    X, Y = data
    settings = {"alpha": alpha, "beta": 0.05, "n_components": 7, "tol": 1e-13}
    settings |= {"fit_intercept": intercept, "solver": solver}
    few, more = both(monkeypatch, X.toarray(), Y, **settings)
    assert_same(few, more, X.toarray())


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("solver", ["gram", "krylov"])
def test_kernels_equal_the_fit_with_few_labels(monkeypatch, data, alpha, solver):
    X, Y = data
    settings = {"alpha": alpha, "beta": 0.05, "n_components": 3, "kernel": "rbf", "solver": solver}
    few, more = both(monkeypatch, X, Y, gamma=0.5, tol=1e-13, **settings)
    assert_same(few, more, X)
    np.testing.assert_allclose(more.dual_coef_, few.dual_coef_, atol=1e-8)
    with pytest.raises(AttributeError, match="coef_"):
        more.coef_  # noqa: B018


def test_kernels_that_are_not_positive(monkeypatch, data):
    X, Y = data
    K = rbf_kernel(X) - 0.15 * np.eye(len(Y))
    settings = {"alpha": np.inf, "beta": 0.05, "n_components": 3, "kernel": "precomputed"}
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        few, more = both(monkeypatch, K, Y, **settings)
    assert_same(few, more, K)


@pytest.mark.parametrize("r", [0, 1, 12])
@pytest.mark.parametrize("solver", ["gram", "krylov"])
def test_extreme_dimensions_equal_the_fit_with_few_labels(monkeypatch, data, r, solver):
    X, Y = data
    settings = {"alpha": 0.1, "beta": 0.05, "n_components": r, "solver": solver, "tol": 1e-13}
    few, more = both(monkeypatch, X, Y, **settings)
    np.testing.assert_allclose(more.coef_, few.coef_, atol=1e-8)
    assert more.n_components_ <= r


@pytest.mark.parametrize("solver", ["gram", "covariance", "krylov"])
@pytest.mark.usefixtures("many")
def test_constant_features_predict_the_mean(rng, solver):
    Y = sp.csr_array(rng.random((20, 8)) < 0.3)
    model = SharedSubspaceClassifier(alpha=np.inf, n_components=2, solver=solver)
    model.fit(np.zeros((20, 3)), Y)
    assert model.n_components_ == 0
    mean = 2 * Y.toarray().mean(axis=0) - 1
    np.testing.assert_allclose(model.decision_function(np.ones((2, 3))), [mean, mean], atol=1e-12)


def test_a_vector_of_many_classes(monkeypatch, data, rng):
    X, _ = data
    y = np.array([f"c{k}" for k in rng.integers(0, 9, X.shape[0])])
    few, more = both(monkeypatch, X, y, alpha=np.inf, beta=0.1, n_components=3)
    assert hasattr(more, "label_weights_")
    assert list(more.classes_) == list(few.classes_)
    assert (more.predict(X) == few.predict(X)).all()


@pytest.mark.usefixtures("many")
def test_float32_stays_float32(data):
    X, Y = data
    model = SharedSubspaceClassifier(alpha=np.inf, n_components=3).fit(X.astype(np.float32), Y)
    assert {a.dtype for a in (model.components_, model.label_weights_, model.intercept_)} == {
        np.dtype("float32")
    }
    assert model.decision_function(X.astype(np.float32)).dtype == np.float32


@pytest.mark.usefixtures("many")
def test_label_pieces_change_nothing(monkeypatch, data):
    X, Y = data
    for alpha in (np.inf, 0.2):
        for solver in ("gram", "covariance", "krylov"):
            model = SharedSubspaceClassifier(alpha, 0.1, 3, solver=solver, tol=1e-12)
            whole = model.fit(X, Y).decision_function(X)
            with monkeypatch.context() as patch:
                patch.setattr(operators, "BLOCK_BYTES", 8 * 100)
                pieces = model.fit(X, Y).decision_function(X)
            np.testing.assert_allclose(pieces, whole, atol=1e-9)


def test_memory_decides_by_itself(data):
    X, Y = data
    settings = {"alpha": np.inf, "beta": 0.1, "n_components": 1}
    room = dense_memory(*X.shape, Y.shape[1])
    enough = SharedSubspaceClassifier(max_memory=room, **settings).fit(X, Y)
    assert not hasattr(enough, "label_weights_")
    fewer = SharedSubspaceClassifier(max_memory=room - 1, solver="krylov", **settings).fit(X, Y)
    assert hasattr(fewer, "label_weights_")


def test_few_labels_whose_factors_do_not_fit_either_are_fitted_as_before(data, monkeypatch):
    X, Y = data
    needed = factored_memory(*X.shape, 12, 10, full=True, exact=False)[0]
    model = SharedSubspaceClassifier(solver="gram", max_memory=needed / 4)
    with pytest.raises(MemoryError, match="The Gram factor needs about"):
        model.fit(X, Y)
    for module in (choosing, machine):
        monkeypatch.setattr(module, "exact_memory", lambda *a: 0.0)
    model.fit(X, Y)
    assert not hasattr(model, "label_weights_")
    assert model.eigenvalues_.shape == (12,)


def test_many_labels_whose_factors_do_not_fit_but_all_the_rest_does(monkeypatch, rng):
    X, Y = rng.standard_normal((50, 40)), rng.random((50, 12)) < 0.3
    monkeypatch.setattr(many_labels, "MANY", 12)
    monkeypatch.setattr(many_labels, "dense_memory", lambda *a: 100.0)
    for module in (choosing, machine):
        monkeypatch.setattr(module, "exact_memory", lambda *a: 100.0)
    model = SharedSubspaceClassifier(solver="gram", max_memory=101).fit(X, Y)
    assert model.eigenvalues_.shape == (12,)


@pytest.mark.usefixtures("many")
def test_wrong_parameters_raise_an_error_before_sizes_are_compared(data):
    X, Y = data
    with pytest.raises(TypeError, match="max_memory"):
        SharedSubspaceClassifier(max_memory="all").fit(X, Y)
    with pytest.raises(ValueError, match="n_components must be"):
        SharedSubspaceClassifier(n_components=13).fit(X, Y)
    with pytest.raises(TypeError, match="n_components must be"):
        SharedSubspaceClassifier(n_components="all").fit(X, Y)


@pytest.mark.usefixtures("many")
def test_the_smaller_side_or_products_are_chosen(monkeypatch, data):
    X, Y = data
    model = SharedSubspaceClassifier(alpha=np.inf, n_components=2)
    assert model.fit(X, sp.csr_array(np.tile(Y, 5))).n_iter_ == 1
    monkeypatch.setattr(many_labels, "EXACT", 5)
    assert model.fit(X, sp.csr_array(np.tile(Y, 5))).n_iter_ > 1


@pytest.mark.usefixtures("many")
def test_sizes_that_do_not_fit_raise_an_error_with_advice(rng):
    X, Y = rng.random((30, 20)), sp.csr_array(rng.random((30, 40)) < 0.2)
    needed = factored_memory(30, 20, 40, 35, full=True, exact=False)[0]
    model = SharedSubspaceClassifier(solver="krylov", max_memory=needed - 1)
    with pytest.raises(MemoryError, match=r"n_components = 35 .* alpha=inf, .* smaller"):
        model.fit(X, Y)
    model.set_params(alpha=np.inf, n_components=2).fit(X, Y)
    with pytest.raises(MemoryError, match="30 x 40 numbers"):
        model.set_params(max_memory=8 * 30 * 40 - 1).decision_function(X)
    with pytest.raises(AttributeError, match="label_weights_ are its factors"):
        model.set_params(max_memory=8 * 20 * 40 - 1).coef_  # noqa: B018
    model.predict(X)
    model.predict_top(X)


def test_nothing_of_the_forbidden_sizes_is_held(rng):
    n, d, m = 3000, 5000, 12_000  # S, the targets and the weights: 1.2 GB, 0.3 GB, 0.5 GB
    X = sp.random_array((n, d), density=0.004, rng=rng, format="csr")
    labels = rng.integers(0, m, (n, 4))
    Y = sp.csr_array((np.ones(4 * n), (np.repeat(np.arange(n), 4), labels.ravel())), (n, m)) > 0
    model = SharedSubspaceClassifier(np.inf, 0.1, 4, solver="krylov", tol=1e-2)
    tracemalloc.start()
    try:
        model.fit(X, Y)
        top = model.predict_top(X, 3)
        decided = model.predict(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 200e6  # n m bytes would be 36e6, the scores of a piece of rows are 34e6
    assert top.shape == decided.shape == (n, m)
    assert sp.issparse(decided)
    assert top.nnz == 3 * n


@pytest.mark.usefixtures("many")
def test_a_file_keeps_the_factors(data, tmp_path):
    X, Y = data
    model = SharedSubspaceClassifier(np.inf, 0.1, 3).fit(X, sp.csr_array(Y))
    names = [np.array([str(k) for k in range(size)]) for size in (X.shape[1], 12)]
    save_model(SavedModel(model, *names), tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops").model
    assert hasattr(again, "label_weights_")
    np.testing.assert_array_equal(again.label_weights_, model.label_weights_)
    np.testing.assert_array_equal(
        again.predict_top(X, 2).toarray(), model.predict_top(X, 2).toarray()
    )
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_one_fit_leaves_nothing_of_another(monkeypatch, data):
    X, Y = data
    model = SharedSubspaceClassifier(np.inf, 0.1, 3)
    few = model.fit(X, Y).decision_function(X)
    with monkeypatch.context() as patch:
        patch.setattr(many_labels, "MANY", 1)
        model.fit(X, Y)
    assert hasattr(model, "label_weights_")
    with pytest.warns(UserWarning, match="starts again from this block"):
        model.partial_fit(X, Y)
    assert model.coef_.shape == (12, X.shape[1])
    np.testing.assert_allclose(model.decision_function(X), few, atol=1e-8)
    assert not hasattr(model, "label_weights_")
    model.fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), few, atol=1e-8)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda Y: sp.csr_array(Y * 2), "found 2"),
        (
            lambda Y: sp.csr_array(np.where(Y > 0, np.nan, 0.0)),
            "NaN, labels that are not observed. This is",
        ),
        (lambda Y: sp.csr_array(np.where(Y > 0, 1, -1)), r"found -1. Pass \(Y > 0\)"),
        (lambda Y: sp.csr_array((len(Y), 0)), "no columns"),
        (lambda Y: sp.csr_array(Y[:-1]), "inconsistent numbers"),
        (lambda Y: sp.csr_array(Y.astype(complex)), "dtype complex128"),
    ],
)
@pytest.mark.usefixtures("many")
def test_wrong_labels_raise_an_error(data, make, message):
    X, Y = data
    with pytest.raises(ValueError, match=message):
        SharedSubspaceClassifier().fit(X, make(Y))


def test_sparse_labels_are_those_of_dense_ones_and_stay_as_they_are(rng):
    Y = rng.random((9, 4)) < 0.4
    rows, columns = np.nonzero(Y)
    untidy = sp.coo_array(
        (np.r_[np.ones(len(rows)), 0.0], (np.r_[rows, 0], np.r_[columns, 0])), Y.shape
    )
    untidy = sp.csr_array(untidy) if Y[0, 0] else sp.csr_array(Y.astype(float))
    before = untidy.copy()
    found = check_sparse_labels(untidy)
    assert found.dtype == bool
    np.testing.assert_array_equal(found.toarray(), Y)
    np.testing.assert_array_equal(untidy.data, before.data)
    codec, labels = LabelCodec.fit_sparse(Y)
    assert codec.sparse_type is None
    np.testing.assert_array_equal(labels.toarray(), Y)


@pytest.mark.parametrize("centre", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_targets_are_products(rng, centre, weighted):
    Y = rng.random((15, 6)) < 0.4
    w = rng.random(15) if weighted else None
    T = np.where(Y, 1.0, -1.0)
    T = T - np.average(T, axis=0, weights=w) if centre else T
    found = sparse_targets(sp.csr_array(Y), w, centre)
    V, F = rng.standard_normal((6, 3)), rng.standard_normal((15, 2))
    np.testing.assert_allclose(found.matmat(V), T @ V, atol=1e-12)
    np.testing.assert_allclose(found.rmatmat(F), T.T @ F, atol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
def test_covariance_with_sparse_labels(rng, sparse):
    X, Y = rng.standard_normal((30, 5)), rng.random((30, 7)) < 0.3
    w = rng.random(30)
    operator = CentredOperator(sp.csr_array(X) if sparse else X, w)
    labels = sparse_targets(sp.csr_array(Y), w, True)
    Xc, T = X - np.average(X, axis=0, weights=w), 2.0 * Y
    wanted = Xc.T @ (w[:, None] * (T - np.average(T, axis=0, weights=w)))
    np.testing.assert_allclose(operator.cross_covariance(labels), wanted, atol=1e-12)


def oracle(X, Y, alpha, beta):
    """S by its definition, for centred X and +-1 labels."""
    n = len(X)
    Xc, T = X - X.mean(axis=0), np.where(Y, 1.0, -1.0)
    G, C = Xc.T @ Xc / n, Xc.T @ (T - T.mean(axis=0)) / n
    A = np.linalg.solve(G + beta * np.eye(len(G)), C)
    return A.T @ (C if np.isinf(alpha) else np.linalg.solve(G + (alpha + beta) * np.eye(len(G)), C))


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("kind", ["gram", "covariance", "krylov"])
def test_eigenvectors_are_those_of_s(rng, alpha, kind):
    X, Y = rng.standard_normal((40, 15)), rng.random((40, 20)) < 0.3
    operator = CentredOperator(X)
    T = sparse_targets(sp.csr_array(Y), None, True)
    side = {
        "gram": lambda: ExactSide(LinearGramFactor(operator), T),
        "covariance": lambda: ExactSide(CovarianceFactor(operator), T),
        "krylov": lambda: ProductSide(KrylovFactor(operator, tol=1e-13), T),
    }[kind]()
    S = oracle(X, Y, alpha, 0.1)
    found = side.top(alpha, 0.1, 4)
    np.testing.assert_allclose(S @ found.W, found.W * found.eigenvalues, atol=1e-10)
    np.testing.assert_allclose(found.eigenvalues, np.linalg.eigvalsh(S)[::-1][:4], rtol=1e-10)
    np.testing.assert_allclose(found.W.T @ found.W, np.eye(4), atol=1e-10)


@pytest.mark.parametrize("labels", ["few", "many"])
@pytest.mark.parametrize("alpha", [np.inf, 1e-2])
@pytest.mark.parametrize("solver", ["covariance", "krylov"])
@pytest.mark.filterwarnings("ignore:The eigenvectors of S")
def test_no_more_components_than_x_has_rank(rng, monkeypatch, labels, alpha, solver):
    X = rng.standard_normal((60, 6)) @ rng.standard_normal((6, 20))
    Y = (rng.random((60, 100)) < 0.1).astype(int)
    if labels == "many":
        monkeypatch.setattr(many_labels, "MANY", 1)
    model = SharedSubspaceClassifier(alpha, 1e-4, 30, solver=solver).fit(X, Y)
    assert model.n_components_ == 6
    assert model.components_.shape == (6, 20)
    assert model.eigenlabels_.shape == (100, 6)
    if hasattr(model, "label_weights_"):
        assert model.label_weights_.shape == (6, 100)
        assert model.eigenvalues_.shape == (6,)
    assert model.transform(X).shape == (60, 6)
    assert len(model.get_feature_names_out()) == 6


@pytest.mark.usefixtures("many")
def test_solves_that_stop_early_warn_once(data):
    X, Y = data
    model = SharedSubspaceClassifier(np.inf, 1e-6, 2, solver="krylov", max_iter=1)
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, Y)
    assert len(caught) == 1
    assert "residual" in str(caught[0].message)


@pytest.mark.usefixtures("many")
def test_eigenvectors_that_are_not_found_warn(monkeypatch, data):
    X, Y = data
    eigsh = top_subspace.eigsh
    monkeypatch.setattr(
        top_subspace, "eigsh", lambda *a, **k: eigsh(*a, **{**k, "maxiter": 1, "ncv": 4})
    )
    model = SharedSubspaceClassifier(np.inf, 1e-3, 3, solver="krylov", tol=1e-12)
    with pytest.warns(ConvergenceWarning, match="of 3 eigenvectors"):
        model.fit(X, Y)
    assert model.n_components_ < 3


@pytest.mark.usefixtures("many")
def test_inaccurate_eigenvectors_warn(monkeypatch, data):
    X, Y = data
    eigsh = top_subspace.eigsh

    def off(*a, **k):
        values, W = eigsh(*a, **k)
        return values * 1.01, W

    monkeypatch.setattr(top_subspace, "eigsh", off)
    model = SharedSubspaceClassifier(np.inf, 0.1, 3, solver="krylov")
    with pytest.warns(ConvergenceWarning, match=r"residual of 0\.0"):
        model.fit(X, Y)


@pytest.mark.usefixtures("many")
def test_tuning_with_many_labels_raises_an_error_with_advice(data):
    X, Y = data
    with pytest.raises(ValueError, match="SharedSubspaceClassifier"):
        SharedSubspaceClassifierCV().fit(X, sp.csr_array(Y))


@pytest.mark.parametrize("strategy", ["top", "zero"])
def test_thresholds_without_scores_leave_labels_sparse(monkeypatch, data, strategy):
    X, Y = data
    inner = SharedSubspaceClassifier(np.inf, 0.1, 3)
    dense = ThresholdedClassifier(inner, strategy=strategy).fit(X, Y)
    monkeypatch.setattr(thresholded, "MANY", 12)
    monkeypatch.setattr(operators, "BLOCK_BYTES", 8 * 12 * 7)
    model = ThresholdedClassifier(inner, strategy=strategy).fit(X, sp.csr_array(Y))
    found = model.predict(X)
    assert isinstance(found, sp.csr_array)
    assert not hasattr(model, "oof_scores_")
    np.testing.assert_array_equal(found.toarray(), dense.predict(X))
    np.testing.assert_array_equal(model.thresholds_, dense.thresholds_)


def test_rules_whose_scores_do_not_fit_in_memory_raise_an_error(monkeypatch, data):
    X, Y = data
    monkeypatch.setattr(thresholded, "MANY", 12)
    model = ThresholdedClassifier(SharedSubspaceClassifier(np.inf, 0.1, 3), cv=2)
    model.fit(X, sp.csr_array(Y))
    monkeypatch.setattr(thresholded, "memory_limit", lambda: 8.0 * Y.size)
    with pytest.raises(MemoryError, match=r"'mixed' compares .* x 12 numbers, .*strategy='top'"):
        model.fit(X, sp.csr_array(Y))
    assert (
        model.set_params(strategy="top").fit(X, sp.csr_array(Y)).predict(X.toarray().tolist()).nnz
    )
