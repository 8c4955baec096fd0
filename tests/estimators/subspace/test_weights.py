"""Weights: full and factored ones, of features and of kernel values."""

import numpy as np
import pytest

from eigenlabel.estimators.subspace.weights import Domain, Factored, Full
from eigenlabel.kernels.kernel import Kernel


@pytest.mark.parametrize("kernel", [Kernel("linear"), Kernel("rbf", 0.5)])
def test_factored_weights_score_like_their_product(rng, kernel):
    X, Z = rng.standard_normal((20, 4)), rng.standard_normal((7, 4))
    basis, V = rng.standard_normal((4 if kernel.linear else 20, 3)), rng.standard_normal((3, 5))
    domain = Domain(kernel, X.dtype, X)
    intercept, offset = rng.standard_normal(5), rng.standard_normal(3)
    factored = Factored(intercept, domain.map(basis), offset, V)
    full = Full(intercept, domain.map(basis), offset, domain.map(basis @ V))
    features = Z if kernel.linear else kernel.values(Z, X)
    np.testing.assert_allclose(full.scores(Z), features @ basis @ V + intercept, atol=1e-12)
    np.testing.assert_allclose(factored.scores(Z), full.scores(Z), atol=1e-12)
    np.testing.assert_allclose(factored.full(np.inf), full.full(0.0), atol=1e-12)
    np.testing.assert_allclose(full.embed(Z), features @ basis - offset, atol=1e-12)
    assert full.label_weights is None
    assert factored.label_weights is V


def test_the_product_of_factors_must_fit_in_memory(rng):
    domain = Domain(Kernel("linear"), np.dtype(float))
    basis, V = rng.standard_normal((4, 3)), rng.standard_normal((3, 5))
    weights = Factored(np.zeros(5), domain.map(basis), np.zeros(3), V)
    with pytest.raises(MemoryError, match=r"coef_ of 4 x 5 numbers would take 160 bytes"):
        weights.full(159.0)
    assert weights.full(160.0).shape == (5, 4)


def test_weights_have_the_precision_of_the_samples(rng):
    domain = Domain(Kernel("linear"), np.dtype(np.float32))
    assert domain.map(rng.standard_normal((4, 3))).array.dtype == np.float32
