"""Statistics of repeated runs: which method is better, and how sure that is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from eigenlabel.inputs.validation import check_number
from eigenlabel.metrics import METRICS

TIE = 1e-12  # differences of means of floats; smaller ones are rounding


@dataclass(frozen=True)
class Pair:
    """Two methods on the same splits: the first one's mean lead, wins, ties, losses, p-values."""

    difference: float
    wins: int
    ties: int
    losses: int
    wilcoxon: float
    t_test: float


@dataclass(frozen=True)
class Ranking:
    """Friedman's test of several methods: average ranks (1 is best) and how far they may differ.

    ``groups`` are the runs of methods, as positions in the order of rank, that lie within the
    critical difference of Nemenyi's test and cannot be told apart.
    """

    methods: tuple[str, ...]
    ranks: np.ndarray
    statistic: float
    p_value: float
    critical_difference: float
    groups: tuple[tuple[str, ...], ...]


def _pairs(a: Any, b: Any) -> tuple[np.ndarray, np.ndarray]:
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if a.ndim != 1 or a.shape != b.shape or not a.size:
        raise ValueError(
            f"Paired figures must be two vectors of one length, got {a.shape}, {b.shape}."
        )
    defined = ~(np.isnan(a) | np.isnan(b))
    return a[defined], b[defined]


def wilcoxon(a: Any, b: Any, *, method: str = "auto") -> float:
    """Give the two-sided p-value of Wilcoxon's signed-rank test; equal pairs are left out.

    Pairs with an undefined figure (NaN) do not count; NaN if none is left.

    ``method="approx"`` is the normal approximation, which the papers used: with 30 pairs its
    smallest value is 1.73e-6.

    Examples
    --------
    >>> from eigenlabel.comparison import wilcoxon
    >>> a, b = [0.5 + 0.01 * k for k in range(30)], [0.4] * 30
    >>> f"{wilcoxon(a, b, method='approx'):.2e}"
    '1.73e-06'
    """
    difference = np.subtract(*_pairs(a, b))
    if not difference.size:
        return float("nan")
    difference = difference[np.abs(difference) > TIE]
    if not difference.size:
        return 1.0
    return float(stats.wilcoxon(difference, method=method).pvalue)


def paired_t(a: Any, b: Any, *, test_over_train: float = 0.0) -> float:
    """Give the two-sided p-value of the paired t-test.

    Random splits of one data set overlap, so that their figures are not independent and the plain
    test is too sure of itself. ``test_over_train``, the ratio of the two sizes, corrects for it
    (Nadeau and Bengio, 2003): the variance 1/n becomes 1/n + test_over_train.
    """
    check_number("test_over_train", test_over_train, 0)
    difference = np.subtract(*_pairs(a, b))
    n = len(difference)
    if n < 2:
        return float("nan")
    spread = difference.std(ddof=1)
    if (np.abs(difference) <= TIE).all():
        return 1.0
    if spread <= TIE:
        return 0.0
    t = difference.mean() / (spread * np.sqrt(1 / n + test_over_train))
    return float(2 * stats.t.sf(abs(t), n - 1))


def compare_pair(
    a: Any, b: Any, *, greater_is_better: bool = True, test_over_train: float = 0.0
) -> Pair:
    """Compare the figures of two methods on the same splits.

    Examples
    --------
    >>> from eigenlabel.comparison import compare_pair
    >>> pair = compare_pair([0.5, 0.6, 0.7, 0.8], [0.4, 0.6, 0.5, 0.6])
    >>> pair.wins, pair.ties, pair.losses, pair.wilcoxon
    (3, 1, 0, 0.25)
    """
    lead = np.subtract(*_pairs(a, b)) * (1 if greater_is_better else -1)
    return Pair(
        difference=float(lead.mean()) if lead.size else float("nan"),
        wins=int((lead > TIE).sum()),
        ties=int((np.abs(lead) <= TIE).sum()),
        losses=int((lead < -TIE).sum()),
        wilcoxon=wilcoxon(a, b),
        t_test=paired_t(a, b, test_over_train=test_over_train),
    )


