"""Time of the default tuned fit in the shapes that users have.

The unit is one ``eigh`` of the smaller Gram matrix, measured beside the fit. For tall dense data it
is the time of the products of all folds and shifts (those of the papers' grid, for which the goal
was stated, and those of the default grid) and of ten sorts of the scores; for the demo's shape,
one-vs-rest LinearSVC with our thresholds. Processor time of one thread, medians.
"""

import argparse
import time

import numpy as np
import scipy.sparse as sp
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from _common import finish, load_yahoo
from eigenlabel import SharedSubspaceClassifier, SharedSubspaceClassifierCV, ThresholdedClassifier
from eigenlabel.estimators.subspace.tuning import PAPER_GRID
from eigenlabel.linalg.machine import peak_memory, reset_peak_memory

SHIFTS = 15  # finite shifts of the default grid
SHIFTS_BEFORE = 37  # of the grid of the papers, for which the goals were stated


def planted(X, m, seed=0):
    """Return labels (n, m) of which each is present on 1.5% to 10% of the samples."""
    rng = np.random.default_rng(seed)
    k = max(2, m // 4)
    Z = np.asarray(X @ rng.standard_normal((X.shape[1], k)))
    scores = (Z / Z.std(axis=0)) @ rng.standard_normal((k, m)) / np.sqrt(k)
    scores += rng.standard_normal(scores.shape)
    shares = 0.05 * rng.uniform(0.3, 2, m)
    cuts = [np.quantile(column, 1 - share) for column, share in zip(scores.T, shares, strict=True)]
    return (scores > cuts).astype(int)


def counts(n, d, share, seed=1):
    """Return sparse word counts; the last tenth of the words repeats the first."""
    rng = np.random.default_rng(seed)
    draw = {"format": "csr", "rng": rng, "data_sampler": lambda size: rng.integers(1, 4, size)}
    X = sp.random_array((n, d - d // 10), density=share, **draw).astype(float)
    return sp.csr_array(sp.hstack([X, X[:, : d // 10]]))


def sparse(n, d, share):
    return sp.random_array((n, d), density=share, format="csr", rng=np.random.default_rng(1))


def seconds(function, repeats):
    """Return the median processor time of some calls."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return float(np.median(times))


def eigh_of(X):
    K = X @ X.T if X.shape[0] <= X.shape[1] else X.T @ X
    K = K.toarray() if sp.issparse(K) else K
    return lambda: np.linalg.eigh(K)


def products_and_sorts(X, Y, shifts):
    """Return the least work of a tuned fit of tall data, as a function."""
    U = np.random.default_rng(0).standard_normal((X.shape[1], Y.shape[1]))
    scores = np.ascontiguousarray((X @ U).T)

    def run():
        for _ in range(shifts):
            X @ U
        for _ in range(10):
            np.sort(scores, axis=-1)

    return run


def svm_with_thresholds(X, Y):
    return lambda: ThresholdedClassifier(OneVsRestClassifier(LinearSVC())).fit(X, Y)


def tuned(**parameters):
    return lambda X, Y: lambda: SharedSubspaceClassifierCV(**parameters).fit(X, Y)


def shapes():
    """Yield name, X, Y, what is timed, the unit, its name and the goal."""
    X, Y = load_yahoo("Arts")
    fit, unit = tuned(), "eigh"
    papers = tuned(alphas=PAPER_GRID, betas=PAPER_GRID)
    yield "Arts 1000 x 17,973, 19 labels, papers' grid", X, Y, papers, eigh_of(X), unit, 2
    yield "the same with 160 labels", X, planted(X, 160), fit, eigh_of(X), unit, 8
    T = counts(2000, 1000, 0.02)
    yield "counts 2000 x 1000, 17 labels", T, planted(T, 17), fit, eigh_of(T), unit, 4
    T = counts(2000, 635, 0.03)
    yield "counts 2000 x 635, 108 labels", T, planted(T, 108), fit, eigh_of(T), unit, 20
    D = np.random.default_rng(0).standard_normal((20_000, 300))
    Z = planted(D, 100)
    for shifts in (SHIFTS_BEFORE, SHIFTS):
        least = products_and_sorts(D, Z, shifts)
        unit_name = f"products of {shifts} shifts + 10 sorts"
        name = "dense 20,000 x 300, 100 labels"
        name += ", in the products of its own shifts" if shifts == SHIFTS else ""
        yield name, D, Z, fit, least, unit_name, 2.5
    S = sparse(2000, 13_572, 0.003)
    Z = planted(S, 130)
    rival = svm_with_thresholds(S, Z)
    yield "the demo's shape 2000 x 13,572, 130 labels", S, Z, fit, rival, "LinearSVC", 1


def main(quick):
    lines = ["| shape | seconds | unit | ratio | wanted |", "|---|---|---|---|---|"]
    figures = {}
    for name, X, Y, make, unit, unit_name, wanted in shapes():
        own = seconds(make(X, Y), 1 if quick else 5)
        ratio = own / seconds(unit, 1 if quick or unit_name == "LinearSVC" else 5)
        lines.append(f"| {name} | {own:.2f} | {unit_name} | {ratio:.2f} | {wanted} |")
        figures[name] = round(ratio, 2)
    X, _ = load_yahoo("Arts")
    Y = planted(X, 640)
    one = seconds(lambda: SharedSubspaceClassifier().fit(X, Y), 1 if quick else 5)
    lines.append(f"| one fit, 1000 x 17,973, 640 labels | {one:.2f} | seconds | | 0.8 |")
    figures["one fit, 640 labels, seconds"] = round(one, 2)
    if not quick:
        S = sparse(200_000, 2000, 0.01)
        Y = planted(S, 50)
        reset_peak_memory()
        big = seconds(lambda: SharedSubspaceClassifierCV().fit(S, Y), 1)
        peak = peak_memory() or float("nan")
        lines.append(f"| 200,000 x 2000 sparse, 50 labels | {big:.0f} | seconds | | 60 |")
        figures["200,000 x 2000, seconds"] = round(big, 1)
        figures["200,000 x 2000, peak MiB"] = round(peak)
    finish("shapes", figures, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="one repeat, without the largest shape"
    )
    with threadpool_limits(1):
        main(parser.parse_args().quick)
