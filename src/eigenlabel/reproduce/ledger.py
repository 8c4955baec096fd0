"""The ledger: every system, equation, protocol, table and figure of the papers, and its place."""

import csv
from functools import cache
from importlib.resources import files
from typing import NamedTuple

KINDS = ("system", "equation", "algorithm", "protocol", "table", "figure", "claim")
STATES = ("done", "part", "stand-in", "to run", "not run")


class LedgerEntry(NamedTuple):
    """A part of a paper and its place in the code.

    Parameters
    ----------
    paper : str
        Authors and year.
    kind : {"system", "equation", "algorithm", "protocol", "table", "figure", "claim"}
        What the part is.
    item : str
        Its name or number in the paper.
    what : str
        A short description.
    places : tuple of str
        Where it is: "module" or "module:name", "method:NAME" of the catalogue, or "table:NAME" of
        ``eigenlabel reproduce``.
    state : {"done", "part", "stand-in", "to run", "not run"}
        "done": implemented, or runs as published. "part": some of the paper's data sets or settings
        are missing. "stand-in": runs on other data. "to run": implemented, but fewer than one in
        ten of its runs are recorded yet. "not run": nothing can be run.
    reason : str
        Why the state is not "done", or what a reader has to know.
    runs : str
        How many runs of the protocol are recorded in ``results/papers``; empty for what is not run.
    """

    paper: str
    kind: str
    item: str
    what: str
    places: tuple[str, ...]
    state: str
    reason: str
    runs: str = ""


@cache
def read_ledger() -> tuple[LedgerEntry, ...]:
    """Read the ledger.

    Returns
    -------
    tuple of LedgerEntry
        The entries, paper by paper.

    Examples
    --------
    >>> from eigenlabel.reproduce import read_ledger
    >>> first = read_ledger()[0]
    >>> first.paper, first.kind, first.state
    ('Ji et al. (2010)', 'equation', 'done')
    """
    text = (files("eigenlabel.reproduce") / "ledger.csv").read_text(encoding="utf-8")
    return tuple(
        LedgerEntry(
            row["paper"],
            row["kind"],
            row["item"],
            row["what"],
            tuple(row["place"].split()),
            row["state"],
            row["reason"],
            row["runs"],
        )
        for row in csv.DictReader(text.splitlines())
    )
