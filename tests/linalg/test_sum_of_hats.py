"""Sums of hat matrices and their eigenvectors, against dense algebra."""

import numpy as np
import pytest

from eigenlabel.linalg import sum_of_hats
from eigenlabel.linalg.hats import LinearHat, WideHat
from eigenlabel.linalg.operators import CentredOperator
from eigenlabel.linalg.sum_of_hats import HatSum, Term, alternate, match_sets, top_eigenvectors

SIZE = 40


def make_terms(rng, kinds=(LinearHat, WideHat)):
    """Draw two views; the second one lacks some samples."""
    rows = np.sort(rng.permutation(SIZE)[:30])
    first, second = rng.standard_normal((SIZE, 4)), rng.standard_normal((30, 6))
    return [
        Term(kinds[0](CentredOperator(first), 0.5), 1.0),
        Term(kinds[1](CentredOperator(second), 0.1), 2.0, rows),
    ]


def dense(terms):
    """Write the operator out."""
    total, cover = np.zeros((SIZE, SIZE)), np.zeros(SIZE)
    for term in terms:
        rows = np.arange(SIZE) if term.rows is None else term.rows
        total[np.ix_(rows, rows)] += term.weight * term.hat.apply(np.eye(len(rows)))
        cover[rows] += term.weight / sum(t.weight for t in terms)
    root = np.sqrt(cover)
    M = total / root[:, None] / root
    v = root / np.linalg.norm(root)
    P = np.eye(SIZE) - np.outer(v, v)
    return P @ M @ P


@pytest.mark.parametrize("folded", [False, True])
def test_products_are_those_of_the_sum_and_symmetric(rng, folded):
    terms = make_terms(rng)
    P = HatSum(SIZE, terms)
    if folded:
        P.fold()
    Z, V = rng.standard_normal((2, SIZE, 3))
    np.testing.assert_allclose(P.matmat(Z), dense(terms) @ Z, atol=1e-10)
    np.testing.assert_allclose(V.T @ P.matmat(Z), P.matmat(V).T @ Z, atol=1e-10)


@pytest.mark.parametrize("way", ["roots", "all", "lanczos"])
def test_the_top_eigenvectors_are_those_of_the_dense_matrix(rng, monkeypatch, way):
    monkeypatch.setattr(sum_of_hats, "DENSE", 1 if way == "lanczos" else 800)
    terms = make_terms(rng, (LinearHat, LinearHat) if way == "roots" else (LinearHat, WideHat))
    P, M = HatSum(SIZE, terms), dense(terms)
    values, Z = top_eigenvectors(P, 3, rng)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(M)[::-1][:3], rtol=1e-8)
    np.testing.assert_allclose(M @ Z, Z * values, atol=1e-7)
    X = P.scores(Z)
    np.testing.assert_allclose(P.coverage @ X, 0, atol=1e-10)
    np.testing.assert_allclose(X.T @ (P.coverage[:, None] * X), np.eye(3), atol=1e-10)


def test_sweeps_lower_the_objective_to_the_eigenvectors(rng):
    terms = make_terms(rng)
    found = alternate(HatSum(SIZE, terms), 2, 2000, 1e-9, rng)
    assert (np.diff(found.objective) <= 1e-10).all()
    expected = np.linalg.eigvalsh(dense(terms))[::-1][:2]
    np.testing.assert_allclose(found.values, expected, rtol=1e-6)  # the sweeps stop at 1e-9


def test_matched_sets_are_normalised_and_agree_more_with_each_sweep(rng):
    terms = make_terms(rng)
    found = match_sets(SIZE, terms, rng.standard_normal((SIZE, 2)), 50, 1e-9)
    assert (np.diff(found.objective) >= -1e-9).all()
    for term, B in zip(terms, found.targets, strict=True):
        np.testing.assert_allclose(B.T @ term.hat.apply(B), np.eye(2), atol=1e-7)


def test_scores_are_centred_however_small_they_are(rng):
    S = HatSum(30, [Term(LinearHat(CentredOperator(np.eye(30)), 1.0), 1.0)])
    Z = sum_of_hats._orthonormal(S, 100.0 + 1e-9 * rng.standard_normal((30, 3)))
    assert np.abs(Z.sum(axis=0)).max() < 1e-14
    np.testing.assert_allclose(Z.T @ Z, np.eye(3), atol=1e-14)
