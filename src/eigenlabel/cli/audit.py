"""``eigenlabel audit``: the labels of a data file that are likely wrong or missing."""

import argparse
import csv
import sys
import time
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

from eigenlabel import SharedSubspaceClassifierCV, report
from eigenlabel.cli.data_files import (
    add_data_options,
    check_output,
    dense,
    read_data,
    reader_options,
)
from eigenlabel.cli.label_errors import (
    EXPLANATION,
    ON_PAGE,
    count_issues,
    find_issues,
    first_rows,
    given_labels,
    issues_table,
)
from eigenlabel.cli.messages import print_notes
from eigenlabel.cli.options import Command, folds, positive
from eigenlabel.cli.pages import about
from eigenlabel.cli.tables import format_table
from eigenlabel.datasets import DataError
from eigenlabel.datasets.files.atomic import writing
from eigenlabel.inputs.progress import watched
from eigenlabel.inspection import LabelIssues
from eigenlabel.linalg.machine import peak_memory
from eigenlabel.preprocessing import make_preparation
from eigenlabel.preprocessing.preparation import PREPARATIONS

PRINTED, LABELS_ON_PAGE = 10, 300  # rows of a table
MOST_ROWS, LEAST_SCORE = 1000, 0.1  # of the rows of a file, if their number is not given
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
        "--rows",
        type=positive,
        help="rows of the CSV file (default: the labels that are errors with a probability of "
        f"{LEAST_SCORE:g} or more, at most {MOST_ROWS:,})",
    )
    audit.add_argument(
        "--cv", type=folds, default=5, metavar="K", help="number of folds (default 5)"
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
    if n < arguments.cv:
        problem = f"{n} samples are too few for {arguments.cv} folds; use fewer with --cv"
        raise DataError(arguments.data, problem)
    start = time.perf_counter()
    Y = dense(data.Y)
    prepare = make_preparation(arguments.prepare, data.X, **data.layout)
    with watched():
        model = make_pipeline(prepare, SharedSubspaceClassifierCV(cv=arguments.cv)).fit(data.X, Y)
    issues = find_issues(model[-1].oof_scores_, Y, data)
    seconds = time.perf_counter() - start
    shown = _count_rows(issues, arguments.rows)
    _write(issues, arguments.output, shown)
    _print(issues, shown)
    print(f"\n{_written(shown)} {arguments.output}")
    if arguments.report:
        page = report.page(
            f"Labels of {data.source}",
            _sections(issues, seconds),
            subtitle=count_issues(issues),
            about=about(arguments),
        )
        print(f"page: {report.write(page, arguments.report)}")


def _count_rows(issues: LabelIssues, wanted: int | None) -> int:
    """Return the number of rows of the file."""
    if wanted is not None:
        return min(len(issues), wanted)
    return min(int(np.count_nonzero(issues.scores >= LEAST_SCORE)), MOST_ROWS)


def _write(issues: LabelIssues, path: str, rows: int) -> None:
    """Write the first issues as CSV. A failure leaves no partial file."""
    columns = issues.columns()
    table = [columns[name][:rows].tolist() for name in WRITTEN]
    with writing(path, "utf-8") as stream:
        out = csv.writer(stream, lineterminator="\n")
        out.writerow(WRITTEN)
        for row in zip(*table, strict=True):
            out.writerow([f"{v:.6g}" if isinstance(v, float) else v for v in row])


def _written(rows: int) -> str:
    """Return what the file contains."""
    if rows:
        return f"{rows} labels, the most suspicious first, written to"
    return f"no label is an error with a probability of {LEAST_SCORE:g} or more; no rows in"


def _print(issues: LabelIssues, written: int) -> None:
    """Print the first labels of the file, and the labels with most of them."""
    print(f"\n{count_issues(issues)}")
    if not written:
        return
    print()
    for name, header, rows in (
        ("cell", ("sample", "label", "kind", "score", "probability"), min(PRINTED, written)),
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
        issues_table("Labels that may be missing", issues.of_kind("missing")),
        issues_table("Labels that may be wrong", issues.of_kind("wrong")),
        report.table(
            "By label",
            ["label", "missing", "wrong", "share"],
            first_rows(
                LABELS_ON_PAGE, *(labels[k] for k in ("label", "missing", "wrong", "score"))
            ),
            note="Expected numbers of errors, and their share of all samples.",
        ),
        report.table(
            "By sample",
            ["sample", "score", "given labels"],
            first_rows(ON_PAGE, samples["sample"], samples["score"], given_labels(issues, order)),
            note="The score estimates the probability that at least one label is an error.",
        ),
        report.resources([("tune, fit and audit", seconds, peak_memory())]),
    ]


AUDIT = Command(_add_options, _audit)
