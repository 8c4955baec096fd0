"""Tables of a contest: the methods of a paper on other data than the paper's."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from eigenlabel.cli.tables import format_note, format_table
from eigenlabel.reproduce import Contest, Standing
from eigenlabel.reproduce.contests import LEVEL


def print_contest(contest: Contest, records: Sequence[dict[str, Any]], form: str) -> None:
    """Print our results with tests, the results of the paper, and how far their orders agree."""
    print(contest.title + "\n")
    standings = contest.standings(records)
    for metric in contest.all_metrics():
        rows = [row for row in standings if row.metric == metric]
        if rows:
            header = _header(contest, metric)
            print(format_table(header, [_row(r, len(header)) for r in rows], form) + "\n")
    printed = list(contest.metrics.values())
    for metric in printed:
        _print_paper(contest, metric, form)
    for metric in printed:
        _print_agreement(contest.agreement(standings, metric), metric, form)
    for metric in printed:
        print(_verdicts(contest, [row for row in standings if row.metric == metric], metric))
    print()
    for note in contest.notes:
        print(format_note(f"note: {note}", form))


def _header(contest: Contest, metric: str) -> tuple[str, ...]:
    tests = (f"{contest.reference} won/tied/lost", "p (Wilcoxon, Holm)", "pairs")
    if metric not in contest.metrics.values():
        return ("data", "method", metric, "splits", *tests)
    paper = f"paper: {contest.reference} better on"
    return ("data", "method", metric, "splits", *tests, paper, "here")


def _row(row: Standing, width: int) -> tuple[str, ...]:
    values = row.values[~np.isnan(row.values)]
    figure = f"{values.mean():.4f}" if len(values) else ""
    if len(values) > 1:
        figure += f" ± {values.std(ddof=1):.4f}"
    tests: tuple[str, ...] = ("", "", "")
    if row.pair is not None:
        counts = row.pair.wins, row.pair.ties, row.pair.losses
        tests = ("/".join(map(str, counts)), f"{row.p:.3g}", str(sum(counts)))
    paper = "" if row.paper is None else f"{row.paper[0]} of {row.paper[1]} sets"
    return (row.data, row.method, figure, str(len(values)), *tests, paper, row.verdict)[:width]


def _print_paper(contest: Contest, metric: str, form: str) -> None:
    """Print the results of the paper in a table of their own, because their data differ."""
    orders = contest.orders()[metric]
    percent = contest.in_percent(metric)
    digits = 1 if percent else 4
    rows = [
        (m.name, *(f"{o[m.name]:.{digits}f}" if m.name in o else "" for o in orders.values()))
        for m in contest.methods
    ]
    print(f"The paper's {metric}{' in percent' * percent}, on its own data:\n")
    print(format_table(("method", *orders), rows, form) + "\n")


def _print_agreement(taus: dict[tuple[str, str], float], metric: str, form: str) -> None:
    names = list(dict.fromkeys(name for pair in taus for name in pair))
    cells = {pair: "" if np.isnan(tau) else f"{tau:+.2f}" for pair, tau in taus.items()}
    rows = [(a, *(cells.get((a, b), "") for b in names[1:])) for a in names[:-1]]
    print(f"Kendall's tau of the orders of methods by {metric}:\n")
    print(format_table(("", *names[1:]), rows, form) + "\n")


def _verdicts(contest: Contest, rows: Sequence[Standing], metric: str) -> str:
    """Return a sentence on the findings of the paper on all its data sets: how many hold here."""
    found = Counter(row.verdict for row in rows if row.verdict)
    return (
        f"{metric}: {contest.reference} against another method, for the findings that the paper "
        f"has on all its data sets, tested on each data set here: {found['holds']} of "
        f"{sum(found.values())} findings hold, {found['reversed']} are reversed, and "
        f"{found['open']} are open (p >= {LEVEL:g})."
    )
