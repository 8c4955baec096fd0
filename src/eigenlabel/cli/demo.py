"""``eigenlabel demo``: a tuned model on the embedded data, compared with common alternatives."""

import argparse
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer

from eigenlabel import catalogue, metrics, report
from eigenlabel.cli.data_files import check_output
from eigenlabel.cli.options import Command
from eigenlabel.cli.pages import about
from eigenlabel.cli.tables import format_table
from eigenlabel.datasets import Dataset, load_debtags
from eigenlabel.inputs.parameters import check_number
from eigenlabel.linalg._types import Ints
from eigenlabel.linalg.machine import peak_memory

FIGURES = ("f1_macro", "f1_micro", "auc_macro", "ranking_loss")
METHODS = {
    "one-vs-rest linear SVM": "linear-svm-plain",
    "the same with our thresholds": "linear-svm",
    "shared subspace, tuned": "shared-subspace",
}


@dataclass
class _Results:
    """The results of the methods; model, scores and decisions are those of the last one."""

    rows: list[list[Any]] = field(default_factory=list)  # method, figures, seconds
    steps: list[tuple[str, float, float | None]] = field(default_factory=list)
    model: Any = None
    X: Any = None  # of the test packages, weighted
    scores: Any = None
    decided: Any = None


def _add_options(demo: argparse.ArgumentParser) -> None:
    demo.add_argument(
        "--samples", type=int, default=2000, help="number of training packages (default 2000)"
    )
    demo.add_argument(
        "--min-positives",
        type=int,
        default=100,
        help="leave out tags that fewer packages have (default 100)",
    )
    demo.add_argument(
        "--seed", type=int, default=0, help="seed of the random choice of packages (default 0)"
    )
    demo.add_argument(
        "--report",
        metavar="PAGE",
        default="eigenlabel-demo.html",
        help="the HTML file (default eigenlabel-demo.html)",
    )


def _demo(arguments: argparse.Namespace) -> None:
    check_output(arguments.report)
    data, train, test = _draw(arguments)
    print(data)
    print(f"{len(train)} training packages, {len(test)} test packages from other sources.\n")
    results = _fit_methods(data, train, test)
    cells = [[r[0], *(f"{v:.3f}" for v in r[1:-1]), f"{r[-1]:.1f}"] for r in results.rows]
    print(format_table(("", *FIGURES, "seconds"), cells))
    _print_model(results.model, data)
    _print_examples(data, test, results.decided)
    page = report.page(
        "Tags of Debian packages",
        _sections(results, data, test),
        subtitle=f"{data.Y.shape[1]} tags, {len(train)} training and {len(test)} test packages",
        about=about(arguments),
    )
    print(f"\nOpen the page in a browser: {report.write(page, arguments.report)}")


def _draw(arguments: argparse.Namespace) -> tuple[Dataset, Ints, Ints]:
    """Return the data, with tags of the training packages only, and the rows of the two parts."""
    check_number("seed", arguments.seed, 0, integer=True)
    data = load_debtags(min_positives=arguments.min_positives)
    if not data.Y.shape[1]:  # no tag is that frequent
        most = load_debtags(min_positives=0).Y.sum(axis=0).max()
        check_number("min_positives", arguments.min_positives, 0, int(most), integer=True)
    train, test = data.splits["by source"]
    check_number("samples", arguments.samples, 50, len(train), integer=True)
    rng = np.random.default_rng(arguments.seed)
    train = np.sort(rng.choice(train, arguments.samples, replace=False))
    seen = np.flatnonzero(data.Y[train].sum(axis=0) > 1)
    return data.subset(labels=seen), train, test


def _fit_methods(data: Dataset, train: Ints, test: Ints) -> _Results:
    """Fit each method to the training packages and evaluate it on the test packages."""
    weights = TfidfTransformer(sublinear_tf=True).fit(data.X[train])
    X, X_test = weights.transform(data.X[train]), weights.transform(data.X[test])
    Y, Y_test = data.Y[train].toarray(), data.Y[test].toarray()
    results = _Results(X=X_test)
    for title, name in METHODS.items():
        start = time.perf_counter()
        results.model = catalogue.make(name).fit(X, Y)
        seconds = time.perf_counter() - start
        results.scores = results.model.decision_function(X_test)
        results.decided = results.model.predict(X_test)
        found = metrics.evaluate(Y_test, results.scores, results.decided)
        results.rows.append([title, *(found[figure] for figure in FIGURES), seconds])
        results.steps.append((title, seconds, peak_memory()))
    return results


def _sections(results: _Results, data: Dataset, test: Ints) -> list[dict[str, Any]]:
    names, model, Y_test = data.label_names, results.model, data.Y[test].toarray()
    probabilities = model.predict_proba(results.X)
    better = ("max" if metrics.METRICS[f].greater_is_better else "min" for f in FIGURES)
    columns, best = ["method", *FIGURES, "seconds"], [None, *better, None]
    return [
        report.table("Comparison with one-vs-rest", columns, results.rows, best=best),
        report.per_label(Y_test, results.decided, names),
        report.label_details(
            model,
            results.X,
            Y_test,
            results.decided,
            probabilities,
            names,
            sample_names=np.asarray(data.sample_names)[test],
            feature_names=data.feature_names,
        ),
        report.label_map(model, data.Y, names),
        report.surface(model),
        report.reliability(Y_test, probabilities),
        report.threshold_curves(Y_test, results.scores, model.thresholds_, names),
        report.resources(results.steps, note="Memory is the peak of the process up to this step."),
    ]


def _print_model(model: Any, data: Dataset) -> None:
    chosen = model.best_params_
    print(
        f"\nChosen: alpha {chosen['alpha']:g}, beta {chosen['beta']:g}, shared dimension "
        f"{chosen['n_components']}, out of {len(model.cv_results_['params'])} settings, each "
        "with exact cross-validation."
    )
    print("\nThe tags with the largest weights in the first eigenlabels:")
    for k in range(min(4, model.n_components_)):
        loading = model.eigenlabels_[:, k]
        strongest = np.argsort(-np.abs(loading))[:4]
        words = (f"{data.label_names[j]} {loading[j]:+.2f}" for j in strongest)
        print(f"  {k + 1}: {', '.join(words)}")


def _print_examples(data: Dataset, test: Ints, decided: Any) -> None:
    """Print the true and the predicted tags of some packages with five to seven tags."""
    print("\nSome test packages: + predicted correctly, ? predicted but not tagged, - missed:")
    names = np.asarray(data.sample_names)
    typical = np.flatnonzero((data.Y[test].sum(axis=1) >= 5) & (data.Y[test].sum(axis=1) <= 7))
    for i in typical[:: max(1, len(typical) // 4)][:4]:
        true, found = data.Y[[test[i]]].toarray()[0] > 0, decided[i] > 0
        marks = [("+", true & found), ("?", found & ~true), ("-", true & ~found)]
        tags = [
            f"{sign}{data.label_names[j]}" for sign, mask in marks for j in np.flatnonzero(mask)
        ]
        print(f"  {names[test[i]]}: {' '.join(tags)}")


DEMO = Command(
    "demo",
    "tune a model on Debian's packages and their tags, and write a page that shows it",
    "Learn the tags of some packages of Debian 12 from their words, dependencies "
    "and section, predict the tags of packages from other sources, and write a page that "
    "shows the result. This takes about half a minute.",
    _add_options,
    _demo,
)
