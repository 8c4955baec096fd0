"""Comparison of the published figures of a table with ours."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from eigenlabel.comparison import collect, paired, paired_t, wilcoxon
from eigenlabel.experiment import load_data
from eigenlabel.linalg._types import Floats
from eigenlabel.metrics import ALL_METRICS
from eigenlabel.reproduce.contests import LEVEL
from eigenlabel.reproduce.published_figures import Figure, published
from eigenlabel.reproduce.tables import Table

COUNTS = ("labels", "features", "samples", "most_positives", "fewest_positives")
Records = Sequence[dict[str, Any]]


class Row(NamedTuple):
    """A published figure and ours.

    Parameters
    ----------
    dataset : str
        Name of the data set in the paper.
    metric : str
        Name of our metric.
    method : str
        Name of the method in the paper. A method that the paper does not have is compared with
        the best one of the paper.
    paper : float or None
        The published figure; None if the text of the paper has lost it.
    paper_std : float or None
        The published standard deviation.
    ours : float or None
        Our figure: a mean over splits, or over data sets if there are several.
    ours_std : float or None
        The standard deviation of what our mean is over.
    n : int
        The number of figures that our mean is over, or of pairs that our p-value is from.
    outside : bool or None
        Whether the difference is larger than the spread, which is the paper's standard deviation
        or, if it has none, ours. For p-values, whether only one of the two is below 0.05; for
        counts, whether they differ. None if it cannot be decided: a p-value of fewer pairs than the
        paper's is not compared.
    why : str
        The reason why our figure is missing.
    best : bool or None
        Whether the method is best here or not significantly worse than the best one, by paired
        t-tests at 5%. None without tests.
    """

    dataset: str
    metric: str
    method: str
    paper: float | None
    paper_std: float | None
    ours: float | None
    ours_std: float | None
    n: int
    outside: bool | None
    why: str = ""
    best: bool | None = None

    @property
    def difference(self) -> float | None:
        """Our figure minus the published one, or None if either is missing."""
        if self.ours is None or self.paper is None:
            return None
        return self.ours - self.paper


def compare(table: Table, records: Records) -> list[Row]:
    """Compare the published figures of a table with ours.

    Parameters
    ----------
    table : Table
        The table.
    records : list of dict
        Records of the table's protocol.

    Returns
    -------
    list of Row
        The rows of one data set and metric are adjacent.

    Examples
    --------
    >>> from eigenlabel.reproduce import compare, get_table
    >>> row = compare(get_table("mlls-table3"), [])[0]
    >>> row.dataset, row.method, row.paper, row.why
    ('Arts', 'ML_LS', 0.7611, 'not run')
    """
    figures = published()[table.name]
    if table.kind == "counts":
        ours = _sizes(table)
        return [_count(table, figure, ours) for figure in figures]
    rows = []
    for figure in figures:
        if figure.dataset not in table.data:
            rows.append(_without_data(table, figure))
        elif table.kind == "p-values":
            rows.append(_p_value(table, figure, records))
        else:
            rows += [_figure(table, figure, name, records) for name in _metrics(table, figure)]
    if table.kind == "figures":
        rows += _lost(table, records) + _beyond(table, records)
        rows = mark_best(table, rows, records)
    order = {key: k for k, key in enumerate(dict.fromkeys((r.dataset, r.metric) for r in rows))}
    return sorted(rows, key=lambda row: order[row.dataset, row.metric])


def _without(figure: Figure, metric: str, why: str) -> Row:
    return Row(
        figure.dataset, metric, figure.method, figure.mean, figure.std, None, None, 0, None, why
    )


def _without_data(table: Table, figure: Figure) -> Row:
    return _without(figure, figure.metric, table.lacking.get(figure.dataset, "not available"))


def _ours(table: Table, dataset: str, metric: str, method: str, records: Records) -> Floats:
    """Return the figures that our mean is over: those of splits, or the means of several sets."""
    found = collect(records, metric)
    by_data = [
        np.array(list(found[d.name][method].values()))
        for d in table.data[dataset]
        if method in found.get(d.name, {})
    ]
    if len(table.data[dataset]) > 1:
        return np.array([v.mean() for v in by_data])
    return by_data[0] if by_data else np.zeros(0)


def _spread(values: Floats) -> float | None:
    return float(values.std(ddof=1)) if len(values) > 1 else None


def _metrics(table: Table, figure: Figure) -> list[str]:
    """Return our metrics for a published one: the usual one, and one by the paper's convention."""
    usual = [table.metrics[figure.metric]]
    other = table.conventions.get(figure.metric)
    return usual if other is None else [*usual, other]


def _figure(table: Table, figure: Figure, metric: str, records: Records) -> Row:
    method = table.methods[figure.method]
    if figure.method in table.missing():
        return _without(figure, metric, "no such method in the catalogue")
    values = _ours(table, figure.dataset, metric, method, records)
    if not len(values):
        return _without(figure, metric, "not run")
    mean, std = float(values.mean()), _spread(values)
    spread = figure.std if figure.std is not None else std
    outside = None if spread is None else abs(mean - figure.mean) > spread
    return Row(
        *(figure.dataset, metric, figure.method, figure.mean, figure.std),
        *(mean, std, len(values), outside),
    )


