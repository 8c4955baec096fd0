"""The observed cells of probabilities: dense in blocks, sparse with one entry for what is left."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel import metrics
from eigenlabel.metrics import probability_cells
from eigenlabel.metrics.probability_cells import CellBlock, averaged, means_of_labels, read_forecast

NAN = np.nan
Y = np.array([[1, 0, NAN], [0, NAN, 1], [1, 1, 0]])
P = np.array([[0.9, 0.0, 0.5], [0.0, 0.3, 0.0], [0.0, 0.6, 0.2]])
W = np.array([1.0, 2.0, 4.0])


def table(forecast):
    """Return the weights, positives and counts by label and probability."""
    found = {}
    for block in forecast.blocks():
        parts = (block.label, block.probability, block.weight, block.positive, block.count)
        for j, p, *numbers in zip(*parts, strict=True):
            key = int(j), float(p)
            found[key] = np.add(found.get(key, np.zeros(3)), numbers)
    return {key: value.tolist() for key, value in sorted(found.items())}


EXPECTED = {
    (0, 0.0): [6, 4, 2],
    (0, 0.9): [1, 1, 1],
    (1, 0.0): [1, 0, 1],
    (1, 0.6): [4, 4, 1],
    (2, 0.0): [2, 2, 1],
    (2, 0.2): [4, 0, 1],
}


@pytest.mark.parametrize("room", [1, 2**20])
def test_dense_and_sparse_probabilities_have_the_same_cells(room, monkeypatch):
    monkeypatch.setattr(probability_cells, "ROOM", room)
    for form in (np.asarray, sp.csr_array, sp.csc_matrix):
        assert table(read_forecast(Y, form(P), W)) == EXPECTED
    assert table(read_forecast(sp.csr_array(Y), sp.csr_array(P), W)) == EXPECTED


def test_a_stored_zero_is_a_zero():
    stored = sp.coo_array((P.ravel(), np.indices(P.shape).reshape(2, -1)), shape=P.shape)
    assert stored.nnz == 9
    assert table(read_forecast(Y, stored, W)) == EXPECTED


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_samples_without_weight_are_no_cells(form):
    found = table(read_forecast(Y, form(P), [0, 2, 4]))
    assert found[0, 0.0] == [6, 4, 2]
    assert (0, 0.9) not in found
    assert not any(value[2] == 0 for value in found.values())
    nothing = read_forecast(Y, form(P), [0, 0, 0])
    assert sum(len(block.label) for block in nothing.blocks()) == 0


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("label", [0, 1, 2])
def test_the_cells_of_one_label(form, label):
    found = table(read_forecast(Y, form(P), W, label))
    expected = [(p, v) for (j, p), v in EXPECTED.items() if j == label]
    assert [(p, v) for (_, p), v in found.items()] == expected


def test_blocks_are_joined_and_ordered():
    block = CellBlock(*(np.array([1, 2, 3]) + shift for shift in range(5)))
    both = CellBlock.join([block, block])
    np.testing.assert_array_equal(both.count, [5, 6, 7, 5, 6, 7])
    np.testing.assert_array_equal(both.take(np.array([2, 0])).label, [3, 1])


def test_means_over_cells_and_over_labels():
    sums, weights = np.array([2.0, 3.0, 0.0]), np.array([4.0, 1.0, 0.0])
    assert averaged(sums, weights, "micro") == 1
    assert averaged(sums, weights, "macro") == (0.5 + 3) / 2
    np.testing.assert_array_equal(means_of_labels(sums, weights), [0.5, 3, NAN])
    for way in ("micro", "macro"):
        assert np.isnan(averaged(np.zeros(2), np.zeros(2), way))


def test_the_precision_is_that_of_the_type():
    for kind in (np.float16, np.float32, np.float64):
        assert read_forecast(Y, P.astype(kind), None).precision == np.finfo(kind).eps
    assert read_forecast(Y, (P > 0.5).astype(int), None).precision == np.finfo(float).eps
    assert read_forecast(Y, P.astype(np.longdouble), None).precision == np.finfo(float).eps


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_probabilities_may_be_outside_by_rounding(kind, form):
    eps = np.finfo(kind).eps
    given = form(np.array([[1 + eps, -eps]], dtype=kind))
    assert metrics.brier_score([[1, 0]], given) == 0
    with pytest.raises(ValueError, match="between 0 and 1"):
        metrics.brier_score([[1, 0]], form(np.array([[1 + 9 * eps, 0]], dtype=kind)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.log_loss(Y, P - 0.1), r"between 0 and 1, found -0.1 at \[0, 1\]. Pass"),
        (lambda: metrics.brier_score(Y, 2 * P), r"found 1.8 at \[0, 0\]"),
        (lambda: metrics.log_loss(Y, P[:, :2]), r"probabilities has shape \(3, 2\)"),
        (lambda: metrics.log_loss(Y, P[:, 0]), "probabilities must be a matrix"),
        (lambda: metrics.log_loss(Y, [P, P]), "a list with a matrix"),
        (lambda: metrics.log_loss(Y, np.full((3, 3), NAN)), "probabilities must be finite"),
        (lambda: metrics.log_loss(Y, P, sample_weight=[1]), "sample_weight has shape"),
        (lambda: metrics.log_loss(Y[:0], P[:0]), "No samples"),
        (lambda: metrics.log_loss(Y, P, average="cells"), "average must be one of 'micro', 'macro"),
        (lambda: metrics.reliability_bins(Y, P, label=3), "label must be an integer between 0 and"),
    ],
)
def test_wrong_probabilities_raise_an_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()
