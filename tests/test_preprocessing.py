import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.preprocessing import drop_rare


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csc_array])
def test_labels_then_samples_then_words(form):
    X = np.array([[9, 1, 0], [0, 1, 1], [0, 1, 1], [5, 0, 1]])
    Y = np.array([[1, 0], [1, 0], [1, 1], [0, 1]])
    kept = drop_rare(form(X), Y, min_positives=3, min_documents=2)
    # Label 1 has two positives and goes; sample 3 then has no label; word 0 is left in one sample
    # (nine times: occurrences do not count), word 2 in two.
    assert kept.labels.tolist() == [0]
    assert kept.samples.tolist() == [0, 1, 2]
    assert kept.features.tolist() == [1, 2]
    dense = kept.X.toarray() if sp.issparse(kept.X) else kept.X
    np.testing.assert_array_equal(dense, [[1, 0], [1, 1], [1, 1]])
    np.testing.assert_array_equal(kept.Y, [[1], [1], [1]])


def test_explicit_zeros_are_not_words():
    X = sp.csr_array(([0.0, 1.0], ([0, 1], [0, 1])), shape=(2, 2))
    assert drop_rare(X, [[1], [1]], min_positives=1, min_documents=1).features.tolist() == [1]


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="X has 2 samples, Y has 1"):
        drop_rare(np.ones((2, 1)), [[1]])


def test_the_result_fits_scikit_learn():
    from sklearn.svm import LinearSVC

    X = sp.csr_matrix(np.eye(4))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    Y = np.array([[1], [0], [1], [1]])
    kept = drop_rare(X, Y, min_positives=1, min_documents=1)
    assert kept.X.shape == (3, 3)
    assert LinearSVC().fit(kept.X, [0, 1, 1]).coef_.shape == (1, 3)
