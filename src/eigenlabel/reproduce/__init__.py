"""The tables and figures of the papers: protocols that run them again, and comparisons."""

from eigenlabel.reproduce.comparing import Row, compare
from eigenlabel.reproduce.contests import Contest, Standing
from eigenlabel.reproduce.curves import Curves
from eigenlabel.reproduce.index import CONTESTS, FIGURES, TABLES, at_hand, data_sets, get_table
from eigenlabel.reproduce.ledger import read_ledger
from eigenlabel.reproduce.plots import draw
from eigenlabel.reproduce.published_figures import published
from eigenlabel.reproduce.recorded import read_csv, write_csv
from eigenlabel.reproduce.tables import Table

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
    "draw",
    "get_table",
    "published",
    "read_csv",
    "read_ledger",
    "write_csv",
]
