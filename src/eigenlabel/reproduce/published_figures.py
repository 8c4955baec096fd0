"""The published figures of the papers, read from the CSV file beside each paper's module."""

import csv
from functools import cache
from importlib.resources import files
from typing import NamedTuple

PAPERS = "eigenlabel.reproduce.papers"


class Figure(NamedTuple):
    """A published number.

    Parameters
    ----------
    dataset : str
        Name of the data set in the table.
    setting : str
        What else the table says about the run, such as the number of training samples.
    method : str
        Name of the method in the table.
    metric : str
        Name of the metric.
    mean : float
        The published number.
    std : float or None
        The published standard deviation, or None if the table has none.
    """

    dataset: str
    setting: str
    method: str
    metric: str
    mean: float
    std: float | None


@cache
def read_figures(paper: str) -> dict[str, list[Figure]]:
    """Read the published figures of one paper.

    Parameters
    ----------
    paper : str
        Name of the paper's module, such as "han2010".

    Returns
    -------
    dict of str to list of Figure
        Maps the name of a table to its figures.
    """
    found: dict[str, list[Figure]] = {}
    text = (files(PAPERS) / f"{paper}.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        figure = Figure(
            row["dataset"],
            row["setting"],
            row["method"],
            row["metric"],
            float(row["mean"]),
            float(row["std"]) if row["std"] else None,
        )
        found.setdefault(row["table"], []).append(figure)
    return found


def values_by_method(paper: str, table: str, metric: str, dataset: str) -> dict[str, float]:
    """Return the published values of all methods of a table on one data set.

    Parameters
    ----------
    paper : str
        Name of the paper's module, such as "zhang2010".
    table : str
        Name of the table, such as "mddm-table1".
    metric : str
        Name of the metric in the paper.
    dataset : str
        Name of the data set in the paper.

    Returns
    -------
    dict of str to float
        Maps the name of a method in the paper to its value.
    """
    return {
        figure.method: figure.mean
        for figure in read_figures(paper)[table]
        if (figure.metric, figure.dataset) == (metric, dataset)
    }


@cache
def published() -> dict[str, list[Figure]]:
    """Read the published figures of all papers.

    Returns
    -------
    dict of str to list of Figure
        Maps the name of a table to its figures.

    Examples
    --------
    >>> from eigenlabel.reproduce import published
    >>> figure = published()["mlls-table3"][0]
    >>> figure.dataset, figure.method, figure.metric
    ('Arts', 'ML_LS', 'auc')
    """
    names = sorted(entry.name for entry in files(PAPERS).iterdir() if entry.name.endswith(".csv"))
    found: dict[str, list[Figure]] = {}
    for name in names:
        found |= read_figures(name.removesuffix(".csv"))
    return found
