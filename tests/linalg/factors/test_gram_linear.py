"""The n x n side of wide data."""

import numpy as np

from eigenlabel.linalg.factors.covariance import CovarianceFactor
from eigenlabel.linalg.factors.gram import LinearGramFactor
from eigenlabel.linalg.operators import CentredOperator


def test_rows_are_copied_only_when_weights_are_exported(rng, monkeypatch):
    X, T = rng.standard_normal((12, 30)), rng.standard_normal((12, 2))
    factor = LinearGramFactor(CentredOperator(X))
    copies = []
    recentred = CentredOperator.recentred
    monkeypatch.setattr(CentredOperator, "recentred", lambda *a: copies.append(1) or recentred(*a))
    part = factor.restrict(np.arange(8))
    c = part.solve(T[:8], [0.1]).coefficients[0]
    assert not copies
    expected = CovarianceFactor(CentredOperator(X[:8])).solve(T[:8], [0.1]).coefficients[0]
    np.testing.assert_allclose(part.export(c), expected, atol=1e-10)
    assert len(copies) == 1


def test_parts_of_parts_are_parts_of_the_whole(rng):
    X, T = rng.standard_normal((12, 30)), rng.standard_normal((4, 2))
    rows = np.array([1, 3, 5, 7])
    part = LinearGramFactor(CentredOperator(X)).restrict(np.arange(1, 12)).restrict(rows - 1)
    expected = LinearGramFactor(CentredOperator(X[rows]))
    a, b = (f.export(f.solve(T, [0.1]).coefficients[0]) for f in (part, expected))
    np.testing.assert_allclose(a, b, atol=1e-10)
    np.testing.assert_allclose(part.origin, X[rows].mean(axis=0), atol=1e-12)
