"""Metrics of labels that are not observed, by cell, by row and by label."""

import numpy as np
import pytest

from eigenlabel import metrics


def blank(Y, M):
    return np.where(M, Y, np.nan)


@pytest.fixture
def table(rng):
    """Truth with NaN, scores with ties and predictions; an empty row, an empty column."""
    Y = (rng.random((30, 6)) < 0.4).astype(float)
    M = rng.random((30, 6)) < 0.6
    M[4], M[:, 3] = False, False
    scores = np.round(rng.standard_normal((30, 6)) + Y, 1)
    return blank(Y, M), scores, (scores > 0.5).astype(int)


def by_row(Y, given, w, function):
    """Average a metric of single rows, restricted to what is observed of them."""
    values, weights = [], []
    for y, g, v in zip(Y, given, w, strict=True):
        o = ~np.isnan(y)
        value = function(y[None, o], g[None, o]) if o.any() else np.nan
        if not np.isnan(value):
            values.append(value)
            weights.append(v)
    return np.average(values, weights=weights)


def by_column(Y, given, w, function):
    values = []
    for y, g in zip(Y.T, given.T, strict=True):
        o = ~np.isnan(y)
        if o.any():
            values.append(function(y[o, None], g[o, None], sample_weight=w[o]))
    return np.nanmean(values)


def as_one_column(Y, given, w, function):
    o = ~np.isnan(Y)
    weights = np.repeat(w[:, None], Y.shape[1], axis=1)
    return function(Y[o][:, None], given[o][:, None], sample_weight=weights[o])


ORACLES = {
    "accuracy": by_row,
    "f1_samples": by_row,
    "recall_samples": by_row,
    "false_discovery_samples": by_row,
    "ranking_loss": by_row,
    "ranking_accuracy": by_row,
    "average_precision": by_row,
    "one_error": by_row,
    "coverage": by_row,
    "precision_at_1": by_row,
    "precision_at_3": by_row,
    "precision_at_5": by_row,
    "ndcg_at_3": by_row,
    "ndcg_at_5": by_row,
    "f1_macro": by_column,
    "auc_macro": by_column,
    "label_average_precision": by_column,
    "hamming_loss": as_one_column,
    "f1_micro": as_one_column,
    "auc_micro": as_one_column,
    "log_loss": as_one_column,
    "brier_score": as_one_column,
    "calibration_error": as_one_column,
    "calibration_error_macro": by_column,
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", list(ORACLES))
def test_metrics_see_observed_cells_alone(name, table, rng, weighted):
    Y, scores, decided = table
    metric = metrics.METRICS[name]
    given = {"scores": scores, "labels": decided, "probabilities": 1 / (1 + np.exp(-scores))}
    given = given[metric.reads]
    w = rng.uniform(0.5, 2, len(Y)) if weighted else np.ones(len(Y))
    expected = ORACLES[name](Y, given, w, metric.function)
    found = metric.function(Y, given, sample_weight=w if weighted else None)
    assert found == pytest.approx(expected, rel=1e-12)
    other = np.where(np.isnan(Y), 1 - given, given)  # what stands in the other cells does not count
    assert metric.function(Y, other, sample_weight=w) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("trivial", ["skip", "count"])
@pytest.mark.parametrize("name", ["ranking_loss", "average_precision", "one_error"])
def test_rows_without_an_order(name, trivial, table):
    Y, scores, _ = table
    function = getattr(metrics, name)
    expected = by_row(Y, scores, np.ones(len(Y)), lambda y, s: function(y, s, trivial=trivial))
    assert function(Y, scores, trivial=trivial) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["average_precision", "coverage"])
def test_ties_by_index(name, table):
    Y, scores, _ = table
    function = getattr(metrics, name)
    expected = by_row(Y, scores, np.ones(len(Y)), lambda y, s: function(y, s, ties="index"))
    assert function(Y, scores, ties="index") == pytest.approx(expected, rel=1e-12)


def test_a_table_worked_by_hand():
    Y = [[1, np.nan, 0], [np.nan, np.nan, np.nan], [0, 1, np.nan]]
    decided = [[1, 1, 1], [1, 1, 1], [0, 0, 1]]
    scores = [[0.2, 0.9, 0.5], [0.1, 0.2, 0.3], [0.4, 0.7, 0.9]]
    assert metrics.hamming_loss(Y, decided) == 2 / 4
    assert metrics.accuracy(Y, decided) == 0
    assert metrics.f1_macro(Y, decided) == pytest.approx((1 + 0 + 0) / 3)
    assert metrics.f1_micro(Y, decided) == 2 * 1 / (2 + 2)
    assert metrics.f1_samples(Y, decided) == pytest.approx((2 / 3 + 0) / 2)
    assert metrics.ranking_loss(Y, scores) == 1 / 2
    assert metrics.one_error(Y, scores) == 1 / 2
    assert metrics.average_precision(Y, scores) == (1 / 2 + 1) / 2
    assert metrics.coverage(Y, scores) == (1 + 0) / 2
    assert metrics.precision_at_k(Y, scores, 3) == (1 / 2 + 1 / 2) / 2
    assert metrics.precision_at_k(Y, scores, 1) == (0 + 1) / 2
    assert metrics.auc_micro(Y, scores) == 2 / 4
    np.testing.assert_array_equal(metrics.auc_per_label(Y, scores), [0, np.nan, np.nan])
    # Both samples are given their one top label among those observed: the third, the second.
    assert metrics.label_precision_at_k(Y, scores, 1) == (0 + 1) / 2
    assert metrics.label_recall_at_k(Y, scores, 1) == (0 + 1) / 2
    assert metrics.labels_recalled_at_k(Y, scores, 1) == 1
    # Both are given all that is observed of them: a label is not given where it is not observed.
    assert metrics.label_precision_at_k(Y, scores, 3) == (1 / 2 + 1) / 2


def test_a_metric_of_nothing_is_nan():
    Y, given = np.full((3, 2), np.nan), np.ones((3, 2), dtype=int)
    scores = given.astype(float)
    figures = metrics.evaluate(Y, scores, given, probabilities=scores, propensities=[0.5, 0.5])
    assert set(figures) == set(metrics.METRICS)
    defined = {name for name, value in figures.items() if not np.isnan(value)}
    # Sums, which are zero over nothing; and 0/0, which is zero_division.
    assert defined == {"f1_micro", "labels_recalled_at_5"}
