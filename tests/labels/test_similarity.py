import numpy as np
import pytest

from eigenlabel.labels.similarity import (
    class_indicator,
    correlated_labels,
    hypergraph,
    label_correlation,
    square_root,
    whitened,
)

Y = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1], [1, 1, 0], [0, 0, 1]])


def test_a_square_root_rebuilds_the_positive_part(rng):
    A = rng.standard_normal((4, 2))
    R = square_root(A @ A.T)
    assert R.shape == (4, 2)
    np.testing.assert_allclose(R @ R.T, A @ A.T, atol=1e-12)
    np.testing.assert_allclose(square_root(np.diag([4.0, -1.0])), [[2.0], [0.0]])
    with pytest.raises(ValueError, match="B must be symmetric"):
        square_root(np.array([[1.0, 2.0], [0.0, 1.0]]))
    with pytest.raises(ValueError, match="no positive eigenvalue"):
        square_root(-np.eye(2))


def test_whitened_labels_have_the_identity_as_covariance():
    T = whitened(Y[:, :2], 0.0)
    np.testing.assert_allclose(T.T @ T, np.eye(2), atol=1e-12)
    doubled = whitened(Y[:, [0, 0, 1]], 0.0)  # of rank two
    np.testing.assert_allclose(doubled.T @ doubled, np.eye(2), atol=1e-12)
    Yc = Y - Y.mean(axis=0)
    expected = Yc @ np.linalg.inv(Yc.T @ Yc + 0.5 * np.eye(3)) @ Yc.T
    T = whitened(Y, 0.5)
    np.testing.assert_allclose(T @ T.T, expected, atol=1e-12)


def test_the_indicator_of_lda_has_columns_of_unit_length():
    np.testing.assert_allclose((class_indicator(Y) ** 2).sum(axis=0), 1)
    assert not class_indicator(np.zeros((2, 2))).any()


@pytest.mark.parametrize("kind", ["clique", "star", "zhou"])
def test_a_hypergraph_laplacian_has_eigenvalues_between_zero_and_one(kind):
    T = hypergraph(Y, kind)
    values = np.linalg.eigvalsh(np.eye(len(Y)) - T @ T.T)
    assert values.min() == pytest.approx(0, abs=1e-12)
    assert values.max() <= 1 + 1e-12


@pytest.mark.parametrize("kind", ["linear", "cosine", "conditional", "rbf", "shrunk"])
def test_correlated_labels_by_name_and_by_matrix_are_equal(kind):
    B = label_correlation(Y, kind, 0.5)
    named, given = correlated_labels(Y, kind, 0.5), correlated_labels(Y, B, 0.5)
    whole = correlated_labels(Y, Y @ square_root(B) @ square_root(B).T @ Y.T, 0.5)
    for T in (named, given, whole):
        np.testing.assert_allclose(T @ T.T, Y @ square_root(B) @ square_root(B).T @ Y.T, atol=1e-10)


def test_a_label_kernel_of_another_shape_raises():
    with pytest.raises(ValueError, match="between the 3 labels or between the 5 samples"):
        correlated_labels(Y, np.eye(4), 1.0)
    with pytest.raises(TypeError, match="label_kernel must be one of"):
        correlated_labels(Y, object(), 1.0)


def test_label_correlations_by_hand():
    Y = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    cosine = label_correlation(Y, "cosine")
    assert cosine[0, 1] == pytest.approx(2 / 3)
    assert cosine[0, 2] == 0, "a label without positives has to do with none"
    assert cosine[2, 2] == 1
    assert label_correlation(Y, "conditional")[0, 1] == pytest.approx(2 / 3)
    assert label_correlation(Y, "rbf_unit", 0.5)[0, 1] == pytest.approx(np.exp(-0.5 * (2 - 4 / 3)))
    differ = np.count_nonzero(np.asarray(Y)[:, 0] != np.asarray(Y)[:, 1])
    assert label_correlation(Y, "rbf", 0.5)[0, 1] == pytest.approx(np.exp(-0.5 * differ))
    np.testing.assert_array_equal(label_correlation(Y, "linear"), np.eye(3))
    many = np.repeat(Y[:, :2], 5000, axis=0)
    expected = np.corrcoef(many.T)[0, 1]
    assert label_correlation(many, "shrunk")[0, 1] == pytest.approx(expected, rel=0.01)
    noise = np.random.default_rng(0).integers(2, size=(30, 8))
    shrunk, plain = label_correlation(noise, "shrunk"), np.corrcoef(noise.T)
    assert np.abs(shrunk - np.eye(8)).sum() < 0.5 * np.abs(plain - np.eye(8)).sum()


def test_samples_without_labels_and_empty_labels_have_zero_rows_and_columns():
    Y = np.array([[1, 0, 1], [0, 0, 0], [1, 0, 0]])
    for kind in ("clique", "star", "zhou"):
        T = hypergraph(Y, kind)
        assert np.isfinite(T).all()
        assert not T[1].any()
        assert not T[:, 1].any()
