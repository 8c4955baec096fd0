"""The dependence of kernel matrices, by its definitions."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel import metrics


def test_hsic_estimates_by_their_definitions(rng):
    n = 12
    K, L = (A @ A.T for A in rng.standard_normal((2, n, 3)))
    H = np.eye(n) - 1 / n
    assert metrics.hsic(K, L) == pytest.approx(np.trace(K @ H @ L @ H) / (n - 1) ** 2)
    # Unbiased (Song et al., 2012): sums over tuples of different indices, written out.
    a = np.mean([K[i, j] * L[i, j] for i in range(n) for j in range(n) if i != j])
    b = np.mean(
        [
            K[i, j] * L[q, r]
            for i in range(n)
            for j in range(n)
            for q in range(n)
            for r in range(n)
            if len({i, j, q, r}) == 4
        ]
    )
    c = np.mean(
        [
            K[i, j] * L[i, q]
            for i in range(n)
            for j in range(n)
            for q in range(n)
            if len({i, j, q}) == 3
        ]
    )
    assert metrics.hsic(K, L, unbiased=True) == pytest.approx(a + b - 2 * c)
    with pytest.raises(ValueError, match="square matrices of one size"):
        metrics.hsic(K, L[:5])
    with pytest.raises(ValueError, match="at least 4 samples"):
        metrics.hsic(K[:3, :3], L[:3, :3], unbiased=True)


def test_hsic_of_sparse_kernels_and_of_holes():
    K = np.diag([1.0, 2, 3, 4])
    assert metrics.hsic(sp.csr_array(K), K) == pytest.approx(metrics.hsic(K, K))
    K[0, 0] = np.nan
    with pytest.raises(ValueError, match="K and L must be finite"):
        metrics.hsic(K, np.eye(4))
