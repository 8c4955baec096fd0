"""When iterative solvers stop, and what they state."""

import numpy as np
import pytest

from eigenlabel.linalg.factors import krylov
from eigenlabel.linalg.factors.krylov import KrylovFactor
from eigenlabel.linalg.operators import CentredOperator
from helpers import true_residuals, with_spectrum


def test_memory_bounds_the_columns_solved_at_once(rng, monkeypatch):
    X, T = rng.standard_normal((50, 20)), rng.standard_normal((50, 7))
    wanted = KrylovFactor(CentredOperator(X)).solve(T, [0.1, 1.0]).coefficients
    widths = []
    cg = krylov.shifted_cg
    monkeypatch.setattr(
        krylov, "shifted_cg", lambda o, B, *a: widths.append(B.shape[1]) or cg(o, B, *a)
    )
    answer, label = 8 * 2 * 20 * 7, 8 * ((2 * 2 + 4) * 20 + 2 * 50)
    factor = KrylovFactor(CentredOperator(X), max_memory=answer + 3 * label)
    solution = factor.solve(T, [0.1, 1.0])
    np.testing.assert_allclose(solution.coefficients, wanted, rtol=1e-10)
    assert widths == [3, 3, 1]
    assert solution.residuals.shape == (2, 7)
    with pytest.raises(
        MemoryError, match=r"4.22 KiB, .* max_memory, .* has 4.22 KiB for it. Use fewer shifts"
    ):
        KrylovFactor(CentredOperator(X), max_memory=answer + label - 1).solve(T, [0.1, 1.0])


def test_a_solve_that_stops_early_states_its_residual(rng):
    X, T = with_spectrum(60, 40, 1e4, rng), rng.standard_normal((60, 3))
    factor = KrylovFactor(CentredOperator(X), max_iter=5)
    solution = factor.solve(T, [1e-7, 1.0])
    found = solution.coefficients
    assert "after 5 iterations, max_iter = 5 at a relative" in solution.shortfall.message
    assert solution.shortfall.residual == solution.residuals.max()
    assert solution.shortfall.wanted == 1e-6
    assert solution.residuals[0].min() > 1e-6
    assert solution.residuals[1].max() < 1e-6
    residuals = true_residuals(factor, T, [1e-7, 1.0], found)
    np.testing.assert_allclose(solution.residuals, residuals, rtol=1e-6)


def test_rounding_is_part_of_the_stated_residual(rng):
    X, T = with_spectrum(60, 10, 1e6, rng), rng.standard_normal((60, 3))
    factor = KrylovFactor(CentredOperator(X), tol=1e-16, max_iter=300)
    solution = factor.solve(T, [1e-12])
    found = solution.coefficients
    assert "relative residual" in solution.shortfall.message
    assert (solution.residuals > 1e-16).all()
    assert (true_residuals(factor, T, [1e-12], found) < 1e3 * solution.residuals).all()
