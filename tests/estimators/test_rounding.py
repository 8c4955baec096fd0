"""Results must not depend on rounding: memory order, precision, a last digit, sample order."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.base import clone

from discovery import instances
from eigenlabel import (
    JEC,
    LPP,
    MEKA,
    MLSI,
    PCA,
    BiRelationGraph,
    DiscriminativeSelector,
    GaussianFields,
    KernelRidgeTagger,
    MLkNN,
    TagProp,
)
from eigenlabel.estimators.graphs.similarity import nearest_similarities
from eigenlabel.kernels.kernel import Kernel
from eigenlabel.linalg.euclidean import EuclideanDistances
from eigenlabel.linalg.numerics import descending_eigh, fix_signs, turn_equal
from eigenlabel.linalg.ties import (
    Rounding,
    first_highest,
    first_largest,
    nearest,
    nearest_first,
    tied_order,
)

SKIPPED = {
    "HomogeneityAnalysis": "takes categories, which have no rounding",
    "DocumentFrequencySelector": "counts documents, which have no rounding",
    "MEKA": "draws landmarks with chances that a last digit may change; tested on its own",
}


def estimators():
    found = []
    for estimator in instances():
        if type(estimator).__name__ in SKIPPED:
            continue
        if "random_state" in estimator.get_params():
            estimator.set_params(random_state=0)
        found.append(estimator)
    return found


def names(estimator):
    kernel = estimator.get_params().get("kernel")
    return type(estimator).__name__ + (f"-{kernel}" if isinstance(kernel, str) else "")


def make_data(kind, n=80):
    """Draw samples, labels and new samples; in tenths, many distances are equal."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((n + 20, 5))
    Y = (X @ rng.standard_normal((5, 3)) + 0.5 * rng.standard_normal((n + 20, 3)) > 0.3).astype(int)
    if kind == "tenths":
        X = np.clip(np.round(X * 3), -5, 5) / 10
    return X[:n], Y[:n], X[n:]


def results(estimator, X, Y, new):
    """Fit, and return decisions, which are compared exactly, and numbers, which are not."""
    model = clone(estimator).fit(X, Y)
    exact = {"predict": model.predict(new)} if hasattr(model, "predict") else {}
    numbers = {
        name: getattr(model, name)(new)
        for name in ("decision_function", "predict_proba", "transform")
        if hasattr(model, name)
    }
    for name in ("best_params_", "ranking_", "n_components_", "rank_"):
        if hasattr(model, name):
            exact[name] = getattr(model, name)
    return exact, numbers


def assert_alike(found, wanted, name):
    """Compare decisions exactly, and chosen parameters, which may be relative to X, to rounding."""
    if isinstance(wanted, dict):
        assert found == pytest.approx(wanted, rel=1e-9), name
    elif isinstance(wanted, list):
        for one, other in zip(found, wanted, strict=True):
            assert_alike(one, other, name)
    else:
        np.testing.assert_array_equal(found, wanted, name)


def assert_same(found, wanted, tolerance):
    for name, value in wanted[0].items():
        assert_alike(found[0][name], value, name)
    for name, value in wanted[1].items():
        a, b = (np.asarray(A, dtype=float) for A in (found[1][name], value))
        assert a.shape == b.shape, name
        scale = np.abs(b).max(axis=0, initial=0.0)
        assert (np.abs(a - b) <= tolerance * np.maximum(scale, 1e-300)).all(), (
            name,
            (np.abs(a - b) / np.maximum(scale, 1e-300)).max(axis=0),
        )


CHANGES = {
    "Fortran order": np.asfortranarray,
    "another place in memory": lambda X: np.hstack([X[:, :1], X])[:, 1:],
    "a last digit": lambda X: X * (1 + 1e-15),
}


# LIBLINEAR ends at its tolerance of 1e-4, wherever that is.
TOLERANCES = {"ASOClassifier": 2e-3}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", ["normal", "tenths"])
@pytest.mark.parametrize("estimator", estimators(), ids=names)
def test_rounding_changes_nothing(estimator, kind):
    X, Y, new = make_data(kind)
    wanted = results(estimator, X, Y, new)
    for change in CHANGES.values():
        # Iterations end at their tolerances, and axes of kernels have half of all digits.
        tolerance = TOLERANCES.get(type(estimator).__name__, 1e-5)
        assert_same(results(estimator, change(X), Y, change(new)), wanted, tolerance)


