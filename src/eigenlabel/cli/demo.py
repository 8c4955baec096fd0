"""``eigenlabel demo``: a tuned model on the embedded data, compared with common alternatives."""

import argparse
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer

from eigenlabel import catalogue, metrics, report
from eigenlabel.cli.data_files import check_output
from eigenlabel.cli.label_errors import find_in, suspected_errors
from eigenlabel.cli.options import Command
from eigenlabel.cli.pages import about
from eigenlabel.cli.tables import format_table
from eigenlabel.datasets import Dataset, load_debtags
from eigenlabel.inputs.parameters import check_number
from eigenlabel.inspection import LabelIssues, explain
from eigenlabel.linalg._types import Ints
from eigenlabel.linalg.machine import peak_memory
from eigenlabel.thresholds import held_out_probabilities

FIGURES = ("f1_macro", "f1_micro", "auc_macro", "average_precision")
METHODS = {
    "one-vs-rest linear SVM": "linear-svm-plain",
    "shared subspace, tuned": "shared-subspace",
    "blend": "blend",
}
EXAMPLES, REASONS = 3, 3  # packages that are printed, and words for each of their tags


@dataclass
class _Results:
    """The models by name, and the results of each; predictions are those of the blend."""

    models: dict[str, Any] = field(default_factory=dict)
    rows: list[list[Any]] = field(default_factory=list)  # method, figures, seconds
    steps: list[tuple[str, float, float | None]] = field(default_factory=list)
    X: Any = None  # of the test packages, weighted
    probabilities: Any = None
    decided: Any = None

    @property
    def linear(self) -> Any:
        """The shared-subspace model."""
        return self.models["shared-subspace"]

    @property
    def blend(self) -> Any:
        """The blend."""
        return self.models["blend"]


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
    print("(average_precision ranks the tags of a package; all figures: higher is better)")
    _print_models(results, data)
    _print_examples(results, data, test)
    issues = find_in(*_held_out(results, data, train))
    _print_issue(issues)
    page = report.page(
        "Tags of Debian packages",
        [*_sections(results, data, test), suspected_errors(issues)],
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
        model = catalogue.make(name).fit(X, Y)
        seconds = time.perf_counter() - start
        known = hasattr(model, "predict_proba")
        scores = model.predict_proba(X_test) if known else model.decision_function(X_test)
        results.decided, results.probabilities = model.predict(X_test), scores
        found = metrics.evaluate(Y_test, scores, results.decided)
        results.models[name] = model
        results.rows.append([title, *(found[figure] for figure in FIGURES), seconds])
        results.steps.append((title, seconds, peak_memory()))
    return results


def _held_out(results: _Results, data: Dataset, train: Ints) -> tuple[Any, Any, Dataset, Ints]:
    """Return held-out probabilities and labels of the training packages, as find_in takes them."""
    part = data.subset(samples=train)
    Y = part.Y.toarray()
    return held_out_probabilities(results.blend.oof_scores_, Y), Y, part, np.arange(len(train))


def _sections(results: _Results, data: Dataset, test: Ints) -> list[dict[str, Any]]:
    names, Y_test = data.label_names, data.Y[test].toarray()
    better = ("max" if metrics.METRICS[f].greater_is_better else "min" for f in FIGURES)
    columns, best = ["method", *FIGURES, "seconds"], [None, *better, None]
    scores = results.blend.decision_function(results.X)
    return [
        report.table("Comparison with one-vs-rest", columns, results.rows, best=best),
        report.leaderboard(results.blend),
        report.per_label(Y_test, results.decided, names),
        report.label_details(
            results.linear,
            results.X,
            Y_test,
            results.decided,
            results.probabilities,
            names,
            sample_names=np.asarray(data.sample_names)[test],
            feature_names=data.feature_names,
            note="Mistakes are those of the blend; features and reasons are those of the "
            "shared-subspace model.",
        ),
        report.label_map(results.linear, data.Y, names),
        report.surface(results.linear),
        report.reliability(Y_test, results.probabilities),
        report.threshold_curves(Y_test, scores, results.blend.thresholds_, names),
        report.resources(results.steps, note="Memory is the peak of the process up to this step."),
    ]


def _print_models(results: _Results, data: Dataset) -> None:
    """Print what was chosen, the members of the blend, and the first eigenlabels."""
    model, chosen = results.linear, results.linear.best_params_
    print(
        f"\nShared subspace: alpha {chosen['alpha']:.3g}, beta {chosen['beta']:.3g}, dimension "
        f"{chosen['n_components']}, out of {len(model.cv_results_['params'])} settings, each "
        "with exact cross-validation."
    )
    blended = [row for row in results.blend.leaderboard_ if row["status"].startswith("blended")]
    members = ", ".join(f"{row['name']} {row['weight']:.2f}" for row in blended)
    print(f"Blend: weights of its members by held-out log-loss: {members}.")
    print("\nThe tags with the largest weights in the first eigenlabels:")
    for k in range(min(3, model.n_components_)):
        loading = model.eigenlabels_[:, k]
        strongest = np.argsort(-np.abs(loading))[:4]
        words = (f"{data.label_names[j]} {loading[j]:+.2f}" for j in strongest)
        print(f"  {k + 1}: {', '.join(words)}")


def _print_examples(results: _Results, data: Dataset, test: Ints) -> None:
    """Print the predicted tags of some packages: probability, truth and reasons."""
    names = np.asarray(data.sample_names)
    print("\nSome test packages: the probability of each predicted tag, and its strongest reasons")
    sizes = np.asarray(results.decided).sum(axis=1)
    typical = np.flatnonzero((sizes >= 3) & (sizes <= 4))
    for i in typical[:: max(1, len(typical) // EXAMPLES)][:EXAMPLES]:
        true = data.Y[[test[i]]].toarray()[0] > 0
        found = np.flatnonzero(results.decided[i])
        missed = int((true & ~(results.decided[i] > 0)).sum())
        print(f"  {names[test[i]]}" + f" ({missed} of its tags missed)" * bool(missed))
        shown = explain(
            results.linear,
            results.X[[i]],
            labels=found,
            n_top=REASONS,
            feature_names=data.feature_names,
            label_names=data.label_names,
        )
        for k, j in enumerate(found):
            truth = "right" if true[j] else "not tagged"
            reasons = zip(shown.names[0, k], shown.contributions[0, k], strict=True)
            words = ", ".join(str(word) for word, value in reasons if value > 0)
            p = results.probabilities[i, j]
            print(f"    {p:4.0%}  {data.label_names[j]} ({truth}): {words}")


def _print_issue(issues: LabelIssues) -> None:
    """Print the label that is most likely an error."""
    if len(issues):
        columns = issues.columns()
        sample, label, kind, score = (columns[k][0] for k in ("sample", "label", "kind", "score"))
        print(
            f"\nA suspected label error: {label} of {sample} may be {kind} (score {score:.2f}); "
            "the page lists more."
        )


DEMO = Command(_add_options, _demo)
