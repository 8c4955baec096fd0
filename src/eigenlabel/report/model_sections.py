"""Sections of a page that show a model and its labels, as dictionaries of JSON types."""

from collections import Counter
from typing import Any

import numpy as np

from eigenlabel.estimators.subspace.tuning import readable_axes
from eigenlabel.inputs.data import check_scores
from eigenlabel.inspection.displays.grid import format_value
from eigenlabel.linalg._types import Floats
from eigenlabel.metrics import f1_from_counts
from eigenlabel.report.json_values import check_names, clean, isolate, plain, significant
from eigenlabel.report.label_counts import (
    counts,
    most_frequent,
    rows_of,
    sparse_labels,
    strongest_correlations,
    threshold_curve,
)
from eigenlabel.report.sections import Section

MAX_LABELS = 1000  # labels on a page; the most frequent ones are shown
MAX_AXES = 6
MAX_GROUPS = 7  # number of colours that are easy to distinguish
NEIGHBOURS = 5


def label_map(model: Any, Y: Any, label_names: Any, *, title: str = "Map of the labels") -> Section:
    """Return a map of the labels by their weights in the eigenlabels.

    The coordinate of label j on axis k is ``eigenlabels_[j, k] sqrt(eigenvalues_[k])``. Labels that
    the features predict together are close to each other, and labels that the features do not
    predict are in the middle.

    Parameters
    ----------
    model : SharedSubspaceClassifier or SharedSubspaceClassifierCV
        The fitted model.
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        The label matrix of 0 and 1. It determines the support of each label, which is its number of
        positive samples, and the correlations of labels.
    label_names : list of str
        The names of the labels. If most of them have the form "facet::name", the colours show the
        facets.
    title : str, default="Map of the labels"
        The heading of the section.

    Returns
    -------
    section : dict
        The section, for :func:`page`.

    Examples
    --------
    >>> import eigenlabel as el
    >>> data = el.datasets.make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> model = el.SharedSubspaceClassifier(n_components=2).fit(data.X, data.Y)
    >>> shown = el.report.label_map(model, data.Y, data.label_names)
    >>> len(shown["coordinates"]), len(shown["eigenlabels"])
    (6, 2)
    """
    W = np.asarray(_fitted(model, "eigenlabels_", "fit a SharedSubspaceClassifier first"))
    labels = sparse_labels(Y)
    n, m = labels.shape
    if len(W) != m:
        raise ValueError(f"Y has {m} labels, the model {len(W)}.")
    names = check_names(label_names, m)
    support = counts(labels)
    kept = most_frequent(support, MAX_LABELS)
    names, W = [names[j] for j in kept], W[kept]
    eigenvalues = np.maximum(model.eigenvalues_[: W.shape[1]], 0.0)
    weighted = W * np.sqrt(eigenvalues)
    W, coordinates = W[:, :MAX_AXES], weighted[:, :MAX_AXES]
    faceted = sum("::" in name for name in names) > len(names) / 2
    groups, group = _facets(names) if faceted else _strongest(weighted)
    return {
        "kind": "label_map",
        "title": clean(title),
        "n_samples": n,
        "n_labels": m,
        "names": names,
        "support": plain(support[kept]),
        "coordinates": significant(coordinates),
        "neighbours": strongest_correlations(labels[:, kept], NEIGHBOURS),
        "colours": "facet" if faceted else "eigenlabel",
        "groups": groups,
        "group": group,
        "eigenlabels": [_eigenlabel(eigenvalues[k], W[:, k]) for k in range(W.shape[1])],
    }


def _fitted(model: Any, name: str, advice: str) -> Any:
    if not hasattr(model, name):
        raise TypeError(f"{type(model).__name__} has no {name}: {advice}.")
    return getattr(model, name)


