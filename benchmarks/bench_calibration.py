"""Probabilities from held-out scores, against those that users of scikit-learn would take.

Ten data sets, random splits with at most 1500 training samples and 3000 test samples. The rivals
are one-vs-rest LogisticRegression, and CalibratedClassifierCV (5 folds) around one-vs-rest
LinearSVC; a label with fewer positives than a rival needs has its share as probability.
Expected calibration error (ECE): 15 bins of equal width over all cells.
"""

import argparse
import csv
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, label_ranking_average_precision_score, log_loss
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from _common import data_folder, finish
from eigenlabel import SharedSubspaceClassifierCV
from eigenlabel.datasets import load
from eigenlabel.thresholds import fit_calibration

SETS = {
    "Arts": (["yahoo/Arts.svm.gz"], {}),
    "bibtex": (["mulan/bibtex/bibtex.arff"], {}),
    "birds": (["mulan/birds/birds-train.arff", "mulan/birds/birds-test.arff"], {}),
    "corel5k": (
        ["mulan/corel5k/Corel5k-train-sparse.arff", "mulan/corel5k/Corel5k-test-sparse.arff"],
        {},
    ),
    "emotions": (["mulan/emotions/emotions.arff"], {}),
    "enron": (["mulan/enron/enron.arff"], {}),
    "medical": (["mulan/medical/medical.arff"], {}),
    "rcv1": (
        ["rcv1/rcv1_topics_1_train.svm.gz", "rcv1/rcv1_topics_1_test.svm.gz"],
        {"n_features": 47236, "n_labels": 101},
    ),
    "scene": (["mulan/scene/scene-train.arff", "mulan/scene/scene-test.arff"], {}),
    "yeast": (["mulan/yeast/yeast.arff"], {}),
}
WEIGHTED = ("rcv1",)  # words have weights already
FIGURES = ("log_loss", "brier", "ece", "lrap")
METHODS = ("eigenlabel", "logistic", "svc")
FIELDS = ("set", "split", "method", *FIGURES, "seconds", "calibration_seconds")


def read(name):
    """Return X and Y of all samples of a data set."""
    files, options = SETS[name]
    parts = [load(data_folder() / file, **options) for file in files]
    X = [part.X for part in parts]
    Y = [part.Y.toarray() if sp.issparse(part.Y) else np.asarray(part.Y) for part in parts]
    return sp.vstack(X).tocsr() if sp.issparse(X[0]) else np.vstack(X), np.vstack(Y).astype(int)


