"""What a blend of models adds to the linear model, to each member, and to equal weights.

On each set and split, the members of MultilabelBlend that read the samples are fitted once. Its
weights are then fitted in three ways, each member is taken alone, and "blend - labels" and
"blend - sets" do without a member that reads the blend of the others; --ablation leaves out each of
the others as well. Members were chosen on split 0 of these sets, so that splits 1 and 2 judge that
choice.
"linear, raw" is SharedSubspaceClassifierCV without calibration, whose scores rank the labels.
"logistic" is one-vs-rest LogisticRegression whose C is chosen by grid search; it is fitted to the
sets of --logistic only, because it takes long. Choices never see test samples. Seconds are
processor time of ``fit``, or of a member alone. The rows are kept in results/blend.csv, and a run
goes on where it stopped.
"""

import argparse
import time
from unittest.mock import patch

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from threadpoolctl import threadpool_limits

from _common import finish
from _rows import Rows
from _sets import SETS, load_split
from eigenlabel import MultilabelBlend, SharedSubspaceClassifierCV, ThresholdedClassifier, metrics
from eigenlabel.estimators.meta.blend import blend as module
from eigenlabel.estimators.meta.blend.budget import Budget
from eigenlabel.estimators.meta.blend.members import RECIPES

FIGURES = ("f1_macro", "f1_micro", "auc", "map", "lrap", "log_loss")
WEIGHTS = ("by_label", "shared", "equal")
EXTRA = ("gaussian", "margin")  # not default members
SECOND = ("labels", "sets")  # members that read the blend of the others


def figures(Y, predicted, P, calibrated=True):
    """Return the figures of predictions; scores that are no probabilities have no log-loss."""
    return {
        "f1_macro": metrics.f1_macro(Y, predicted),
        "f1_micro": metrics.f1_micro(Y, predicted),
        "auc": metrics.auc_macro(Y, P),
        "map": metrics.label_average_precision(Y, P),
        "lrap": metrics.average_precision(Y, P, trivial="count"),
        "log_loss": metrics.log_loss(Y, P) if calibrated else float("nan"),
    }


def timed(model, data):
    start = time.process_time()
    model.fit(data.X, data.Y)
    return time.process_time() - start


def measure_blend(model, data):
    P = model.predict_proba(data.X_test)
    return figures(data.Y_test, model.predict(data.X_test), P)


def fit_linear(data):
    model = SharedSubspaceClassifierCV(calibration=None)
    seconds = timed(model, data)
    scores = model.decision_function(data.X_test)
    return seconds, figures(data.Y_test, model.predict(data.X_test), scores, calibrated=False)


def fit_logistic(data):
    one = OneVsRestClassifier(LogisticRegression(solver="liblinear"))
    search = GridSearchCV(one, {"estimator__C": [0.1, 1.0, 10.0, 100.0]}, scoring="f1_macro", cv=5)
    seconds = timed(search, data)
    plain = ThresholdedClassifier(search.best_estimator_, strategy="zero").fit(data.X, data.Y)
    P = search.predict_proba(data.X_test)
    return seconds, figures(data.Y_test, plain.predict(data.X_test), P)


def by_cpu(seconds):
    """Return a budget that measures processor time."""
    return Budget(seconds, time.process_time)


def fit_blends(data, seed, extra, ablation):
    """Yield the name, the seconds and the figures of each blend and member, from one fit each."""
    kept = []

    def remember(*arguments):
        kept[:] = real(*arguments)
        return list(kept)

    real = module.fit_candidates

    def fit(model):
        with (
            patch.object(module, "fit_candidates", remember),
            patch.object(module, "Budget", by_cpu),
        ):
            return timed(model, data)

    model = MultilabelBlend(random_state=seed)
    seconds = fit(model)
    yield "blend", seconds, measure_blend(model, data)
    default = list(kept)
    names = [entry.name for entry in default]
    if extra:
        fit(MultilabelBlend(list(EXTRA), random_state=seed))
    others = [entry for entry in kept if entry.name in EXTRA]
    every = [*names, *SECOND]
    choices = {f"blend, {how}": (default, every, how) for how in WEIGHTS[1:]}
    for one in SECOND:
        choices[f"blend - {one}"] = (default, [n for n in every if n != one], WEIGHTS[0])
    for one in others:
        choices[f"blend + {one.name}"] = ([*default, one], every, WEIGHTS[0])
    for one in default if ablation and len(default) > 1 else ():
        rest = [other for other in default if other is not one]
        choices[f"blend - {one.name}"] = (rest, every, WEIGHTS[0])
    choices |= {one.name: ([one], names, WEIGHTS[0]) for one in [*default, *others]}
    for name, (entries, members, how) in choices.items():
        with patch.object(module, "fit_candidates", lambda *_, e=entries: list(e)):
            again = MultilabelBlend(members, weights=how, random_state=seed)
            again.fit(data.X, data.Y)
        alone = entries[0].seconds if len(entries) == 1 else float("nan")
        yield name, alone, measure_blend(again, data)


def run(rows, arguments):
    logistic = arguments.logistic
    for split in arguments.splits:
        for name in arguments.sets:
            todo = rows.missing(set=name, split=split, model="done")
            slow = name in logistic and rows.missing(set=name, split=split, model="logistic")
            if not todo and not slow:
                continue
            data = load_split(name, split, 1500, 3000)
            key = {"set": name, "split": split}
            if slow:
                add(rows, key, "logistic", *fit_logistic(data))
            if todo:
                add(rows, key, "linear, raw", *fit_linear(data))
                for model, seconds, found in fit_blends(
                    data, split, arguments.extra, arguments.ablation
                ):
                    add(rows, key, model, seconds, found)
                add(rows, key, "done", 0.0, dict.fromkeys(FIGURES, 0.0))
                print(name, split, flush=True)


def add(rows, key, model, seconds, found):
    if rows.missing(**key, model=model):
        rounded = {name: round(value, 5) for name, value in found.items()}
        rows.add(**key, model=model, seconds=round(seconds, 3), **rounded)


def main(arguments):
    rows = Rows("blend", ("set", "split", "model"), ("seconds", *FIGURES))
    run(rows, arguments)
    finished = {
        (r["set"], r["split"])
        for r in rows.rows
        if r["model"] == "done" and int(r["split"]) in arguments.splits
    }
    wanted = [r for r in rows.rows if (r["set"], r["split"]) in finished and r["model"] != "done"]
    columns = ("seconds", *FIGURES)
    lines = ["| model | " + " | ".join(columns) + " | runs |", "|---" * (len(columns) + 2) + "|"]
    found = {}
    for model in dict.fromkeys(r["model"] for r in wanted):
        some = [r for r in wanted if r["model"] == model]
        means = {c: float(np.mean([float(r[c]) for r in some])) for c in columns}
        found[model] = means
        cells = " | ".join(f"{means[c]:.4f}" for c in columns)
        lines.append(f"| {model} | {cells} | {len(some)} |")
    assert set(RECIPES) >= set(EXTRA)
    finish("blend", found, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--splits", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--logistic", nargs="*", default=[])
    parser.add_argument("--extra", action="store_true", help="fit gaussian and margin as well")
    parser.add_argument("--ablation", action="store_true", help="leave out each member in turn")
    with threadpool_limits(1):
        main(parser.parse_args())