NEIGHBOURS = [
    MLkNN(5),
    MLkNN(5, metric="manhattan"),
    MLkNN(5, metric="cosine"),
    JEC(),
    JEC(metric="cosine"),
    TagProp(10, weights="rank", sigmoid=False),
    GaussianFields(n_neighbors=5),
    BiRelationGraph(n_neighbors=5),
]


@pytest.mark.parametrize("model", NEIGHBOURS, ids=repr)
def test_tenths_have_the_same_neighbours_in_float32(model):
    """Whole numbers are exact in both types; tenths tie only up to the rounding of float32."""
    X, Y, new = make_data("tenths")
    wanted = results(model, np.round(10 * X), Y, np.round(10 * new))
    for dtype in (np.float64, np.float32):
        found = results(model, X.astype(dtype), Y, new.astype(dtype))
        np.testing.assert_array_equal(found[0]["predict"], wanted[0]["predict"])


@pytest.mark.parametrize("model", NEIGHBOURS, ids=repr)
def test_permuted_samples_have_the_same_neighbours(model):
    """Without ties: of tied samples the first ones count, which another order changes."""
    X, Y, new = make_data("normal")
    order = np.random.default_rng(0).permutation(len(X))
    wanted, found = results(model, X, Y, new), results(model, X[order], Y[order], new)
    assert_same(found, wanted, 1e-5)  # where TagProp's ascent ends


def naive_nearest(X, Z, k):
    """Sort whole-number squared distances, which are exact, then by index."""
    D = ((X[:, None] - Z[None]) ** 2).sum(axis=2)
    return np.argsort(D, axis=1, kind="stable")[:, :k]


@pytest.mark.parametrize("scale", [0.1, 1e-20, 1e20])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_nearest_samples_are_those_of_whole_numbers(scale, dtype, rng):
    X = rng.integers(-9, 10, (60, 4))
    wanted = naive_nearest(X[:20], X, 7)
    A = (X * scale).astype(dtype)
    for form in (np.asarray, sp.csr_array):
        D = EuclideanDistances(form(A))(form(A[:20]))
        rounding = Rounding(4 * np.finfo(dtype).eps * np.abs(A[:20]).max(axis=1, keepdims=True))
        np.testing.assert_array_equal(nearest_first(D, 7, rounding), wanted)
        np.testing.assert_array_equal(nearest(D, 7, rounding), np.sort(wanted, axis=1))


@pytest.mark.parametrize(
    "metric", ["euclidean", "manhattan", "sqeuclidean", "minkowski", "chebyshev", "cosine"]
)
def test_mlknn_of_large_float32_values_is_that_of_small_ones(metric, rng):
    X, Y = rng.integers(-9, 10, (60, 4)), rng.integers(0, 2, (60, 3))
    model = MLkNN(5, metric=metric)
    wanted = model.fit(X, Y).predict_proba(X)
    for scale in (1e20, 1e30, 1e-12):
        A = (X * scale).astype(np.float32)
        np.testing.assert_array_equal(model.fit(A, Y).predict_proba(A), wanted)


@pytest.mark.parametrize(
    "model",
    [
        GaussianFields(kernel="rbf", gamma=0.2, n_neighbors=10),
        GaussianFields(kernel="laplacian", gamma=0.2, n_neighbors=10),
        GaussianFields(kernel="chi2", gamma=20.0, n_neighbors=10),
        BiRelationGraph(kernel="rbf", gamma=0.2, n_neighbors=10),
        MLkNN(10, metric="sqeuclidean"),
        MLkNN(10, metric="manhattan"),
        MLkNN(10, metric="minkowski"),
        JEC(metric="chi2"),
    ],
    ids=repr,
)
def test_float32_samples_far_from_zero_keep_their_neighbours(model, rng):
    X = rng.standard_normal((300, 5)) + 300
    Y = np.column_stack([X[:, 0] > 300, X[:, 1] > X[:, 2], X[:, 3] > 300.5]).astype(int)
    wanted = model.fit(X[:200], Y[:200]).predict(X[200:])
    A = X.astype(np.float32)
    found = model.fit(A[:200], Y[:200]).predict(A[200:])
    assert (found != wanted).mean() < 0.01  # features of float32 have an error of 3e-5


