"""The pages that commands write: their sections and their notes on the run."""

import argparse
import os
import platform
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp
import sklearn
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_is_fitted

from eigenlabel import ThresholdedClassifier, __version__, report, thresholds
from eigenlabel.cli.data_files import dense
from eigenlabel.cli.label_errors import find_in, suspected_errors
from eigenlabel.cli.predictions import predict_with, probabilities_with
from eigenlabel.comparison import summarise
from eigenlabel.datasets import Dataset
from eigenlabel.experiment import Protocol, fit_split
from eigenlabel.linalg.machine import peak_memory
from eigenlabel.metrics import ALL_METRICS, evaluate
from eigenlabel.persistence import SavedModel
from eigenlabel.thresholds.rules import reads_probabilities, rule_of, values_for

MAX_NAMES = 3  # names in the title of a comparison
FEW_SPLITS = 10  # the smallest p-value is stated up to this number
HELD_OUT = (
    "Mistakes and their probabilities are held out: the model that made them had not seen the "
    "sample. Reasons are those of the final model, which has seen it, so that its score may differ."
)


def about(arguments: argparse.Namespace) -> dict[str, str]:
    """Return what a page states about its origin: command, date, versions and machine."""
    versions = {"eigenlabel": __version__, "Python": platform.python_version()}
    versions |= {m.__name__: m.__version__ for m in (np, scipy, sklearn)}
    return {
        "command": f"eigenlabel {arguments.command}",
        "date": time.strftime("%Y-%m-%d %H:%M"),
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }


def write_page(
    title: str,
    sections: list[dict[str, Any]],
    path: str,
    arguments: argparse.Namespace,
    subtitle: str = "",
) -> None:
    """Write a page and print its path."""
    page = report.page(title, sections, subtitle=subtitle, about=about(arguments))
    print(f"page: {report.write(page, path)}")


def model_sections(
    tuned: Any, data: Dataset, seconds: float, saved: SavedModel | None = None
) -> list[dict[str, Any]]:
    """Return the sections on a tuned model or a blend, with held-out scores.

    The saved model contains the preparation of the features too, so that it can be explained. If
    it keeps samples aside, its rule decides, and ``data`` are the other samples.
    """
    check_is_fitted(tuned)
    rows = np.flatnonzero(~np.isnan(tuned.oof_scores_).any(axis=1))
    Y, scores = data.Y[rows], tuned.oof_scores_[rows]
    known = getattr(tuned, "calibration", None) is not None and len(rows) > 1
    probabilities = thresholds.held_out_probabilities(scores, dense(Y)) if known else None
    suspected = []
    if probabilities is not None:
        suspected = [suspected_errors(find_in(probabilities, dense(data.Y), data, rows))]
    resources = report.resources([("tune and fit", seconds, peak_memory())])
    found = [report.leaderboard(tuned)] if hasattr(tuned, "leaderboard_") else []
    grid = [report.surface(tuned)] if hasattr(tuned, "score_grid_") else []
    if _has_nan(data.Y):
        return [*found, *grid, _not_observed(), *suspected, resources]
    part = tuned if saved is None or not hasattr(saved.model, "aside_") else saved.model
    rule, names = rule_of(part), data.label_names
    values = values_for(rule, scores, getattr(tuned, "calibration_", None))
    decided = rule.decide(values, part.thresholds_)
    details = _details(saved, data.subset(samples=rows), decided, scores, probabilities, HELD_OUT)
    mapped = getattr(tuned, "members_", {}).get("linear", tuned)
    labels = [report.label_map(mapped, data.Y, names)] if hasattr(mapped, "eigenlabels_") else []
    return [
        *found,
        report.per_label(Y, decided, names, title="Results by label, held out"),
        *details,
        *labels,
        *grid,
        *_reliability(Y, probabilities, "Reliability, held out"),
        report.threshold_curves(Y, values, part.thresholds_, names),
        *suspected,
        resources,
    ]


def _reliability(Y: Any, probabilities: Any, title: str) -> list[dict[str, Any]]:
    return [] if probabilities is None else [report.reliability(Y, probabilities, title=title)]


def _details(
    saved: SavedModel | None,
    data: Dataset,
    decided: Any,
    scores: Any,
    probabilities: Any,
    note: str = "",
) -> list[dict[str, Any]]:
    """Return the section on the features and mistakes of labels, if there is something to show."""
    values = scores if probabilities is None else probabilities
    if saved is None or values is None:
        return []
    model, member = _explained(saved.model)
    section = report.label_details(
        model,
        data.X,
        data.Y,
        decided,
        values,
        data.label_names,
        sample_names=data.sample_names,
        feature_names=saved.feature_names,
        scale="score" if probabilities is None else "probability",
        note=f"{note} {member}".strip(),
    )
    return [section]


