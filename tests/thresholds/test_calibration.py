import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import skops.io
from hypothesis import given
from hypothesis import strategies as st

import eigenlabel
from eigenlabel.persistence.types import TRUSTED
from eigenlabel.thresholds import (
    Calibration,
    Calibrator,
    fit_calibration,
    held_out_probabilities,
)
from eigenlabel.thresholds.calibration import METHODS
from eigenlabel.thresholds.logistic import fit_maps, fit_rising_pairs
from eigenlabel.thresholds.score_bins import ScoreBins, read_cells


def draw(rng, n, slopes, intercepts, width=1.0):
    """Draw scores and labels with known probabilities, which are returned too."""
    scores = width * rng.standard_normal((n, len(slopes)))
    P = 1 / (1 + np.exp(-slopes * scores - intercepts))
    return scores, rng.random(P.shape) < P, P


@pytest.fixture
def problem(rng):
    return draw(rng, 180, np.array([2.0, 1.5, 3, 2, 1]), np.array([0.0, -1, -3, -4, 0.5]))[:2]


def assert_sound(calibration, m):
    """Check that probabilities are finite, in [0, 1] and never fall with the score."""
    low, high = (
        calibration.center - 60 * calibration.scale,
        calibration.center + 60 * calibration.scale,
    )
    grid = np.r_[-np.inf, -1e300, np.linspace(low, high, 2001), 1e300, np.inf]
    P = calibration.probabilities(np.repeat(grid[:, None], m, axis=1))
    assert np.isfinite(P).all()
    assert P.min() >= 0
    assert P.max() <= 1
    assert np.diff(P, axis=0).min() >= -1e-12  # rounding of sums of log-odds


@pytest.mark.parametrize("method", METHODS)
def test_known_probabilities_are_recovered(rng, method):
    slopes, intercepts = rng.uniform(1, 3, 10), rng.uniform(-3, 1, 10)
    scores, Y, _ = draw(rng, 4000, slopes, intercepts)
    new, _, P = draw(rng, 1000, slopes, intercepts)
    found = fit_calibration(scores, Y, method=method).probabilities(new)
    assert np.abs(found - P).mean() < (0.02 if method == "isotonic" else 0.01)
    assert np.abs(found - P).max() < 0.1


def test_a_shape_that_is_not_logistic_is_recovered_by_isotonic_curves(rng):
    scores = rng.uniform(-1, 1, (4000, 3))

    def shape(s):
        return np.where(s < -0.3, 0.05, np.where(s < 0.4, 0.3, 0.95))

    Y = rng.random(scores.shape) < shape(scores)
    new = rng.uniform(-1, 1, (1000, 3))
    errors = {}
    for method in METHODS:
        calibration = fit_calibration(scores, Y, method=method)
        errors[method] = np.abs(calibration.probabilities(new) - shape(new)).mean()
        assert calibration.methods == ["sigmoid" if method == "sigmoid" else "isotonic"] * 3
    assert errors["auto"] == errors["isotonic"] < 0.6 * errors["sigmoid"]


def test_rare_labels_borrow_from_the_others(rng):
    slopes, intercepts = np.full(40, 2.0), np.full(40, -3.0)
    scores, Y, _ = draw(rng, 300, slopes, intercepts)
    Y[:, 0] = False
    Y[np.argmax(scores[:, 0]), 0] = True  # separable, with one positive
    calibration = fit_calibration(scores, Y, method="sigmoid")
    slopes = calibration.slopes / calibration.scale
    assert 1 < slopes[0] < 4
    assert np.ptp(slopes) < 2


@pytest.mark.parametrize("factor", [1e-8, 1e8, 1e-300, 1e100])
@pytest.mark.parametrize("method", METHODS)
def test_the_scale_of_scores_does_not_matter(problem, factor, method):
    scores, Y = problem
    P = fit_calibration(scores, Y, method=method).probabilities(scores)
    Q = fit_calibration(factor * scores, Y, method=method).probabilities(factor * scores)
    np.testing.assert_allclose(Q, P, rtol=1e-8)


def test_the_location_of_scores_does_not_matter(problem):
    scores, Y = problem
    P = fit_calibration(scores, Y).probabilities(scores)
    Q = fit_calibration(scores + 1000, Y).probabilities(scores + 1000)
    np.testing.assert_allclose(Q, P, rtol=1e-8)


