"""Statistics of repeated runs: which method is better, and how certain that is."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import stats

from eigenlabel.inputs.parameters import check_number
from eigenlabel.linalg._types import Floats
from eigenlabel.metrics import ALL_METRICS

TIE = 1e-12  # smaller differences of figures are rounding errors


@dataclass(frozen=True)
class Pair:
    """Comparison of two methods on the same splits.

    Parameters
    ----------
    difference : float
        Mean lead of the first method. It is positive if the first method is better.
    wins : int
        Number of splits on which the first method is better.
    ties : int
        Number of splits on which the methods are equal.
    losses : int
        Number of splits on which the second method is better.
    wilcoxon : float
        The p-value of Wilcoxon's signed-rank test.
    t_test : float
        The p-value of the paired t-test.
    """

    difference: float
    wins: int
    ties: int
    losses: int
    wilcoxon: float
    t_test: float


@dataclass(frozen=True)
class Ranking:
    """Friedman's test of several methods, with Nemenyi's critical difference.

    Parameters
    ----------
    methods : tuple of str
        Names of the methods.
    ranks : ndarray of shape (n_methods,)
        Average ranks of the methods. The best rank is 1.
    statistic : float
        The statistic of Friedman's test.
    p_value : float
        The p-value of Friedman's test.
    critical_difference : float
        Two methods differ significantly if their average ranks differ by more than this.
    groups : tuple of tuple of str
        The largest groups of methods, in the order of rank, whose ranks lie within the critical
        difference.
    """

    methods: tuple[str, ...]
    ranks: Floats
    statistic: float
    p_value: float
    critical_difference: float
    groups: tuple[tuple[str, ...], ...]


def _pairs(a: Any, b: Any) -> tuple[Floats, Floats]:
    """Return the figures of two methods without pairs that contain NaN."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if a.ndim != 1 or a.shape != b.shape or not a.size:
        raise ValueError(
            f"Paired figures must be two vectors of the same length, got {a.shape}, {b.shape}."
        )
    defined = ~(np.isnan(a) | np.isnan(b))
    return a[defined], b[defined]


def wilcoxon(a: Any, b: Any, *, method: Literal["auto", "exact", "approx"] = "auto") -> float:
    """Compute the two-sided p-value of Wilcoxon's signed-rank test.

    Equal pairs are left out, and so are pairs with an undefined figure (NaN).

    Parameters
    ----------
    a : array-like of shape (n_splits,)
        Figures of the first method.
    b : array-like of shape (n_splits,)
        Figures of the second method on the same splits.
    method : {"auto", "exact", "approx"}, default="auto"
        How the p-value is computed, as in :func:`scipy.stats.wilcoxon`. "approx" is the normal
        approximation, which the papers used: with 30 pairs its smallest value is 1.73e-6.

    Returns
    -------
    float
        The p-value. It is 1 if all pairs are equal, and NaN if all pairs are undefined.

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
    """Compute the two-sided p-value of the paired t-test.

    Random splits of one data set overlap, so their figures are not independent and the plain test
    finds differences too easily. The correction of Nadeau and Bengio (2003) replaces the variance
    1/n by 1/n + test_over_train.

    Parameters
    ----------
    a : array-like of shape (n_splits,)
        Figures of the first method.
    b : array-like of shape (n_splits,)
        Figures of the second method on the same splits.
    test_over_train : float, default=0.0
        Number of test samples divided by the number of training samples. 0 is the plain test.

    Returns
    -------
    float
        The p-value. It is NaN for fewer than two pairs.

    Examples
    --------
    >>> from eigenlabel.comparison import paired_t
    >>> a, b = [0.5, 0.6, 0.7, 0.8], [0.4, 0.6, 0.5, 0.6]
    >>> round(paired_t(a, b), 3), round(paired_t(a, b, test_over_train=0.5), 3)
    (0.08, 0.229)
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

    Parameters
    ----------
    a : array-like of shape (n_splits,)
        Figures of the first method.
    b : array-like of shape (n_splits,)
        Figures of the second method.
    greater_is_better : bool, default=True
        Whether larger figures are better.
    test_over_train : float, default=0.0
        Correction of the t-test for overlapping splits (:func:`paired_t`).

    Returns
    -------
    Pair
        The mean lead of the first method, wins, ties, losses and p-values.

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


