"""Whether a path of dimensions of the shared subspace predicts better than the papers' rule.

Five models on each set and split: ridge regression alone (alpha = 0), the papers' rule, and a path
of powers of two up to the papers' rule, the last two tuned for macro F1 and for AUC. The rows are
kept in results/dimensions.csv, and a run goes on where it stopped.
"""

import argparse
import time

import numpy as np
from threadpoolctl import threadpool_limits

from _common import finish
from _rows import Rows
from _sets import SETS, load_split
from eigenlabel import SharedSubspaceClassifierCV, metrics
from eigenlabel.estimators.subspace.solve import default_rank

METRICS = ("f1_macro", "f1_micro", "auc_macro", "label_average_precision")


def models(n_labels):
    rule = default_rank(n_labels)
    path = [*(2**k for k in range(12) if 2**k < rule), rule]
    return {
        "ridge": SharedSubspaceClassifierCV(alphas=[0.0]),
        "rule": SharedSubspaceClassifierCV(),
        "path": SharedSubspaceClassifierCV(n_components=path),
        "rule, AUC": SharedSubspaceClassifierCV(scoring="auc_macro"),
        "path, AUC": SharedSubspaceClassifierCV(n_components=path, scoring="auc_macro"),
    }


def run(rows, names, n_splits):
    for split in range(n_splits):
        for name in names:
            data = None
            for model in models(20):
                if not rows.missing(set=name, split=split, model=model):
                    continue
                data = data or load_split(name, split)
                clf = models(data.Y.shape[1])[model]
                start = time.process_time()
                clf.fit(data.X, data.Y)
                seconds = time.process_time() - start
                found = metrics.evaluate(
                    data.Y_test, clf.decision_function(data.X_test), clf.predict(data.X_test)
                )
                rows.add(
                    set=name,
                    split=split,
                    model=model,
                    seconds=round(seconds, 3),
                    alpha=clf.alpha_,
                    n_components=clf.best_params_["n_components"],
                    **{metric: round(found[metric], 5) for metric in METRICS},
                )


def main(names, n_splits):
    values = ("seconds", "alpha", "n_components", *METRICS)
    rows = Rows("dimensions", ("set", "split", "model"), values)
    run(rows, names, n_splits)
    kinds = list(models(20))
    table = {kind: [r for r in rows.rows if r["model"] == kind] for kind in kinds}
    lines = ["| model | " + " | ".join(METRICS) + " | runs |", "|---" * (len(METRICS) + 2) + "|"]
    figures = {}
    for kind in kinds:
        means = {m: float(np.mean([float(r[m]) for r in table[kind]])) for m in METRICS}
        figures[kind] = means
        cells = " | ".join(f"{means[m]:.4f}" for m in METRICS)
        lines.append(f"| {kind} | {cells} | {len(table[kind])} |")
    finish("dimensions", figures, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--splits", type=int, default=5)
    arguments = parser.parse_args()
    with threadpool_limits(1):
        main(arguments.sets, arguments.splits)