def test_distances_are_accurate_wherever_samples_lie(rng):
    X = rng.standard_normal((40, 6))
    X[3] = X[5] + 1e-9  # nearly the same
    X[7] = X[9]
    far = np.vstack([X, X[:10] + 1e8])
    for Z in (X, X + 1e6, np.vstack([X, np.full((1, 6), 1e9)]), far, far[::-1]):
        exact = cdist(Z, Z)  # from differences
        for form in (np.asarray, sp.csr_array):
            np.testing.assert_allclose(EuclideanDistances(form(Z))(form(Z)), exact, rtol=1e-12)
        mixed = EuclideanDistances(Z)(sp.csr_array(Z)), EuclideanDistances(sp.csr_array(Z))(Z)
        for found in mixed:
            np.testing.assert_allclose(found, exact, rtol=1e-12)


def test_ties_go_by_index_and_differences_do_not():
    D = np.array([[0.3, 0.1 + 0.2, 0.1, np.inf, 0.3 - 1e-9]])
    rounding = Rounding(relative=1e-13)
    np.testing.assert_array_equal(nearest_first(D, 3, rounding), [[2, 4, 0]])
    np.testing.assert_array_equal(nearest(D, 1, Rounding()), [[2]])
    np.testing.assert_array_equal(nearest(D, 0, rounding), np.empty((1, 0)))
    np.testing.assert_array_equal(nearest_first(D, 9, rounding), [[2, 4, 0, 1, 3]])
    values = np.array([np.inf, 1.0, 1.0 - 1e-15, 0.5, np.inf])
    np.testing.assert_array_equal(tied_order(values, 1e-14), [3, 1, 2, 0, 4])
    assert first_largest(np.array([np.nan, 0.1 + 0.2, 0.3, 0.29])) == 1
    assert first_largest(np.array([0.3, 0.1 + 0.2])) == 0
    assert first_largest(np.array([np.nan, np.nan])) == 0
    scores = np.array([[0.3, 0.1 + 0.2, -5.0], [0.1, 0.3, 0.2], [-np.inf, -np.inf, 1.0]])
    np.testing.assert_array_equal(first_highest(scores), [0, 1, 2])


@pytest.mark.parametrize("name", ["linear", "rbf", "laplacian", "poly", "sigmoid", "cosine"])
def test_equally_similar_samples_are_joined_by_index(name, rng):
    half = rng.integers(1, 4, (30, 3)) / 10
    X = np.vstack([half, half, half])  # every similarity occurs three times
    kernel = Kernel(name, gamma=0.7)
    W = nearest_similarities(kernel, X[:5], X * (1 + 1e-16), 4, float).tocoo()
    K = np.round(kernel(X[:5], X), 9)
    wanted = np.argsort(-K, axis=1, kind="stable")[:, :4]
    np.testing.assert_array_equal(W.col.reshape(5, 4), np.sort(wanted, axis=1))


@pytest.mark.parametrize("projection", [MLSI, LPP, PCA])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_kernel_projections_of_few_features_are_not_noise(projection, d, rng):
    """The spectrum of a smooth kernel decays to rounding, and no direction may be made of that."""
    X = rng.standard_normal((80, d))
    Y = (X @ rng.standard_normal((d, 3)) + 0.3 * rng.standard_normal((80, 3)) > 0).astype(int)
    a, b = (projection(kernel="rbf").fit(A, Y) for A in (X, X * (1 + 1e-15)))
    A, B = a.transform(X), b.transform(X)
    assert A.shape == B.shape
    alike = np.einsum("ij,ij->j", A, B) / (np.linalg.norm(A, axis=0) * np.linalg.norm(B, axis=0))
    assert alike.min() > 1 - 1e-6  # axes have half of all digits
    assert np.abs(a.dual_coef_).max() < 1e8
    np.testing.assert_allclose(a.dual_coef_.sum(axis=0), 0, atol=1e-8 * np.abs(a.dual_coef_).max())


def test_features_that_tie_rank_by_index(rng):
    X = rng.integers(0, 10, (50, 3)) / 10
    Y = rng.integers(0, 2, (50, 3))
    twice = np.hstack([X, X, X])
    for A in (twice, np.asfortranarray(twice), twice * (1 + 1e-15), twice.astype(np.float32)):
        ranking = DiscriminativeSelector(4).fit(A, Y).ranking_.reshape(3, 3)
        assert (np.diff(ranking, axis=0) == 1).all()
        np.testing.assert_array_equal(
            DiscriminativeSelector(4).fit(sp.csr_array(A), Y).ranking_.reshape(3, 3), ranking
        )


