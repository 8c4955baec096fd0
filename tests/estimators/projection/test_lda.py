"""LDA, which equals CCA for classes."""

import numpy as np

from eigenlabel import (
    CCA,
    LDA,
)


def test_lda_equals_cca_if_each_sample_has_one_label(rng):
    X = rng.standard_normal((60, 5))
    y = rng.integers(4, size=60)
    Y = np.eye(4, dtype=int)[y]
    a, b = CCA(reg=0.2).fit(X, Y), LDA(reg=0.2).fit(X, Y)
    np.testing.assert_allclose(a.eigenvalues_[:3], b.eigenvalues_[:3])
    np.testing.assert_allclose(a.transform(X), b.transform(X), atol=1e-8)
    np.testing.assert_allclose(CCA(reg=0.2).fit(X, y).transform(X), a.transform(X), atol=1e-8)
