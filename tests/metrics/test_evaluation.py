import inspect
import re

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.metrics as sk

from eigenlabel import metrics
from eigenlabel.metrics import METRICS, evaluate


def expit(scores):
    """Return probabilities; of sparse scores, those of stored cells."""
    if sp.issparse(scores):
        return sp.csr_array((expit(scores.data), scores.indices, scores.indptr), scores.shape)
    return 1 / (1 + np.exp(-scores))


# Hand-worked: 3 samples x 2 labels with an empty row, and an empty column in the label sets.
Y = np.array([[1, 0], [1, 1], [0, 0]])
P = np.array([[1, 0], [0, 0], [1, 0]])
S = np.array([[0.2, 0.8], [0.5, 0.1], [0.3, 0.9]])


@pytest.mark.parametrize("weighted", [False, True])
def test_equal_to_scikit_learn(problem, weighted):
    Y, S, P, w = problem
    kw = {"sample_weight": w if weighted else None}
    pairs = [
        (metrics.hamming_loss(Y, P, **kw), sk.hamming_loss(Y, P, **kw)),
        (metrics.accuracy(Y, P, **kw), sk.accuracy_score(Y, P, **kw)),
        (metrics.ranking_loss(Y, S, trivial="count", **kw), sk.label_ranking_loss(Y, S, **kw)),
        (
            metrics.average_precision(Y, S, trivial="count", **kw),
            sk.label_ranking_average_precision_score(Y, S, **kw),
        ),
        (metrics.auc_macro(Y, S, **kw), sk.roc_auc_score(Y, S, **kw)),
        (metrics.auc_micro(Y, S, **kw), sk.roc_auc_score(Y, S, average="micro", **kw)),
    ]
    for average in ("macro", "micro", "samples"):
        ours = getattr(metrics, f"f1_{average}")
        for z in (0.0, 1.0):
            pairs.append(
                (
                    ours(Y, P, zero_division=z, **kw),
                    sk.f1_score(Y, P, average=average, zero_division=z, **kw),
                )
            )
    some = Y.any(axis=1)
    kept = {"sample_weight": w[some] if weighted else None}
    pairs.append((metrics.coverage(Y, S, **kw) + 1, sk.coverage_error(Y[some], S[some], **kept)))
    for ours, theirs in pairs:
        assert ours == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize("name", list(METRICS))
def test_weights_count_like_copies_and_rows_have_no_order(name, problem, rng):
    Y, S, P, _ = problem
    w = rng.integers(0, 4, len(Y))
    copies = rng.permutation(np.repeat(np.arange(len(Y)), w))
    metric = METRICS[name]
    given = {"scores": S, "labels": P, "probabilities": expit(S)}[metric.reads]
    weighted = metric.function(Y, given, sample_weight=w.astype(float))
    assert weighted == pytest.approx(metric.function(Y[copies], given[copies]), rel=1e-12)


def test_labels_have_no_order_by_default(problem, rng):
    Y, S, P, _ = problem
    shuffle = rng.permutation(Y.shape[1])
    before = evaluate(Y, S, P, probabilities=expit(S))
    other = Y[:, shuffle], S[:, shuffle], P[:, shuffle]
    after = evaluate(*other, probabilities=expit(S[:, shuffle]))
    for name in before:
        if "_at_" not in name:  # ties go to the first label there
            assert after[name] == pytest.approx(before[name], rel=1e-12)


def test_evaluate_computes_the_metrics_of_the_arrays_passed(problem):
    Y, S, P, _ = problem
    p, everything = metrics.label_propensities(Y), {"scores": S, "y_pred": P}
    everything |= {"probabilities": expit(S), "propensities": p}
    assert set(evaluate(Y, **everything)) == set(METRICS)

    def reading(what, propensities):
        return {n for n, m in METRICS.items() if m.reads == what and m.propensities <= propensities}

    assert set(evaluate(Y, S)) == reading("scores", False)
    assert set(evaluate(Y, S, propensities=p)) == reading("scores", True)
    assert set(evaluate(Y, None, P)) == reading("labels", False)
    assert set(evaluate(Y, None, probabilities=expit(S))) == reading("probabilities", False)
    assert evaluate(Y[:, :2], S[:, :2])["precision_at_5"] == metrics.precision_at_k(
        Y[:, :2], S[:, :2], 2
    )