def labels_of_all_kinds(rng, n=300):
    scores, Y, _ = draw(rng, n, np.full(10, 2.0), np.linspace(-4, 1, 10))
    Y[:, 0] = False
    Y[:, 1] = np.arange(n) == 5
    Y[:, 2] = np.arange(n) < 2
    Y[:, 3] = True
    Y[:, 4] = scores[:, 4] > 0  # separable
    Y[:, 5] = scores[:, 5] < 0  # falling
    scores[:, 6] = 0.7  # equal scores
    scores[:, 7] = np.round(scores[:, 7])
    return scores, Y


@pytest.mark.parametrize("method", METHODS)
def test_labels_of_all_kinds(rng, method):
    scores, Y = labels_of_all_kinds(rng)
    calibration = fit_calibration(scores, Y, method=method)
    assert_sound(calibration, 10)
    assert (calibration.slopes >= 0).all()
    assert calibration.slopes[5] == 0
    P = calibration.probabilities(scores)
    assert P[:, 0].max() < 0.2
    assert P[:, 3].min() > 0.8


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("scores", "Y"),
    [
        ([[0.3]], [[1]]),
        ([[0.3, -1.0]], [[0, 1]]),
        ([[0.3], [0.3]], [[1], [0]]),
        ([[1.0], [2.0]], [[0], [1]]),
        (np.zeros((5, 2)), np.ones((5, 2))),
        (np.arange(12.0).reshape(6, 2), np.zeros((6, 2))),
        (np.arange(12.0).reshape(6, 2), np.ones((6, 2))),
        ([[0.0], [0.0], [0.0], [1e12]], [[0], [1], [0], [1]]),
        ([[0.0], [1.0], [2.0], [np.inf]], [[0], [1], [0], [1]]),
        ([[5e-324], [1e-323], [2e-323]], [[0], [1], [1]]),
    ],
)
def test_few_samples(scores, Y, method):
    calibration = fit_calibration(scores, Y, method=method)
    assert_sound(calibration, np.shape(Y)[1])


def test_one_sample_has_smoothed_probabilities():
    P = fit_calibration([[0.3]], [[1]]).probabilities([[0.3]])
    assert P[0, 0] == pytest.approx(0.25 + 0.5 * (1 + 2 * (2 / 3)) / 3)


@pytest.mark.parametrize("method", METHODS)
def test_what_never_happened_is_not_impossible(method, rng):
    n = 1000
    scores = np.column_stack([np.full(n, -1.0), *rng.uniform(-1, 1, (3, n))])
    Y = np.column_stack([np.zeros(n), scores[:, 1:] > 0.3]).astype(int)  # separable labels
    calibration = fit_calibration(scores, Y, method=method)
    assert calibration.floor == pytest.approx(0.5 / (4 * n + 1))
    P = calibration.probabilities(np.linspace([-50] * 4, [50] * 4, 500))
    assert P.min() >= calibration.floor
    assert P.max() <= 1 - calibration.floor
    assert (np.diff(P, axis=0) >= 0).all()
    assert P[250, 0] < 0.01  # the label without positives


def test_the_floor_counts_the_cells_that_are_fitted_to(rng):
    scores, Y, _ = draw(rng, 100, np.full(4, 2.0), np.full(4, -1.0))
    weights = np.repeat([0.0, 2.0], 50)
    hidden = Y.astype(float)
    hidden[:, 0] = np.nan
    floor = fit_calibration(scores, hidden, weights).floor
    assert floor == pytest.approx(0.5 / (3 * 100 + 1))  # 50 samples that count twice
    streamed = Calibrator(4).add(scores, hidden, weights).fit().floor
    assert streamed == pytest.approx(floor)


def test_an_outlier_changes_little(rng):
    scores, Y, _ = draw(rng, 1000, np.full(4, 2.0), np.full(4, -1.0))
    P = fit_calibration(scores, Y, method="sigmoid").probabilities(scores)
    Y[0, 0] = True
    wild = scores.copy()
    wild[0, 0] = 1e9
    Q = fit_calibration(wild, Y, method="sigmoid").probabilities(scores)
    np.testing.assert_allclose(Q, P, atol=0.02)


