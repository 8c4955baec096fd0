"""How the time of a tuned fit, one fit and a prediction grows with samples, features and labels.

Each curve changes one size and keeps the other two. Slopes are fitted to the larger half of its
points on logarithmic axes. The limit is the time that the operations of the largest part need at
the rate of a matrix product, or its bytes at the rate of a copy, both measured first, whichever is
longer. Processor time of one thread, medians. Results: results/growth.csv.
"""

import argparse
import csv
import time

import numpy as np
from threadpoolctl import threadpool_limits

from _common import finish
from _rows import RESULTS
from bench_shapes import SHIFTS, planted
from eigenlabel import SharedSubspaceClassifier, SharedSubspaceClassifierCV

FOLDS, POINTS, REPEATS = 5, 39, 3
KINDS = ("tuned fit", "one fit", "predict")
SIZES = {"n": 2000, "d": 200, "m": 20}
PATHS = {
    "n": [500, 1000, 2000, 4000, 8000, 16_000, 32_000],
    "d": [50, 100, 200, 400, 800, 1600],
    "m": [5, 10, 20, 40, 80, 160],
}
WORDS = {"n": "samples", "d": "features", "m": "labels"}


def seconds(function, repeats=REPEATS):
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return float(np.median(times))


def rates():
    """Return operations and bytes in a second: a matrix product and a copy."""
    A = np.random.default_rng(0).standard_normal((1000, 1000))
    flops = 2e9 / seconds(lambda: A @ A)
    B = np.zeros(2**24)
    return flops, 2 * B.nbytes / seconds(B.copy)


def limits(n, d, m, flops, bandwidth):
    """Return the least seconds of a tuned fit, one fit and a prediction of tall dense data."""
    covariance, products = 2.0 * n * d * d, 2.0 * n * d * m
    reductions = FOLDS * 4 * d**3 / 3
    scores = 8.0 * n * m * POINTS  # each score of each grid point is written and read once
    tuned = max((covariance + reductions + SHIFTS * products) / flops, 2 * scores / bandwidth)
    one = max((covariance + d**3 / 3 + 2 * products) / flops, 8.0 * n * d / bandwidth)
    return tuned, one, max(products / flops, 8.0 * n * (d + m) / bandwidth)


def measure(n, d, m):
    """Return the seconds of a tuned fit, one fit and a prediction."""
    X = np.random.default_rng(1).standard_normal((n, d))
    Y = planted(X, m)
    model = SharedSubspaceClassifier(0.1, 0.1)
    tuned = seconds(lambda: SharedSubspaceClassifierCV().fit(X, Y), 1 if n * m > 2e5 else REPEATS)
    return tuned, seconds(lambda: model.fit(X, Y)), seconds(lambda: model.predict(X))


def slope(sizes, times):
    half = len(sizes) // 2
    return float(np.polyfit(np.log(sizes[half:]), np.log(times[half:]), 1)[0])


def main(quick):
    flops, bandwidth = rates()
    kinds = KINDS
    rows, slopes = [], {}
    for size, path in PATHS.items():
        for value in path[:-2] if quick else path:
            sizes = {**SIZES, size: value}
            found = dict(zip(kinds, measure(**sizes), strict=True))
            least = limits(**sizes, flops=flops, bandwidth=bandwidth)
            found |= {f"limit of {kind}": value for kind, value in zip(kinds, least, strict=True)}
            rows.append({"size": size, **sizes, **found})
        some = [row for row in rows if row["size"] == size]
        for kind in kinds:
            slopes[size, kind] = slope([r[size] for r in some], [r[kind] for r in some])
    lines = ["| | " + " | ".join(WORDS.values()) + " |", "|---|---|---|---|"]
    lines += [
        f"| slope of {kind} | " + " | ".join(f"{slopes[s, kind]:.2f}" for s in PATHS) + " |"
        for kind in kinds
    ]
    worst = {kind: max(r[kind] / r[f"limit of {kind}"] for r in rows[-3:]) for kind in kinds}
    times = ", ".join(f"{kind} {value:.1f}" for kind, value in worst.items())
    lines += ["", f"Times the limit at the largest numbers of labels, at most: {times}."]
    if not quick:
        RESULTS.mkdir(exist_ok=True)
        with (RESULTS / "growth.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    figures = {f"{kind}, {WORDS[s]}": round(slopes[s, kind], 2) for s in PATHS for kind in kinds}
    figures |= {"GFLOP/s": round(flops / 1e9, 1), "GB/s": round(bandwidth / 1e9, 1)}
    finish("growth", figures, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes; nothing is written")
    with threadpool_limits(1):
        main(parser.parse_args().quick)
