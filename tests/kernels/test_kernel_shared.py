"""Kernels that share the argument of their function on some samples."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import pairwise_kernels

from eigenlabel.kernels.kernel import Kernel, SharedKernel, is_list, settle_bandwidths


@pytest.mark.parametrize("gamma", [None, 0.0, 0.3])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("name", ["rbf", "laplacian", "chi2", "poly", "sigmoid"])
def test_kernels_with_a_bandwidth_are_functions_of_one_argument(rng, name, make, gamma):
    if name == "chi2" and make is sp.csr_array:
        pytest.skip("chi2 accepts dense features only")
    X, Z = (make(np.abs(rng.standard_normal((n, 4)))) for n in (9, 5))
    kernel = Kernel(name, gamma, degree=2, coef0=0.5)
    given = {"gamma": gamma} if gamma is not None else {}
    given |= {"poly": {"degree": 2, "coef0": 0.5}, "sigmoid": {"coef0": 0.5}}.get(name, {})
    expected = pairwise_kernels(X, Z, metric=name, **given)
    np.testing.assert_allclose(kernel(X, Z), expected, rtol=1e-13)
    B = kernel.argument(X, Z)
    before = B.copy()
    np.testing.assert_allclose(kernel.evaluate(B, 4), expected, rtol=1e-13)
    np.testing.assert_array_equal(B, before)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_of_the_remembered_samples_are_those_of_the_kernel(rng, dtype):
    X, Z = rng.standard_normal((9, 4)).astype(dtype), rng.standard_normal((5, 4)).astype(dtype)
    shared = SharedKernel.of(Kernel("rbf"), X)
    for gamma in (0.2, 1.5):
        kernel, own = replace(shared, gamma=gamma), Kernel("rbf", gamma)
        for A, B in ((X, X), (X, Z), (Z, X), (X.copy(), X)):
            found, expected = kernel.values(A, B), own.values(A, B)
            assert found.dtype == expected.dtype == dtype
            np.testing.assert_allclose(found, expected, rtol=4 * np.finfo(dtype).eps)


def test_remembered_values_are_used(rng):
    X = rng.standard_normal((6, 2))
    kernel = replace(SharedKernel.of(Kernel("rbf", 1.0), X), shared=np.zeros((6, 6)))
    np.testing.assert_array_equal(kernel(X, X), 1.0)


def test_lists_are_told_from_numbers_and_names():
    assert all(is_list(g) for g in ([0.1], (None,), np.ones(2), {0.1}))
    assert not any(is_list(g) for g in (None, 0.1, np.float64(0.1), "rbf"))


def test_bandwidths_are_settled_by_the_rule_of_the_kernel(rng):
    X = rng.standard_normal((20, 4))
    rule = Kernel("rbf").settle(X).gamma
    assert settle_bandwidths(Kernel("rbf"), [None, 2, 0.5], X) == [rule, 2.0, 0.5]
    assert settle_bandwidths(Kernel("poly"), np.array([0.5]), X) == [0.5]
    assert settle_bandwidths(Kernel("laplacian"), [None], X) == [0.25]
