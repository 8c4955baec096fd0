import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.core.operators import CentredOperator
from eigenlabel.core.statistics import Statistics

FIELDS = ("n", "x", "t", "XX", "XT")


@pytest.fixture
def parts(rng):
    X, T = rng.standard_normal((30, 5)) + 3, rng.standard_normal((30, 2))
    w = rng.uniform(0.5, 2, 30)
    op = CentredOperator(X, w)
    blocks = np.array_split(rng.permutation(30), 4)
    return X, T, w, op, [Statistics.of(op.rows(b), T[b]) for b in blocks], blocks


def test_blocks_add_up_in_any_order(parts):
    _, T, _, op, pieces, _ = parts
    whole = Statistics.of(op, T)
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        total = pieces[order[0]]
        for k in order[1:]:
            total = total + pieces[k]
        for name in FIELDS:
            np.testing.assert_allclose(getattr(total, name), getattr(whole, name), atol=1e-11)


def test_a_block_can_be_taken_out_again(parts):
    _, T, _, op, pieces, _ = parts
    less = Statistics.of(op, T) - pieces[2]
    rest = pieces[0] + pieces[1] + pieces[3]
    for name in FIELDS:
        np.testing.assert_allclose(getattr(less, name), getattr(rest, name), atol=1e-11)


def test_centred_equals_the_definition(parts):
    X, T, w, _, pieces, blocks = parts
    rows = blocks[1]
    M, XtT, mean_x, mean_t = pieces[1].centred()
    x, t = (
        np.average(X[rows], axis=0, weights=w[rows]),
        np.average(T[rows], axis=0, weights=w[rows]),
    )
    Xc, W = X[rows] - x, np.diag(w[rows])
    np.testing.assert_allclose(M, Xc.T @ W @ Xc, atol=1e-12)
    np.testing.assert_allclose(XtT, Xc.T @ W @ (T[rows] - t), atol=1e-12)
    np.testing.assert_allclose(mean_t, t, atol=1e-13)
    origin = np.average(X, axis=0, weights=w)  # statistics are about the operator's mean
    np.testing.assert_allclose(mean_x + origin, x, atol=1e-13)


def test_sparse_rows_give_the_same(parts):
    X, T, w, op, _, _ = parts
    dense, sparse = Statistics.of(op, T), Statistics.of(CentredOperator(sp.csr_array(X), w), T)
    for name in FIELDS:
        np.testing.assert_allclose(getattr(sparse, name), getattr(dense, name), atol=1e-11)
