"""What the commands show on their pages."""

import argparse
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy
import sklearn
from sklearn.utils.validation import check_is_fitted

from eigenlabel import __version__, report, thresholds
from eigenlabel.comparison import summarise
from eigenlabel.datasets import Dataset
from eigenlabel.experiment import scores_of
from eigenlabel.metrics import METRICS, evaluate
from eigenlabel.persistence import SavedModel


def about(arguments: argparse.Namespace) -> dict[str, str]:
    """Tell how a page came about."""
    versions = {"eigenlabel": __version__, "Python": platform.python_version()}
    versions |= {m.__name__: m.__version__ for m in (np, scipy, sklearn)}
    return {
        "command": f"eigenlabel {arguments.command}",
        "date": time.strftime("%Y-%m-%d %H:%M"),
        "versions": ", ".join(f"{name} {version}" for name, version in versions.items()),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }


def peak_mib() -> float | None:
    """Give the most memory this process had at once, in MiB, where it is known."""
    try:
        import resource  # noqa: PLC0415  not on Windows
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def model_sections(tuned: Any, data: Dataset, seconds: float) -> list[dict[str, Any]]:
    """Show a tuned shared-subspace model by its own training data: all figures are held out."""
    check_is_fitted(tuned)
    rows = np.flatnonzero(~np.isnan(tuned.oof_scores_).any(axis=1))
    Y, scores = data.Y[rows], tuned.oof_scores_[rows]
    decided = thresholds.get_rule(tuned.threshold).decide(scores, tuned.thresholds_)
    names = data.label_names
    return [
        report.label_map(tuned, data.Y, names),
        report.surface(tuned),
        report.per_label(Y, decided, names, title="Label by label, held out"),
        report.threshold_curves(Y, scores, tuned.thresholds_, names),
        report.resources([("tune and fit", seconds, peak_mib())]),
    ]


def evaluated(saved: SavedModel, data: Dataset) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Give a model's figures on data with known labels, and the sections that show them."""
    if not data.Y.sum():
        raise ValueError(f"{data.source} has no labels to compare with.")
    scores, decided = scores_of(saved.model, data.X), saved.model.predict(data.X)
    found = evaluate(data.Y, scores, decided)
    rows = [[k, v, "higher" if METRICS[k].greater_is_better else "lower"] for k, v in found.items()]
    sections = [report.table("All labels together", ["metric", "value", "better"], rows)]
    last = saved.model[-1]
    if hasattr(last, "eigenlabels_"):
        sections.append(report.label_map(last, data.Y, data.label_names))
    sections.append(report.per_label(data.Y, decided, data.label_names))
    if scores is not None and hasattr(last, "thresholds_"):
        sections.append(report.threshold_curves(data.Y, scores, last.thresholds_, data.label_names))
    return found, sections


def comparison_sections(
    records: Sequence[Mapping[str, Any]], metrics: Sequence[str], reference: str | None = None
) -> list[dict[str, Any]]:
    """Show the records of several methods: means, tests, ranks, time and memory."""
    good = [r for r in records if "error" not in r]
    summary = summarise(good, metrics, reference)
    sections = []
    for metric, found in summary.items():
        sections.append(_means(metric, found))
        sections.append(_tests(metric, found, reference or good[0]["method"]))
        ranking = found["ranking"]
        if ranking is not None:
            over = "data sets" if len(found["means"]) > 1 else "splits"
            sections.append(
                report.critical_difference(
                    list(ranking.methods),
                    ranking.ranks.tolist(),
                    ranking.critical_difference,
                    title=f"{metric}: average ranks over {over}",
                    note=f"Friedman's test: p = {ranking.p_value:.3g}. Methods joined by a bar "
                    "cannot be told apart (Nemenyi, 5%).",
                )
            )
    return [*(s for s in sections if s is not None), _resources(good), *_failures(records)]


def _means(metric: str, found: Mapping[str, Any]) -> dict[str, Any]:
    methods = list(dict.fromkeys(m for row in found["means"].values() for m in row))
    better = "max" if METRICS[metric].greater_is_better else "min"
    rows = [
        [m, *(row[m][0] if m in row else None for row in found["means"].values())] for m in methods
    ]
    spread = "; ".join(
        f"{data}: " + ", ".join(f"{m} {row[m][1]:.4f}" for m in row)
        for data, row in found["means"].items()
    )
    return report.table(
        metric,
        ["method", *found["means"]],
        rows,
        note=f"Means over splits. Standard deviations: {spread}.",
        best=[None, *[better] * len(found["means"])],
    )


def _tests(metric: str, found: Mapping[str, Any], reference: str) -> dict[str, Any] | None:
    rows = [
        [
            *(data, method, pair.difference, f"{pair.wins} / {pair.ties} / {pair.losses}"),
            *(f"{pair.wilcoxon:.3g}", f"{found['holm'][data, method]:.3g}", f"{pair.t_test:.3g}"),
        ]
        for data, row in found["against"].items()
        for method, pair in row.items()
    ]
    if not rows:
        return None
    return report.table(
        f"{metric}: {reference} against the others",
        ["data", "against", "lead", "wins / ties / losses", "Wilcoxon p", "after Holm", "t-test p"],
        rows,
        note="Over the same splits. The t-test is corrected for overlapping training parts.",
    )


def _resources(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for record in records:
        found.setdefault((record["data"], record["method"]), []).append(record)
    rows = []
    for (data, method), group in found.items():
        peaks = [r["peak_mib"] for r in group if r["peak_mib"] is not None]
        seconds = float(np.median([sum(r["seconds"].values()) for r in group]))
        rows.append((f"{data}, {method}", seconds, max(peaks) if peaks else None))
    return report.resources(rows, note="Median seconds of a run; most memory of any run.")


def _failures(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    failed = [r for r in records if "error" in r]
    if not failed:
        return []
    rows = [[r["data"], r["method"], r["split"], r["error"]] for r in failed]
    return [report.table("Runs that failed", ["data", "method", "split", "error"], rows)]
