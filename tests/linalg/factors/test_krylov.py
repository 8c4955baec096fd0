"""Krylov solves against the exact factors, over spectra, shapes, weights and kernels."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from eigenlabel import SharedSubspaceClassifier, SharedSubspaceClassifierCV
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.linalg.factors import krylov
from eigenlabel.linalg.factors.covariance import CovarianceFactor
from eigenlabel.linalg.factors.krylov import KrylovFactor
from eigenlabel.linalg.operators import CentredOperator
from helpers import evaluate_folds, ridge, true_residuals, with_spectrum

SHIFTS = [1e-3, 10.0, 0.1, 1e-3]  # neither sorted nor distinct


def kernel(A, B):
    return rbf_kernel(A, B, gamma=0.2)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("centre", [False, True])
def test_solutions_are_ridge_regressions(X, rng, sparse, weighted, centre):
    T = rng.standard_normal((len(X), 3))
    w = rng.uniform(0.5, 2, len(X)) if weighted else None
    operator = CentredOperator(sp.csr_array(X) if sparse else X, w, centre)
    factor = KrylovFactor(operator, centre, tol=1e-12)
    solution = factor.solve(T, SHIFTS)
    found = solution.coefficients
    for s, U in zip(SHIFTS, found, strict=True):
        np.testing.assert_allclose(U, ridge(X, T, s, w, centre)[0], atol=1e-8)
    assert solution.residuals.shape == (4, 3)
    assert solution.residuals.max() <= 1e-12


@pytest.mark.parametrize("shape", [(80, 20), (20, 80), (40, 40)])
@pytest.mark.parametrize("condition", [1e1, 1e3, 1e5])
@pytest.mark.parametrize("tol", [1e-4, 1e-10])
def test_the_asked_residual_is_met_and_stated(rng, shape, condition, tol):
    X, T = with_spectrum(*shape, condition, rng), rng.standard_normal((shape[0], 4))
    factor = KrylovFactor(CentredOperator(X), tol=tol, max_iter=5000)
    shifts = [1e-8, 1e-5, 1e-2, 1.0]
    solution = factor.solve(T, shifts)
    found = solution.coefficients
    residuals = true_residuals(factor, T, shifts, found)
    assert residuals.max() <= 1.1 * tol
    assert solution.residuals.max() <= tol
    assert (residuals <= 1.1 * solution.residuals + 1e-13).all()
    exact = CovarianceFactor(CentredOperator(X)).solve(T, shifts).coefficients
    n, largest = shape[0], 1.0
    for s, x, y in zip(shifts, found, exact, strict=True):
        bound = 1.1 * tol * (largest + n * s) / (n * s)  # smallest eigenvalue taken as 0
        assert np.linalg.norm(x - y) <= max(bound, 1e-9) * np.linalg.norm(y)


@pytest.mark.parametrize("name", ["tall", "deficient", "duplicates"])
def test_shift_zero_is_of_minimum_norm(rng, name):
    from conftest import make_matrix

    X = make_matrix(name, rng)
    T = rng.standard_normal((len(X), 2))
    found = KrylovFactor(CentredOperator(X), tol=1e-13).solve(T, [0.0, 1e-2]).coefficients
    np.testing.assert_allclose(found[0], ridge(X, T, 0)[0], atol=1e-8)
    np.testing.assert_allclose(found[1], ridge(X, T, 1e-2)[0], atol=1e-8)


def test_all_shifts_take_the_products_of_one(rng, monkeypatch):
    X, T = rng.standard_normal((100, 30)), rng.standard_normal((100, 5))
    products = []
    matmat = CentredOperator.matmat
    monkeypatch.setattr(CentredOperator, "matmat", lambda s, B: products.append(1) or matmat(s, B))
    factor = KrylovFactor(CentredOperator(X))
    solution = factor.solve(T, [1e-6])
    one = len(products)
    solution = factor.solve(T, list(np.logspace(-6, 2, 15)))
    assert len(products) == 2 * one == 2 * solution.n_iter


def words(n, d, rng):
    """Draw rows of words, most of them rare."""
    shares = np.minimum(0.9, 3 / np.arange(1, d + 1))
    return sp.csr_array(rng.random((n, d)) < shares).astype(float)


def test_features_of_unequal_variance_are_preconditioned(rng, monkeypatch):
    X, T = words(300, 120, rng), rng.standard_normal((300, 3))
    X = sp.csr_array(X @ sp.diags_array(np.logspace(0, 2, 120)))
    shifts = [0.0, 1e-4, 1e-3, 1e-2]
    factor = KrylovFactor(CentredOperator(X), tol=1e-12, max_iter=5000)
    solution = factor.solve(T, shifts)
    found = solution.coefficients
    for s, U in zip(shifts[1:], found[1:], strict=True):
        np.testing.assert_allclose(U, ridge(X.toarray(), T, s)[0], rtol=1e-7, atol=1e-10)
    assert (true_residuals(factor, T, shifts, found) <= 1.1 * solution.residuals + 1e-13).all()
    steps = []
    for preconditioner in (KrylovFactor._preconditioner, lambda *_: None):
        monkeypatch.setattr(KrylovFactor, "_preconditioner", preconditioner)
        solution = factor.solve(T, [1e-3])
        steps.append(solution.n_iter)
    assert 5 * steps[0] < steps[1]


def test_many_shifts_of_equal_features_go_together(rng):
    X = rng.standard_normal((100, 30))
    factor = KrylovFactor(CentredOperator(X))
    assert factor._preconditioner(np.logspace(-6, 2, 15)) is None
    assert factor._preconditioner(np.array([0.0])) is None
    X *= np.logspace(0, 4, 30)
    factor = KrylovFactor(CentredOperator(X))
    np.testing.assert_allclose(
        factor._preconditioner(np.logspace(-6, 2, 15)), ((X - X.mean(axis=0)) ** 2).sum(axis=0)
    )


@pytest.mark.parametrize("shifts", [[1e-3], [1e-3, 1e-2, 0.1, 1.0, 10.0]])
@pytest.mark.parametrize("weighted", [False, True])
def test_single_precision_data_are_solved_in_single_precision(rng, shifts, weighted):
    X, T = words(400, 60, rng).astype(np.float32), rng.standard_normal((400, 3))
    w = rng.uniform(0.5, 2, 400) if weighted else None
    factor = KrylovFactor(CentredOperator(X, w), tol=1e-5)
    solution = factor.solve(T, shifts)
    found = solution.coefficients
    assert found.dtype == np.float32
    assert solution.residuals.max() <= 1e-5
    assert true_residuals(factor, T, shifts, found).max() <= 2e-5  # 400 sums of float32
    for s, U in zip(shifts, found, strict=True):
        # The residual counts for as much more as the covariance is conditioned: at most 500.
        np.testing.assert_allclose(U, ridge(X.toarray().astype(float), T, s, w)[0], atol=5e-3)
    finer = KrylovFactor(CentredOperator(X, w), tol=1e-6)
    assert finer.solve(T, shifts).coefficients.dtype == np.float64
    assert (
        KrylovFactor(CentredOperator(X.toarray()), tol=1e-5).solve(T, shifts).coefficients.dtype
        == float
    )


@pytest.mark.parametrize("preconditioned", [False, True])
def test_single_precision_states_the_residual_it_reaches(rng, preconditioned, monkeypatch):
    monkeypatch.setattr(krylov, "ROUGH", 0.0)
    if not preconditioned:
        monkeypatch.setattr(KrylovFactor, "_preconditioner", lambda *_: None)
    X = sp.csr_array(words(60, 120, rng) @ sp.diags_array(np.logspace(0, 2, 120)))
    X, T = X.astype(np.float32), rng.standard_normal((60, 2))
    factor = KrylovFactor(CentredOperator(X), tol=1e-9)
    solution = factor.solve(T, [1e-2])
    found = solution.coefficients
    left = true_residuals(factor, T, [1e-2], found)
    assert found.dtype == np.float32
    assert left.min() > 1e-9
    assert (2 * solution.residuals >= left).all()  # itself summed in float32
    assert solution.shortfall is not None


@pytest.mark.parametrize("columns", [0, 1])
def test_constant_targets_have_zero_weights(rng, columns):
    operator = CentredOperator(rng.standard_normal((9, 4)))
    factor = KrylovFactor(operator)
    solution = factor.solve(np.ones((9, columns)), [0.0, 1.0])  # constants are centred away
    found = solution.coefficients
    np.testing.assert_array_equal(found, np.zeros((2, 4, columns)))
    np.testing.assert_array_equal(solution.residuals, 0)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_scale_does_not_matter(rng, scale):
    X, T = rng.standard_normal((30, 8)), rng.standard_normal((30, 2))
    found = (
        KrylovFactor(CentredOperator(scale * X), tol=1e-12).solve(T, [0.1 * scale**2]).coefficients
    )
    np.testing.assert_allclose(scale * found[0], ridge(X, T, 0.1)[0], rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("centre", [False, True])
def test_gradients_and_inner_products_are_those_of_the_exact_factor(rng, weighted, centre):
    X, T = rng.standard_normal((30, 8)), rng.standard_normal((30, 2))
    w = rng.uniform(0.5, 2, 30) if weighted else None
    operator = CentredOperator(X, w, centre)
    ours, exact = KrylovFactor(operator, centre), CovarianceFactor(operator, centre)
    assert ours.total == exact.total
    np.testing.assert_allclose(ours.gradient(T), exact.gradient(T))
    a = rng.standard_normal((8, 2))
    np.testing.assert_allclose(ours.inner(a, 2 * a), exact.inner(a, 2 * a))
    assert ours.export(a) is a


@pytest.fixture
def data():
    return make_shared_subspace(120, 15, 6, random_state=2)


@pytest.mark.parametrize("alpha", [1e-2, np.inf])
@pytest.mark.parametrize("parameters", [{}, {"kernel": "rbf"}, {"fit_intercept": False}])
@pytest.mark.parametrize("sparse", [False, True])
def test_classifier_is_the_exact_one(data, alpha, parameters, sparse, rng):
    X = sp.csr_matrix(data.X) if sparse else data.X
    w = rng.uniform(0.5, 2, 120)
    shared = {"alpha": alpha, "beta": 1e-3, "n_components": 2, **parameters}
    exact = SharedSubspaceClassifier(**shared).fit(X, data.Y, w)
    ours = SharedSubspaceClassifier(solver="krylov", tol=1e-12, **shared).fit(X, data.Y, w)
    assert exact.n_iter_ == 1
    assert ours.n_iter_ > 1
    for method in ("decision_function", "transform"):
        found, wanted = (getattr(model, method)(X) for model in (ours, exact))
        np.testing.assert_allclose(found, wanted, atol=1e-7)  # the solutions are good to 1e-9


@pytest.mark.parametrize("parameters", [{}, {"kernel": "rbf"}, {"fit_intercept": False}])
@pytest.mark.parametrize("weighted", [False, True])
def test_cross_validation_is_the_exact_one(data, parameters, weighted, rng):
    w = rng.uniform(0.5, 2, 120) if weighted else None
    shared = {"alphas": [0.0, 0.1, np.inf], "betas": [1e-3, 1e-1], "cv": 3, **parameters}
    exact = SharedSubspaceClassifierCV(n_components=[1, 3], **shared).fit(data.X, data.Y, w)
    ours = SharedSubspaceClassifierCV(
        n_components=[1, 3], solver="krylov", tol=1e-12, **shared
    ).fit(data.X, data.Y, w)
    np.testing.assert_allclose(ours.score_grid_, exact.score_grid_, atol=1e-8)
    np.testing.assert_allclose(ours.oof_scores_, exact.oof_scores_, atol=1e-7)


@pytest.mark.parametrize("centre", [False, True])
def test_folds_are_those_of_the_exact_factor(rng, centre):
    X, T = rng.standard_normal((40, 7)) + 1.0, rng.standard_normal((40, 3))
    operator = CentredOperator(X, None, centre)
    folds = [(None, np.arange(10)), (np.arange(15, 40), np.arange(10, 15))]
    shifts, pairs = [0.01, 0.5, np.inf], [(0, 1), (0, 2), (1, 1)]
    ours = KrylovFactor(operator, centre, tol=1e-13).heldout(T, folds, shifts, pairs)
    exact = CovarianceFactor(operator, centre).heldout(T, folds, shifts)
    for a, b in zip(ours, exact, strict=True):
        np.testing.assert_array_equal(a.rows, b.rows)
        (scores, inner), (wanted, products) = evaluate_folds(a, pairs), evaluate_folds(b, pairs)
        np.testing.assert_allclose(inner, products, atol=1e-10)
        for i in range(3):
            np.testing.assert_allclose(scores[i], wanted[i], atol=1e-10)


@pytest.mark.parametrize("hidden", [False, True])
def test_residuals_are_stored_by_shift_and_label(data, hidden, rng):
    X, beta = data.X, 1e-3
    Y = data.Y.astype(float)
    Y[rng.random(Y.shape) < (0.2 if hidden else 0)] = np.nan
    model = SharedSubspaceClassifier(0, beta, solver="krylov", tol=1e-2).fit(X, Y)
    assert model.residuals_.shape == (2, 6)
    observed, T = ~np.isnan(Y), 2 * np.nan_to_num(Y) - 1
    total = observed.sum(axis=0).mean()
    for j, rows in enumerate(observed.T):
        Xc, t = X[rows] - X[rows].mean(axis=0), T[rows, j] - T[rows, j].mean()
        left = Xc.T @ t - Xc.T @ (Xc @ model.coef_[j]) - total * beta * model.coef_[j]
        size = np.linalg.norm(left) / np.linalg.norm(Xc.T @ t)
        assert 0 < size <= 1e-2
        # What is carried along is what is left but for rounding.
        np.testing.assert_allclose(model.residuals_[:, j], size, rtol=1e-6)
    model.set_params(alpha=np.inf, beta=0.1).fit(X, Y)
    assert model.residuals_.shape == (1, 6)
    assert not hasattr(model.set_params(solver="auto").fit(X, Y), "residuals_")