def _explained(model: Any) -> tuple[Any, str]:
    """Return a model whose labels have features, and a note if it is a member of a blend."""
    last = model[-1] if isinstance(model, Pipeline) else model
    rows = getattr(last, "leaderboard_", ())  # by weight
    linear = [row["name"] for row in rows if row["name"] in ("linear", "presence")]
    linear = [name for name in linear if name in last.members_]
    if not linear:
        return model, ""
    name = linear[0]
    note = f"Features and reasons are those of the member {name!r} of the blend."
    member = last.members_[name]
    return make_pipeline(*model[:-1], member) if isinstance(model, Pipeline) else member, note


def _has_nan(Y: Any) -> bool:
    matrix: Any = Y
    return bool(np.isnan(matrix.data if sp.issparse(Y) else Y).any())


def _not_observed() -> dict[str, Any]:
    return report.text("Labels", "Not all labels are observed, so results by label are left out.")


def evaluated(saved: SavedModel, data: Dataset) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Return the metrics of a model on labelled data, and the sections that show them."""
    if not data.Y.sum():
        raise ValueError(f"{data.source} contains no labels to compare with.")
    scores, decided = (predict_with(saved, data.X, scores=which) for which in (True, False))
    probabilities = probabilities_with(saved, data.X)
    # Probabilities of different labels can be compared, scores hardly.
    ranked = scores if probabilities is None else probabilities
    found = evaluate(data.Y, ranked, decided, probabilities=probabilities)
    rows = [
        [k, v, "higher" if ALL_METRICS[k].greater_is_better else "lower"] for k, v in found.items()
    ]
    sections = [report.table("Metrics over all labels", ["metric", "value", "better"], rows)]
    names = data.label_names
    model = saved.model[-1] if isinstance(saved.model, Pipeline) else saved.model
    values = probabilities if _decides_on_probabilities(model) else scores
    more = _model_sections(model, data.Y, names, values, decided)
    if not _has_nan(data.Y):
        more += _details(saved, data, decided, scores, probabilities)
        more += _reliability(data.Y, probabilities, "Reliability of the probabilities")
    return found, [*sections, *more]


def _decides_on_probabilities(model: Any) -> bool:
    """Return True if the thresholds of a model are those of probabilities."""
    if not hasattr(model, "thresholds_"):
        return False
    return reads_probabilities(rule_of(model))


def _model_sections(
    model: Any, Y: Any, names: np.ndarray, values: Any, decided: Any
) -> list[dict[str, Any]]:
    """Return the sections that the attributes of a model allow, and the results by label on Y.

    ``values`` are what its thresholds refer to, scores or probabilities.
    """
    sections = []
    missing, inner = _has_nan(Y), _inner(model)
    if hasattr(inner, "eigenlabels_") and not missing:
        sections.append(report.label_map(inner, Y, names))
    if hasattr(inner, "score_grid_"):
        sections.append(report.surface(inner))
    if missing:
        return [*sections, _not_observed()]
    sections.append(report.per_label(Y, decided, names))
    if values is not None and hasattr(model, "thresholds_"):
        sections.append(report.threshold_curves(Y, values, model.thresholds_, names))
    return sections


def _inner(model: Any) -> Any:
    """Return the classifier inside of thresholds and pipelines."""
    if isinstance(model, Pipeline):
        return _inner(model[-1])
    return _inner(model.estimator_) if isinstance(model, ThresholdedClassifier) else model


def example_sections(protocol: Protocol, method: str) -> list[dict[str, Any]]:
    """Return sections on one fit of a method: on the first split of the first data set."""
    data = protocol.data[0].name
    run = fit_split(protocol, data, method, 0)
    names = run.data.label_names
    words = f"The sections below show one fit: {method} on the first split of {data}."
    values = run.probabilities if _decides_on_probabilities(run.model) else run.scores
    sections = _model_sections(run.model, run.data.Y[run.test], names, values, run.decided)
    return [report.text("A closer look", words), *sections]


def comparison_sections(
    records: Sequence[Mapping[str, Any]], metrics: Sequence[str], reference: str | None = None
) -> list[dict[str, Any]]:
    """Return sections on the records of several methods: means, tests, ranks, time and memory."""
    good = [r for r in records if "error" not in r]
    summary = summarise(good, metrics, reference)
    sections = []
    for data in dict.fromkeys(r["data"] for r in good):
        sections += [_means(data, summary), *_boxes(data, good, metrics)]
    sections += [_resources(good), *_tests(summary, reference or good[0]["method"])]
    for metric, found in summary.items():
        ranking = found["ranking"]
        if ranking is not None:
            over = "data sets" if len(found["means"]) > 1 else "splits"
            diagram = report.critical_difference(
                list(ranking.methods),
                ranking.ranks.tolist(),
                ranking.critical_difference,
                title=f"{metric}: average ranks over {over}",
                note=f"Friedman's test: p = {ranking.p_value:.3g}. The differences between "
                "methods joined by a bar are not significant (Nemenyi test, 5%).",
            )
            sections.append({**diagram, "folded": True})
    return [*sections, *_failures(records)]


def comparison_title(records: Sequence[Mapping[str, Any]]) -> str:
    """Return what is compared: the methods and the data sets, or their numbers if many."""
    parts = []
    for key, plural in (("method", "methods"), ("data", "data sets")):
        names = list(dict.fromkeys(str(r[key]) for r in records))
        *first, last = names
        listed = f"{', '.join(first)} and {last}" if first else last
        parts.append(listed if len(names) <= MAX_NAMES else f"{len(names)} {plural}")
    return "Comparison of {} on {}".format(*parts)


def comparison_subtitle(name: str, records: Sequence[Mapping[str, Any]]) -> str:
    """Return the name of a protocol, unless it is the one of the command, and its splits."""
    count = len({r["split"] for r in records})
    splits = f"{count} split{'s' * (count != 1)} of each data set"
    return splits if name in ("experiment", "compare") else f"{name}, {splits}"


def _boxes(
    data: str, records: Sequence[Mapping[str, Any]], metrics: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the box plots of each metric on a data set."""
    panels: dict[str, dict[str, list[float]]] = {}
    for metric in metrics:
        for record in records:
            if record["data"] == data and record["metrics"].get(metric) is not None:
                groups = panels.setdefault(f"{metric}{_better(metric)}", {})
                groups.setdefault(record["method"], []).append(record["metrics"][metric])
    section = report.boxes(f"{data}: results of the splits", panels)
    return [section] if section["panels"] else []


