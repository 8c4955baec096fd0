"""Projections against naive generalised eigenproblems, their limits and invariances."""

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError
from sklearn import cross_decomposition, decomposition
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline

from eigenlabel import (
    CCA,
    LDA,
    LPP,
    MDDM,
    MLSI,
    OPLS,
    PCA,
    PLS,
    DiscriminativeSelector,
    HypergraphSpectral,
    MLkNN,
    OrthogonalCentroid,
    metrics,
)
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.estimators.projection import spectral as projection_spectral
from eigenlabel.labels.factors import hypergraph, label_correlation, square_root
from eigenlabel.linalg import directions as core_projection
from eigenlabel.linalg.operators import CentredOperator

SHAPES = {"tall": (60, 7), "wide": (25, 60), "square": (30, 30)}


@pytest.fixture(params=SHAPES)
def X(request, rng):
    n, d = SHAPES[request.param]
    return rng.standard_normal((n, d)) @ np.diag(np.linspace(3, 1, d)) + rng.standard_normal(d)


def labels_of(X, rng, m=4):
    scores = X @ rng.standard_normal((X.shape[1], m)) + rng.standard_normal((len(X), m))
    return (scores > np.quantile(scores, 0.6, axis=0)).astype(int)


def centre(A):
    return A - A.mean(axis=0)


def factors(Y):
    """Give every label factor T written out sample by sample."""
    n, m = Y.shape
    e = Y.sum(axis=0)
    clique, star, zhou = np.zeros((3, n, m))
    for i in range(n):
        for j in range(m):
            clique[i, j] = Y[i, j] / np.sqrt(sum(Y[i, k] * e[k] for k in range(m)) or 1)
            star[i, j] = Y[i, j] / e[j] / np.sqrt(sum(Y[i, k] / e[k] for k in range(m)) or 1)
            zhou[i, j] = Y[i, j] / np.sqrt(Y[i].sum() or 1) / np.sqrt(e[j])
    Yc = centre(Y.astype(float))
    return {
        "labels": Y.astype(float),
        "whitened": Yc @ sl.fractional_matrix_power(Yc.T @ Yc, -0.5),
        "indicator": Y / np.sqrt(e),
        "clique": clique,
        "star": star,
        "zhou": zhou,
    }


CASES = [
    (MDDM(4), "labels", (0.0, 1.0)),
    (MDDM(4, projection="uncorrelated", mu=0.3), "labels", (0.3, 0.7)),
    (CCA(reg=0.1), "whitened", (1.0, 0.1)),
    (OPLS(reg=0.1), "labels", (1.0, 0.1)),
    (LDA(reg=0.1), "indicator", (1.0, 0.1)),
    (OrthogonalCentroid(), "indicator", (0.0, 1.0)),
    *(
        (HypergraphSpectral(laplacian=kind, reg=0.1), kind, (1.0, 0.1))
        for kind in ("clique", "star", "zhou")
    ),
]
IDS = ["MDDM_p", "MDDM_f", "CCA", "OPLS", "LDA", "centroid", "clique", "star", "zhou"]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("model", "factor", "constraint"), CASES, ids=IDS)
def test_linear_equals_the_generalised_eigenproblem(model, factor, constraint, X, form, rng):
    Y = labels_of(X, rng)
    Xc, T = centre(X), centre(factors(Y)[factor])
    scale, ridge = constraint
    N = scale * Xc.T @ Xc + ridge * np.eye(X.shape[1])
    A = Xc.T @ T @ T.T @ Xc
    values = sl.eigh(A, N, eigvals_only=True)[::-1]
    model.fit(form(X), Y)
    P = model.components_.T
    r = model.n_components_
    np.testing.assert_allclose(P.T @ N @ P, np.eye(r), atol=1e-8)
    np.testing.assert_allclose(model.eigenvalues_[:r], values[:r], rtol=1e-8)
    np.testing.assert_allclose(A @ P, N @ P * values[:r], atol=1e-7 * np.abs(A).max())
    assert r == np.linalg.matrix_rank(T), "all directions that the labels have"
    np.testing.assert_allclose(model.transform(form(X)), Xc @ P, atol=1e-9)


