"""Held-out scores against fits to the training parts."""

import numpy as np
import pytest
import scipy.sparse as sp

import helpers
from conftest import SHAPES, make_matrix
from eigenlabel.linalg import heldout as module
from eigenlabel.linalg.factors import base
from eigenlabel.linalg.factors.factorise import factorise
from eigenlabel.linalg.factors.gram import GramFactor
from eigenlabel.linalg.heldout import SingleFold, is_partition, sort_by_fold
from eigenlabel.linalg.heldout_small_folds import SmallFolds
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


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("route", ["gram", "covariance"])
@pytest.mark.parametrize("centre", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [SingleFold, SmallFolds])
@pytest.mark.parametrize("sparse", [False, True])
def test_exact_scores_equal_refitting(
    shape, route, centre, weighted, kind, sparse, rng, monkeypatch
):
    X = make_matrix(shape, rng)
    T = np.where(rng.uniform(size=(len(X), 3)) < 0.4, 1.0, -1.0)
    w = rng.uniform(0.5, 2, len(X)) if weighted else None
    monkeypatch.setattr(base, "prefers_one_factorisation", lambda *_: kind is SmallFolds)
    form = sp.csr_array(X) if sparse else X
    factor = factorise(CentredOperator(form, w, centre), centre, route)
    compare(factor, X, T, k_folds(len(X), 4, rng), w, centre, kind)


@pytest.mark.parametrize("route", ["gram", "covariance"])
def test_training_parts_need_not_be_the_rest(route, rng):
    X, T = rng.standard_normal((20, 8)), np.where(rng.uniform(size=(20, 2)) < 0.4, 1.0, -1.0)
    folds = [(np.arange(8), np.arange(8, 12)), (np.arange(12), np.arange(10, 16))]
    factor = factorise(CentredOperator(X), route=route)
    compare(factor, X, T, folds, None, True, SingleFold)


def test_a_kernel_matrix_alone_is_enough(rng):
    X, T = rng.standard_normal((15, 40)), np.where(rng.uniform(size=(15, 2)) < 0.4, 1.0, -1.0)
    K = np.exp(-0.01 * ((X[:, None] - X) ** 2).sum(axis=2))
    lam, Q = np.linalg.eigh(K)
    features = Q * np.sqrt(np.maximum(lam, 0))  # any features with this kernel
    compare(GramFactor(K), features, T, k_folds(15, 3, rng), None, True, SingleFold)


def test_an_outlier_leaves_little_trace_in_other_folds(rng):
    # Subtracting its statistics from the total would leave errors of 1e10 eps / 25 = 1e-7; what
    # is left comes from the mean of all rows, which the outlier moves by 3e3.
    X, T = rng.standard_normal((30, 4)), np.where(rng.uniform(size=(30, 2)) < 0.4, 1.0, -1.0)
    X[0] = 1e5
    folds = [(None, np.arange(5)), (None, np.arange(5, 30))]
    factor = factorise(CentredOperator(X), route="covariance")
    scores = helpers.evaluate_folds(factor.heldout(T, folds, [0.1])[0], [(0, 0)])[0][0][0]
    expected = refit(X, T, folds[0], 0.1, None, True)[1]
    np.testing.assert_allclose(scores[1:], expected[1:], atol=2e-8)


def test_a_partition_tests_every_sample_once():
    halves = [(None, np.array([0, 2])), (None, np.array([1, 3]))]
    assert is_partition(4, halves)
    assert not is_partition(5, halves)
    assert not is_partition(4, [halves[0], (None, np.array([2, 3]))])
    assert not is_partition(4, [halves[0], (np.array([0]), np.array([1, 3]))])


@pytest.mark.parametrize("kind", [SingleFold, SmallFolds])
def test_a_feature_of_large_spread_does_not_spoil_small_shifts(rng, monkeypatch, kind):
    # The shift is far below sqrt(eps) of the largest eigenvalue, yet not of the others.
    X = rng.standard_normal((40, 5)) * np.array([1, 1, 1, 1, 1e4])
    T = np.where(rng.uniform(size=(40, 2)) < 0.4, 1.0, -1.0)
    monkeypatch.setattr(base, "prefers_one_factorisation", lambda *_: kind is SmallFolds)
    folds = [(None, np.arange(k, 40, 8)) for k in range(8)]
    factor = factorise(CentredOperator(X), route="covariance")
    for block in factor.heldout(T, folds, [1e-2, 1.0]):
        scores, _ = helpers.evaluate_folds(block, [(0, 1)])
        for f, rows in enumerate(block.rows):
            for i, shift in enumerate([1e-2, 1.0]):
                expected = refit(X, T, (None, rows), shift, None, True)[1]
                # eigenvectors of the small eigenvalues are good to eps * 1e8
                np.testing.assert_allclose(scores[i][f], expected, atol=1e-6)


def test_rows_are_sorted_by_the_fold_that_tests_them():
    folds = [(None, np.array([1, 4])), (None, np.array([0, 2, 3]))]
    order, ranges = sort_by_fold(folds, 5)
    assert order.tolist() == [1, 4, 0, 2, 3]
    assert [test.tolist() for _, test in ranges] == [[0, 1], [2, 3, 4]]
    order, same = sort_by_fold([(None, np.array([1]))], 5)  # not a partition
    assert order.tolist() == [0, 1, 2, 3, 4]
    assert same[0][1].tolist() == [1]


@pytest.mark.parametrize("route", ["gram", "covariance"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_inner_products_keep_their_digits_at_any_scale_and_distance_of_shifts(rng, route, scale):
    X = rng.standard_normal((24, 9)) * scale
    T = np.where(rng.uniform(size=(24, 3)) < 0.4, 1.0, -1.0)
    shifts = [1e-6, 1e-5, 1.0, 1.0 + 1e-6, 1.0 + 1e-3, np.inf]
    pairs = [(i, j) for i in range(5) for j in range(i + 1, 6)]
    fold = (None, np.arange(8))
    block = factorise(CentredOperator(X), route=route).heldout(T, [fold], shifts)[0]
    _, inner = helpers.evaluate_folds(block, pairs)
    fitted = [refit(X, T, fold, s, None, True)[0] for s in shifts]
    for (i, j), found in zip(pairs, inner[:, 0], strict=True):
        expected = fitted[i].T @ fitted[j]
        # The smallest shifts divide the rounding of the matrix by themselves: 16 eps / 1e-5 and
        # more, and by both of them if both are small.
        rough = 1e-5 if j == 1 else 1e-9
        np.testing.assert_allclose(found, expected, atol=rough * np.abs(expected).max())
