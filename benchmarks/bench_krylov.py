"""Krylov solves on sparse, text-like data, one shift and tuned, beside one-vs-rest LinearSVC."""

import argparse
import resource
import sys

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import f1_score
from sklearn.model_selection import ShuffleSplit
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from _common import finish, seconds
from eigenlabel import SharedSubspaceClassifier, SharedSubspaceClassifierCV
from eigenlabel.linalg.factors.krylov import KrylovFactor
from eigenlabel.linalg.operators import CentredOperator

WORDS, MEASURED = 86, 5  # words drawn a sample, some 50 of them different; labels of LinearSVC
BETA, TOL = 1e-5, 1e-3
BETAS, COSTS = list(np.logspace(-6, 0, 15)), list(np.logspace(-3, 2, 11))


def tell(what):
    """Say on the error stream how far a run of half an hour has come."""
    print(what, file=sys.stderr, flush=True)


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
    return X, topics.astype(np.int8)


def macro(scores, Y, shares):
    """Score labels predicted for as many samples as in training."""
    cuts = [np.quantile(scores[:, j], 1 - share) for j, share in enumerate(shares)]
    return float(f1_score(Y[:, : len(cuts)], (scores > cuts).astype(int), average="macro"))


class Counted(CentredOperator):
    """The operator, counting its pairs of products."""

    pairs = 0

    def normal(self, P):
        self.pairs += 1
        return super().normal(P)


def count_pairs(X, T, shifts, preconditioned=True):
    """Count the pairs of products with X and X' of a solve, all labels at once."""
    operator = Counted(X)
    factor = KrylovFactor(operator, tol=TOL)
    if not preconditioned:
        factor._preconditioner = lambda _: None
    factor.solve(T, shifts)
    return operator.pairs


def growth(X, Y):
    """Fit a tenth, a third and all of the rows; give non-zeros, seconds and pairs of products."""
    rows = []
    for share in (0.1, 0.3, 1.0):
        part, labels = X[: int(share * len(Y))], Y[: int(share * len(Y))]
        model = SharedSubspaceClassifier(alpha=0, beta=BETA, solver="krylov", tol=TOL)
        took = seconds(lambda m=model, p=part, t=labels: m.fit(p, t))
        rows.append((part.nnz, took, model.n_iter_, model))
        tell(f"{len(labels)} rows: {took:.1f} s, {model.n_iter_} iterations")
    return rows


def off_line(grown):
    """Return how far the time of the middle size is from the line through the others."""
    (z0, t0), (z1, t1), (z2, t2) = [(nnz, took / steps) for nnz, took, steps, _ in grown]
    return abs(t1 / (t0 + (t2 - t0) * (z1 - z0) / (z2 - z0)) - 1)


def time_svms(X, Y, C, labels):
    """Fit one LinearSVC a label; give them and the seconds for all labels of Y.

    By its dual: the primal solver, which it takes by itself where n > d, is slower here.
    """
    svms = [LinearSVC(C=C, dual=True) for _ in range(labels)]
    took = seconds(lambda: [svm.fit(X, Y[:, j]) for j, svm in enumerate(svms)])
    return svms, took * Y.shape[1] / labels