def _facets(names: list[str]) -> tuple[list[str], list[int]]:
    """Return the most common facets, which are the parts before "::", and that of each label."""
    facets = [name.partition("::")[0] if "::" in name else None for name in names]
    ranked = Counter(f for f in facets if f is not None).most_common()
    shown = [f for f, _ in ranked[:MAX_GROUPS]]
    words = [isolate(f) for f in shown]
    group = [shown.index(f) if f in shown else len(shown) for f in facets]
    return words + ["other"] * (max(group) == len(shown)), group


def _strongest(coordinates: Floats) -> tuple[list[str], list[int]]:
    """Return the names of the first eigenlabels, and the strongest one of each label.

    All later eigenlabels are one group.
    """
    m, k = coordinates.shape
    if k == 0:
        return ["labels"], [0] * m
    groups = [f"eigenlabel {i + 1}" for i in range(min(k, MAX_AXES))]
    strongest = np.minimum(np.abs(coordinates).argmax(axis=1), MAX_AXES)
    later = f"a later eigenlabel ({MAX_AXES + 1} to {k})"
    return groups + [later] * bool(strongest.max(initial=0) >= MAX_AXES), strongest.tolist()


def _eigenlabel(eigenvalue: float, weights: Floats, count: int = 4) -> dict[str, Any]:
    """Return the labels with the largest weights of either sign.

    Weights below a tenth of the largest are left out.
    """
    order = np.argsort(-weights, kind="stable")
    floor = np.abs(weights).max(initial=0.0) / 10
    up = [j for j in order[:count] if weights[j] > floor]
    down = [j for j in order[::-1][:count] if weights[j] < -floor]
    return {
        "eigenvalue": significant(eigenvalue),
        "positive": [[int(j), round(float(weights[j]), 3)] for j in up],
        "negative": [[int(j), round(float(weights[j]), 3)] for j in down],
    }


def surface(model: Any, *, title: str = "Scores by penalty") -> Section:
    """Return the cross-validated score of every (alpha, beta, n_components), and the chosen point.

    Parameters
    ----------
    model : SharedSubspaceClassifierCV
        The fitted model.
    title : str, default="Scores by penalty"
        The heading of the section.

    Returns
    -------
    section : dict
        The section, for :func:`page`.

    Examples
    --------
    >>> import eigenlabel as el
    >>> data = el.datasets.make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> model = el.SharedSubspaceClassifierCV(alphas=[0, 1], betas=[0.1]).fit(data.X, data.Y)
    >>> el.report.surface(model)["alphas"]
    ['0', '1']
    """
    results = _fitted(model, "cv_results_", "only a SharedSubspaceClassifierCV has a grid")
    table = readable_axes({k: results[f"param_{k}"] for k in ("alpha", "beta", "n_components")})
    axes, places = [], []
    for column in table.values():
        values, place = np.unique(column, return_inverse=True)
        axes.append(values)
        places.append(place)
    scores = np.full([len(values) for values in axes], np.nan)
    scores[tuple(places)] = results["pooled_test_score"]  # score_grid_ with ascending axes
    return {
        "kind": "surface",
        "title": clean(title),
        "scoring": clean(model.scoring if isinstance(model.scoring, str) else "score"),
        "rows": next(iter(table)),  # alpha, or alpha / beta
        "alphas": [format_value(v) for v in axes[0]],
        "betas": [format_value(v) for v in axes[1]],
        "dimensions": plain(axes[2]),
        "scores": significant(np.moveaxis(scores, 2, 0)),  # dimensions, alphas, betas
        "chosen": [int(place[model.best_index_]) for place in places],
        "best_score": significant(model.best_score_),
    }


