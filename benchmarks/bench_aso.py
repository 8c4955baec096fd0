"""ASO as published (beta = 0): one SVM at a time by LIBLINEAR, and all labels at once.

Both solvers have the same rounds and stop by the same rule. The objectives say which one got
further; smaller is better.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from _common import finish
from _sets import load_split
from eigenlabel import ASOClassifier
from eigenlabel.estimators.margin import aso

ALPHAS = 10.0 ** np.arange(-4, 4)  # the candidates of Ji et al. (2010)
SOLVERS = {
    "LIBLINEAR": 0.0,
    "all at once": np.inf,
}  # beta / alpha below which the second one is used


def measure(X, Y, alpha, limit):
    """Return processor seconds, the number of rounds and the objective of a fit."""
    aso.ILL = limit
    start = time.process_time()
    model = ASOClassifier(alpha, 0.0, svm_max_iter=1000 if not limit else 100, random_state=0)
    model.fit(X, Y)
    return time.process_time() - start, model.n_iter_, float(model.objective_[-1])


def main(name, n_train):
    warnings.simplefilter("ignore", ConvergenceWarning)
    data = load_split(name, 0, n_train)
    found = {
        solver: [measure(data.X, data.Y, alpha, limit) for alpha in ALPHAS]
        for solver, limit in SOLVERS.items()
    }
    lines = [
        f"{name}, {data.X.shape[0]} x {data.X.shape[1]}, {data.Y.shape[1]} labels.",
        "",
        "| alpha | LIBLINEAR: seconds | rounds | objective | all at once: seconds | rounds "
        "| objective |",
        "|---|---|---|---|---|---|---|",
    ]
    for k, alpha in enumerate(ALPHAS):
        cells = [f"{s:.2f} | {n} | {value:.4g}" for s, n, value in (found[f][k] for f in SOLVERS)]
        lines.append(f"| {alpha:g} | " + " | ".join(cells) + " |")
    total = {solver: sum(part[0] for part in parts) for solver, parts in found.items()}
    lower = sum(b[2] < a[2] for a, b in zip(*found.values(), strict=True))
    figures = {
        "seconds_one_at_a_time": round(total["LIBLINEAR"], 2),
        "seconds_all_at_once": round(total["all at once"], 2),
        "lower_objectives": lower,
        "alphas": len(ALPHAS),
    }
    finish("aso", figures, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", default="arts", help="a data set of _sets.py")
    parser.add_argument("--samples", type=int, default=800, help="training samples")
    given = parser.parse_args()
    with threadpool_limits(1):
        main(given.set, given.samples)
