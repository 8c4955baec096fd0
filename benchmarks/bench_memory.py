"""Measure the peak memory of a fit, in arrays of p x p float64 numbers.

Each fit runs in a process of its own, with BLAS on one thread. The figure is the highest resident
memory during ``fit`` minus that before it (VmHWM of Linux, which the script resets before the fit),
divided by 8 p^2 bytes, where p is the side of the matrix that the method factorises. X and Y
themselves exist before the fit and do not count.

    python benchmarks/bench_memory.py [--size 2000] [--only tuned]
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import scipy.sparse as sp

import eigenlabel as el
from _common import finish

LABELS = 20


def dense(n, d):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    scores = X[:, :50] @ rng.standard_normal((min(50, d), LABELS))
    return X, (scores > np.quantile(scores, 0.8, axis=0)).astype(int)


def text(n, d):
    rng = np.random.default_rng(0)
    X = sp.random(n, d, density=0.005, format="csr", rng=rng)
    scores = X[:, :50] @ rng.standard_normal((50, LABELS))
    return X, (scores > np.quantile(scores, 0.8, axis=0)).astype(int)


CASES = {
    "plain, wide": lambda p: (el.SharedSubspaceClassifier(), dense(p, 2 * p)),
    "plain, tall": lambda p: (el.SharedSubspaceClassifier(), dense(2 * p, p)),
    "plain, wide, beta=0": lambda p: (el.SharedSubspaceClassifier(beta=0.0), dense(p, 2 * p)),
    "plain, sparse": lambda p: (el.SharedSubspaceClassifier(), text(p, 8 * p)),
    "plain, tall sparse": lambda p: (el.SharedSubspaceClassifier(), text(4 * p, p)),
    "plain, rbf": lambda p: (el.SharedSubspaceClassifier(kernel="rbf"), dense(p, 40)),
    "tuned, wide": lambda p: (el.SharedSubspaceClassifierCV(), dense(p, 2 * p)),
    "tuned, tall": lambda p: (el.SharedSubspaceClassifierCV(), dense(6 * p // 5, p)),
    "tuned, very tall": lambda p: (el.SharedSubspaceClassifierCV(), dense(5 * p, p)),
    "tuned, sparse": lambda p: (el.SharedSubspaceClassifierCV(), text(p, 8 * p)),
    "tuned, tall sparse": lambda p: (el.SharedSubspaceClassifierCV(), text(4 * p, p)),
    "tuned, rbf": lambda p: (el.SharedSubspaceClassifierCV(kernel="rbf"), dense(p, 40)),
    "MLSI, wide": lambda p: (el.MLSI(), dense(p, 2 * p)),
    "LPP, wide": lambda p: (el.LPP(), dense(p, 2 * p)),
    "CCA, wide": lambda p: (el.CCA(), dense(p, 2 * p)),
}


def status(field):
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * next(int(x.split()[1]) for x in lines if x.startswith(f"{field}:"))


def measure(case, p):
    """Print the peak of one fit in this process, in bytes."""
    model, (X, Y) = CASES[case](p)
    model.fit(X[:60], Y[:60])  # imports and the buffers of BLAS
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = status("VmRSS")
    model.fit(X, Y)
    print(status("VmHWM") - before)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", type=int, default=2000, help="p, the side of the matrix")
    parser.add_argument("--only", default="", help="cases whose name contains this text")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        measure(options.case, options.size)
        return
    found = {}
    for case in (c for c in CASES if options.only in c):
        command = [sys.executable, __file__, "--size", str(options.size), "--case", case]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        arrays = float(done.stdout) / (8 * options.size**2) if done.returncode == 0 else np.nan
        found[case] = round(arrays, 2)
        print(f"{case:22} {arrays:6.2f} arrays of {options.size} x {options.size}", flush=True)
        if done.returncode:
            print(done.stderr.splitlines()[-1])
    finish("memory", {"size": options.size, "arrays": found}, [])


if __name__ == "__main__":
    main()
