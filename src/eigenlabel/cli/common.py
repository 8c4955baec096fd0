"""What the commands share: reading data as users name it, values, tables."""

import argparse
import ast
import csv
import io
import os
import re
import shlex
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from eigenlabel import datasets
from eigenlabel.datasets import DataError, Dataset
from eigenlabel.datasets.writing import check_target, find_place, is_standard_output
from eigenlabel.estimators.subspace.many_labels import MANY

READER_OPTIONS = (
    "labels",
    "separator",
    "text",
    "samples",
    "drop",
    "encoding",
    "xml",
    "missing_labels",
    "n_features",
    "n_labels",
    "zero_based",
)
PYTHON_OPTION = re.compile(
    rf"""\b({"|".join(READER_OPTIONS)})=(\[[^\]]*\]|'(?:[^'\\]|\\.)*'|"[^"]*"|True|)"""
)
PYTHON_NAME = re.compile(r"\bn_(features|labels)\b")


class UsageError(ValueError):
    """A call that is wrong whatever the files say."""


class _Once(argparse.Action):
    """An option that may be given once: of two values the first would be lost without a word."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: str | None = None) -> None:
        seen = namespace.__dict__.setdefault("_seen", set())
        if self.option_strings and self.dest in seen:
            raise argparse.ArgumentError(self, "is given twice; give it once")
        seen.add(self.dest)
        super().__call__(parser, namespace, values, option)


class _StoreOnce(_Once, argparse._StoreAction):
    pass


class BooleanOnce(_Once, argparse.BooleanOptionalAction):
    """``--flag`` or ``--no-flag``, once."""


class Parser(argparse.ArgumentParser):
    """A parser that refuses an option given twice, unless it is one that takes several."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name in (None, "store"):
            self.register("action", name, _StoreOnce)


def choose(what: str, name: str, known: Iterable[str], listing: str) -> str:
    """Give a name that is known; else say which are close, or how to list them."""
    known = list(known)
    if name in known:
        return name
    close = get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}?" if close else f"{listing} lists them"
    raise UsageError(f"no {what} {name!r}; {hint}")


def in_options(text: str) -> str:
    """Put advice that readers give in Python, text='title', as options, --text title."""

    def option(found: re.Match[str]) -> str:
        name, value = found[1].replace("_", "-"), found[2]
        if value in ("", "True"):
            return f"--{name}"
        value = ast.literal_eval(value)
        return f"--{name} {shlex.quote(value if isinstance(value, str) else ','.join(value))}"

    text = PYTHON_NAME.sub(r"--n-\1", PYTHON_OPTION.sub(option, text))
    text = re.sub(r"\b(as|in|of) like\b", r"\1 the model", text)
    return re.sub(r"\blike has\b", "the model has", text)


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that tell how a data file is to be read."""
    group = parser.add_argument_group(
        "reading the data", "What the form of the file leaves open; the form itself is found out."
    )
    group.add_argument(
        "--labels", metavar="COLUMNS", action="append", help="tables: tags, or a,b,c, or topic_*"
    )
    group.add_argument("--separator", metavar="C", help="tables: between the labels of one cell")
    group.add_argument(
        "--text", metavar="COLUMNS", action="append", help="tables: column(s) whose words count"
    )
    group.add_argument("--samples", metavar="COLUMN", help="tables: column with names of samples")
    group.add_argument(
        "--drop", metavar="COLUMNS", action="append", help="tables: column(s) to leave out"
    )
    group.add_argument("--xml", metavar="FILE", help="ARFF: the file that names the labels")
    group.add_argument(
        "--missing-labels",
        choices=("error", "nan"),
        help="tables, ARFF: what empty label cells and ? are; nan: not observed",
    )
    group.add_argument("--encoding", help="of text files, UTF-8 by default")
    group.add_argument("--n-features", type=int, metavar="N", help="LIBSVM: number of features")
    group.add_argument("--n-labels", type=int, metavar="N", help="LIBSVM: number of labels")
    group.add_argument(
        "--zero-based",
        action=BooleanOnce,
        help="LIBSVM: whether features count from 0; else found out",
    )


def reader_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Give the reader's options that were set."""
    found = {}
    for name in READER_OPTIONS:
        value = getattr(arguments, name, None)
        if isinstance(value, list):  # of columns, from one option or several
            names = [column for part in value for column in words(part) or [part]]
            several = len(value) > 1 or "," in value[0] or name == "drop"
            value = names if several else value[0]
        if value is not None:
            found[name] = value
    return found


def read_data(name: str, options: dict[str, Any], like: Any = None) -> Dataset:
    """Read a file, the embedded data "debtags", or a known data set by its name."""
    if name == "debtags" and not Path(name).exists():
        return datasets.load_debtags(**options)
    data = datasets.load(data_path(name), like=like, **options)
    check_finite(name, data)
    return data


def check_finite(path: Any, data: Dataset, first: int = 0) -> None:
    """Raise DataError for infinite numbers, and for missing ones that cannot be imputed.

    Missing numbers of a sparse X are imputed in the columns of a table only.
    """
    sparse = sp.issparse(data.X)
    values = data.X.data if sparse else data.X
    odd = np.isinf(values)
    if sparse and np.isnan(values).any():
        imputed = {*data.column_types, *data.categories}
        known = np.array([str(name) in imputed for name in data.feature_names])
        odd |= np.isnan(values) & ~known[data.X.indices]
    if not odd.any():
        return
    if sparse:
        at = int(np.argmax(odd))
        row = int(np.searchsorted(data.X.indptr, at, side="right")) - 1
        column, value = data.X.indices[at], values[at]
    else:
        row, column = np.argwhere(odd)[0]
        value = values[row, column]
    why = "sparse features must be finite numbers" if sparse else "features must be finite"
    name = str(data.feature_names[column])
    raise DataError(path, f"feature {name!r} of sample {first + row + 1} is {value}; {why}")


def data_path(name: str) -> Path:
    """Give the path of a data file, or of the first file of a known data set."""
    path = Path(name)
    if not path.exists() and name in datasets.known():
        return datasets.find(name)[0]
    return path


def dense(Y: Any) -> Any:
    """Give a label matrix as an array, unless its labels are so many that it has to stay sparse."""
    return Y.toarray() if sp.issparse(Y) and Y.shape[1] < MANY else Y


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
            raise UsageError(f"expected NAME=VALUE, got {setting!r}")
        if name in found:
            raise UsageError(f"parameter {name!r} is set twice; set it once")
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


def positive(text: str) -> int:
    """Read a whole number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, got {text!r}")
    return int(text)


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
    """Raise DataError if an output cannot be written or is an input, before hours of work."""
    if path is None:
        return
    if is_standard_output(path):
        raise DataError(path, "is standard output, where messages go; write to a file")
    try:
        special, place = check_target(path), find_place(path)
    except OSError as error:
        raise DataError(path, f"cannot be written ({error.strerror})") from error
    if special:
        return
    if not place.parent.is_dir():
        raise DataError(path, "its folder does not exist")
    if not os.access(place.parent, os.W_OK):
        raise DataError(path, "its folder cannot be written to")
    if place in [Path(name).resolve() for name in inputs]:
        raise DataError(path, "is also another file of this command; write to a file of its own")
