"""Labels and probabilities in blocks of rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.inspection.label_errors import given_cells
from eigenlabel.inspection.label_errors.given_cells import GivenLabels, probability_blocks

Y = np.array([[1, 0, np.nan], [0, 0, 1], [1, np.nan, 0], [1, 0, 1]])


def sparse_with_nan():
    return sp.csc_array(np.where(np.isnan(Y), 7.0, Y)).astype(float)


def read(probabilities, shape):
    parts = list(probability_blocks(probabilities, shape))
    rows = [np.arange(shape[0])[part] for part, _ in parts]
    np.testing.assert_array_equal(np.concatenate(rows), np.arange(shape[0]))
    return np.vstack([P for _, P in parts])


@pytest.mark.parametrize("sparse", [False, True])
def test_labels_observed_cells_and_frequencies(sparse):
    given = Y
    if sparse:
        given = sparse_with_nan()
        given.data[given.data == 7] = np.nan
        kept = given.copy()
    found = GivenLabels(given)
    positive, observed = found.rows(slice(1, 4))
    np.testing.assert_array_equal(observed, ~np.isnan(Y[1:]))
    np.testing.assert_array_equal(positive, Y[1:] == 1)
    np.testing.assert_allclose(found.frequency, [3 / 4, 0, 2 / 3])
    np.testing.assert_array_equal(found.observed_counts, [4, 3, 3])
    filled = np.where(np.isnan(Y), found.frequency, Y)
    np.testing.assert_allclose(found.filled().toarray(), filled)
    if sparse:
        np.testing.assert_array_equal(given.toarray(), kept.toarray())


def test_stored_zeros_and_duplicates_are_no_problem():
    parts = ([0.5, 0.5, 0.0], ([0, 0, 1], [1, 1, 0]))
    found = GivenLabels(sp.coo_array(parts, shape=(2, 2)))
    np.testing.assert_array_equal(found.positive.toarray(), [[0, 1], [0, 0]])


@pytest.mark.parametrize("bad", [np.full((2, 2), 3), np.zeros((2, 0)), np.zeros((0, 2))])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_bad_labels_raise(bad, form):
    with pytest.raises(ValueError, match="Y"):
        GivenLabels(form(bad))


def test_every_form_of_probabilities_reads_alike(rng, monkeypatch):
    monkeypatch.setattr(given_cells, "row_blocks", lambda n, _: [slice(i, i + 1) for i in range(n)])
    P = rng.random((5, 3)) * (rng.random((5, 3)) < 0.6)
    for form in (P, P.tolist(), sp.csr_array(P), sp.coo_matrix(P), np.ma.masked_array(P)):
        np.testing.assert_array_equal(read(form, P.shape), P)
    blocks = [P[:2], sp.csc_array(P[2:4]), P[4:].tolist()]
    np.testing.assert_array_equal(read(lambda: iter(blocks), P.shape), P)
    assert read(P.astype(np.float32), P.shape).dtype == float


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (np.full((4, 3), 1.5), "found 1.5 at \\[0, 0\\]"),
        (np.where(np.arange(12).reshape(4, 3) == 7, np.nan, 0.5), "found nan at \\[2, 1\\]"),
        (np.full((4, 3), -0.1), "between 0 and 1"),
        (np.zeros((4, 2)), "one column per label"),
        (np.zeros((5, 3)), "one row per sample"),
        (np.zeros((3, 3)), "3 rows for 4 samples"),
        (np.zeros(4), "of shape"),
        (np.full((4, 3), "a"), "must be numbers"),
    ],
)
def test_bad_probabilities_raise(bad, why):
    with pytest.raises(ValueError, match=why):
        read(bad, (4, 3))


def test_an_iterator_is_rejected_with_the_next_step():
    with pytest.raises(TypeError, match="function that returns a new iterator"):
        read(iter([np.zeros((4, 3))]), (4, 3))
