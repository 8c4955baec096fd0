"""Pieces of a table have the columns and categories of the first piece."""

import pytest

from eigenlabel.datasets import DataError
from eigenlabel.datasets.tables.frames import to_table
from eigenlabel.datasets.tables.pieces import assemble_pieces, split_options
from eigenlabel.datasets.tables.roles import ColumnOptions


def test_options_about_columns_are_separated_from_those_about_the_file():
    columns, reading = split_options({"labels": "y", "encoding": "latin-1"})
    assert columns == ColumnOptions(labels="y")
    assert reading == {"encoding": "latin-1"}


def test_the_first_piece_decides_the_categories():
    pd = pytest.importorskip("pandas", reason="pandas is an extra")
    frames = [pd.DataFrame({"c": [c, "v"], "y": [0, 1]}) for c in ("u", "v", "w")]
    tables = (to_table("it", frame) for frame in frames)
    pieces = assemble_pieces(tables, ColumnOptions(labels=["y"]), None, "it")
    assert next(pieces).categories == {"c": ("u", "v")}
    assert next(pieces).X.tolist() == [[1], [1]]
    with pytest.raises(DataError, match="'c' is 'w', not one of 'u', 'v'; pass like="):
        next(pieces)
