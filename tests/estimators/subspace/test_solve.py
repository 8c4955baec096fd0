"""The closed form: its limits are known methods, and a small eigenproblem has the same solution."""

import numpy as np
import pytest
import scipy.linalg as sl
from sklearn import cross_decomposition
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import helpers
from eigenlabel import SharedSubspaceClassifier
from eigenlabel.estimators.subspace import solve as shared_subspace
from eigenlabel.estimators.subspace.solve import default_rank, solve_shared_subspace
from eigenlabel.linalg.factors.factorise import factorise
from eigenlabel.linalg.operators import CentredOperator
from helpers import labels


def test_beta_zero_is_alternating_structure_optimisation(rng):
    # The ASO objective (Eq. 28, squared loss, common inputs), minimised by its own alternation.
    X, Y = rng.standard_normal((60, 5)), labels(60, 4, rng)
    X, T = X - X.mean(axis=0), 2.0 * Y - 1 - (2.0 * Y - 1).mean(axis=0)
    Theta = np.eye(5)[:2]
    for _ in range(3000):
        M = X.T @ X / 60 + 0.2 * (np.eye(5) - Theta.T @ Theta)
        U = np.linalg.solve(M, X.T @ T) / 60
        Theta = np.linalg.svd(U)[0][:, :2].T
    solution = solve_shared_subspace(factorise(CentredOperator(X)), T, 0.2, 0.0, 2)
    found = solution.coefficients
    # The alternation has the optimum as a fixed point and cannot beat it.
    span = np.linalg.svd(found)[0][:, :2].T
    best = helpers.objective(X, T, found, span, 0.2, 0)
    assert best <= helpers.objective(X, T, U, Theta, 0.2, 0) + 1e-10
    again = np.linalg.solve(X.T @ X / 60 + 0.2 * (np.eye(5) - span.T @ span), X.T @ T) / 60
    np.testing.assert_allclose(again, found, atol=1e-8)


@pytest.mark.parametrize("alpha", [0.3, np.inf])
@pytest.mark.parametrize("r", range(6))
def test_weights_are_light_on_the_first_eigenvectors_and_heavy_on_all_others(alpha, r, rng):
    X, Y = rng.standard_normal((40, 7)), labels(40, 5, rng)
    factor, T = factorise(CentredOperator(X)), 2.0 * Y - 1
    A = factor.solve(T, [0.1]).coefficients[0]
    heavy = factor.solve(T, [alpha + 0.1]).coefficients[0] if np.isfinite(alpha) else 0 * A
    S = A.T @ (heavy if np.isfinite(alpha) else factor.gradient(T))
    W = np.linalg.eigh((S + S.T) / 2)[1][:, ::-1][:, :r]
    found = solve_shared_subspace(factor, T, alpha, 0.1, r)
    np.testing.assert_allclose(found.coefficients, heavy + (A - heavy) @ W @ W.T, atol=1e-12)
    np.testing.assert_allclose(found.directions, A @ found.W, atol=1e-12)


def top_space(M, N, r):
    """Return the span of the top-r generalised eigenvectors M z = lambda N z."""
    return helpers.projector(sl.eigh(M, N)[1][:, ::-1][:, :r])


def test_infinite_alpha_is_orthonormalised_pls_and_reduced_rank_ridge(rng):
    X, Y = rng.standard_normal((50, 6)), labels(50, 5, rng)
    Xc, T = X - X.mean(axis=0), 2.0 * Y - 1
    Tc = T - T.mean(axis=0)
    model = SharedSubspaceClassifier(np.inf, 0.1, 2).fit(X, Y)
    N = Xc.T @ Xc / 50 + 0.1 * np.eye(6)
    expected = top_space(Xc.T @ Tc @ Tc.T @ Xc, N, 2)  # Eq. 29
    np.testing.assert_allclose(helpers.projector(model.components_.T), expected, atol=1e-9)
    assert np.linalg.matrix_rank(model.coef_) == 2
    # Reduced-rank ridge: the best rank-2 approximation of the ridge fit of augmented data.
    augmented = np.vstack([Xc, np.sqrt(50 * 0.1) * np.eye(6)])
    full = np.linalg.lstsq(augmented, np.vstack([Tc, np.zeros((6, 5))]), rcond=None)[0]
    V = np.linalg.svd(augmented @ full)[2][:2].T
    np.testing.assert_allclose(model.coef_.T, full @ V @ V.T, atol=1e-9)
    # and it is where growing alpha leads; the way there is of order 1 / alpha
    near = SharedSubspaceClassifier(1e9, 0.1, 2).fit(X, Y)
    np.testing.assert_allclose(near.coef_, model.coef_, atol=1e-6)
    np.testing.assert_allclose(1e9 * near.eigenvalues_, model.eigenvalues_, rtol=1e-6)


