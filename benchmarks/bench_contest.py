"""The open contest: the blend and our single methods against what users would try instead.

    python benchmarks/bench_contest.py --collect            # runs what is missing, then draws
    python benchmarks/bench_contest.py                      # draws from results/contest.csv
    python benchmarks/bench_contest.py --collect --methods blend --sets emotions,yeast

The protocol stands in docs/contest.md. Each fit runs in a process of its own whose processor time
is limited; a fit beyond the limit has no figures and shares the last rank. Rows are written as they
are measured, so that a killed run goes on where it stopped.
"""

import argparse
import multiprocessing
import os
import resource
import signal
import sys
import time
import warnings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    label_ranking_average_precision_score,
    log_loss,
    roc_auc_score,
)

from _common import finish
from _contest_page import draw, summarise
from _rivals import METHODS, OURS, RIVALS
from _rows import RESULTS, Rows
from _sets import SETS, load_split, most_training_samples

SIZES = {"500": 500, "1500": 1500, "5000": 5000}  # training samples, at most two thirds of a set
SPLITS = 5
LIMIT = 600  # seconds of processor time of one fit and its predictions
FRONT = ("f1_macro", "f1_micro", "lrap", "log_loss")  # of the drawing in the README
FIGURES = ("f1_macro", "f1_micro", "f1_samples", "auc", "map", "lrap", "log_loss")


def figures(Y, answer):
    """Return the figures of an answer; AUC and mAP of labels that occur in the test part."""
    both = Y.any(axis=0) & ~Y.all(axis=0)
    scores, labels, P = answer
    found = {
        f"f1_{way}": f1_score(Y, labels, average=way, zero_division=0)
        for way in ("macro", "micro", "samples")
    }
    found["auc"] = roc_auc_score(Y[:, both], scores[:, both])
    found["map"] = average_precision_score(Y[:, both], scores[:, both])
    found["lrap"] = label_ranking_average_precision_score(Y, scores)
    if P is not None:
        eps = np.finfo(np.float32).eps  # scikit-learn's bound for single precision
        found["log_loss"] = log_loss(Y.ravel(), np.clip(P, eps, 1 - eps).ravel(), labels=[0, 1])
    return {key: round(float(value), 6) for key, value in found.items()}


def measure(method, name, split, size, pipe):
    """Send the figures of one fit; runs in a process of its own."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 5))
    data = load_split(name, split, n_train=SIZES[size])
    warnings.simplefilter("ignore")  # rivals that do not converge
    start = time.process_time()
    try:
        answer = METHODS[method](data.X, data.Y, data.X_test)
    except Exception as error:
        pipe.send({"state": f"{type(error).__name__}: {error}"[:200]})
        return
    took = time.process_time() - start
    pipe.send({"state": "done", "seconds": round(took, 3), **figures(data.Y_test, answer)})


def run(method, name, split, size):
    """Return the row of one fit, whose state tells whether it finished."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=measure, args=(method, name, split, size, sender))
    process.start()
    sender.close()
    try:
        row = receiver.recv()
    except EOFError:
        row = {"state": f"over {LIMIT} s"}
    process.join()
    if row["state"] != "done" and process.exitcode not in (0, -signal.SIGXCPU, -signal.SIGKILL):
        raise RuntimeError(f"the process of {method} on {name} ended with {process.exitcode}")
    return row


def measured_already(rows, key):
    """Return the row of a smaller size whose split is the same one, or None.

    A set with fewer than 750 samples has the same training part at every size.
    """
    most = most_training_samples(key["set"])
    for size, samples in SIZES.items():
        if size != key["size"] and most <= min(samples, SIZES[key["size"]]):
            row = rows.find(**{**key, "size": size})
            if row:
                return {name: row[name] for name in ("state", *FIGURES, "seconds")}
    return None


def collect(rows, sets, methods, sizes, splits):
    """Measure what is missing, a split of all sets at a time."""
    todo = [
        {"set": name, "size": size, "split": split, "method": method}
        for size in sizes
        for split in splits
        for name in sets
        for method in methods
        if rows.missing(set=name, size=size, split=split, method=method)
    ]
    for k, key in enumerate(todo):
        row = measured_already(rows, key) or run(
            key["method"], key["set"], key["split"], key["size"]
        )
        rows.add(**key, **row)
        name = " / ".join(str(part) for part in key.values())
        print(f"{k + 1} of {len(todo)}: {name}: {row['state']}", file=sys.stderr)


def main(given):
    rows = Rows("contest", ("set", "size", "split", "method"), ("state", *FIGURES, "seconds"))
    sets = given.sets.split(",") if given.sets else list(SETS)
    groups = {"all": METHODS, "rivals": RIVALS, "ours": OURS}
    methods = list(groups.get(given.methods) or given.methods.split(";"))
    sizes = given.sizes.split(",")
    if given.collect:
        collect(rows, sets, methods, sizes, given.splits)
    found, lines = {}, []
    for size in sizes:
        found[size], part = summarise(rows.rows, size, list(METHODS), set(OURS))
        lines += part
        draw(found[size], RESULTS / f"contest_{size}.svg", OURS)
    first = next((part for part in found.values() if part), {})
    draw({f: first[f] for f in FRONT if f in first}, RESULTS / "contest_front.svg", OURS)
    finish("contest", found, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--collect", action="store_true", help="measure what is missing")
    parser.add_argument("--sets", metavar="A,B,...", help=f"of {', '.join(SETS)}")
    parser.add_argument(
        "--methods", default="all", help=f"all, rivals, ours, or of {'; '.join(METHODS)}"
    )
    parser.add_argument("--sizes", default=",".join(SIZES), help=f"of {', '.join(SIZES)}")
    parser.add_argument(
        "--splits", type=int, nargs="+", default=range(SPLITS), metavar="K", help="of 0 to 4"
    )
    main(parser.parse_args())
