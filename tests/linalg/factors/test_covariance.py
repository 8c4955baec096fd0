"""The d x d side of tall data."""

import numpy as np

from eigenlabel.linalg.factors.covariance import CovarianceFactor
from eigenlabel.linalg.operators import CentredOperator


def test_nothing_is_formed_before_a_solve(rng, monkeypatch):
    formed = []
    covariance = CentredOperator.covariance
    monkeypatch.setattr(CentredOperator, "covariance", lambda s: formed.append(1) or covariance(s))
    X, T = rng.standard_normal((20, 4)), rng.standard_normal((20, 2))
    factor = CovarianceFactor(CentredOperator(X))
    factor.scores(factor.adjoint(T))
    factor.gradient(T)
    assert not formed
    factor.solve(T, [0.1])
    factor.solve(T, [0.2])
    assert len(formed) == 1


def test_the_spectral_basis_is_that_of_the_gram_matrix(X_informative, rng):
    X = X_informative
    w = rng.uniform(0.5, 2, len(X))
    operator = CentredOperator(X, w)
    Q, lam = CovarianceFactor(operator).spectral_basis(0.0)
    Xc = np.sqrt(w)[:, None] * (X - np.average(X, axis=0, weights=w))
    np.testing.assert_allclose((Q * lam) @ Q.T, Xc @ Xc.T, atol=1e-9)
    np.testing.assert_allclose(Q.T @ Q, np.eye(len(lam)), atol=1e-9)
