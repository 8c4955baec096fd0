"""Samples in every form that users pass: frames, arrays, sparse matrices and texts."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils.validation import check_array

from eigenlabel.datasets.tables.columns import Column, RawTable, Words, factorise, to_column
from eigenlabel.datasets.tables.frames import FrameTable, to_table
from eigenlabel.inputs.data import (
    check_sparse,
    check_unique_columns,
    unmasked,
    without_stored_zeros,
)
from eigenlabel.labels.missing import find_missing
from eigenlabel.linalg._types import Matrix
from eigenlabel.linalg.operators import is_sparse

SOURCE = "X"


class ArrayTable(RawTable):
    """A two-dimensional array as a table."""

    path = SOURCE
    typed, mixed = False, True

    def __init__(self, array: np.ndarray, names: list[str]) -> None:
        self.array, self.height = array, len(array)
        self.rename(names)

    def column(self, name: str) -> Column:
        """Return a column."""
        column = self.array[:, self.position[name]]
        if column.dtype.kind in "biuf":
            return np.asarray(column, dtype=float)
        there = np.flatnonzero(~find_missing(column))
        cells = column[there].tolist()
        odd = next((cell for cell in cells if isinstance(cell, (dict, complex))), None)
        if odd is not None:
            raise TypeError(
                f"Column {name!r} holds a {type(odd).__name__}: every argument must be a string, a "
                "date or a number, or be missing."
            )
        return to_column(self, name, cells, there.tolist())


class TextTable(RawTable):
    """A list of texts as a table of one column."""

    path = SOURCE

    def __init__(self, texts: list[str | None], name: str) -> None:
        self.texts, self.height = texts, len(texts)
        self.rename([name])

    def column(self, name: str) -> Words:  # noqa: ARG002  there is one
        """Return the texts."""
        return factorise(self.texts)


@dataclass(frozen=True)
class Samples:
    """Samples that a user passed.

    Attributes
    ----------
    table : RawTable or None
        The samples as a table, if they are one.
    matrix : array or CSR matrix, or None
        The samples as numbers, if they are not a table.
    named : bool
        Whether the columns have names.
    texts : bool
        Whether the samples are texts.
    """

    table: "ArrayTable | TextTable | FrameTable | None" = None
    matrix: Matrix | None = None
    named: bool = False
    texts: bool = False

    @property
    def width(self) -> int:
        """The number of columns."""
        if self.table is not None:
            return len(self.table.names)
        assert self.matrix is not None
        return int(self.matrix.shape[1])

    def as_table(self, names: list[str] | None = None) -> RawTable:
        """Return the samples as a table, with other names of the columns if they are passed.

        A sparse matrix is not a table.
        """
        if self.table is not None:
            if names is not None:
                self.table.rename(names)
            return self.table
        if is_sparse(self.matrix):
            raise TypeError(
                "X is a sparse matrix, whose columns are numbers: pass a frame or an array, or a "
                "sparse matrix to fit as well and no columns."
            )
        assert self.matrix is not None
        return ArrayTable(self.matrix, names or number_names(self.width))

    def as_matrix(self) -> Matrix:
        """Return the samples as numbers, if a table contains nothing else."""
        if self.matrix is not None:
            return self.matrix
        assert self.table is not None
        read = [self.table.column(name) for name in self.table.names]
        columns = [column for column in read if isinstance(column, np.ndarray)]
        if len(columns) < len(read):
            raise ValueError("X holds other columns than numbers, but held numbers only in fit.")
        return np.column_stack(columns)


def number_names(d: int) -> list[str]:
    """Return the names x0, x1, ... of columns without names."""
    return [f"x{j}" for j in range(d)]


def read_samples(X: Any) -> Samples:
    """Return the samples that a user passed, in one of the forms of ``Samples``."""
    if hasattr(X, "__dask_graph__"):
        raise TypeError("X is a Dask collection: pass X.compute() if it fits in memory.")
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a lazy frame: pass X.collect().")
    if isinstance(X, (str, dict)) and not is_sparse(X):  # some sparse formats are mappings
        raise TypeError(
            f"X is a {type(X).__name__}: pass a frame, an array, a sparse matrix or a list of "
            "texts."
        )
    X = unmasked(X)
    if is_sparse(X):
        check_sparse(X, "X")
        return Samples(matrix=_check_numbers(X))
    check_unique_columns(X)
    frame = nw.from_native(X, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return Samples(_frame_table(X), named=True)
    texts = as_texts(X)
    if texts is not None:
        return Samples(TextTable(texts, str(getattr(X, "name", None) or "")), texts=True)
    if isinstance(X, (list, tuple)):  # NumPy would turn numbers beside words into words
        X = _rows(X)
    array = np.asarray(X)
    if array.ndim == 2 and array.dtype.kind in "OUM":
        check_array(array, dtype=None, ensure_all_finite=False, ensure_min_samples=1)
        return Samples(ArrayTable(array, number_names(array.shape[1])))
    return Samples(matrix=_check_numbers(X if array.ndim != 2 else array))


def _rows(X: Any) -> np.ndarray:
    """Return rows as an array of numbers, or of objects if they contain anything else."""
    cells = np.array(X, dtype=object)
    if cells.ndim != 2:
        return cells
    plain = all(isinstance(cell, (int, float, np.number, np.bool_)) for cell in cells.flat)
    return cells.astype(float) if plain else cells


def _check_numbers(X: Any) -> Matrix:
    """Return a matrix of numbers as an array or CSR matrix of floats that may contain NaN."""
    rules = {"ensure_min_samples": 1, "ensure_all_finite": False, "input_name": "X"}
    found = without_stored_zeros(check_array(X, accept_sparse="csr", dtype=np.float64, **rules))
    values = found.data if is_sparse(found) else found
    if np.isinf(values).any():
        columns = (
            found.indices
            if is_sparse(found)
            else np.broadcast_to(np.arange(found.shape[1]), found.shape)
        )
        j = int(columns[np.isinf(values)][0])
        raise infinite(f"x{j}")
    return found


def infinite(name: str, row: int | None = None) -> ValueError:
    """Return the error for a column with an infinite number."""
    place = "" if row is None else f", in row {row}"
    return ValueError(
        f"Column {name!r} of X contains infinity{place}: numbers must be finite. Replace it by a "
        "number, or by NaN if the value is missing."
    )


def _frame_table(X: Any) -> FrameTable:
    """Return a frame as a table whose columns may contain anything."""
    table = to_table(SOURCE, X)
    table.typed, table.mixed = False, True
    double = next((name for name, count in Counter(table.names).items() if count > 1), None)
    if double is not None:
        raise ValueError(f"Two columns of X are called {double!r}; rename one of them.")
    for count, what in ((table.height, "sample"), (len(table.names), "feature")):
        if not count:
            raise ValueError(
                f"Found frame with 0 {what}(s) (shape={(table.height, len(table.names))}) while a "
                "minimum of 1 is required."
            )
    return table


def as_texts(X: Any) -> list[str | None] | None:
    """Return a list, vector or series of texts, some of which may be missing; None otherwise."""
    frame = nw.from_native(X, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(frame, nw.Series):
        X = frame.to_list()
    if isinstance(X, str) or not isinstance(X, (list, tuple, np.ndarray)) or not len(X):
        return None
    if isinstance(X, np.ndarray) and (X.ndim != 1 or X.dtype.kind not in "OU"):
        return None
    if not any(isinstance(x, str) for x in X):
        return None
    cells = np.empty(len(X), dtype=object)
    cells[:] = list(X)
    missing = find_missing(cells)
    if not all(isinstance(x, str) or gone for x, gone in zip(cells, missing, strict=True)):
        return None
    return [None if gone else str(x) for x, gone in zip(cells, missing, strict=True)]
