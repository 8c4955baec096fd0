"""Dual coefficients in the metric of a kernel."""

import numpy as np

from eigenlabel.linalg.factors.gram import GramFactor, orthonormalise_dual


def test_a_basis_is_orthonormal_in_the_metric_and_spans_the_directions(rng):
    F = rng.standard_normal((12, 5))
    factor = GramFactor(F @ F.T)
    C = rng.standard_normal((12, 3))
    C -= C.mean(axis=0)
    basis, R = orthonormalise_dual(factor, C)
    np.testing.assert_allclose(factor.inner(basis, basis), np.eye(3), atol=1e-9)
    np.testing.assert_allclose(basis @ R, C, atol=1e-9)
    assert (np.diag(R) > 0).all()
