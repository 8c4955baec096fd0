"""What a report shows, as plain dictionaries of JSON types. Nothing here knows HTML."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from eigenlabel.inputs.validation import check_choice, check_number, check_scores
from eigenlabel.metrics import f1_from_counts
from eigenlabel.report.labels import (
    counts,
    most_frequent,
    rows_of,
    sparse_labels,
    strongest_correlations,
    threshold_curve,
)
from eigenlabel.report.plain import check_names, clean, isolate, plain, significant

MAX_LABELS = 1000  # shown on one page; of more, the most frequent
MAX_AXES = 6
MAX_GROUPS = 7  # as many colours as can be told apart
NEIGHBOURS = 5
Section = dict[str, Any]


def page(
    title: str, sections: Sequence[Section], *, subtitle: str = "", about: Mapping | None = None
) -> dict[str, Any]:
    """Put sections together to a page.

    Parameters
    ----------
    title, subtitle : str
    sections : list of what :func:`table`, :func:`label_map` and the others give
    about : mapping or None
        Where the figures come from, shown at the foot: versions, machine, seconds, date, command.
        Values are numbers, text, lists or mappings of them.

    Returns
    -------
    dict of JSON types, for :func:`render` and :func:`write`

    Examples
    --------
    >>> from eigenlabel import report
    >>> found = report.page("A page", [report.text("Why", ["Because."])], about={"seconds": 2.5})
    >>> found["sections"][0]["kind"], found["about"]
    ('text', {'seconds': 2.5})
    """
    for section in sections:
        if not isinstance(section, dict) or "kind" not in section:
            raise TypeError(f"A section is what a function of this module gives, got {section!r}.")
    return {
        "title": clean(title),
        "subtitle": clean(subtitle),
        "about": plain(about or {}),
        "sections": list(sections),
    }


def text(title: str, paragraphs: str | Iterable[str]) -> Section:
    """Give a section of plain text, one string per paragraph.

    Examples
    --------
    >>> from eigenlabel import report
    >>> report.text("Data", "Planted.")
    {'kind': 'text', 'title': 'Data', 'paragraphs': ['Planted.']}
    """
    paragraphs = [paragraphs] if isinstance(paragraphs, str) else paragraphs
    return {"kind": "text", "title": clean(title), "paragraphs": [clean(p) for p in paragraphs]}


def table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    note: str = "",
    best: Sequence[str | None] | None = None,
) -> Section:
    """Give a table of results, which the reader can sort by any column.

    Parameters
    ----------
    columns : names
    rows : lists of numbers, text or None, as long as ``columns``
        Text that begins with a number, such as "0.61 ± 0.02", counts as that number.
    note : str
        A line below the table.
    best : list of "max", "min" or None, one per column, or None
        Which value of a column to set in bold.

    Examples
    --------
    >>> from eigenlabel import report
    >>> shown = report.table("F1", ["model", "F1"], [["a", 0.5], ["b", 0.7]], best=[None, "max"])
    >>> shown["rows"], shown["best"]
    ([['a', 0.5], ['b', 0.7]], [None, 'max'])
    """
    columns = [clean(name) for name in columns]
    listed = [plain(list(row)) for row in rows]
    for row in listed:
        if len(row) != len(columns):
            raise ValueError(f"A row has {len(row)} cells, the table {len(columns)} columns.")
    best = [None] * len(columns) if best is None else list(best)
    if len(best) != len(columns):
        raise ValueError(f"best has {len(best)} entries for {len(columns)} columns.")
    for rule in best:
        if rule is not None:
            check_choice("best", rule, ("max", "min"))
    return {
        "kind": "table",
        "title": clean(title),
        "columns": columns,
        "rows": listed,
        "note": clean(note),
        "best": best,
    }


def _fitted(model: Any, name: str, advice: str) -> Any:
    if not hasattr(model, name):
        raise TypeError(f"{type(model).__name__} has no {name}: {advice}.")
    return getattr(model, name)


def label_map(
    model: Any, Y: Any, label_names: Any, *, title: str = "How the labels hang together"
) -> Section:
    """Place the labels by their weight in each eigenlabel.

    Label j stands at ``eigenlabels_[j, k] sqrt(eigenvalues_[k])`` on axis k: labels that the
    features predict together stand together, and those that nothing predicts in the middle.

    Parameters
    ----------
    model : fitted SharedSubspaceClassifier or SharedSubspaceClassifierCV
    Y : 0/1 label matrix (n, m), dense or sparse
        Gives supports (numbers of positives) and Pearson correlations of labels.
    label_names : m names
        If most of them look like "facet::name", colours show the facet.

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
    names, W = [names[j] for j in kept], W[kept, :MAX_AXES]
    eigenvalues = np.maximum(model.eigenvalues_[: W.shape[1]], 0.0)
    coordinates = W * np.sqrt(eigenvalues)
    faceted = sum("::" in name for name in names) > len(names) / 2
    groups, group = _facets(names) if faceted else _strongest(coordinates)
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


