"""Kernels in a classifier: precomputed, indefinite, sparse and large ones."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import chi2_kernel

from eigenlabel import (
    CCA,
    KGHA,
    MDDM,
    MEKA,
    SharedSubspaceClassifier,
    SharedSubspaceClassifierCV,
)
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.kernels.kernel import intersection_kernel


@pytest.fixture
def data():
    return make_shared_subspace(60, 5, 4, random_state=0)


def test_a_precomputed_kernel_must_be_square_and_symmetric(data):
    model = SharedSubspaceClassifier(kernel="precomputed")
    with pytest.raises(ValueError, match=r"needs a square kernel matrix .* got \(60, 5\)"):
        model.fit(data.X, data.Y)
    K = data.X @ data.X.T
    K[2, 7] += 1
    with pytest.raises(ValueError, match=r"not symmetric: K\[2, 7\] = "):
        model.fit(K, data.Y)
    model.fit(data.X @ data.X.T, data.Y)
    with pytest.raises(ValueError, match="expecting 60 features"):
        model.predict(data.X)


def test_an_indefinite_kernel_is_repaired_with_a_warning(data):
    K = data.X @ data.X.T
    lam, Q = np.linalg.eigh(K)
    bad = (Q * np.r_[-lam[-1] / 2, lam[1:]]) @ Q.T
    repaired = (Q * np.r_[0.0, np.maximum(lam[1:], 0)]) @ Q.T
    model = SharedSubspaceClassifier(kernel="precomputed", fit_intercept=False)
    with pytest.warns(UserWarning, match="smallest eigenvalue -0.5 of the largest"):
        model.fit(bad, data.Y)
    found = model.decision_function(repaired)
    expected = model.fit(repaired, data.Y).decision_function(repaired)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_the_sigmoid_kernel_works(data):
    model = SharedSubspaceClassifierCV(kernel="sigmoid", gamma=0.05, coef0=0.0, cv=3)
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        model.fit(data.X, data.Y)
    assert model.best_score_ > 0.5


def test_rounding_below_zero_in_a_kernel_does_not_warn(data):
    lam, Q = np.linalg.eigh(data.X @ data.X.T)
    K = (Q * np.r_[-1e-10 * lam[-1], np.maximum(lam[1:], 0)]) @ Q.T
    model = SharedSubspaceClassifier(kernel="precomputed").fit((K + K.T) / 2, data.Y)
    assert np.isfinite(model.dual_coef_).all()  # and warnings are errors


def test_a_distance_as_kernel_raises_an_error(data):
    model = SharedSubspaceClassifier(kernel="precomputed")
    with pytest.raises(ValueError, match=r"no positive eigenvalue.*not a distance"):
        model.fit(-(data.X @ data.X.T), data.Y)


def test_sparse_kernels_accept_64_bit_indices(data):
    X = sp.csr_array(data.X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    for kernel in ("laplacian", "rbf", "poly"):
        expected = SharedSubspaceClassifier(kernel=kernel).fit(data.X, data.Y).dual_coef_
        found = SharedSubspaceClassifier(kernel=kernel).fit(X, data.Y).dual_coef_
        np.testing.assert_allclose(found, expected, atol=1e-8)


DATA = make_shared_subspace(30, 4, 3, random_state=0)


X = np.abs(DATA.X) / np.abs(DATA.X).max()


def with_one(value, dtype):
    A = X.astype(dtype)
    A[3, 2] = value
    return A


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "cosine"])
def test_kernels_of_float32_do_not_overflow(kernel):
    """Squares of float32 values leave their range, the kernel values do not."""
    A = with_one(1e25, np.float32)
    scores = SharedSubspaceClassifier(kernel=kernel).fit(A, DATA.Y).decision_function(A)
    assert scores.dtype == np.float32
    A = A.astype(float)
    expected = SharedSubspaceClassifier(kernel=kernel).fit(A, DATA.Y).decision_function(A)
    # Kernel values are rounded to float32, 6e-8, and beta = 1e-3 divides them.
    np.testing.assert_allclose(scores, expected, atol=1e-3)


def test_kernels_that_overflow_raise_an_error():
    poly = SharedSubspaceClassifier(kernel="poly", degree=4)
    with pytest.raises(ValueError, match=r"on the training data\. Rescale X"):
        poly.fit(with_one(1e25, np.float32), DATA.Y)
    poly.fit(X.astype(np.float32), DATA.Y)
    with pytest.raises(ValueError, match=r"on these samples\. Rescale X"):
        poly.predict(with_one(1e25, np.float32))


def test_kernels_of_histograms(rng):
    X, Z = rng.random((12, 5)), rng.random((7, 5))
    wanted = np.array([[np.minimum(x, z).sum() for z in Z] for x in X])
    np.testing.assert_allclose(intersection_kernel(X, Z), wanted, atol=1e-12)
    np.testing.assert_allclose(
        intersection_kernel(sp.csr_array(X), sp.csr_array(Z)), wanted, atol=1e-12
    )
    Y = rng.integers(0, 2, (12, 3))
    for name, K in (("intersection", intersection_kernel), ("chi2", chi2_kernel)):
        named = KGHA(kernel=name).fit(X, Y).decision_function(Z)
        given = KGHA(kernel="precomputed").fit(K(X, X), Y).decision_function(K(Z, X))
        np.testing.assert_allclose(named, given, atol=1e-10)
        for features in (MEKA(12, n_landmarks=12, random_state=0), Nystroem(n_components=12)):
            mapped = KGHA(kernel=name, approximation=features).fit(X, Y).decision_function(X)
            exact = KGHA(kernel=name).fit(X, Y).decision_function(X)
            np.testing.assert_allclose(mapped, exact, atol=1e-8)


@pytest.mark.parametrize("kernel", ["intersection", "chi2"])
def test_methods_with_one_kernel_accept_histograms(rng, kernel):
    X, Z, Y = rng.random((30, 5)), rng.random((7, 5)), rng.integers(0, 2, (30, 3))
    K = {"intersection": intersection_kernel, "chi2": chi2_kernel}[kernel]
    for method in (SharedSubspaceClassifier, MDDM, CCA):
        named = method(kernel=kernel, n_components=2).fit(X, Y)
        given = method(kernel="precomputed", n_components=2).fit(K(X, X), Y)
        if method is SharedSubspaceClassifier:
            found, wanted = named.decision_function(Z), given.decision_function(K(Z, X))
        else:
            found, wanted = named.transform(Z), given.transform(K(Z, X))
        np.testing.assert_allclose(found, wanted, atol=1e-10)
        with pytest.raises(ValueError, match=r"values >= 0|negative values"):
            method(kernel=kernel).fit(-X, Y)
        assert method(kernel=kernel).__sklearn_tags__().input_tags.positive_only
    if kernel == "intersection":
        sparse = SharedSubspaceClassifier(kernel=kernel).fit(sp.csr_array(X), Y)
        dense = SharedSubspaceClassifier(kernel=kernel).fit(X, Y)
        np.testing.assert_allclose(
            sparse.decision_function(sp.csr_array(Z)), dense.decision_function(Z), atol=1e-10
        )
