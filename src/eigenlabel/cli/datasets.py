"""``eigenlabel datasets``: list, describe, download and find known data sets."""

import argparse
import json
from collections.abc import Iterable
from dataclasses import asdict

from eigenlabel.cli.options import Command, UsageError, choose, suggest
from eigenlabel.cli.tables import format_table
from eigenlabel.datasets import data_folder, fetch, find, known
from eigenlabel.datasets.registry import Entry, get
from eigenlabel.reproduce import CONTESTS, FIGURES, TABLES, data_sets, get_table


def _add_options(datasets: argparse.ArgumentParser) -> None:
    actions = datasets.add_subparsers(dest="action", required=True, metavar="ACTION")

    listing = actions.add_parser(
        "list",
        help="list the known data sets",
        description="List the known data sets: name, samples x features x labels, whether all "
        "files are on this computer, and the tables of papers that use the data set.",
    )
    listing.add_argument("--json", action="store_true", help="print all that is known, as JSON")

    info = actions.add_parser(
        "info",
        help="describe a data set",
        description="Describe a data set: source, licence, sizes, defects and files.",
    )
    suggest(info.add_argument("name", metavar="NAME"), known())
    info.add_argument("--check", action="store_true", help="verify the checksums of its files")

    fetching = actions.add_parser(
        "fetch",
        help="download data sets",
        description="Download data sets over https, check them, and print the paths of their "
        "files. Existing files are kept, and an interrupted download is continued.",
    )
    suggest(fetching.add_argument("names", metavar="NAME", nargs="*"), known())
    fetching.add_argument(
        "--all-for", metavar="TABLE", help="all data sets of a table, such as mddm-table1"
    )

    path = actions.add_parser(
        "path",
        help="print the paths of a data set's files",
        description="Print the paths of a data set's files, one per line. Fails if one is missing.",
    )
    suggest(path.add_argument("name", metavar="NAME"), known())


def _list(arguments: argparse.Namespace) -> None:
    folder, entries = data_folder(), known().values()
    if arguments.json:
        print(json.dumps([asdict(e) | {"here": e.here(folder)} for e in entries], indent=2))
        return
    header, rows = ("name", "samples x features x labels", "here", "used by"), []
    for entry in entries:
        here = "yes" if entry.here(folder) else "no"
        rows.append((entry.name, _shape(entry), here, _tables(entry.serves)))
    print(format_table(header, rows))


def _shape(entry: Entry) -> str:
    """Return the size of a data set, or the ranges of sizes if it consists of several sets."""
    if "all" in entry.counts:
        whole = entry.counts["all"]
        return f"{whole.samples} x {whole.features} x {whole.labels}"
    sets = entry.counts.values()
    columns = ({c.samples for c in sets}, {c.features for c in sets}, {c.labels for c in sets})
    ranges = (f"{min(c)}" if len(c) == 1 else f"{min(c)}-{max(c)}" for c in columns)
    return f"{len(sets)} sets: {' x '.join(ranges)}"


def _tables(serves: Iterable[str]) -> str:
    """Return the names of tables, with the numbers of a paper joined: mddm-table1,2,7,8."""
    numbers: dict[str, set[int]] = {}
    for table in serves:
        paper, number = table.split("-table")
        numbers.setdefault(paper, set()).add(int(number))
    return " ".join(f"{p}-table{','.join(map(str, sorted(n)))}" for p, n in numbers.items())


def _info(arguments: argparse.Namespace) -> None:
    entry, folder = get(arguments.name), data_folder()
    print(f"{entry.name}: {entry.title}")
    print(f"home:     {entry.home}")
    print(f"licence:  {entry.licence}")
    print(f"used by:  {' '.join(entry.serves) or 'no table of the papers'}")
    for defect in entry.defects:
        print(f"defect:   {defect}")
    if entry.how:
        print(f"how:      {entry.how}")
    rows = [("", "samples", "features", "labels", "labels per sample")]
    for part, c in entry.counts.items():
        rows.append((part, f"{c.samples}", f"{c.features}", f"{c.labels}", f"{c.cardinality:.4f}"))
    width = max(len(row[0]) for row in rows)
    print()
    for part, samples, features, labels, cardinality in rows:
        print(f"{part:{width}}{samples:>9}{features:>10}{labels:>8}{cardinality:>19}")
    print(f"\nFiles in {folder}:")
    for file in entry.files:
        state = file.state(folder, check=arguments.check)
        print(f"{state:9}  {file.size:>8} bytes  {file.path}")
        print(f"           sha256 {file.sha256}")
        if file.url:
            print(f"           {file.url}")


def _fetch(arguments: argparse.Namespace) -> None:
    names = [*arguments.names, *_used_by(arguments.all_for)]
    if not names:
        raise UsageError("name the data sets to download, or pass --all-for TABLE")
    failures = []
    for name in names:
        try:
            print(*fetch(name), sep="\n", flush=True)
        except ValueError as error:  # the other downloads may still succeed
            failures.append(str(error))
    if failures:
        raise ValueError("\n".join(failures))


def _used_by(table: str | None) -> list[str]:
    """Return the names of the data sets that a table uses."""
    if table is None:
        return []
    tables = (*TABLES, *CONTESTS, *FIGURES)
    found = get_table(choose("table", table, tables, "'eigenlabel reproduce --list'"))
    names = [e.name for e in known().values() if table in e.serves] or data_sets(found)
    if not names:
        raise ValueError(f"{table} uses no known data set: {found.status()}.")
    return names


def _path(arguments: argparse.Namespace) -> None:
    print(*find(arguments.name), sep="\n")


def _run_action(arguments: argparse.Namespace) -> None:
    actions = {"list": _list, "info": _info, "fetch": _fetch, "path": _path}
    actions[arguments.action](arguments)


DATASETS = Command(_add_options, _run_action)
