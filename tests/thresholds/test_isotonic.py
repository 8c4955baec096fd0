import numpy as np
import pytest

import naive
from eigenlabel.thresholds import isotonic
from eigenlabel.thresholds.isotonic import (
    IsotonicCurves,
    fit_curves,
    has_curve,
    log_loss,
    prefer_curves,
)
from eigenlabel.thresholds.score_bins import Bins


@pytest.fixture
def problem(rng):
    """Probabilities of 4 labels with ties, and labels that contradict them in parts."""
    p = np.round(rng.uniform(0.01, 0.99, (4, 60)), 2)
    Y = rng.random((4, 60)) < p**2
    W = rng.choice([0.0, 1.0, 1.5], (4, 60))
    return p, Bins(p, W, np.where(Y, W, 0.0))


def naive_knots(p, W, Y):
    """Return the knots of one label from the regression by the max-min formula."""
    share = isotonic.PRIOR / min(Y.sum(), (W - Y).sum())
    x = sorted(set(p[W > 0]))
    w = np.array([W[p == each].sum() * (1 + share) for each in x])
    t = [Y[p == each].sum() + share * W[p == each].sum() * each for each in x]
    values = naive.isotonic(np.array(t) / w, w)
    knots = []
    for each in sorted(set(np.round(values, 12))):
        at = np.abs(values - each) < 1e-11
        knots.append((np.average(np.array(x)[at], weights=w[at]), values[at][0]))
    return [(0.0, 0.0), *knots, (1.0, 1.0)]


def test_curves_are_those_of_the_definition(problem, monkeypatch):
    p, bins = problem
    monkeypatch.setattr(isotonic, "PRIOR", 3.0)  # so that steps pool several samples
    monkeypatch.setattr(isotonic, "TOGETHER", 3)
    curves = fit_curves(p, bins)
    for j in range(4):
        expected = np.array(naive_knots(p[j], bins.weights[j], bins.positives[j])).T
        at = slice(curves.starts[j], curves.starts[j + 1])
        assert expected.shape[1] < 40
        np.testing.assert_allclose(curves.x[at], expected[0], rtol=1e-9)
        np.testing.assert_allclose(curves.y[at], expected[1], rtol=1e-9)


def test_curves_are_linear_between_knots(problem, rng):
    p, bins = problem
    curves = fit_curves(p, bins)
    q = np.concatenate([rng.random(200), [0.0, 1.0, 1e-300, 1 - 1e-16], curves.x])
    for j in range(4):
        at = slice(curves.starts[j], curves.starts[j + 1])
        found = curves.apply(q, np.full(q.shape, j))
        np.testing.assert_allclose(found, np.interp(q, curves.x[at], curves.y[at]), rtol=1e-10)


def test_curves_rise_and_stay_inside(problem):
    p, bins = problem
    curves = fit_curves(p, bins)
    q = np.sort(np.concatenate([np.linspace(0, 1, 999), 10.0 ** -np.arange(3, 300.0)]))[1:-1]
    label = np.broadcast_to(np.arange(4), (len(q), 4))
    found = curves.apply(np.repeat(q[:, None], 4, axis=1), label)
    assert (np.diff(found, axis=0) > 0).sum() > 0.99 * found.size
    assert (np.diff(found, axis=0) >= 0).all()
    assert (found > 0).all()
    assert (found < 1).all()


def test_no_labels_and_empty_labels():
    none = fit_curves(np.empty((0, 5)), Bins(*np.empty((3, 0, 5))))
    assert none.starts.tolist() == [0]
    empty = fit_curves(np.full((2, 5), 0.5), Bins(*np.zeros((3, 2, 5))))
    np.testing.assert_array_equal(empty.x, [0, 1, 0, 1])
    np.testing.assert_array_equal(empty.apply(np.array([0.3, 0.4]), np.array([0, 1])), [0.3, 0.4])


def test_probabilities_of_zero_and_one_are_kept():
    p = np.array([[0.0, 0.0, 1.0, 1.0]])
    bins = Bins(p, np.ones((1, 4)), np.array([[0.0, 1, 1, 1]]))
    curves = fit_curves(p, bins)
    found = curves.apply(np.array([0.0, 0.5, 1.0]), np.zeros(3, dtype=int))
    np.testing.assert_array_equal(found, [0, 0.5, 1])


def test_enough_of_both_classes():
    found = has_curve(
        np.array([19.0, 20, 20, 20]), np.array([99.0, 99, 19, 99]), np.array([1, 1, 1, 0])
    )
    np.testing.assert_array_equal(found, [False, True, False, False])


def test_log_loss_of_bins(rng):
    q, W = rng.random((2, 5)), rng.random((2, 5))
    Y = W * rng.random((2, 5))
    expected = -np.sum(Y * np.log(q) + (W - Y) * np.log(1 - q), axis=1)
    np.testing.assert_allclose(log_loss(q, W, Y), expected, rtol=1e-12)
    assert log_loss(np.array([[0.0, 1.0]]), np.ones((1, 2)), np.array([[0.0, 1.0]]))[0] < 1e-15
    assert np.isfinite(log_loss(np.array([[0.0, 1.0]]), np.ones((1, 2)), np.array([[1.0, 0.0]]))[0])


def test_curves_are_preferred_where_the_shape_is_not_logistic(rng):
    p = rng.uniform(0.02, 0.98, (3, 4, 400))
    truth = [p[0], np.where(p[1] < 0.5, 0.1, 0.9), p[2] ** 4]
    Y = (rng.random(p.shape) < truth).astype(float)
    found = prefer_curves(p, Bins(p, np.ones_like(p), Y))
    np.testing.assert_array_equal(found, [False, True, True])


def test_the_loss_of_curves_is_that_of_held_out_folds(rng):
    p = rng.uniform(0.02, 0.98, (1, 4, 30))
    Y = (rng.random(p.shape) < p).astype(float)
    bins = Bins(p, np.ones_like(p), Y)
    gain = 0.0
    for fold in range(4):
        rest = [f for f in range(4) if f != fold]
        train = Bins(*(each[:, rest].reshape(1, -1) for each in bins.arrays()))
        curves = fit_curves(p[:, rest].reshape(1, -1), train)
        q = curves.apply(p[0, fold], np.zeros(30, dtype=int))
        y = Y[0, fold]
        gain += np.sum(np.where(y, np.log(q / p[0, fold]), np.log((1 - q) / (1 - p[0, fold]))))
    assert prefer_curves(p, bins)[0] == (gain > 0)


@pytest.mark.parametrize("starts", [[0, 2**31 - 5], [0, 1], [1, 2], [2, 0]])
def test_damaged_curves_are_refused_before_they_need_memory(starts):
    curves = IsotonicCurves(np.array(starts), np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    with pytest.raises(ValueError, match="the model is damaged"):
        curves.apply(np.array([0.5]), np.array([0]))
