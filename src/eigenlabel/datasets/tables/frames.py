"""Data frames as Datasets: those of pandas, polars and all others that narwhals reads."""

from typing import Any

import narwhals as nw
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
    kind_of,
    refusal,
    to_column,
)
from eigenlabel.datasets.tables.polars_and_pandas import polars_words
from eigenlabel.datasets.tables.roles import ColumnOptions


class FrameTable(RawTable):
    """A frame as a table."""

    def __init__(self, path: Any, frame: Any) -> None:
        self.path, self.frame, self.height = path, frame, len(frame)
        self.rename([str(name) for name in frame.columns])

    def column(self, name: str) -> Column:
        """Return a column."""
        column = self._series(name)
        kind = column.dtype
        if kind.is_numeric() or kind in (nw.Boolean, nw.Duration) or is_sparse_column(column):
            return as_floats(column)
        if column.null_count() == self.height and kind in (nw.String, nw.Object, nw.Unknown):
            return np.full(self.height, np.nan)
        if kind == nw.String:
            return _words(column)
        if kind in (nw.Categorical, nw.Enum):
            return self._categories(name, column)
        if kind in (nw.Date, nw.Datetime):
            return Dates(as_floats(column.dt.timestamp("us")) / MICROSECONDS)
        if kind == nw.Time:
            raise refusal(self, name, "times of day")
        if kind in (nw.List, nw.Array, nw.Object):
            return self._cells(name, column)
        what = column.to_native().dtype if kind == nw.Unknown else kind
        raise refusal(self, name, f"values of type {what}")

    def declared(self, name: str) -> str | None:
        """Return the kind of column that the type of a column declares, or None."""
        column = self._series(name)
        kind = column.dtype
        if kind == nw.Boolean:
            return "boolean"
        if kind == nw.Object:
            there, cells = _filled(column)
            return "boolean" if len(there) and all(isinstance(c, bool) for c in cells) else None
        return "category" if kind in (nw.Categorical, nw.Enum) else None

    def _series(self, name: str) -> Any:
        return self.frame[:, self.position[name]]

    def _cells(self, name: str, column: Any) -> Column:
        there, cells = _filled(column)
        return to_column(self, name, cells, there)

    def _categories(self, name: str, column: Any) -> Column:
        """Read the few values of a categorical column instead of its many cells."""
        native = column.to_native()
        if not hasattr(native, "cat") or not hasattr(native.cat, "codes"):
            return _words(column.cast(nw.String))
        codes, values = native.cat.codes.to_numpy(), native.cat.categories.tolist()
        kinds = {kind_of(value) for value in values}
        if kinds != {"words"}:
            if kinds <= {"words", "numbers", "dates"}:
                return self._cells(name, column)
            values = [str(value) for value in values]  # such as the intervals of pandas.cut
        used = np.flatnonzero(np.bincount(codes[codes >= 0], minlength=len(values)))
        words = factorise(values[i] for i in used)
        new = np.full(len(values) + 1, -1)
        new[used] = words.codes
        return Words(words.values, new[codes])


def _filled(column: Any) -> tuple[list[int], list[Any]]:
    """Return the rows of a column that have a value, and the values."""
    there = np.flatnonzero(~np.asarray(column.is_null().to_numpy(), dtype=bool)).tolist()
    cells = column.to_list()
    return there, [cells[row] for row in there]


def is_sparse_column(column: Any) -> bool:
    """Return True for a sparse column of pandas, which narwhals does not know."""
    return column.dtype == nw.Unknown and hasattr(column.to_native(), "sparse")


def as_floats(column: Any) -> np.ndarray:
    """Return a column of numbers as floats, with NaN for cells without a value.

    Durations are numbers of seconds.
    """
    if is_sparse_column(column):
        return np.asarray(column.to_native().sparse.to_dense(), dtype=float)
    if column.dtype == nw.Duration:
        return as_floats(column.dt.total_microseconds()) / 1e6
    values = column.cast(nw.Float64).to_numpy()
    return np.asarray(values, dtype=float)


def _words(column: Any) -> Words:
    """Return a column of strings as words."""
    if column.implementation.is_polars():
        return polars_words(column.to_native())
    missing = np.asarray(column.is_null().to_numpy(), dtype=bool).tolist()
    cells = zip(column.to_list(), missing, strict=True)
    return factorise(None if absent else str(cell) for cell, absent in cells)


def to_table(path: Any, frame: Any) -> FrameTable:
    """Return a frame as a table."""
    try:
        found = nw.from_native(frame, eager_only=True)
    except TypeError:
        hint = "; call its collect() first" if type(frame).__name__ == "LazyFrame" else ""
        raise TypeError(
            f"frame must be a pandas or polars DataFrame, got {type(frame).__name__}{hint}"
        ) from None
    return FrameTable(path, found)


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
    """Return a frame as a Dataset.

    Columns become features and labels as those of a file do, see :func:`load_table`.

    Parameters
    ----------
    frame : DataFrame of pandas, polars or another library that narwhals reads
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
        The meaning of a label cell without a value. "nan": the labels were not observed, and are
        NaN in Y. "error": in a column of 0 and 1 it is an error; in a column whose cells contain
        labels, the sample has none.

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
