"""``eigenlabel audit``: the labels of a data file that are likely wrong or missing."""

import argparse
import csv
import sys
import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline

from eigenlabel import SharedSubspaceClassifierCV, report
from eigenlabel.cli.data_files import (
    add_data_options,
    check_output,
    dense,
    read_data,
    reader_options,
)
from eigenlabel.cli.messages import print_notes
from eigenlabel.cli.options import Command, positive
from eigenlabel.cli.pages import about
from eigenlabel.cli.tables import format_table
from eigenlabel.datasets import DataError, Dataset
from eigenlabel.datasets.files.atomic import writing
from eigenlabel.inputs.progress import watched
from eigenlabel.inspection import LabelIssues, find_label_issues
from eigenlabel.linalg._types import Floats, Ints, Matrix
from eigenlabel.linalg.machine import peak_memory
from eigenlabel.preprocessing import PREPARATIONS, make_preparation
from eigenlabel.thresholds import held_out_probabilities

PRINTED, ON_PAGE, LABELS_ON_PAGE = 10, 50, 300  # rows of a table
NAMES = 300  # characters of the given labels of a sample
WRITTEN = ("sample", "label", "kind", "given", "suggested", "score", "probability")


def _add_options(audit: argparse.ArgumentParser) -> None:
    audit.add_argument(
        "data", metavar="DATA", help="a file, a known data set (see 'datasets list'), or debtags"
    )
    audit.add_argument(
        "-o",
        "--output",
        metavar="CSV",
        required=True,
        help="the CSV file to write, with one row for each suspicious label of a sample",
    )
    audit.add_argument("--report", metavar="PAGE", help="write an HTML page to this file")
    audit.add_argument(
        "--rows", type=positive, default=1000, help="rows of the CSV file (default 1000)"
    )
    audit.add_argument(
        "--cv", type=positive, default=5, metavar="K", help="number of folds (default 5)"
    )
    audit.add_argument(
        "--prepare",
        choices=PREPARATIONS,
        default="auto",
        help="preparation of the features (default auto)",
    )
    add_data_options(audit)


def _audit(arguments: argparse.Namespace) -> None:
    check_output(arguments.output, arguments.data)
    check_output(arguments.report, arguments.data, arguments.output)
    data = read_data(arguments.data, reader_options(arguments))
    print(data)
    print_notes(data.notes, stream=sys.stdout)
    n = data.X.shape[0]
    if n < max(arguments.cv, 2):
        problem = f"{n} samples are too few for {arguments.cv} folds; use fewer with --cv"
        raise DataError(arguments.data, problem)
    start = time.perf_counter()
    Y = dense(data.Y)
    prepare = make_preparation(arguments.prepare, data.X, **data.layout)
    with watched():
        model = make_pipeline(prepare, SharedSubspaceClassifierCV(cv=arguments.cv)).fit(data.X, Y)
    issues = _find(model[-1].oof_scores_, Y, data)
    seconds = time.perf_counter() - start
    _write(issues, arguments.output, arguments.rows)
    _print(issues)
    shown = min(len(issues), arguments.rows)
    print(f"\n{shown} labels, the most suspicious first, written to {arguments.output}")
    if arguments.report:
        page = report.page(
            f"Labels of {data.source}",
            _sections(issues, seconds),
            subtitle=_found(issues),
            about=about(arguments),
        )
        print(f"page: {report.write(page, arguments.report)}")


def _find(scores: Floats, Y: Any, data: Dataset) -> LabelIssues:
    """Return the issues among the samples that have a held-out score."""
    rows = np.flatnonzero(np.isfinite(scores).all(axis=1))
    names = rows if data.sample_names is None else np.asarray(data.sample_names)[rows]
    return find_label_issues(
        Y[rows],
        held_out_probabilities(scores[rows], Y[rows]),
        label_names=data.label_names,
        sample_names=names,
    )


def _write(issues: LabelIssues, path: str, rows: int) -> None:
    """Write the first issues as CSV. A failure leaves no partial file."""
    columns = issues.columns()
    table = [columns[name][:rows].tolist() for name in WRITTEN]
    with writing(path, "utf-8") as stream:
        out = csv.writer(stream, lineterminator="\n")
        out.writerow(WRITTEN)
        for row in zip(*table, strict=True):
            out.writerow([f"{v:.6g}" if isinstance(v, float) else v for v in row])


