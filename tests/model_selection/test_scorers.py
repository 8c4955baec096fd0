import numpy as np
import pytest
from sklearn.metrics import get_scorer
from sklearn.metrics import make_scorer as sklearn_scorer
from sklearn.model_selection import cross_val_score

from eigenlabel import MLkNN, metrics
from eigenlabel.datasets import make_shared_subspace
from eigenlabel.labels.codec import LabelCodec
from eigenlabel.model_selection.scorers import PrecomputedScores, Truth, make_scorer
from eigenlabel.thresholds import Zero

N = 12
FOLDS = [(None, np.arange(6)), (None, np.arange(6, N))]


def score(scoring, y, scores, weights=None, cells=None):
    codec, Y = LabelCodec.fit(y)
    truth = Truth.of(Y, weights, cells, np.arange(N), FOLDS)
    scorer = make_scorer(scoring, y, codec, truth, np.arange(N))
    return scorer.score(scores, Zero(), np.zeros(scores.shape[:2]), by_fold=True)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scoring", ["f1_macro", "f1_micro", "hamming_loss", "auc_micro"])
def test_metrics_are_computed_for_all_samples_and_by_fold(rng, scoring, weighted):
    Y, scores = rng.random((N, 3)) < 0.5, rng.standard_normal((2, 3, N))
    w = rng.uniform(1, 2, N) if weighted else None
    pooled, split = score(scoring, Y, scores, w)
    metric = metrics.METRICS[scoring]
    sign = 1 if metric.greater_is_better else -1
    for k, one in enumerate(scores):
        given = one.T if metric.reads == "scores" else one.T > 0
        assert pooled[k] == pytest.approx(sign * metric.function(Y, given, sample_weight=w))
        for f, (_, rows) in enumerate(FOLDS):
            some = None if w is None else w[rows]
            expected = sign * metric.function(Y[rows], given[rows], sample_weight=some)
            assert split[k, f] == pytest.approx(expected)


@pytest.mark.parametrize("scoring", ["f1_macro", "f1_micro", "accuracy"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_are_scored_as_scikit_learn_scores_them(rng, scoring, n_classes):
    y = np.arange(N) % n_classes
    m = 1 if n_classes == 2 else n_classes
    scores = rng.standard_normal((2, m, N))
    pooled, split = score(scoring, y, scores)
    codec = LabelCodec.fit(y)[0]
    estimator = PrecomputedScores(codec, Zero(), np.zeros(m))
    for k, one in enumerate(scores):
        assert pooled[k] == pytest.approx(get_scorer(scoring)(estimator, one.T, y))
    assert split.shape == (2, 2)


def test_cells_that_are_not_observed_do_not_count(rng):
    Y, scores = rng.random((N, 3)) < 0.5, rng.standard_normal((1, 3, N))
    cells = rng.random((N, 3)) < 0.8
    pooled, _ = score("f1_macro", Y, scores, cells=cells)
    expected = metrics.f1_macro(np.where(cells, Y, np.nan), scores[0].T > 0)
    assert pooled[0] == pytest.approx(expected)


def test_scorings_that_do_not_fit_raise(rng):
    Y, scores = rng.random((N, 3)) < 0.5, rng.standard_normal((1, 3, N))
    with pytest.raises(ValueError, match="Unknown scoring 'best'"):
        score("best", Y, scores)
    with pytest.raises(TypeError, match="a name or a callable"):
        score(3, Y, scores)
    with pytest.raises(ValueError, match="does not support"):
        score("jaccard_samples", Y, scores, cells=rng.random((N, 3)) < 0.8)
    with pytest.raises(ValueError, match="needs probabilities"):
        score("neg_log_loss", Y, scores)
    for y in (Y, np.arange(N) % 3):
        with pytest.raises(ValueError, match="scoring='log_loss' needs probabilities, but the mo"):
            score("log_loss", y, scores)


def test_scorings_that_are_proposed_can_be_computed(rng):
    Y, scores = rng.random((N, 3)) < 0.5, rng.standard_normal((1, 3, N))
    with pytest.raises(ValueError, match="Unknown scoring 'best'") as caught:
        score("best", Y, scores)
    proposed = str(caught.value).partition("use one of ")[2].partition(", a scorer name")[0]
    for name in proposed.split(", "):
        assert np.isfinite(score(name, Y, scores)[0]).all()


@pytest.mark.parametrize("name", ["log_loss", "brier_score", "calibration_error"])
def test_metrics_of_probabilities_are_scorers_of_scikit_learn(name):
    data = make_shared_subspace(90, 6, 4, 2, prevalence=0.3, random_state=0)
    function = metrics.METRICS[name].function
    scorer = sklearn_scorer(function, greater_is_better=False, response_method="predict_proba")
    model = MLkNN(5).fit(data.X, data.Y)
    found = scorer(model, data.X, data.Y)
    assert found == -function(data.Y, model.predict_proba(data.X))
    assert cross_val_score(model, data.X, data.Y, scoring=scorer, cv=3).max() < 0
