"""The papers' tables and figures again: protocols of all whose data can be had, comparisons."""

from eigenlabel.reproduce.comparing import Row, compare
from eigenlabel.reproduce.contests import CONTESTS, Contest, Standing
from eigenlabel.reproduce.curves import Curves
from eigenlabel.reproduce.figures import FIGURES, get_table
from eigenlabel.reproduce.tables import TABLES, Table, at_hand, data_sets, published

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