@pytest.mark.parametrize(("model", "factor", "constraint"), CASES, ids=IDS)
def test_kernel_equals_the_dual_eigenproblem(model, factor, constraint, rng):
    X = rng.standard_normal((40, 5))
    Y = labels_of(X, rng)
    K = rbf_kernel(X, gamma=0.3)
    H = np.eye(40) - 1 / 40
    Q, T = H @ K @ H, centre(factors(Y)[factor])
    scale, ridge = constraint
    model = model.__class__(**{**model.get_params(), "kernel": "rbf", "gamma": 0.3}).fit(X, Y)
    # Eq. 20 of the paper: Q L Q c = lambda (scale Q Q + ridge Q) c.
    C = H @ model.dual_coef_
    N = scale * Q @ Q + ridge * Q
    values = model.eigenvalues_[: model.n_components_]
    np.testing.assert_allclose(C.T @ N @ C, np.eye(model.n_components_), atol=1e-8)
    np.testing.assert_allclose(Q @ T @ T.T @ Q @ C, N @ C * values, atol=1e-8)
    total = np.trace(np.linalg.pinv(N, rcond=1e-12, hermitian=True) @ Q @ T @ T.T @ Q)
    np.testing.assert_allclose(values.sum(), total, rtol=1e-5)  # the pseudo-inverse is ill-posed
    new = rng.standard_normal((6, 5))
    k = rbf_kernel(new, X, gamma=0.3)
    np.testing.assert_allclose(model.transform(new), (k - K.mean(axis=0)) @ C, atol=1e-8)
    pre = model.__class__(**{**model.get_params(), "kernel": "precomputed"}).fit(K, Y)
    np.testing.assert_allclose(np.abs(pre.transform(k)), np.abs(model.transform(new)), atol=1e-7)


def span(A):
    return A @ np.linalg.pinv(A)


def test_uncorrelated_at_mu_zero_is_orthonormal(X, rng):
    Y = labels_of(X, rng)
    a = MDDM(4).fit(X, Y)
    b = MDDM(4, projection="uncorrelated", mu=0.0).fit(X, Y)
    np.testing.assert_allclose(a.components_, b.components_, atol=1e-8)
    np.testing.assert_allclose(a.eigenvalues_[:4], b.eigenvalues_[:4])


def test_uncorrelated_at_mu_one_on_whitened_labels_is_cca(rng):
    X = rng.standard_normal((80, 6))
    Y = labels_of(X, rng)
    B = np.linalg.inv(np.cov(Y.T, bias=True) * len(Y))
    a = MDDM(4, projection="uncorrelated", mu=1.0, label_kernel=B).fit(X, Y)
    b = CCA(reg=0.0).fit(X, Y)
    np.testing.assert_allclose(a.eigenvalues_, b.eigenvalues_)
    np.testing.assert_allclose(span(a.transform(X)), span(b.transform(X)), atol=1e-8)


def test_cca_has_the_canonical_correlations_of_scikit_learn(rng):
    X = rng.standard_normal((80, 6))
    Y = labels_of(X, rng, 3)
    theirs = cross_decomposition.CCA(3, scale=False, max_iter=5000, tol=1e-12).fit(X, Y)
    a, b = theirs.transform(X, Y)
    expected = [np.corrcoef(a[:, k], b[:, k])[0, 1] for k in range(3)]
    # its power iterations stop at a tolerance of their own
    np.testing.assert_allclose(np.sqrt(CCA(reg=0.0).fit(X, Y).eigenvalues_), expected, atol=1e-5)


def test_with_one_label_a_sample_cca_is_lda(rng):
    X = rng.standard_normal((60, 5))
    y = rng.integers(4, size=60)
    Y = np.eye(4, dtype=int)[y]
    a, b = CCA(reg=0.2).fit(X, Y), LDA(reg=0.2).fit(X, Y)
    np.testing.assert_allclose(a.eigenvalues_[:3], b.eigenvalues_[:3])
    np.testing.assert_allclose(a.transform(X), b.transform(X), atol=1e-8)
    np.testing.assert_allclose(CCA(reg=0.2).fit(X, y).transform(X), a.transform(X), atol=1e-8)


def test_dimension_by_the_share_of_dependence(rng):
    X = rng.standard_normal((60, 9))
    Y = labels_of(X, rng, 6)
    whole = MDDM(6).fit(X, Y)
    shares = np.cumsum(whole.eigenvalues_) / whole.eigenvalues_.sum()
    for share in (0.1, 0.5, 0.9, 0.999):
        expected = 1 + int((shares < share).sum())
        assert MDDM(variance=share).fit(X, Y).n_components_ == expected
    assert MDDM(variance=1.0).fit(X, Y).n_components_ == 6
    assert MDDM(2).fit(X, Y).n_components_ == 2
    assert MDDM(100).fit(X, Y).n_components_ == 6