@given(st.integers(1, 12), st.integers(1, 4), st.integers(0, 10**6))
def test_small_tables_of_any_kind_have_sound_probabilities(n, m, seed):
    rng = np.random.default_rng(seed)
    scores = rng.choice([-1.0, 0.0, 0.5, 2.0, 1e6], (n, m)) * rng.choice([1e-9, 1.0])
    Y = rng.choice([0.0, 1.0, np.nan], (n, m), p=[0.5, 0.3, 0.2])
    Y[0, 0] = 1.0
    for method in METHODS:
        assert_sound(fit_calibration(scores, Y, method=method), m)


@pytest.mark.parametrize("method", METHODS)
def test_samples_without_scores_or_weight_do_not_count(problem, method):
    scores, Y = problem
    expected = fit_calibration(scores[50:], Y[50:], method=method).probabilities(scores)
    hidden = scores.copy()
    hidden[:50] = np.nan
    weights = (np.arange(len(Y)) >= 50).astype(float)
    for found in (
        fit_calibration(hidden, Y, method=method),
        fit_calibration(scores, Y, weights, method=method),
    ):
        np.testing.assert_allclose(found.probabilities(scores), expected, rtol=1e-12)


def test_cells_that_are_not_observed_do_not_count(problem, rng):
    scores, Y = problem
    observed = rng.random(Y.shape) < 0.7
    observed[:, 3] = False
    wild = np.where(observed, scores, 1e5 * rng.standard_normal(Y.shape))
    P = fit_calibration(scores, np.where(observed, Y, np.nan)).probabilities(scores)
    Q = fit_calibration(wild, np.where(observed, Y, np.nan)).probabilities(scores)
    np.testing.assert_allclose(Q, P, rtol=1e-12)
    blank = np.where(observed, scores, np.nan)
    R = fit_calibration(blank, Y).probabilities(scores)
    np.testing.assert_allclose(R, P, rtol=1e-12)
    assert np.isfinite(P).all()  # also those of the label that is never observed


def test_weights_count_as_numbers_of_samples(rng):
    scores, Y = labels_of_all_kinds(rng, 40)
    weights = rng.integers(1, 4, 40)
    rows = np.repeat(np.arange(40), weights)  # few enough to be kept one by one
    P = fit_calibration(scores, Y, weights, method="sigmoid").probabilities(scores)
    Q = fit_calibration(scores[rows], Y[rows], method="sigmoid").probabilities(scores)
    np.testing.assert_allclose(Q, P, rtol=1e-8)


@pytest.mark.parametrize("n", [100, 700])
def test_small_weights_are_scaled(rng, n):
    scores, Y, _ = draw(rng, n, np.full(3, 2.0), np.full(3, -1.0))
    P = fit_calibration(scores, Y).probabilities(scores)
    for factor in (1.0, 1e-9):
        Q = fit_calibration(scores, Y, np.full(n, factor)).probabilities(scores)
        np.testing.assert_allclose(Q, P, rtol=1e-8)


def test_label_and_sample_order_do_not_matter(problem, rng):
    scores, Y = problem
    order, labels = rng.permutation(len(Y)), rng.permutation(5)
    P = fit_calibration(scores, Y, method="sigmoid").probabilities(scores)
    Q = fit_calibration(scores[order], Y[order], method="sigmoid").probabilities(scores)
    np.testing.assert_allclose(Q, P, rtol=1e-8)
    R = fit_calibration(scores[:, labels], Y[:, labels]).probabilities(scores[:, labels])
    np.testing.assert_allclose(
        R, fit_calibration(scores, Y).probabilities(scores)[:, labels], rtol=1e-8
    )


def test_sparse_labels_and_float32_scores(problem):
    scores, Y = problem
    P = fit_calibration(scores, Y).probabilities(scores)
    for form in (sp.csr_array, sp.coo_matrix):
        Q = fit_calibration(scores, form(Y.astype(int))).probabilities(scores)
        np.testing.assert_array_equal(Q, P)
    single = scores.astype(np.float32)
    Q = fit_calibration(single, Y).probabilities(single)
    assert Q.dtype == np.float32
    np.testing.assert_allclose(Q, P, atol=1e-6)  # the precision of float32
    assert fit_calibration(np.round(scores).astype(int), Y).probabilities(scores).dtype == float


