"""The papers' tables again: protocols of every table whose data can be had, and comparisons."""

from eigenlabel.reproduce._compare import Row, compare
from eigenlabel.reproduce._tables import TABLES, Table, get_table, published

__all__ = ["TABLES", "Row", "Table", "compare", "get_table", "published"]
