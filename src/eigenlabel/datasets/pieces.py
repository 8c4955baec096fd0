"""Read files larger than memory, a piece at a time."""

import codecs
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files import (
    EMPTIEST,
    LONGEST,
    DataError,
    names_beside,
    read_head,
    read_lines,
    too_empty,
)
from eigenlabel.datasets.forms.arff.pieces import ArffRows, is_row
from eigenlabel.datasets.forms.csv import SAMPLE, CsvTable, Header, read_header
from eigenlabel.datasets.forms.jsonlines import JsonTable, filled_lines, find_names_beside
from eigenlabel.datasets.forms.parquet import MAGIC, ParquetFile
from eigenlabel.datasets.forms.sparse_text import (
    Lines,
    Sizes,
    is_sample,
    name_svmlight,
    parse_svmlight,
    parse_xmc,
    read_sizes,
)
from eigenlabel.datasets.like import match
from eigenlabel.datasets.loading import check_options, find_form, load
from eigenlabel.datasets.reading import all_options, pipe_pieces, remember
from eigenlabel.datasets.tables.assemble import fix_separator, to_dataset
from eigenlabel.datasets.tables.columns import Table
from eigenlabel.datasets.tables.roles import Options, kept_names
from eigenlabel.inputs.messages import Message, Parameter
from eigenlabel.inputs.validation import check_number

LATIN = "latin-1"  # in which every byte is a character


class Batch(NamedTuple):
    """Lines of some samples: the number of the first line, and of the samples before."""

    lines: list[str]
    first: int
    before: int

    def encode(self, encoding: str) -> Lines:
        """Give the lines as bytes."""
        return Lines("\n".join([*self.lines, ""]).encode(encoding), self.first)


def _batches(
    path: Path, lines: Iterator[str], first: int, rows: int, ends_sample: Callable[[str], bool]
) -> Iterator[Batch]:
    """Cut lines into batches of so many samples; blank lines count as lines only."""
    batch, count, before, last = [], 0, 0, 0
    for line in lines:
        batch.append(line)
        if ends_sample(line):
            count, last = count + 1, len(batch)
        elif len(batch) - last > EMPTIEST:
            raise too_empty(path, first + len(batch) - 1)
        if count == rows:
            yield Batch(batch, first, before)
            first, before = first + len(batch), before + count
            batch, count, last = [], 0, 0
    if count:
        yield Batch(batch, first, before)


class _Records:
    """Tell where a record of comma-separated text ends, with line breaks inside quotes."""

    def __init__(self, path: Path, header: Header) -> None:
        self.path, self.header = path, header
        self.line = self.start = header.lines + 1
        self.open, self.length = False, 0

    def __call__(self, line: str) -> bool:
        blank = not self.open and self.header.is_blank(line)
        self.open ^= line.count('"') % 2 == 1
        self.length += len(line)
        self.line += 1
        if self.length > LONGEST:
            raise DataError(self.path, "a quote is never closed, or a row is too long", self.start)
        if self.open:
            return False
        self.start, self.length = self.line, 0
        return not blank


def _assemble(
    tables: Iterator[Table], options: Options, like: Any, source: str
) -> Iterator[Dataset]:
    """Make a Dataset of each table; the first tells the columns of the others."""
    for table in tables:
        data = to_dataset(table, options, like, source)
        if options.separator is None:
            options = fix_separator(table, options, like)
        if like is None:
            like, options = data, replace(options, strict=True)
        yield data


def _split_options(options: dict[str, Any]) -> tuple[Options, dict[str, Any]]:
    """Tell what is said of columns from what is said of the file."""
    columns = {k: v for k, v in options.items() if k in Options.__dataclass_fields__}
    return Options(**columns), {k: v for k, v in options.items() if k not in columns}


def _table_pieces(path: Path, rows: int, like: Any, options: dict[str, Any]) -> Iterator[Dataset]:
    columns, reading = _split_options(options)
    if read_head(path, len(MAGIC)) == MAGIC:
        file = ParquetFile(path, reading.get("max_bytes"))
        names = kept_names(path, file.names, columns, like)
        tables, columns = file.pieces(names, rows), replace(columns, drop=())
    else:
        tables = _csv_tables(path, rows, reading)
    return _assemble(tables, columns, like, path.name)


def _csv_tables(path: Path, rows: int, reading: dict[str, Any]) -> Iterator[Table]:
    lines = read_lines(path, **reading)
    sample = list(islice(lines, SAMPLE))
    header = read_header(path, sample)
    rest = chain(sample[header.lines :], lines)
    records = _Records(path, header)
    for batch in _batches(path, rest, header.lines + 1, rows, records):
        yield CsvTable(path, header, batch.encode("utf-8").data, batch.first)
    if records.open:
        raise DataError(path, "a quote is never closed", records.start)


def _json_pieces(path: Path, rows: int, like: Any, options: dict[str, Any]) -> Iterator[Dataset]:
    columns, reading = _split_options(options)
    return _assemble(_json_tables(path, rows, reading), columns, like, path.name)


