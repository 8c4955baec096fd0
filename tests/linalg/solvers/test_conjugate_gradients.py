"""Conjugate gradients against dense solves."""

import numpy as np
import scipy.sparse as sp

from eigenlabel.linalg import operators
from eigenlabel.linalg.factors.krylov import KrylovFactor
from eigenlabel.linalg.operators import CentredOperator
from eigenlabel.linalg.solvers import conjugate_gradients
from eigenlabel.linalg.solvers.conjugate_gradients import preconditioned_cg, shifted_cg
from helpers import with_spectrum

SHIFTS = [1e-3, 10.0, 0.1, 1e-3]  # neither sorted nor distinct


def test_larger_shifts_stop_early(rng, monkeypatch):
    X, T = with_spectrum(100, 30, 10, rng), rng.standard_normal((100, 5))
    counts = []
    advance = conjugate_gradients._advance
    monkeypatch.setattr(
        conjugate_gradients, "_advance", lambda *a: counts.append(a[-1]) or advance(*a)
    )
    KrylovFactor(CentredOperator(X)).solve(T, [1e-6, 1.0, 100.0])
    assert counts[0] == 3
    assert counts[-1] == 1
    assert counts == sorted(counts, reverse=True)


def test_pieces_and_threads_change_nothing(rng, monkeypatch):
    X, T = sp.random_array((200, 90), density=0.2, rng=rng, format="csr"), rng.random((200, 4))
    wanted = KrylovFactor(CentredOperator(X)).solve(T, SHIFTS).coefficients
    monkeypatch.setattr(conjugate_gradients, "CACHE_NUMBERS", 8)
    monkeypatch.setattr(operators, "PARALLEL", 1)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    np.testing.assert_allclose(
        KrylovFactor(CentredOperator(X)).solve(T, SHIFTS).coefficients, wanted, rtol=1e-9
    )


def test_shifted_cg_is_its_definition(rng):
    X, B = rng.standard_normal((20, 6)), rng.standard_normal((6, 3))
    x, residuals, steps = shifted_cg(
        CentredOperator(X, None, False), B, np.array([0.5, 2.0]), 1e-12, 50
    )
    for k, s in enumerate((0.5, 2.0)):
        np.testing.assert_allclose((X.T @ X + s * np.eye(6)) @ x[k], B, atol=1e-10)
    assert residuals.max() <= 1e-12
    assert steps <= 8  # one for each distinct eigenvalue, but for rounding


def test_a_target_without_curvature_stays_at_zero():
    A, B = np.diag([2.0, 0.0]), np.array([[0.0, 1.0], [1.0, 0.0]])  # A B[:, 0] = 0
    x, residuals, steps = preconditioned_cg(
        lambda P: A @ P, B, np.zeros(2), lambda R, shifts: R, 1e-12, 50
    )
    np.testing.assert_allclose(x, [[0.0, 0.5], [0.0, 0.0]])
    np.testing.assert_allclose(residuals, [1.0, 0.0])
    assert steps == 1
