"""Quadratic forms with a tie, as matrices and as products."""

import numpy as np
import pytest

from eigenlabel.linalg.operators import CentredOperator
from eigenlabel.linalg.solvers import quadratic
from eigenlabel.linalg.solvers.quadratic import (
    ProductCurvature,
    ProductSolver,
    Quadratic,
    StoredCurvature,
)


@pytest.fixture(params=[(30, 8), (8, 30)])
def operator(request, rng):
    n, p = request.param
    return CentredOperator(rng.standard_normal((n, p)), rng.uniform(0.5, 2, n))


def forms(operator, shift, tie):
    S = operator.covariance()
    H = S + shift * np.eye(len(S)) + tie
    stored, products = StoredCurvature(S), ProductCurvature(operator)
    return H, Quadratic(stored, shift, tie), Quadratic(products, shift, tie)


@pytest.mark.parametrize("tie", [0.0, 0.7])
def test_gradients_are_those_of_the_matrix(operator, rng, tie):
    H, *both = forms(operator, 0.5, tie)
    c, b = rng.standard_normal((2, len(H)))
    b[::3] = 0.0
    for form in both:
        np.testing.assert_allclose(form.gradient(c, b), c - H @ b, atol=1e-10)
        np.testing.assert_array_equal(form.gradient(c, 0 * b), c)


@pytest.mark.parametrize("direct", [400, 2])
@pytest.mark.parametrize("iterations", [300, 1])
def test_blocks_are_solved(operator, rng, monkeypatch, direct, iterations):
    monkeypatch.setattr(quadratic, "DIRECT", direct)
    monkeypatch.setattr(quadratic, "CG_ITERATIONS", iterations)
    H, *both = forms(operator, 0.5, 0.7)
    A, keep = np.arange(0, len(H), 2), np.array([0, 1, 3])
    right = rng.standard_normal(3)
    expected = np.linalg.solve(H[np.ix_(A[keep], A[keep])], right)
    for form in both:
        found = form.solver(A).solve(keep, right, np.zeros(3), 1e-12)
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_large_blocks_without_a_matrix_are_products(operator, monkeypatch):
    monkeypatch.setattr(quadratic, "DIRECT", 2)
    products = Quadratic(ProductCurvature(operator), 0.5, 0.7)
    assert isinstance(products.solver(np.arange(5)), ProductSolver)
    assert not isinstance(products.solver(np.arange(2)), ProductSolver)


def test_a_singular_block_is_solved_nearly():
    H = np.ones((3, 3))
    found = quadratic.BlockSolver(H).solve(np.arange(3), np.ones(3), np.zeros(3), 0.0)
    np.testing.assert_allclose(H @ found, 1.0, rtol=1e-6)  # JITTER is 1e-10 of the diagonal
