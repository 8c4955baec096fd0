"""Turn the pieces of a table into Datasets, all with the columns of the first."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.tables.assemble import to_dataset
from eigenlabel.datasets.tables.columns import RawTable
from eigenlabel.datasets.tables.labels import fix_separator
from eigenlabel.datasets.tables.roles import ColumnOptions


def assemble_pieces(
    tables: Iterator[RawTable], options: ColumnOptions, like: Any, source: str
) -> Iterator[Dataset]:
    """Yield a Dataset for each table; the first decides which columns the others must have."""
    for table in tables:
        data = to_dataset(table, options, like, source)
        if options.separator is None:
            options = fix_separator(table, options, like)
        if like is None:
            like, options = data, replace(options, strict=True)
        yield data


def split_options(options: dict[str, Any]) -> tuple[ColumnOptions, dict[str, Any]]:
    """Split the options of a reader into those about columns and those about the file."""
    columns = {k: v for k, v in options.items() if k in ColumnOptions.__dataclass_fields__}
    return ColumnOptions(**columns), {k: v for k, v in options.items() if k not in columns}
