"""Put what was published beside what was run."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from eigenlabel.comparison import collect, paired, wilcoxon
from eigenlabel.experiment import load_data
from eigenlabel.metrics import METRICS
from eigenlabel.reproduce.tables import Figure, Table, published

COUNTS = ("labels", "features", "samples", "most_positives", "fewest_positives")


class Row(NamedTuple):
    """A published figure and ours; ``outside`` marks a difference beyond the spread.

    The spread is the paper's standard deviation, else that of our runs; p-values are outside
    where only one of the two is below 0.05; counts where they differ at all. A method of ours
    that the paper lacks has its best one as ``paper``. ``why`` says what is missing.
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

    @property
    def difference(self) -> float | None:
        """Give ours less the paper's."""
        if self.ours is None or self.paper is None:
            return None
        return self.ours - self.paper


def compare(table: Table, records: Sequence[dict[str, Any]]) -> list[Row]:
    """List a table's published figures with ours from the records of its protocol."""
    if table.kind == "counts":
        return _counts(table)
    rows = []
    for figure in published()[table.name]:
        if figure.dataset not in table.data:
            why = table.lacking.get(figure.dataset, "not there")
            rows.append(_without(figure, figure.metric, why))
        elif table.kind == "p-values":
            rows.append(_p_value(table, figure, records))
        else:
            rows.append(_figure(table, figure, records))
    if table.kind == "figures":
        rows += _beyond(table, records)
    order = {key: k for k, key in enumerate(dict.fromkeys((r.dataset, r.metric) for r in rows))}
    return sorted(rows, key=lambda row: order[row.dataset, row.metric])


def _without(figure: Figure, metric: str, why: str) -> Row:
    return Row(
        figure.dataset, metric, figure.method, figure.mean, figure.std, None, None, 0, None, why
    )


def _ours(
    table: Table, dataset: str, metric: str, method: str, records: Sequence[dict[str, Any]]
) -> np.ndarray:
    """Give the figures that the mean is over: those of splits, or the means of several sets."""
    found = collect(records, metric)
    by_data = [
        np.array(list(found[d.name][method].values()))
        for d in table.data[dataset]
        if method in found.get(d.name, {})
    ]
    if len(table.data[dataset]) > 1:
        return np.array([v.mean() for v in by_data])
    return by_data[0] if by_data else np.zeros(0)


def _spread(values: np.ndarray) -> float | None:
    return float(values.std(ddof=1)) if len(values) > 1 else None


def _figure(table: Table, figure: Figure, records: Sequence[dict[str, Any]]) -> Row:
    metric, method = table.metrics[figure.metric], table.methods[figure.method]
    if figure.method in table.missing():
        return _without(figure, metric, "method not there yet")
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


def _beyond(table: Table, records: Sequence[dict[str, Any]]) -> list[Row]:
    """Put methods that the paper does not have beside the best of those it has."""
    rows = []
    for dataset in table.data:
        for name, metric in table.metrics.items():
            figures = [
                f.mean for f in published()[table.name] if (f.dataset, f.metric) == (dataset, name)
            ]
            best = (max if METRICS[metric].greater_is_better else min)(figures)
            for method in table.beyond:
                values = _ours(table, dataset, metric, method, records)
                if len(values):
                    mean, std = float(values.mean()), _spread(values)
                    title = f"{method} (paper: its best)"
                    rows.append(
                        Row(dataset, metric, title, best, None, mean, std, len(values), None)
                    )
    return rows


def _p_value(table: Table, figure: Figure, records: Sequence[dict[str, Any]]) -> Row:
    metric = table.metrics[figure.metric.removeprefix("wilcoxon_p_")]
    first, second = (table.methods[m] for m in figure.method.split(" vs "))
    label = f"p of {metric}"
    if {first, second} - set(table.runnable()):
        return _without(figure, label, "method not there yet")
    by_method = collect(records, metric).get(table.data[figure.dataset][0].name, {})
    a, b = paired(by_method.get(first, {}), by_method.get(second, {}))
    if not a:
        return _without(figure, label, "not run")
    p = wilcoxon(a, b, method="approx")
    outside = (p < 0.05) != (figure.mean < 0.05)
    return Row(figure.dataset, label, figure.method, figure.mean, None, p, None, len(a), outside)


def _counts(table: Table) -> list[Row]:
    ours: dict[str, dict[str, int]] = {}
    for dataset, (data, *_) in table.data.items():
        found = load_data(data)
        positives = np.asarray(sp.csr_array(found.Y).sum(axis=0))
        values = (found.Y.shape[1], found.X.shape[1], found.X.shape[0])
        ours[dataset] = dict(
            zip(COUNTS, (*values, int(positives.max()), int(positives.min())), strict=True)
        )
    rows = []
    for figure in published()[table.name]:
        if figure.dataset not in table.data:
            why = table.lacking.get(figure.dataset, "not there")
            rows.append(_without(figure, figure.metric, why))
            continue
        count = ours[figure.dataset][figure.metric]
        rows.append(
            Row(
                *(figure.dataset, figure.metric, figure.method, figure.mean, None),
                *(count, None, 1, count != figure.mean),
            )
        )
    return rows