def _found(issues: LabelIssues) -> str:
    """Return how many errors are expected and suggested, in words."""
    missing, wrong = issues.label_missing.sum(), issues.label_wrong.sum()
    likely = issues.suggested()
    counts = [len(likely.of_kind(kind)) for kind in ("missing", "wrong")]
    return (
        f"about {missing:.0f} missing and {wrong:.0f} wrong labels are expected; "
        f"{counts[0]} missing and {counts[1]} wrong ones have a score of at least 0.5"
    )


def _print(issues: LabelIssues) -> None:
    print(f"\n{_found(issues)}\n")
    for name, header, rows in (
        ("cell", ("sample", "label", "kind", "score", "probability"), PRINTED),
        ("label", ("label", "missing", "wrong"), PRINTED // 2),
    ):
        columns = issues.columns(name)
        table = zip(*(columns[key][:rows].tolist() for key in header), strict=True)
        words = [[f"{v:.3g}" if isinstance(v, float) else str(v) for v in row] for row in table]
        print(format_table(header, words) + ("\n" if name == "cell" else ""))


def _sections(issues: LabelIssues, seconds: float) -> list[dict[str, Any]]:
    """Return the sections of the page: what the scores mean, cells, labels, samples, resources."""
    labels, samples = issues.columns("label"), issues.columns("sample")
    order = np.argsort(-issues.sample_scores, kind="stable")[:ON_PAGE]
    return [
        report.text("How to read this page", EXPLANATION),
        _cells("Labels that may be missing", issues.of_kind("missing")),
        _cells("Labels that may be wrong", issues.of_kind("wrong")),
        report.table(
            "By label",
            ["label", "missing", "wrong", "share"],
            _rows(LABELS_ON_PAGE, *(labels[k] for k in ("label", "missing", "wrong", "score"))),
            note="Expected numbers of errors, and their share of all samples.",
        ),
        report.table(
            "By sample",
            ["sample", "score", "given labels"],
            _rows(ON_PAGE, samples["sample"], samples["score"], _given_labels(issues, order)),
            note="The score estimates the probability that at least one label is an error.",
        ),
        report.resources([("tune, fit and audit", seconds, peak_memory())]),
    ]


EXPLANATION = [
    "Each label of each sample was predicted by a model that was fitted without this sample, and "
    "from the other labels of the sample. A label that is not given may be missing if both speak "
    "for it. A given label may be wrong if both speak against it.",
    "The score estimates the probability that the given label is an error. The column "
    '"probability" is that of the label by the model alone, "with other labels" takes the other '
    "labels of the sample into account. No label was changed.",
]


def _cells(title: str, issues: LabelIssues) -> dict[str, Any]:
    """Return a table of the most suspicious cells."""
    columns = issues.columns()
    given = _given_labels(issues, issues.samples[:ON_PAGE])
    cells = (columns[key] for key in ("sample", "label", "score", "probability", "combined"))
    return report.table(
        title,
        ["sample", "label", "score", "probability", "with other labels", "given labels"],
        _rows(ON_PAGE, *cells, given),
        note=f"The first {ON_PAGE} of them." if len(issues) > ON_PAGE else "",
    )


def _rows(count: int, first: Any, *columns: Any) -> list[list[Any]]:
    """Return the first rows of a table from its columns; the first column holds names."""
    names = map(str, np.asarray(first)[:count].tolist())  # the name of a sample may be its number
    listed = (np.asarray(column)[:count].tolist() for column in columns)
    return [list(row) for row in zip(names, *listed, strict=True)]


def _given_labels(issues: LabelIssues, samples: Ints) -> list[str]:
    """Return the names of the labels that samples are given, as one text for each sample."""
    Y: Matrix = issues.Y
    sparse = sp.issparse(Y)
    rows = Y[samples].toarray() if sparse else np.asarray(Y)[samples]
    names = np.asarray(issues.label_names)
    texts = (", ".join(names[np.flatnonzero(row == 1)].tolist()) for row in rows)
    return [text if len(text) <= NAMES else text[: NAMES - 1] + "…" for text in texts]


AUDIT = Command(
    "audit",
    "find the labels of a data file that are likely wrong or missing",
    "Tune a shared-subspace model, and rank the labels of all samples by how much the held-out "
    "probabilities and the other labels of the sample contradict them. No label is changed.",
    _add_options,
    _audit,
)
