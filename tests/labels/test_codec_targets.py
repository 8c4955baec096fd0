import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.labels.codec import signed_targets, sparse_targets

Y = np.array([[1, 0, 1], [0, 0, 1]])


def test_targets_are_plus_and_minus_one():
    np.testing.assert_array_equal(signed_targets(Y.astype(bool)), 2 * Y - 1)


@pytest.mark.parametrize("centre", [False, True])
def test_sparse_targets_multiply_as_dense_ones(centre):
    T = 2.0 * Y - 1
    T = T - T.mean(axis=0) if centre else T
    found = sparse_targets(sp.csr_array(Y), None, centre).matmat(np.eye(3))
    np.testing.assert_allclose(found, T, atol=1e-15)
