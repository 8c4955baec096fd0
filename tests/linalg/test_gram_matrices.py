"""Gram matrices: centring, symmetry and positive semi-definiteness."""

import numpy as np
import pytest

from eigenlabel.linalg import gram_matrices
from eigenlabel.linalg.gram_matrices import centre_gram, nearest_psd, scaled_gram


def test_centre_gram_equals_centred_features(rng):
    X, w = rng.standard_normal((7, 3)), rng.uniform(1, 2, 7)
    Xc = X - np.average(X, axis=0, weights=w)
    K, row_mean = centre_gram(X @ X.T, w)
    np.testing.assert_allclose(K, Xc @ Xc.T, atol=1e-13)
    np.testing.assert_allclose(row_mean, X @ np.average(X, axis=0, weights=w), atol=1e-13)


def test_symmetric_part_and_the_place_farthest_from_it(rng, monkeypatch):
    monkeypatch.setattr(gram_matrices, "TILE", 3)
    K = rng.standard_normal((8, 8))
    S, (i, j) = gram_matrices.symmetric_part(K)
    np.testing.assert_array_equal(S, (K + K.T) / 2)
    assert abs(K - K.T)[i, j] == abs(K - K.T).max()
    assert i < j
    assert gram_matrices.symmetric_part(np.eye(4))[1] == (0, 0)


def test_nearest_psd_drops_the_negative_part(rng):
    Q = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    lam = np.array([-2.0, -1e-3, 0.0, 0.5, 1.0, 4.0])
    K, kept, smallest = nearest_psd((Q * lam) @ Q.T, 1e-13)
    np.testing.assert_allclose(K, (Q * np.maximum(lam, 0)) @ Q.T, atol=1e-12)
    np.testing.assert_allclose(kept @ kept.T, Q[:, 3:] @ Q[:, 3:].T, atol=1e-12)
    assert smallest == pytest.approx(-0.5)
    good = (Q * np.abs(lam)) @ Q.T
    same, kept, none = nearest_psd(good, 1e-13)
    assert same is good
    assert kept is None
    assert none == 0.0
    assert nearest_psd(-np.eye(3), 1e-13)[1].shape == (3, 0)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_constant_direction_is_lifted(rng, weighted):
    X = rng.standard_normal((8, 30))
    w = rng.uniform(0.5, 2, 8) if weighted else None
    root = None if w is None else np.sqrt(w)
    K = centre_gram(X @ X.T, w)[0]
    lam = np.linalg.eigvalsh(scaled_gram(K, root, True))
    flat = np.linalg.eigvalsh(scaled_gram(K, root, False))
    assert abs(flat[0]) < 1e-12 * flat[-1]
    np.testing.assert_allclose(np.delete(lam, np.abs(lam - flat.mean()).argmin()), flat[1:])