def holm(p_values: Any) -> Floats:
    """Adjust the p-values of several tests by Holm's method.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        The p-values. NaN stays NaN and does not count as a test.

    Returns
    -------
    ndarray of shape (n_tests,)
        The adjusted p-values.

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
    """Rank three or more methods over several data sets.

    Friedman's test asks whether the methods differ at all, and Nemenyi's critical difference which
    of them do.

    Parameters
    ----------
    table : dict of str to array-like of shape (n_datasets,)
        Maps a method to its figures, in the same order of data sets for all methods.
    greater_is_better : bool, default=True
        Whether larger figures are better.
    level : float, default=0.05
        Significance level of the critical difference.

    Returns
    -------
    Ranking
        Average ranks, the test, and groups of methods that do not differ significantly.

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


def _groups(methods: tuple[str, ...], ranks: Floats, cd: float) -> tuple[tuple[str, ...], ...]:
    """List the largest groups of methods whose ranks lie within ``cd``, in the order of rank."""
    order = np.argsort(ranks, kind="stable")
    groups, reach = [], -1
    for i in range(len(order)):
        j = int(np.flatnonzero(ranks[order] <= ranks[order[i]] + cd + TIE)[-1])
        if j > max(i, reach):
            groups.append(tuple(methods[m] for m in order[i : j + 1]))
            reach = j
    return tuple(groups)


Figures = dict[str, dict[str, dict[int, float]]]  # data set -> method -> split -> figure


def collect(records: Sequence[Mapping[str, Any]], metric: str) -> Figures:
    """Collect the figures of one metric from records.

    Parameters
    ----------
    records : list of dict
        Records of :func:`eigenlabel.experiment.run`. Failed runs are left out.
    metric : str
        Name of the metric.

    Returns
    -------
    dict
        Maps a data set, a method and a split to the figure. Undefined figures are NaN.

    Examples
    --------
    >>> from eigenlabel.comparison import collect
    >>> record = {"data": "d", "method": "ridge", "split": 0, "metrics": {"f1_macro": 0.5}}
    >>> collect([record], "f1_macro")
    {'d': {'ridge': {0: 0.5}}}
    """
    found: Figures = {}
    for record in records:
        if metric in record.get("metrics", {}):
            by_method = found.setdefault(record["data"], {}).setdefault(record["method"], {})
            value = record["metrics"][metric]
            by_method[record["split"]] = float("nan") if value is None else float(value)
    return found


def paired(a: Mapping[int, float], b: Mapping[int, float]) -> tuple[list[float], list[float]]:
    """Return the figures of two methods on the splits that both have.

    Parameters
    ----------
    a : dict of int to float
        Maps a split to the figure of the first method.
    b : dict of int to float
        Maps a split to the figure of the second method.

    Returns
    -------
    first : list of float
        Figures of the first method, in the order of splits.
    second : list of float
        Figures of the second method on the same splits.

    Examples
    --------
    >>> from eigenlabel.comparison import paired
    >>> paired({0: 0.5, 1: 0.6}, {1: 0.7, 2: 0.8})
    ([0.6], [0.7])
    """
    common = sorted(set(a) & set(b))
    return [a[s] for s in common], [b[s] for s in common]


def summarise(
    records: Sequence[Mapping[str, Any]], metrics: Sequence[str], reference: str | None = None
) -> dict[str, Any]:
    """Summarise records: means and deviations, comparisons with a reference method, ranks.

    Parameters
    ----------
    records : list of dict
        Records of :func:`eigenlabel.experiment.run`.
    metrics : list of str
        Names of metrics in the records.
    reference : str or None, default=None
        Name of the method that the others are compared with. None is the first method.

    Returns
    -------
    dict
        Maps a metric to a dict. Its key ``means`` maps a data set and a method to (mean, standard
        deviation, number of splits); ``against`` maps a data set and a method to the :class:`Pair`
        of the reference and the method; ``holm`` maps (data set, method) to the p-value of
        Wilcoxon's test, adjusted over all these pairs; ``ranking`` is a :class:`Ranking` over data
        sets, or over the splits of a single one, or None if there are too few figures.

    Examples
    --------
    >>> from eigenlabel.comparison import summarise
    >>> records = [
    ...     {"data": "d", "method": method, "split": split, "metrics": {"f1_macro": value}}
    ...     for method, values in {"ridge": (0.5, 0.6), "svm": (0.4, 0.5)}.items()
    ...     for split, value in enumerate(values)
    ... ]
    >>> summarise(records, ["f1_macro"])["f1_macro"]["against"]["d"]["svm"].wins
    2
    """
    methods = list(dict.fromkeys(r["method"] for r in records))
    if not methods:
        raise ValueError("There are no records to summarise.")
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
    greater = ALL_METRICS[metric].greater_is_better
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


def _moments(values: Iterable[float]) -> tuple[float, float, int]:
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