def test_hsic_of_the_projection_is_what_it_says(rng):
    X = rng.standard_normal((50, 8))
    Y = labels_of(X, rng)
    for model in (MDDM(2), MDDM(2, projection="uncorrelated"), MDDM(2, kernel="rbf")):
        Z = model.fit_transform(X, Y)
        assert model.hsic_ == pytest.approx(metrics.hsic(Z @ Z.T, Y @ Y.T))


def test_hsic_estimates_by_their_definitions(rng):
    n = 12
    K, L = (A @ A.T for A in rng.standard_normal((2, n, 3)))
    H = np.eye(n) - 1 / n
    assert metrics.hsic(K, L) == pytest.approx(np.trace(K @ H @ L @ H) / (n - 1) ** 2)
    # Unbiased (Song et al., 2012): sums over tuples of different indices, written out.
    a = np.mean([K[i, j] * L[i, j] for i in range(n) for j in range(n) if i != j])
    b = np.mean(
        [
            K[i, j] * L[q, r]
            for i in range(n)
            for j in range(n)
            for q in range(n)
            for r in range(n)
            if len({i, j, q, r}) == 4
        ]
    )
    c = np.mean(
        [
            K[i, j] * L[i, q]
            for i in range(n)
            for j in range(n)
            for q in range(n)
            if len({i, j, q}) == 3
        ]
    )
    assert metrics.hsic(K, L, unbiased=True) == pytest.approx(a + b - 2 * c)
    with pytest.raises(ValueError, match="square matrices of one size"):
        metrics.hsic(K, L[:5])
    with pytest.raises(ValueError, match="at least 4 samples"):
        metrics.hsic(K[:3, :3], L[:3, :3], unbiased=True)


def test_the_complement_is_orthonormal_and_seeded(rng):
    X = rng.standard_normal((40, 9))
    Y = labels_of(X, rng, 3)
    Xc = centre(X)
    for projection, N in (
        ("orthonormal", np.eye(9)),
        ("uncorrelated", 0.5 * Xc.T @ Xc + 0.5 * np.eye(9)),
    ):
        model = MDDM(7, projection=projection, complement=True, random_state=0).fit(X, Y)
        P = model.components_.T
        np.testing.assert_allclose(P.T @ N @ P, np.eye(7), atol=1e-8)
        plain = MDDM(7, projection=projection).fit(X, Y)
        np.testing.assert_allclose(model.components_[:3], plain.components_)
        assert plain.n_components_ == 3
        again = MDDM(7, projection=projection, complement=True, random_state=0).fit(X, Y)
        np.testing.assert_array_equal(model.components_, again.components_)
        np.testing.assert_allclose(model.transform(X), Xc @ P, atol=1e-9)
    assert MDDM(50, complement=True).fit(X, Y).n_components_ == 9
    with pytest.raises(ValueError, match="complement=True needs n_components"):
        MDDM(complement=True).fit(X, Y)


@pytest.mark.parametrize("kind", ["rbf", "cosine", "conditional", "shrunk"])
def test_label_kernels_by_name_are_the_same_by_matrix(kind, rng):
    X = rng.standard_normal((50, 8))
    Y = labels_of(X, rng)
    B = label_correlation(Y, kind, 0.7)
    np.testing.assert_allclose(B, B.T)
    np.testing.assert_allclose(np.diag(B), 1)
    named = MDDM(3, label_kernel=kind, label_gamma=0.7).fit(X, Y)
    given = MDDM(3, label_kernel=B).fit(X, Y)
    np.testing.assert_allclose(named.components_, given.components_, atol=1e-8)
    R = square_root(B)
    whole = MDDM(3, label_kernel=Y @ (R @ R.T) @ Y.T).fit(X, Y)
    np.testing.assert_allclose(named.components_, whole.components_, atol=1e-7)


