"""Held-out scores of small folds from one factorisation of all samples."""

import numpy as np
import pytest

import helpers
from conftest import make_matrix
from eigenlabel.linalg import heldout as module
from eigenlabel.linalg.factors.factorise import factorise
from eigenlabel.linalg.heldout_small_folds import SmallFolds, prefers_one_factorisation
from eigenlabel.linalg.operators import CentredOperator

SHIFTS = [0.0, 1e-4, 0.1, 2.0, np.inf]


PAIRS = [(1, 2), (0, 3), (2, 2), (1, 4), (0, 4)]


def k_folds(n, k, rng):
    return [(None, np.sort(part)) for part in np.array_split(rng.permutation(n), k)]


def refit(X, T, fold, shift, weights, centre):
    """Fit the training part of a fold from scratch: weights and held-out scores."""
    train = module.training_rows(len(X), fold)
    w = None if weights is None else weights[train]
    if np.isinf(shift):
        mean = np.average(T[train], axis=0, weights=w) if centre else np.zeros(T.shape[1])
        wt = np.ones(len(train)) if w is None else w
        x = np.average(X[train], axis=0, weights=w) if centre else np.zeros(X.shape[1])
        U = (X[train] - x).T @ (wt[:, None] * (T[train] - mean)) / wt.sum()  # limit of s U
        return U, np.tile(mean, (len(fold[1]), 1))
    U, intercept = helpers.ridge(X[train], T[train], shift, w, centre)
    return U, X[fold[1]] @ U + intercept


def compare(factor, X, T, folds, weights, centre, kind):
    blocks = factor.heldout(T, folds, SHIFTS)
    assert {type(b) for b in blocks} == {kind}
    by_rows = {tuple(test): fold for fold in folds for test in [fold[1]]}
    seen = 0
    for block in blocks:
        scores, inner = helpers.evaluate_folds(block, PAIRS)
        for f, rows in enumerate(block.rows):
            fold = by_rows[tuple(rows)]
            fitted = [refit(X, T, fold, s, weights, centre) for s in SHIFTS]
            for i in range(len(SHIFTS)):
                np.testing.assert_allclose(scores[i][f], fitted[i][1], atol=1e-8)
            for p, (i, j) in enumerate(PAIRS):
                expected = fitted[i][0].T @ fitted[j][0]
                tolerance = 1e-8 * max(1.0, np.abs(expected).max())
                np.testing.assert_allclose(inner[p, f], expected, atol=tolerance)
            seen += len(rows)
    assert seen == sum(len(test) for _, test in folds)


@pytest.mark.parametrize("shape", ["tall", "wide", "duplicates"])
@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_takes_one_factorisation(shape, weighted, rng):
    X = make_matrix(shape, rng)
    T = np.where(rng.uniform(size=(len(X), 2)) < 0.4, 1.0, -1.0)
    w = rng.uniform(0.5, 2, len(X)) if weighted else None
    folds = [(None, np.array([i])) for i in range(len(X))]
    compare(factorise(CentredOperator(X, w)), X, T, folds, w, True, SmallFolds)


def test_the_cost_decides_on_one_factorisation(rng):
    five = k_folds(1000, 5, rng)
    single = [(None, np.array([i])) for i in range(1000)]
    assert not prefers_one_factorisation(1000, 1000, five, 36)
    assert prefers_one_factorisation(1000, 1000, single, 36)


def test_many_targets_are_split_into_several_blocks(rng):
    # 1000 labels and one shift: 2^22 // (2 * 1000^2) = 2 folds a block
    X, T = rng.standard_normal((7, 3)), rng.standard_normal((7, 1000))
    folds = [(None, np.array([i])) for i in range(7)]
    blocks = factorise(CentredOperator(X)).heldout(T, folds, [0.1])
    assert [len(b.rows) for b in blocks] == [2, 2, 2, 1]
    assert sorted(np.concatenate([b.rows.ravel() for b in blocks])) == list(range(7))


def test_every_term_of_the_cost_counts():
    thirds = [(None, part) for part in np.array_split(np.arange(900), 3)]
    assert not prefers_one_factorisation(900, 900, thirds, 1)