def test_probabilities_of_any_number_of_rows(problem, monkeypatch):
    scores, Y = problem
    calibration = fit_calibration(scores, Y, method="isotonic")
    assert "isotonic" in calibration.methods
    P = calibration.probabilities(scores)
    assert calibration.probabilities(scores[:0]).shape == (0, 5)
    np.testing.assert_allclose(calibration.probabilities(scores[:1]), P[:1], rtol=1e-14)
    monkeypatch.setattr(eigenlabel.linalg.operators, "BLOCK_BYTES", 10_000)
    np.testing.assert_allclose(calibration.probabilities(scores), P, rtol=1e-14)
    scores = scores.copy()
    scores[3, 2] = np.nan
    found = calibration.probabilities(scores)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(scores))


def test_input_is_not_modified(problem, rng):
    scores, Y = problem
    weights = rng.random(len(Y))
    copies = scores.copy(), Y.copy(), weights.copy()
    fit_calibration(scores, Y, weights).probabilities(scores)
    for have, want in zip((scores, Y, weights), copies, strict=True):
        np.testing.assert_array_equal(have, want)


def pieces_of(scores, Y, size):
    return [(scores[i : i + size], Y[i : i + size]) for i in range(0, len(Y), size)]


def test_pieces_are_calibrated_as_the_whole(problem):
    scores, Y = problem
    expected = fit_calibration(scores, Y).probabilities(scores)
    calibrator = Calibrator(5)
    for part in pieces_of(scores, Y, 33):
        assert calibrator.add(*part) is calibrator
    np.testing.assert_allclose(calibrator.fit().probabilities(scores), expected, rtol=1e-8)
    blocks = Calibrator(5)
    for part in pieces_of(scores, Y, 100):
        for labels in (slice(0, 2), slice(2, 5)):
            blocks.add(*(each[:, labels] for each in part), labels=labels)
    np.testing.assert_allclose(blocks.fit().probabilities(scores), expected, rtol=1e-8)


def test_bins_are_nearly_as_accurate_as_all_samples(rng):
    scores, Y, _ = draw(rng, 3000, np.full(30, 2.0), np.linspace(-6, 1, 30))
    exact = fit_calibration(scores, Y, method="sigmoid").probabilities(scores)
    calibrator = Calibrator(30)
    for part in pieces_of(scores, Y, 500):
        calibrator.add(*part)
    binned = calibrator.fit("sigmoid").probabilities(scores)
    assert np.abs(binned - exact).mean() < 1e-3
    assert np.abs(binned - exact).max() < 0.02


def test_pairs_are_those_of_all_samples(rng):
    scores, Y, _ = draw(rng, 900, np.full(6, 2.0), np.linspace(-4, 1, 6))
    observed = rng.random(Y.shape) < 0.9
    weights = rng.choice([0.0, 1.0, 2.0], 900)
    found = fit_calibration(scores, np.where(observed, Y, np.nan), weights)
    summary = ScoreBins(6)
    summary.add(scores, Y, weights, observed, slice(None))
    maps, prior = fit_maps(summary.scaled().joined())
    cells = read_cells(scores, Y, weights, observed, slice(None))
    unit = cells.standardised(maps.centre, maps.spread)
    expected = fit_rising_pairs(unit, prior, np.tile(prior.mean, (6, 1)))
    np.testing.assert_allclose(found.slopes, expected[:, 0], rtol=1e-8)
    np.testing.assert_allclose(found.intercepts, expected[:, 1], rtol=1e-8)
    assert np.abs(maps.pairs - expected).max() > 1e-6  # those of the bins are near, but others


@pytest.mark.parametrize("method", METHODS)
def test_held_out_probabilities_are_those_of_the_other_folds(problem, rng, method):
    scores, Y = (each.copy() for each in problem)
    Y = np.where(rng.random(Y.shape) < 0.9, Y, np.nan)
    weights = rng.choice([0.0, 1.0, 2.0], len(Y))
    scores[[4, 9]] = np.nan
    found = held_out_probabilities(scores, Y, weights, method=method, n_folds=3)
    assert np.isnan(found[[4, 9]]).all()
    known = np.delete(np.arange(len(Y)), [4, 9])
    for k in range(3):
        rest = np.concatenate([known[f::3] for f in range(3) if f != k])
        rest.sort()
        calibration = fit_calibration(scores[rest], Y[rest], weights[rest], method=method)
        expected = calibration.probabilities(scores[known[k::3]])
        np.testing.assert_allclose(found[known[k::3]], expected, rtol=1e-8)