def test_label_correlations_by_hand():
    Y = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    cosine = label_correlation(Y, "cosine")
    assert cosine[0, 1] == pytest.approx(2 / 3)
    assert cosine[0, 2] == 0, "a label without positives has to do with none"
    assert cosine[2, 2] == 1
    assert label_correlation(Y, "conditional")[0, 1] == pytest.approx(2 / 3)
    assert label_correlation(Y, "rbf", 0.5)[0, 1] == pytest.approx(np.exp(-0.5 * (2 - 4 / 3)))
    np.testing.assert_array_equal(label_correlation(Y, "linear"), np.eye(3))
    many = np.repeat(Y[:, :2], 5000, axis=0)
    expected = np.corrcoef(many.T)[0, 1]
    assert label_correlation(many, "shrunk")[0, 1] == pytest.approx(expected, rel=0.01)
    noise = np.random.default_rng(0).integers(2, size=(30, 8))
    shrunk, plain = label_correlation(noise, "shrunk"), np.corrcoef(noise.T)
    assert np.abs(shrunk - np.eye(8)).sum() < 0.5 * np.abs(plain - np.eye(8)).sum()


def test_a_wrong_label_kernel_says_so(rng):
    X = rng.standard_normal((20, 3))
    Y = labels_of(X, rng)
    with pytest.raises(ValueError, match="between the 4 labels or between the 20 samples"):
        MDDM(label_kernel=np.eye(5)).fit(X, Y)
    with pytest.raises(ValueError, match="label_kernel must be symmetric"):
        MDDM(label_kernel=np.triu(np.ones((4, 4)))).fit(X, Y)
    with pytest.raises(ValueError, match="no positive eigenvalue"):
        MDDM(label_kernel=-np.eye(4)).fit(X, Y)
    with pytest.raises(ValueError, match="label_kernel must be one of"):
        MDDM(label_kernel="tanh").fit(X, Y)


def test_samples_without_labels_and_empty_labels_are_zero():
    Y = np.array([[1, 0, 1], [0, 0, 0], [1, 0, 0]])
    for kind in ("clique", "star", "zhou"):
        T = hypergraph(Y, kind)
        assert np.isfinite(T).all()
        assert not T[1].any()
        assert not T[:, 1].any()


def test_pca_equals_scikit_learn(X):
    ours, theirs = PCA().fit(X), decomposition.PCA(svd_solver="full").fit(X)
    r = ours.n_components_
    assert r == np.linalg.matrix_rank(centre(X))
    np.testing.assert_allclose(ours.eigenvalues_, theirs.singular_values_[:r] ** 2)
    np.testing.assert_allclose(
        np.abs(ours.transform(X)), np.abs(theirs.transform(X)[:, :r]), atol=1e-7
    )
    sparse = PCA().fit(sp.csr_array(X))
    np.testing.assert_allclose(sparse.transform(sp.csr_array(X)), ours.transform(X), atol=1e-7)


def test_kernel_pca_is_the_centred_kernels_eigenvectors(rng):
    X = rng.standard_normal((20, 3))
    H = np.eye(20) - 1 / 20
    Q = H @ rbf_kernel(X, gamma=0.5) @ H
    model = PCA(4, kernel="rbf", gamma=0.5).fit(X)
    Z = model.transform(X)
    np.testing.assert_allclose(Q @ Z, Z * model.eigenvalues_[:4], atol=1e-8)
    np.testing.assert_allclose((Z * Z).sum(axis=0), model.eigenvalues_[:4])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_float32_far_from_zero_keeps_its_digits(rng, form):
    X = (rng.standard_normal((60, 4)) + 1e4).astype(np.float32)
    Y = labels_of(X - 1e4, rng)
    for model in (MDDM(2), CCA(2), PCA(2), MDDM(4, complement=True, random_state=0)):
        exact = model.fit(X.astype(float), Y).transform(X.astype(float))
        found = model.fit(form(X), Y).transform(form(X))
        assert found.dtype == np.float32
        # directions are rounded to 6e-8, and the mean is taken off in rounded directions too
        np.testing.assert_allclose(found, exact, atol=2e-6)


