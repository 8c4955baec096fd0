"""Rare labels and words are dropped, as in the papers."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.preprocessing import (
    DocumentFrequencySelector,
    drop_rare,
    text_preparation,
)


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


def test_rare_features_are_dropped_by_their_number_of_samples(rng):
    X = rng.poisson(0.5, (30, 12)).astype(float)
    X[0, 0] = 100  # many occurrences in few samples
    X[1:, 0] = 0
    keep = [j for j in range(12) if sum(X[i, j] != 0 for i in range(30)) >= 10]
    assert 0 < len(keep) < 12
    for form in (X, sp.csr_array(X)):
        select = DocumentFrequencySelector(10).fit(form)
        out = select.transform(form)
        np.testing.assert_array_equal(out.toarray() if sp.issparse(out) else out, X[:, keep])
        names = select.get_feature_names_out([f"w{j}" for j in range(12)])
        assert names.tolist() == [f"w{j}" for j in keep]


def test_the_text_preparation_is_fitted_on_training_rows_only(rng):
    X = sp.csr_array(rng.poisson(0.4, (40, 20)).astype(float))
    train, test = X[:30], X[30:]
    make = text_preparation(min_documents=3).fit(train)
    documents = (train.toarray() != 0).sum(axis=0)
    kept = documents >= 3
    weights = np.log(31 / (1 + documents[kept])) + 1
    expected = test.toarray()[:, kept] * weights
    expected /= np.maximum(np.linalg.norm(expected, axis=1, keepdims=True), 1e-300)
    np.testing.assert_allclose(make.transform(test).toarray(), expected)
