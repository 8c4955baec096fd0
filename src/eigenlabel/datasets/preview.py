"""What a notebook shows of a Dataset: its size, its first samples and their labels."""

from html import escape
from typing import Any, NamedTuple

import numpy as np

from eigenlabel.linalg._types import Matrix
from eigenlabel.linalg.operators import is_sparse

SAMPLES, FEATURES, LABELS = 5, 8, 8  # that are shown
WIDEST = 40  # characters of a name or value
CELL = "text-align:left;vertical-align:top;padding:0.1em 1em 0.1em 0"


class Preview(NamedTuple):
    """The first samples of a data set, as text.

    Attributes
    ----------
    facts : list of pair of str
        Names and values of sizes.
    header : list of str
        The names of the columns.
    rows : list of list of str
        The cells of the first samples.
    """

    facts: list[tuple[str, str]]
    header: list[str]
    rows: list[list[str]]

    def html(self, title: str) -> str:
        """Return an escaped table."""
        facts = "".join(
            f'<tr style="background:none"><th scope="row" style="{CELL}">{escape(name)}</th>'
            f'<td style="{CELL}">{escape(text)}</td></tr>'
            for name, text in self.facts
        )
        head = "".join(
            f'<th scope="col" style="{CELL}">{escape(name)}</th>' for name in self.header
        )
        body = "".join(
            "<tr>" + "".join(f'<td style="{CELL}">{escape(cell)}</td>' for cell in row) + "</tr>"
            for row in self.rows
        )
        return (
            '<div class="eigenlabel-dataset" style="font-family:system-ui,sans-serif;'
            f'font-size:0.9em;overflow-x:auto"><strong>{escape(title)}</strong>'
            f"<table><tbody>{facts}</tbody></table>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        )


def preview(data: Any) -> Preview:
    """Return the sizes and the first samples of a Dataset; the cost is that of a few rows."""
    n, d = data.X.shape
    facts = [
        ("samples", f"{n:,}"),
        ("features", f"{d:,}{_density(data.X)}"),
        ("labels", f"{data.Y.shape[1]:,}{_label_facts(data.Y)}"),
    ]
    if data.views:
        facts.append(
            ("views", ", ".join(f"{k} ({s.stop - s.start})" for k, s in data.views.items()))
        )
    facts += [("note", str(note)) for note in data.notes[:3]]
    wide = is_sparse(data.X) or d > FEATURES
    names = [_short(name) for name in data.feature_names[:FEATURES]]
    header = ["sample", *(["features"] if wide else names), "labels"]
    rows = [
        [_sample_name(data, i), *(_wide_row(data, i) if wide else _row(data, i)), _labels(data, i)]
        for i in range(min(SAMPLES, n))
    ]
    if n > SAMPLES:
        rows.append(["…", *[""] * (len(header) - 1)])
    return Preview(facts, header, rows)


def _density(X: Matrix) -> str:
    if not is_sparse(X) or not X.shape[0] * X.shape[1]:
        return ""
    return f" (sparse, {100 * X.nnz / (X.shape[0] * X.shape[1]):.3g}% stored)"


def _label_facts(Y: Matrix) -> str:
    stored = Y.data if is_sparse(Y) else Y
    n, m = Y.shape
    if not n or not m:
        return ""
    missing = int(np.isnan(stored).sum()) if stored.dtype.kind == "f" else 0
    positive = int(np.count_nonzero(stored == 1))
    unknown = f", {100 * missing / (n * m):.3g}% of the cells not observed" if missing else ""
    return f" ({positive / n:.3g} per sample{unknown})"


def _dense_row(A: Matrix, i: int) -> np.ndarray:
    row = A[[i]]
    return np.asarray(row.toarray() if is_sparse(row) else row).ravel()


def _sample_name(data: Any, i: int) -> str:
    return str(i) if data.sample_names is None else _short(data.sample_names[i])


def _row(data: Any, i: int) -> list[str]:
    return [_cell(data, j, value) for j, value in enumerate(_dense_row(data.X, i)[:FEATURES])]


def _wide_row(data: Any, i: int) -> list[str]:
    """Return the first features of a sample that are not zero, in one cell."""
    row = _dense_row(data.X, i)
    at = np.flatnonzero(row)
    shown = [f"{_short(data.feature_names[j])} {_cell(data, j, row[j])}" for j in at[:FEATURES]]
    return [", ".join(shown) + (", …" if len(at) > FEATURES else "")]


def _cell(data: Any, j: int, value: Any) -> str:
    """Return a value as text; a category by its name."""
    values = data.categories.get(str(data.feature_names[j]))
    known = values is not None and np.isfinite(value) and 0 <= int(value) < len(values)
    if known and float(value).is_integer():
        return _short(values[int(value)])
    return "" if np.isnan(value) else f"{value:.4g}"


def _labels(data: Any, i: int) -> str:
    row = _dense_row(data.Y, i)
    names = [_short(data.label_names[j]) for j in np.flatnonzero(row == 1)]
    return ", ".join(names[:LABELS]) + (", …" if len(names) > LABELS else "")


def _short(name: Any) -> str:
    flat = " ".join(str(name).split())
    return flat if len(flat) <= WIDEST else flat[: WIDEST - 1] + "…"
