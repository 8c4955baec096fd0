"""OPLS, which equals CCA for whitened labels."""

import numpy as np

from eigenlabel import (
    CCA,
    OPLS,
)


def test_opls_equals_cca_if_the_labels_are_orthonormal(rng):
    X = rng.standard_normal((60, 6))
    Y = np.eye(2, dtype=int)[np.arange(60) % 2]  # two labels of equal size, one for each sample
    a, b = OPLS(reg=0.1).fit(X, Y), CCA(reg=0.1).fit(X, Y)
    np.testing.assert_allclose(a.components_, b.components_, atol=1e-8)
    np.testing.assert_allclose(a.eigenvalues_[0], 30 * b.eigenvalues_[0])


def test_frequent_labels_count_more_than_rare_ones(rng):
    X = rng.standard_normal((400, 2))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 2.2]).astype(int)
    first = OPLS(1).fit(X, Y).components_[0]
    assert abs(first[0]) > 5 * abs(first[1])
