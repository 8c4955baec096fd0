"""``compare``, ``reproduce`` and ``report``: experiments, and pages from them."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from eigenlabel import report
from eigenlabel.catalogue import METHODS
from eigenlabel.cli.common import (
    UsageError,
    add_data_options,
    check_output,
    choose,
    format_table,
    in_options,
    parse_value,
    positive,
    read_data,
    reader_options,
    words,
)
from eigenlabel.cli.contests import print_contest
from eigenlabel.cli.pages import about, comparison_sections, evaluated, example_sections
from eigenlabel.comparison import summarise
from eigenlabel.datasets import DataError, Dataset
from eigenlabel.experiment import (
    Data,
    Method,
    Protocol,
    Splits,
    plan,
    read_records,
    run,
)
from eigenlabel.experiment.protocol import DEFAULT_METRICS, SPLITS
from eigenlabel.metrics import METRICS
from eigenlabel.persistence import load_model
from eigenlabel.preprocessing import PREPARATIONS
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
    get_table,
)

RIVALS = "shared-subspace,ridge,linear-svm,logistic"
FORMS = ("text", "markdown", "latex", "csv")
FURTHER = {
    "figures": "further from the paper than its standard deviation, or ours where it prints none",
    "p-values": "only one of the two is below 0.05",
    "counts": "another number than the paper's",
}


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Register the three commands."""
    comparing = commands.add_parser(
        "compare",
        help="compare methods on data files, or run a protocol file",
        description="Run methods on splits of data sets, with statistics and a page. DATA may be "
        "one protocol in TOML (docs/experiments.md). A run that was stopped goes on where it was.",
    )
    comparing.add_argument("data", metavar="DATA", nargs="+")
    comparing.add_argument("-o", "--output", metavar="FOLDER", required=True, help="for records")
    comparing.add_argument("--methods", type=words, metavar="A,B,...", help=f"default {RIVALS}")
    comparing.add_argument("--kind", choices=SPLITS, default="shuffle", help="of splits")
    comparing.add_argument("--splits", type=positive, metavar="N", help="how many (default 5)")
    comparing.add_argument("--train-size", type=parse_value, metavar="S", help="share or number")
    comparing.add_argument("--metrics", type=words, metavar="A,B,...", help=", ".join(METRICS))
    comparing.add_argument("--min-positives", type=int, default=0, help="drop rarer labels")
    comparing.add_argument("--min-documents", type=int, default=0, help="drop rarer features")
    comparing.add_argument("--prepare", choices=PREPARATIONS, default="auto")
    comparing.add_argument("--seed", type=int, default=0)
    comparing.add_argument("--reference", metavar="METHOD", help="that others are tested against")
    _add_running(comparing)
    add_data_options(comparing)
    comparing.set_defaults(run=_compare)

    reproducing = commands.add_parser(
        "reproduce",
        help="run a paper's table again and print paper, ours and difference",
        description="Data sets are looked for in EIGENLABEL_DATA or the cache; "
        "'eigenlabel datasets fetch --all-for TABLE' fetches those that can be fetched.",
    )
    reproducing.add_argument("table", metavar="TABLE", nargs="?", help="such as mlls-table3")
    reproducing.add_argument("--list", action="store_true", help="list all tables")
    reproducing.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        help="for records (default: runs/ and the name of the run, which tables may share)",
    )
    reproducing.add_argument(
        "--methods",
        type=words,
        metavar="A,B,...",
        help="only these; of a figure, curves or points as --dry-run lists them",
    )
    reproducing.add_argument("--splits", type=positive, metavar="N", help="at most so many")
    _add_running(reproducing)
    reproducing.set_defaults(run=_reproduce)

    reporting = commands.add_parser(
        "report",
        help="write a page from a folder of records, or from a model and data",
        description="The page is one file that needs nothing else.",
    )
    reporting.add_argument("source", metavar="FOLDER|MODEL")
    reporting.add_argument(
        "--data", metavar="DATA", help="for a model: labelled data to show it on"
    )
    reporting.add_argument("-o", "--output", metavar="PAGE", required=True)
    reporting.add_argument("--reference", metavar="METHOD", help="that others are tested against")
    add_data_options(reporting)
    reporting.set_defaults(run=_report)


def _add_running(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workers", type=positive, default=1, metavar="N", help="processes (default 1)"
    )
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--dry-run", action="store_true", help="print the plan and its cost")
    instead.add_argument(
        "--so-far", action="store_true", help="run nothing, print what the records there tell"
    )
    parser.add_argument("--format", choices=FORMS, default="text", help="of printed tables")
    parser.add_argument("--report", metavar="PAGE", help="write an HTML page")


def _read_with_notes(name: str, options: dict[str, Any]) -> Dataset:
    """Read a data file and print the reader's notes on it, beside the results."""
    data = read_data(name, options)
    for note in data.notes:
        print(f"note: {name}: {in_options(note)}", file=sys.stderr)
    return data


