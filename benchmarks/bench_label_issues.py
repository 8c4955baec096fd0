"""Label errors that were planted in eight data sets: how well rankings of cells find them.

`flipped`: each cell of the label matrix is inverted with the rate given. `missing`: each positive
is removed. `moved`: each positive is removed, and as many negatives of its label become positive.
At most 1500 samples of each set. The rankings use the same held-out probabilities: those of
SharedSubspaceClassifierCV with a logistic map for each label, or those of one-vs-rest logistic
regression (five folds). cleanlab is compared if it is installed: its label quality scores of each
class (self-confidence, plain and adjusted), and its filter, with the cells that it reports first.
Rows are appended to a CSV file, and rows that are there are not computed again.
"""

import argparse
import csv
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from _common import data_folder, finish
from eigenlabel import SharedSubspaceClassifierCV, datasets
from eigenlabel.inspection import find_label_issues
from eigenlabel.preprocessing import make_preparation
from eigenlabel.thresholds import held_out_probabilities

SETS = {
    "yeast": "mulan/yeast/yeast.arff",
    "scene": "mulan/scene/scene-train.arff",
    "emotions": "mulan/emotions/emotions.arff",
    "enron": "mulan/enron/enron.arff",
    "medical": "mulan/medical/medical.arff",
    "bibtex": "mulan/bibtex/bibtex-train.arff",
    "Arts": "yahoo_lamda/Arts.mat",
    "rcv1": "rcv1/rcv1_topics_1_train.svm.gz",
}
MORE = {
    "birds": "mulan/birds/birds-train.arff",
    "genbase": "mulan/genbase/genbase.arff",
    "flags": "mulan/flags/flags.arff",
    "cal500": "mulan/cal500/cal500.arff",
    "corel5k": "mulan/corel5k/Corel5k-train-sparse.arff",
    **{
        name: f"yahoo_lamda/{name}.mat"
        for name in ("Computers", "Entertainment", "Health", "Recreation", "Science", "Society")
    },
}
KINDS, RATES = ("flipped", "missing", "moved"), (0.02, 0.05, 0.1)
OURS, THEIRS = "find_label_issues", ("self-confidence", "adjusted", "filter")
KEY = ("data", "kind", "rate", "seed", "probabilities", "method")
FIGURES = ("ap", "precision", "ap_missing", "ap_wrong", "ap_samples", "planted")
MOST = 1500  # samples


def load(name, path):
    """Return prepared features and dense labels of at most MOST samples, the same ones always."""
    data = datasets.load(path)
    rows = np.sort(np.random.default_rng(0).permutation(data.X.shape[0])[:MOST])
    Y = data.Y[rows]
    Y = (Y.toarray() if sp.issparse(Y) else Y) == 1
    X = make_preparation("auto", data.X, **data.layout).fit_transform(data.X[rows])
    print(f"{name}: {X.shape[0]} x {X.shape[1]}, {Y.shape[1]} labels", flush=True)
    return X, Y


def plant(Y, kind, rate, seed):
    """Mark the cells that become errors."""
    rng = np.random.default_rng([seed, KINDS.index(kind), round(1000 * rate)])
    drawn = rng.random(Y.shape) < rate
    if kind == "flipped":
        return drawn
    drawn &= Y
    if kind == "moved":
        for j, count in enumerate(drawn.sum(axis=0)):
            free = np.flatnonzero(~Y[:, j])
            drawn[rng.choice(free, min(count, len(free)), replace=False), j] = True
    return drawn


def tuned(X, Y):
    return held_out_probabilities(SharedSubspaceClassifierCV().fit(X, Y).oof_scores_, Y)