def holm(p_values: Any) -> np.ndarray:
    """Adjust p-values of several tests by Holm's method; NaN stays NaN and does not count.

    Examples
    --------
    >>> from eigenlabel.comparison import holm
    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    out = np.full(p.shape, np.nan)
    order = np.argsort(p)[: (~np.isnan(p)).sum()]  # NaN sorts last
    stepped = p[order] * np.arange(len(order), 0, -1)
    out[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return out


def friedman(
    table: Mapping[str, Any], *, greater_is_better: bool = True, level: float = 0.05
) -> Ranking:
    """Rank three or more methods over several data sets (Friedman's test, Nemenyi's difference).

    Parameters
    ----------
    table : method -> figures, one for each data set in the same order
    greater_is_better : bool
    level : of the critical difference

    Examples
    --------
    >>> from eigenlabel.comparison import friedman
    >>> ranking = friedman({"a": [3, 3, 3, 3, 3], "b": [2, 2, 2, 1, 1], "c": [1, 1, 1, 2, 2]})
    >>> ranking.ranks.tolist(), round(ranking.critical_difference, 3), ranking.groups
    ([1.0, 2.4, 2.6], 1.482, (('a', 'b'), ('b', 'c')))
    """
    check_number("level", level, 1e-12, 0.5)
    methods = tuple(table)
    F = np.column_stack([np.asarray(v, dtype=float) for v in table.values()])
    n, k = F.shape
    if k < 3 or n < 2:
        raise ValueError(f"Friedman's test needs 3 methods and 2 data sets, got {k} and {n}.")
    if np.isnan(F).any():
        raise ValueError("Friedman's test needs a figure of every method on every data set.")
    ranks = stats.rankdata(-F if greater_is_better else F, axis=1).mean(axis=0)
    same = (F[:, :1] == F).all()
    result = (0.0, 1.0) if same else stats.friedmanchisquare(*F.T)
    q = stats.studentized_range.ppf(1 - level, k, np.inf) / np.sqrt(2)
    cd = float(q * np.sqrt(k * (k + 1) / (6 * n)))
    return Ranking(
        methods, ranks, float(result[0]), float(result[1]), cd, _groups(methods, ranks, cd)
    )


def _groups(methods: tuple[str, ...], ranks: np.ndarray, cd: float) -> tuple[tuple[str, ...], ...]:
    """List the longest runs of methods whose ranks lie within ``cd``."""
    order = np.argsort(ranks, kind="stable")
    groups, reach = [], -1
    for i in range(len(order)):
        j = int(np.flatnonzero(ranks[order] <= ranks[order[i]] + cd + TIE)[-1])
        if j > max(i, reach):
            groups.append(tuple(methods[m] for m in order[i : j + 1]))
            reach = j
    return tuple(groups)


Figures = dict[str, dict[str, dict[int, float]]]


def collect(records: Sequence[Mapping[str, Any]], metric: str) -> Figures:
    """Sort the figures of one metric: data -> method -> split -> figure, failed runs left out."""
    found: Figures = {}
    for record in records:
        if metric in record.get("metrics", {}):
            by_method = found.setdefault(record["data"], {}).setdefault(record["method"], {})
            value = record["metrics"][metric]
            by_method[record["split"]] = float("nan") if value is None else float(value)
    return found


def paired(a: Mapping[int, float], b: Mapping[int, float]) -> tuple[list[float], list[float]]:
    """Give the figures of two methods on the splits that both have."""
    common = sorted(set(a) & set(b))
    return [a[s] for s in common], [b[s] for s in common]


def summarise(
    records: Sequence[Mapping[str, Any]], metrics: Sequence[str], reference: str | None = None
) -> dict[str, Any]:
    """Sum up records: means and deviations, comparisons with a reference method, ranks.

    Parameters
    ----------
    records : of :func:`eigenlabel.experiment.run`
    metrics : names of metrics in them
    reference : method that the others are compared with, the first one by default

    Returns
    -------
    dict : metric -> ``means`` (data -> method -> (mean, std, n)), ``against`` (data -> method ->
        :class:`Pair` of the reference against it, with Holm's correction over all of them in
        ``holm``), ``ranking`` (a :class:`Ranking` over data sets, or over the splits of a single
        one; None where there is too little for it)
    """
    methods = list(dict.fromkeys(r["method"] for r in records))
    if not methods:
        raise ValueError("No records to sum up.")
    reference = methods[0] if reference is None else reference
    if reference not in methods:
        raise ValueError(f"No records of {reference!r}; there are: {', '.join(methods)}.")
    ratios = {r["data"]: r["test_size"] / r["train_size"] for r in records if "test_size" in r}
    return {
        metric: _summarise(collect(records, metric), metric, methods, reference, ratios)
        for metric in metrics
    }


def _summarise(
    found: Figures, metric: str, methods: list[str], reference: str, ratios: dict[str, float]
) -> dict[str, Any]:
    greater = METRICS[metric].greater_is_better
    means: dict[str, Any] = {}
    against: dict[str, Any] = {}
    for data, by_method in found.items():
        means[data] = {m: _moments(v.values()) for m, v in by_method.items()}
        against[data] = {
            m: compare_pair(
                *paired(by_method[reference], by_method[m]),
                greater_is_better=greater,
                test_over_train=ratios.get(data, 0.0),
            )
            for m in by_method
            if m != reference
            and reference in by_method
            and set(by_method[m]) & set(by_method[reference])
        }
    keys = [(d, m) for d, row in against.items() for m in row]
    adjusted = holm([against[d][m].wilcoxon for d, m in keys])
    return {
        "means": means,
        "against": against,
        "holm": {key: float(p) for key, p in zip(keys, adjusted, strict=True)},
        "ranking": _ranking(found, methods, greater),
    }


def _moments(values: Any) -> tuple[float, float, int]:
    v = np.array(list(values), dtype=float)
    v = v[~np.isnan(v)]
    if not v.size:
        return float("nan"), float("nan"), 0
    return float(v.mean()), float(v.std(ddof=1)) if v.size > 1 else float("nan"), int(v.size)


def _ranking(found: Figures, methods: list[str], greater: bool) -> Ranking | None:
    """Rank by the means over data sets, or by the splits of a single data set."""
    if len(found) == 1:
        by_method = next(iter(found.values()))
        common = set.intersection(*(set(by_method.get(m, ())) for m in methods))
        table = {m: [by_method[m][s] for s in sorted(common)] for m in methods if common}
    else:
        whole = [row for row in found.values() if all(row.get(m) for m in methods)]
        table = {m: [_moments(row[m].values())[0] for row in whole] for m in methods}
    figures = np.array(list(table.values()), dtype=float)
    if len(table) < 3 or figures.shape[1] < 2 or np.isnan(figures).any():
        return None
    return friedman(table, greater_is_better=greater)
