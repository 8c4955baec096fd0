"""Which factor is chosen, by shape and memory."""

import pytest

from eigenlabel.linalg.factors import factorise as choosing
from eigenlabel.linalg.factors.covariance import CovarianceFactor
from eigenlabel.linalg.factors.factorise import factorise
from eigenlabel.linalg.factors.gram import LinearGramFactor
from eigenlabel.linalg.factors.krylov import KrylovFactor
from eigenlabel.linalg.operators import CentredOperator


def test_auto_takes_the_smaller_side(rng):
    assert isinstance(factorise(CentredOperator(rng.standard_normal((5, 9)))), LinearGramFactor)
    assert isinstance(factorise(CentredOperator(rng.standard_normal((9, 5)))), CovarianceFactor)


def test_a_problem_that_does_not_fit_raises_memory_error(monkeypatch, rng):
    monkeypatch.setattr(choosing, "memory_limit", lambda: 8.0 * 1000)
    with pytest.raises(MemoryError, match=r"Gram factor needs about .* 50 x 50"):
        factorise(CentredOperator(rng.standard_normal((50, 60))), route="gram")
    with pytest.raises(MemoryError, match="covariance factor"):
        factorise(CentredOperator(rng.standard_normal((60, 50))), route="covariance")


def test_auto_takes_products_when_neither_side_fits(rng, monkeypatch):
    operator = CentredOperator(rng.standard_normal((30, 20)))
    assert isinstance(factorise(operator), CovarianceFactor)
    assert isinstance(factorise(operator, max_memory=40 * 20 * 20), CovarianceFactor)
    assert isinstance(factorise(operator, max_memory=40 * 20 * 20 - 1), KrylovFactor)
    assert isinstance(factorise(operator, route="krylov"), KrylovFactor)
    monkeypatch.setattr(choosing, "memory_limit", lambda: 40.0 * 20 * 20 - 1)
    assert isinstance(factorise(operator), KrylovFactor)
    with pytest.raises(MemoryError, match="Use solver='krylov'"):
        factorise(operator, route="gram")
