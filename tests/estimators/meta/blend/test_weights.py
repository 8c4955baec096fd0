import numpy as np
import pytest
from scipy.optimize import minimize

from eigenlabel.estimators.meta.blend.weights import (
    SHRINK,
    BlendCells,
    equal_point,
    fit_by_label,
    fit_shared,
    kept_members,
    minimise,
)
from naive import softplus


def draw(rng, n=300, useful=(1.0, 0.5, 0.0)):
    """Return log-odds of members, of which each is the truth times a factor, and noise."""
    truth = rng.normal(-1, 1.5, n)
    Z = np.stack([k * truth + rng.standard_normal(n) for k in useful])
    y = (rng.random(n) < 1 / (1 + np.exp(-truth))).astype(float)
    return BlendCells(Z, y, rng.integers(1, 4, n).astype(float))


def naive_objective(point, cells, prior, penalty):
    """Return the penalised log-loss, cell by cell."""
    total = 0.0
    for z, y, c in zip(cells.Z.T, cells.y, cells.c, strict=True):
        s = point[0] + sum(w * x for w, x in zip(point[1:], z, strict=True))
        total += c * (softplus(s) - y * s)
    free = np.isfinite(penalty)
    return total + 0.5 * (penalty[free] * (point[free] - prior[free]) ** 2).sum()


@pytest.mark.parametrize("useful", [(1.0, 0.5, 0.0), (0.2, -1.0, -0.5), (1.0,)])
def test_no_other_point_has_a_lower_loss(useful, rng):
    cells = draw(rng, 80, useful)
    k = len(useful)
    prior, penalty = equal_point(k), np.r_[0.0, np.full(k, 2.0)]
    found = minimise(cells, prior, penalty)
    best = minimize(
        naive_objective,
        prior,
        (cells, prior, penalty),
        method="L-BFGS-B",
        bounds=[(None, None), *[(0, None)] * k],
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 2000},
    )
    assert (found[1:] >= 0).all()
    value = naive_objective(found, cells, prior, penalty)
    assert value <= best.fun * (1 + 1e-10)
    np.testing.assert_allclose(found, best.x, atol=1e-4)  # L-BFGS-B with numerical gradients


def test_the_conditions_of_a_minimum_hold(rng):
    cells = draw(rng)
    prior, penalty = equal_point(3), np.r_[0.0, np.full(3, SHRINK)]
    point = minimise(cells, prior, penalty)
    g = cells.derivatives(point)[0] + penalty * (point - prior)
    scale = np.abs(cells.Z).sum()
    inside = np.r_[True, point[1:] > 0]
    np.testing.assert_allclose(g[inside] / scale, 0, atol=1e-8)
    assert (g[~inside] >= -1e-8 * scale).all()


def test_derivatives_are_those_of_the_loss(rng):
    cells = draw(rng, 50)
    point = np.array([0.3, 0.2, 0.5, 0.1])
    g, H = cells.derivatives(point)
    step = 1e-5
    for k in range(4):
        e = np.eye(4)[k] * step
        slope = (cells.loss(point + e) - cells.loss(point - e)) / (2 * step)
        bend = (cells.derivatives(point + e)[0] - cells.derivatives(point - e)[0]) / (2 * step)
        np.testing.assert_allclose(g[k], slope, rtol=1e-6)  # of central differences
        np.testing.assert_allclose(H[k], bend, rtol=1e-6)


def test_members_without_weight_may_gain_some(rng):
    cells = draw(rng)
    from_zero = minimise(cells, np.zeros(4), np.zeros(4))
    from_equal = minimise(cells, equal_point(3), np.zeros(4))
    assert from_zero[1] > 0
    np.testing.assert_allclose(from_zero, from_equal, atol=1e-6)  # of the Newton decrement


def test_an_infinite_penalty_fixes_a_variable(rng):
    cells = draw(rng)
    found = minimise(cells, np.array([0.7, 0.5, 0.5, 0.5]), np.r_[np.inf, np.zeros(3)])
    assert found[0] == 0.7
    shared = fit_shared(cells, intercept=False)
    assert shared[0] == 0.0


