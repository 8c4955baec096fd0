"""Write the records of the papers to results/papers, and the tables of docs/papers from them.

    python tools/paper_pages.py --export     copies the records of runs/ to results/papers
    python tools/paper_pages.py --restore    copies them back, so that a new clone goes on with them
    python tools/paper_pages.py              rewrites the generated parts of docs/papers
    python tools/paper_pages.py --check      fails if a page differs from the records

A generated part begins with a line "<!-- begin NAME metric, metric -->" and ends with
"<!-- end -->". NAME is a table or figure of ``eigenlabel reproduce``, "ledger", or "progress".
A file in results/papers/means contains means whose single runs were not kept.
"""

import argparse
import csv
import io
import re
import sys
import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eigenlabel.experiment import plan, read_records
from eigenlabel.experiment.records import appending
from eigenlabel.reproduce import (
    CONTESTS,
    FIGURES,
    TABLES,
    Contest,
    Curves,
    Row,
    Table,
    compare,
    get_table,
    read_csv,
    read_ledger,
    write_csv,
)
from eigenlabel.reproduce.curves import TIME

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results" / "papers"
PAGES = ROOT / "docs" / "papers"
LEDGER = ROOT / "src" / "eigenlabel" / "reproduce" / "ledger.csv"
BEGIN = re.compile(r"<!-- begin (?P<name>\S+)(?: (?P<words>.*?))? -->")
END = "<!-- end -->"
WIDTH = 98
# Tables of p-values and time figures read the records of the table that was run.
SOURCES = {"mlls-table5": "mlls-table3", "mlls-table6": "mlls-table4"}
Records = list[dict[str, Any]]


def records_of(name: str) -> Records:
    """Return the records of a table or figure; the list is empty if nothing was run."""
    path = RESULTS / f"{SOURCES.get(name, name)}.csv"
    if not path.exists():
        return []
    table = get_table(name)
    if isinstance(table, Curves):
        methods = {method.name for method in table.points.values()}
    else:
        methods = set(table.runnable())
    return [record for record in read_csv(path) if record["method"] in methods]


def export(runs: Path) -> None:
    """Write one CSV file for each table or figure that has records, and the sizes of data sets."""
    for name in (*TABLES, *CONTESTS, *FIGURES):
        table = get_table(name)
        if isinstance(table, Table) and table.kind == "counts":
            export_counts(table)
        if not table.data or name in SOURCES or getattr(table, "kind", "") == "counts":
            continue
        protocol = table.protocol()
        folder = runs / protocol.name
        if not folder.is_dir():
            continue
        last = {record["key"]: record for record in read_records(folder)}
        found = [last[task.key] for task in plan(protocol, folder).tasks if task.key in last]
        if found:
            print(name, write_csv(found, RESULTS / f"{name}.csv"))


def restore(runs: Path) -> None:
    """Add the records of results/papers that are not in ``runs`` yet."""
    for name in (*TABLES, *CONTESTS, *FIGURES):
        path = RESULTS / f"{name}.csv"
        table = get_table(name)
        if name in SOURCES or not path.exists() or getattr(table, "kind", "") == "counts":
            continue
        folder = runs / table.protocol().name
        known = {record["key"] for record in read_records(folder)}
        with appending(folder) as file:
            for record in read_csv(path):
                if record["key"] not in known:
                    file.add(record)


