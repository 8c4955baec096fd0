"""Taggers and networks: cost over sizes, memory at 25,000 samples.

`eigenlabel reproduce kgha-table4` and `kgha-table7` compare them with KGHA.
"""

import argparse
import time
import tracemalloc
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from _common import finish, seconds
from eigenlabel import JEC, TagProp
from eigenlabel.catalogue import make
from eigenlabel.datasets import make_shared_subspace

METHODS = (
    *("KGHA", "r-KMLR", "MBRM", "JEC", "TagProp", "FastTag"),
    *("SW", "GRF-MK", "PfunBG-MK", "TMEC"),
)


def costs(sizes):
    """Time fit and prediction of 200 samples, by number of training samples."""
    found = {name: [] for name in METHODS}
    for n in sizes:
        data = make_shared_subspace(n + 200, 60, 30, random_state=0)
        views = {"left": slice(0, 20), "right": slice(20, None)}
        for name in METHODS:
            model = make(name, {"views": views}, grid={})
            fit = seconds(lambda m=model, d=data, n=n: m.fit(d.X[:n], d.Y[:n]))
            new = seconds(lambda m=model, d=data, n=n: m.decision_function(d.X[n:]))
            found[name].append((fit, new))
    heads = " | ".join(f"n = {n}: fit, predict 200" for n in sizes)
    lines = [f"| method | {heads} | power of n in fit |", "|---|" + (len(sizes) + 1) * "---|"]
    powers = {}
    for name, times in found.items():
        fits = [fit for fit, _ in times]
        powers[name] = float(np.polyfit(np.log(sizes), np.log(fits), 1)[0])
        cells = " | ".join(f"{fit:.2f}, {new:.2f}" for fit, new in times)
        lines.append(f"| {name} | {cells} | {powers[name]:.1f} |")
    return [*lines, ""], powers


def memory(n):
    """Fit to n samples and tell the peak of what Python allocates beyond the data."""
    data = make_shared_subspace(n + 100, 40, 50, random_state=0)
    lines = [f"At {n} training samples, two views (an n x n array: {8 * n * n / 2**20:.0f} MiB):"]
    figures = {}
    for name, model in {"JEC": JEC(), "TagProp": TagProp(100)}.items():
        views = {"left": data.X[:, :15], "right": data.X[:, 15:]}
        train = {key: A[:n] for key, A in views.items()}
        tracemalloc.start()
        start = time.perf_counter()
        model.fit(train, data.Y[:n])
        taken = time.perf_counter() - start
        model.decision_function({key: A[n:] for key, A in views.items()})
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        lines.append(f"{name}: {taken:.0f} s, peak {peak:.0f} MiB.")
        figures[f"{name}_peak_mib"] = peak
    return [" ".join(lines), ""], figures


def main(quick):
    lines, powers = costs((500, 1000, 2000) if quick else (1000, 2000, 4000))
    more, figures = memory(3000 if quick else 25_000)
    lines += more
    finish("tagging", {"power_of_n": powers, **figures}, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer samples")
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        main(parser.parse_args().quick)
