"""Samples in blocks against one fit in memory, and statistics on a Dask cluster."""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
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


def main(quick):
    n, d, m, blocks = (20_000, 2**9, 20, 100) if quick else (200_000, 2**12, 100, 100)
    X, Y = make_text(n, d, 50, m)
    calls = {"stream": partial(stream, X, Y, blocks), "at once": partial(at_once, X, Y)}
    difference = np.abs(stream(X, Y, blocks) - at_once(X, Y)).max()
    times = interleaved(calls, 3)
    ratio = float(np.median(times["stream"] / times["at once"]))
    middle = {name: float(np.median(t)) for name, t in times.items()}
    lines = [
        f"{n} x {d} sparse, hashed from 2^18 words, 50 words a row, {m} labels.",
        "",
        "| | seconds | ratio |",
        "|---|---|---|",
        f"| one fit in memory, covariance | {middle['at once']:.1f} | 1 |",
        f"| {blocks} blocks, `partial_fit` | {middle['stream']:.1f} | {ratio:.2f} |",
        "",
        f"Largest difference of coefficients: {difference:.1e}.",
    ]
    figures = {"ratio": round(ratio, 3), "difference": difference, "seconds": middle}
    finish("streaming", figures, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small matrix")
    main(parser.parse_args().quick)
