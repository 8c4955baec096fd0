"""Hypergraph spectral learning for classes."""

import numpy as np
import pytest

from eigenlabel import (
    LDA,
    HypergraphSpectral,
)


@pytest.mark.parametrize("laplacian", ["clique", "star", "zhou"])
def test_all_laplacians_equal_lda_if_each_sample_has_one_label(laplacian, rng):
    X = rng.standard_normal((60, 5))
    y = rng.integers(3, size=60)
    model = HypergraphSpectral(laplacian=laplacian, reg=0.2).fit(X, y)
    np.testing.assert_allclose(model.transform(X), LDA(reg=0.2).fit(X, y).transform(X), atol=1e-8)


def test_an_unknown_laplacian_raises_an_error(rng):
    with pytest.raises(ValueError, match="laplacian must be one of 'clique', 'star', 'zhou'"):
        HypergraphSpectral(laplacian="line").fit(rng.standard_normal((9, 2)), np.eye(9, dtype=int))
