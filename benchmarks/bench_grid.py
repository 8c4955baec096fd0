"""Whether the default grid of the tuned model predicts as well as that of Ji et al. (2010).

Three grids on each set and split: that of the paper with infinity as a further alpha, which was the
default before; the default, which is relative to the variance of the samples; and its ridge
regressions alone (alpha = 0). Both kernels have the same grids. The rows are kept in
results/grid.csv, and a run goes on where it stopped.

Splits 0 and 1 of the linear kernel were looked at when the default was chosen; splits 2 to 4 were
not.
"""

import argparse
import time

import numpy as np
from threadpoolctl import threadpool_limits

from _common import finish
from _rows import Rows
from _sets import SETS, load_split
from eigenlabel import SharedSubspaceClassifierCV, metrics
from eigenlabel.estimators.subspace.tuning import PAPER_GRID

FIGURES = (
    "f1_macro",
    "f1_micro",
    "auc_macro",
    "label_average_precision",
    "average_precision",
    "log_loss",
)
GRIDS = {
    "papers": {"alphas": [*PAPER_GRID, np.inf], "betas": PAPER_GRID},
    "default": {},
    "ridge": {"alphas": [0.0]},
}
KERNELS = {"linear": {}, "Gaussian": {"kernel": "rbf"}}


def run(rows, names, kernels, n_splits):
    for split in range(n_splits):
        for name in names:
            for kernel in kernels:
                for grid, lists in GRIDS.items():
                    if rows.missing(set=name, split=split, kernel=kernel, grid=grid):
                        model = SharedSubspaceClassifierCV(**KERNELS[kernel], **lists)
                        found = measure(model, load_split(name, split))
                        rows.add(set=name, split=split, kernel=kernel, grid=grid, **found)


def measure(model, data):
    """Fit a model and return its figures on the test samples."""
    start = time.process_time()
    model.fit(data.X, data.Y)
    seconds = time.process_time() - start
    P = model.predict_proba(data.X_test)
    found = metrics.evaluate(data.Y_test, P, model.predict(data.X_test))
    found["log_loss"] = metrics.log_loss(data.Y_test, P)
    return {
        "seconds": round(seconds, 3),
        "alpha": f"{model.alpha_:.3g}",
        "beta": f"{model.beta_:.3g}",
        **{figure: round(found[figure], 5) for figure in FIGURES},
    }


def main(names, kernels, n_splits):
    values = ("seconds", "alpha", "beta", *FIGURES)
    rows = Rows("grid", ("set", "split", "kernel", "grid"), values)
    run(rows, names, kernels, n_splits)
    heads = ["kernel", "grid", *FIGURES, "seconds", "runs"]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    figures = {}
    for kernel in kernels:
        for grid in GRIDS:
            some = [r for r in rows.rows if (r["kernel"], r["grid"]) == (kernel, grid)]
            means = {f: float(np.mean([float(r[f]) for r in some])) for f in (*FIGURES, "seconds")}
            figures[f"{kernel}, {grid}"] = {f: round(value, 4) for f, value in means.items()}
            cells = " | ".join(f"{value:.4f}" for value in means.values())
            lines.append(f"| {kernel} | {grid} | {cells} | {len(some)} |")
    finish("grid", figures, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--kernels", nargs="*", default=list(KERNELS), choices=list(KERNELS))
    parser.add_argument("--splits", type=int, default=5)
    arguments = parser.parse_args()
    with threadpool_limits(1):
        main(arguments.sets, arguments.kernels, arguments.splits)
