"""Parquet files: reader, pieces and writer.

They are read with pyarrow, which raises an error for a damaged file where other libraries abort.
"""

import io
from collections.abc import Iterator
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.atomic import Write
from eigenlabel.datasets.files.decompression import is_compressed, read_bytes
from eigenlabel.datasets.files.errors import DataError
from eigenlabel.datasets.files.limits import WATCHED
from eigenlabel.datasets.forms.writing import label_matrix, table_columns, value_columns, word_of
from eigenlabel.datasets.tables.columns import (
    MICROSECONDS,
    Column,
    Dates,
    Lists,
    RawTable,
    Words,
    factorise,
    refusal,
    to_column,
)
from eigenlabel.datasets.tables.polars_and_pandas import guarded
from eigenlabel.inputs.progress import progress
from eigenlabel.linalg.machine import memory_limit
from eigenlabel.linalg.operators import is_sparse

MAGIC = b"PAR1"
PER_SECOND = {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}  # units of durations


class ArrowTable(RawTable):
    """Some rows of a Parquet file."""

    def __init__(self, path: Any, rows: Any) -> None:
        self.path, self.rows = path, rows
        self.names, self.height = list(rows.column_names), rows.num_rows
        self.position = {name: i for i, name in enumerate(self.names)}

    def column(self, name: str) -> Column:
        """Return a column."""
        import pyarrow as pa  # noqa: PLC0415  an extra

        column = self.rows.column(self.position[name]).combine_chunks()
        kind = column.type
        if pa.types.is_dictionary(kind) and _is_text(kind.value_type):
            return _words(column)
        if pa.types.is_dictionary(kind):
            column, kind = column.dictionary_decode(), kind.value_type
        if _is_text(kind):
            return _words(column.dictionary_encode())
        if pa.types.is_boolean(kind) or pa.types.is_null(kind):
            column = column.cast(pa.int8())
        elif pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            moments = column.cast(pa.timestamp("us", getattr(kind, "tz", None)), safe=False)
            days = moments.cast(pa.int64()).cast(pa.float64(), safe=False).fill_null(np.nan)
            return Dates(days.to_numpy(zero_copy_only=False) / MICROSECONDS)
        elif pa.types.is_duration(kind):
            return _read_numbers(self.path, column.cast(pa.int64())) / PER_SECOND[kind.unit]
        elif pa.types.is_time(kind):
            raise refusal(self, name, "times of day")
        elif not _is_number(kind):
            return self._others(name, column)
        return _read_numbers(self.path, column)

    def _others(self, name: str, column: Any) -> Column:
        """Return a column of lists; raise DataError for any other type."""
        import pyarrow as pa  # noqa: PLC0415  an extra

        kind = column.type
        if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
            raise refusal(self, name, f"{kind} values")
        members = column.flatten()
        if not _is_text(members.type):
            return to_column(self, name, column.to_pylist(), range(self.height))
        counts = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        ends = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        absent = column.is_null().to_numpy(zero_copy_only=False)
        return Lists(_words(members.dictionary_encode()), ends, absent)


def _read_numbers(path: Any, column: Any) -> np.ndarray:
    """Return a column of numbers as floats."""
    import pyarrow as pa  # noqa: PLC0415  an extra

    numbers = guarded(path, "not a number", column.cast, pa.float64(), safe=False)
    return np.asarray(numbers.fill_null(np.nan).to_numpy(zero_copy_only=False), dtype=float)


def _is_number(kind: Any) -> bool:
    import pyarrow as pa  # noqa: PLC0415  an extra

    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def _is_text(kind: Any) -> bool:
    import pyarrow as pa  # noqa: PLC0415  an extra

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _words(column: Any) -> Words:
    """Return a dictionary column as words, without values that do not occur."""
    codes = column.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
    values = column.dictionary.to_pylist()
    used = np.unique(codes[codes >= 0])
    words = factorise(values[i] for i in used)
    new = np.full(len(values) + 1, -1, dtype=np.int64)
    new[used] = words.codes
    return Words(words.values, new[codes])