def _facets(names: list[str]) -> tuple[list[str], list[int]]:
    """Give the commonest facets, what stands before "::", and the one of each label."""
    facets = [name.partition("::")[0] if "::" in name else None for name in names]
    ranked = Counter(f for f in facets if f is not None).most_common()
    shown = [f for f, _ in ranked[:MAX_GROUPS]]
    words = [isolate(f) for f in shown]
    group = [shown.index(f) if f in shown else len(shown) for f in facets]
    return words + ["other"] * (max(group) == len(shown)), group


def _strongest(coordinates: np.ndarray) -> tuple[list[str], list[int]]:
    """Give the names of the eigenlabels, and the one in which each label weighs most."""
    m, k = coordinates.shape
    if k == 0:
        return ["labels"], [0] * m
    return [f"eigenlabel {i + 1}" for i in range(k)], np.abs(coordinates).argmax(axis=1).tolist()


def _eigenlabel(eigenvalue: float, weights: np.ndarray, count: int = 4) -> dict[str, Any]:
    """List the labels of largest weight either way, but for those below a tenth of the largest."""
    order = np.argsort(-weights, kind="stable")
    floor = np.abs(weights).max(initial=0.0) / 10
    up = [j for j in order[:count] if weights[j] > floor]
    down = [j for j in order[::-1][:count] if weights[j] < -floor]
    return {
        "eigenvalue": significant(eigenvalue),
        "positive": [[int(j), round(float(weights[j]), 3)] for j in up],
        "negative": [[int(j), round(float(weights[j]), 3)] for j in down],
    }


def surface(model: Any, *, title: str = "How the penalties matter") -> Section:
    """Show the cross-validated score of every (alpha, beta, n_components), and the one chosen.

    Parameters
    ----------
    model : fitted SharedSubspaceClassifierCV

    Examples
    --------
    >>> import eigenlabel as el
    >>> data = el.datasets.make_shared_subspace(n_samples=200, n_labels=6, random_state=0)
    >>> model = el.SharedSubspaceClassifierCV(alphas=[0, 1], betas=[0.1]).fit(data.X, data.Y)
    >>> el.report.surface(model)["alphas"]
    ['0', '1']
    """
    results = _fitted(model, "cv_results_", "only a SharedSubspaceClassifierCV has tried a grid")
    axes, places = [], []
    for key in ("alpha", "beta", "n_components"):
        values, place = np.unique(results[f"param_{key}"], return_inverse=True)
        axes.append(values)
        places.append(place)
    scores = np.full([len(values) for values in axes], np.nan)
    scores[tuple(places)] = results["pooled_test_score"]  # as score_grid_, its axes ascending
    return {
        "kind": "surface",
        "title": clean(title),
        "scoring": clean(model.scoring if isinstance(model.scoring, str) else "score"),
        "alphas": [_tick(v) for v in axes[0]],
        "betas": [_tick(v) for v in axes[1]],
        "dimensions": plain(axes[2]),
        "scores": significant(np.moveaxis(scores, 2, 0)),  # dimensions, alphas, betas
        "chosen": [int(place[model.best_index_]) for place in places],
        "best_score": significant(model.best_score_),
    }


def _tick(value: float) -> str:
    """Write a penalty as short as can be: 1e-6, 0.1, and a sign for infinity."""
    return "∞" if np.isinf(value) else re.sub(r"e([+-])0*", r"e\1", f"{value:g}")


