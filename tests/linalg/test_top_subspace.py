"""Many sparse targets without their matrix S, against dense algebra."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.linalg import operators
from eigenlabel.linalg.factors.factorise import factorise
from eigenlabel.linalg.factors.gram import GramFactor
from eigenlabel.linalg.factors.krylov import KrylovFactor
from eigenlabel.linalg.operators import CentredOperator
from eigenlabel.linalg.top_subspace import column_pieces, dense_memory, factored_memory
from helpers import ridge

FACTORS = {
    route: lambda X, route=route: factorise(
        CentredOperator(X), True, route, tol=1e-13, max_iter=5000
    )
    for route in ("gram", "covariance", "krylov")
}
FACTORS["kernel"] = lambda X: GramFactor(X @ X.T)


def problem(rng, m=12):
    X, T = rng.standard_normal((40, 9)), (rng.random((40, m)) < 0.3).astype(float)
    return X, T, CentredOperator(sp.csr_array(T))


@pytest.mark.parametrize("name", FACTORS)
@pytest.mark.parametrize("alpha", [0.2, np.inf])
def test_eigenvectors_and_weights_are_those_of_s(rng, monkeypatch, name, alpha):
    monkeypatch.setattr(operators, "BLOCK_BYTES", 8 * 300)  # several pieces of columns
    X, T, targets = problem(rng)
    factor, beta = FACTORS[name](X), 0.1
    side = factor.side(targets, beta)
    found = side.top(alpha, beta, 3)
    A = ridge(X, T, beta)[0]
    Xc, Tc = X - X.mean(axis=0), T - T.mean(axis=0)
    B = Xc.T @ Tc / len(X) if np.isinf(alpha) else ridge(X, T, alpha + beta)[0]
    S = A.T @ B
    np.testing.assert_allclose(found.eigenvalues, np.linalg.eigvalsh(S)[::-1][:3], rtol=1e-9)
    np.testing.assert_allclose(S @ found.W, found.W * found.eigenvalues, atol=1e-10)
    np.testing.assert_allclose(found.W.T @ found.W, np.eye(3), atol=1e-10)
    lift = (lambda c: Xc.T @ c) if name == "kernel" else factor.export
    np.testing.assert_allclose(lift(found.directions), A @ found.W, atol=1e-9)
    shift = 0.3 if np.isinf(alpha) else alpha + beta
    P = side.ridge(found.W, beta)
    weights = side.weights(shift, P, found.W)
    expected = ridge(X, T, shift)[0] + A @ found.W @ found.W.T
    weights = Xc.T @ weights if name == "kernel" else weights
    np.testing.assert_allclose(weights, expected, atol=1e-9)
    assert side.shortfall is None
    assert (side.n_iter > 1) == (name == "krylov")


def test_one_shortfall_states_many_solves_that_stop_early(rng):
    X, _, targets = problem(rng)
    side = KrylovFactor(CentredOperator(X * np.logspace(0, 3, 9)), max_iter=1).side(targets, 0.0)
    side.top(np.inf, 1e-6, 2)
    assert side.shortfall is not None
    assert "residual" in side.shortfall.message


def test_pieces_cover_all_columns(monkeypatch):
    monkeypatch.setattr(operators, "BLOCK_BYTES", 8 * 10)
    pieces = list(column_pieces(7, 5))
    assert [len(piece) for piece in pieces] == [2, 2, 2, 1]
    np.testing.assert_array_equal(np.concatenate(pieces), np.arange(7))


def test_memory_without_s_is_linear_in_the_number_of_targets():
    few, many = (
        factored_memory(1000, 500, m, 20, full=False, exact=False)[0] for m in (10**4, 10**5)
    )
    assert many < 10 * few
    assert dense_memory(1000, 500, 10**5) > 80 * dense_memory(1000, 500, 10**4)
