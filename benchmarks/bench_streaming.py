"""Samples in blocks against one fit in memory, and statistics on a Dask cluster."""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import time
from functools import partial

import numpy as np
import scipy.sparse as sp

from _common import finish, interleaved
from eigenlabel import SharedSubspaceClassifier


def make_text(n, d, words, m, seed=0):
    """Draw text-like rows, word j with frequency about 1 / j, hashed to d columns, and labels."""
    rng = np.random.default_rng(seed)
    size = 2**18
    share = 1 / np.arange(1, size + 1)
    drawn = rng.choice(size, n * words, p=share / share.sum())
    column = rng.integers(0, d, size)[drawn]
    rows = np.repeat(np.arange(n), words)
    X = sp.csr_array((np.ones(n * words), (rows, column)), (n, d))
    X.sum_duplicates()
    X.data = np.log1p(X.data)
    scores = X @ rng.standard_normal((d, m)) + rng.standard_normal((n, m))
    return X, (scores > np.quantile(scores, 0.9, axis=0)).astype(int)


def stream(X, Y, blocks):
    model = SharedSubspaceClassifier()
    for rows in np.array_split(np.arange(X.shape[0]), blocks):
        model.partial_fit(X[rows[0] : rows[-1] + 1], Y[rows[0] : rows[-1] + 1])
    return model.coef_


def at_once(X, Y):
    return SharedSubspaceClassifier(solver="covariance").fit(X, Y).coef_


def processor_seconds(function):
    """Return the processor's seconds, as a busy machine does not count then, and the result."""
    start = time.process_time()
    result = function()
    return time.process_time() - start, result


def time_workers(workers, parts, n, d, m, repeats):
    """Time the statistics of partitions that lie on so many workers, each with one thread."""
    import dask
    from distributed import Client, LocalCluster, wait

    from eigenlabel import distributed

    settings = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(n_workers=workers, **settings) as cluster, Client(cluster):
        made = [dask.delayed(make_text, nout=2)(n, d, 50, m, seed) for seed in range(parts)]
        X, Y = (dask.persist(*(pair[i] for pair in made)) for i in range(2))
        wait([X, Y])
        model = SharedSubspaceClassifier()
        fit = partial(distributed.fit, model, list(X), list(Y))
        times = interleaved({"fit": fit}, repeats)["fit"]
        return float(np.median(times)), model.coef_


def compare_workers(quick):
    n, d, m, parts = (5_000, 2**9, 20, 4) if quick else (125_000, 2**12, 100, 8)
    (one, single), (two, double) = (time_workers(w, parts, n, d, m, 3) for w in (1, 2))
    difference = float(np.abs(single - double).max() / np.abs(single).max())
    lines = [
        "",
        f"Statistics of {parts} partitions of {n} x {d} on a Dask cluster of processes: one worker "
        f"{one:.1f} s, two workers {two:.1f} s, {one / two:.2f} times as fast; largest relative "
        f"difference of coefficients {difference:.1e}.",
    ]
    return {"dask": {"one": one, "two": two, "difference": difference}}, lines


def main(quick):
    n, d, m, blocks = (20_000, 2**9, 20, 100) if quick else (1_000_000, 2**12, 100, 100)
    X, Y = make_text(n, d, 50, m)
    calls = {"stream": partial(stream, X, Y, blocks), "at once": partial(at_once, X, Y)}
    times, coefs = {name: [] for name in calls}, {}
    for _ in range(3):
        for name, call in calls.items():
            took, coefs[name] = processor_seconds(call)
            times[name].append(took)
    times = {name: np.array(each) for name, each in times.items()}
    difference = np.abs(coefs["stream"] - coefs["at once"]).max()
    ratio = float(np.median(times["stream"] / times["at once"]))
    middle = {name: float(np.median(t)) for name, t in times.items()}
    lines = [
        f"{n} x {d} sparse, hashed from 2^18 words, 50 words a row, {m} labels.",
        "",
        "| | processor's seconds | ratio |",
        "|---|---|---|",
        f"| one fit in memory, covariance | {middle['at once']:.1f} | 1 |",
        f"| {blocks} blocks, `partial_fit` | {middle['stream']:.1f} | {ratio:.2f} |",
        "",
        f"Largest difference of coefficients: {difference:.1e}.",
    ]
    figures = {"ratio": round(ratio, 3), "difference": float(difference), "seconds": middle}
    more, told = compare_workers(quick)
    finish("streaming", {**figures, **more}, lines + told)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small matrix")
    main(parser.parse_args().quick)
