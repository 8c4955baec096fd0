"""Sparse predictions beside the truth, and rows that have as many stored cells as others."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel import metrics
from eigenlabel.metrics.sparse_predictions import read_stored, read_true_cells, rows_by_length

Y = np.array([[1, 0, np.nan, 1], [0, 0, 0, 0], [np.nan, 1, 0, 1]])
# Three cells, nothing, two cells of which one is a stored zero.
F = sp.csr_array(
    ([0.3, 0.9, 0.1, 0.0, 0.8], [0, 2, 3, 1, 0], [0, 3, 3, 5]),
    shape=(3, 4),
)


def sparse_with_nan(Y):
    """Store the ones and the NaN of a label matrix, and one zero."""
    rows, columns = np.nonzero((Y != 0) | (np.arange(Y.size).reshape(Y.shape) == 4))
    return sp.coo_array((Y[rows, columns], (rows, columns)), shape=Y.shape)


@pytest.mark.parametrize("form", [np.asarray, sparse_with_nan])
def test_stored_cells_know_whether_they_are_true_and_observed(form):
    found = read_stored(form(Y), F, "scores")
    np.testing.assert_array_equal(found.starts, [0, 3, 3, 5])
    np.testing.assert_array_equal(found.row, [0, 0, 0, 2, 2])
    np.testing.assert_array_equal(found.label, [0, 2, 3, 0, 1])
    np.testing.assert_array_equal(found.value, [0.3, 0.9, 0.1, 0.8, 0.0])
    np.testing.assert_array_equal(found.true, [True, False, True, False, True])
    np.testing.assert_array_equal(found.known, [True, False, True, False, True])
    np.testing.assert_array_equal(found.missed, [[2], [3]])
    np.testing.assert_array_equal(found.positives.toarray(), Y == 1)
    np.testing.assert_array_equal(found.hidden.toarray(), np.isnan(Y))


def test_true_cells_of_fully_observed_labels():
    for form in (np.eye(3), sp.csc_array(np.eye(3)), sp.csr_matrix(np.eye(3, dtype=bool))):
        positives, hidden = read_true_cells(form)
        assert hidden is None
        np.testing.assert_array_equal(positives.toarray(), np.eye(3, dtype=bool))
    positives, _ = read_true_cells(sp.csr_array((2, 3)))
    assert positives.shape == (2, 3)
    assert positives.nnz == 0


def test_what_was_passed_in_is_not_changed():
    scores, labels = F.copy(), sp.csr_array(([1.0, 0.0], [2, 0], [0, 2, 2, 2]), shape=(3, 4))
    before = [a.copy() for A in (scores, labels) for a in (A.data, A.indices, A.indptr)]
    metrics.ndcg_at_k(labels, scores, 2)
    metrics.log_loss(labels, scores)
    after = [a for A in (scores, labels) for a in (A.data, A.indices, A.indptr)]
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)


def test_rows_of_equal_length_come_together():
    starts = np.array([0, 2, 2, 5, 7, 8])  # rows of 2, 0, 3, 2 and 1 cells
    found = [(rows.tolist(), cells.tolist()) for rows, cells in rows_by_length(starts)]
    expected = [([4], [[7]]), ([0, 3], [[0, 1], [5, 6]]), ([2], [[2, 3, 4]])]
    assert found == expected
    apart = [rows.tolist() for rows, _ in rows_by_length(starts, room=2)]
    assert apart == [[4], [0], [3], [2]]
    assert list(rows_by_length(np.array([0, 0, 0]))) == []


def wrong(value):
    matrix = F.copy()
    matrix.data[1] = value
    return matrix


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.ndcg_at_k(Y, F[:2]), r"scores has shape \(2, 4\), the label matrix"),
        (lambda: metrics.ndcg_at_k(Y, wrong(np.nan), 2), r"finite, found nan at \[0, 2\]"),
        (lambda: metrics.log_loss(Y, wrong(np.inf)), r"finite, found inf at \[0, 2\]"),
        (lambda: metrics.log_loss(Y, wrong(1.5)), r"between 0 and 1, found 1.5 at \[0, 2\]"),
        (lambda: metrics.ndcg_at_k(Y, F.astype(complex), 2), "scores must be numbers, got dtype c"),
        (lambda: metrics.ndcg_at_k(F, F, 2), "y_true must be a label matrix of 0 and 1, found 0.3"),
        (lambda: metrics.ndcg_at_k(sp.csr_array((3, 0)), F, 2), "y_true has no columns"),
        (lambda: metrics.ndcg_at_k(Y, F, 5), "k must be an integer between 1 and 4, got 5"),
        (lambda: metrics.ndcg_at_k(Y[:0], F[:0], 1), "No samples"),
        (lambda: metrics.ranking_loss(Y, F), "scores is sparse, but this metric ranks all labels"),
        (lambda: metrics.auc_macro(Y, F), "scores is sparse, but this metric ranks all labels"),
    ],
)
def test_wrong_sparse_matrices_raise_an_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_indices_outside_of_the_matrix_raise_an_error():
    damaged = F.copy()
    damaged.indices[1] = 9
    with pytest.raises(ValueError, match="scores is a damaged sparse matrix"):
        metrics.precision_at_k(Y, damaged, 1)
    labels = sp.csr_array(np.eye(3, 4))
    labels.indices[0] = 7
    with pytest.raises(ValueError, match="y_true is a damaged sparse matrix"):
        metrics.precision_at_k(labels, F, 1)