def per_label(
    Y: Any, decisions: Any, label_names: Any, *, title: str = "Label by label"
) -> Section:
    """Give support, predictions, precision, recall and F1 of each label; 0/0 is 0.

    Parameters
    ----------
    Y, decisions : true and predicted 0/1 label matrices (n, m), dense or sparse
    label_names : m names

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
    title: str = "What a threshold trades",
) -> Section:
    """Give hits and predictions of each label at thresholds spread over its scores.

    Precision, recall and F1 follow from them exactly. A label is predicted where its score is
    above the threshold; the thresholds are quantiles of all scores and of those of positives, at
    most 60, rounded before anything is counted.

    Parameters
    ----------
    Y : 0/1 label matrix (n, m), dense or sparse
    scores : (n, m), held-out ones if the curves are to mean anything on new data
        Rows of NaN, samples that were never held out, are left out.
    thresholds : (m,) or a number, the ones chosen; may be infinite or NaN (none)
    label_names : m names

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
        raise ValueError("No samples with scores: curves need at least one.")
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


def resources(
    rows: Iterable[Sequence[Any]], *, title: str = "What it took", note: str = ""
) -> Section:
    """Give steps with their seconds and MiB of memory, None where one is not known.

    Examples
    --------
    >>> from eigenlabel import report
    >>> report.resources([("load", 0.4, 120), ("fit", 3.1, None)])["rows"]
    [['load', 0.4, 120], ['fit', 3.1, None]]
    """
    listed = [plain(list(row)) for row in rows]
    for row in listed:
        if len(row) != 3:
            raise ValueError(f"A row is (step, seconds, MiB), got {row!r}.")
    return {"kind": "resources", "title": clean(title), "rows": listed, "note": clean(note)}


def critical_difference(
    names: Sequence[str],
    ranks: Sequence[float],
    cd: float,
    *,
    title: str = "Average ranks",
    note: str = "",
) -> Section:
    """Give Demsar's diagram: methods by average rank, joined where they differ by ``cd`` or less.

    Parameters
    ----------
    names, ranks : of the methods; rank 1 is the best
    cd : the critical difference of average ranks

    Examples
    --------
    >>> from eigenlabel import report
    >>> shown = report.critical_difference(["a", "b", "c"], [2.5, 1.2, 2.3], 1.2)
    >>> shown["names"], shown["groups"]
    (['b', 'c', 'a'], [[0, 1], [1, 2]])
    """
    values = np.asarray(ranks, dtype=float)
    if values.ndim != 1 or len(values) != len(names) or not len(names):
        raise ValueError(f"{len(names)} names for ranks of shape {values.shape}.")
    if not np.isfinite(values).all():
        raise ValueError("ranks must be finite.")
    check_number("cd", float(cd), 0)
    order = np.argsort(values, kind="stable")
    values = values[order]
    return {
        "kind": "critical_difference",
        "title": clean(title),
        "names": [clean(names[j]) for j in order],
        "ranks": significant(values),
        "cd": significant(cd),
        "groups": _joined(values, float(cd)),
        "note": clean(note),
    }


def curves(
    title: str,
    values: Sequence[Any],
    series: Mapping[str, Sequence[float | None]],
    *,
    x: str,
    y: str,
) -> Section:
    """Give a chart of several curves over the same values, and their numbers.

    Parameters
    ----------
    values : of the parameter that varies, at equal distances in this order
    series : curve -> its figures, None where there is none
    x, y : what varies, and what is shown

    Examples
    --------
    >>> from eigenlabel import report
    >>> shown = report.curves("Loss", [1, 2], {"a": [0.5, 0.25]}, x="d", y="loss")
    >>> shown["names"], shown["series"]
    (['a'], [[0.5, 0.25]])
    """
    short = [name for name, figures in series.items() if len(figures) != len(values)]
    if short:
        raise ValueError(
            f"The curve {short[0]!r} has {len(series[short[0]])} figures for {len(values)} values."
        )
    kept = [[None if v is None or not np.isfinite(v) else v for v in s] for s in series.values()]
    return {
        "kind": "curves",
        "title": clean(title),
        "values": [clean(str(v)) for v in values],
        "names": [clean(name) for name in series],
        "series": [[None if v is None else significant(v) for v in s] for s in kept],
        "x": clean(x),
        "y": clean(y),
    }


def _joined(ranks: np.ndarray, cd: float) -> list[list[int]]:
    """Give first and last position of each longest run of ascending ranks within cd."""
    last = np.searchsorted(ranks, ranks + cd * (1 + 1e-12), side="right") - 1
    runs = [[i, int(j)] for i, j in enumerate(last) if j > i]
    return [run for k, run in enumerate(runs) if k == 0 or run[1] > runs[k - 1][1]]
