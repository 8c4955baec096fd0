"""The n x n side of kernels and of wide data."""

import numpy as np

from eigenlabel.linalg.factors.factorise import factorise
from eigenlabel.linalg.factors.gram import GramFactor
from eigenlabel.linalg.numerics import rank_tolerance
from eigenlabel.linalg.operators import CentredOperator


def test_the_rank_rule_knows_the_number_of_features(rng):
    X = rng.standard_normal((5, 400))
    factor = factorise(CentredOperator(X), route="gram")
    assert factor.tolerance == rank_tolerance(400, np.float64)
    assert GramFactor(X @ X.T).tolerance == rank_tolerance(5, np.float64)
