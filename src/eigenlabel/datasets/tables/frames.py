"""Data frames of pandas and polars as Datasets."""

from typing import Any

import numpy as np

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.readers import TABLE_OPTIONS, remembers
from eigenlabel.datasets.tables.assemble import to_dataset
from eigenlabel.datasets.tables.columns import (
    MICROSECONDS,
    Column,
    Dates,
    RawTable,
    Words,
    factorise,
    refusal,
    to_column,
)
from eigenlabel.datasets.tables.polars_and_pandas import polars_numbers, polars_words
from eigenlabel.datasets.tables.roles import ColumnOptions


class PolarsTable(RawTable):
    """A polars frame as a table."""

    def __init__(self, path: Any, frame: Any) -> None:
        self.path, self.frame = path, frame
        self.names, self.height = list(frame.columns), frame.height

    def column(self, name: str) -> Column:
        """Return a column."""
        import polars as pl  # noqa: PLC0415  an extra

        column = self.frame[name]
        kind = column.dtype
        if kind.is_numeric() or kind in (pl.Boolean, pl.Null):
            return polars_numbers(column)
        if kind == pl.String:
            return polars_words(column)
        if kind in (pl.Categorical, pl.Enum):
            return polars_words(column.cast(pl.String))
        if kind in (pl.Date, pl.Datetime):
            return Dates(polars_numbers(column.dt.epoch("us")) / MICROSECONDS)
        if kind.is_temporal():
            raise refusal(self, name, "times")
        if kind in (pl.List, pl.Array, pl.Object):
            return to_column(self, name, column.to_list(), range(self.height))
        raise refusal(self, name, f"{kind} values")


class PandasTable(RawTable):
    """A pandas frame as a table."""

    def __init__(self, path: Any, frame: Any) -> None:
        self.path, self.frame = path, frame
        self.names, self.height = [str(name) for name in frame.columns], len(frame)
        self.position = {name: i for i, name in enumerate(self.names)}

    def column(self, name: str) -> Column:
        """Return a column."""
        import pandas as pd  # noqa: PLC0415  an extra

        column = self.frame.iloc[:, self.position[name]]
        if isinstance(column.dtype, pd.CategoricalDtype):
            return self._categories(name, column)
        if column.dtype.kind in "biuf":
            return np.asarray(column.to_numpy(dtype=float, na_value=np.nan))
        if column.dtype.kind == "M":
            moments = pd.to_datetime(column, utc=True).to_numpy(dtype="datetime64[us]")
            return Dates((moments - np.datetime64(0, "us")) / np.timedelta64(1, "D"))
        cells = column.astype(object)
        there = cells.notna().to_numpy()
        return to_column(self, name, cells[there].tolist(), np.flatnonzero(there).tolist())

    def _categories(self, name: str, column: Any) -> Column:
        """Read the few values of a categorical column instead of its many cells."""
        codes, values = column.cat.codes.to_numpy(), column.cat.categories.tolist()
        if not all(isinstance(value, str) for value in values):
            cells = column.astype(object)
            there = column.notna().to_numpy()
            return to_column(self, name, cells[there].tolist(), np.flatnonzero(there).tolist())
        used = np.flatnonzero(np.bincount(codes[codes >= 0], minlength=len(values)))
        words = factorise(values[i] for i in used)
        new = np.full(len(values) + 1, -1)
        new[used] = words.codes
        return Words(words.values, new[codes])


def to_table(path: Any, frame: Any) -> RawTable:
    """Return a pandas or polars frame as a table."""
    module = type(frame).__module__.partition(".")[0]
    if type(frame).__name__ == "DataFrame" and module in ("polars", "pandas"):
        return (PolarsTable if module == "polars" else PandasTable)(path, frame)
    hint = "; call its collect() first" if type(frame).__name__ == "LazyFrame" else ""
    raise TypeError(f"frame must be a pandas or polars DataFrame, got {type(frame).__name__}{hint}")


@remembers(*TABLE_OPTIONS)
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
    """Return a pandas or polars frame as a Dataset.

    Columns become features and labels as those of a file do, see :func:`load_table`.

    Parameters
    ----------
    frame : pandas or polars DataFrame
        The table.
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
        The meaning of empty cells in columns of 0 and 1: an error, or labels that were not
        observed, which are NaN in Y.

    Returns
    -------
    data : Dataset
        The content of the frame.

    Examples
    --------
    >>> import pandas as pd
    >>> from eigenlabel.datasets import from_frame
    >>> frame = pd.DataFrame({"size": [1, 2], "a": [0, 1], "b": [True, True]})
    >>> from_frame(frame, labels=["a", "b"]).Y.toarray()
    array([[0, 1],
           [1, 1]])
    """
    options = ColumnOptions(labels, separator, text, samples, drop, labelled, missing_labels)
    return to_dataset(to_table("frame", frame), options, like, "frame")
