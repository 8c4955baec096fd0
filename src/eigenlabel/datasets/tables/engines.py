"""The two engines that read tables, polars and pandas, made to give the same columns."""

import io
from typing import Any

import numpy as np

from eigenlabel.datasets.files import DataError
from eigenlabel.datasets.tables.columns import (
    CODE,
    MICROSECONDS,
    Dates,
    Table,
    Words,
    factorise,
    refusal,
    to_column,
)


def find_engine(path: Any) -> str:
    """Name the engine that is installed."""
    for name in ("polars", "pandas"):
        try:
            __import__(name)
        except ImportError:
            continue
        return name
    raise DataError(path, "a table, which needs polars or pandas: pip install 'eigenlabel[data]'")


def guarded(path: Any, what: str, read: Any, *arguments: Any, **options: Any) -> Any:
    """Call an engine; whatever it raises on a damaged file becomes a DataError."""
    try:
        return read(*arguments, **options)
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # a panic of polars is no Exception
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
        """Give a column as it is written; an empty cell has no value."""
        return _without_empty(_polars_words(self.columns[index]))

    def numbers(self, index: int) -> np.ndarray | None:
        """Give a column of plain numbers, None if there is anything else in it."""
        import polars as pl  # noqa: PLC0415  an extra

        # Only what runs without a query: for few rows of very many columns that takes most time.
        column = self.columns[index]
        found = column.cast(pl.Float64, strict=False)
        lost = found.null_count() - column.null_count()
        if lost and lost > (column == "").sum():
            return None
        return found.to_numpy()

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
            quoting=0 if b'"' in block else 3,
            engine="c",
        )
        self.height, self.width = frame.shape
        self.cells = frame.to_numpy(dtype=object)
        # What float() reads and polars does not: digits of other scripts, and 1_000.
        self.plain = block.isascii() and b"_" not in block

    def words(self, index: int) -> Words:
        """Give a column as it is written; an empty cell has no value."""
        return _without_empty(factorise(self.cells[:, index].tolist()))

    def numbers(self, index: int) -> np.ndarray | None:
        """Give a column of plain numbers, None if there is anything else in it."""
        if not self.plain:
            return None
        try:
            return np.array([float(v or "nan") for v in self.cells[:, index].tolist()], dtype=float)
        except ValueError:
            return None

    def holds_codes(self, index: int) -> bool:
        """Return True if a cell has leading zeros."""
        return any(CODE.fullmatch(cell) for cell in self.cells[:, index].tolist())


def _without_empty(words: Words) -> Words:
    if words.values[:1] == [""]:  # the first, as values are sorted; its code becomes that of none
        return Words(words.values[1:], np.maximum(words.codes - 1, -1))
    return words


def _polars_words(column: Any) -> Words:
    # The order of bytes is that of characters in UTF-8, so that both engines sort alike.
    values = column.drop_nulls().unique().sort().to_list()
    codes = column.rank("dense").cast(int).fill_null(0).to_numpy() - 1
    return Words(values, codes)


def _polars_numbers(column: Any) -> np.ndarray:
    return column.cast(float).fill_null(np.nan).to_numpy().astype(float)


class PolarsTable(Table):
    """A polars frame."""

    def __init__(self, path: Any, frame: Any) -> None:
        self.path, self.frame = path, frame
        self.names, self.height = list(frame.columns), frame.height

    def column(self, name: str) -> Any:
        """Give a column."""
        import polars as pl  # noqa: PLC0415  an extra

        column = self.frame[name]
        kind = column.dtype
        if kind.is_numeric() or kind in (pl.Boolean, pl.Null):
            return _polars_numbers(column)
        if kind == pl.String:
            return _polars_words(column)
        if kind in (pl.Categorical, pl.Enum):
            return _polars_words(column.cast(pl.String))
        if kind in (pl.Date, pl.Datetime):
            return Dates(_polars_numbers(column.dt.epoch("us")) / MICROSECONDS)
        if kind.is_temporal():
            raise refusal(self, name, "times")
        if kind in (pl.List, pl.Array, pl.Object):
            return to_column(self, name, column.to_list(), range(self.height))
        raise refusal(self, name, f"{kind} values")


class PandasTable(Table):
    """A pandas frame."""

    def __init__(self, path: Any, frame: Any) -> None:
        self.path, self.frame = path, frame
        self.names, self.height = [str(name) for name in frame.columns], len(frame)
        self.position = {name: i for i, name in enumerate(self.names)}

    def column(self, name: str) -> Any:
        """Give a column."""
        import pandas as pd  # noqa: PLC0415  an extra

        column = self.frame.iloc[:, self.position[name]]
        if isinstance(column.dtype, pd.CategoricalDtype):
            return self._categories(name, column)
        if column.dtype.kind in "biuf":
            return column.to_numpy(dtype=float, na_value=np.nan)
        if column.dtype.kind == "M":
            moments = pd.to_datetime(column, utc=True).to_numpy(dtype="datetime64[us]")
            return Dates((moments - np.datetime64(0, "us")) / np.timedelta64(1, "D"))
        cells = column.astype(object)
        there = cells.notna().to_numpy()
        return to_column(self, name, cells[there].tolist(), np.flatnonzero(there))

    def _categories(self, name: str, column: Any) -> Any:
        """Read the few values of the column instead of its many cells."""
        codes, values = column.cat.codes.to_numpy(), column.cat.categories.tolist()
        if not all(isinstance(value, str) for value in values):
            cells = column.astype(object)
            there = column.notna().to_numpy()
            return to_column(self, name, cells[there].tolist(), np.flatnonzero(there))
        used = np.flatnonzero(np.bincount(codes[codes >= 0], minlength=len(values)))
        words = factorise(values[i] for i in used)
        new = np.full(len(values) + 1, -1)
        new[used] = words.codes
        return Words(words.values, new[codes])


def to_table(path: Any, frame: Any) -> Table:
    """Wrap a pandas or polars frame."""
    module = type(frame).__module__.partition(".")[0]
    if type(frame).__name__ == "DataFrame" and module in ("polars", "pandas"):
        return (PolarsTable if module == "polars" else PandasTable)(path, frame)
    hint = "; call its collect() first" if type(frame).__name__ == "LazyFrame" else ""
    raise TypeError(f"frame must be a pandas or polars DataFrame, got {type(frame).__name__}{hint}")
