"""Splits that keep every label's share of positives, and the search over parameters."""

from eigenlabel.model_selection.splits import (
    MultilabelStratifiedKFold,
    MultilabelStratifiedShuffleSplit,
)

__all__ = [
    "MultilabelStratifiedKFold",
    "MultilabelStratifiedShuffleSplit",
]