def test_evaluate_of_sparse_scores_leaves_out_metrics_that_rank_all_labels(problem):
    Y, S, _, w = problem
    kept = sp.csr_array(np.where(S > 0, S, 0))
    p = metrics.label_propensities(Y)
    found = evaluate(
        sp.csr_array(Y), kept, probabilities=expit(kept), propensities=p, sample_weight=w
    )
    assert set(found) == {n for n, m in METRICS.items() if m.sparse}
    assert {n for n in found if METRICS[n].reads == "scores"} == {n for n in METRICS if "_at_" in n}
    assert found["ndcg_at_3"] == metrics.ndcg_at_k(Y, kept, 3, sample_weight=w)
    assert found["log_loss"] == pytest.approx(
        metrics.log_loss(Y, expit(kept).toarray(), sample_weight=w), rel=1e-12
    )
    macro = metrics.calibration_error(Y, expit(kept), average="macro", sample_weight=w)
    assert found["calibration_error_macro"] == pytest.approx(macro, rel=1e-12)
    assert found["propensity_ndcg_at_5"] == metrics.propensity_ndcg_at_k(
        Y, kept, 5, propensities=p, sample_weight=w
    )


def test_every_public_metric_is_registered():
    public = {
        n
        for n, f in inspect.getmembers(metrics, inspect.isfunction)
        if f.__module__.startswith(metrics.__name__)
    }
    others = {"evaluate", "f1_from_counts", "hsic", "label_propensities", "reliability_bins"}
    others |= {name for name in public if name.endswith("_per_label")}
    variants = {"calibration_error_macro"}
    assert public - others == {re.sub(r"_at_\d", "_at_k", n) for n in METRICS} - variants


def test_every_metric_states_whether_greater_is_better(rng):
    Y = rng.uniform(size=(50, 6)) < 0.4
    p = np.linspace(0.2, 0.8, 6)
    best = evaluate(Y, np.where(Y, 1.0, -1.0), Y, probabilities=0.9 * Y, propensities=p)
    worst = evaluate(Y, np.where(Y, -1.0, 1.0), ~Y, probabilities=0.9 * ~Y, propensities=p)
    for name, metric in METRICS.items():
        assert (best[name] > worst[name]) == metric.greater_is_better, name


def test_evaluate_passes_weights_and_k_to_each_function(rng):
    Y, S, w = rng.uniform(size=(40, 7)) < 0.4, rng.standard_normal((40, 7)), rng.uniform(1, 3, 40)
    figures = evaluate(Y, S, S > 0, sample_weight=w)
    assert figures["f1_macro"] == metrics.f1_macro(Y, S > 0, sample_weight=w)
    for k in (1, 3, 5):
        assert figures[f"precision_at_{k}"] == metrics.precision_at_k(Y, S, k, sample_weight=w)


def test_figures_at_five_by_their_names(rng):
    Y, S = rng.integers(0, 2, (40, 9)), rng.random((40, 9))
    names = {
        "label_precision_at_5": metrics.label_precision_at_k,
        "label_recall_at_5": metrics.label_recall_at_k,
        "label_f1_at_5": metrics.label_f1_at_k,
        "labels_recalled_at_5": metrics.labels_recalled_at_k,
        "precision_at_5": metrics.precision_at_k,
        "ndcg_at_5": metrics.ndcg_at_k,
        "propensity_precision_at_5": metrics.propensity_precision_at_k,
        "propensity_ndcg_at_5": metrics.propensity_ndcg_at_k,
    }
    for name, function in names.items():
        metric = metrics.METRICS[name]
        assert (metric.reads, metric.greater_is_better) == ("scores", True)
        assert metric.function(Y, S) == function(Y, S, 5) != function(Y, S, 1)
        assert metric.function(Y[:, :3], S[:, :3]) == function(Y[:, :3], S[:, :3], 3)
    assert metrics.precision_at_k(Y, S, 3) == metrics.METRICS["precision_at_3"].function(Y, S)
    assert metrics.precision_at_k(Y, S, 1) == metrics.METRICS["precision_at_1"].function(Y, S)
