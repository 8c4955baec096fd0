"""CCA against scikit-learn."""

import numpy as np
from sklearn import cross_decomposition

from eigenlabel import (
    CCA,
)
from helpers import labels_of


def test_cca_has_the_canonical_correlations_of_scikit_learn(rng):
    X = rng.standard_normal((80, 6))
    Y = labels_of(X, rng, 3)
    theirs = cross_decomposition.CCA(3, scale=False, max_iter=5000, tol=1e-12).fit(X, Y)
    a, b = theirs.transform(X, Y)
    expected = [np.corrcoef(a[:, k], b[:, k])[0, 1] for k in range(3)]
    # its power iterations stop at a tolerance of their own
    np.testing.assert_allclose(np.sqrt(CCA(reg=0.0).fit(X, Y).eigenvalues_), expected, atol=1e-5)