@pytest.mark.parametrize("shape", [(200, 90), (90, 200)])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_few_principal_components_equal_the_first_of_all(rng, monkeypatch, shape, form):
    X = rng.standard_normal(shape) * (rng.random(shape) < 0.3) + rng.random(shape[1])
    calls = []
    monkeypatch.setattr(projection_spectral, "factorise_samples", lambda *_: calls.append(1))
    few = PCA(3).fit(form(X))
    assert not calls
    monkeypatch.undo()
    every = PCA().fit(form(X))
    np.testing.assert_allclose(few.eigenvalues_, every.eigenvalues_[:3])
    np.testing.assert_allclose(few.components_, every.components_[:3], atol=1e-9)
    np.testing.assert_allclose(few.transform(form(X)), every.transform(form(X))[:, :3], atol=1e-8)
    np.testing.assert_array_equal(PCA(3).fit(form(X)).components_, few.components_)
    line = np.outer(rng.standard_normal(200), rng.standard_normal(90))
    assert PCA(3).fit(line).n_components_ == 1
    with pytest.warns(UserWarning, match="PCA found no direction"):
        assert PCA(2).fit(np.ones((70, 60))).n_components_ == 0

    def fail(*_):
        raise ArpackError(3)

    monkeypatch.setattr(projection_spectral, "leading_axes", fail)
    np.testing.assert_allclose(PCA(3).fit(form(X)).components_, every.components_[:3], atol=1e-9)


def test_pls_of_one_label_equals_scikit_learn(X, rng):
    y = labels_of(X, rng, 1)
    theirs = cross_decomposition.PLSRegression(3, scale=False).fit(X, y.astype(float))
    scores = theirs.transform(X)
    ours = PLS(3).fit(X, y).transform(X)
    np.testing.assert_allclose(
        np.abs(ours), np.abs(scores / np.linalg.norm(scores, axis=0)), atol=1e-8
    )


def test_pls_scores_are_orthonormal_and_begin_with_mddm(X, rng):
    Y = labels_of(X, rng)
    model = PLS().fit(X, Y)
    Z = model.transform(X)
    np.testing.assert_allclose(Z.T @ Z, np.eye(4), atol=1e-8)
    first = MDDM(1).fit(X, Y).transform(X)
    np.testing.assert_allclose(np.abs(Z[:, :1]), np.abs(first / np.linalg.norm(first)), atol=1e-8)
    # The k-th maximises the covariance among scores uncorrelated with the first k - 1.
    Xc, Yc = centre(X), centre(Y)
    left = Xc - Z[:, :1] @ (Z[:, :1].T @ Xc)
    V = sl.null_space((Xc.T @ Z[:, :1]).T)
    best = np.linalg.svd(V.T @ Xc.T @ Yc, compute_uv=False)[0] ** 2
    assert model.eigenvalues_[1] == pytest.approx(best)
    assert np.linalg.norm(left) > 0


def naive_pls(Xc, Yc, count):
    """SIMPLS written out: singular vectors of what is left of ``Xc'Yc``."""
    S, V, weights, values = Xc.T @ Yc, np.zeros((Xc.shape[1], 0)), [], []
    for _ in range(count):
        U, s, _ = np.linalg.svd(S, full_matrices=False)
        t = Xc @ U[:, 0]
        weights.append(U[:, 0] / np.linalg.norm(t))
        values.append(s[0] ** 2)
        V = np.linalg.qr(np.column_stack([V, Xc.T @ t]))[0]
        S = S - V @ (V.T @ S)
    return np.array(weights), np.array(values)


@pytest.mark.parametrize(("shape", "least"), [((60, 9), 1e-3), ((20, 45), 1e-16)])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_pls_equals_simpls_written_out(rng, shape, least, form):
    X = rng.standard_normal(shape) * np.maximum(np.geomspace(10, least, shape[1]), 1e-4)
    Y = labels_of(X, rng, 3)
    model = PLS(8).fit(form(X), Y)
    weights, values = naive_pls(centre(X), centre(Y), 8)
    assert values[-1] < 1e-4 * values[0]  # the last ones stand on the rounding of the first
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-6)
    weights *= np.sign((weights * model.components_).sum(axis=1, keepdims=True))
    for ours, theirs in zip(model.components_, weights, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-6 * np.abs(theirs).max())


def test_kernel_pls_equals_pls_of_features_with_that_kernel(rng):
    X = rng.standard_normal((40, 6)) * np.geomspace(10, 1e-2, 6)
    Y, new = labels_of(X, rng), rng.standard_normal((7, X.shape[1]))
    linear = PLS(5).fit(X, Y)
    assert linear.eigenvalues_[-1] < 1e-4 * linear.eigenvalues_[0]
    for model, train, test in (
        (PLS(5, kernel="precomputed"), X @ X.T, new @ X.T),
        (PLS(5, kernel="poly", gamma=1.0, degree=1, coef0=0), X, new),
    ):
        model.fit(train, Y)
        ours, theirs = np.abs(model.transform(test)), np.abs(linear.transform(new))
        # a kernel matrix knows squared lengths to eps of the largest one
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(model.eigenvalues_, linear.eigenvalues_, rtol=1e-6)