def _lost(table: Table, records: Records) -> list[Row]:
    """Return our figures whose published ones are missing: the text of a paper lost some."""
    figures = published()[table.name]
    there = {(f.dataset, f.metric, f.method) for f in figures}
    panels = dict.fromkeys((f.dataset, f.metric) for f in figures if f.dataset in table.data)
    rows = []
    for (dataset, metric), method in product(panels, table.methods):
        if (dataset, metric, method) not in there:
            figure = Figure(dataset, "", method, metric, np.nan, None)
            found = [_figure(table, figure, name, records) for name in _metrics(table, figure)]
            rows += [row._replace(paper=None, outside=None) for row in found if row.n]
    return rows


def _beyond(table: Table, records: Records) -> list[Row]:
    """Compare methods that the paper does not have with the best method of the paper."""
    rows = []
    for dataset in table.data:
        for name, metric in (*table.metrics.items(), *table.conventions.items()):
            figures = [
                f.mean for f in published()[table.name] if (f.dataset, f.metric) == (dataset, name)
            ]
            best = (max if ALL_METRICS[metric].greater_is_better else min)(figures)
            for method in table.beyond:
                values = _ours(table, dataset, metric, method, records)
                if len(values):
                    mean, std = float(values.mean()), _spread(values)
                    title = f"{method} (paper: its best)"
                    rows.append(
                        Row(dataset, metric, title, best, None, mean, std, len(values), None)
                    )
    return rows


def _units(
    table: Table, dataset: str, metric: str, method: str, records: Records
) -> dict[int, float]:
    """Return the figures that a paired test compares, numbered by data set and split."""
    found, n_splits = collect(records, metric), table.splits.n_splits
    return {
        k * n_splits + split: value
        for k, data in enumerate(table.data[dataset])
        for split, value in found.get(data.name, {}).get(method, {}).items()
    }


def mark_best(table: Table, rows: list[Row], records: Records) -> list[Row]:
    """Mark the rows that no paired t-test at 5% separates from the best row of their metric.

    The pairs are the splits of all data sets of a row. Zhang and Zhou (2010) mark their tables in
    this way. Rows without figures stay as they are.
    """
    if not table.t_tests:
        return rows
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.ours is not None and row.method in table.methods:
            groups.setdefault((row.dataset, row.metric), []).append(row)
    marks: dict[tuple[str, str, str], bool] = {}
    for (dataset, metric), group in groups.items():
        sign = 1 if ALL_METRICS[metric].greater_is_better else -1
        first = max(group, key=lambda row: sign * (row.ours or 0.0))
        top = _units(table, dataset, metric, table.methods[first.method], records)
        for row in group:
            other = _units(table, dataset, metric, table.methods[row.method], records)
            a, b = paired(top, other)
            same = row is first or len(a) < 2 or not paired_t(a, b) < LEVEL
            marks[dataset, metric, row.method] = same
    return [row._replace(best=marks.get((row.dataset, row.metric, row.method))) for row in rows]


def _p_value(table: Table, figure: Figure, records: Records) -> Row:
    metric = table.metrics[figure.metric.removeprefix("wilcoxon_p_")]
    first, second = (table.methods[m] for m in figure.method.split(" vs "))
    label = f"p of {metric}"
    if {first, second} - set(table.runnable()):
        return _without(figure, label, "no such method in the catalogue")
    by_method = collect(records, metric).get(table.data[figure.dataset][0].name, {})
    a, b = paired(by_method.get(first, {}), by_method.get(second, {}))
    if not a:
        return _without(figure, label, "not run")
    p = wilcoxon(a, b, method="approx")
    complete = len(a) >= table.n_runs(figure.dataset)
    outside = (p < LEVEL) != (figure.mean < LEVEL) if complete else None
    return Row(figure.dataset, label, figure.method, figure.mean, None, p, None, len(a), outside)


def _sizes(table: Table) -> dict[str, dict[str, int]]:
    """Count the labels, features and samples of the available data sets."""
    sizes = {}
    for dataset, (data, *_) in table.data.items():
        found = load_data(data)
        positives = np.asarray(sp.csr_array(found.Y).sum(axis=0))
        values = (found.Y.shape[1], found.X.shape[1], found.X.shape[0])
        sizes[dataset] = dict(
            zip(COUNTS, (*values, int(positives.max()), int(positives.min())), strict=True)
        )
    return sizes


def _count(table: Table, figure: Figure, ours: Mapping[str, Mapping[str, int]]) -> Row:
    if figure.dataset not in table.data:
        return _without_data(table, figure)
    count = ours[figure.dataset][figure.metric]
    return Row(
        *(figure.dataset, figure.metric, figure.method, figure.mean, None),
        *(count, None, 1, count != figure.mean),
    )
