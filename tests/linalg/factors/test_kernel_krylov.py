"""Kernel ridge regressions from products alone."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from eigenlabel.linalg.factors.gram import GramFactor
from eigenlabel.linalg.factors.kernel_krylov import KernelKrylovFactor
from eigenlabel.linalg.solvers.conjugate_gradients import preconditioned_cg


def kernel(A, B):
    return rbf_kernel(A, B, gamma=0.2)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("centre", [False, True])
def test_kernel_solves_are_those_of_the_gram_matrix(rng, weighted, centre, sparse):
    X, T = rng.standard_normal((70, 5)), rng.standard_normal((70, 3))
    w = rng.uniform(0.5, 2, 70) if weighted else None
    exact = GramFactor(kernel(X, X), w, centre)
    ours = KernelKrylovFactor(kernel, sp.csr_array(X) if sparse else X, w, centre, tol=1e-12)
    shifts = [1e-4, 1.0, 1e-2]
    solution = ours.solve(T, shifts)
    wanted = exact.solve(T, shifts).coefficients
    np.testing.assert_allclose(solution.coefficients, wanted, atol=1e-8)
    assert solution.residuals.shape == (3, 3)
    assert solution.residuals.max() <= 1e-12
    a, b = rng.standard_normal((2, 70, 2))
    np.testing.assert_allclose(ours.inner(a, b), exact.inner(a, b), atol=1e-10)
    np.testing.assert_allclose(ours.gradient(T), exact.gradient(T), atol=1e-14)
    np.testing.assert_allclose(ours.row_mean, exact.row_mean, atol=1e-14)


def test_the_preconditioner_saves_iterations(rng):
    X, T = rng.standard_normal((300, 2)), rng.standard_normal((300, 2))
    ours = KernelKrylovFactor(kernel, X, tol=1e-8)
    solution = ours.solve(T, [1e-6])
    K = GramFactor(kernel(X, X)).K
    _, _, plain = preconditioned_cg(
        lambda P: K @ P, T - T.mean(axis=0), np.full(2, 3e-4), lambda R, s: R, 1e-8, 1000
    )
    assert solution.n_iter < plain / 3


def test_kernel_columns_go_in_groups(rng):
    X, T = rng.standard_normal((40, 5)), rng.standard_normal((40, 3))
    wanted = KernelKrylovFactor(kernel, X, tol=1e-10).solve(T, [0.1, 1.0]).coefficients
    room = 2 * 8 * 40 * 6 + 8 * 6 * 40 * 4
    ours = KernelKrylovFactor(kernel, X, tol=1e-10, max_memory=room)
    np.testing.assert_allclose(ours.solve(T, [0.1, 1.0]).coefficients, wanted, rtol=1e-7)
    with pytest.raises(MemoryError, match="max_memory"):
        KernelKrylovFactor(kernel, X, max_memory=2 * 8 * 40 * 6).solve(T, [0.1, 1.0])


def test_a_kernel_that_is_not_positive_semi_definite_raises(rng):
    X, T = rng.standard_normal((30, 3)), rng.standard_normal((30, 2))
    with pytest.raises(ValueError, match="not positive semi-definite"):
        KernelKrylovFactor(lambda A, B: -kernel(A, B), X, centre=False).solve(T, [1e-3])
