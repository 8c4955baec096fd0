"""Kernel matrices of training samples: symmetric, finite and positive semi-definite."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import pairwise_kernels

from eigenlabel import KGHA, SharedSubspaceClassifier
from eigenlabel.kernels.gram import gram_matrix
from eigenlabel.kernels.kernel import KERNELS, Kernel

INDEFINITE = Kernel("poly", gamma=1.0, degree=2, coef0=-1)


def positive_part(K):
    lam, Q = np.linalg.eigh(K)
    return (Q * np.maximum(lam, 0)) @ Q.T


@pytest.mark.parametrize(
    "name", [k for k in KERNELS if k not in ("precomputed", "intersection", "sigmoid")]
)
def test_a_gram_matrix_is_the_kernel_matrix(rng, name):
    X = rng.random((12, 3))
    kernel = Kernel(name).settle(X)
    gram = gram_matrix(kernel, X)
    params = {} if kernel.gamma is None else {"gamma": kernel.gamma}
    if name == "poly":
        params["coef0"] = 1
    np.testing.assert_allclose(gram.K, pairwise_kernels(X, metric=name, **params), atol=1e-12)
    assert gram.positive is None


@pytest.mark.parametrize("name", [k for k in KERNELS if k not in ("precomputed", "sigmoid")])
def test_kernels_called_positive_definite_have_no_negative_eigenvalue(rng, name):
    X = rng.random((20, 3))
    kernel = Kernel(name).settle(X)
    assert kernel.positive_definite
    assert np.linalg.eigvalsh(kernel(X, X)).min() > -1e-12


@pytest.mark.parametrize(
    "kernel", [INDEFINITE, Kernel("poly", degree=1.5), Kernel("sigmoid"), Kernel(np.dot)]
)
def test_other_kernels_are_not(kernel):
    assert not kernel.positive_definite


def test_the_negative_part_of_an_indefinite_kernel_is_left_out_with_a_warning(rng):
    X = rng.standard_normal((15, 2))
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        gram = gram_matrix(INDEFINITE, X)
    np.testing.assert_allclose(gram.K, positive_part(INDEFINITE(X, X)), atol=1e-10)
    with pytest.raises(ValueError, match=r"not positive semi-definite .* Pass repair=True"):
        gram_matrix(INDEFINITE, X, repair=False)


@pytest.mark.parametrize("model", [SharedSubspaceClassifier, KGHA])
def test_every_method_repairs_an_indefinite_kernel(rng, model):
    X, Y = rng.standard_normal((30, 3)), rng.integers(0, 2, (30, 4))
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        model(kernel="poly", gamma=1.0, degree=2, coef0=-1).fit(X, Y)


def test_values_that_are_not_numbers_raise_an_error(rng):
    X = rng.standard_normal((5, 2))
    with pytest.raises(ValueError, match="returns NaN or infinity on the training data"):
        gram_matrix(Kernel(lambda A, B: np.full((len(A), len(B)), np.nan)), X)


def test_a_matrix_that_is_not_symmetric_raises_an_error(rng):
    K = rng.standard_normal((5, 5))
    with pytest.raises(ValueError, match="not symmetric"):
        gram_matrix(Kernel("precomputed"), K)


def test_a_negative_definite_matrix_raises_an_error():
    with pytest.raises(ValueError, match="no positive eigenvalue"):
        gram_matrix(Kernel("precomputed"), -np.eye(4))