def split(X, Y, seed):
    """Return training and test samples of a random split."""
    n = len(Y)
    order = np.random.default_rng(seed).permutation(n)
    size = min(1500, 2 * n // 3)
    train, test = order[:size], order[size : size + 3000]
    return X[train], Y[train], X[test], Y[test]


def prepare(name, A, *others):
    """Return tf-idf of sparse data, standard scores of dense data, as fitted to A."""
    if name in WEIGHTED:
        return A, *others
    fitted = (TfidfTransformer() if sp.issparse(A) else StandardScaler()).fit(A)
    return tuple(fitted.transform(each) for each in (A, *others))


def own(A, Y, B):
    """Return our probabilities, and the seconds of calibration."""
    model = SharedSubspaceClassifierCV().fit(A, Y)
    start = time.process_time()
    calibration = fit_calibration(model.oof_scores_, Y)
    took = time.process_time() - start
    return calibration.probabilities(model.decision_function(B)), took


def logistic(A, y, B):
    return LogisticRegression(max_iter=1000).fit(A, y).predict_proba(B)[:, 1]


def svc(A, y, B):
    folds = int(min(5, y.sum(), len(y) - y.sum()))
    return CalibratedClassifierCV(LinearSVC(), cv=folds).fit(A, y).predict_proba(B)[:, 1]


def one_vs_rest(function, A, Y, B, least):
    """Return the probabilities of a rival, the share of a label that has too few samples."""
    found = np.empty((B.shape[0], Y.shape[1]))
    for j, y in enumerate(Y.T):
        enough = min(y.sum(), len(y) - y.sum()) >= least
        found[:, j] = function(A, y, B) if enough else y.mean()
    return found, 0.0


def calibration_error(Y, P, bins=15):
    """Return the expected calibration error over all cells."""
    y, p = Y.ravel().astype(float), P.ravel()
    part = np.minimum((bins * p).astype(int), bins - 1)
    return np.abs(np.bincount(part, p - y, bins)).sum() / len(p)


def figures(Y, P):
    """Return the figures of probabilities."""
    y, p = Y.ravel(), P.ravel()
    return {
        "log_loss": log_loss(y, p, labels=[0, 1]),
        "brier": brier_score_loss(y, p),
        "ece": calibration_error(Y, P),
        "lrap": label_ranking_average_precision_score(Y, P),
    }


def measure(method, data):
    """Return one row of figures."""
    A, Y, B, test = data
    ways = {
        "eigenlabel": lambda: own(A, Y, B),
        "logistic": lambda: one_vs_rest(logistic, A, Y, B, 1),
        "svc": lambda: one_vs_rest(svc, A, Y, B, 2),
    }
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rivals that do not converge
        P, took = ways[method]()
    row = {"seconds": time.process_time() - start, "calibration_seconds": took}
    return {**row, **figures(test, P)}


def collect(sets, splits, path):
    """Return rows of all sets, splits and methods; those in the file are not measured again."""
    rows = []
    if path is not None and path.exists():
        with path.open(newline="") as file:
            rows = [{**row, "split": int(row["split"])} for row in csv.DictReader(file)]
    known = {(row["set"], row["split"], row["method"]) for row in rows}
    for seed in range(splits):
        for name in sets:
            todo = [method for method in METHODS if (name, seed, method) not in known]
            if todo:
                A, Y, B, test = split(*read(name), seed)
                A, B = prepare(name, A, B)
            for method in todo:
                row = {
                    "set": name,
                    "split": seed,
                    "method": method,
                    **measure(method, (A, Y, B, test)),
                }
                rows.append(row)
                if path is not None:
                    append(path, row)
    wanted = [row for row in rows if row["set"] in sets and row["split"] < splits]
    return [{**row, **{key: float(row[key]) for key in FIELDS[3:]}} for row in wanted]


def append(path, row):
    """Write a row to the file, with a header if it is the first one."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if new:
            writer.writeheader()
        writer.writerow(row)


def summarise(rows):
    """Return the mean of each column by set and method."""
    found = {}
    for row in rows:
        found.setdefault((row["set"], row["method"]), []).append([row[key] for key in FIELDS[3:]])
    means = {key: np.mean(values, axis=0) for key, values in found.items()}
    return {key: dict(zip(FIELDS[3:], mean.tolist(), strict=True)) for key, mean in means.items()}


def render(means, sets, splits):
    """Return the table, and on how many sets we are at least as good as the better rival."""
    lines = [
        f"Means over {splits} splits; log-loss and Brier score of a cell (lower is better), ECE, "
        "label-ranking average precision (LRAP, higher is better), seconds of processor time.",
        "",
        "| set | method | log-loss | Brier | ECE | LRAP | seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    wins = dict.fromkeys(FIGURES, 0)
    for name in sets:
        for method in METHODS:
            f = means[name, method]
            cells = " | ".join(f"{f[key]:.4f}" for key in FIGURES)
            lines.append(f"| {name} | {method} | {cells} | {f['seconds']:.2f} |")
        for key in FIGURES:
            sign = 1 if key == "lrap" else -1
            best = max(sign * means[name, method][key] for method in METHODS[1:])
            wins[key] += sign * means[name, "eigenlabel"][key] >= best
    ece = {m: float(np.mean([means[name, m]["ece"] for name in sets])) for m in METHODS}
    ours = [means[name, "eigenlabel"] for name in sets]
    shares = {
        name: f["calibration_seconds"] / (f["seconds"] - f["calibration_seconds"])
        for name, f in zip(sets, ours, strict=True)
    }
    lines += [
        "",
        f"At least as good as the better rival, of {len(sets)} sets: "
        + ", ".join(f"{key} {wins[key]}" for key in FIGURES)
        + ". Mean ECE: "
        + ", ".join(f"{m} {value:.4f}" for m, value in ece.items())
        + ". Calibration adds to the fit: "
        + ", ".join(f"{name} {share:.1%}" for name, share in shares.items())
        + ".",
    ]
    rounded = {name: round(share, 4) for name, share in shares.items()}
    return lines, {"wins": wins, "mean_ece": ece, "calibration_share": rounded}


def main(given):
    splits = 1 if given.quick else given.splits
    sets = (
        given.sets.split(",")
        if given.sets
        else ["emotions", "yeast"]
        if given.quick
        else list(SETS)
    )
    means = summarise(collect(sets, splits, given.csv))
    lines, found = render(means, sets, splits)
    found["means"] = {" ".join(key): f for key, f in means.items()}
    finish("calibration", found, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two small sets, one split")
    parser.add_argument("--splits", type=int, default=5, help="number of splits")
    parser.add_argument("--sets", metavar="A,B,...", help=f"of {', '.join(SETS)}")
    parser.add_argument("--csv", type=Path, help="file of rows; rows in it are not measured again")
    main(parser.parse_args())