def export_counts(table: Table) -> None:
    """Write the published sizes of data sets and ours."""
    rows = compare(table, [])
    with (RESULTS / f"{table.name}.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("data", "count", "paper", "ours"))
        for row in rows:
            if row.ours is not None and row.paper is not None:
                writer.writerow((row.dataset, row.metric, int(row.paper), int(row.ours)))


def number(value: float | None, digits: int = 3) -> str:
    """Return a short figure without the zero before its point."""
    if value is None or np.isnan(value):
        return ""
    if abs(value) >= 10:
        return f"{value:.1f}"
    return f"{value:.{digits}f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.2f}"


def p_value(p: float) -> str:
    """Return a p-value, small ones with an exponent."""
    return f"{p:.1e}" if p < 0.001 else number(p)


def spans(counts: Sequence[int]) -> str:
    """Return counts as one number, or as a range."""
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"


def grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table of Markdown."""
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows)]


def plain(method: str) -> str:
    """Return the name of a method for Markdown."""
    return method.removesuffix(" (paper: its best)").replace("^", r"\^")


def figures_by_set(table: Table, rows: list[Row], metric: str) -> list[str]:
    """Return a table of methods by data sets; a cell has the published figure and ours."""
    rows = [row for row in rows if row.metric == metric]
    sets = [name for name in table.data if any(r.dataset == name and r.ours for r in rows)]
    lines = []
    for method in dict.fromkeys(row.method for row in rows):
        found = {row.dataset: row for row in rows if row.method == method}
        counts = [found[s].n for s in sets if s in found and found[s].n]
        if not counts:
            lines.append([plain(method), *("not run" for _ in sets), "0"])
            continue
        own = method.endswith("its best)")
        cells = [figure_cell(found.get(s), own) for s in sets]
        every = table.n_runs(sets[0], method)
        lines.append([plain(method), *cells, f"{spans(counts)} of {every}"])
    what = "data sets" if len(table.data[sets[0]]) > 1 else "splits"
    what = "pairs" if table.kind == "p-values" else what
    return [f"{metric}, published / ours:", "", *grid(["method", *sets, what], lines), ""]


def figure_cell(row: Row | None, own: bool = False) -> str:
    """Return the published figure and ours, with marks; ``own`` methods have no published one."""
    if row is None or row.ours is None:
        return "not run"
    if row.metric.startswith("p of"):
        return f"{p_value(row.paper or 0)} / {p_value(row.ours)} ({row.n})"
    mark = "\\*" * bool(row.outside) + " •" * bool(row.best)
    return f"{'' if own else number(row.paper)} / {number(row.ours)}{mark}"


def figures_by_metric(table: Table, rows: list[Row], metrics: Sequence[str]) -> list[str]:
    """Return a table of methods by metrics, for a table whose data sets are averaged."""
    dataset = next(iter(table.data))
    by = {(row.method, row.metric): row for row in rows if row.dataset == dataset}
    lines = []
    for method in table.methods:
        found = [by.get((method, metric)) for metric in metrics]
        count = max((row.n for row in found if row), default=0)
        cells = [figure_cell(row) for row in found]
        lines.append([plain(method), *cells, f"{count} of {table.n_runs(dataset)}"])
    what = "data sets" if len(table.data[dataset]) > 1 else "splits"
    return [f"{dataset}, published / ours:", "", *grid(["method", *metrics, what], lines), ""]


def show_table(table: Table, records: Records, metrics: Sequence[str]) -> list[str]:
    """Return the tables of some metrics, and what their marks mean."""
    rows = [row for row in compare(table, records) if row.dataset in table.data]
    shown = [row for row in rows if row.ours is not None]
    metrics = metrics or list(dict.fromkeys(row.metric for row in rows))
    if not shown:
        return ["No runs are recorded.", ""]
    lines: list[str] = []
    if len(table.data) > 1:
        for metric in metrics:
            lines += figures_by_set(table, rows, metric)
    else:
        lines += figures_by_metric(table, rows, metrics)
    if table.kind == "p-values":
        lines += [
            "P-values are of the normal approximation, as in the paper. In brackets: the number of "
            "pairs.",
            "",
        ]
    elif any(row.outside for row in shown):
        lines += [
            "\\* differs from the paper by more than its standard deviation, or by more than "
            "ours if it prints none.",
            "",
        ]
    if any(row.best for row in shown):
        lines += ["• the best of ours, or not worse by a paired t-test at 5%.", ""]
    return lines


def show_contest(contest: Contest, records: Records, metrics: Sequence[str]) -> list[str]:
    """Return a table of methods by data sets, with tests against the reference."""
    standings = contest.standings(records)
    if not standings:
        return ["No runs are recorded.", ""]
    lines: list[str] = []
    for metric in metrics or tuple(contest.metrics.values()):
        rows = [row for row in standings if row.metric == metric]
        sets = list(dict.fromkeys(row.data for row in rows))
        table = []
        for method in contest.runnable():
            by = {row.data: row for row in rows if row.method == method}
            if by:
                table.append([plain(method), *(standing_cell(by.get(s)) for s in sets)])
        lines += [f"{metric}, mean (splits), and p against {contest.reference}:", ""]
        lines += [*grid(["method", *sets], table), ""]
    verdicts = Counter(row.verdict for row in standings if row.verdict)
    if verdicts:
        lines += [
            f"Some methods have the same order as {contest.reference} on all data sets of the "
            "paper, by a metric. Tested on each of our data sets, that is "
            f"{sum(verdicts.values())} comparisons. As in the paper: {verdicts['holds']}, "
            f"reversed: {verdicts['reversed']}, undecided: {verdicts['open']}.",
            "",
        ]
    lines += [
        f"The protocol has {contest.splits.n_splits} splits; the numbers in brackets count those "
        "that were run. P-values are of Wilcoxon's test over the splits that both methods have "
        "(their number is stated where it is smaller), adjusted by Holm's method.",
        "",
    ]
    return lines


def standing_cell(row: Any) -> str:
    """Return a mean, the number of splits, and the p-value against the reference."""
    if row is None:
        return "not run"
    values = row.values[~np.isnan(row.values)]
    text = f"{number(float(values.mean()))} ({len(values)})"
    if row.pair is None or np.isnan(row.p):
        return text
    pairs = row.pair.wins + row.pair.ties + row.pair.losses
    few = f" of {pairs} pairs" if pairs != len(values) else ""
    return f"{text}, {p_value(row.p)}{few}"


def show_curves(figure: Curves, records: Records) -> list[str]:
    """Return a table of each panel with the means of its curves, and the number of splits."""
    lines: list[str] = []
    every = figure.splits.n_splits
    for panel, means in figure.means(records).items():
        names = [d.name for d in figure.data[panel]]
        counts = [
            sum(r["data"] in names and r["method"] == figure.points[point].name for r in records)
            // len(names)
            for point in means
        ]
        curves = [c for c in figure.curves() if any(c == curve for curve, _ in means)]
        values = list(dict.fromkeys(x for _, x in means))
        digits = 2 if figure.y == TIME else 3
        rows = [[x, *(number(means.get((c, x)), digits) for c in curves)] for x in values]
        title = f"{panel}: {figure.y}, means of {spans(counts)} of {every} splits:"
        lines += [title, "", *grid([figure.x, *curves], rows), ""]
        if figure.y == TIME and len(values) > 2:
            lines += [*slopes(curves, values, means), ""]
    return lines


def slopes(curves: Sequence[str], values: Sequence[str], means: Any) -> list[str]:
    """Return the exponents of growth, from straight lines through logarithms."""
    try:
        x = np.log([float(v) for v in values])
    except ValueError:
        return []
    parts = []
    for curve in curves:
        y = [means.get((curve, v)) for v in values]
        if all(y):
            parts.append(f"{curve} {np.polyfit(x, np.log(y), 1)[0]:.1f}")
    return [f"Exponents of growth (least squares of logarithms): {'; '.join(parts)}."]


def means_of(name: str) -> list[dict[str, str]]:
    """Return the means of a table or figure that were recorded without their single runs."""
    path = RESULTS / "means" / f"{name}.csv"
    return list(csv.DictReader(path.read_text().splitlines())) if path.exists() else []


def show_means(name: str, metrics: Sequence[str]) -> list[str]:
    """Return tables of means that were recorded earlier: published figures, ours, and notes."""
    rows = means_of(name)
    table = get_table(name)
    lines: list[str] = []
    if isinstance(table, Table):
        paper = {(r.dataset, r.metric, r.method): r.paper for r in compare(table, [])}
        metrics = metrics or list(dict.fromkeys(row["metric"] for row in rows))
        for data in dict.fromkeys(row["data"] for row in rows):
            found = {(r["method"], r["metric"]): r for r in rows if r["data"] == data}
            every = table.n_runs(data)
            body = []
            for method in dict.fromkeys(row["method"] for row in rows):
                cells = [found.get((method, metric)) for metric in metrics]
                text = [
                    f"{number(paper.get((data, r['metric'], method)))} / {number(float(r['mean']))}"
                    if r
                    else ""
                    for r in cells
                ]
                runs = next((r["runs"] for r in cells if r), "0")
                body.append([plain(method), *text, f"{runs} of {every}"])
            what = "data sets" if len(table.data[data]) > 1 else "splits"
            lines += [f"{data}, published / ours:", "", *grid(["method", *metrics, what], body), ""]
    else:
        lines += show_other_means(table, rows, metrics)
    notes = Counter(note for row in rows for note in row["note"].split("; ") if note)
    said = f" ({'; '.join(notes)})" if notes else ""
    return [f"Means of an earlier version, whose single runs were not kept{said}.", "", *lines]


def show_other_means(
    table: Contest | Curves, rows: list[dict[str, str]], metrics: Sequence[str]
) -> list[str]:
    """Return earlier means of a contest by data sets, or of a figure by its parameter."""
    lines: list[str] = []
    if isinstance(table, Contest):
        for metric in metrics or tuple(table.metrics.values()):
            chosen = [row for row in rows if row["metric"] == metric]
            sets = list(dict.fromkeys(row["data"] for row in chosen))
            body = []
            for method in dict.fromkeys(row["method"] for row in chosen):
                by = {row["data"]: row for row in chosen if row["method"] == method}
                body.append([plain(method), *(means_cell(by.get(s)) for s in sets)])
            title = f"{metric}, mean (splits), and p against {table.reference}:"
            lines += [title, "", *grid(["method", *sets], body), ""]
        return lines
    for data in dict.fromkeys(row["data"] for row in rows):
        chosen = [row for row in rows if row["data"] == data]
        curves = list(dict.fromkeys(row["method"] for row in chosen))
        by = {(row["method"], row["x"]): row for row in chosen}
        body = [
            [x, *(number(float(by[c, x]["mean"])) if (c, x) in by else "" for c in curves)]
            for x in dict.fromkeys(row["x"] for row in chosen)
        ]
        lines += [f"{data}, {table.y}:", "", *grid([table.x, *curves], body), ""]
    return lines


def means_cell(row: dict[str, str] | None) -> str:
    """Return an earlier mean, the number of splits, and the p-value against the reference."""
    if row is None:
        return "not run"
    text = f"{number(float(row['mean']))} ({row['runs']})"
    return f"{text}, {p_value(float(row['p']))}" if row["p"] else text


def progress(name: str) -> str:
    """Return how many runs of a protocol are recorded, or nothing if there are none to run."""
    table = get_table(name)
    if not table.data or (isinstance(table, Table) and table.kind == "counts"):
        return ""
    done = len(records_of(name))
    if not done and means_of(name):
        return "earlier means"
    protocol = table.protocol()
    fewer = table.fewer if isinstance(table, Table) else {}
    splits = [fewer.get(method.name, table.splits.n_splits) for method in protocol.methods]
    return f"{done} of {len(protocol.data) * sum(splits)} runs"


def show_progress() -> list[str]:
    """Return how many runs of each protocol are recorded."""
    names = [name for name in (*TABLES, *CONTESTS, *FIGURES) if progress(name)]
    return [*grid(["table or figure", "recorded"], [[n, progress(n)] for n in names]), ""]


def renewed_ledger() -> str:
    """Return the ledger with the recorded runs of each table and figure."""
    rows = list(csv.DictReader(LEDGER.read_text().splitlines()))
    for row in rows:
        places = [p.removeprefix("table:") for p in row["place"].split() if p.startswith("table:")]
        row["runs"] = "; ".join(f"{n}: {found}" for n in places if (found := progress(n)))
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def show_ledger() -> list[str]:
    """Return the number of entries by state, and those without a run."""
    states = Counter(entry.state for entry in read_ledger())
    counts = ", ".join(f"{n} “{state}”" for state, n in states.items())
    lines = [
        f"The ledger has {len(read_ledger())} entries: {counts}. Those without runs, or with few:",
        "",
    ]
    rows = [(e.paper, e.item, e.reason) for e in read_ledger() if e.state.endswith("run")]
    return [*lines, *grid(["paper", "item", "reason"], rows), ""]


def generated(name: str, words: str | None) -> list[str]:
    """Return the lines of a generated part."""
    if name == "ledger":
        return show_ledger()
    if name == "progress":
        return show_progress()
    table, records = get_table(name), records_of(name)
    metrics = [word.strip() for word in words.split(",")] if words else []
    earlier = show_means(name, metrics) if means_of(name) else []
    if earlier and not records:
        return earlier
    if isinstance(table, Contest):
        return [*show_contest(table, records, metrics), *earlier]
    if isinstance(table, Curves):
        return [*show_curves(table, records), *earlier]
    return [*show_table(table, records, metrics), *earlier]


def wrapped(lines: Sequence[str]) -> list[str]:
    """Return lines of which prose has at most WIDTH characters; tables stay as they are."""
    found: list[str] = []
    for line in lines:
        found += [line] if line.startswith("|") else textwrap.wrap(line, WIDTH) or [""]
    return found


def renew(text: str) -> str:
    """Return a page with its generated parts written anew."""
    lines, inside = [], False
    for line in text.splitlines():
        match = BEGIN.fullmatch(line)
        if match:
            lines += [line, "", *wrapped(generated(match["name"], match["words"]))]
            inside = True
        elif line == END:
            inside = False
        if not inside:
            lines.append(line)
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write or check the pages."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--export", metavar="RUNS", nargs="?", const=str(ROOT / "runs"))
    parser.add_argument("--restore", metavar="RUNS", nargs="?", const=str(ROOT / "runs"))
    parser.add_argument("--check", action="store_true", help="write nothing; fail if pages differ")
    given = parser.parse_args()
    if given.restore:
        restore(Path(given.restore))
        return 0
    if given.export:
        export(Path(given.export))
    pages = [*sorted(PAGES.glob("*.md")), RESULTS / "README.md"]
    texts = {LEDGER: renewed_ledger()} | {page: renew(page.read_text()) for page in pages}
    stale = [page for page, text in texts.items() if page.read_text() != text]
    for page in stale:
        print(f"{page.name} {'differs from the records' if given.check else 'is written anew'}")
        if not given.check:
            page.write_text(texts[page])
    return int(given.check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
