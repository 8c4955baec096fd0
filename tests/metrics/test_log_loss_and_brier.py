"""Log-loss and Brier score: by hand, by naive loops, and as in scikit-learn."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.metrics as sk

from eigenlabel import metrics

NAN = np.nan
EPS = np.finfo(float).eps


def naive(Y, P, w, loss):
    """Return the mean over cells, the mean of labels, and the means by label."""
    sums, weights = [0.0] * Y.shape[1], [0.0] * Y.shape[1]
    for i in range(len(Y)):
        for j in range(Y.shape[1]):
            if not math.isnan(Y[i, j]):
                sums[j] += w[i] * loss(P[i, j], Y[i, j])
                weights[j] += w[i]
    by_label = [s / v if v else math.nan for s, v in zip(sums, weights, strict=True)]
    return sum(sums) / sum(weights), np.nanmean(by_label), by_label


LOSSES = {
    "log_loss": lambda p, y: -math.log(min(max(p if y else 1 - p, EPS), 1 - EPS)),
    "brier_score": lambda p, y: (p - y) ** 2,
}


@pytest.fixture
def table(rng):
    """Truth with NaN, a column without any and a row without any; probabilities with 0 and 1."""
    Y = (rng.random((50, 6)) < 0.4).astype(float)
    Y[rng.random(Y.shape) < 0.3] = NAN
    Y[4], Y[:, 3] = NAN, NAN
    P = np.round(rng.random(Y.shape), 2)
    P[rng.random(Y.shape) < 0.2] = 0
    P[rng.random(Y.shape) < 0.1] = 1
    return Y, P, rng.uniform(0.5, 2, len(Y))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("name", list(LOSSES))
def test_equal_to_a_naive_loop(name, form, weighted, table):
    Y, P, w = table
    w = w if weighted else np.ones(len(Y))
    kw = {"sample_weight": w} if weighted else {}
    micro, macro, by_label = naive(Y, P, w, LOSSES[name])
    function, each = getattr(metrics, name), getattr(metrics, f"{name}_per_label")
    for truth in (Y, sp.csr_array(Y)):
        assert function(truth, form(P), **kw) == pytest.approx(micro, rel=1e-12)
        assert function(truth, form(P), average="macro", **kw) == pytest.approx(macro, rel=1e-12)
        np.testing.assert_allclose(each(truth, form(P), **kw), by_label, rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_equal_to_scikit_learn_label_by_label(rng, weighted):
    Y, P, w = rng.random((70, 5)) < 0.4, rng.random((70, 5)), rng.uniform(0.5, 2, 70)
    P[0], P[1] = 0, 1  # certain, and wrong for some
    kw = {"sample_weight": w if weighted else None}
    logs = [sk.log_loss(Y[:, j], P[:, j], labels=[0, 1], **kw) for j in range(5)]
    squares = [sk.brier_score_loss(Y[:, j], P[:, j], **kw) for j in range(5)]
    np.testing.assert_allclose(metrics.log_loss_per_label(Y, P, **kw), logs, rtol=1e-12)
    np.testing.assert_allclose(metrics.brier_score_per_label(Y, P, **kw), squares, rtol=1e-12)
    assert metrics.log_loss(Y, P, **kw) == pytest.approx(np.mean(logs), rel=1e-12)
    assert metrics.brier_score(Y, P, **kw) == pytest.approx(np.mean(squares), rel=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_worked_by_hand(form):
    Y = [[1, 0], [NAN, 1], [0, NAN]]
    P = form(np.array([[0.5, 0.25], [0.9, 0.5], [0.0, 1.0]]))
    # Cells: 1/2 present, 1/4 absent, 1/2 present, 0 absent.
    assert metrics.brier_score(Y, P) == pytest.approx((1 / 4 + 1 / 16 + 1 / 4 + 0) / 4, rel=1e-15)
    by_label = metrics.brier_score_per_label(Y, P)
    np.testing.assert_allclose(by_label, [1 / 8, 5 / 32], rtol=1e-15)
    expected = 2 * math.log(2) + math.log(4 / 3)
    assert metrics.log_loss(Y, P) == pytest.approx(expected / 4, rel=1e-14)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_certain_probabilities_are_clipped_by_the_precision_of_their_type(kind, form):
    eps = float(np.finfo(kind).eps)
    wrong = form(np.array([[0.0, 1.0]], dtype=kind))
    assert metrics.log_loss([[1, 0]], wrong) == pytest.approx(-math.log(eps), rel=1e-12)
    assert metrics.log_loss([[0, 1]], wrong) == pytest.approx(-math.log1p(-eps), rel=1e-12)
    assert metrics.log_loss([[0, 1]], wrong) > 0
    theirs = sk.log_loss([1, 0], np.array([0.0, 1.0], dtype=kind), labels=[0, 1])
    # scikit-learn adds in float32
    assert metrics.log_loss([[1, 0]], wrong) == pytest.approx(theirs, rel=1e-6)


def test_perfect_sparse_probabilities_have_no_loss_left_by_rounding(rng):
    Y = sp.csr_array((rng.random((300, 40)) < 0.05).astype(float))
    loss = metrics.log_loss(Y, Y, sample_weight=rng.uniform(0, 1, 300))
    assert 0 < loss <= 2 * EPS
    assert metrics.brier_score(Y, Y) == 0


def test_labels_that_are_never_observed_have_no_loss():
    Y, P = np.array([[1, NAN], [0, NAN]]), np.full((2, 2), 0.5)
    np.testing.assert_allclose(metrics.log_loss_per_label(Y, P), [math.log(2), NAN])
    assert metrics.log_loss(Y, P, average="macro") == pytest.approx(math.log(2))
    assert np.isnan(metrics.log_loss(np.full((2, 2), NAN), P))
    assert np.isnan(metrics.brier_score(Y, P, sample_weight=[0, 0]))
