"""Tables of Markdown become CSV files, which the pages of the site draw and link."""

import csv
import io
import re
from pathlib import Path

FIGURE = re.compile(
    r"(?P<mean>[-\d.e]+)(?: ± (?P<sd>[\d.e-]+))?"
    r"(?: \((?P<runs>\d+)(?: of \d+)? (?:runs|pairs|data sets)\))?"
)


def write_tables(name: str, text: str, folder: Path) -> list[str]:
    """Write the tables of a text as NAME.csv, NAME-2.csv, ...; return the names of the files.

    Files of an earlier run are removed. Tables with the same header become one file.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in (*folder.glob(f"{name}.csv"), *folder.glob(f"{name}-[0-9]*.csv")):
        old.unlink()
    files = []
    for k, (header, rows) in enumerate(_tables(text).items(), start=1):
        file = f"{name}.csv" if k == 1 else f"{name}-{k}.csv"
        (folder / file).write_text(_csv(header, rows))
        files.append(file)
    return files


def _tables(body: str) -> dict[tuple[str, ...], list[list[str]]]:
    """Return the rows of all tables by their header; each row starts with the line before it."""
    found: dict[tuple[str, ...], list[list[str]]] = {}
    caption, header = "", None
    for line in body.splitlines():
        if not line.startswith("|"):
            caption, header = (line.strip() or caption), None
        elif header is None:
            header = ("part", *_cells(line))
            found.setdefault(header, [])
        elif not set(line) <= set("|-"):
            found[header].append([caption, *_cells(line)])
    return found


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in line.strip().strip("|").split("|")]


def _csv(header: tuple[str, ...], rows: list[list[str]]) -> str:
    """Return CSV; "0.5 ± 0.1 (6 of 30 runs)" becomes three columns, a constant caption none."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    start = 0 if len({row[0] for row in rows}) > 1 else 1
    split = [j for j in range(start, len(header)) if any(" ± " in row[j] for row in rows)]
    names: list[str] = []
    for j in range(start, len(header)):
        names += [header[j], f"{header[j]} sd", f"{header[j]} runs"] if j in split else [header[j]]
    writer.writerow(names)
    for row in rows:
        cells: list[str] = []
        for j in range(start, len(header)):
            match = FIGURE.fullmatch(row[j]) if j in split else None
            if match:
                cells += [match["mean"], match["sd"] or "", match["runs"] or ""]
            else:
                cells += [row[j], "", ""] if j in split else [row[j]]
        writer.writerow(cells)
    return text.getvalue()
