"""Many labels: time, memory and precision of ML-LS as two factors, with three numbers of labels."""

import argparse
import multiprocessing
import resource

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from _common import finish, seconds
from eigenlabel import SharedSubspaceClassifier
from eigenlabel.linalg.factors.krylov import KrylovFactor
from eigenlabel.linalg.operators import CentredOperator
from eigenlabel.linalg.top_subspace import dense_memory, factored_memory

WORDS, LABELS, K = 50, 5, 5  # of a sample; labels predicted
RIDGE_LABELS = 100  # that one-vs-rest ridge regression is timed on


def texts(n, d, m, rng):
    """Draw unit rows of Zipf-distributed words, five Zipf-distributed labels each.

    Each label has eight words of its own and twenty that it shares with a group of fifty labels.
    """
    shares = np.arange(1, m + 1) ** -0.7
    labels = rng.choice(m, (n, LABELS), p=shares / shares.sum())
    own, common = rng.integers(0, d // 4, (m, 8)), rng.integers(0, d // 4, (m // 50, 20))
    group = rng.integers(0, m // 50, m)
    words = np.minimum((rng.pareto(0.8, (n, WORDS)) * 10).astype(np.int64), d - 1)
    for k in range(LABELS):
        for j in range(3):
            words[:, 6 * k + j] = own[labels[:, k], rng.integers(0, 8, n)]
            words[:, 6 * k + 3 + j] = common[group[labels[:, k]], rng.integers(0, 20, n)]
    rows = [np.repeat(np.arange(n), width).astype(np.int32) for width in (WORDS, LABELS)]
    X = sp.csr_array((np.ones(words.size), (rows[0], words.ravel().astype(np.int32))), (n, d))
    norms = np.sqrt(X.multiply(X).sum(axis=1))
    Y = sp.csr_array((np.ones(labels.size), (rows[1], labels.ravel().astype(np.int32))), (n, m))
    return sp.csr_array(sp.diags_array(1 / norms) @ X), sp.csr_array((Y > 0).astype(np.int64))


def precision(Y, top):
    """Return the share of true labels among those predicted."""
    return float(Y.multiply(top).sum() / top.sum())


def neighbours(X, Y, X_new):
    """Return the labels that most of ten cosine neighbours have, in pieces of rows."""
    index = NearestNeighbors(n_neighbors=10, metric="cosine").fit(X)
    parts = []
    for start in range(0, X_new.shape[0], 500):
        graph = index.kneighbors_graph(X_new[start : start + 500], mode="connectivity")
        votes = (sp.csr_array(graph) @ Y).toarray()
        top = np.argpartition(-votes, K, axis=1)[:, :K]
        rows = np.repeat(np.arange(len(top)), K)
        parts.append(sp.csr_array((np.ones(top.size), (rows, top.ravel())), votes.shape))
    return sp.vstack(parts)


def popular(Y, n):
    """Return everybody the labels that are most frequent."""
    top = np.argsort(-Y.sum(axis=0))[:K]
    return sp.csr_array(
        (np.ones(n * K), (np.repeat(np.arange(n), K), np.tile(top, n))), (n, Y.shape[1])
    )


def measure_one(sizes):
    """Measure one number of labels, in a process of its own for the peak of its memory."""
    n, d, m, r, tol, room = sizes
    with threadpool_limits(1):
        rng = np.random.default_rng(0)
        X, Y = texts(n + n // 10, d, m, rng)
        X, X_new, Y, Y_new = X[:n], X[n:], Y[:n], Y[n:]
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        model = SharedSubspaceClassifier(np.inf, 1e-4, r, solver="krylov", tol=tol, max_memory=room)
        fit = seconds(lambda: model.fit(X, Y))
        found = {}
        predict = seconds(lambda: found.update(ours=model.predict_top(X_new, K)))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        T = 2.0 * Y[:, :RIDGE_LABELS].toarray() - 1
        factor = KrylovFactor(CentredOperator(X), tol=tol)
        ridge = seconds(lambda: factor.solve(T, [1e-4])) * m / RIDGE_LABELS
        near = seconds(lambda: found.update(near=neighbours(X, Y, X_new)))
        found["popular"] = popular(Y, X_new.shape[0])
        return {
            "n_labels": m,
            "seconds_fit": fit,
            "seconds_predict": predict,
            "seconds_ridge": ridge,
            "seconds_neighbours": near,
            "gib_before": before,
            "gib_peak": peak,
            "gib_formula": factored_memory(n, d, m, r, full=False, exact=False)[0] / 2**30,
            "gib_dense": dense_memory(n, d, m) / 2**30,
            **{f"precision_{name}": precision(Y_new, top) for name, top in found.items()},
        }


def measure(quick):
    n, d, r, tol = (5_000, 2**13, 30, 1e-2) if quick else (100_000, 2**17, 200, 1e-2)
    room = 2**26 if quick else 2**31  # less than targets, weights and S would take
    sizes = (500, 1_000, 3_000) if quick else (1_000, 10_000, 30_000)
    context = multiprocessing.get_context("spawn")
    parts = []
    for m in sizes:
        with context.Pool(1) as pool:
            parts.append(pool.apply(measure_one, ((n, d, m, r, tol, room),)))
    lines = [
        f"{n} x {d} sparse, {WORDS} words and {LABELS} labels a sample, alpha = inf, beta = 1e-4, "
        f"{r} components, tol = {tol:g}; precision at {K} on {n // 10} more samples.",
        "",
        "| labels | fit, s | top 5, s | peak GiB (data alone) | n m, d m and m m dense, GiB "
        f"| ridge one-vs-rest, s, from {RIDGE_LABELS} | 10 neighbours, s "
        "| P@5 ours | neighbours | most frequent |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for p in parts:
        lines.append(
            f"| {p['n_labels']} | {p['seconds_fit']:.1f} | {p['seconds_predict']:.1f} "
            f"| {p['gib_peak']:.2f} ({p['gib_before']:.2f}) | {p['gib_dense']:.1f} "
            f"| {p['seconds_ridge']:.0f} | {p['seconds_neighbours']:.1f} "
            f"| {p['precision_ours']:.3f} | {p['precision_near']:.3f} "
            f"| {p['precision_popular']:.3f} |"
        )
    lines += [
        "",
        "Neighbours are searched at prediction, so their time grows with the samples to predict.",
    ]
    return {"by_labels": parts}, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="5,000 samples, up to 3,000 labels")
    finish("many_labels", *measure(parser.parse_args().quick))


if __name__ == "__main__":
    main()
