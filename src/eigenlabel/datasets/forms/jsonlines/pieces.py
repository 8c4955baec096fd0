"""Read JSON lines in pieces."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eigenlabel.datasets.dataset import Dataset
from eigenlabel.datasets.files.text import read_lines
from eigenlabel.datasets.forms.batches import batches
from eigenlabel.datasets.forms.jsonlines.reader import JsonTable, filled_lines, find_names_beside
from eigenlabel.datasets.tables.pieces import assemble_pieces, split_options


def json_pieces(path: Path, rows: int, like: Any, options: dict[str, Any]) -> Iterator[Dataset]:
    """Yield Datasets of at most ``rows`` samples."""
    columns, reading = split_options(options)
    return assemble_pieces(_json_tables(path, rows, reading), columns, like, path.name)


def _json_tables(path: Path, rows: int, reading: dict[str, Any]) -> Iterator[JsonTable]:
    """Yield tables of at most ``rows`` objects; fields of earlier tables are columns of all."""
    beside, lines = find_names_beside(path), read_lines(path, **reading)
    seen: list[str] = []
    for batch in batches(path, lines, 1, rows, lambda line: bool(line.strip())):
        table = JsonTable(path, filled_lines(path, batch.lines, batch.first), beside, seen)
        seen = table.names
        yield table