def _protocol(arguments: argparse.Namespace) -> Protocol:
    if [Path(name).suffix for name in arguments.data] == [".toml"]:
        return _narrowed(Protocol.from_toml(arguments.data[0]), arguments)
    for name in arguments.methods or ():
        choose("method", name, METHODS, "'eigenlabel fit --list-methods'")
    for name in arguments.metrics or ():
        choose("metric", name, METRICS, "'eigenlabel compare --help'")
    options = reader_options(arguments)
    datasets = [
        Data(
            Path(name).name,
            _read_with_notes(name, options),
            min_positives=arguments.min_positives,
            min_documents=arguments.min_documents,
            prepare=arguments.prepare,
        )
        for name in arguments.data
    ]
    return Protocol(
        datasets,
        [Method(name) for name in arguments.methods or words(RIVALS)],
        Splits(arguments.kind, arguments.splits or 5, arguments.train_size),
        tuple(arguments.metrics or DEFAULT_METRICS),
        arguments.seed,
        "compare",
    )


def _narrowed(protocol: Protocol, arguments: argparse.Namespace) -> Protocol:
    """Take the methods and the number of splits that the command line asks for."""
    if arguments.methods:
        names = [m.name for m in protocol.methods]
        for name in arguments.methods:
            choose("method", name, names, f"the protocol has {', '.join(names)}; --dry-run")
        chosen = [m for m in protocol.methods if m.name in arguments.methods]
        protocol = replace(protocol, methods=chosen)
    if arguments.splits:
        protocol = replace(protocol, splits=replace(protocol.splits, n_splits=arguments.splits))
    return protocol


def _compare(arguments: argparse.Namespace) -> None:
    check_output(arguments.report, *arguments.data)
    protocol = _protocol(arguments)
    if arguments.dry_run:
        print(plan(protocol, arguments.output))
        return
    records = _records(protocol, arguments.output, arguments)
    good = [r for r in records if "error" not in r]
    if not good:
        _tell_failures(records)
    reference = arguments.reference or good[0]["method"]
    _print_summary(good, protocol.metrics, reference, arguments.format)
    if arguments.report:
        sections = comparison_sections(records, protocol.metrics, reference)
        if not arguments.so_far:  # they are of a model that is fitted for them
            sections += example_sections(protocol, reference)
        _write_page(protocol.name, sections, arguments.report, arguments)
    _tell_failures(records)


def _records(
    protocol: Protocol, folder: str, arguments: argparse.Namespace
) -> list[dict[str, Any]]:
    """Run what is not done yet, unless only what is there is asked for."""
    if not arguments.so_far:
        return run(protocol, folder, workers=arguments.workers)
    if not Path(folder).is_dir():
        raise DataError(folder, "no such folder: nothing is recorded yet")
    tasks = plan(protocol, folder).tasks
    last = {record["key"]: record for record in read_records(folder)}
    records = [last[task.key] for task in tasks if task.key in last]
    if not records:
        raise DataError(folder, "none of these runs is recorded in it")
    print(f"{len(records)} of {len(tasks)} runs are recorded.", file=sys.stderr)
    return records


def _print_summary(
    records: Sequence[Mapping[str, Any]], metrics: Sequence[str], reference: str, form: str
) -> None:
    for metric, found in summarise(records, metrics, reference).items():
        rows = []
        for data, row in found["means"].items():
            for method, (mean, std, n) in row.items():
                pair = found["against"][data].get(method)
                tests = ("", "")
                if pair is not None:
                    tests = (
                        f"{pair.wins}/{pair.ties}/{pair.losses}",
                        f"{found['holm'][data, method]:.3g}",
                    )
                figure = f"{mean:.4f} ± {std:.4f}" if n > 1 else f"{mean:.4f}"
                rows.append((data, method, figure, str(n), *tests))
        header = ("data", "method", metric, "splits", f"{reference} won/tied/lost", "p (Holm)")
        print(format_table(header, rows, form))
        ranking = found["ranking"]
        if ranking is not None and form == "text":
            ranks = sorted(zip(ranking.ranks, ranking.methods, strict=True))
            print(
                "average ranks: "
                + ", ".join(f"{m} {r:.2f}" for r, m in ranks)
                + f"; critical difference {ranking.critical_difference:.2f}"
            )
        print()


def _write_page(
    title: str, sections: list[dict[str, Any]], path: str, arguments: argparse.Namespace
) -> None:
    page = report.page(title, sections, about=about(arguments))
    print(f"page: {report.write(page, path)}")


def _tell_failures(records: Sequence[Mapping[str, Any]]) -> None:
    failed = [r for r in records if "error" in r]
    if failed:
        first = failed[0]
        raise ValueError(
            f"{len(failed)} of {len(records)} runs failed; the first: {first['method']} on "
            f"{first['data']}, split {first['split']}: {first['error']}"
        )


