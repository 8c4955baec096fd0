"""``eigenlabel reproduce``: run a table or a figure of a paper again, next to its numbers."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eigenlabel import report
from eigenlabel.cli.contests import print_contest
from eigenlabel.cli.data_files import check_output
from eigenlabel.cli.experiments import add_running_options, check_failures, get_records
from eigenlabel.cli.options import Command, UsageError, choose, join_names, positive, suggest, words
from eigenlabel.cli.pages import comparison_sections, write_page
from eigenlabel.cli.tables import format_note, format_table
from eigenlabel.datasets.files.atomic import writing
from eigenlabel.drawing.axes import import_pyplot
from eigenlabel.experiment import Protocol, plan
from eigenlabel.reproduce import (
    CONTESTS,
    FIGURES,
    TABLES,
    Contest,
    Curves,
    Row,
    Table,
    at_hand,
    compare,
    draw,
    get_table,
    read_csv,
    read_ledger,
    write_csv,
)
from eigenlabel.reproduce.curves import PointTest

Record = dict[str, Any]
PLOTS = ("svg", "png", "pdf")
DISTANT = {
    "figures": "differs from the paper by more than its standard deviation, or by more than ours "
    "if the paper prints none",
    "p-values": "only one of the two is below 0.05",
    "counts": "differs from the paper",
}


def _add_options(parser: argparse.ArgumentParser) -> None:
    table = parser.add_argument("table", metavar="TABLE", nargs="?", help="such as mlls-table3")
    suggest(table, [*TABLES, *FIGURES, *CONTESTS])
    parser.add_argument("--list", action="store_true", help="list all tables and figures")
    parser.add_argument(
        "--ledger",
        action="store_true",
        help="list every system, equation, protocol, table and figure of the papers, its place in "
        "the code and its state",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        help="folder for the records (default: runs/NAME; tables of the same runs share it)",
    )
    parser.add_argument(
        "--methods",
        type=words,
        metavar="A,B,...",
        help="run only these methods; for a figure, curves or points as --dry-run lists them",
    )
    parser.add_argument(
        "--splits", type=positive, metavar="N", help="largest number of splits to run"
    )
    parser.add_argument(
        "--plot",
        nargs="?",
        const="",
        metavar="FILE",
        help="draw the table or figure, beside the published values, to an SVG, PNG or PDF file "
        "(default: NAME.svg); needs matplotlib",
    )
    parser.add_argument(
        "--export", metavar="CSV", help="write the records of the table to this CSV file"
    )
    parser.add_argument(
        "--records",
        metavar="CSV",
        help="run nothing, and show the records of this CSV file, which --export wrote",
    )
    add_running_options(parser)


def _reproduce(arguments: argparse.Namespace) -> None:
    if arguments.list:
        _print_list(arguments.format)
        return
    if arguments.ledger:
        _print_ledger(arguments.format)
        return
    if arguments.table is None:
        raise UsageError("which table? 'eigenlabel reproduce --list' lists them")
    check_output(arguments.report)
    check_output(arguments.export)
    table = _find_table(arguments)
    plot = _plot_path(arguments.plot, table)
    records: list[Record] = []
    metrics: Sequence[str] = ()
    if not isinstance(table, Table) or table.kind != "counts":
        protocol = table.protocol(n_splits=arguments.splits, methods=arguments.methods)
        folder = arguments.output or f"runs/{protocol.name}"
        if arguments.dry_run:
            print(plan(protocol, folder))
            return
        records, metrics = _get_records(protocol, folder, arguments), protocol.metrics
    if arguments.export:
        write_csv(records, arguments.export)
    sections = _print_result(table, records, metrics, arguments.format)
    if plot is not None:
        _write_plot(draw(table, records), plot)
    if arguments.report and records:
        write_page(table.title, sections, arguments.report, arguments)
    check_failures(records)


def _get_records(protocol: Protocol, folder: str, arguments: argparse.Namespace) -> list[Record]:
    """Return the records of the protocol, from a CSV file if one is named."""
    if arguments.records is None:
        return get_records(protocol, folder, arguments)
    data, methods = ({item.name for item in items} for items in (protocol.data, protocol.methods))
    splits = protocol.splits.n_splits
    if protocol.splits.at_most is not None:
        splits = min(splits, protocol.splits.at_most)
    found = read_csv(arguments.records)
    mine = [
        record
        for record in found
        if record["data"] in data and record["method"] in methods and record["split"] < splits
    ]
    if found and not mine:
        raise UsageError(
            f"{arguments.records} has no runs of {arguments.table}, which compares "
            f"{', '.join(sorted(methods))} on {', '.join(sorted(data))}"
        )
    return mine


def _plot_path(given: str | None, table: Table | Contest | Curves) -> str | None:
    """Return the file of a drawing, or None if none is asked for; raise before the work begins."""
    if given is None:
        return None
    path = given or f"{table.name}.svg"
    ending = Path(path).suffix.lstrip(".").lower()
    if ending not in PLOTS:
        raise UsageError(f"--plot writes files that end in .{', .'.join(PLOTS)}, got {path!r}")
    if isinstance(table, Table) and table.kind == "counts":
        raise UsageError(f"{table.name} contains sizes of data sets, which --plot does not draw")
    import_pyplot("eigenlabel reproduce --plot")
    check_output(path)
    return path


def _write_plot(figure: Any, path: str) -> None:
    """Write a drawing and print its path."""
    kind = Path(path).suffix.lstrip(".").lower()
    dated = {"metadata": {"Date": None}} if kind == "svg" else {}
    with writing(path) as stream:
        figure.savefig(stream, format=kind, dpi=150, **dated)
    print(f"plot: {path}")


def _print_list(form: str) -> None:
    every: list[Table | Contest | Curves] = [
        *TABLES.values(),
        *CONTESTS.values(),
        *FIGURES.values(),
    ]
    rows = [(t.name, t.title, t.status()) for t in every]
    print(format_table(("table", "title", "availability"), rows, form))


def _print_ledger(form: str) -> None:
    header = ("paper", "kind", "item", "what", "place", "state", "reason", "runs")
    rows = [(e.paper, e.kind, e.item, e.what, " ".join(e.places), *e[5:]) for e in read_ledger()]
    print(format_table(header, rows, form))


def _find_table(arguments: argparse.Namespace) -> Table | Contest | Curves:
    """Return the table restricted to the data sets that exist here; report the missing ones."""
    names = (*TABLES, *CONTESTS, *FIGURES)
    table = get_table(choose("table", arguments.table, names, "'eigenlabel reproduce --list'"))
    known = table.curves() if isinstance(table, Curves) else table.runnable()
    if arguments.methods:
        arguments.methods = join_names(arguments.methods, table.runnable())
    for method in arguments.methods or ():
        listing = f"{table.name} has {', '.join(known)}; --dry-run"
        choose("method", method, table.runnable(), listing)
    if arguments.records is not None:  # which need no data
        return table
    table, missing = at_hand(table) if table.data else (table, {})
    for name, why in missing.items():
        print(f"missing data: {name}: {why}", file=sys.stderr)
    return table


def _print_result(
    table: Table | Contest | Curves, records: list[Record], metrics: Sequence[str], form: str
) -> list[dict[str, Any]]:
    """Print the result of a table or a figure; return the sections of its page."""
    if isinstance(table, Curves):
        return _print_curves(table, records, form)
    there = {record["method"] for record in records if "error" not in record}
    if isinstance(table, Contest):
        print_contest(table, records, form)
        reference = table.reference if table.reference in there else None
        return comparison_sections(records, metrics, reference) if there else []
    print_comparison(table, compare(table, records), form)
    return comparison_sections(records, metrics) if records else []


def _print_curves(figure: Curves, records: Sequence[Record], form: str) -> list[dict[str, Any]]:
    """Print the panels of a figure as tables; return them as charts of a page."""
    print(figure.title + "\n")
    sections = []
    for panel, means in figure.means(records).items():
        curves = [c for c in figure.curves() if any(c == curve for curve, _ in means)]
        values = list(dict.fromkeys(x for _, x in means))
        rows = [(x, *(_number(means.get((c, x))) for c in curves)) for x in values]
        print(f"{figure.y}, {panel}\n")
        print(format_table((figure.x, *curves), rows, form) + "\n")
        _print_tests(figure, figure.tests(records).get(panel, {}), form)
        series = {c: [means.get((c, x)) for x in values] for c in curves}
        sections.append(report.curves(panel, values, series, x=figure.x, y=figure.y))
    for note in figure.notes:
        print(format_note(f"note: {note}", form))
    return sections


def _print_tests(figure: Curves, tests: Mapping[tuple[str, str], PointTest], form: str) -> None:
    if figure.reference and tests:
        against = " at ".join(figure.reference)
        rows = [(f"{c} at {x}", _number(t.p), str(t.pairs)) for (c, x), t in tests.items()]
        header = (f"against {against}", "p (Wilcoxon, Holm)", "pairs")
        print(format_table(header, rows, form) + "\n")


def print_comparison(table: Table, rows: list[Row], form: str) -> None:
    """Print the numbers of the paper, ours and the difference, with notes."""
    shown = [r for r in rows if r.dataset in table.data]
    print(table.title + "\n")
    header = ("data", "metric", "method", "paper", "ours", "difference")
    print(format_table(header, [_row(table, r) for r in shown], form))
    print()
    if any(row.ours_std is not None for row in shown):
        print("± is the standard deviation over runs, or over data sets if they are averaged.\n")
    if any(row.best for row in shown):
        print(
            "• is the best mean of ours, or not significantly worse than it (paired t-test, 5%).\n"
        )
    if any(row.outside for row in shown):
        mark = "\\*" if form == "markdown" else "*"
        print(f"{mark} {DISTANT[table.kind]}\n")
    elif table.kind == "p-values" and all(row.outside is None for row in shown):
        print("p-values of fewer pairs than the protocol has are not compared with the paper's.\n")
    elif shown and all(row.outside is None for row in shown):
        print("The spread is unknown: the paper prints none, and we have a single run.\n")
    for remark in (
        *(f"missing method: {method}" for method in table.missing()),
        *(f"missing data: {dataset} ({why})" for dataset, why in table.lacking.items()),
        *(f"note: {note}" for note in table.notes),
    ):
        print(format_note(remark, form))


def _row(table: Table, row: Row) -> tuple[str, ...]:
    """Return the cells of a row, with the number of runs if the protocol has more of them."""
    difference, few = row.difference, ""
    if row.ours is not None and table.kind != "counts":
        every = table.n_runs(row.dataset, row.method)
        what = "data sets" if len(table.data[row.dataset]) > 1 else "runs"
        if table.kind == "p-values":
            few = f" ({row.n} pairs)" if row.n >= every else f" ({row.n} of {every} pairs)"
        elif row.n < every:
            few = f" ({row.n} of {every} {what})"
    mark = "*" if row.outside else ""
    return (
        row.dataset,
        row.metric,
        row.method,
        _number(row.paper, row.paper_std),
        _number(row.ours, row.ours_std) + few + " •" * bool(row.best) or row.why,
        "" if difference is None else f"{difference:+.4f}{mark}",
    )


def _number(value: float | None, std: float | None = None) -> str:
    """Return a short text for a number, and its standard deviation if it is known."""
    if value is None:
        return ""
    if isinstance(value, int) or (value == int(value) and abs(value) >= 10):
        return str(int(value))
    text = f"{value:.4f}" if abs(value) >= 1e-3 or value == 0 else f"{value:.2e}"
    return text if std is None else f"{text} ± {std:.4f}"


REPRODUCE = Command(_add_options, _reproduce)
