"""Tables of words as text, Markdown, LaTeX or CSV."""

import csv
import io
from collections.abc import Sequence

FORMS = ("text", "markdown", "latex", "csv")


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]], form: str = "text") -> str:
    """Return a table in one of the formats ``FORMS``."""
    if form == "csv":
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([header, *rows])
        return out.getvalue().rstrip("\n")
    if form == "latex":
        lines = [" & ".join(map(_latex, row)) + r" \\" for row in (header, *rows)]
        begin, end = rf"\begin{{tabular}}{{{'l' * len(header)}}}", r"\end{tabular}"
        return "\n".join([begin, lines[0], r"\hline", *lines[1:], end])
    widths = [max(len(row[j]) for row in (header, *rows)) for j in range(len(header))]
    if form == "markdown":
        cells = [[c.replace("|", r"\|") for c in row] for row in (header, *rows)]
        lines = ["| " + " | ".join(row) + " |" for row in cells]
        return "\n".join([lines[0], "|" + "---|" * len(header), *lines[1:]])
    return "\n".join(
        "  ".join(f"{c:{w}}" for c, w in zip(row, widths, strict=True)).rstrip()
        for row in (header, *rows)
    )


def format_note(note: str, form: str) -> str:
    """Return a note below a table, as an item of a list in Markdown."""
    return f"- {note}" if form == "markdown" else note


def _latex(word: str) -> str:
    for char in "\\&%$#_{}":
        word = word.replace(char, rf"\{char}" if char != "\\" else r"\textbackslash ")
    return word.replace("^", r"\^{}").replace("±", r"$\pm$")
