"""Prepare features: word counts as the papers do, and the columns of any table."""

from eigenlabel.preprocessing.groups import ColumnGroups
from eigenlabel.preprocessing.preparation import make_preparation, prepared_views
from eigenlabel.preprocessing.rare import (
    DocumentFrequencySelector,
    Kept,
    drop_rare,
    text_preparation,
)
from eigenlabel.preprocessing.table_preparation import TablePreparation

__all__ = [
    "ColumnGroups",
    "DocumentFrequencySelector",
    "Kept",
    "TablePreparation",
    "drop_rare",
    "make_preparation",
    "prepared_views",
    "text_preparation",
]