def test_pls_ends_where_there_is_no_more_to_explain(rng):
    X = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 9))
    Y = labels_of(X, rng)
    assert PLS(8).fit(X, Y).n_components_ == 3
    assert PLS(8, kernel="precomputed").fit(X @ X.T, Y).n_components_ == 3


def test_mlsi_equals_its_eigenproblem(rng):
    X = rng.standard_normal((40, 7))
    Y = labels_of(X, rng)
    Xc, Yc = centre(X), centre(Y)
    Sxx, Sxy = Xc.T @ Xc, Xc.T @ Yc
    A = 0.7 * Sxx @ Sxx + 0.3 * Sxy @ Sxy.T
    B = Sxx + 0.5 * np.eye(7)
    model = MLSI(beta=0.3, reg=0.5).fit(X, Y)
    P = model.components_.T
    np.testing.assert_allclose(model.eigenvalues_, sl.eigh(A, B, eigvals_only=True)[::-1])
    np.testing.assert_allclose(A @ P, B @ P * model.eigenvalues_, atol=1e-7 * np.abs(A).max())
    np.testing.assert_allclose(np.linalg.norm(P, axis=0), 1)
    wide = rng.standard_normal((15, 40))
    Yw = labels_of(wide, rng)
    P = MLSI(3).fit(wide, Yw).components_.T
    Sxx, Sxy = centre(wide).T @ centre(wide), centre(wide).T @ centre(Yw)
    A, B = 0.5 * Sxx @ Sxx + 0.5 * Sxy @ Sxy.T, Sxx + 1e-3 * np.eye(40)
    values = sl.eigh(A, B, eigvals_only=True)[::-1][:3]
    np.testing.assert_allclose(A @ P, B @ P * values, atol=1e-7 * np.abs(A).max())


def test_lpp_equals_its_eigenproblem(rng):
    X = rng.standard_normal((40, 6))
    Xc = centre(X)
    distance, index = NearestNeighbors(n_neighbors=5).fit(X).kneighbors()
    W = np.zeros((40, 40))
    for i in range(40):
        for d, j in zip(distance[i], index[i], strict=True):
            W[i, j] = max(W[i, j], np.exp(-(d**2) / 2 / 1.5**2))
            W[j, i] = max(W[j, i], W[i, j])
    D = np.diag(W.sum(axis=1))
    A, B = Xc.T @ (D - W) @ Xc, Xc.T @ D @ Xc
    model = LPP(3, n_neighbors=5, width=1.5).fit(X)
    P = model.components_.T
    np.testing.assert_allclose(model.eigenvalues_[:3], sl.eigh(A, B, eigvals_only=True)[:3])
    np.testing.assert_allclose(P.T @ B @ P, np.eye(3), atol=1e-8)
    np.testing.assert_allclose(A @ P, B @ P * model.eigenvalues_[:3], atol=1e-8)


def test_the_selector_by_its_definition(rng):
    X = np.abs(rng.standard_normal((30, 6)))
    Y = labels_of(X, rng, 3)
    figure = []
    for k in range(6):
        sets = [X[Y[:, m] == 1, k] for m in range(3)]
        overall = sum(s.sum() for s in sets) / sum(len(s) for s in sets)
        within = sum(((s - s.mean()) ** 2).sum() for s in sets)
        figure.append(within / sum((s.mean() - overall) ** 2 for s in sets))
    for form in (X, sp.csr_array(X)):
        model = DiscriminativeSelector(2).fit(form, Y)
        np.testing.assert_allclose(model.scatter_ratio_, figure)
        assert sorted(np.flatnonzero(model.get_support())) == sorted(np.argsort(figure)[:2])
    constant = np.column_stack([X, np.ones(30)])
    assert DiscriminativeSelector().fit(constant, Y).scatter_ratio_[-1] == np.inf