def per_label(
    Y: Any, decisions: Any, label_names: Any, *, title: str = "Results by label"
) -> Section:
    """Return support, predictions, precision, recall and F1 of each label.

    A ratio 0/0 is 0.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        The true label matrix of 0 and 1.
    decisions : array-like or sparse matrix of shape (n_samples, n_labels)
        The predicted label matrix of 0 and 1.
    label_names : list of str
        The names of the labels.
    title : str, default="Results by label"
        The heading of the section.

    Returns
    -------
    section : dict
        The section, for :func:`page`.

    Examples
    --------
    >>> from eigenlabel import report
    >>> shown = report.per_label([[1, 0], [1, 1]], [[1, 0], [0, 1]], ["a", "b"])
    >>> shown["rows"]
    [['a', 2, 1, 1.0, 0.5, 0.6667], ['b', 1, 1, 1.0, 1.0, 1.0]]
    """
    truth, predicted = sparse_labels(Y), sparse_labels(decisions, "decisions")
    if truth.shape != predicted.shape:
        raise ValueError(f"Y has shape {truth.shape}, decisions {predicted.shape}.")
    n, m = truth.shape
    names = check_names(label_names, m)
    positives, claims = counts(truth), counts(predicted)
    hits = np.asarray(truth.multiply(predicted).sum(axis=0)).ravel()
    figures = [
        hits / np.maximum(claims, 1),
        hits / np.maximum(positives, 1),
        f1_from_counts(hits, claims, positives),
    ]
    kept = most_frequent(positives, MAX_LABELS)
    kept = kept[np.argsort(-positives[kept], kind="stable")]
    return {
        "kind": "per_label",
        "title": clean(title),
        "n_samples": n,
        "n_labels": m,
        "columns": ["label", "support", "predicted", "precision", "recall", "F1"],
        "rows": [
            [names[j], int(positives[j]), int(claims[j]), *(round(float(f[j]), 4) for f in figures)]
            for j in kept
        ],
    }


def threshold_curves(
    Y: Any,
    scores: Any,
    thresholds: Any,
    label_names: Any,
    *,
    title: str = "Effect of the thresholds",
) -> Section:
    """Return the hits and predictions of each label at thresholds across its scores.

    Precision, recall and F1 follow from them exactly. A label is predicted if its score is above
    the threshold. The thresholds are quantiles of all scores and of the scores of positive samples.
    There are at most 60, and they are rounded before anything is counted.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        The label matrix of 0 and 1.
    scores : array-like of shape (n_samples, n_labels)
        The scores. Held-out scores are needed for curves that hold for new data. Rows of NaN, which
        are samples that were never held out, are left out.
    thresholds : float or array-like of shape (n_labels,)
        The chosen thresholds. They may be infinite, or NaN for a label without a threshold.
    label_names : list of str
        The names of the labels.
    title : str, default="Effect of the thresholds"
        The heading of the section.

    Returns
    -------
    section : dict
        The section, for :func:`page`.

    Examples
    --------
    >>> from eigenlabel import report
    >>> shown = report.threshold_curves([[1], [0], [1]], [[0.9], [0.4], [0.2]], 0.5, ["a"])
    >>> shown["curves"][0]["at"]  # predictions and hits at the threshold 0.5
    [1, 1]
    """
    labels, scores = sparse_labels(Y), np.asarray(scores)
    if scores.ndim == 2 and scores.dtype.kind == "f" and scores.shape == labels.shape:
        held = ~np.isnan(scores).all(axis=1)
        if not held.all():
            labels, scores = labels.tocsr()[held].tocsc(), scores[held]
    scores = check_scores("scores", scores, labels.shape)
    n, m = labels.shape
    if n == 0:
        raise ValueError("No sample has scores: curves need at least one.")
    names = check_names(label_names, m)
    chosen = np.broadcast_to(np.asarray(thresholds, dtype=float), (m,))
    support = counts(labels)
    kept = most_frequent(support, MAX_LABELS)
    return {
        "kind": "threshold_curves",
        "title": clean(title),
        "n_samples": n,
        "n_labels": m,
        "names": [names[j] for j in kept],
        "support": plain(support[kept]),
        "curves": [
            threshold_curve(scores[:, j].astype(float), rows_of(labels, j), float(chosen[j]))
            for j in kept
        ],
    }
