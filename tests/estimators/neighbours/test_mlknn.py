"""MLkNN: the published algorithm, metrics, indexes and ties."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

from eigenlabel import MLkNN, metrics
from eigenlabel.datasets import load
from eigenlabel.linalg import operators


def naive_neighbours(D, k, own=None):
    """Sort by distance, then by index; equal distances may differ in their last digits."""
    rows = []
    for i, row in enumerate(D.round(12)):
        order = sorted((d, j) for j, d in enumerate(row) if own is None or j != own[i])
        rows.append(sorted(j for _, j in order[:k]))
    return np.array(rows)


def naive_mlknn(X, Y, X_new, k, s, metric="euclidean"):
    """Zhang and Zhou (2007), Figure 1, label by label."""
    n, m = Y.shape
    k = min(k, n - 1)
    training = naive_neighbours(pairwise_distances(X, metric=metric), k, range(n))
    new = naive_neighbours(pairwise_distances(X_new, X, metric=metric), k)
    P = np.zeros((len(X_new), m))
    for label in range(m):
        prior = (s + sum(Y[:, label])) / (s * 2 + n)
        c, c_not = np.zeros(k + 1), np.zeros(k + 1)
        for i in range(n):
            delta = sum(Y[j, label] for j in training[i])
            if Y[i, label]:
                c[delta] += 1
            else:
                c_not[delta] += 1
        for i in range(len(X_new)):
            delta = sum(Y[j, label] for j in new[i])
            have = prior * (s + c[delta]) / (s * (k + 1) + c.sum())
            lack = (1 - prior) * (s + c_not[delta]) / (s * (k + 1) + c_not.sum())
            P[i, label] = have / (have + lack)
    return P


@pytest.fixture
def data(rng):
    X = rng.integers(0, 3, (60, 4)).astype(float)  # whole numbers: ties everywhere
    Y = (X[:, :3] + rng.integers(0, 2, (60, 3)) > 2).astype(int)
    return X[:45], Y[:45], X[45:]


@pytest.mark.parametrize("k", [1, 4, 10, 44, 100])
@pytest.mark.parametrize("smoothing", [0.3, 1.0])
def test_equals_the_published_algorithm(data, k, smoothing):
    X, Y, X_new = data
    expected = naive_mlknn(X, Y, X_new, k, smoothing)
    for form in (np.asarray, sp.csr_array):
        model = MLkNN(k, smoothing).fit(form(X), sp.csr_array(Y))
        P = model.predict_proba(form(X_new))
        np.testing.assert_allclose(P, expected)
        np.testing.assert_array_equal(model.predict(form(X_new)).toarray(), expected >= 0.5)


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "chebyshev"])
def test_other_metrics_equal_their_precomputed_distances(data, metric):
    X, Y, X_new = (a + 1.0 if k != 1 else a for k, a in enumerate(data))
    expected = naive_mlknn(X, Y, X_new, 5, 1.0, metric)
    np.testing.assert_allclose(MLkNN(5, metric=metric).fit(X, Y).predict_proba(X_new), expected)
    # Given distances count as they are: 1 - cos errs by more than the last digit of a small one.
    D = pairwise_distances(X, metric=metric).round(12)
    D_new = pairwise_distances(X_new, X, metric=metric).round(12)
    model = MLkNN(5, metric="precomputed").fit(D, Y)
    np.testing.assert_allclose(model.predict_proba(D_new), expected)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_strips_do_not_change_the_result(rng, monkeypatch, metric):
    X, Y = rng.standard_normal((400, 30)), rng.integers(0, 2, (400, 5))
    X = pairwise_distances(X) if metric == "precomputed" else X
    copy = X.copy()
    whole = MLkNN(metric=metric).fit(X, Y).predict_proba(X)
    monkeypatch.setattr(operators, "BLOCK_BYTES", 16 * 6000)  # 15 rows at once
    np.testing.assert_allclose(MLkNN(metric=metric).fit(X, Y).predict_proba(X), whole)
    np.testing.assert_array_equal(X, copy)


def test_an_index_of_the_user_is_used(data):
    X, Y, X_new = (
        data[0] + np.random.default_rng(0).uniform(0, 0.01, data[0].shape),
        data[1],
        data[2],
    )
    exact = MLkNN(5).fit(X, Y).predict_proba(X_new)
    index = NearestNeighbors(algorithm="ball_tree")
    indexed = MLkNN(5, index=index).fit(X, Y)
    np.testing.assert_allclose(indexed.predict_proba(X_new), exact)
    assert not hasattr(index, "n_samples_fit_")  # what was passed in stays as it was


def test_duplicates_zero_rows_and_few_samples():
    X = np.array([[0.0, 0], [0, 0], [0, 0], [1, 1]])
    Y = np.array([[1], [1], [0], [0]])
    model = MLkNN(2).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(X), naive_mlknn(X, Y, X, 2, 1.0))
    with pytest.raises(ValueError, match="at least 2 samples"):
        MLkNN().fit(X[:1], Y[:1])
    with pytest.raises(ValueError, match="does not support sparse X"):
        MLkNN(metric="chebyshev").fit(sp.csr_array(X), Y)


def test_a_label_that_is_as_likely_as_not_is_predicted():
    # The four pairs of nearest neighbours are all combinations: the neighbour says nothing.
    X = np.array([[0.0], [1], [10], [11], [20], [21], [30], [31]])
    Y = np.array([[1], [1], [1], [0], [0], [1], [0], [0]])
    model = MLkNN(1).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), 0.5)
    np.testing.assert_array_equal(model.predict(X), 1)


def test_a_vector_of_classes(rng):
    X = np.vstack([rng.normal(c, 0.3, (20, 2)) for c in (0, 3, 6)])
    y = np.repeat(["a", "b", "c"], 20)
    model = MLkNN(5).fit(X, y)
    assert (model.predict(X) == y).mean() > 0.95
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    binary = MLkNN(5).fit(X[:40], y[:40])
    assert (binary.predict(X[:40]) == y[:40]).mean() > 0.95
    assert binary.predict_proba(X).shape == (60, 2)


def test_the_known_result_on_real_data(data_folder):
    data = load(data_folder / "yahoo_lamda" / "Arts.mat")
    train, test = data.splits["published"]
    P = MLkNN().fit(data.X[train], data.Y[train]).predict_proba(data.X[test])
    # 0.5093 is the result of the authors' code with its tie rule; any other has 0.5117.
    assert metrics.average_precision(data.Y[test], P) == pytest.approx(0.5093, abs=1e-4)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_ties_up_to_rounding_are_ties_whatever_the_batch(metric):
    rng = np.random.default_rng(0)
    whole = (rng.random((120, 8)) < 0.4).astype(float)
    whole[:, 0] = 1  # no row of zeros, which has no cosine
    Y = (rng.random((120, 3)) < 0.4).astype(int)
    expected = MLkNN(metric=metric).fit(whole, Y).predict_proba(whole)
    for scale in (1 / np.sqrt(8), 0.1, 1e-3, 7.0):
        B = whole * scale
        model = MLkNN(metric=metric).fit(B, Y)
        P = model.predict_proba(B)
        np.testing.assert_array_equal(P, expected)
        rows = np.vstack([model.predict_proba(B[i : i + 1]) for i in range(0, 120, 7)])
        np.testing.assert_array_equal(rows, P[::7])
        sparse = MLkNN(metric=metric).fit(sp.csr_array(B), Y)
        np.testing.assert_array_equal(sparse.predict_proba(sp.csr_array(B)), P)


def test_precomputed_distances_are_distances(data):
    X, Y, _ = data
    with pytest.raises(ValueError, match="square matrix of distances"):
        MLkNN(metric="precomputed").fit(X, Y)
    with pytest.raises(ValueError, match="Are these similarities"):
        MLkNN(metric="precomputed").fit(-np.ones((len(Y), len(Y))), Y)
    with pytest.raises(ValueError, match="rescale X"):
        MLkNN().fit(X * 1e155, Y)


def test_an_index_by_name_raises_an_error(rng):
    with pytest.raises(TypeError, match=r"index must be an object with fit\(X\) and kneighbors"):
        MLkNN(index="annoy").fit(rng.standard_normal((20, 3)), rng.integers(0, 2, (20, 2)))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("metric", ["euclidean", "l2"])
def test_neighbours_are_right_far_from_the_origin_and_beside_outliers(
    rng, form, metric, monkeypatch
):
    monkeypatch.setattr(operators, "BLOCK_BYTES", 16 * 1000)  # a dozen samples at once
    X = rng.standard_normal((120, 3)).astype(np.float32).astype(float)  # room for an offset
    Y = (X @ rng.standard_normal((3, 2)) > 0).astype(int)
    expected = MLkNN(5).fit(X[:80], Y[:80]).predict_proba(X[80:])
    for far in (2.0**10, 2.0**27):
        A = np.column_stack([X, np.full(120, far)])
        model = MLkNN(5, metric=metric).fit(form(A[:80]), Y[:80])
        np.testing.assert_array_equal(model.predict_proba(form(A[80:])), expected)
    train, labels = np.vstack([X[:80], np.full((1, 3), 1e9)]), np.vstack([Y[:80], [[1, 1]]])
    model = MLkNN(5, metric=metric).fit(form(train), labels)
    near = NearestNeighbors(n_neighbors=5, algorithm="kd_tree").fit(train)
    counts = labels[near.kneighbors(X[80:], return_distance=False)].sum(axis=1)
    without, have = (side[np.arange(2), counts] for side in model.likelihood_)
    chances = model.prior_ * have / (model.prior_ * have + (1 - model.prior_) * without)
    np.testing.assert_allclose(model.predict_proba(form(X[80:])), chances, rtol=1e-12)


def test_duplicates_far_from_the_origin_count_by_index():
    X = np.array([[1e8], [1e8], [1e8 + 2], [1e8 + 1], [1e8 + 3]])
    Y = np.array([[1], [0], [1], [1], [0]])
    model = MLkNN(2).fit(X, Y)
    near = MLkNN(2).fit(X - 1e8, Y)
    np.testing.assert_array_equal(model.likelihood_, near.likelihood_)
    np.testing.assert_array_equal(model.predict_proba(X), near.predict_proba(X - 1e8))


@pytest.mark.parametrize(
    ("metric", "words"),
    [("seuclidean", r"Put .*StandardScaler\(\)"), ("mahalanobis", r"Put .*PCA\(whiten=True\)")],
)
def test_metrics_with_parameters_raise_an_error_with_advice(metric, words, rng):
    X, Y = rng.standard_normal((20, 3)), rng.integers(0, 2, (20, 2))
    with pytest.raises(ValueError, match=words):
        MLkNN(metric=metric).fit(X, Y)


def test_negative_distances_raise_an_error_in_fit_and_predict(rng):
    X, Y = rng.standard_normal((20, 3)), rng.integers(0, 2, (20, 2))
    D = pairwise_distances(X)
    with pytest.raises(ValueError, match="is less than 0"):
        MLkNN(metric="precomputed").fit(-D, Y)
    model = MLkNN(metric="precomputed").fit(D, Y)
    with pytest.raises(ValueError, match="is less than 0"):
        model.predict(-D[:3])