class ParquetFile:
    """An open Parquet file.

    Attributes
    ----------
    names : list of str
        The names of its columns.
    height : int
        The number of its rows.
    """

    def __init__(self, path: Path, max_bytes: int | None = None) -> None:
        try:
            import pyarrow.parquet as pq  # noqa: PLC0415  an extra
        except ImportError as error:
            raise DataError(
                path, "a Parquet file, which needs pyarrow: pip install 'eigenlabel[data]'"
            ) from error
        self.path = path
        source = io.BytesIO(read_bytes(path, max_bytes)) if is_compressed(path) else path
        self.file = self._try(pq.ParquetFile, source)
        schema = self._try(lambda: self.file.schema_arrow)
        # Texts are read as dictionaries, as a small file may repeat a large value many times.
        texts = [f.name for f in schema if str(f.type) in ("string", "large_string")]
        self.file = self._try(pq.ParquetFile, source, read_dictionary=texts)
        self.names, self.height = list(schema.names), self.file.metadata.num_rows

    def _try(self, function: Any, *arguments: Any, **options: Any) -> Any:
        return guarded(self.path, "not a Parquet file", function, *arguments, **options)

    def read(self, names: list[str], max_bytes: int | None = None) -> RawTable:
        """Read all rows of some columns."""
        # The value counts of the columns are not used: for a damaged file, pyarrow aborts there.
        cells = self.height * len(self.names)
        limit = memory_limit() / 4 if max_bytes is None else max_bytes
        if 8 * cells > limit:
            raise DataError(self.path, f"declares {cells:,} values; pass max_bytes, or use iterate")
        rows = self._try(self.file.read, columns=self._columns(names))
        self._try(rows.validate, full=True)
        return ArrowTable(self.path, rows.select(names))

    def pieces(self, names: list[str], rows: int) -> Iterator[RawTable]:
        """Yield tables of at most ``rows`` rows of some columns."""
        import pyarrow as pa  # noqa: PLC0415  an extra

        batches = self._try(self.file.iter_batches, batch_size=rows, columns=self._columns(names))
        large = self.path.stat().st_size > WATCHED
        with progress(self.height, self.path.name, "rows", None if large else False) as bar:
            while (batch := self._try(next, batches, None)) is not None:
                self._try(batch.validate, full=True)
                bar.update(batch.num_rows)
                if batch.num_rows:
                    yield ArrowTable(self.path, pa.Table.from_batches([batch]).select(names))

    def _columns(self, names: list[str]) -> list[str] | None:
        return None if names == self.names else names


def write_parquet(data: Dataset, path: Path) -> dict[Path, Write]:
    """Return the file to write, with the function that writes it."""
    try:
        import pyarrow as pa  # noqa: PLC0415  an extra
        import pyarrow.parquet as pq  # noqa: PLC0415  an extra
    except ImportError as error:
        raise DataError(path, "Parquet needs pyarrow: pip install 'eigenlabel[data]'") from error
    names = table_columns(path, data, lambda _: None)
    n, d = data.X.shape
    if 8 * n * d > memory_limit() / 2:
        raise DataError(path, f"{n:,} x {d:,} values do not fit into memory; use .npz")
    X = data.X.toarray() if is_sparse(data.X) else np.asarray(data.X)
    columns: list[np.ndarray | list[str | None]] = []
    if data.sample_names is not None:
        columns.append([str(s) for s in data.sample_names])
    lists = value_columns(data)
    for j in range(d):
        column = X[:, j].astype(float)
        columns.append(_spelled(path, column, lists[j]) if j in lists else column)
    columns += list(label_matrix(path, data.Y).toarray().astype(np.int8).T)
    try:
        table = pa.table([pa.array(c, from_pandas=True) for c in columns], names=names)
    except UnicodeEncodeError as error:
        raise DataError(path, f"half a character cannot be written ({error})") from error
    return {path: lambda stream: pq.write_table(table, stream)}


def _spelled(path: Path, column: np.ndarray, values: tuple[str, ...]) -> list[str | None]:
    """Return positions as words, and NaN as None."""
    return [None if isnan(v) else word_of(path, values, v) for v in column.tolist()]
