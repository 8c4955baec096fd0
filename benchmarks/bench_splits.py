"""Label stratified splits: speed and balance, against plain shuffled folds."""

import argparse
from functools import partial

import numpy as np
import scipy.sparse as sp
from sklearn.model_selection import KFold

from _common import finish, interleaved
from eigenlabel.model_selection import MultilabelStratifiedKFold


def imbalance(Y, folds):
    share = np.asarray(Y.mean(axis=0)).ravel()
    off = [np.abs(np.asarray(Y[test].mean(axis=0)).ravel() / share - 1) for _, test in folds]
    return float(np.mean(off))


def main(quick):
    rng = np.random.default_rng(0)
    lines = [
        "Random labels, frequencies falling as 1 / rank, five folds; imbalance is the mean "
        "relative difference of a label's share in a fold from its share in all samples.",
        "",
        "| samples x labels | seconds | imbalance | imbalance of shuffled KFold |",
        "|---|---|---|---|",
    ]
    figures = {}
    for n, m in [(10_000, 100), (100_000, 100)] + ([] if quick else [(100_000, 600)]):
        share = np.maximum(0.3 / np.arange(1, m + 1), 20 / n)
        Y = sp.csr_array(sp.hstack([_column(n, s, rng) for s in share]))
        X = np.zeros((n, 1))
        splitters = {
            "ours": MultilabelStratifiedKFold(5),
            "plain": KFold(5, shuffle=True, random_state=0),
        }
        calls = {k: partial(_run, s, X, Y) for k, s in splitters.items()}
        times = interleaved(calls, 3)
        ours, plain = (imbalance(Y, call()) for call in calls.values())
        second = float(np.median(times["ours"]))
        figures[f"{n} x {m}"] = {"seconds": round(second, 2), "imbalance": ours, "plain": plain}
        lines.append(f"| {n} x {m} | {second:.2f} | {ours:.5f} | {plain:.5f} |")
    finish("splits", figures, lines)


def _run(splitter, X, Y):
    return list(splitter.split(X, Y))


def _column(n, share, rng):
    rows = rng.choice(n, size=int(share * n), replace=False)
    ones, zeros = np.ones(len(rows), dtype=int), np.zeros(len(rows), dtype=int)
    return sp.csr_array((ones, (rows, zeros)), (n, 1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out the largest size")
    main(parser.parse_args().quick)