def _better(metric: str) -> str:
    return "" if ALL_METRICS[metric].greater_is_better else " (lower is better)"


def _means(data: str, summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table of the methods on one data set: mean and deviation of each metric."""
    found = {m: part["means"].get(data, {}) for m, part in summary.items()}
    methods = dict.fromkeys(method for row in found.values() for method in row)
    if not methods:
        return report.text(data, f"No method has what {', '.join(found)} read.")
    rows, counts = [], set()
    for method in methods:
        cells = [row.get(method, (None, None, 0)) for row in found.values()]
        rows.append([method, *(value for mean, std, _ in cells for value in (mean, std))])
        counts |= {n for _, _, n in cells}
    better = ["max" if ALL_METRICS[m].greater_is_better else "min" for m in found]
    return report.table(
        f"{data}: means",
        ["method", *(word for metric in found for word in (metric, "±"))],
        [[None if isinstance(v, float) and np.isnan(v) else v for v in row] for row in rows],
        note=f"Mean and standard deviation over {min(counts)} to {max(counts)} splits."
        if len(counts) > 1
        else f"Mean and standard deviation over {max(counts)} splits.",
        best=[None, *(word for b in better for word in (b, None))],
    )


def _tests(summary: Mapping[str, Any], reference: str) -> list[dict[str, Any]]:
    """Return one folded table of the tests of all metrics."""
    rows, counts = [], set()
    for metric, found in summary.items():
        for data, row in found["against"].items():
            for method, pair in row.items():
                counts.add(pair.wins + pair.ties + pair.losses)
                figures = (pair.wilcoxon, found["holm"][data, method], pair.t_test)
                record = f"{pair.wins} / {pair.ties} / {pair.losses}"
                rows.append(
                    [metric, data, method, pair.difference, record] + [f"{p:.3g}" for p in figures]
                )
    if not rows:
        return []
    columns = ["metric", "data", "against", "lead", "wins / ties / losses"]
    note = "All tests use the same splits. The t-test is corrected for overlapping training sets."
    section = report.table(
        f"Tests: {reference} against the others",
        [*columns, "Wilcoxon p", "after Holm", "t-test p"],
        rows,
        note=f"{note} {_smallest_p(min(counts))}".strip(),
    )
    return [{**section, "folded": True}]


def _smallest_p(n: int) -> str:
    """Return a sentence on the smallest p-value of Wilcoxon's test, if it is worth a warning."""
    if not 0 < n <= FEW_SPLITS:
        return ""
    smallest = 2.0 ** (1 - n)
    words = (
        f"With {n} split{'s' * (n > 1)}, the p-value of Wilcoxon's test cannot fall below "
        f"{smallest:.3g} (2 to the power of 1 - {n})"
    )
    return f"{words}: use at least 6 splits to reach 0.05." if smallest > 0.05 else f"{words}."


def _resources(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for record in records:
        found.setdefault((record["data"], record["method"]), []).append(record)
    rows = []
    for (data, method), group in found.items():
        peaks = [r["peak_mib"] for r in group if r["peak_mib"] is not None]
        seconds = float(np.median([sum(r["seconds"].values()) for r in group]))
        rows.append((f"{data}, {method}", seconds, max(peaks) if peaks else None))
    return report.resources(rows, note="Median time of a run, and largest peak memory of any run.")


def _failures(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    failed = [r for r in records if "error" in r]
    if not failed:
        return []
    rows = [[r["data"], r["method"], r["split"], r["error"]] for r in failed]
    return [report.table("Failed runs", ["data", "method", "split", "error"], rows)]
