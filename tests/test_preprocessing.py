import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer

from eigenlabel.preprocessing import (
    DocumentFrequencySelector,
    drop_rare,
    make_preparation,
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


def test_rare_features_go_by_the_samples_that_have_them(rng):
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


def test_the_papers_preparation_is_fitted_on_training_rows_alone(rng):
    X = sp.csr_array(rng.poisson(0.4, (40, 20)).astype(float))
    train, test = X[:30], X[30:]
    make = text_preparation(min_documents=3).fit(train)
    documents = (train.toarray() != 0).sum(axis=0)
    kept = documents >= 3
    weights = np.log(31 / (1 + documents[kept])) + 1
    expected = test.toarray()[:, kept] * weights
    expected /= np.maximum(np.linalg.norm(expected, axis=1, keepdims=True), 1e-300)
    np.testing.assert_allclose(make.transform(test).toarray(), expected)


def test_auto_preparation_looks_at_the_features(rng):
    counts = sp.csr_array(rng.poisson(1.0, (9, 4)).astype(float))
    assert isinstance(make_preparation("auto", counts), TfidfTransformer)
    weights = counts * 0.5
    out = make_preparation("auto", weights).fit_transform(weights)
    np.testing.assert_array_equal(out.toarray(), weights.toarray())
    table = rng.standard_normal((9, 4)) * [1, 10, 0, 3] + 5
    table[2, 1] = np.nan
    out = make_preparation("auto", table).fit_transform(table)
    assert np.isfinite(out).all()
    np.testing.assert_allclose(out.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(out.std(axis=0), [1, 1, 0, 1])


def test_unit_rows(rng):
    X = rng.standard_normal((5, 3))
    out = make_preparation("unit", X).fit_transform(X)
    np.testing.assert_allclose(np.linalg.norm(out, axis=1), 1)


def test_categories_become_a_column_a_value():
    X = np.array([[0.0, 5], [2, 7], [np.nan, 6]])
    make = make_preparation(
        "standard", X, feature_names=["c", "x"], categories={"c": ("red", "green", "blue")}
    )
    out = make.fit_transform(X)
    np.testing.assert_array_equal(out[:, 1:], [[1, 0, 0], [0, 0, 1], [0, 0, 0]])
    np.testing.assert_allclose(out[:, 0], np.array([-1, 1, 0]) * np.sqrt(1.5))
    with pytest.raises(ValueError, match="kind must be one of"):
        make_preparation("tidy", X)
