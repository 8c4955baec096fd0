"""The section that shows, for each label, what it depends on and where the model is wrong."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import numpy as np

from eigenlabel.inputs.data import check_scores
from eigenlabel.inspection import explain, explain_label
from eigenlabel.inspection.explanation import sum_rows
from eigenlabel.inspection.rendering import Rows, signed
from eigenlabel.linalg._types import Floats, Ints
from eigenlabel.report.json_values import LONGEST_NAME, check_names, clean
from eigenlabel.report.label_counts import counts, most_frequent, rows_of, sparse_labels
from eigenlabel.report.sections import Section

MAX_LABELS = 40
MAX_SAMPLES = 60  # samples with reasons, over all labels
MAX_MISTAKES = 5  # of a label
N_TOP = 10  # features of a label that speak for it and against it together, and reasons

Mistakes = list[tuple[int, bool]]  # samples, and whether the label was predicted


def label_details(
    model: Any,
    X: Any,
    Y: Any,
    decisions: Any,
    values: Any,
    label_names: Any,
    *,
    sample_names: Any = None,
    feature_names: Any = None,
    scale: str = "probability",
    title: str = "Labels and mistakes",
    note: str = "",
) -> Section:
    """Return the features of each label, its most confident mistakes, and their reasons.

    The 40 most frequent labels are shown, with ten features each. The mistakes are those with the
    largest values among wrong predictions and those with the smallest among missed labels, five for
    each label and at most 60 samples in all, so that the section has a bounded size. If the model
    cannot be explained, features and reasons are left out.

    Parameters
    ----------
    model : classifier
        The fitted classifier, as for :func:`eigenlabel.inspection.explain`.
    X : array-like, sparse matrix, frame or list of str
        The samples, as for ``predict``.
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        The true label matrix of 0 and 1.
    decisions : array-like or sparse matrix of shape (n_samples, n_labels)
        The predicted label matrix of 0 and 1.
    values : array-like of shape (n_samples, n_labels)
        The probabilities of the labels, or scores.
    label_names : list of str
        The names of the labels.
    sample_names : list of str or None, default=None
        The names of the samples. None uses numbers from 0.
    feature_names : list of str or None, default=None
        The names of the columns of X. None uses those that the model knows.
    scale : {"probability", "score"}, default="probability"
        What the values are.
    title : str, default="Labels and mistakes"
        The heading of the section.
    note : str, default=""
        A line below the section.

    Returns
    -------
    section : dict
        The section, for :func:`page`.

    Examples
    --------
    >>> import eigenlabel as el
    >>> data = el.datasets.make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> model = el.SharedSubspaceClassifierCV(n_components=2).fit(data.X, data.Y)
    >>> found, P = model.predict(data.X), model.predict_proba(data.X)
    >>> shown = el.report.label_details(model, data.X, data.Y, found, P, data.label_names)
    >>> len(shown["labels"]), len(shown["labels"][0]["features"])
    (6, 10)
    """
    truth, predicted = sparse_labels(Y), sparse_labels(decisions, "decisions")
    if truth.shape != predicted.shape:
        raise ValueError(f"Y has shape {truth.shape}, decisions {predicted.shape}.")
    n, m = truth.shape
    shown = check_scores("values", values, truth.shape)
    names = check_names(label_names, m)
    samples = [str(i) for i in range(n)] if sample_names is None else sample_names
    support = counts(truth)
    kept = most_frequent(support, MAX_LABELS)
    kept = kept[np.argsort(-support[kept], kind="stable")]
    wrong = [_mistakes(rows_of(truth, j), rows_of(predicted, j), shown[:, j]) for j in kept]
    labels = []
    for j, found in zip(kept.tolist(), _bounded(wrong), strict=True):
        reasons = _reasons(model, X, j, [i for i, _ in found], feature_names, label_names)
        labels.append(
            {
                "name": names[j],
                "support": int(support[j]),
                "features": _features(model, j, feature_names, label_names),
                "mistakes": [
                    {
                        "sample": clean(samples[i], LONGEST_NAME),
                        "predicted": claimed,
                        "value": round(float(shown[i, j]), 3),
                        "reasons": rows,
                    }
                    for (i, claimed), rows in zip(found, reasons, strict=True)
                ],
            }
        )
    return {
        "kind": "label_details",
        "title": clean(title),
        "n_labels": m,
        "scale": clean(scale),
        "labels": labels,
        "note": clean(note),
    }


def _mistakes(positives: Ints, claims: Ints, values: Floats) -> Mistakes:
    """Return the most confident mistakes on a label: false alarms and misses by turns."""
    false = np.setdiff1d(claims, positives)
    missed = np.setdiff1d(positives, claims)
    false = false[np.argsort(-values[false], kind="stable")][:MAX_MISTAKES]
    missed = missed[np.argsort(values[missed], kind="stable")][:MAX_MISTAKES]
    turns = zip_longest(((int(i), True) for i in false), ((int(i), False) for i in missed))
    return [one for turn in turns for one in turn if one is not None][:MAX_MISTAKES]


def _bounded(wrong: list[Mistakes]) -> list[Mistakes]:
    """Return the first mistakes of every label, then the second ones, up to 60 samples in all."""
    seen: set[int] = set()
    kept: list[Mistakes] = [[] for _ in wrong]
    for turn in range(MAX_MISTAKES):
        for mine, given in zip(kept, wrong, strict=True):
            if turn >= len(given):
                continue
            if given[turn][0] in seen or len(seen) < MAX_SAMPLES:
                seen.add(given[turn][0])
                mine.append(given[turn])
    return kept


def _features(model: Any, j: int, features: Any, labels: Any) -> list[dict[str, Any]]:
    """Return the features, or training samples, that speak most for a label and against it."""
    try:
        found = explain_label(
            model, j, n_top=N_TOP // 2, feature_names=features, label_names=labels
        )
    except (TypeError, ValueError):  # a model that is not a sum
        return []
    return bars([*found.speaks_for, *found.speaks_against])


def _reasons(
    model: Any, X: Any, j: int, rows: list[int], features: Any, labels: Any
) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of the sum that is the score of each sample, or no rows."""
    found = None
    if rows:
        try:
            some = _take(X, rows)
            found = explain(
                model, some, labels=j, n_top=N_TOP, feature_names=features, label_names=labels
            )
        except (TypeError, ValueError):  # a model that is not a sum
            found = None
    for i in range(len(rows)):
        yield [] if found is None else bars(sum_rows(found, i, 0), total=True)


def _take(X: Any, rows: list[int]) -> Any:
    """Return some samples of an array, a sparse matrix, a frame or a list of texts."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if isinstance(X, (list, tuple)):
        return [X[i] for i in rows]
    return X.tocsr()[rows] if hasattr(X, "tocsr") else X[rows]


def bars(rows: Rows, *, total: bool = False) -> list[dict[str, Any]]:
    """Return names and numbers with bars, relative to the largest row besides the total."""
    last = len(rows) - 1 if total else len(rows)
    finite = [abs(value) for _, value in rows[:last] if np.isfinite(value)]
    largest = max(finite, default=0.0) or 1.0
    return [
        {
            "name": clean(name, LONGEST_NAME),
            "text": signed(value).replace("-", "\u2212"),
            "share": round(min(1.0, abs(value) / largest), 4),
            "for": bool(value > 0),
            "total": k == last,
        }
        for k, (name, value) in enumerate(rows)
    ]
