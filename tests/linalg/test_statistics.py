"""Additive statistics against the sums they stand for."""

import numpy as np
import pytest
import scipy.sparse as sp

from eigenlabel.linalg import statistics
from eigenlabel.linalg.operators import CentredOperator
from eigenlabel.linalg.statistics import Accumulator, Block, Statistics, join, left_out

FIELDS = ("n", "mean", "t", "XX", "XT", "TT")


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


def test_each_field_equals_its_definition(parts):
    X, T, w, _, pieces, blocks = parts
    rows = blocks[1]
    found = pieces[1]
    x, t = (np.average(A[rows], axis=0, weights=w[rows]) for A in (X, T))
    Xc, Tc, W = X[rows] - x, T[rows] - t, np.diag(w[rows])
    np.testing.assert_allclose(found.XX, Xc.T @ W @ Xc, atol=1e-12)
    np.testing.assert_allclose(found.XT, Xc.T @ W @ Tc, atol=1e-12)
    np.testing.assert_allclose(found.TT, np.diag(Tc.T @ W @ Tc), atol=1e-12)
    np.testing.assert_allclose(found.t, t, atol=1e-13)
    np.testing.assert_allclose(found.mean, x, atol=1e-13)
    assert (found.n, found.count) == (pytest.approx(w[rows].sum()), len(rows))
    M, XtT = found.products(centre=False)
    np.testing.assert_allclose(M, X[rows].T @ W @ X[rows], atol=1e-10)
    np.testing.assert_allclose(XtT, X[rows].T @ W @ T[rows], atol=1e-11)
    assert found.products(centre=True)[0] is found.XX


def test_taking_out_everything_leaves_nothing(parts):
    _, T, _, op, _, _ = parts
    whole = Statistics.of(op, T)
    for left in (whole - whole, whole.emptied()):
        assert (left.n, left.count) == (0, 0)
        assert not left.XX.any()
    again = (whole - whole) + whole
    for name in FIELDS:
        np.testing.assert_allclose(getattr(again, name), getattr(whole, name), atol=1e-12)


def test_rows_without_weight_add_nothing(parts):
    X, T, _, _, pieces, _ = parts
    nothing = Statistics.of(CentredOperator(X[:3], np.zeros(3), centre=False), T[:3])
    both = pieces[0] + nothing
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(both, name), getattr(pieces[0], name))
    assert both.count == pieces[0].count + 3


def test_a_large_mean_costs_no_digits(rng):
    # Sums about zero would leave nothing of a spread of 1 beside a mean of 1e9.
    X, T = rng.integers(0, 9, (400, 3)) + 1e9, rng.standard_normal((400, 2))
    blocks = [Statistics.of(CentredOperator(X[k::8]), T[k::8]) for k in range(8)]
    total = sum(blocks[1:], blocks[0])
    Xc = (X - 1e9) - (X - 1e9).mean(axis=0)
    np.testing.assert_allclose(total.XX, Xc.T @ Xc, rtol=1e-12, atol=1e-9)
    rest = total - blocks[3]
    kept = np.arange(400) % 8 != 3
    Xc = (X[kept] - 1e9) - (X[kept] - 1e9).mean(axis=0)
    np.testing.assert_allclose(rest.XX, Xc.T @ Xc, rtol=1e-12, atol=1e-9)


def test_each_part_is_left_out_once(parts):
    _, _, _, _, pieces, _ = parts
    for size in (2, 3, 4):
        each = list(left_out(pieces[:size]))
        assert len(each) == size
        for k, found in enumerate(each):
            others = [piece for j, piece in enumerate(pieces[:size]) if j != k]
            expected = sum(others[1:], others[0])
            for name in FIELDS:
                wanted = getattr(expected, name)
                np.testing.assert_allclose(getattr(found, name), wanted, atol=1e-11)


def test_blocks_that_wait_have_the_same_statistics(parts, monkeypatch):
    X, T, w, _, _, _ = parts
    Y = T > 0
    whole = Block(X, Y, w).statistics()
    blocks = [Block(X[i : i + 3], Y[i : i + 3], w[i : i + 3]) for i in range(0, 30, 3)]
    blocks[4] = Block(sp.csr_array(blocks[4].X), *vars_of(blocks[4]))
    for room in (0, 400, 2**24):
        monkeypatch.setattr(statistics, "WAITING_BYTES", room)
        taken = Accumulator()
        for block in blocks:
            taken = taken.add(block)
        assert len(taken.waiting) == {0: 1, 400: 1, 2**24: 5}[room]
        found = taken.settle().total
        for name in FIELDS:
            np.testing.assert_allclose(getattr(found, name), getattr(whole, name), atol=1e-10)


def vars_of(block):
    return block.Y, block.weights


def test_joined_blocks_keep_their_weights(parts):
    X, T, w, _, _, _ = parts
    Y = T > 0
    joined = join([Block(X[:10], Y[:10], None), Block(sp.csr_array(X[10:]), Y[10:], w[10:])])
    np.testing.assert_array_equal(joined.weights, np.r_[np.ones(10), w[10:]])
    np.testing.assert_array_equal(joined.X.toarray(), X)
    np.testing.assert_array_equal(joined.Y, Y)


def test_sparse_rows_have_the_same_statistics(parts):
    X, T, w, op, _, _ = parts
    dense, sparse = Statistics.of(op, T), Statistics.of(CentredOperator(sp.csr_array(X), w), T)
    for name in FIELDS:
        np.testing.assert_allclose(getattr(sparse, name), getattr(dense, name), atol=1e-11)
