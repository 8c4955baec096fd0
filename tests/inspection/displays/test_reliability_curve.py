import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve

from eigenlabel import metrics
from eigenlabel.inspection.displays.checked_inputs import read_judged
from eigenlabel.inspection.displays.reliability import bin_probabilities, wilson


@pytest.fixture
def probabilities(rng):
    return rng.uniform(size=(80, 4)) ** 2


@pytest.fixture
def labels(rng, probabilities):
    Y = (rng.uniform(size=probabilities.shape) < probabilities).astype(float)
    return np.where(rng.uniform(size=Y.shape) < 0.1, np.nan, Y)


def naive_bins(cells, edges, z):
    """Return what bin_probabilities returns, cell by cell."""
    rows = []
    for k in range(len(edges) - 1):
        inside = [
            c
            for c in range(len(cells.scores))
            if edges[k] < cells.scores[c] <= edges[k + 1] or (k == 0 and cells.scores[c] == 0)
        ]
        w = {c: cells.weights[c] for c in inside}
        total = sum(w.values())
        if not total:
            rows.append((0.0, *[np.nan] * 4))
            continue
        p = sum(w[c] * cells.truth[c] for c in inside) / total
        q = sum(w[c] * cells.scores[c] for c in inside) / total
        spread = weights = 0.0
        for sample in set(cells.samples[inside].tolist()):
            own = [c for c in inside if cells.samples[c] == sample]
            spread += sum(w[c] * (cells.truth[c] - p) for c in own) ** 2
            weights += sum(w[c] for c in own) ** 2
        fewest, most = total**2 / weights, total**2 / sum(v**2 for v in w.values())
        n = p * (1 - p) * total**2 / spread if spread else fewest
        n = min(max(n, fewest), most)
        middle, half = p + z**2 / (2 * n), z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
        rows.append(
            (total, q, p, (middle - half) / (1 + z**2 / n), (middle + half) / (1 + z**2 / n))
        )
    return np.array(rows).T


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("which", ["all", "label"])
def test_bins_are_those_of_a_loop(strategy, which, probabilities, labels, rng):
    weights = rng.integers(0, 4, len(labels))
    judged = read_judged(labels, probabilities, weights, None)
    cells = judged.all() if which == "all" else judged.label(2)
    found = bin_probabilities("x", cells, 7, strategy, 0.9)
    naive = naive_bins(cells, found.edges, 1.6448536269514722)
    for values, expected in zip(found[2:7], naive, strict=True):
        np.testing.assert_allclose(values, expected, rtol=1e-10)
    used = found.weight > 0
    gaps = np.abs(naive[1] - naive[2])[used]
    error = (naive[0][used] * gaps).sum() / naive[0].sum()
    assert found.calibration_error == pytest.approx(error)


def test_bins_of_equal_width_are_those_of_scikit_learn(probabilities, labels):
    cells = read_judged(labels, probabilities, None, None).all()
    found = bin_probabilities("x", cells, 10, "uniform", 0.95)
    observed, predicted = calibration_curve(cells.truth, cells.scores, n_bins=10)
    np.testing.assert_allclose(found.observed[found.weight > 0], observed)
    np.testing.assert_allclose(found.predicted[found.weight > 0], predicted)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_the_error_is_that_of_the_metric(strategy, probabilities, labels):
    cells = read_judged(labels, probabilities, None, None).all()
    found = bin_probabilities("x", cells, 15, strategy, 0.95).calibration_error
    wanted = metrics.calibration_error(labels, probabilities, strategy=strategy)
    assert found == pytest.approx(wanted, rel=1e-10)


def test_bins_of_equal_weight_have_equal_weights(rng):
    p = rng.uniform(size=(120, 1))
    cells = read_judged(rng.uniform(size=p.shape) < p, p, None, None).all()
    found = bin_probabilities("x", cells, 6, "quantile", 0.95)
    assert found.weight.tolist() == [20] * 6


def test_equal_probabilities_fill_one_bin():
    cells = read_judged([[1], [0], [1]], [[0.5], [0.5], [0.5]], None, None).all()
    found = bin_probabilities("x", cells, 4, "quantile", 0.95)
    assert found.edges.tolist() == [0.0, 1.0]
    assert found.weight.tolist() == [3]
    assert found.calibration_error == pytest.approx(2 / 3 - 0.5)


def test_weights_count_like_copies_but_not_as_evidence(probabilities, labels, rng):
    weights = rng.integers(1, 4, len(labels))
    copies = np.repeat(np.arange(len(labels)), weights)
    one = read_judged(labels, probabilities, weights, None).all()
    two = read_judged(labels[copies], probabilities[copies], None, None).all()
    for strategy in ("uniform", "quantile"):
        a, b = (bin_probabilities("x", cells, 5, strategy, 0.95) for cells in (one, two))
        for x, y in zip(a[1:5], b[1:5], strict=True):
            np.testing.assert_allclose(x, y)
        assert (a.high - a.low >= b.high - b.low - 1e-12).all()
    double = read_judged(labels, probabilities, 2 * weights, None).all()
    for x, y in zip(
        bin_probabilities("x", one, 5, "uniform", 0.95)[5:7],
        bin_probabilities("x", double, 5, "uniform", 0.95)[5:7],
        strict=True,
    ):
        np.testing.assert_allclose(x, y)


def test_limits_of_wilson_are_those_of_scipy():
    for hits, n in [(0, 5), (3, 10), (10, 10), (70, 200)]:
        low, high = wilson(np.array(hits / n), np.array(float(n)), 0.95)
        expected = binomtest(hits, n).proportion_ci(0.95, method="wilson")
        np.testing.assert_allclose([low, high], [expected.low, expected.high], atol=1e-12)


def test_labels_that_copy_each_other_add_no_evidence(rng):
    p = rng.uniform(size=(200, 1))
    Y = rng.uniform(size=p.shape) < p
    one = bin_probabilities("x", read_judged(Y, p, None, None).all(), 5, "uniform", 0.95)
    copied = read_judged(np.tile(Y, 10), np.tile(p, 10), None, None)
    many = bin_probabilities("x", copied.all(), 5, "uniform", 0.95)
    np.testing.assert_allclose(many.low, one.low)
    np.testing.assert_allclose(many.high, one.high)


def test_limits_cover_the_truth_as_often_as_they_say(rng):
    """Labels of a sample depend on each other through a hidden factor."""
    covered = []
    for _ in range(300):
        factor = rng.standard_normal((100, 1))
        noise = rng.standard_normal((100, 10))
        Y = 0.7 * factor + np.sqrt(1 - 0.49) * noise > 0.5
        cells = read_judged(Y, np.full(Y.shape, 0.3), None, None).all()
        found = bin_probabilities("x", cells, 1, "uniform", 0.9)
        covered.append(found.low[0] <= 0.30853753872598694 <= found.high[0])
    # The share of covered draws has a standard error of 0.017.
    assert 0.85 <= np.mean(covered) <= 0.96
