"""Tables of a paper whose data are not available: the same comparison of methods on other data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import kendalltau

from eigenlabel.comparison import Pair, collect, compare_pair, holm, paired
from eigenlabel.experiment import Data, Method, Protocol, Splits
from eigenlabel.linalg._types import Floats
from eigenlabel.metrics import ALL_METRICS
from eigenlabel.reproduce.published_figures import Figure, published
from eigenlabel.reproduce.tables import all_data, check_known

LEVEL = 0.05  # significance level of all tests
Order = dict[str, float]  # method -> mean


class Standing(NamedTuple):
    """A method on a data set, and the comparison of the reference with it, here and in the paper.

    Parameters
    ----------
    data : str
        Name of the data set.
    metric : str
        Name of the metric.
    method : str
        Name of the method.
    values : ndarray of shape (n_splits,)
        The method's figures, one for each split.
    pair : Pair or None
        The reference against the method, or None for the reference itself.
    p : float
        The p-value of Wilcoxon's test, adjusted by Holm's method over the methods of this data
        set and metric.
    paper : (int, int) or None
        The number of the paper's data sets on which the reference is better, and the number of
        all its data sets. None if the paper does not compare the two.
    """

    data: str
    metric: str
    method: str
    values: Floats
    pair: Pair | None = None
    p: float = float("nan")
    paper: tuple[int, int] | None = None

    @property
    def verdict(self) -> str:
        """Whether the paper's finding "holds", is "reversed" or stays "open".

        A finding is an order of two methods that is the same on all data sets of the paper.
        Without one, the verdict is empty.
        """
        if self.pair is None or self.paper is None or 0 < self.paper[0] < self.paper[1]:
            return ""
        if not self.p < LEVEL:
            return "open"
        return "holds" if (self.pair.difference > 0) == (self.paper[0] > 0) else "reversed"


@dataclass(frozen=True)
class Contest:
    """A table of a paper whose data are not available: the same comparison on other data.

    The order of the methods is compared with the paper's. The figures are not, because they come
    from other data.

    Parameters
    ----------
    name : str
        Name of the table, such as "kgha-table4".
    title : str
        The paper, the number of the table and its topic.
    methods : tuple of Method
        The methods, with the names of the table's rows.
    reference : str
        Name of the method that all others are tested against.
    metrics : dict of str to str
        Maps a published metric to ours.
    data : dict of str to tuple of Data
        Maps the name of a data set to itself, as in :class:`Table`.
    splits : Splits
        How samples are split.
    lacking : dict of str to str
        Maps a published data set that is not available to the reason.
    beyond : tuple of Method, default=()
        Methods that the paper does not have.
    further : tuple of str, default=()
        Metrics that the paper does not have.
    notes : tuple of str, default=()
        Differences from the paper.

    Examples
    --------
    >>> from eigenlabel.reproduce import get_table
    >>> get_table("kgha-table7").reference
    'KGHA'
    """

    name: str
    title: str
    methods: tuple[Method, ...]
    reference: str
    metrics: Mapping[str, str]
    data: Mapping[str, tuple[Data, ...]]
    splits: Splits
    lacking: Mapping[str, str]
    beyond: tuple[Method, ...] = ()
    further: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def runnable(self) -> list[str]:
        """List the names of the methods.

        Returns
        -------
        list of str
            The methods of the paper, then the others.
        """
        return [method.name for method in (*self.methods, *self.beyond)]

    def all_metrics(self) -> tuple[str, ...]:
        """List our metrics.

        Returns
        -------
        tuple of str
            The metrics of the paper, then the others.
        """
        return (*self.metrics.values(), *self.further)

    def protocol(
        self, *, n_splits: int | None = None, methods: Sequence[str] | None = None
    ) -> Protocol:
        """Return the protocol of the contest, with fewer splits or methods on request.

        Parameters
        ----------
        n_splits : int or None, default=None
            Upper bound on the number of splits. None runs all splits.
        methods : list of str or None, default=None
            Names of the methods to run. None runs all methods.

        Returns
        -------
        Protocol
            What :func:`eigenlabel.experiment.run` runs.
        """
        check_known("method", self.name, methods or (), self.runnable())
        every = (*self.methods, *self.beyond)
        return Protocol(
            data=all_data(self.data),
            methods=[m for m in every if methods is None or m.name in methods],
            splits=replace(self.splits, at_most=n_splits),
            metrics=self.all_metrics(),
            name=self.name,
        )

    def status(self) -> str:
        """Describe in a few words what can be run.

        Returns
        -------
        str
            The numbers of methods and data sets.
        """
        return f"{len(self.methods)} of {len(self.methods)} methods, on {len(self.data)} other sets"

    def orders(self) -> dict[str, dict[str, Order]]:
        """Return the published figures.

        Returns
        -------
        dict
            Maps our metric, a published data set and a row of the table to the published figure.
        """
        found: dict[str, dict[str, Order]] = {}
        for figure in published()[self.name]:
            by_data = found.setdefault(self.metrics[figure.metric], {})
            by_data.setdefault(set_name(figure), {})[row_name(figure)] = figure.mean
        return found

    def in_percent(self, metric: str) -> bool:
        """Return whether the paper prints a metric in percent.

        Parameters
        ----------
        metric : str
            Name of our metric.

        Returns
        -------
        bool
            Whether a published figure is above one.
        """
        orders = self.orders()[metric].values()
        return any(value > 1 for order in orders for value in order.values())

    def standings(self, records: Sequence[dict[str, Any]]) -> list[Standing]:
        """Compare the reference with all other methods.

        Parameters
        ----------
        records : list of dict
            Records of the contest's protocol.

        Returns
        -------
        list of Standing
            The methods that have records, in the order of metrics, data sets and methods.
        """
        printed, found = self.orders(), []
        for metric in self.all_metrics():
            by_data = collect(records, metric)
            for data in all_data(self.data):
                by_method = by_data.get(data.name, {})
                rows = [
                    self._standing(data.name, metric, name, by_method, printed.get(metric, {}))
                    for name in self.runnable()
                    if name in by_method
                ]
                adjusted = holm([np.nan if r.pair is None else r.pair.wilcoxon for r in rows])
                found += [row._replace(p=float(p)) for row, p in zip(rows, adjusted, strict=True)]
        return found

    def _standing(
        self,
        data: str,
        metric: str,
        name: str,
        by_method: Mapping[str, Mapping[int, float]],
        printed: Mapping[str, Order],
    ) -> Standing:
        values = np.array(list(by_method[name].values()))
        own = by_method.get(self.reference, {})
        if name == self.reference or not set(own) & set(by_method[name]):
            return Standing(data, metric, name, values)
        greater = ALL_METRICS[metric].greater_is_better
        pair = compare_pair(*paired(own, by_method[name]), greater_is_better=greater)
        leads = [order[self.reference] - order[name] for order in printed.values() if name in order]
        better = sum(d > 0 if greater else d < 0 for d in leads)
        paper = (better, len(leads)) if leads and all(leads) else None  # a tie decides nothing
        return Standing(data, metric, name, values, pair, paper=paper)

    def agreement(self, standings: Sequence[Standing], metric: str) -> dict[tuple[str, str], float]:
        """Compute Kendall's tau of the orders of methods on each two data sets.

        The data sets are ours and the paper's. Only methods that both data sets have are ordered.

        Parameters
        ----------
        standings : list of Standing
            What :meth:`standings` returns.
        metric : str
            Name of our metric.

        Returns
        -------
        dict of (str, str) to float
            Maps two data sets to tau, which is NaN for fewer than three methods.
        """
        ours: dict[str, Order] = {}
        for row in standings:
            if row.metric == metric:
                ours.setdefault(row.data, {})[row.method] = float(np.nanmean(row.values))
        orders = {f"{data} (ours)": order for data, order in ours.items()}
        orders |= {f"{data} (paper)": order for data, order in self.orders()[metric].items()}
        return {(a, b): _tau(orders[a], orders[b]) for a, b in combinations(orders, 2)}


def _setting(figure: Figure) -> dict[str, str]:
    return dict(part.split("=", 1) for part in figure.setting.split(";") if "=" in part)


def set_name(figure: Figure) -> str:
    """Return the data of a published figure, with the number of labels if the table varies it."""
    parts = _setting(figure)
    if "terms" not in parts:
        return figure.dataset
    return f"{figure.dataset}, {parts['terms']} terms, {parts['ratio']}"


def row_name(figure: Figure) -> str:
    """Return the row of a published figure: its method, or the share p/m that the table varies."""
    parts = _setting(figure)
    return f"p/m {parts['p/d_J']}" if "p/d_J" in parts else figure.method


def _tau(a: Order, b: Order) -> float:
    common = [name for name in a if name in b]
    if len(common) < 3:
        return float("nan")
    return float(kendalltau([a[m] for m in common], [b[m] for m in common]).statistic)
