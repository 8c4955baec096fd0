"""Sections of a page as dictionaries of JSON types: text, tables, diagrams and curves.

The sections that show a model or its labels are in :mod:`eigenlabel.report.model_sections`. Nothing
in either module depends on HTML.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from eigenlabel.inputs.parameters import check_choice, check_number
from eigenlabel.linalg._types import Floats
from eigenlabel.report.json_values import clean, plain, significant

Section = dict[str, Any]


def page(
    title: str,
    sections: Sequence[Section],
    *,
    subtitle: str = "",
    about: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Combine sections into a page.

    Parameters
    ----------
    title : str
        The title of the page.
    sections : list of dict
        The sections, as :func:`table`, :func:`label_map` and the other functions return them.
    subtitle : str, default=""
        A line below the title.
    about : dict, default=None
        Notes on the origin of the results, shown at the end of the page: versions, machine, date,
        command. The values are numbers, texts, or lists or dictionaries of these.

    Returns
    -------
    page : dict
        The page, for :func:`render` and :func:`write`. It consists of JSON types.

    Examples
    --------
    >>> from eigenlabel import report
    >>> found = report.page("A page", [report.text("Why", ["Because."])], about={"seconds": 2.5})
    >>> found["sections"][0]["kind"], found["about"]
    ('text', {'seconds': 2.5})
    """
    for section in sections:
        if not isinstance(section, dict) or "kind" not in section:
            raise TypeError(
                f"A section must be the result of a function of this module, got {section!r}."
            )
    return {
        "title": clean(title),
        "subtitle": clean(subtitle),
        "about": plain(about or {}),
        "sections": list(sections),
    }


def text(title: str, paragraphs: str | Iterable[str]) -> Section:
    """Return a section of plain text.

    Parameters
    ----------
    title : str
        The heading of the section.
    paragraphs : str or list of str
        The text, with one string for each paragraph.

    Returns
    -------
    section : dict
        The section, for :func:`page`.

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
    """Return a table, which the reader of the page can sort by any column.

    Parameters
    ----------
    title : str
        The heading of the section.
    columns : list of str
        The names of the columns.
    rows : list of lists
        The cells of each row: numbers, texts or None. A text that begins with a number, such as
        "0.61 ± 0.02", is sorted by this number.
    note : str, default=""
        A line below the table.
    best : list, default=None
        For each column "max", "min" or None: which of its values is set in bold.

    Returns
    -------
    section : dict
        The section, for :func:`page`.

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


def resources(
    rows: Iterable[Sequence[Any]], *, title: str = "Time and memory", note: str = ""
) -> Section:
    """Return a table of the time and memory that each step needed.

    Parameters
    ----------
    rows : list of tuples
        The name of a step, its seconds and its memory in MiB. A number that is unknown is None.
    title : str, default="Time and memory"
        The heading of the section.
    note : str, default=""
        A line below the table.

    Returns
    -------
    section : dict
        The section, for :func:`page`.

    Examples
    --------
    >>> from eigenlabel import report
    >>> report.resources([("load", 0.4, 120), ("fit", 3.1, None)])["rows"]
    [['load', 0.4, 120], ['fit', 3.1, None]]
    """
    listed = [plain(list(row)) for row in rows]
    for row in listed:
        if len(row) != 3:
            raise ValueError(f"A row must be (step, seconds, MiB), got {row!r}.")
    return {"kind": "resources", "title": clean(title), "rows": listed, "note": clean(note)}


def critical_difference(
    names: Sequence[str],
    ranks: Sequence[float],
    cd: float,
    *,
    title: str = "Average ranks",
    note: str = "",
) -> Section:
    """Return the diagram of Demšar (2006) of methods by average rank.

    A bar joins methods whose ranks differ by at most the critical difference.

    Parameters
    ----------
    names : list of str
        The names of the methods.
    ranks : list of float
        The average rank of each method. Rank 1 is the best.
    cd : float
        The critical difference of average ranks.
    title : str, default="Average ranks"
        The heading of the section.
    note : str, default=""
        A line below the diagram.

    Returns
    -------
    section : dict
        The section, for :func:`page`.

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


def _joined(ranks: Floats, cd: float) -> list[list[int]]:
    """Return the first and last position of each longest run of ascending ranks within cd."""
    last = np.searchsorted(ranks, ranks + cd * (1 + 1e-12), side="right") - 1
    runs = [[i, int(j)] for i, j in enumerate(last) if j > i]
    return [run for k, run in enumerate(runs) if k == 0 or run[1] > runs[k - 1][1]]


def curves(
    title: str,
    values: Sequence[Any],
    series: Mapping[str, Sequence[float | None]],
    *,
    x: str,
    y: str,
) -> Section:
    """Return a chart of several curves over the same values, with a table of their numbers.

    Parameters
    ----------
    title : str
        The heading of the section.
    values : list
        The values of the parameter on the x-axis. They are drawn at equal distances in this order.
    series : dict of str to list of float
        The numbers of each curve, one for each value. A missing number is None.
    x : str
        The name of the x-axis.
    y : str
        The name of the y-axis.

    Returns
    -------
    section : dict
        The section, for :func:`page`.

    Examples
    --------
    >>> from eigenlabel import report
    >>> shown = report.curves("Loss", [1, 2], {"a": [0.5, 0.25]}, x="d", y="loss")
    >>> shown["names"], shown["series"]
    (['a'], [[0.5, 0.25]])
    """
    short = [name for name, numbers in series.items() if len(numbers) != len(values)]
    if short:
        raise ValueError(
            f"The curve {short[0]!r} has {len(series[short[0]])} numbers for {len(values)} values."
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
