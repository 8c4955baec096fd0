import inspect
import re

import numpy as np
import pytest
import sklearn.metrics as sk

from eigenlabel import metrics
from eigenlabel.metrics import METRICS, evaluate

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
    given = S if metric.reads == "scores" else P
    weighted = metric.function(Y, given, sample_weight=w.astype(float))
    assert weighted == pytest.approx(metric.function(Y[copies], given[copies]), rel=1e-12)


def test_labels_have_no_order_by_default(problem, rng):
    Y, S, P, _ = problem
    shuffle = rng.permutation(Y.shape[1])
    before, after = evaluate(Y, S, P), evaluate(Y[:, shuffle], S[:, shuffle], P[:, shuffle])
    for name in before:
        if "_at_" not in name:  # ties go to the first label there
            assert after[name] == pytest.approx(before[name], rel=1e-12)


def test_evaluate_computes_the_metrics_of_the_arrays_passed(problem):
    Y, S, P, _ = problem
    assert set(evaluate(Y, S, P)) == set(METRICS)
    assert set(evaluate(Y, S)) == {n for n, m in METRICS.items() if m.reads == "scores"}
    assert set(evaluate(Y, None, P)) == {n for n, m in METRICS.items() if m.reads == "labels"}
    assert evaluate(Y[:, :2], S[:, :2])["precision_at_5"] == metrics.precision_at_k(
        Y[:, :2], S[:, :2], 2
    )


def test_every_public_metric_is_registered():
    public = {
        n
        for n, f in inspect.getmembers(metrics, inspect.isfunction)
        if f.__module__.startswith(metrics.__name__)
    }
    others = {"evaluate", "auc_per_label", "f1_from_counts", "hsic"}
    assert public - others == {re.sub(r"_at_\d", "_at_k", n) for n in METRICS}


def test_every_metric_states_whether_greater_is_better(rng):
    Y = rng.uniform(size=(50, 6)) < 0.4
    best, worst = evaluate(Y, np.where(Y, 1.0, -1.0), Y), evaluate(Y, np.where(Y, -1.0, 1.0), ~Y)
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
    }
    for name, function in names.items():
        metric = metrics.METRICS[name]
        assert (metric.reads, metric.greater_is_better) == ("scores", True)
        assert metric.function(Y, S) == function(Y, S, 5) != function(Y, S, 1)
        assert metric.function(Y[:, :3], S[:, :3]) == function(Y[:, :3], S[:, :3], 3)
    assert metrics.precision_at_k(Y, S, 3) == metrics.METRICS["precision_at_3"].function(Y, S)
    assert metrics.precision_at_k(Y, S, 1) == metrics.METRICS["precision_at_1"].function(Y, S)
