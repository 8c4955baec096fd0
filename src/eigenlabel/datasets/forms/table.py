"""Read a table from a file: comma-separated text or Parquet, found by its content."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.decompression import check_file, read_head
from eigenlabel.datasets.forms.csv.reader import csv_pieces, read_csv
from eigenlabel.datasets.forms.parquet import MAGIC, ParquetFile
from eigenlabel.datasets.readers import TABLE_OPTIONS, reader
from eigenlabel.datasets.tables.assemble import to_dataset
from eigenlabel.datasets.tables.columns import RawTable
from eigenlabel.datasets.tables.pieces import assemble_pieces, split_options
from eigenlabel.datasets.tables.roles import ColumnOptions, kept_names


@reader(*TABLE_OPTIONS)
def load_table(
    path: Any,
    *,
    labels: Any = None,
    separator: str | None = None,
    text: Any = None,
    samples: str | None = None,
    drop: Any = (),
    like: Any = None,
    labelled: bool = True,
    missing_labels: str = "error",
    encoding: str = "utf-8",
    max_bytes: int | None = None,
) -> Dataset:
    """Read a table: text with commas, tabs or semicolons and a line of names, or Parquet.

    Text needs polars or pandas, Parquet needs pyarrow: ``pip install 'eigenlabel[data]'``.

    Columns that are neither labels nor text nor names of samples are features. Numbers and booleans
    are used unchanged, words become their positions in the sorted list of their values
    (``categories``), dates become days since 1970-01-01, durations become seconds, and empty cells
    become NaN. Words that are numbers with one sign, such as $1,200 or 12%, are numbers. Words such
    as n/a, unknown and - are missing values among dates and, in text files, among numbers. Among
    categories of text files they are those that pandas reads as empty cells, such as n/a and None.
    Columns of digits are categories if some have leading zeros. Such decisions are listed in
    ``notes``. X is dense, or sparse if there is text.

    Parameters
    ----------
    path : str or Path
        The file, compressed or not.
    labels : str or list of str, default=None
        Where the labels are: the name of a column whose cells contain labels (lists, or words with
        a separator between them), or the names of columns of 0 and 1, in which ``*`` matches any
        text. By default they are the columns named ``label:...``, as :func:`save` writes them, or
        the cells of a column named labels, label or tags.
    separator : str, default=None
        The text between labels in a cell. By default it is the first of ``|``, ``;`` and ``,`` that
        occurs in the column, and lists such as ``['a', 'b']`` are understood. With "" each cell is
        one label.
    text : str or list of str, default=None
        The columns whose words of at least two letters are counted, in lower case. By default it is
        a column named text that contains words; with () no words are counted. The words of several
        columns are counted separately, and their features are named after the column, such as
        title=red.
    samples : str, default=None
        The column with the names of the samples.
    drop : str or list of str, default=()
        The columns to leave out.
    like : Dataset, default=None
        A data set whose features, categories and labels this one must have. Words of a text that it
        does not have are left out. A value of a category that it does not have counts as missing,
        with a note. If there are no labels, Y is zero, with a note.
    labelled : bool, default=True
        Whether labels are read. With False, as in prediction, labels may be missing or unknown;
        this needs ``like``.
    missing_labels : {"error", "nan"}, default="error"
        The meaning of a label cell without a value. "nan": the labels were not observed, and are
        NaN in Y. "error": in a column of 0 and 1 it is an error; in a column whose cells contain
        labels, the sample has none.
    encoding : str, default="utf-8"
        The encoding of the text. A byte-order mark of UTF-16 overrides UTF-8.
    max_bytes : int, default=None
        The largest decompressed size to read. By default it is a quarter of the memory.

    Returns
    -------
    data : Dataset
        The content of the file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from eigenlabel.datasets import load_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "films.csv"
    >>> _ = path.write_text("length,country,genres\\n95,it,drama|crime\\n120,us,crime\\n88,it,\\n")
    >>> films = load_table(path, labels="genres")
    >>> films, films.label_names.tolist(), films.categories
    (Dataset(3 samples, 2 features, 2 labels; films.csv), ['crime', 'drama'],
    {'country': ('it', 'us')})
    """
    path = Path(path)
    check_file(path)
    options = ColumnOptions(labels, separator, text, samples, drop, labelled, missing_labels)
    if read_head(path, len(MAGIC)) == MAGIC:
        file = ParquetFile(path, max_bytes)
        names = kept_names(path, file.names, options, like)
        table, options = file.read(names, max_bytes), replace(options, drop=())
        return to_dataset(table, options, like, path.name)
    return to_dataset(read_csv(path, encoding, max_bytes), options, like, path.name)


def table_pieces(path: Path, rows: int, like: Any, options: dict[str, Any]) -> Iterator[Dataset]:
    """Yield Datasets of at most ``rows`` rows of a table."""
    tables, columns = raw_tables(path, rows, like, options)
    return assemble_pieces(tables, columns, like, path.name)


def raw_tables(
    path: Path, rows: int, like: Any, options: dict[str, Any]
) -> tuple[Iterator[RawTable], ColumnOptions]:
    """Return tables of at most ``rows`` rows as they are in the file, and the column options."""
    columns, reading = split_options(options)
    tables: Iterator[RawTable]
    if read_head(path, len(MAGIC)) == MAGIC:
        file = ParquetFile(path, reading.get("max_bytes"))
        names = kept_names(path, file.names, columns, like)
        tables, columns = file.pieces(names, rows), replace(columns, drop=())
    else:
        tables = csv_pieces(path, rows, reading)
    return tables, columns
