"""The papers' tables and figures again: protocols of all whose data can be had, comparisons."""

from eigenlabel.reproduce._compare import Row, compare
from eigenlabel.reproduce._contests import CONTESTS, Contest, Standing
from eigenlabel.reproduce._curves import Curves
from eigenlabel.reproduce._figures import FIGURES, get_table
from eigenlabel.reproduce._tables import TABLES, Table, at_hand, data_sets, published

__all__ = [
    "CONTESTS",
    "FIGURES",
    "TABLES",
    "Contest",
    "Curves",
    "Row",
    "Standing",
    "Table",
    "at_hand",
    "compare",
    "data_sets",
    "get_table",
    "published",
]
