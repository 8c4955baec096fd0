"""Tables of labels that are likely wrong or missing, on the pages of ``audit`` and ``tune``."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel import report
from eigenlabel.datasets import Dataset
from eigenlabel.inspection import LabelIssues, find_label_issues
from eigenlabel.linalg._types import Floats, Ints, Matrix
from eigenlabel.thresholds import held_out_probabilities

ON_PAGE, BESIDE = 50, 25  # rows of a table on a page of its own, and on that of a model
NAMES, FEW_NAMES = 300, 100  # characters of the given labels of a sample there

EXPLANATION = [
    "Each label of each sample was predicted by a model that was fitted without this sample, and "
    "from the other labels of the sample. A label that is not given may be missing if both speak "
    "for it. A given label may be wrong if both speak against it.",
    "The score estimates the probability that the given label is an error. The column "
    '"probability" is that of the label by the model alone, "with other labels" takes the other '
    "labels of the sample into account. No label was changed.",
]


def find_issues(scores: Floats, Y: Any, data: Dataset) -> LabelIssues:
    """Return the issues among the samples that have a held-out score."""
    rows = np.flatnonzero(np.isfinite(scores).all(axis=1))
    return find_in(held_out_probabilities(scores[rows], Y[rows]), Y, data, rows)


def find_in(probabilities: Floats, Y: Any, data: Dataset, rows: Ints) -> LabelIssues:
    """Return the issues among some samples, by their held-out probabilities."""
    names = rows if data.sample_names is None else np.asarray(data.sample_names)[rows]
    return find_label_issues(
        Y[rows], probabilities, label_names=data.label_names, sample_names=names
    )


def suspected_errors(issues: LabelIssues) -> dict[str, Any]:
    """Return one table of the most suspicious labels, missing and wrong ones."""
    columns = issues.columns()
    cells = (columns[key] for key in ("sample", "label", "kind", "score", "probability"))
    return report.table(
        "Suspected label errors",
        ["sample", "label", "may be", "score", "probability", "given labels"],
        first_rows(BESIDE, *cells, given_labels(issues, issues.samples[:BESIDE], FEW_NAMES)),
        note=f"The score estimates the probability that a label is an error, from the held-out "
        f"probability and the other labels of the sample. {count_issues(issues).capitalize()}. "
        "The command eigenlabel audit lists more of them.",
    )


def count_issues(issues: LabelIssues) -> str:
    """Return how many errors are expected and suggested, in words."""
    missing, wrong = issues.label_missing.sum(), issues.label_wrong.sum()
    likely = issues.suggested()
    counts = [len(likely.of_kind(kind)) for kind in ("missing", "wrong")]
    return (
        f"about {missing:.0f} missing and {wrong:.0f} wrong labels are expected; "
        f"{counts[0]} missing and {counts[1]} wrong ones have a score of at least 0.5"
    )


def issues_table(title: str, issues: LabelIssues) -> dict[str, Any]:
    """Return a table of the most suspicious cells."""
    columns = issues.columns()
    given = given_labels(issues, issues.samples[:ON_PAGE])
    cells = (columns[key] for key in ("sample", "label", "score", "probability", "combined"))
    return report.table(
        title,
        ["sample", "label", "score", "probability", "with other labels", "given labels"],
        first_rows(ON_PAGE, *cells, given),
        note=f"The first {ON_PAGE} of them." if len(issues) > ON_PAGE else "",
    )


def first_rows(count: int, first: Any, *columns: Any) -> list[list[Any]]:
    """Return the first rows of a table from its columns; the first column holds names."""
    names = map(str, np.asarray(first)[:count].tolist())  # the name of a sample may be its number
    listed = (np.asarray(column)[:count].tolist() for column in columns)
    return [list(row) for row in zip(names, *listed, strict=True)]


def given_labels(issues: LabelIssues, samples: Ints, most: int = NAMES) -> list[str]:
    """Return the names of the labels that samples are given, as one text for each sample."""
    Y: Matrix = issues.Y
    sparse = sp.issparse(Y)
    rows = Y[samples].toarray() if sparse else np.asarray(Y)[samples]
    names = np.asarray(issues.label_names)
    texts = (", ".join(names[np.flatnonzero(row == 1)].tolist()) for row in rows)
    return [text if len(text) <= most else text[: most - 1] + "…" for text in texts]
