"""MEKA on all packages of debtags, three views: memory, time, growth, and what it loses."""

import argparse
import resource
import time

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import f1_score
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from threadpoolctl import threadpool_limits

from _common import finish
from eigenlabel import MEKA, SharedSubspaceClassifier
from eigenlabel.datasets import load_debtags

BLOCKS = 10


def width(X, rng):
    """Return gamma by the KGHA paper's rule, the mean distance, from 500 x 500 pairs."""
    i, j = (X[rng.choice(X.shape[0], 500, replace=False)] for _ in range(2))
    return 1 / float(euclidean_distances(i, j).mean()) ** 2


def fit_all(views, gammas, Y, n_components):
    """Map each view, put the features side by side (the sum of the kernels), and fit ML-LS."""
    maps, parts = [], []
    for X, gamma in zip(views, gammas, strict=True):
        maps.append(MEKA(n_components, n_blocks=BLOCKS, gamma=gamma, random_state=0).fit(X))
        parts.append(maps[-1].transform(X))
    model = SharedSubspaceClassifier(alpha=1e-4, beta=1e-4).fit(np.hstack(parts), Y)
    return maps, model


def micro(scores, Y, top):
    """Score the top labels of each sample, as the KGHA paper does."""
    found = np.zeros_like(Y)
    np.put_along_axis(found, np.argsort(-scores, axis=1)[:, :top], 1, axis=1)
    return float(f1_score(Y, found, average="micro"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer samples and features")
    quick = parser.parse_args().quick
    with threadpool_limits(1):
        finish("lowrank", *measure(quick))


def measure(quick):
    rng = np.random.default_rng(0)
    data = load_debtags()
    order = rng.permutation(data.X.shape[0])[: 8000 if quick else None]
    views = [TfidfTransformer().fit_transform(data.X[order][:, c]) for c in data.views.values()]
    Y = data.Y[order].toarray()
    gammas = [width(X, rng) for X in views]
    n_components, n = 200 if quick else 1000, len(order)
    sizes = [2000, 4000, n] if quick else [5000, 10000, 20000, n]

    times = []
    for size in sizes:
        start = time.process_time()  # one thread: what others do on the machine does not count
        maps, _ = fit_all([X[:size] for X in views], gammas, Y[:size], n_components)
        times.append(time.process_time() - start)
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    slope = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    errors = {name: m.error_ for name, m in zip(data.views, maps, strict=True)}
    factors = sum(m.nbytes_ for m in maps) / 2**20

    train, test = (1500, 500) if quick else (5000, 2500)
    part, new = [X[:train] for X in views], [X[train : train + test] for X in views]
    Y_train, Y_new = Y[:train], Y[train : train + test]
    top = round(Y_train.sum() / train)
    maps, model = fit_all(part, gammas, Y_train, n_components)
    mapped = np.hstack([m.transform(X) for m, X in zip(maps, new, strict=True)])
    approximate = micro(model.decision_function(mapped), Y_new, top)
    K, K_new = (
        sum(rbf_kernel(A, B, gamma=g) for A, B, g in zip(rows, part, gammas, strict=True))
        for rows in (part, new)
    )
    exact = SharedSubspaceClassifier(alpha=1e-4, beta=1e-4, kernel="precomputed").fit(K, Y_train)
    exact = micro(exact.decision_function(K_new), Y_new, top)

    lines = [
        f"{n} packages, {len(views)} views, {Y.shape[1]} labels; rbf kernels of the paper's width, "
        f"{n_components} features a view, {BLOCKS} blocks; time of the three maps and of ML-LS.",
        "",
        "| samples | processor seconds |",
        "|---|---|",
        *(f"| {s} | {t:.1f} |" for s, t in zip(sizes, times, strict=True)),
        "",
        f"Time grows as n to the power {slope:.2f}. Peak resident memory {resident:.2f} GiB, "
        f"factors of all views {factors:.0f} MiB; one kernel matrix would have "
        f"{8 * n * n / 2**30:.1f} GiB.",
        "Relative error of the kernel matrices: "
        + ", ".join(f"{name} {e:.3f}" for name, e in errors.items())
        + ".",
        f"Held-out micro F1 of {test} packages, {train} to train on, top {top} labels: exact "
        f"kernel {exact:.4f}, MEKA {approximate:.4f}.",
    ]
    figures = {
        "seconds": dict(zip(map(str, sizes), times, strict=True)),
        "slope": slope,
        "resident_gib": resident,
        "factor_mib": factors,
        "errors": errors,
        "f1_micro_exact": exact,
        "f1_micro_meka": approximate,
    }
    return figures, lines


if __name__ == "__main__":
    main()
