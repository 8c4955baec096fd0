"""Bounds on the rounding errors of distances and kernels."""

import numpy as np
import pytest
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import additive_chi2_kernel

from eigenlabel.kernels.kernel import Kernel
from eigenlabel.kernels.rounding import kernel_rounding, metric_rounding


def exactly(metric, X, Z):
    if metric == "chi2":
        return -additive_chi2_kernel(X, Z)
    return pairwise_distances(X, Z, metric=metric)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan", "chebyshev", "chi2"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_distances_of_float32_samples_err_by_less_than_the_bound(metric, scale, rng):
    X, Z = scale * rng.random((20, 5)), scale * rng.random((30, 5))
    rounded = [A.astype(np.float32).astype(float) for A in (X, Z)]
    D = exactly(metric, X, Z)
    bound = metric_rounding(metric, X, np.float32).at(D)
    assert (np.abs(exactly(metric, *rounded) - D) <= bound).all()


def test_precomputed_distances_are_exact_up_to_their_last_digits():
    D = np.array([[1.0, 100.0]])
    for metric in ("precomputed", pairwise_distances):
        bound = metric_rounding(metric, D, np.float64)
        assert bound.absolute == 0
        assert (bound.at(D) < 1e-13 * D).all()


@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "sigmoid", "cosine", "laplacian"])
def test_kernels_of_float32_samples_err_by_less_than_the_bound(name, rng):
    X, Z = rng.standard_normal((20, 5)), rng.standard_normal((30, 5))
    rounded = [A.astype(np.float32).astype(float) for A in (X, Z)]
    kernel = Kernel(name, 0.3)
    K = kernel(X, Z)
    bound = kernel_rounding(kernel, X, Z, np.float32).at(K)
    assert (np.abs(kernel(*rounded) - K) <= bound).all()


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_kernels_of_distances_err_by_the_size_of_the_samples(name, rng):
    # Samples that are close together and far from the origin: only their distances are small.
    X, Z = (1e3 + rng.standard_normal((n, 5)) for n in (20, 30))
    rounded = [A.astype(np.float32).astype(float) for A in (X, Z)]
    kernel = Kernel(name, 0.3)
    K = kernel(X, Z)
    bound = kernel_rounding(kernel, X, Z, np.float32).at(K)
    assert (np.abs(kernel(*rounded) - K) <= bound).all()


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_kernels_with_gamma_zero_are_exact_up_to_their_last_digits(name, rng):
    X, kernel = 1e3 + rng.standard_normal((4, 5)), Kernel(name, 0.0)
    K = kernel(X, X)
    np.testing.assert_array_equal(K, 1.0)
    bound = kernel_rounding(kernel, X, X, np.float64).at(K)
    assert (bound < 1e-13).all()
