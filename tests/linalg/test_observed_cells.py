"""Targets that are observed on some samples."""

import numpy as np
import pytest

from eigenlabel.linalg.observed_cells import Cells, MaskedOperator, number_patterns
from eigenlabel.linalg.operators import CentredOperator


@pytest.fixture
def observed(rng):
    """Five labels: two with the same samples, one on all, one on some, one never observed."""

    def draw(n):
        M = rng.random((n, 5)) < 0.7
        M[:3, :4] = True
        M[:, 1], M[:, 2], M[:, 4] = M[:, 0], True, False
        return M

    return draw


@pytest.mark.parametrize("centre", [False, True])
def test_the_operator_is_symmetric_and_dense_algebra(rng, observed, centre):
    X, M, w = rng.standard_normal((15, 4)) + 2, observed(15), rng.uniform(0.5, 2, 15)
    cells = Cells(M, w)
    operator = MaskedOperator(CentredOperator(X, w, centre), cells, centre)
    P, R = rng.standard_normal((2, 4, 5))
    product, curvature = operator.normal(P)
    for j in range(5):
        o = M[:, j]
        if not o.any():
            np.testing.assert_array_equal(product[:, j], 0)
            continue
        Xo = X[o] - (w[o] @ X[o] / w[o].sum() if centre else 0)
        np.testing.assert_allclose(product[:, j], Xo.T @ (w[o] * (Xo @ P[:, j])), atol=1e-10)
        np.testing.assert_allclose(curvature[j], P[:, j] @ product[:, j], atol=1e-10)
    dots = np.einsum("ij,ij->j", R, product), np.einsum("ij,ij->j", P, operator.normal(R)[0])
    np.testing.assert_allclose(*dots, atol=1e-10)


def test_patterns_are_numbered():
    M = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 1, 0]], dtype=bool)
    found = number_patterns(M)
    assert found[0] == found[2]
    assert len(set(found.tolist())) == 3
