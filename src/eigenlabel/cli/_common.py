"""What the commands share: reading data as users name it, values, tables."""

import argparse
import ast
import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel import datasets
from eigenlabel.datasets import DataError, Dataset

TABLE_OPTIONS = ("labels", "separator", "text", "samples", "drop", "encoding")
READER_OPTIONS = (*TABLE_OPTIONS, "xml", "n_features", "n_labels")


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that tell how a data file is to be read."""
    group = parser.add_argument_group(
        "reading the data", "What the form of the file leaves open; the form itself is found out."
    )
    group.add_argument("--labels", metavar="COLUMNS", help="tables: tags, or a,b,c, or topic_*")
    group.add_argument("--separator", metavar="C", help="tables: between the labels of one cell")
    group.add_argument("--text", metavar="COLUMNS", help="tables: column(s) whose words count")
    group.add_argument("--samples", metavar="COLUMN", help="tables: column with names of samples")
    group.add_argument("--drop", metavar="COLUMNS", help="tables: column(s) to leave out")
    group.add_argument("--xml", metavar="FILE", help="ARFF: the file that names the labels")
    group.add_argument("--encoding", help="of text files, UTF-8 by default")
    group.add_argument("--n-features", type=int, metavar="N", help="LIBSVM: number of features")
    group.add_argument("--n-labels", type=int, metavar="N", help="LIBSVM: number of labels")


def reader_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Give the reader's options that were set."""
    found = {}
    for name in READER_OPTIONS:
        value = getattr(arguments, name, None)
        if value is not None:
            several = name in ("text", "drop", "labels") and "," in value
            found[name] = [part.strip() for part in value.split(",")] if several else value
    if isinstance(found.get("drop"), str):
        found["drop"] = [found["drop"]]
    return found


def read_data(name: str, options: dict[str, Any], like: Any = None) -> Dataset:
    """Read a file, the embedded data "debtags", or a known data set by its name."""
    if name == "debtags" and not Path(name).exists():
        return datasets.load_debtags(**options)
    more = {} if like is None else {"like": like}
    return datasets.load(data_path(name), **more, **options)


def data_path(name: str) -> Path:
    """Give the path of a data file, or of the first file of a known data set."""
    path = Path(name)
    if not path.exists() and name in datasets.known():
        return datasets.find(name)[0]
    return path


def dense(Y: Any) -> np.ndarray:
    """Give a label matrix as an array."""
    return Y.toarray() if sp.issparse(Y) else np.asarray(Y)


def parse_value(text: str) -> Any:
    """Give the Python value that a word writes down, or the word itself."""
    if text in ("inf", "-inf"):
        return float(text)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def parse_settings(settings: Sequence[str]) -> dict[str, Any]:
    """Read NAME=VALUE words."""
    found = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise ValueError(f"Expected NAME=VALUE, got {setting!r}.")
        found[name] = parse_value(value)
    return found


def numbers(text: str) -> list[float]:
    """Read numbers separated by commas; inf is one."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected numbers such as 0.1,1,inf, got {text!r}"
        ) from None


def integers(text: str) -> list[int]:
    """Read whole numbers separated by commas."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected 1,2,5 or the like, got {text!r}") from None


def words(text: str) -> list[str]:
    """Read words separated by commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]], form: str = "text") -> str:
    """Lay out a table of words as text, Markdown, LaTeX or CSV."""
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


def _latex(word: str) -> str:
    for char in "\\&%$#_{}":
        word = word.replace(char, rf"\{char}" if char != "\\" else r"\textbackslash ")
    return word.replace("^", r"\^{}").replace("±", r"$\pm$")


def check_output(path: str | None, *inputs: str) -> None:
    """Refuse an output whose folder is not there, or that is an input, before hours of work."""
    if path is None:
        return
    place = Path(path).resolve()
    if not place.parent.is_dir():
        raise DataError(path, "its folder does not exist")
    if place in [Path(name).resolve() for name in inputs]:
        raise DataError(path, "is also an input; write to another file")