ALL = [
    MDDM(2),
    MDDM(2, projection="uncorrelated"),
    CCA(2, reg=0.1),
    OPLS(2, reg=0.1),
    LDA(2, reg=0.1),
    OrthogonalCentroid(2),
    HypergraphSpectral(2, reg=0.1),
    PCA(2),
    PLS(2),
    MLSI(2),
    LPP(2),
]


@pytest.mark.parametrize("model", ALL, ids=lambda m: type(m).__name__)
def test_rotated_features_and_permuted_labels_change_nothing(model, rng):
    X = rng.standard_normal((40, 6))
    Y = labels_of(X, rng)
    R = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    a = model.fit(X, Y).transform(X)
    b = model.fit(X @ R, Y[:, [2, 0, 3, 1]]).transform(X @ R)
    np.testing.assert_allclose(np.abs(a), np.abs(b), atol=1e-7)


@pytest.mark.parametrize("model", ALL, ids=lambda m: type(m).__name__)
def test_float32_and_deficient_x(model, rng):
    X = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 9))
    Y = labels_of(X, rng)
    assert np.isfinite(model.fit(X, Y).transform(X)).all()
    small = X.astype(np.float32)
    assert model.fit(small, Y).transform(small).dtype == np.float32


@pytest.mark.parametrize("model", ALL, ids=lambda m: type(m).__name__)
def test_in_a_grid_search_with_neighbours(model):
    data = make_shared_subspace(90, 8, 4, 2, prevalence=0.3, random_state=0)
    name = type(model).__name__.lower()
    search = GridSearchCV(
        make_pipeline(model, MLkNN(5)), {f"{name}__n_components": [1, 3]}, scoring="f1_micro", cv=3
    )
    search.fit(data.X, data.Y)
    assert search.best_params_[f"{name}__n_components"] in (1, 3)
    assert 0 < search.best_score_ <= 1


def test_the_planted_subspace_is_found():
    data = make_shared_subspace(4000, 30, 12, 3, noise=0.1, random_state=0)
    truth = data.truth["components"]
    for model in (MDDM(3), CCA(3), OPLS(3), LDA(3)):
        found = np.linalg.qr(model.fit(data.X, data.Y).components_.T)[0]
        cosines = np.linalg.svd(truth @ found, compute_uv=False)
        assert cosines.min() > 0.95


def test_one_sample_is_too_few():
    with pytest.raises(ValueError, match="at least 2 samples"):
        MDDM().fit([[1.0, 2.0]], [[1, 0]])


@pytest.mark.parametrize("projection", [LDA(), OrthogonalCentroid(), HypergraphSpectral(), MDDM()])
def test_constant_labels_leave_no_direction(projection, rng):
    X = rng.standard_normal((50, 7))
    constant = np.column_stack([np.zeros(50, int), np.ones(50, int)])
    with pytest.warns(UserWarning, match="found no direction: the features or the labels do not"):
        assert projection.fit(X, constant).n_components_ == 0
    assert projection.transform(X).shape == (50, 0)


def test_lpp_of_a_width_that_joins_nothing_says_so(rng):
    X = rng.standard_normal((50, 7))
    with pytest.raises(ValueError, match="leaves hardly any weight"):
        LPP(2, width=0.01).fit(X)
    for width in (0.05, 0.5, 5.0, None):
        assert (LPP(2, n_neighbors=5, width=width).fit(X).eigenvalues_ >= 0).all()
    with pytest.warns(UserWarning, match="LPP found no direction: the features do not vary"):
        assert LPP().fit(np.ones((20, 3))).n_components_ == 0


@pytest.mark.parametrize("mu", [0.0, 0.5, 1.0])
def test_the_complement_in_blocks_is_gram_schmidt_one_by_one(rng, monkeypatch, mu):
    monkeypatch.setattr(core_projection, "BLOCK", 4)
    X = sp.csr_array(rng.standard_normal((8, 15)) * (rng.random((8, 15)) < 0.5))
    Y = labels_of(X.toarray(), rng, 2)
    draws = {"projection": "uncorrelated", "mu": mu, "complement": True}
    model = MDDM(15, **draws, random_state=3).fit(X, Y)
    Xc, drawn = centre(X.toarray()), np.random.RandomState(3)
    N, P = mu * Xc.T @ Xc + (1 - mu) * np.eye(15), model.components_[:2].T
    while P.shape[1] < model.n_components_:
        p = drawn.standard_normal(15)
        for _ in range(3):
            p = p - P @ (P.T @ N @ p)
        P = np.column_stack([P, p / np.sqrt(p @ N @ p)])
    np.testing.assert_allclose(model.components_.T, P, atol=1e-6)  # the last ones are hard to tell
    assert model.n_components_ == np.linalg.matrix_rank(N) == (7 if mu == 1 else 15)
    fewer = MDDM(6, **draws, random_state=3).fit(X, Y)
    np.testing.assert_allclose(fewer.components_, model.components_[:6], atol=1e-10)