def logistic(X, Y):
    """Return the held-out probabilities of one-vs-rest logistic regression."""
    P = np.empty(Y.shape)
    solver = "liblinear" if sp.issparse(X) else "lbfgs"
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        for j in range(Y.shape[1]):
            y = Y[train, j]
            if y.all() or not y.any():
                P[test, j] = (y.sum() + 0.5) / (len(y) + 1)
                continue
            model = LogisticRegression(solver=solver, max_iter=200).fit(X[train], y)
            P[test, j] = model.predict_proba(X[test])[:, 1]
    return P


def ours(Y, P):
    """Return the suspicion of each cell and each sample."""
    issues = find_label_issues(Y, P, max_issues=Y.size)
    cells = np.empty(Y.shape)
    cells[issues.samples, issues.labels] = -np.arange(Y.size)  # the order, beyond rounding to 1
    return cells, issues.sample_scores


def theirs(Y, P, method):
    """Return the same by cleanlab."""
    from cleanlab.multilabel_classification import filter as cl_filter
    from cleanlab.multilabel_classification import rank

    listed = [np.flatnonzero(row).tolist() for row in Y]
    options = {"adjust_pred_probs": method == "adjusted"}
    quality = np.asarray(rank.get_label_quality_scores_per_class(listed, P, **options))
    samples = -np.asarray(rank.get_label_quality_scores(listed, P, **options))
    if method == "filter":
        found = cl_filter.find_multilabel_issues_per_class(listed, P, n_jobs=1)
        return found - quality, samples
    return -quality, samples


def figures(errors, Y, cells, samples):
    """Return average precision over all cells, over those of a kind and over samples."""
    count = int(errors.sum())
    top = np.argsort(-cells, axis=None, kind="stable")[:count]
    found = {"planted": count, "precision": errors.ravel()[top].mean()}
    parts = {"ap": np.ones_like(Y), "ap_missing": ~Y, "ap_wrong": Y}
    for name, part in parts.items():
        hit = errors[part]
        found[name] = average_precision_score(hit, cells[part]) if hit.any() else np.nan
    hit = errors.any(axis=1)
    found["ap_samples"] = average_precision_score(hit, samples)
    return found


def tasks(names, kinds, rates, seeds):
    for name in names:
        for kind in kinds:
            for rate in rates:
                for seed in seeds:
                    yield name, kind, rate, seed


def measure(path, sets, kinds, rates, seeds, methods):
    """Append the rows that are not there yet, and give all rows of the tasks."""
    rows = {tuple(row[k] for k in KEY): row for row in read(path)}
    loaded = {}
    wanted = []
    for task in tasks(sets, kinds, rates, seeds):
        name, kind, rate, seed = task
        keys = [tuple(map(str, (*task, p, m))) for p in ("tuned", "logistic") for m in methods]
        wanted += keys
        if all(key in rows for key in keys):
            continue
        if name not in loaded:
            loaded = {name: load(name, data_folder() / sets[name])}
        X, truth = loaded[name]
        errors = plant(truth, kind, rate, seed)
        Y = truth ^ errors
        for which, predict in (("tuned", tuned), ("logistic", logistic)):
            P = predict(X, Y)
            for method in methods:
                cells, samples = ours(Y, P) if method == OURS else theirs(Y, P, method)
                found = figures(errors, Y, cells, samples)
                row = dict(zip(KEY, map(str, (*task, which, method)), strict=True))
                row |= {k: f"{found[k]:.6g}" for k in FIGURES}
                rows[tuple(row[k] for k in KEY)] = row
                append(path, row)
    return [rows[key] for key in wanted]


def read(path):
    """Return the rows of the file, without a last one that was not written to its end."""
    if not path.exists():
        return []
    whole = path.read_text().rpartition("\n")[0]
    path.write_text(whole + "\n" if whole else "")
    with path.open(newline="") as stream:
        return [row for row in csv.DictReader(stream) if None not in row.values()]


def append(path, row):
    new = not path.exists() or not path.stat().st_size
    with path.open("a", newline="") as stream:
        out = csv.DictWriter(stream, (*KEY, *FIGURES), lineterminator="\n")
        if new:
            out.writeheader()
        out.writerow(row)


