"""Data in coordinates of their own rank."""

import numpy as np
import pytest

from eigenlabel.linalg.factors.covariance import CovarianceFactor
from eigenlabel.linalg.factors.gram import GramFactor, LinearGramFactor
from eigenlabel.linalg.factors.krylov import KrylovFactor
from eigenlabel.linalg.operators import CentredOperator
from eigenlabel.linalg.row_space import principal_axes

FACTORS = {
    "covariance": lambda X: CovarianceFactor(CentredOperator(X)),
    "linear gram": lambda X: LinearGramFactor(CentredOperator(X)),
    "gram": lambda X: GramFactor(X @ X.T),
}


@pytest.mark.parametrize("name", FACTORS)
def test_coordinates_have_the_inner_products_of_the_data(X, rng, name):
    factor = FACTORS[name](X)
    space, Xc = factor.row_space(), X - X.mean(axis=0)
    Z = space.data()
    assert Z.shape[1] == np.linalg.matrix_rank(Xc)
    np.testing.assert_allclose(Z @ Z.T, Xc @ Xc.T, atol=1e-8)
    np.testing.assert_allclose(Z.T @ Z, np.diag(space.values), atol=1e-8)
    P = rng.standard_normal((Z.shape[1], 2))
    np.testing.assert_allclose(factor.scores(space.lift(P)), Z @ P, atol=1e-8)
    axes = space.principal(2)
    np.testing.assert_allclose(factor.inner(axes, axes), np.eye(axes.shape[1]), atol=1e-8)


def test_axes_of_a_kernel_below_the_root_of_the_precision_are_left_out():
    K = np.diag([1.0, 1e-7, 1e-9])
    assert len(GramFactor(K, centre=False).row_space().values) == 2
    assert GramFactor(K, centre=False).row_space().keep(np.array([1.0, 1e-7, 1e-9])) == 2


def test_a_factor_without_a_matrix_has_no_axes(rng):
    with pytest.raises(MemoryError, match="principal axes"):
        KrylovFactor(CentredOperator(rng.standard_normal((5, 3)))).row_space()


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_rank_is_relative(rng, scale):
    F = rng.standard_normal((6, 2))
    values, axes = principal_axes(scale * F @ F.T, 1e-12)
    assert len(values) == 2
    np.testing.assert_allclose((axes * values) @ axes.T, scale * F @ F.T, atol=1e-12 * scale)
    assert len(principal_axes(np.zeros((3, 3)), 1e-12)[0]) == 0