@pytest.mark.parametrize("constraint", [(0.0, 1.0), (0.5, 0.5), (1.0, 0.0)])
def test_the_complement_is_orthonormal_to_rounding(rng, constraint):
    X = rng.standard_normal((200, 300)) * np.geomspace(1e-2, 1e2, 300)
    Xc, (scale, ridge) = centre(X), constraint
    N = scale * Xc.T @ Xc + ridge * np.eye(300)
    P = core_projection.complement(
        CentredOperator(X), np.empty((300, 0)), 300, constraint, np.random.RandomState(0)
    )
    assert P.shape[1] == (300 if ridge else 199)
    if not ridge:  # what rounding leaves of a direction that is not there is positive or negative
        operator, begun = CentredOperator(X[:20]), np.empty((300, 0))
        draws = [np.random.RandomState(seed) for seed in range(40)]
        found = [core_projection.complement(operator, begun, 25, constraint, d) for d in draws]
        assert [p.shape[1] for p in found] == [19] * 40
    # N itself is known to eps of its largest eigenvalue, which is 1e7 and more of P's columns
    np.testing.assert_allclose(P.T @ N @ P, np.eye(P.shape[1]), atol=1e-12 if not scale else 1e-9)


@pytest.mark.parametrize("size", [1e-6, 1e6, 1e9])
def test_the_complement_goes_beyond_the_rows_of_large_data(rng, size):
    X = size * rng.standard_normal((30, 100))
    Y = labels_of(X, rng, 5)
    model = MDDM(60, projection="uncorrelated", complement=True, random_state=0).fit(X, Y)
    assert model.n_components_ == 60
    P, Z = model.components_.T, model.transform(X)
    # weights are known to eps, scores to eps times the size of X
    atol = 1e-14 * max(size, 1.0)
    np.testing.assert_allclose(0.5 * Z.T @ Z + 0.5 * P.T @ P, np.eye(60), atol=atol)


def test_directions_of_the_complement_are_directions(rng):
    X = rng.standard_normal((50, 7))
    model = MDDM(2, complement=True, random_state=0).fit(X, np.ones((50, 3), int))
    assert model.transform(X).shape == (50, 2)


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"label_kernel": None}, ValueError, "label_kernel must be one of 'linear'"),
        ({"label_kernel": object()}, TypeError, "label_kernel must be one of .* or a matrix"),
        ({"complement": "no"}, TypeError, "complement must be True or False, got 'no'"),
        ({"random_state": "a"}, ValueError, "'a' cannot be used to seed"),
    ],
)
def test_label_kernels_that_are_none(parameters, error, words, rng):
    with pytest.raises(error, match=words):
        MDDM(2, **parameters).fit(rng.standard_normal((20, 4)), rng.integers(0, 2, (20, 3)))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_selector_does_not_mind_where_zero_is(form, rng):
    X = rng.standard_normal((50, 7))
    Y = (X @ rng.standard_normal((7, 4)) > 0).astype(int)
    near = DiscriminativeSelector(3).fit(X, Y)
    far = DiscriminativeSelector(3).fit(form(X + 1e8), Y)
    np.testing.assert_allclose(far.scatter_ratio_, near.scatter_ratio_, rtol=1e-6)  # X + 1e8 rounds
    with pytest.raises(ValueError, match="rescale X"):
        DiscriminativeSelector().fit(X * 1e155, Y)


def test_principal_components_of_a_smooth_spectrum_are_uncorrelated(rng):
    Q = np.linalg.qr(rng.standard_normal((300, 300)))[0]
    X = rng.standard_normal((700, 300)) * np.logspace(0, -5.5, 300) @ Q.T
    Z = PCA().fit(X).transform(X)
    # The smallest eigenvalues are 1e-11 of the largest and have an error of about 1e-15.
    np.testing.assert_allclose(np.corrcoef(Z, rowvar=False), np.eye(Z.shape[1]), atol=1e-3)
