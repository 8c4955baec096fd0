import inspect
import re

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.metrics as sk

from eigenlabel import metrics
from eigenlabel.metrics import METRICS, evaluate

# Hand-worked: 3 samples x 2 labels with an empty row, and an empty column in the label sets.
Y = np.array([[1, 0], [1, 1], [0, 0]])
P = np.array([[1, 0], [0, 0], [1, 0]])
S = np.array([[0.2, 0.8], [0.5, 0.1], [0.3, 0.9]])


@pytest.fixture(params=["smooth", "tied"])
def problem(request, rng):
    Y = rng.uniform(size=(80, 6)) < np.array([0.5, 0.4, 0.3, 0.2, 0.1, 0.6])
    Y[0], Y[1] = False, True
    scores = rng.standard_normal(Y.shape) + Y
    if request.param == "tied":
        scores = np.round(scores)
    w = rng.uniform(0.5, 2, len(Y))
    return Y.astype(int), scores, (scores > 0.7).astype(int), w


def test_hand_worked_label_sets():
    assert metrics.hamming_loss(Y, P) == pytest.approx(3 / 6)
    assert metrics.accuracy(Y, P) == pytest.approx(1 / 3)
    # label 0: TP 1, predicted 2, positives 2 -> 1/2; label 1: TP 0, predicted 0, positives 1 -> 0
    assert metrics.f1_macro(Y, P) == pytest.approx(0.25)
    assert metrics.f1_micro(Y, P) == pytest.approx(2 / 5)
    # rows: 1, 0, 0 (nothing true, one predicted)
    assert metrics.f1_samples(Y, P) == pytest.approx(1 / 3)


def test_hand_worked_zero_division():
    empty = np.zeros((3, 2), dtype=int)
    assert metrics.f1_macro(empty, empty) == 0
    assert metrics.f1_macro(empty, empty, zero_division=1) == 1
    assert metrics.f1_micro(empty, empty, zero_division=1) == 1
    assert metrics.f1_samples(Y, np.zeros_like(Y), zero_division=1) == pytest.approx(1 / 3)


def test_hand_worked_ranking():
    # Only row 0 has both a true and a false label, in the wrong order.
    assert metrics.ranking_loss(Y, S) == 1.0
    assert metrics.ranking_loss(Y, S, trivial="count") == pytest.approx(1 / 3)
    assert metrics.average_precision(Y, S) == 0.5
    assert metrics.average_precision(Y, S, trivial="count") == pytest.approx((0.5 + 1 + 1) / 3)
    assert metrics.one_error(Y, S) == 1.0
    assert metrics.one_error(Y, S, trivial="count") == pytest.approx(1 / 3)
    # Row 0 needs both labels, row 1 too, row 2 has none and is left out.
    assert metrics.coverage(Y, S) == 1.0
    assert metrics.precision_at_k(Y, S, 1) == pytest.approx(1 / 3)
    assert metrics.precision_at_k(Y, S, 2) == pytest.approx(3 / 6)
    # label 0: positives .2, .5, negative .3: 1/2; label 1: positive .1 below .8, .9: 0
    np.testing.assert_allclose(metrics.auc_per_label(Y, S), [0.5, 0.0])
    assert metrics.auc_macro(Y, S) == 0.25


def test_hand_worked_ties():
    Y, S = np.array([[0, 1, 0]]), np.array([[1.0, 1.0, 0.0]])
    assert metrics.ranking_loss(Y, S) == 0.5  # the tie is an error
    assert metrics.one_error(Y, S) == 0.0  # one of the tied top is true
    assert metrics.average_precision(Y, S) == 0.5
    assert metrics.coverage(Y, S) == 1.0
    assert metrics.average_precision(Y, S, ties="index") == 1.0  # higher index first
    assert metrics.coverage(Y, S, ties="index") == 0.0
    assert metrics.average_precision(Y[:, ::-1], S[:, ::-1], ties="index") == 0.5
    assert metrics.average_precision(np.array([[1, 0, 0]]), S, ties="index") == 0.5


