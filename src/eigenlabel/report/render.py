"""The HTML of a page: tables are HTML, and a script in the page draws the charts."""

import base64
import hashlib
import json
import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from eigenlabel.datasets.files.atomic import writing
from eigenlabel.report import critical_difference_diagram, line_chart, reliability_section
from eigenlabel.report.boxplots import place as place_boxes
from eigenlabel.report.glossary import guide, meaning
from eigenlabel.report.json_values import isolate, shorten

SCRIPTS = ("page.js", "map.js", "charts.js")
LEADING_NUMBER = re.compile(r"[+-]?(\d+(\.\d+)?(e[+-]?\d+)?|inf|∞)(?=$|\s|±|%)", re.IGNORECASE)
DRAWN = ("label_map", "surface", "per_label", "threshold_curves")  # drawn by the script
SEARCHED = ("label_map", "per_label", "threshold_curves")
SHOWN = 80  # characters of a name; its tooltip shows the whole name
ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def render(page: dict[str, Any]) -> str:
    """Return the HTML of a page.

    The HTML loads nothing else, and equal pages have equal HTML.

    Parameters
    ----------
    page : dict
        The page, as :func:`page` returns it.

    Returns
    -------
    html : str
        The HTML.

    Examples
    --------
    >>> from eigenlabel import report
    >>> found = report.render(report.page("A < B", [report.text("Why", "Because.")]))
    >>> "<title>A &lt; B</title>" in found
    True
    """
    script = _script()
    html = _template().render(
        page=page,
        sections=[{**section, "view": _view(section)} for section in page["sections"]],
        guide=guide(page["sections"]),
        searchable=any(s["kind"] in SEARCHED for s in page["sections"]),
        data=_embed([s if s["kind"] in DRAWN else None for s in page["sections"]]),
        style=Markup(_resource("page.css")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
    return html.lstrip()  # macros leave empty lines


def write(page: dict[str, Any], path: Any) -> Path:
    """Write the HTML of a page to a file. A failure leaves no partial file.

    Parameters
    ----------
    page : dict
        The page, as :func:`page` returns it.
    path : str or Path
        The file to write. Its folder must exist.

    Returns
    -------
    path : Path
        The path of the file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from eigenlabel import report
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> report.write(report.page("Empty", []), folder / "page.html").name
    'page.html'
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"{target.parent} is not a folder: create it, or choose another one."
        )
    html = render(page)
    with writing(target, "utf-8") as stream:
        stream.write(html)
    return target


@cache
def _resource(name: str) -> str:
    return files("eigenlabel.report").joinpath(name).read_text(encoding="utf-8")


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["about"] = _about
    environment.filters["short"] = lambda text: shorten(text, SHOWN)
    environment.filters["meaning"] = meaning
    environment.filters["number"] = _number
    environment.filters["js_number"] = _js_number
    return environment.from_string(_resource("template.html"))


@cache
def _script() -> str:
    """Return the parts of the script, joined in one closed scope."""
    parts = "\n".join(_resource(name) for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}\nstart();\n}})();\n'


def _embed(data: Any) -> Markup:
    """Return JSON that cannot end the script element around it, whatever its strings contain."""
    found = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(found.translate(ESCAPES))


def _about(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k} {_about(v)}" for k, v in value.items())
    if isinstance(value, list):
        return ", ".join(map(_about, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _js_number(value: float) -> str:
    return f"{value:.9g}".replace("inf", "Infinity")


def _number(value: float) -> str:
    """Return a number as a short text, such as 1,234 or 0.123 or 1.2e-05."""
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3f}" if abs(value) >= 0.01 or value == 0 else f"{value:.2g}"


def _view(section: dict[str, Any]) -> Any:
    """Return what the template shows of a section in addition to its content."""
    view = VIEWS.get(section["kind"])
    return view(section) if view else None


def _table(
    columns: list[str],
    rows: list[list[Any]],
    *,
    best: list[str | None] | None = None,
    bars: dict[int, float] | None = None,
    labels: bool = False,
) -> dict[str, Any]:
    """Return the layout of a table: texts, values, best cells and bars.

    Parameters
    ----------
    columns : list of str
        The names of the columns.
    rows : list of lists
        The cells of each row.
    best : list, default=None
        For each column "max", "min" or None: which of its values is set in bold.
    bars : dict of int to float, default=None
        The columns that have bars, with the value of a full bar.
    labels : bool, default=False
        Whether the first column contains labels, which the reader can choose.
    """
    by_column = [[row[k] for row in rows] for k in range(len(columns))]
    values = [[_value(cell) for cell in column] for column in by_column]
    numeric = [_is_numeric(*pair) for pair in zip(by_column, values, strict=True)]
    numeric[0] = numeric[0] and not labels  # a label may have the name 7
    texts = [_texts(column) for column in by_column]
    cells = []
    for k, column in enumerate(values):
        top = _best_text(column, texts[k], (best or [None] * len(columns))[k])
        bound = (bars or {}).get(k)
        cells.append(
            [
                {
                    "text": text,
                    "value": value,
                    "best": text == top,
                    "bar": round(value / bound, 4) if bound and value is not None else None,
                }
                for text, value in zip(texts[k], column, strict=True)
            ]
        )
    return {
        "columns": [{"name": c, "numeric": n} for c, n in zip(columns, numeric, strict=True)],
        "rows": list(zip(*cells, strict=True)),
        "labels": labels,
    }


def _is_numeric(column: list[Any], values: list[float | None]) -> bool:
    known = [v for cell, v in zip(column, values, strict=True) if cell is not None]
    return bool(known) and None not in known


def _value(cell: Any) -> float | None:
    """Return the number of a cell, or None if it is a text."""
    if isinstance(cell, (int, float)):
        return float(cell)
    found = LEADING_NUMBER.match(cell) if isinstance(cell, str) else None
    return float(found[0].replace("∞", "inf")) if found else None


def _texts(column: list[Any]) -> list[str]:
    """Return the texts of a column; the largest number determines the decimals."""
    floats = [abs(v) for v in column if isinstance(v, float)]
    largest = max(floats, default=0.0)
    small = 0 < largest < 0.01
    decimals = 3 if largest < 10 else 2 if largest < 100 else 1
    return [_cell_text(v, None if small else decimals) for v in column]


def _cell_text(cell: Any, decimals: int | None) -> str:
    if cell is None:
        return "\u2013"
    if isinstance(cell, bool) or not isinstance(cell, (int, float)):
        return str(cell)
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:.3g}" if decimals is None else f"{cell:,.{decimals}f}"


def _best_text(values: list[float | None], texts: list[str], rule: str | None) -> str | None:
    """Return the text of the best cell of a column; cells with the same text are equally good."""
    known = [(v, t) for v, t in zip(values, texts, strict=True) if v is not None]
    if rule is None or not known:
        return None
    return (max if rule == "max" else min)(known, key=lambda pair: pair[0])[1]


def _table_view(section: dict[str, Any]) -> dict[str, Any]:
    return _table(section["columns"], section["rows"], best=section["best"])


def _per_label_view(section: dict[str, Any]) -> dict[str, Any]:
    """Return the table of the labels, with F1 first, which must be seen without scrolling."""
    order = [0, 5, 3, 4, 1, 2]
    columns = [section["columns"][k] for k in order]
    rows = [[row[k] for k in order] for row in section["rows"]]
    return _table(columns, rows, bars={1: 1.0, 2: 1.0, 3: 1.0}, labels=True)


def _resources_view(section: dict[str, Any]) -> dict[str, Any]:
    rows = section["rows"]
    largest = {k: max((_value(row[k]) or 0.0 for row in rows), default=0.0) for k in (1, 2)}
    return _table(["step", "seconds", "MiB"], rows, bars=largest)


def _curves_view(section: dict[str, Any]) -> dict[str, Any]:
    """Return a table of the results at the chosen thresholds, as an alternative to the curves."""
    rows: list[list[Any]] = []
    for name, positives, curve in zip(
        section["names"], section["support"], section["curves"], strict=True
    ):
        if curve["at"] is None:
            rows.append([name, positives, curve["threshold"], None, None, None])
            continue
        predicted, hits = curve["at"]
        precision, recall = hits / max(predicted, 1), hits / max(positives, 1)
        f1 = 2 * hits / max(predicted + positives, 1)
        rows.append([name, positives, curve["threshold"], precision, recall, f1])
    columns = ["label", "support", "threshold", "precision", "recall", "F1"]
    return _table(columns, rows, labels=True)


def _surface_view(section: dict[str, Any]) -> dict[str, Any]:
    """Return the rows of the heat map, with the largest alpha first, and the range of scores."""
    known = sorted(v for plane in section["scores"] for row in plane for v in row if v is not None)
    low, high = known[0], known[-1]
    rows = []
    for i in reversed(range(len(section["alphas"]))):
        cells = []
        for j in range(len(section["betas"])):
            scores = [plane[i][j] for plane in section["scores"]]
            value = max((v for v in scores if v is not None), default=None)
            share = None if value is None else round((value - low) / ((high - low) or 1.0), 3)
            cells.append(
                {"value": value, "share": share, "chosen": section["chosen"][:2] == [i, j]}
            )
        rows.append({"alpha": section["alphas"][i], "cells": cells})
    return {
        "rows": rows,
        "low": low,
        "high": high,
        "dense": len(section["betas"]) > 12,
        "dimensions": _dimensions(section),
    }


def _dimensions(section: dict[str, Any]) -> dict[str, Any]:
    """Return a table of the best score of each number of components, with its penalties.

    Among equal scores, the chosen point is preferred, then larger penalties, as in the model.
    """
    rows = []
    for k, plane in enumerate(section["scores"]):
        known = [
            (score, [i, j, k] == section["chosen"], j, i)
            for i, row in enumerate(plane)
            for j, score in enumerate(row)
            if score is not None
        ]
        score, _, j, i = max(known, default=(None, False, 0, 0))
        rows.append([section["dimensions"][k], score, section["alphas"][i], section["betas"][j]])
    columns = ["n_components", section["scoring"], section["rows"], "beta"]
    positive = max((row[1] or 0.0 for row in rows), default=0.0)  # negative scores have no bars
    return _table(columns, rows, best=[None, "max", None, None], bars={1: max(positive, 0.0)})


def _map_view(section: dict[str, Any]) -> dict[str, Any]:
    first = max((e["eigenvalue"] for e in section["eigenlabels"]), default=0.0) or 1.0
    faceted = section["colours"] == "facet"
    return {
        "shares": [round(e["eigenvalue"] / first, 3) for e in section["eigenlabels"]],
        "short": [
            isolate(name.rpartition("::")[2]) if faceted else name for name in section["names"]
        ],
    }


def _lines_view(section: dict[str, Any]) -> dict[str, Any]:
    rows = [list(row) for row in zip(section["values"], *section["series"], strict=True)]
    columns = [section["x"], *section["names"]]
    return {**line_chart.place(section), "numbers": _table(columns, rows)}


def _reliability_view(section: dict[str, Any]) -> dict[str, Any]:
    columns = ["mean probability", "share that is true", "cases"]
    return {**reliability_section.place(section), "numbers": _table(columns, section["bins"])}


VIEWS = {
    "table": _table_view,
    "per_label": _per_label_view,
    "resources": _resources_view,
    "threshold_curves": _curves_view,
    "surface": _surface_view,
    "label_map": _map_view,
    "critical_difference": critical_difference_diagram.place,
    "curves": _lines_view,
    "reliability": _reliability_view,
    "boxes": place_boxes,
}
