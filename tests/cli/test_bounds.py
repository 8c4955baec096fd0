"""The bound of a tuned model: what is printed, and what the page says."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenlabel import SharedSubspaceClassifierCV, ThresholdedClassifier
from eigenlabel.cli.bounds import Bound, bound_section, describe, measure_bound, tuned_part
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.thresholds import RiskControl, held_out_probabilities

GRID = {"alphas": [1.0], "betas": [0.1], "n_components": 2, "cv": 3}


@pytest.fixture(scope="module")
def data():
    return make_shared_subspace(200, 8, 5, 2, prevalence=0.3, noise=1.0, random_state=0)


def naive(kind, Y, found):
    """Return the mean of a figure over samples with observed labels, one sample after another."""
    values = []
    for truth, decided in zip(Y, found, strict=True):
        seen = ~np.isnan(truth)
        if not seen.any():
            continue
        true, claimed = set(np.flatnonzero(truth == 1)), set(np.flatnonzero(decided & seen))
        hits = len(true & claimed)
        if kind == "recall":
            values.append(hits / len(true) if true else 1.0)
        elif claimed:
            values.append(hits / len(claimed) if kind == "precision" else 1 - hits / len(claimed))
        elif kind == "false_discovery":
            values.append(0.0)
    return np.mean(values)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", ["recall", "false_discovery", "precision"])
def test_the_figure_is_that_of_the_samples_of_the_rule(data, kind, missing, rng):
    Y = data.Y.astype(float)
    if missing:
        Y[rng.random(Y.shape) < 0.2] = np.nan
        Y[3] = np.nan
    rule = RiskControl(**{kind: 0.6})
    model = make_pipeline(StandardScaler(), SharedSubspaceClassifierCV(**GRID, threshold=rule))
    model.fit(data.X, Y)
    P = held_out_probabilities(model[-1].oof_scores_, Y)
    bound = measure_bound(model, data.X, Y)
    assert not bound.exact
    assert (bound.n, bound.kind) == (200, kind)
    found = model[-1].thresholds_ < P
    assert bound.reached == pytest.approx(naive(kind, Y, found))
    assert bound.size == pytest.approx(found.sum() / 200)
    apart = ThresholdedClassifier(
        make_pipeline(StandardScaler(), SharedSubspaceClassifierCV(**GRID)),
        strategy=rule,
        calibration=None,
        split=0.4,
        random_state=0,
    ).fit(data.X, Y)
    bound = measure_bound(apart, data.X, Y)
    assert bound.exact
    assert bound.n == 80
    rows = apart.aside_
    found = apart.predict(data.X[rows]).astype(bool)
    assert bound.reached == pytest.approx(naive(kind, Y[rows], found))
    assert bound.cut == apart.thresholds_.min()
    assert tuned_part(apart) is apart.estimator_[-1]


def test_rules_without_a_bound_have_none(data):
    model = make_pipeline(StandardScaler(), SharedSubspaceClassifierCV(**GRID))
    assert measure_bound(model.fit(data.X, data.Y), data.X, data.Y) is None


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (RiskControl(recall=0.9), "at least 90% of its true labels in expectation. In"),
        (RiskControl(recall=0.9, confidence=0.8), "expectation, with a confidence of 80%. In"),
        (RiskControl(false_discovery=0.2), "At most 20% of the predicted labels of a new sample"),
        (RiskControl(precision=0.75), "At least 75% of the predicted labels of a new sample"),
    ],
)
def test_statements_in_words(rule, words):
    section = bound_section(Bound(rule, 0.25, 60, True, 0.875, 2.5))
    assert words in section["paragraphs"][0]
    assert "0.875 on 60 samples kept aside, 2.50 labels a sample" in section["paragraphs"][0]
    assert "exact" in section["paragraphs"][1]
    rough = bound_section(Bound(rule, 0.25, 60, False, 0.875, 2.5))
    assert "approximate" in rough["paragraphs"][1]
    if rule.recall is None:
        assert "confidence of 90%" in section["paragraphs"][0]


def test_bounds_that_decide_nothing():
    everything = describe(Bound(RiskControl(recall=0.99), -np.inf, 9, True, 1.0, 5.0))
    assert "all labels are predicted; recall 1.000 on 9 samples" in everything
    nothing = describe(Bound(RiskControl(precision=0.99), np.inf, 9, False, np.nan, 0.0))
    assert nothing == (
        "bound precision=0.99: no label is predicted; 9 held-out samples, 0.00 labels a sample"
    )
