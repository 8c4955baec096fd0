"""The most violated label vector against all label vectors."""

import itertools

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from eigenlabel.estimators.margin.violations import LOSSES, most_violated


def naive_loss(loss, y, guesses):
    """One minus the figure, of each row of guesses, from its contingency table."""
    hits, wrong = (guesses & y).sum(axis=1), (guesses & ~y).sum(axis=1)
    return {
        "error_rate": (guesses != y).mean(axis=1),
        "f1": 1 - 2 * hits / (2 * hits + wrong + (y & ~guesses).sum(axis=1)),
        "precision_at_k": 1 - hits / np.maximum(1, hits + wrong),
        "recall_at_k": 1 - hits / y.sum(),
    }[loss]


def naive_violation(loss, scores, y, k):
    """The largest loss(y') - w'(Psi(y) - Psi(y')) over all label vectors (or all pairs)."""
    if loss == "roc_area":
        apart = scores[y][:, None] - scores[~y]
        return np.maximum(0, 1 - apart).mean()  # pairs are free to swap one by one
    guesses = np.array(list(itertools.product([False, True], repeat=len(y))))
    if loss.endswith("at_k"):
        guesses = guesses[guesses.sum(axis=1) == k]
    signs = np.where(y, 1, -1) - np.where(guesses, 1, -1)
    return (naive_loss(loss, y, guesses) - signs @ scores / (2 * len(y))).max()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("n", [2, 5, 9])
def test_the_most_violated_vector_is_the_worst_of_all(loss, n, rng):
    for trial in range(12):
        y = rng.uniform(size=n) < (0.2, 0.5, 0.8)[trial % 3]
        y[0], y[1] = True, False
        scores = rng.standard_normal(n) * 10.0 ** (trial % 4 - 1)
        if trial % 2:
            scores = np.round(scores)  # ties, and scores at the margin
        for k in range(1, n + 1) if loss.endswith("at_k") else [1]:
            c, value = most_violated(loss, y, k, scores)
            expected = naive_violation(loss, scores, y, k)
            assert value - scores @ c == pytest.approx(expected, abs=1e-12)
            if loss != "roc_area":
                guess = y ^ (c != 0)
                assert value == pytest.approx(naive_loss(loss, y, guess[None])[0])
                np.testing.assert_allclose(c, np.where(y, 1, -1) * (c != 0) / n)


def test_swapped_pairs_are_those_of_the_roc_area(rng):
    y, scores = rng.uniform(size=200) < 0.3, 1e9 * rng.standard_normal(200)  # no margin to speak of
    _, value = most_violated("roc_area", y, 1, scores)
    assert value == pytest.approx(1 - roc_auc_score(y, scores))
