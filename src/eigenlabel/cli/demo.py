"""``demo``: a tuned model on the embedded data, beside what one would pick otherwise."""

import argparse
import time
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer

from eigenlabel import catalogue, metrics, report
from eigenlabel.cli.common import check_output, format_table
from eigenlabel.cli.pages import about, peak_mib
from eigenlabel.datasets import Dataset, load_debtags
from eigenlabel.inputs.validation import check_number

FIGURES = ("f1_macro", "f1_micro", "auc_macro", "ranking_loss")
RIVALS = {
    "one-vs-rest linear SVM": "linear-svm-plain",
    "the same with our thresholds": "linear-svm",
    "shared subspace, tuned": "shared-subspace",
}


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Register the command."""
    demo = commands.add_parser(
        "demo",
        help="tune a model on Debian's packages and their tags, with a page to look at",
        description="Learn the tags of some packages of Debian 12 from words, dependencies and "
        "section, predict those of packages from other sources, and write a page that shows the "
        "result. Takes about half a minute.",
    )
    demo.add_argument("--samples", type=int, default=2000, help="training packages (default 2000)")
    demo.add_argument(
        "--min-positives", type=int, default=100, help="leave rarer tags out (default 100)"
    )
    demo.add_argument("--seed", type=int, default=0, help="of the draw of packages (default 0)")
    demo.add_argument("--report", metavar="PAGE", default="eigenlabel-demo.html")
    demo.set_defaults(run=_demo)


def _draw(arguments: argparse.Namespace) -> tuple[Dataset, np.ndarray, np.ndarray]:
    """Give packages whose tags all occur in the training part, and the two parts."""
    data = load_debtags(min_positives=arguments.min_positives)
    train, test = data.splits["by source"]
    check_number("samples", arguments.samples, 50, len(train), integer=True)
    rng = np.random.default_rng(arguments.seed)
    train = np.sort(rng.choice(train, arguments.samples, replace=False))
    seen = np.flatnonzero(data.Y[train].sum(axis=0) > 1)
    return data.subset(labels=seen), train, test


def _demo(arguments: argparse.Namespace) -> None:
    check_output(arguments.report)
    data, train, test = _draw(arguments)
    print(data)
    print(f"{len(train)} packages to learn from, {len(test)} of other sources to predict.\n")
    weigh = TfidfTransformer(sublinear_tf=True).fit(data.X[train])
    X, X_test = weigh.transform(data.X[train]), weigh.transform(data.X[test])
    Y, Y_test = data.Y[train].toarray(), data.Y[test].toarray()
    rows, steps = [], []
    for title, name in RIVALS.items():
        start = time.perf_counter()
        model = catalogue.make(name).fit(X, Y)
        seconds = time.perf_counter() - start
        scores, decided = model.decision_function(X_test), model.predict(X_test)
        found = metrics.evaluate(Y_test, scores, decided)
        rows.append([title, *(found[figure] for figure in FIGURES), seconds])
        steps.append((title, seconds, peak_mib()))
    words = [[r[0], *(f"{v:.3f}" for v in r[1:-1]), f"{r[-1]:.1f}"] for r in rows]
    print(format_table(("", *FIGURES, "seconds"), words))
    _print_model(model, data)
    _print_examples(data, test, decided)
    page = report.page(
        "Tags of Debian packages",
        _sections(rows, steps, model, (data, Y_test, scores, decided)),
        subtitle=f"{len(train)} packages to learn {Y.shape[1]} tags from, {len(test)} to predict",
        about=about(arguments),
    )
    print(f"\nOpen the page in a browser: {report.write(page, arguments.report)}")


def _sections(rows: list[Any], steps: list[Any], model: Any, result: Any) -> list[dict[str, Any]]:
    data, Y_test, scores, decided = result
    names = data.label_names
    best = [
        None,
        *("max" if metrics.METRICS[f].greater_is_better else "min" for f in FIGURES),
        None,
    ]
    return [
        report.table("Against one-vs-rest", ["method", *FIGURES, "seconds"], rows, best=best),
        report.label_map(model, data.Y, names),
        report.surface(model),
        report.per_label(Y_test, decided, names),
        report.threshold_curves(Y_test, scores, model.thresholds_, names),
        report.resources(steps, note="Memory is the most that the program had until then."),
    ]


def _print_model(model: Any, data: Dataset) -> None:
    chosen = model.best_params_
    print(
        f"\nChosen: alpha {chosen['alpha']:g}, beta {chosen['beta']:g}, shared dimension "
        f"{chosen['n_components']}, out of {len(model.cv_results_['params'])} settings, each "
        "cross-validated exactly."
    )
    print("\nThe tags that weigh most in the first eigenlabels:")
    for k in range(min(4, model.n_components_)):
        loading = model.eigenlabels_[:, k]
        strongest = np.argsort(-np.abs(loading))[:4]
        words = (f"{data.label_names[j]} {loading[j]:+.2f}" for j in strongest)
        print(f"  {k + 1}: {', '.join(words)}")


def _print_examples(data: Dataset, test: np.ndarray, decided: np.ndarray) -> None:
    print("\nSome packages it has not seen; + was given by people too, ? was not, - was missed:")
    typical = np.flatnonzero((data.Y[test].sum(axis=1) >= 5) & (data.Y[test].sum(axis=1) <= 7))
    for i in typical[:: max(1, len(typical) // 4)][:4]:
        true, found = data.Y[[test[i]]].toarray()[0] > 0, decided[i] > 0
        marks = [("+", true & found), ("?", found & ~true), ("-", true & ~found)]
        tags = [
            f"{sign}{data.label_names[j]}" for sign, mask in marks for j in np.flatnonzero(mask)
        ]
        print(f"  {data.sample_names[test[i]]}: {' '.join(tags)}")
