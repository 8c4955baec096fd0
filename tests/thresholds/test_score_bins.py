import numpy as np
import pytest

import naive
from eigenlabel.thresholds import score_bins
from eigenlabel.thresholds.score_bins import FOLDS, Bins, ScoreBins, coarsen, pool


@pytest.fixture
def samples(rng):
    """Tied scores of 5 labels on 90 samples; some cells have weight zero, one label no positive."""
    scores = np.round(rng.standard_normal((5, 90)), 1)
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], (5, 90))
    positives = np.where(rng.random((5, 90)) < 0.2, weights, 0.0)
    positives[2] = 0.0
    return Bins(np.where(weights > 0, scores, 0.0), weights, positives)


def test_bins_are_those_of_the_definition(samples):
    found = coarsen(samples, 8)
    for j in range(5):
        rows = [each[j] for each in samples.arrays()]
        expected = naive.bin_samples(rows[0], rows[1], rows[2] > 0, 8)
        for have, want in zip(found.part(j).arrays(), expected, strict=True):
            np.testing.assert_allclose(have, want, atol=1e-12)


def test_few_samples_stay_as_they_are(samples):
    assert coarsen(samples, 45) is samples


def test_bins_keep_weights_positives_and_sums_of_scores(samples):
    for found in (coarsen(samples, 6), pool(samples, 7)):
        for each in (
            lambda b: b.weights,
            lambda b: b.positives,
            lambda b: b.weights * b.scores,
        ):
            assert each(found).sum() == pytest.approx(each(samples).sum(), rel=1e-12)


def test_few_positives_have_a_bin_each(rng):
    scores = rng.standard_normal((1, 5000))
    positives = np.zeros((1, 5000))
    positives[0, rng.choice(5000, 6, replace=False)] = 1.0
    found = coarsen(Bins(scores, np.ones((1, 5000)), positives), 32)
    assert np.count_nonzero(found.positives == 1) == 6


def test_empty_bins_are_last_in_sorted_bins(samples):
    found = samples.sorted()
    for j in range(5):
        n = np.count_nonzero(found.weights[j])
        assert (found.weights[j, :n] > 0).all()
        assert (np.diff(found.scores[j, :n]) >= 0).all()


def add(pieces, m):
    bins = ScoreBins(m)
    for scores, Y, labels in pieces:
        bins.add(scores, Y, None, None, labels)
    return bins


def as_sets(bins):
    """Return the bins of each label and fold without the empty ones, in a definite order."""
    m, folds, _ = bins.scores.shape
    found = []
    for place in np.ndindex(m, folds):
        rows = np.array([each[place] for each in bins.arrays()]).T
        found.append(sorted(map(tuple, rows[rows[:, 1] > 0])))
    return found


def test_pieces_of_rows_and_of_labels_are_collected_alike(rng):
    scores = rng.standard_normal((40, 6))
    Y = rng.random((40, 6)) < 0.3
    whole = add([(scores, Y, slice(None))], 6)
    rows = add([(scores[i : i + 7], Y[i : i + 7], slice(None)) for i in range(0, 40, 7)], 6)
    blocks = [slice(0, 2), slice(2, 5), slice(5, 6)]
    columns = add([(scores[:, b], Y[:, b], b) for b in blocks], 6)
    both = add([(scores[i, b], Y[i, b], b) for i in (slice(15), slice(15, 40)) for b in blocks], 6)
    for other in (rows, columns, both):
        assert as_sets(other.bins) == as_sets(whole.bins)
        np.testing.assert_array_equal(other.n_samples, 40)


def test_blocks_of_labels_change_nothing(rng, monkeypatch):
    scores, Y = rng.standard_normal((400, 7)), rng.random((400, 7)) < 0.3
    whole = add([(scores, Y, slice(None))], 7)
    monkeypatch.setattr(score_bins, "BLOCK_BYTES", 8 * score_bins.ARRAYS * 400 * 2)
    blocks = ScoreBins(7)
    blocks.k = whole.k
    blocks.add(scores, Y, None, None, slice(None))
    for have, want in zip(blocks.bins.arrays(), whole.bins.arrays(), strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-12)


def test_samples_without_score_or_weight_do_not_count(rng):
    scores, Y = rng.standard_normal((30, 3)), rng.random((30, 3)) < 0.4
    weights = rng.choice([0.0, 1.0, 2.5], 30)
    scores[3] = np.nan
    scores[4, 1] = np.nan
    observed = rng.random((30, 3)) < 0.8
    bins = ScoreBins(3)
    bins.add(scores, Y, weights, observed, slice(None))
    used = np.flatnonzero((weights > 0) & (np.arange(30) != 3))
    assert bins.n_samples.tolist() == [len(used)] * 3
    counting = observed & ~np.isnan(scores)
    for j in range(3):
        for fold in range(FOLDS):
            rows = [i for i in used[fold::FOLDS] if counting[i, j]]
            expected = sorted((scores[i, j], weights[i], weights[i] * Y[i, j]) for i in rows)
            assert as_sets(bins.bins)[FOLDS * j + fold] == expected


def test_weights_have_a_mean_of_at_least_one(rng):
    scores, Y = rng.standard_normal((20, 2)), rng.random((20, 2)) < 0.4
    for factor, expected in ((1e-6, 20.0), (3.0, 60.0)):
        bins = ScoreBins(2)
        bins.add(scores, Y, np.full(20, factor), None, slice(None))
        assert bins.scaled().weights.sum() == pytest.approx(2 * expected, rel=1e-12)


def test_many_labels_have_fewer_bins():
    assert ScoreBins(10).k == score_bins.MOST_BINS
    assert ScoreBins(10**6).k == score_bins.LEAST_BINS
    for m in (10, 5000, 30_000):
        size = 8 * 3 * FOLDS * 2 * ScoreBins(m).k * m
        assert size <= max(
            2 * score_bins.BLOCK_BYTES, 8 * 3 * FOLDS * 2 * score_bins.LEAST_BINS * m
        )