def _reproduce(arguments: argparse.Namespace) -> None:
    if arguments.list:
        every = (*TABLES.values(), *CONTESTS.values(), *FIGURES.values())
        rows = [(t.name, t.title, t.status()) for t in every]
        print(format_table(("table", "what", "can be had"), rows, arguments.format))
        return
    if arguments.table is None:
        raise UsageError("which table? 'eigenlabel reproduce --list' lists them")
    check_output(arguments.report)
    names = (*TABLES, *CONTESTS, *FIGURES)
    table = get_table(choose("table", arguments.table, names, "'eigenlabel reproduce --list'"))
    known = table.curves() if isinstance(table, Curves) else table.runnable()
    for method in arguments.methods or ():
        told = f"{table.name} has {', '.join(known)}; --dry-run"
        choose("method", method, table.runnable(), told)
    table, missing = at_hand(table) if table.data else (table, {})
    for name, why in missing.items():
        print(f"missing data: {name}: {why}", file=sys.stderr)
    records: list[dict[str, Any]] = []
    if not isinstance(table, Table) or table.kind != "counts":
        protocol = table.protocol(n_splits=arguments.splits, methods=arguments.methods)
        folder = arguments.output or f"runs/{protocol.name}"
        if arguments.dry_run:
            print(plan(protocol, folder))
            return
        records = _records(protocol, folder, arguments)
    if isinstance(table, Curves):
        sections = _print_curves(table, records, arguments.format)
    elif isinstance(table, Contest):
        print_contest(table, records, arguments.format)
        there = {record["method"] for record in records if "error" not in record}
        reference = table.reference if table.reference in there else None
        sections = comparison_sections(records, protocol.metrics, reference) if there else []
    else:
        _print_comparison(table, compare(table, records), arguments.format)
        sections = comparison_sections(records, protocol.metrics) if records else []
    if arguments.report and records:
        _write_page(table.title, sections, arguments.report, arguments)
    _tell_failures(records)


def _print_curves(
    figure: Curves, records: Sequence[dict[str, Any]], form: str
) -> list[dict[str, Any]]:
    """Print a figure's panels as tables, and give them as charts of a page."""
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
        print(f"- note: {note}" if form == "markdown" else f"note: {note}")
    return sections


def _print_tests(figure: Curves, p_values: Mapping[tuple[str, str], float], form: str) -> None:
    if figure.reference and p_values:
        against = " at ".join(figure.reference)
        rows = [(f"{c} at {x}", _number(p)) for (c, x), p in p_values.items()]
        print(format_table((f"against {against}", "p (Wilcoxon, Holm)"), rows, form) + "\n")


def _number(value: float | None, std: float | None = None) -> str:
    if value is None:
        return ""
    if isinstance(value, int) or (value == int(value) and abs(value) >= 10):
        return str(int(value))
    text = f"{value:.4f}" if abs(value) >= 1e-3 or value == 0 else f"{value:.2e}"
    return text if std is None else f"{text} ± {std:.4f}"


def _row(row: Row, most: int) -> tuple[str, ...]:
    """Give the cells of a row; ``most`` is the number of runs that other figures are means of."""
    difference = row.difference
    few = f" ({row.n} of {most} runs)" if row.ours is not None and row.n < most else ""
    mark = {True: "*", False: "", None: ""}[row.outside]
    return (
        row.dataset,
        row.metric,
        row.method,
        _number(row.paper, row.paper_std),
        _number(row.ours, row.ours_std) + few or row.why,
        "" if difference is None else f"{difference:+.4f}{mark}",
    )


def _print_comparison(table: Table, rows: list[Row], form: str) -> None:
    shown = [r for r in rows if r.dataset in table.data]
    print(table.title + "\n")
    header = ("data", "metric", "method", "paper", "ours", "difference")
    most: dict[str, int] = {}
    for row in shown:
        most[row.dataset] = max(row.n, most.get(row.dataset, 0))
    print(format_table(header, [_row(r, most[r.dataset]) for r in shown], form))
    remarks = [
        *(f"missing method: {method}" for method in table.missing()),
        *(f"missing data: {dataset} ({why})" for dataset, why in table.lacking.items()),
        *(f"note: {note}" for note in table.notes),
    ]
    print()
    if any(row.outside for row in shown):
        mark = "\\*" if form == "markdown" else "*"
        print(f"{mark} {FURTHER[table.kind]}\n")
    elif shown and all(row.outside is None for row in shown):
        print("No spread is known, of the paper or of several runs of ours.\n")
    for remark in remarks:
        print(f"- {remark}" if form == "markdown" else remark)


def _report(arguments: argparse.Namespace) -> None:
    check_output(arguments.output, arguments.source, *filter(None, [arguments.data]))
    if Path(arguments.source).is_dir():
        records = read_records(arguments.source)
        if not records:
            raise DataError(arguments.source, "no records in it")
        last = {r["key"]: r for r in records}
        metrics = list(dict.fromkeys(m for r in records for m in r.get("metrics", ())))
        title = last[records[-1]["key"]]["protocol"]
        sections = comparison_sections(list(last.values()), metrics, arguments.reference)
        _write_page(title, sections, arguments.output, arguments)
        return
    if arguments.data is None:
        raise UsageError("a page of a model needs labelled data: pass --data")
    saved = load_model(arguments.source)
    data = read_data(arguments.data, reader_options(arguments), like=saved)
    _, sections = evaluated(saved, data)
    title = f"{Path(arguments.source).name} on {data.source}"
    _write_page(title, sections, arguments.output, arguments)
