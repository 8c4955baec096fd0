"""The texts of a sample as they are in its file; a Dataset contains the counts of their words."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eigenlabel.datasets.forms.detection import find_form
from eigenlabel.datasets.forms.jsonlines.reader import raw_objects
from eigenlabel.datasets.forms.table import raw_tables
from eigenlabel.datasets.loading import check_options
from eigenlabel.datasets.readers import all_options
from eigenlabel.datasets.tables.columns import RawTable
from eigenlabel.datasets.tables.roles import ColumnOptions, find_roles


def read_texts(
    path: Any, row: int, *, like: Any = None, rows: int = 4096, **options: Any
) -> dict[str, str]:
    """Return the texts of one sample of a table or of JSON lines, by the name of their column.

    The result is empty if the file has no texts, is of another form, or is a pipe, which can be
    read only once. The file is read in pieces up to the sample.

    Parameters
    ----------
    path : str or Path
        The file.
    row : int
        The position of the sample.
    like : Dataset or SavedModel, default=None
        The data that the file is like, as for :func:`eigenlabel.datasets.load`.
    rows : int, default=4096
        The number of samples that are in memory at once.
    **options : dict
        Options of the reader of the form.
    """
    path = Path(path)
    if path.is_fifo():
        return {}
    form = find_form(path)
    options = all_options(check_options(path, form, options), like, options)
    if form not in ("table", "jsonl"):
        return {}
    tables: Iterator[RawTable]
    columns: ColumnOptions
    if form == "table":
        tables, columns = raw_tables(path, rows, like, options)
    else:
        tables, columns = raw_objects(path, rows, options)
    names: list[str] | None = None
    for table in tables:
        if names is None:  # the first piece decides, as in iterate
            names = find_roles(table, columns, like).text
        if row < table.height:
            return {name: _cell(table, name, row) for name in names}
        row -= table.height
    return {}


def _cell(table: RawTable, name: str, row: int) -> str:
    words = table.words(name)
    code = int(words.codes[row])
    return "" if code < 0 else words.values[code]