def test_held_out_probabilities_do_not_know_the_label(problem):
    scores, Y = problem
    other = Y.copy()
    other[20] = ~other[20]
    P, Q = (held_out_probabilities(scores, each) for each in (Y, other))
    np.testing.assert_array_equal(P[20], Q[20])
    assert (P != Q).any()


def test_held_out_probabilities_of_few_samples():
    for n in (1, 2, 3):
        P = held_out_probabilities(np.arange(2.0 * n).reshape(n, 2), np.ones((n, 2)))
        assert np.isfinite(P).all()
    Y = np.array([[1.0], [np.nan], [np.nan]])  # the other folds have no label
    assert np.isfinite(held_out_probabilities([[0.1], [0.2], [0.3]], Y)).all()
    single = np.array([[0.1], [0.2], [0.3]], dtype=np.float32)
    assert held_out_probabilities(single, np.ones((3, 1))).dtype == np.float32
    with pytest.raises(ValueError, match="n_folds must be an integer >= 2, got 1"):
        held_out_probabilities(single, np.ones((3, 1)), n_folds=1)
    with pytest.raises(ValueError, match="method"):
        held_out_probabilities(single, np.ones((3, 1)), method="platt")
    with pytest.raises(ValueError, match="at least one"):
        held_out_probabilities(np.full((3, 1), 0.1), np.full((3, 1), np.nan))


@pytest.mark.slow
def test_many_labels_are_calibrated_in_bounded_memory(rng):
    import tracemalloc

    m = 30_000
    calibrator = Calibrator(m)
    tracemalloc.start()
    for _ in range(4):
        scores = rng.standard_normal((100, m), dtype=np.float32)
        Y = sp.random_array((100, m), density=0.001, rng=rng, format="csr")
        Y.data[:] = 1
        calibrator.add(scores, Y)
    calibration = calibrator.fit()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300 * 2**20  # 70 MB of bins, and pieces of 24 MB as float64
    assert np.isfinite(calibration.probabilities(scores[:5])).all()


def test_fields_of_a_calibration(problem):
    calibration = fit_calibration(*problem)
    assert isinstance(calibration, Calibration)
    assert calibration.slopes.shape == calibration.intercepts.shape == (5,)
    assert calibration.link.shape == (3,)
    assert calibration.isotonic.dtype == bool
    with pytest.raises(AttributeError):
        calibration.scale = 2.0


def test_a_calibration_can_be_saved(problem):
    scores, Y = problem
    calibration = fit_calibration(scores, Y, method="isotonic")
    saved = skops.io.dumps(calibration)
    assert set(skops.io.get_untrusted_types(data=saved)) <= TRUSTED
    for copy in (
        skops.io.loads(saved, trusted=sorted(TRUSTED)),
        pickle.loads(pickle.dumps(calibration)),
    ):
        P = copy.probabilities(scores)
        np.testing.assert_array_equal(P, calibration.probabilities(scores))


def test_bad_input():
    scores, Y = np.zeros((4, 2)), np.array([[0, 1]] * 4)
    calibration = fit_calibration(scores, Y)
    with pytest.raises(ValueError, match="3 columns, but the calibration was fitted to 2"):
        calibration.probabilities(np.zeros((4, 3)))
    with pytest.raises(ValueError, match="matrix"):
        calibration.probabilities(np.zeros(2))
    with pytest.raises(ValueError, match="must be numbers"):
        calibration.probabilities([["a", "b"]])
    with pytest.raises(ValueError, match="'auto', 'sigmoid', 'isotonic', got 'platt'"):
        fit_calibration(scores, Y, method="platt")
    with pytest.raises(ValueError, match="'auto', 'sigmoid', 'isotonic', got 'platt'"):
        Calibrator(2).fit("platt")
    with pytest.raises(ValueError, match="shape"):
        fit_calibration(np.zeros((4, 3)), Y)
    for empty in (np.full((4, 2), np.nan), np.zeros((0, 2))):
        with pytest.raises(ValueError, match="at least one"):
            fit_calibration(empty, Y[: len(empty)])
    with pytest.raises(ValueError, match="at least one"):
        fit_calibration(scores, Y, np.zeros(4))
    with pytest.raises(ValueError, match="at least one"):
        Calibrator(2).fit()
    with pytest.raises(ValueError, match="has 2 labels, but 3 were announced"):
        Calibrator(3).add(scores, Y)