def test_labels_without_auc_are_left_out():
    Y = np.array([[0, 1, 1], [0, 1, 0]])
    S = np.array([[1.0, 2, 3], [2, 1, 0]])
    np.testing.assert_array_equal(metrics.auc_per_label(Y, S), [np.nan, np.nan, 1.0])
    assert metrics.auc_macro(Y, S) == 1.0
    assert np.isnan(metrics.auc_macro(Y[:, :2], S[:, :2]))


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


def test_precision_at_k_by_brute_force(problem):
    Y, S, _, _ = problem
    for k in (1, 3, 6):
        hits = [
            sum(Y[i, j] for j in sorted(range(6), key=lambda j: (-S[i, j], j))[:k])
            for i in range(len(Y))
        ]
        assert metrics.precision_at_k(Y, S, k) == pytest.approx(np.mean(hits) / k)


def test_evaluate_gives_what_its_input_allows(problem):
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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.f1_macro(Y, P[:2]), r"y_true has shape \(3, 2\), y_pred \(2, 2\)"),
        (lambda: metrics.f1_macro(Y, S), "y_pred must be a label matrix of 0 and 1, found 0.2"),
        (lambda: metrics.ranking_loss(Y, S[:, :1]), r"scores has shape \(3, 1\)"),
        (lambda: metrics.ranking_loss(Y, S, trivial="drop"), "trivial must be one of 'skip'"),
        (lambda: metrics.coverage(Y, S, ties="random"), "ties must be one of"),
        (lambda: metrics.precision_at_k(Y, S, 3), "k must be an integer between 1 and 2, got 3"),
        (lambda: metrics.ranking_loss(Y, np.full((3, 2), np.nan)), "finite, found nan"),
        (lambda: metrics.hamming_loss(Y, P, sample_weight=[1]), "sample_weight has shape"),
        (lambda: metrics.f1_macro(Y, P, sample_weight=[1, np.nan, 1]), "must be finite"),
        (lambda: metrics.f1_macro(Y[:0], P[:0]), "No samples"),
        (lambda: metrics.ranking_loss(Y, S.astype(str)), "must be numbers"),
        (lambda: metrics.ranking_loss(Y, S[0]), "must be a matrix"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_losses_and_gains_are_told_apart(rng):
    Y = rng.uniform(size=(50, 6)) < 0.4
    best, worst = evaluate(Y, np.where(Y, 1.0, -1.0), Y), evaluate(Y, np.where(Y, -1.0, 1.0), ~Y)
    for name, metric in METRICS.items():
        assert (best[name] > worst[name]) == metric.greater_is_better, name


def test_evaluate_gives_each_function_its_weights_and_its_k(rng):
    Y, S, w = rng.uniform(size=(40, 7)) < 0.4, rng.standard_normal((40, 7)), rng.uniform(1, 3, 40)
    figures = evaluate(Y, S, S > 0, sample_weight=w)
    assert figures["f1_macro"] == metrics.f1_macro(Y, S > 0, sample_weight=w)
    for k in (1, 3, 5):
        assert figures[f"precision_at_{k}"] == metrics.precision_at_k(Y, S, k, sample_weight=w)


@pytest.mark.parametrize("weighted", [False, True])
def test_figures_by_label_of_the_top_labels(problem, weighted):
    """Section 7.1 of paper 003, label by label."""
    Y, S, _, w = problem
    Y = Y.copy()
    Y[:, 2] = 0  # a label without a positive is left out
    w = w if weighted else np.ones(len(Y))
    precisions, recalls = [], []
    for j in range(6):
        given = [j in sorted(range(6), key=lambda i: (-row[i], i))[:3] for row in S]
        assigned = sum(w[i] for i in range(len(Y)) if given[i])
        right = sum(w[i] for i in range(len(Y)) if given[i] and Y[i, j])
        having = sum(w[i] for i in range(len(Y)) if Y[i, j])
        if having:
            precisions.append(right / assigned if assigned else 0.0)
            recalls.append(right / having)
    P, R = np.mean(precisions), np.mean(recalls)
    kw = {"sample_weight": w}
    assert metrics.label_precision_at_k(Y, S, 3, **kw) == pytest.approx(P, rel=1e-12)
    assert metrics.label_recall_at_k(Y, S, 3, **kw) == pytest.approx(R, rel=1e-12)
    assert metrics.label_f1_at_k(Y, S, 3, **kw) == pytest.approx(2 * P * R / (P + R), rel=1e-12)
    assert metrics.labels_recalled_at_k(Y, S, 3, **kw) == sum(r > 0 for r in recalls)
    by_label = [
        sk.average_precision_score(Y[:, j], S[:, j], sample_weight=w) for j in (0, 1, 3, 4, 5)
    ]
    found = metrics.label_average_precision(Y, S, **kw)
    assert found == pytest.approx(np.mean(by_label), rel=1e-12)
    Y[3] = 0  # a row without an order, left out or perfect
    for trivial in ("skip", "count"):
        loss = metrics.ranking_loss(Y, S, trivial=trivial, **kw)
        found = metrics.ranking_accuracy(Y, S, trivial=trivial, **kw)
        assert found == pytest.approx(1 - loss, rel=1e-12)


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


def test_figures_by_label_at_their_ends():
    Y, S = np.eye(3, dtype=int), np.eye(3)
    assert metrics.label_f1_at_k(Y, S, 1) == metrics.label_average_precision(Y, S) == 1
    assert metrics.label_f1_at_k(Y, -S, 1) == 0
    assert metrics.labels_recalled_at_k(Y, -S, 1) == 0
    assert np.isnan(metrics.label_f1_at_k(np.zeros((3, 3), int), S, 1))
    assert np.isnan(metrics.label_average_precision(np.zeros((3, 3), int), S))
    with pytest.raises(ValueError, match="k must be"):
        metrics.label_recall_at_k(Y, S, 4)


def test_hsic_of_sparse_kernels_and_of_holes():
    K = np.diag([1.0, 2, 3, 4])
    assert metrics.hsic(sp.csr_array(K), K) == pytest.approx(metrics.hsic(K, K))
    K[0, 0] = np.nan
    with pytest.raises(ValueError, match="K and L must be finite"):
        metrics.hsic(K, np.eye(4))


def test_scores_that_tie_up_to_rounding_go_to_the_first_label():
    scores = np.array([[0.3, 0.1 + 0.2, 0.1], [0.1 + 0.2, 0.3, 0.1]])
    first = np.array([[1, 0, 0], [1, 0, 0]])
    assert metrics.precision_at_k(first, scores, 1) == 1
    assert metrics.label_recall_at_k(first, scores, 1) == 1


def test_hsic_estimates_by_their_definitions(rng):
    n = 12
    K, L = (A @ A.T for A in rng.standard_normal((2, n, 3)))
    H = np.eye(n) - 1 / n
    assert metrics.hsic(K, L) == pytest.approx(np.trace(K @ H @ L @ H) / (n - 1) ** 2)
    # Unbiased (Song et al., 2012): sums over tuples of different indices, written out.
    a = np.mean([K[i, j] * L[i, j] for i in range(n) for j in range(n) if i != j])
    b = np.mean(
        [
            K[i, j] * L[q, r]
            for i in range(n)
            for j in range(n)
            for q in range(n)
            for r in range(n)
            if len({i, j, q, r}) == 4
        ]
    )
    c = np.mean(
        [
            K[i, j] * L[i, q]
            for i in range(n)
            for j in range(n)
            for q in range(n)
            if len({i, j, q}) == 3
        ]
    )
    assert metrics.hsic(K, L, unbiased=True) == pytest.approx(a + b - 2 * c)
    with pytest.raises(ValueError, match="square matrices of one size"):
        metrics.hsic(K, L[:5])
    with pytest.raises(ValueError, match="at least 4 samples"):
        metrics.hsic(K[:3, :3], L[:3, :3], unbiased=True)
