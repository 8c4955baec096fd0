"""The pages that commands write: their sections and their notes on the run."""

import argparse
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp
import sklearn
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from eigenlabel import __version__, report, thresholds
from eigenlabel.cli.predictions import predict_with
from eigenlabel.comparison import summarise
from eigenlabel.datasets import Dataset
from eigenlabel.experiment import Protocol, fit_split
from eigenlabel.metrics import METRICS, evaluate
from eigenlabel.persistence import SavedModel


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
    title: str, sections: list[dict[str, Any]], path: str, arguments: argparse.Namespace
) -> None:
    """Write a page and print its path."""
    page = report.page(title, sections, about=about(arguments))
    print(f"page: {report.write(page, path)}")


def peak_mib() -> float | None:
    """Return the peak memory of this process in MiB, or None if it is unknown."""
    try:
        import resource  # noqa: PLC0415  not on Windows
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def model_sections(tuned: Any, data: Dataset, seconds: float) -> list[dict[str, Any]]:
    """Return the sections on a tuned shared-subspace model, with held-out scores."""
    check_is_fitted(tuned)
    rows = np.flatnonzero(~np.isnan(tuned.oof_scores_).any(axis=1))
    Y, scores = data.Y[rows], tuned.oof_scores_[rows]
    decided = thresholds.get_rule(tuned.threshold).decide(scores, tuned.thresholds_)
    names = data.label_names
    resources = report.resources([("tune and fit", seconds, peak_mib())])
    if _has_nan(data.Y):
        return [report.surface(tuned), _not_observed(), resources]
    return [
        report.label_map(tuned, data.Y, names),
        report.surface(tuned),
        report.per_label(Y, decided, names, title="Results by label, held out"),
        report.threshold_curves(Y, scores, tuned.thresholds_, names),
        resources,
    ]


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
    found = evaluate(data.Y, scores, decided)
    rows = [[k, v, "higher" if METRICS[k].greater_is_better else "lower"] for k, v in found.items()]
    sections = [report.table("Metrics over all labels", ["metric", "value", "better"], rows)]
    names = data.label_names
    model = saved.model[-1] if isinstance(saved.model, Pipeline) else saved.model
    return found, [*sections, *_model_sections(model, data.Y, names, scores, decided)]


def _model_sections(
    model: Any, Y: Any, names: np.ndarray, scores: Any, decided: Any
) -> list[dict[str, Any]]:
    """Return the sections that the attributes of a model allow, and the results by label on Y."""
    sections = []
    missing = _has_nan(Y)
    if hasattr(model, "eigenlabels_") and not missing:
        sections.append(report.label_map(model, Y, names))
    if hasattr(model, "score_grid_"):
        sections.append(report.surface(model))
    if missing:
        return [*sections, _not_observed()]
    sections.append(report.per_label(Y, decided, names))
    if scores is not None and hasattr(model, "thresholds_"):
        sections.append(report.threshold_curves(Y, scores, model.thresholds_, names))
    return sections


def example_sections(protocol: Protocol, method: str) -> list[dict[str, Any]]:
    """Return sections on one fit of a method: on the first split of the first data set."""
    data = protocol.data[0].name
    run = fit_split(protocol, data, method, 0)
    names = run.data.label_names
    words = f"The sections below show one fit: {method} on the first split of {data}."
    sections = _model_sections(run.model, run.data.Y[run.test], names, run.scores, run.decided)
    return [report.text("A closer look", words), *sections]


def comparison_sections(
    records: Sequence[Mapping[str, Any]], metrics: Sequence[str], reference: str | None = None
) -> list[dict[str, Any]]:
    """Return sections on the records of several methods: means, tests, ranks, time and memory."""
    good = [r for r in records if "error" not in r]
    summary = summarise(good, metrics, reference)
    sections = [_means(data, summary) for data in dict.fromkeys(r["data"] for r in good)]
    for metric, found in summary.items():
        sections += _tests(metric, found, reference or good[0]["method"])
        ranking = found["ranking"]
        if ranking is not None:
            over = "data sets" if len(found["means"]) > 1 else "splits"
            sections.append(
                report.critical_difference(
                    list(ranking.methods),
                    ranking.ranks.tolist(),
                    ranking.critical_difference,
                    title=f"{metric}: average ranks over {over}",
                    note=f"Friedman's test: p = {ranking.p_value:.3g}. The differences between "
                    "methods joined by a bar are not significant (Nemenyi test, 5%).",
                )
            )
    return [*sections, _resources(good), *_failures(records)]


def _means(data: str, summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table of the methods on one data set: mean and deviation of each metric."""
    found = {m: part["means"].get(data, {}) for m, part in summary.items()}
    methods = dict.fromkeys(method for row in found.values() for method in row)
    rows, counts = [], set()
    for method in methods:
        cells = [row.get(method, (None, None, 0)) for row in found.values()]
        rows.append([method, *(value for mean, std, _ in cells for value in (mean, std))])
        counts |= {n for _, _, n in cells}
    better = ["max" if METRICS[m].greater_is_better else "min" for m in found]
    return report.table(
        data,
        ["method", *(word for metric in found for word in (metric, "±"))],
        [[None if isinstance(v, float) and np.isnan(v) else v for v in row] for row in rows],
        note=f"Mean and standard deviation over {min(counts)} to {max(counts)} splits."
        if len(counts) > 1
        else f"Mean and standard deviation over {max(counts)} splits.",
        best=[None, *(word for b in better for word in (b, None))],
    )


def _tests(metric: str, found: Mapping[str, Any], reference: str) -> list[dict[str, Any]]:
    rows = [
        [
            *(data, method, pair.difference, f"{pair.wins} / {pair.ties} / {pair.losses}"),
            *(f"{pair.wilcoxon:.3g}", f"{found['holm'][data, method]:.3g}", f"{pair.t_test:.3g}"),
        ]
        for data, row in found["against"].items()
        for method, pair in row.items()
    ]
    if not rows:
        return []
    title = f"{metric}: {reference} against the others"
    columns = ["data", "against", "lead", "wins / ties / losses", "Wilcoxon p", "after Holm"]
    note = "All tests use the same splits. The t-test is corrected for overlapping training sets."
    return [report.table(title, [*columns, "t-test p"], rows, note=note)]


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