def _json_tables(path: Path, rows: int, reading: dict[str, Any]) -> Iterator[Table]:
    beside, seen = find_names_beside(path), []
    for batch in _batches(
        path, read_lines(path, **reading), 1, rows, lambda line: bool(line.strip())
    ):
        lines = filled_lines(path, batch.lines, batch.first)
        table = JsonTable(path, lines, beside, seen)
        seen = table.names
        yield table


def _byte_lines(path: Path, options: dict[str, Any]) -> Iterator[str]:
    """Yield lines of which only the bytes count, as LATIN characters."""
    lines = read_lines(path, LATIN, options.get("max_bytes"))
    yield next(lines, "").removeprefix(codecs.BOM_UTF8.decode(LATIN))
    yield from lines


def _svmlight_pieces(
    path: Path, rows: int, like: Any, options: dict[str, Any]
) -> Iterator[Dataset]:
    beside = names_beside(path, "features"), names_beside(path, "labels")
    given = Sizes(**{k: v for k, v in options.items() if k in Sizes._fields}).of(like)
    sizes, labelled = given, options.get("labelled", True)
    lines = _byte_lines(path, options)
    for batch in _batches(path, lines, 1, rows, lambda line: is_sample(line.encode(LATIN))):
        try:
            X, Y, zero_based = parse_svmlight(path, batch.encode(LATIN), sizes, like, labelled)
        except DataError as error:
            if None not in given or not batch.before:
                raise
            hint = Message(
                "as in the first piece; pass ",
                Parameter("n_features", ...),
                " and ",
                Parameter("n_labels", ...),
                ", or ",
                Parameter("like", ...),
            )
            raise DataError(path, Message(error.reason, " (", hint, ")"), error.line) from error
        data = name_svmlight(path, X, Y, beside, given, zero_based)
        sizes = Sizes(data.X.shape[1], data.Y.shape[1], zero_based)  # later pieces are like this
        yield match(path, data, like)


def _xmc_pieces(path: Path, rows: int, like: Any, options: dict[str, Any]) -> Iterator[Dataset]:
    lines = _byte_lines(path, options)
    n, d, m = read_sizes(path, next(lines).encode(LATIN))
    count = 0
    for batch in _batches(path, lines, 2, rows, lambda _: True):
        count += len(batch.lines)
        yield parse_xmc(path, batch.encode(LATIN), (d, m), like, options.get("labelled", True))
    if count != n:
        raise DataError(path, f"the first line promises {n} samples, there are {count}", 1)


def _arff_pieces(path: Path, rows: int, like: Any, options: dict[str, Any]) -> Iterator[Dataset]:
    options = dict(options)
    xml, labelled = options.pop("xml", None), options.pop("labelled", True)
    missing = options.pop("missing_labels", "error")
    lines = read_lines(path, **options)
    reader = ArffRows(path, lines, xml, like, labelled, missing)
    for batch in _batches(path, lines, reader.first + 1, rows, is_row):
        yield reader.read_lines(batch.lines, batch.first)


def _whole_pieces(path: Path, rows: int, like: Any, options: dict[str, Any]) -> Iterator[Dataset]:
    """Read a file whole and cut it up: its form does not allow more."""
    data = load(path, like=like, **options)
    n = data.X.shape[0]
    for start in range(0, n, rows):
        part = data.subset(samples=np.arange(start, min(start + rows, n)))
        yield replace(part, splits={})


PIECES = {
    "arff": _arff_pieces,
    "svmlight": _svmlight_pieces,
    "xmc": _xmc_pieces,
    "table": _table_pieces,
    "jsonl": _json_pieces,
}


def _at_least_one(path: Path, pieces: Iterator[Dataset]) -> Iterator[Dataset]:
    number = 0
    for number, piece in enumerate(pieces, 1):  # noqa: B007  counted
        yield piece
    if not number:
        raise DataError(path, "no samples")


def iterate(path: Any, *, rows: int = 4096, like: Any = None, **options: Any) -> Iterator[Dataset]:
    """Read a data file in pieces, each a Dataset of at most so many samples.

    LIBSVM and repository text, ARFF, tables and JSON lines, compressed or not, are never in
    memory whole. Other forms are read and then cut up. All pieces have the same features and
    labels: those of ``like``, else those of the first piece, and then a feature column, a label
    or a width that only a later piece shows is an error with its line. Names of labels and
    features beside a file count as in :func:`load`.

    Parameters
    ----------
    path : str or Path
    rows : samples in a piece
    like : Dataset whose features, categories and labels the pieces have to have
    options : those of the form's own reader, see :func:`load`

    Yields
    ------
    Dataset, without ``splits``

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from eigenlabel.datasets import iterate
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pages.txt"
    >>> _ = path.write_text("0,2 1:0.5 3:1\\n1 2:1\\n2 3:1\\n")
    >>> [piece.X.shape for piece in iterate(path, rows=2)]
    [(2, 3), (1, 3)]
    """
    path = Path(path)
    check_number("rows", rows, 1, integer=True)
    if path.is_fifo():
        limit = options.get("max_bytes")
        return pipe_pieces(path, limit, lambda file: iterate(file, rows=rows, like=like, **options))
    form = find_form(path)
    reader = check_options(path, form, options)
    options = all_options(reader, like, options)
    pieces = PIECES.get(form, _whole_pieces)(path, rows, like, options)
    return (remember(reader, piece, options) for piece in _at_least_one(path, pieces))