def test_infinite_alpha_on_whitened_labels_is_cca(rng):
    X, Y = rng.standard_normal((80, 6)), labels(80, 4, rng)
    Xc = X - X.mean(axis=0)
    T = Y - Y.mean(axis=0)
    T = T @ np.linalg.inv(sl.sqrtm(T.T @ T).real)  # T (T'T)^-1/2
    solution = solve_shared_subspace(factorise(CentredOperator(X)), T, np.inf, 0.0, 2)
    cca = cross_decomposition.CCA(n_components=2, scale=False, tol=1e-12, max_iter=5000).fit(Xc, Y)
    # NIPALS stops at a tolerance of its own.
    np.testing.assert_allclose(
        helpers.projector(solution.directions), helpers.projector(cca.x_rotations_), atol=1e-4
    )


def test_infinite_alpha_on_the_lda_indicator_is_lda(rng):
    y = rng.integers(0, 4, 90)
    X = rng.standard_normal((90, 6)) + np.eye(4, 6)[y] * 2
    counts = np.bincount(y)
    T = np.where(y[:, None] == np.arange(4), np.sqrt(90 / counts), 0) - np.sqrt(counts / 90)
    solution = solve_shared_subspace(factorise(CentredOperator(X)), T, np.inf, 0.0, 3)
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    np.testing.assert_allclose(
        helpers.projector(solution.directions), helpers.projector(lda.scalings_[:, :3]), atol=1e-8
    )


def test_infinite_beta_is_the_orthogonal_centroid_method(rng):
    X, Y = rng.standard_normal((50, 6)), labels(50, 5, rng)
    Xc, T = X - X.mean(axis=0), 2.0 * Y - 1
    model = SharedSubspaceClassifier(1.0, 1e9, 2).fit(X, Y)
    expected = top_space(Xc.T @ T @ T.T @ Xc, np.eye(6), 2)
    np.testing.assert_allclose(helpers.projector(model.components_.T), expected, atol=1e-6)


def test_beta_zero_is_the_minimum_norm_solution(rng):
    X = rng.standard_normal((12, 30))
    X[5] = X[4]
    Y = labels(12, 3, rng)
    T = 2.0 * Y - 1
    model = SharedSubspaceClassifier(0.0, 0.0, fit_intercept=False).fit(X, Y)
    np.testing.assert_allclose(model.coef_.T, np.linalg.pinv(X) @ T, atol=1e-8)


@pytest.mark.parametrize("alpha", [np.inf, 0.1, 0.0])
@pytest.mark.parametrize("r", [0, 3, 20])
@pytest.mark.parametrize("shape", [(40, 9), (8, 30)])
@pytest.mark.parametrize("way", ["fit", "rbf", "krylov", "blocks", "missing"])
def test_a_small_eigenproblem_for_more_labels_than_features(alpha, r, shape, way, rng, monkeypatch):
    X = rng.standard_normal(shape)
    Y = labels(len(X), 100 if way == "rbf" else 70, rng, X).astype(float)
    if way == "missing":
        Y[::3, 0] = np.nan
    options = {"kernel": "rbf"} if way == "rbf" else {}
    if way == "krylov":
        options = {"solver": "krylov", "tol": 1e-12}
    fit = "partial_fit" if way == "blocks" else "fit"
    plain = getattr(SharedSubspaceClassifier(alpha, 0.1, r, **options), fit)(X, Y)
    plain.intercept_  # noqa: B018  solves
    used, whole = [], shared_subspace.descending_eigh
    monkeypatch.setattr(shared_subspace, "THIN", 1)
    monkeypatch.setattr(
        shared_subspace, "descending_eigh", lambda S: used.append(len(S)) or whole(S)
    )
    thin = getattr(SharedSubspaceClassifier(alpha, 0.1, r, **options), fit)(X, Y)
    assert thin.n_components_ == plain.n_components_
    assert (used[0] < Y.shape[1]) == (way != "missing")
    scale = plain.eigenvalues_[0]
    assert thin.eigenvalues_.shape == plain.eigenvalues_.shape
    np.testing.assert_allclose(thin.eigenvalues_, plain.eigenvalues_, atol=1e-9 * scale)
    np.testing.assert_allclose(thin.eigenlabels_, plain.eigenlabels_, atol=1e-8)
    np.testing.assert_allclose(thin.decision_function(X), plain.decision_function(X), atol=1e-8)
    np.testing.assert_allclose(thin.transform(X), plain.transform(X), atol=1e-8)


def test_default_rank_is_the_papers():
    assert [default_rank(m) for m in (1, 2, 5, 6, 10, 11, 19, 26)] == [1, 1, 1, 5, 5, 10, 15, 25]
