"""Synthetic data have the structure that they are drawn with."""

import numpy as np
import pytest

from eigenlabel.datasets import make_shared_subspace


def test_the_labels_depend_on_the_shared_subspace():
    data = make_shared_subspace(20_000, 30, 12, 4, prevalence=0.2, noise=0.0, random_state=1)
    Theta, V = data.truth["components"], data.truth["loadings"]
    np.testing.assert_allclose(Theta @ Theta.T, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(V, axis=0), 1)
    signal = data.X @ Theta.T @ V
    for j in range(12):  # without noise a label is exactly a cut of its signal
        assert signal[data.Y[:, j] == 1, j].min() >= signal[data.Y[:, j] == 0, j].max()
    share = data.Y.mean(axis=0)
    assert share.min() > 0.2 / 3.1
    assert share.max() < 0.2 * 3.1


def test_the_seed_determines_the_data():
    a, b = make_shared_subspace(50, random_state=3), make_shared_subspace(50, random_state=3)
    np.testing.assert_array_equal(a.Y, b.Y)
    assert (a.X != make_shared_subspace(50, random_state=4).X).any()
    assert len(a.feature_names) == a.X.shape[1]
    assert len(a.label_names) == a.Y.shape[1]


def test_invalid_sizes_raise():
    with pytest.raises(ValueError, match="n_components must be an integer between 1 and 5, got 6"):
        make_shared_subspace(10, 5, 3, 6)
    with pytest.raises(ValueError, match="noise"):
        make_shared_subspace(noise=-1)
