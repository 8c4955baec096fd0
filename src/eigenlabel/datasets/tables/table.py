"""Tables: comma-separated text, Parquet, and frames in memory."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files import check_file, read_bytes, read_head, split_lines, to_utf8
from eigenlabel.datasets.forms.csv import CsvTable, read_header
from eigenlabel.datasets.forms.parquet import MAGIC, ParquetFile
from eigenlabel.datasets.reading import TABLE, reader, remembers
from eigenlabel.datasets.tables.assemble import to_dataset
from eigenlabel.datasets.tables.engines import to_table
from eigenlabel.datasets.tables.roles import Options, kept_names


def _after_lines(block: bytes, count: int) -> int:
    """Give where the text goes on after some lines."""
    at = 0
    for _ in range(count):
        at = block.find(b"\n", at) + 1 or len(block)
    return at


@reader(*TABLE)
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
    Columns that are neither labels nor text nor names of samples are features: numbers and
    booleans as they are, words as their positions in the sorted list of their values
    (``categories``), dates as days since 1970-01-01, empty cells as NaN. Words such as n/a,
    unknown and - are missing values among dates and, in text, among numbers; digits of which some
    have leading zeros are categories. ``notes`` name such columns. X is dense, or sparse if there
    is text.

    Parameters
    ----------
    path : str or Path
    labels : where the labels are: the name of a column whose cells hold labels (a list, or words
        with a separator between them), or names of columns of 0 and 1, in which ``*`` stands for
        anything. By default columns named ``label:...``, as :func:`save` writes them, or the
        cells of a column named labels, label or tags
    separator : what stands between labels in a cell; by default the first of ``|``, ``;`` and
        ``,`` that occurs in the column, and lists such as ``['a', 'b']`` are understood. ""
        keeps cells whole
    text : names of columns whose words of two letters and more are counted, in lower case; by
        default a column named text that holds words. () counts none. The words of several columns
        are counted apart, and their features are named after the column, such as title=red
    samples : name of the column that names the samples
    drop : names of columns to leave out
    like : Dataset whose features, categories and labels this one has to have. Words of a text
        that it does not know are left out, a value of a category that it does not know counts as
        missing, with a note; a file without labels gives a Y of zeros, with a note
    labelled : False, as in prediction, does not look at labels, all of which or some may be
        missing or unknown; needs ``like``
    missing_labels : "error", or "nan": empty cells in columns of 0 and 1 are labels that were not
        observed, NaN in Y
    encoding : of the text
    max_bytes : largest decompressed size to read, a quarter of memory by default

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
    options = Options(labels, separator, text, samples, drop, labelled, missing_labels)
    if read_head(path, len(MAGIC)) == MAGIC:
        file = ParquetFile(path, max_bytes)
        names = kept_names(path, file.names, options, like)
        return to_dataset(file.read(names, max_bytes), _without_drop(options), like, path.name)
    data = to_utf8(path, read_bytes(path, max_bytes), encoding)
    header = read_header(path, split_lines(data))
    block = data[_after_lines(data, header.lines) :]
    del data
    return to_dataset(CsvTable(path, header, block, header.lines + 1), options, like, path.name)


def _without_drop(options: Options) -> Options:
    return replace(options, drop=())


@remembers(*TABLE)
def from_frame(
    frame: Any,
    *,
    labels: Any = None,
    separator: str | None = None,
    text: Any = None,
    samples: str | None = None,
    drop: Any = (),
    like: Any = None,
    labelled: bool = True,
    missing_labels: str = "error",
) -> Dataset:
    """Make a Dataset of a pandas or polars frame; the options are those of :func:`load_table`.

    Examples
    --------
    >>> import pandas as pd
    >>> from eigenlabel.datasets import from_frame
    >>> frame = pd.DataFrame({"size": [1, 2], "a": [0, 1], "b": [True, True]})
    >>> from_frame(frame, labels=["a", "b"]).Y.toarray()
    array([[0, 1],
           [1, 1]])
    """
    options = Options(labels, separator, text, samples, drop, labelled, missing_labels)
    return to_dataset(to_table("frame", frame), options, like, "frame")
