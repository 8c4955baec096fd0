"""Sums of terms: rows, totals and sizes."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.inspection.contributions.base import (
    LOG_ODDS,
    SCORE,
    SIGNED_LOG_ODDS,
    Terms,
    row_of,
    select,
    training_names,
    used_columns,
)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("gain", [False, True])
def test_rows_add_up_to_totals(sparse, gain, rng):
    V = rng.standard_normal((3, 5)) * (rng.random((3, 5)) < 0.6)
    C, b = rng.standard_normal((2, 5)), rng.standard_normal((3, 2))
    g = rng.random((3, 2)) + 0.5 if gain else None
    names = np.array(list("abcde"), dtype=object)
    terms = Terms("feature", names, sp.csr_array(V) if sparse else V, C, b, gain=g)
    factor = np.ones((3, 2)) if g is None else g
    np.testing.assert_allclose(terms.total(), b + factor * (V @ C.T))
    np.testing.assert_allclose(terms.size(), np.abs(b) + factor * (np.abs(V) @ np.abs(C).T))
    for i in range(3):
        row = terms.row(i)
        assert row.columns.tolist() == np.flatnonzero(V[i]).tolist()
        naive = factor[i][:, None] * V[i] * C
        np.testing.assert_allclose(row.contributions, naive[:, row.columns])
        np.testing.assert_allclose(terms.row(i, slice(1, 2)).contributions, row.contributions[1:])
        assert terms.count(i) == len(row.columns)
        assert row.shared is None


def test_columns_that_are_used():
    A = np.array([[0.0, 1.0, 0.0], [0.0, 2.0, 3.0]])
    S = sp.csr_array(A)
    S.data[1] = 0.0  # a stored zero
    assert used_columns(A).tolist() == [1, 2]
    assert used_columns(S).tolist() == [1, 2]
    assert select(S, np.array([1])).nnz == 1
    assert row_of(A, 1)[0].tolist() == [1, 2]


@pytest.mark.parametrize("scale", [SCORE, LOG_ODDS, SIGNED_LOG_ODDS])
def test_scales_are_inverse(scale):
    values = np.array([-2.0, 0.0, 1.5])
    np.testing.assert_allclose(scale.of_score(scale.to_score(values)), values, atol=1e-12)


def test_names_of_training_samples():
    assert training_names(None, 2).tolist() == ["training sample 0", "training sample 1"]
    assert training_names([7, "b"], 2).tolist() == ["7", "b"]
    with pytest.raises(ValueError, match="1 training_names for 2"):
        training_names(["a"], 2)
