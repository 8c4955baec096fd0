"""The two engines that read comma-separated text, polars and pandas, with equal results."""

import csv
import io
from typing import Any, Protocol

import numpy as np

from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.tables.columns import CODE, Words, factorise

PANIC = "PanicException"  # a failure inside of polars, which is not an Exception


class TableCells(Protocol):
    """The cells of comma-separated text without its header.

    Attributes
    ----------
    height : int
        The number of rows.
    width : int
        The number of columns.
    """

    height: int
    width: int

    def words(self, index: int) -> Words:
        """Return a column as it is written; an empty cell has no value."""
        ...

    def numbers(self, index: int) -> np.ndarray | None:
        """Return a column of plain numbers, or None if it contains anything else.

        An empty cell is NaN. A number with a space before or after it is not plain.
        """
        ...

    def holds_codes(self, index: int) -> bool:
        """Return True if a cell has leading zeros."""
        ...


def find_engine(path: Any) -> str:
    """Return the name of the engine that is installed."""
    for name in ("polars", "pandas"):
        try:
            __import__(name)
        except ImportError:
            continue
        return name
    raise DataError(path, "a table, which needs polars or pandas: pip install 'eigenlabel[data]'")


def guarded(path: Any, what: str, read: Any, *arguments: Any, **options: Any) -> Any:
    """Call a function of an engine; any error that a damaged file causes becomes a DataError."""
    try:
        return read(*arguments, **options)
    except MemoryError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != PANIC:
            raise
        reason = str(error).partition("\n")[0]
        raise DataError(path, f"{what}, or damaged ({reason})") from error


class PolarsCells:
    """The cells of comma-separated text, read by polars."""

    def __init__(self, path: Any, block: bytes, delimiter: str) -> None:
        import polars as pl  # noqa: PLC0415  an extra

        frame = guarded(
            path,
            "not a table",
            pl.read_csv,
            block,
            has_header=False,
            separator=delimiter,
            quote_char='"' if b'"' in block else None,
            infer_schema=False,
        )
        self.height, self.width = frame.shape
        self.columns = frame.get_columns()

    def words(self, index: int) -> Words:
        """Return a column as it is written; an empty cell has no value."""
        return _without_empty(polars_words(self.columns[index]))

    def numbers(self, index: int) -> np.ndarray | None:
        """Return a column of plain numbers, or None if it contains anything else."""
        import polars as pl  # noqa: PLC0415  an extra

        # Nothing here starts a query: with very many columns of few rows, queries are slow.
        column = self.columns[index]
        found = column.cast(pl.Float64, strict=False)
        lost = found.null_count() - column.null_count()
        if lost and lost > (column == "").sum():
            return None
        return np.asarray(found.to_numpy())

    def holds_codes(self, index: int) -> bool:
        """Return True if a cell has leading zeros."""
        return bool(self.columns[index].str.contains(f"^(?:{CODE.pattern})$").any())


class PandasCells:
    """The cells of comma-separated text, read by pandas."""

    def __init__(self, path: Any, block: bytes, delimiter: str) -> None:
        import pandas as pd  # noqa: PLC0415  an extra

        frame = guarded(
            path,
            "not a table",
            pd.read_csv,
            io.BytesIO(block),
            header=None,
            index_col=False,
            sep=delimiter,
            dtype=object,
            na_filter=False,
            skip_blank_lines=False,
            quoting=csv.QUOTE_MINIMAL if b'"' in block else csv.QUOTE_NONE,
            engine="c",
        )
        self.height, self.width = frame.shape
        self.cells = frame.to_numpy(dtype=object)
        # float() accepts digits of other scripts and 1_000, which polars does not.
        self.plain = block.isascii() and b"_" not in block

    def words(self, index: int) -> Words:
        """Return a column as it is written; an empty cell has no value."""
        return _without_empty(factorise(self.cells[:, index].tolist()))

    def numbers(self, index: int) -> np.ndarray | None:
        """Return a column of plain numbers, or None if it contains anything else."""
        if not self.plain:
            return None
        try:
            return np.array([_plain_number(v) for v in self.cells[:, index].tolist()], dtype=float)
        except ValueError:
            return None

    def holds_codes(self, index: int) -> bool:
        """Return True if a cell has leading zeros."""
        return any(CODE.fullmatch(cell) for cell in self.cells[:, index].tolist())


def _plain_number(cell: str) -> float:
    """Return a cell as a number; raise ValueError for what polars does not read as one."""
    if cell != cell.strip():
        raise ValueError(f"{cell!r} has spaces around it.")
    return float(cell or "nan")


def _without_empty(words: Words) -> Words:
    if words.values[:1] == [""]:  # it is first, as values are sorted; its code becomes -1
        return Words(words.values[1:], np.maximum(words.codes - 1, -1))
    return words


def polars_words(column: Any) -> Words:
    """Return a polars column of strings as words."""
    # In UTF-8 the order of bytes is that of characters, so both engines sort in the same way.
    values = column.drop_nulls().unique().sort().to_list()
    codes = column.rank("dense").cast(int).fill_null(0).to_numpy() - 1
    return Words(values, codes)