def test_vectors_of_equal_eigenvalues_depend_on_their_space_alone(rng):
    Q = np.linalg.qr(rng.standard_normal((9, 9)))[0]
    values = np.array([3.0, 2, 2, 2, 1, 1, 0.5, 0, 0])
    turned = Q.copy()
    turned[:, 1:4] = Q[:, 1:4] @ np.linalg.qr(rng.standard_normal((3, 3)))[0]
    turned[:, 4:6] = Q[:, 4:6] @ np.linalg.qr(rng.standard_normal((2, 2)))[0]
    A, B = (fix_signs(turn_equal(values, W)) for W in (Q, turned))
    np.testing.assert_allclose(A, B, atol=1e-12)
    np.testing.assert_allclose(A.T @ A, np.eye(9), atol=1e-12)
    np.testing.assert_allclose(A * values @ A.T, Q * values @ Q.T, atol=1e-12)
    S = np.stack([Q * values @ Q.T, np.eye(9)])
    found, W = descending_eigh(S)
    np.testing.assert_allclose(W[0][:, :7], A[:, :7], atol=1e-12)  # not those of zero
    np.testing.assert_allclose(W[1], np.eye(9), atol=1e-12)
    np.testing.assert_allclose(found, [values, np.ones(9)], atol=1e-12)


def test_signs_do_not_depend_on_entries_that_tie():
    W = np.array([[-1.0, 0.2], [1.0, -0.2 - 1e-6], [0.5, 0.1]])
    for error in (-1e-6, 0.0, 1e-6):  # as vectors of close eigenvalues have
        np.testing.assert_array_equal(np.sign(fix_signs(W + error)), [[1, 1], [-1, -1], [-1, 1]])


def test_ridge_taggers_embed_in_one_basis():
    """Without reduction all eigenvalues are one, and any rotation of the scores would do."""
    X, Y, new = make_data("tenths")
    for kernel in ("rbf", "linear"):
        wanted = KernelRidgeTagger(kernel=kernel).fit(X, Y).transform(new)
        for change in CHANGES.values():
            found = KernelRidgeTagger(kernel=kernel).fit(change(X), Y).transform(change(new))
            np.testing.assert_allclose(found, wanted, atol=1e-9)
        order = np.random.default_rng(0).permutation(len(X))
        permuted = KernelRidgeTagger(kernel=kernel).fit(X[order], Y[order])
        np.testing.assert_allclose(permuted.transform(new), wanted, atol=1e-9)


def test_meka_counts_components_above_rounding(rng):
    """Kernel values of float32 samples are those of the same values in float64."""
    X = (rng.integers(0, 10, (200, 2)) / 10).astype(np.float32)
    K = np.exp(-cdist(X, X, "sqeuclidean"))
    counts = set()
    for A in (X, X.astype(float), np.asfortranarray(X), X * np.float32(1 + 2e-7)):
        model = MEKA(100, n_blocks=1, gamma=1.0, random_state=0).fit(A)
        counts.add(model.n_components_)
        Z = model.transform(A).astype(float)
        # Float32 features have seven digits.
        np.testing.assert_allclose(Z @ Z.T, K, atol=2e-8 if A.dtype == float else 2e-6)
    assert len(counts) == 1
    few = np.repeat(X[:12], 9, axis=0)
    assert MEKA(60, n_blocks=1, gamma=1.0, random_state=0).fit(few).n_components_ <= 12


def test_close_values_do_not_tie_in_chains():
    values = 1 - 0.9e-9 * np.arange(100)  # each is within 1e-9 of the next one
    moved = np.abs(values[tied_order(values, 1e-9)] - np.sort(values))
    assert 0 < moved.max() <= 1e-9
    assert tied_order(values, 1e-9)[0] > 95  # one of the smallest


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_full_column_of_sparse_samples_costs_no_differences(dtype, rng, monkeypatch):
    words = sp.random(80, 50, 0.2, random_state=0).toarray()
    X = np.column_stack([words, rng.integers(1900, 2030, 80)]).astype(dtype)
    X[3] = X[5]
    differences, pairs = EuclideanDistances._differences, []

    def counted(self, A, rows, columns):
        pairs.append(len(rows))
        return differences(self, A, rows, columns)

    monkeypatch.setattr(EuclideanDistances, "_differences", counted)
    found = EuclideanDistances(sp.csr_array(X))(sp.csr_array(X))
    np.testing.assert_allclose(found, cdist(X.astype(float), X.astype(float)), rtol=1e-12)
    assert sum(pairs) < 0.1 * found.size
    new = X[:5] * [[1.0] * 50 + [0.0]]  # without the column
    np.testing.assert_allclose(
        EuclideanDistances(sp.csr_array(X))(sp.csr_array(new)),
        cdist(new, X.astype(float)),
        rtol=1e-12,
    )