def test_a_member_that_knows_nothing_has_no_weight(rng):
    point = fit_shared(draw(rng, 3000))
    assert point[1] > point[2] > 0
    assert point[3] < 0.1


def test_few_cells_draw_weights_to_equal_ones(rng, monkeypatch):
    equal = equal_point(3)

    def moved(cells):
        drawn = np.linalg.norm(fit_shared(cells) - equal)
        with monkeypatch.context() as patch:
            patch.setattr("eigenlabel.estimators.meta.blend.weights.SHRINK", 1e-6)
            return drawn / np.linalg.norm(fit_shared(cells) - equal)

    assert moved(draw(rng, 10)) < 0.8
    assert moved(draw(rng, 5000)) > 0.98


def test_equal_members_share_their_weight(rng):
    one = draw(rng, 500, (1.0,))
    double = BlendCells(np.repeat(one.Z, 2, axis=0), one.y, one.c)
    w = fit_shared(double)[1:]
    np.testing.assert_allclose(w[0], w[1], rtol=1e-6)


def test_weights_count_as_copies(rng):
    cells = draw(rng, 100)
    times = cells.c.astype(int)
    copies = BlendCells(
        np.repeat(cells.Z, times, axis=1), np.repeat(cells.y, times), np.ones(times.sum())
    )
    np.testing.assert_allclose(fit_shared(cells), fit_shared(copies), rtol=1e-6)


def test_cells_are_those_that_can_be_used(rng):
    z = rng.standard_normal((4, 3))
    Y = z > 0
    usable = np.ones((4, 3), dtype=bool)
    usable[1, 2] = usable[3, 0] = False
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    cells = BlendCells.of([z, -z], Y, weights, usable)
    np.testing.assert_array_equal(cells.Z, [z[usable], -z[usable]])
    np.testing.assert_array_equal(cells.y, Y[usable])
    np.testing.assert_array_equal(cells.c, np.repeat(weights, [3, 2, 3, 2]))


def test_too_many_cells_are_thinned_by_rows(rng, monkeypatch):
    monkeypatch.setattr("eigenlabel.estimators.meta.blend.weights.MOST_CELLS", 30)
    z = rng.standard_normal((40, 2))
    cells = BlendCells.of([z], z > 0, None, np.ones((40, 2), dtype=bool))
    assert cells.y.size <= 30
    np.testing.assert_array_equal(cells.Z[0], z[::3].ravel())


def test_two_classes_are_treated_alike(rng):
    cells = draw(rng)
    swapped = BlendCells(-cells.Z, 1 - cells.y, cells.c)
    a, b = (fit_shared(each.both_signs(), intercept=False) for each in (cells, swapped))
    np.testing.assert_allclose(a, b, rtol=1e-6)
    point = np.array([0.0, 0.3, 0.2, 0.4])
    np.testing.assert_allclose(cells.both_signs().loss(point), cells.loss(point), rtol=1e-12)


def test_weights_of_a_label_lie_between_shared_and_its_own(rng):
    n = 400
    truth = rng.normal(0, 1.5, (n, 2))
    noise = rng.standard_normal((2, n, 2))
    logits = [truth * [1, 0] + noise[0], truth * [0, 1] + noise[1]]  # each knows one label
    Y = rng.random((n, 2)) < 1 / (1 + np.exp(-truth))
    usable = np.ones((n, 2), dtype=bool)
    shared = fit_shared(BlendCells.of(logits, Y, None, usable))
    found = fit_by_label(logits, Y, None, usable, shared)
    assert found.shape == (2, 3)
    assert found[0, 1] > shared[1] > found[1, 1]
    assert found[1, 2] > shared[2] > found[0, 2]
    usable[:, 1] = False
    np.testing.assert_array_equal(fit_by_label(logits, Y, None, usable, shared)[1], shared)


def test_small_weights_are_dropped():
    np.testing.assert_array_equal(kept_members(np.array([0.5, 0.01, 0.4])), [True, False, True])
    by_label = np.array([[0.5, 0.0], [0.5, 0.1]])
    np.testing.assert_array_equal(kept_members(by_label), [True, True])
    np.testing.assert_array_equal(kept_members(np.zeros(3)), [True, False, False])
