"""Krylov solves on sparse, text-like data: one shift, fifteen shifts, one-vs-rest LinearSVC."""

import argparse
import resource

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import f1_score
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from _common import finish, seconds
from eigenlabel import SharedSubspaceClassifier
from eigenlabel.core.krylov import KrylovFactor
from eigenlabel.core.operators import CentredOperator

WORDS, MEASURED = 50, 5  # words a sample; labels that LinearSVC is timed on


def texts(n, d, m, rng):
    """Draw unit rows of Zipf-distributed words, and labels that lean on words of their own."""
    ranks = np.minimum((rng.pareto(0.8, (n, WORDS)) * 10).astype(np.int64), d - 1)
    topics = rng.random((n, m)) < 0.03
    own = rng.integers(0, d // 8, (m, 20))  # words that speak for a label
    for j in range(m):
        rows = np.flatnonzero(topics[:, j])
        ranks[rows, j % WORDS] = own[j, rng.integers(0, 20, len(rows))]
    starts = np.arange(0, ranks.size + 1, WORDS)
    X = sp.csr_matrix((np.ones(ranks.size), ranks.ravel(), starts), (n, d))
    X.sum_duplicates()
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = sp.csr_matrix(sp.diags(1 / norms) @ X)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, topics.astype(np.int64)


def macro(scores, Y, shares):
    """Score labels predicted for as many samples as in training."""
    cuts = [np.quantile(scores[:, j], 1 - share) for j, share in enumerate(shares)]
    return float(f1_score(Y[:, : len(cuts)], (scores > cuts).astype(int), average="macro"))


def measure(quick):
    rng = np.random.default_rng(0)
    n, d, m = (20_000, 2**14, 20) if quick else (200_000, 2**18, 100)
    X, Y = texts(n + n // 10, d, m, rng)
    X, X_new, Y, Y_new = X[:n], X[n:], Y[:n], Y[n:]
    T = 2.0 * Y - 1
    factor = KrylovFactor(CentredOperator(X), tol=1e-4)
    one = seconds(lambda: factor.solve(T[:, :20], [1e-5]))
    steps_one = factor.n_iter
    many = seconds(lambda: factor.solve(T[:, :20], list(np.logspace(-5, 0, 15))))
    steps_many = factor.n_iter
    model = SharedSubspaceClassifier(alpha=0, beta=1e-5, solver="krylov", tol=1e-4)
    fit = seconds(lambda: model.fit(X, Y))
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    svms = [LinearSVC(C=1.0) for _ in range(MEASURED)]
    svc = seconds(lambda: [svm.fit(X, Y[:, j]) for j, svm in enumerate(svms)]) * m / MEASURED
    shares = Y[:, :MEASURED].mean(axis=0)
    found = model.decision_function(X_new)[:, :MEASURED]
    ours = macro(found, Y_new, shares)
    rival = macro(np.stack([s.decision_function(X_new) for s in svms], axis=1), Y_new, shares)
    sizes, times = [], []
    for share in (0.1, 0.3, 1.0):
        part = CentredOperator(X[: int(share * n)])
        B, w = rng.standard_normal((d, 20)), rng.standard_normal((part.shape[0], 20))
        pair = lambda p=part, B=B, w=w: (p.matmat(B), p.rmatmat(w))  # noqa: E731
        times.append(min(seconds(pair) for _ in range(3)))
        sizes.append(X[: int(share * n)].nnz)
    lines = [
        f"{n} x {d} sparse, {X.nnz} non-zeros, {m} labels, residual 1e-4.",
        "",
        "| what | seconds | iterations |",
        "|---|---|---|",
        f"| one shift, 20 labels | {one:.1f} | {steps_one} |",
        f"| 15 shifts, 20 labels | {many:.1f} | {steps_many} |",
        f"| ridge fit, {m} labels | {fit:.1f} | {model.n_iter_} |",
        f"| LinearSVC one-vs-rest, C = 1, {m} labels, from {MEASURED} | {svc:.1f} | |",
        "",
        f"Macro F1 on {MEASURED} labels, scores cut at the share of positives: ridge {ours:.3f}, "
        f"LinearSVC {rival:.3f}. Peak resident memory {resident:.2f} GiB. A pair of products takes "
        + ", ".join(f"{t:.2f} s at {s} non-zeros" for s, t in zip(sizes, times, strict=True))
        + ".",
    ]
    figures = {
        "seconds_one_shift": one,
        "seconds_15_shifts": many,
        "products_ratio": steps_many / steps_one,
        "seconds_fit": fit,
        "svc_per_fit": svc / fit,
        "f1_macro": ours,
        "f1_macro_svc": rival,
        "resident_gib": resident,
    }
    return figures, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the samples")
    quick = parser.parse_args().quick
    with threadpool_limits(1):
        finish("krylov", *measure(quick))


if __name__ == "__main__":
    main()