def means(rows, figure, *by):
    """Return the mean of a figure over the rows with the same values of some columns."""
    found = defaultdict(list)
    for row in rows:
        found[tuple(row[k] for k in by)].append(float(row[figure]))
    return {key: float(np.nanmean(v)) if np.isfinite(v).any() else None for key, v in found.items()}


def table(rows, methods, kinds, figure):
    """Return a Markdown table of the means by set, and how often ours is the best."""
    found = means(rows, figure, "probabilities", "data", "kind", "method")
    names = list(dict.fromkeys(row["data"] for row in rows))
    lines = [
        f"| probabilities | data | {' | '.join(f'{k}: {m}' for k in kinds for m in methods)} |",
        "|---|---|" + len(kinds) * len(methods) * "---|",
    ]
    for which in ("tuned", "logistic"):
        for name in names:
            cells = []
            for kind in kinds:
                values = [found[which, name, kind, m] for m in methods]
                known = [v for v in values if v is not None]
                words = ["-" if v is None else f"{v:.3f}" for v in values]
                best = [v is not None and v == max(known) for v in values]
                cells += [f"**{w}**" if b else w for w, b in zip(words, best, strict=True)]
            lines.append(f"| {which} | {name} | {' | '.join(cells)} |")
    return lines


def wins(rows, methods, kinds):
    """Count the sets on which ours has the better mean over kinds, against each rival.

    "best" is the best of the rivals for each kind of errors, which nobody could choose beforehand.
    """
    found = means(rows, "ap", "probabilities", "data", "kind", "method")
    names = list(dict.fromkeys(row["data"] for row in rows))
    rivals = {m: [m] for m in methods if m != OURS}
    rivals |= {"best": list(rivals)} if rivals else {}
    return {
        f"{which}, {rival}": sum(
            sum(found[which, d, k, OURS] - max(found[which, d, k, m] for m in those) for k in kinds)
            > 0
            for d in names
        )
        for which in ("tuned", "logistic")
        for rival, those in rivals.items()
    }


def main(quick, more, output):
    try:
        import cleanlab  # noqa: F401
    except ImportError:
        methods = [OURS]
        print("cleanlab is not installed: pip install cleanlab compares it")
    else:
        methods = [OURS, *THEIRS]
    sets = {k: SETS[k] for k in ("emotions", "medical")} if quick else MORE if more else SETS
    kinds = KINDS[:2] if quick else KINDS
    rates, seeds = ((0.05,), (0,)) if quick else (RATES, (0, 1, 2))
    rows = measure(output, sets, kinds, rates, seeds, methods)
    lines = []
    for title, figure in (
        ("Average precision over all cells, mean over rates and draws.", "ap"),
        ("Precision among as many cells as errors were planted.", "precision"),
        ("Average precision over the cells that are not given (missing labels).", "ap_missing"),
        ("Average precision over the given labels (wrong labels).", "ap_wrong"),
        ("Average precision over samples: at least one planted error.", "ap_samples"),
    ):
        lines += [title, "", *table(rows, methods, kinds, figure), ""]
    found = wins(rows, methods, ("flipped", "missing"))
    lines += [f"Better on, of {len(sets)} sets (flipped and missing): {found}.", ""]
    mean = means(rows, "ap", "probabilities", "kind", "method")
    figures_ = {" ".join(key): round(value, 4) for key, value in mean.items() if value is not None}
    finish("label_issues", {"ap": figures_, "better_on": found}, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two sets, one rate, one draw")
    parser.add_argument("--more", action="store_true", help="other data sets than the eight")
    parser.add_argument(
        "--output", type=Path, default=Path("runs/label_issues.csv"), help="the CSV file"
    )
    given = parser.parse_args()
    given.output.parent.mkdir(parents=True, exist_ok=True)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main(given.quick, given.more, given.output)
