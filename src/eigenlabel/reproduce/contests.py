"""Comparisons that a paper made on data which cannot be had, made again on other data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import kendalltau

from eigenlabel.comparison import Pair, collect, compare_pair, holm, paired
from eigenlabel.experiment import Data, Method, Protocol, Splits
from eigenlabel.metrics import METRICS
from eigenlabel.reproduce.tables import Figure, published

LEVEL = 0.05
Order = dict[str, float]  # method -> mean


class Standing(NamedTuple):
    """A method on a data set, and how the reference fares against it, here and in the paper.

    Attributes
    ----------
    data, metric, method : whose figures these are
    values : of the splits
    pair : the reference against the method, None for the reference itself
    p : of Wilcoxon's test, by Holm's method over the methods of this data set and metric
    paper : (data sets of the paper on which the reference is better, data sets in all), or None
    """

    data: str
    metric: str
    method: str
    values: np.ndarray
    pair: Pair | None = None
    p: float = float("nan")
    paper: tuple[int, int] | None = None

    @property
    def verdict(self) -> str:
        """Say whether what the paper finds on all its data sets "holds", is "reversed" or "open".

        Empty where the paper says nothing, or different things on different data sets.
        """
        if self.pair is None or self.paper is None or 0 < self.paper[0] < self.paper[1]:
            return ""
        if not self.p < LEVEL:
            return "open"
        return "holds" if (self.pair.difference > 0) == (self.paper[0] > 0) else "reversed"


@dataclass(frozen=True)
class Contest:
    """A paper's table whose data cannot be had: the same comparison on other data.

    Its figures are not compared with ours, the order of its methods is.

    Attributes
    ----------
    name, title : "kgha-table4" and what it is
    methods : by the names of the table's rows
    reference : row that all others are tested against
    metrics : published metric -> ours
    data : data set -> itself, as in :class:`Table`
    splits : how samples are split
    lacking : published data set -> why it cannot be had
    beyond : methods of ours that the paper does not have
    further : metrics of ours that the paper does not have
    notes : what differs from the paper
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
        """List the names of the methods."""
        return [method.name for method in (*self.methods, *self.beyond)]

    def all_metrics(self) -> tuple[str, ...]:
        """List our metrics, those of the paper first."""
        return (*self.metrics.values(), *self.further)

    def protocol(
        self, *, n_splits: int | None = None, methods: Sequence[str] | None = None
    ) -> Protocol:
        """Give the protocol, with fewer splits or methods if so wanted."""
        unknown = [m for m in methods or () if m not in self.runnable()]
        if unknown:
            known = ", ".join(self.runnable())
            raise ValueError(f"No method {unknown[0]!r} in {self.name}; there are: {known}.")
        every = (*self.methods, *self.beyond)
        return Protocol(
            data=[d for group in self.data.values() for d in group],
            methods=[m for m in every if methods is None or m.name in methods],
            splits=replace(self.splits, at_most=n_splits),
            metrics=self.all_metrics(),
            name=self.name,
        )

    def status(self) -> str:
        """Say in a few words what there is."""
        return f"{len(self.methods)} of {len(self.methods)} methods, on {len(self.data)} other sets"

    def orders(self) -> dict[str, dict[str, Order]]:
        """Give the published figures: our metric -> published data set -> row -> figure."""
        found: dict[str, dict[str, Order]] = {}
        for figure in published()[self.name]:
            by_data = found.setdefault(self.metrics[figure.metric], {})
            by_data.setdefault(figure.dataset, {})[row_name(figure)] = figure.mean
        return found

    def standings(self, records: Sequence[dict[str, Any]]) -> list[Standing]:
        """Put our figures in the order of metrics, data sets and methods, with tests."""
        printed, found = self.orders(), []
        for metric in self.all_metrics():
            by_data = collect(records, metric)
            for data in (d.name for group in self.data.values() for d in group):
                by_method = by_data.get(data, {})
                rows = [
                    self._standing(data, metric, name, by_method, printed.get(metric, {}))
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
        greater = METRICS[metric].greater_is_better
        pair = compare_pair(*paired(own, by_method[name]), greater_is_better=greater)
        duels = [order[self.reference] - order[name] for order in printed.values() if name in order]
        better = sum(d > 0 if greater else d < 0 for d in duels)
        paper = (better, len(duels)) if duels and all(duels) else None  # a tie says nothing
        return Standing(data, metric, name, values, pair, paper=paper)

    def agreement(self, standings: Sequence[Standing], metric: str) -> dict[tuple[str, str], float]:
        """Give Kendall's tau of the orders of methods on each two data sets, ours and the paper's.

        Over the methods that both have; NaN for fewer than three.
        """
        ours: dict[str, Order] = {}
        for row in standings:
            if row.metric == metric:
                ours.setdefault(row.data, {})[row.method] = float(np.nanmean(row.values))
        orders = {f"{data} (ours)": order for data, order in ours.items()}
        orders |= {f"{data} (paper)": order for data, order in self.orders()[metric].items()}
        return {(a, b): _tau(orders[a], orders[b]) for a, b in combinations(orders, 2)}


def row_name(figure: Figure) -> str:
    """Name the row of a published figure: its method, or the share p/m that a table varies."""
    parts = dict(part.split("=", 1) for part in figure.setting.split(";") if "=" in part)
    return f"p/m {parts['p/d_J']}" if "p/d_J" in parts else figure.method


def _tau(a: Order, b: Order) -> float:
    common = [name for name in a if name in b]
    if len(common) < 3:
        return float("nan")
    return float(kendalltau([a[m] for m in common], [b[m] for m in common]).statistic)


YEAST, EMOTIONS = (
    (Data(name, f"multiview/{name}_views.mat", prepare="standard"),)
    for name in ("yeast", "emotions")
)
DEBTAGS = (Data("debtags", "debtags", {}, 300, 20, "tfidf", 2500),)
HUE = (
    Data(
        "corel5k-hue",
        [
            f"multiview/corel5k_guillaumin/corel5k_{part}_DenseHue.hvecs"
            for part in ("train", "test")
        ],
        min_positives=20,
        prepare="standard",
        max_samples=2500,
    ),
)
_TAGS = {"debtags": DEBTAGS, "corel5k-hue": HUE, "yeast": YEAST}
_NETWORKS = {"debtags": DEBTAGS, "yeast": YEAST, "emotions": EMOTIONS}
_AT_FIVE = {
    name: f"label_{name}_at_5" for name in ("precision", "recall", "f1")
}  # of tags, Section 7.1
_RANKING = {"one_minus_ranking_loss": "ranking_accuracy"}
_XIONG = "Xiong, Szedmak, Piater"
_NOTES = (
    "The paper's figures are of other data: orders of methods can be compared, figures cannot.",
    "Stratified splits with 60% for training, the same for all methods; each method is tuned "
    "over nine candidates by four folds of the training part, for {scoring}.",
    "debtags: 2500 packages drawn at random, tags of 300 packages and more.",
)
_HUE_NOTE = (
    "corel5k-hue: 2500 images of Corel5K with one of the paper's eight features, words of 20 and "
    "more images."
)


def _contest(number: int, what: str, rows: tuple[Method, ...], **parts: Any) -> Contest:
    """Describe one of the KGHA paper's tables: tags of images (3, 4) or proteins (6, 7)."""
    tags = number < 5
    name, scoring = f"kgha-table{number}", "label_f1_at_5" if tags else "ranking_accuracy"
    why = "eight visual features" if tags else "protein kernels"
    notes = [note.format(scoring=scoring) for note in _NOTES]
    return Contest(
        name,
        f"{_XIONG}, Table {number}: {what}",
        tuple(replace(method, scoring=scoring) for method in rows),
        metrics=_AT_FIVE if tags else _RANKING,
        data=_TAGS if tags else _NETWORKS,
        splits=Splits("shuffle", 10, 0.6),
        lacking=dict.fromkeys(
            (figure.dataset for figure in published()[name]), f"the {why} are not public in full"
        ),
        further=("labels_recalled_at_5", "label_average_precision", "average_precision"),
        notes=(*notes, *([_HUE_NOTE] if tags else [])),
        beyond=tuple(replace(m, scoring=scoring) for m in parts.pop("beyond", ())),
        **parts,
    )


def _shares(number: int) -> Contest:
    shares = ("0.2", "0.4", "0.5", "0.6", "0.8")
    rows = tuple(Method(f"p/m {p}", "KGHA", {"n_components": float(p)}) for p in shares)
    return _contest(number, "KGHA by the dimension of its scores", rows, reference="p/m 0.5")


_OWN = ("KGHA-d", "KGHA-r", "KGHA")
_TAGGERS = ("MBRM", "JEC", "TagProp", "FastTag", "r-MLR", "r-KMLR", "L-HA", *_OWN)
_GRAPHS = ("SW", "GRF-MK", "PfunBG-MK", "TMEC", "r-KMLR", *_OWN)
CONTESTS: dict[str, Contest] = {
    contest.name: contest
    for contest in (
        _shares(3),
        _contest(
            *(4, "KGHA and taggers", tuple(Method(name) for name in _TAGGERS)),
            reference="KGHA",
            beyond=tuple(Method(name) for name in ("KGHA-eq31", "TagProp-ML", "TagProp-RK")),
        ),
        _shares(6),
        _contest(
            *(7, "KGHA and methods on networks", tuple(Method(name) for name in _GRAPHS)),
            reference="KGHA",
            beyond=(Method("KGHA-eq31"),),
        ),
    )
}
