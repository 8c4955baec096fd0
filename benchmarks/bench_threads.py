"""Compare the default number of BLAS threads with one and two threads, beside busy programs.

Each round runs one tuned fit in a process of its own for each choice, in turn, so that what else
the machine does meets all of them alike. "busy" adds programs that use a core each. The figures are
medians of the seconds of ``fit``, and the medians of their ratios to one thread.

    python benchmarks/bench_threads.py [--rounds 5] [--busy 0 1 2]
"""

import argparse
import os
import subprocess
import sys
import time

import numpy as np

from _common import finish

CHOICES = {
    "default": {},
    "one thread": {"OPENBLAS_NUM_THREADS": "1"},
    "two threads": {"OPENBLAS_NUM_THREADS": "2"},
}
SIZES = {"readme": (1000, 0), "dense": (2000, 1000), "large": (4000, 4500)}


def measure(size):
    """Print the seconds of one fit in this process."""
    import eigenlabel as el
    from eigenlabel.datasets import load_debtags

    if size == "readme":
        data = load_debtags(min_positives=500)
        train = data.splits["by source"][0][::20]
        X, Y = data.X[train], data.Y[train]
    else:
        rng = np.random.default_rng(0)
        X = rng.standard_normal(SIZES[size])
        scores = X[:, :50] @ rng.standard_normal((50, 19))
        Y = (scores > np.quantile(scores, 0.8, axis=0)).astype(int)
    start = time.perf_counter()
    el.SharedSubspaceClassifierCV().fit(X, Y)
    print(time.perf_counter() - start)


def one_fit(size, choice):
    own = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    command = [sys.executable, __file__, "--fit", size]
    done = subprocess.run(
        command, env={**own, **CHOICES[choice]}, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def busy_programs(count):
    return [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--busy", type=int, nargs="*", default=[0, 1, 2], help="busy programs")
    parser.add_argument("--sizes", nargs="*", default=list(SIZES), choices=SIZES)
    parser.add_argument("--fit", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fit:
        measure(options.fit)
        return
    print(f"load before: {os.getloadavg()[0]:.1f}, cores: {os.cpu_count()}\n")
    print(
        "| data | busy programs | choice | seconds | ratio to one thread |\n|---|---|---|---|---|"
    )
    figures = {}
    for size in options.sizes:
        for busy in options.busy:
            programs = busy_programs(busy)
            try:
                rounds = range(options.rounds)
                times = np.array([[one_fit(size, choice) for choice in CHOICES] for _ in rounds])
            finally:
                for program in programs:
                    program.kill()
                    program.wait()
            seconds, ratios = (np.median(t, axis=0) for t in (times, times / times[:, [1]]))
            for k, choice in enumerate(CHOICES):
                row = f"| {size} | {busy} | {choice} | {seconds[k]:.2f} | {ratios[k]:.2f} |"
                print(row, flush=True)
                figures[f"{size}, {busy} busy, {choice}"] = round(float(ratios[k]), 3)
    finish("threads", figures, [])


if __name__ == "__main__":
    main()
