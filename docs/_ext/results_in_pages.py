"""Figures and tables of ``results/`` in the pages, read while the site is built.

The role ``{result}`` quotes one figure of a JSON file and links the file. The directive
``{result-table}`` makes a small table from a CSV file and links it below. A file, key or column
that does not exist is a warning, and warnings fail the build.
"""

import csv
import json
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.addnodes import download_reference
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective, SphinxRole


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the role and the directive."""
    app.add_role("result", Result())
    app.add_directive("result-table", ResultTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def read_figure(folder: Path, words: str) -> str:
    """Return a figure of a JSON file as text: "FILE PLACE FORMAT", such as "krylov.json f1 .2f".

    The place is a key, or keys and positions with slashes between them; spaces are allowed.
    """
    file, _, rest = words.partition(" ")
    place, _, form = rest.rpartition(" ")
    found = json.loads((folder / file).read_text())
    for part in place.split("/"):
        found = found[int(part)] if isinstance(found, list) else found[part]
    return format(found, form)


def read_table(
    path: Path,
    by: str,
    rows: dict[str, str],
    columns: dict[str, str],
    form: str,
    where: dict[str, str] | None = None,
):
    """Return the header and the cells of a table of a CSV file.

    Each row is one line of the file; or, if several lines have the same value of the column
    ``by``, their means. ``rows`` and ``columns`` choose, order and rename. Only lines with the
    values of ``where`` are read, whose columns are left out.
    """
    with path.open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    lines = [one for one in lines if all(one[k] == v for k, v in (where or {}).items())]
    if not lines:
        raise KeyError(str(where))
    names = [name for name in lines[0] if name not in (where or {})]
    by = by or names[0]
    rows = rows or {line[by]: line[by] for line in lines}
    columns = columns or {name: name for name in names if name != by}
    cells = []
    for value, shown in rows.items():
        some = [line for line in lines if line[by] == value]
        if not some:
            raise KeyError(value)
        cells.append([shown, *(_cell([line[name] for line in some], form) for name in columns)])
    return [by, *columns.values()], cells


def _cell(values: list[str], form: str) -> str:
    """Return one value as it is, or the mean of several; a mean with NaN is empty."""
    if len(values) == 1 and not form:
        return values[0]
    try:
        mean = sum(map(float, values)) / len(values)
    except ValueError:
        return values[0]
    return format(mean, form or ".3f") if mean == mean else ""  # noqa: PLR0124


def pairs(text: str | None) -> dict[str, str]:
    """Return the pairs of "column = name; column = name; ..."; without "=" both are the same."""
    found = {}
    for part in filter(None, map(str.strip, (text or "").replace("\n", " ").split(";"))):
        key, _, shown = part.partition(" = ")
        found[key.strip()] = shown.strip() or key.strip()
    return found


def _folder(env) -> Path:
    return Path(env.srcdir).parent / "results"


def _link(env, file: str, *content) -> nodes.Node:
    """Return a link that downloads a file of results/."""
    env.note_dependency(str(_folder(env) / file))
    return download_reference(
        "", "", *content, reftype="download", refdoc=env.docname, reftarget=f"/../results/{file}"
    )


class Result(SphinxRole):
    """Quote a figure of results/benchmarks and link its file."""

    def run(self):
        """Return the link, or a warning where the figure is not found."""
        try:
            text = read_figure(_folder(self.env) / "benchmarks", self.text)
        except (OSError, LookupError, TypeError, ValueError) as error:
            message = self.inliner.reporter.warning(f"no result {self.text!r}: {error!r}")
            return [], [message]
        file = "benchmarks/" + self.text.partition(" ")[0]
        return [
            nodes.inline("", "", _link(self.env, file, nodes.Text(text)), classes=["result"])
        ], []


class ResultTable(SphinxDirective):
    """A table of a CSV file of results/, with a link to the file."""

    required_arguments = 1
    option_spec = {  # noqa: RUF012
        "where": directives.unchanged,
        "by": directives.unchanged,
        "rows": directives.unchanged,
        "columns": directives.unchanged,
        "head": directives.unchanged,
        "form": directives.unchanged,
        "note": directives.unchanged,
    }

    def run(self):
        """Return the table and the line below it."""
        get = self.options.get
        file = self.arguments[0]
        try:
            header, cells = read_table(
                _folder(self.env) / file,
                get("by", ""),
                pairs(get("rows")),
                pairs(get("columns")),
                get("form", ""),
                pairs(get("where")),
            )
        except (OSError, LookupError) as error:
            return [self.state.document.reporter.warning(f"no table of {file}: {error!r}")]
        header[0] = get("head", header[0])
        note = nodes.paragraph(classes=["result-note"])
        note += nodes.Text(f"{get('note')} " if get("note") else "")
        note += _link(self.env, file, nodes.literal("", file))
        return [_table(header, cells), note]


def _table(header: list[str], cells: list[list[str]]) -> nodes.table:
    table = nodes.table()
    group = nodes.tgroup(cols=len(header))
    table += group
    for _ in header:
        group += nodes.colspec(colwidth=1)
    head, body = nodes.thead(), nodes.tbody()
    group += [head, body]
    head += _row(header)
    body += [_row(line) for line in cells]
    return table


def _row(cells: list[str]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", cell)) for cell in cells))