def measure(quick):
    rng = np.random.default_rng(0)
    n, d, m = (50_000, 2**16, 20) if quick else (1_000_000, 2**18, 100)
    X, Y = texts(n + n // 10, d, m, rng)
    X, X_new, Y, Y_new = X[:n], X[n:], Y[:n], Y[n:]
    single = X.astype(np.float32)
    grown = growth(single, Y)
    fit, model = grown[-1][1], grown[-1][3]
    tuned = SharedSubspaceClassifierCV(
        alphas=[0],
        betas=BETAS,
        n_components=1,
        cv=ShuffleSplit(1, test_size=0.1, random_state=0),
        solver="krylov",
        tol=TOL,
    )
    search = seconds(lambda: tuned.fit(single, Y))
    tell(f"tuned: {search:.1f} s")
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    svms, svc = time_svms(X, Y, 1.0, MEASURED)
    tell(f"LinearSVC, C = 1: {svc:.0f} s")
    tenth = slice(0, n // 10)
    by_c = {C: 10 * time_svms(X[tenth], Y[tenth], C, 1)[1] for C in COSTS}
    tell(f"LinearSVC by C: {by_c}")
    svc_search = 0.9 * sum(by_c.values()) + svc
    shares = Y[:, :MEASURED].mean(axis=0)
    ours = macro(model.decision_function(X_new)[:, :MEASURED], Y_new, shares)
    best = macro(tuned.decision_function(X_new)[:, :MEASURED], Y_new, shares)
    rival = macro(np.stack([s.decision_function(X_new) for s in svms], axis=1), Y_new, shares)
    T = 2.0 * Y[tenth, :MEASURED] - 1
    pairs = [
        count_pairs(single[tenth], T, [BETAS[0]]),
        count_pairs(single[tenth], T, BETAS),
        count_pairs(single[tenth], T, [BETAS[0]], preconditioned=False),
        count_pairs(single[tenth], T, BETAS, preconditioned=False),
    ]
    slope = np.polyfit(*np.log([[g[0] for g in grown], [g[1] / g[2] for g in grown]]), 1)[0]
    k = len(BETAS)  # the formula of docs/guide/large_data.md, in float32
    formula = 4 * ((2 * k + 4) * d + 2 * 0.9 * n + k * d) * m / 2**30
    lines = [
        f"{n} x {d} sparse in float32, {X.nnz} non-zeros, {m} labels, residual {TOL:g}.",
        "",
        "| what | seconds | ratio |",
        "|---|---|---|",
        f"| ridge by conjugate gradients, beta = {BETA:g} | {fit:.0f} | 1 |",
        f"| LinearSVC one-vs-rest, C = 1, from {MEASURED} labels | {svc:.0f} | {svc / fit:.1f} |",
        f"| tuned over {len(BETAS)} shifts, one split | {search:.0f} | 1 |",
        f"| LinearSVC tuned over {len(COSTS)} C, the same split, from one label and a tenth of the "
        f"samples each | {svc_search:.0f} | {svc_search / search:.0f} |",
        "",
        f"Macro F1 on {MEASURED} labels, scores cut at the share of positives: ridge {ours:.3f}, "
        f"tuned {best:.3f} (beta = {tuned.beta_:.2g}), LinearSVC {rival:.3f}. Peak resident memory "
        f"{resident:.2f} GiB, data and targets included; the documented bound of the solver alone, "
        f"which preconditioned shifts do not reach, is {formula:.2f}.",
        "",
        "Seconds of an iteration: "
        + ", ".join(f"{t / i:.2f} at {z} non-zeros ({i} iterations)" for z, t, i, _ in grown)
        + f". That is a line in the non-zeros within {off_line(grown):.0%}, with a constant part "
        f"for the d x m arrays (as a power of the non-zeros: {slope:.2f}).",
        "",
        f"Pairs of products with X and its transpose, a tenth of the samples, {MEASURED} labels: "
        f"{pairs[0]} for the smallest shift and {pairs[1]} for all {len(BETAS)}, each "
        f"preconditioned; without a preconditioner {pairs[2]} and {pairs[3]}.",
    ]
    figures = {
        "seconds_fit": fit,
        "svc_per_fit": svc / fit,
        "seconds_tuned": search,
        "svc_per_tuned": svc_search / search,
        "f1_macro": ours,
        "f1_macro_tuned": best,
        "f1_macro_svc": rival,
        "resident_gib": resident,
        "formula_gib": formula,
        "growth": slope,
        "off_line": off_line(grown),
        "pairs_one": pairs[0],
        "pairs_all": pairs[1],
        "pairs_one_plain": pairs[2],
        "pairs_all_plain": pairs[3],
    }
    return figures, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a twentieth of the samples")
    quick = parser.parse_args().quick
    with threadpool_limits(1):
        finish("krylov", *measure(quick))


if __name__ == "__main__":
    main()
