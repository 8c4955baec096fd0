"""Splits that keep every label's share of positives, and the search over parameters."""

from eigenlabel.model_selection.splits import (
    SMALLEST_GAIN,
    SWEEPS,
    MultilabelStratifiedKFold,
    MultilabelStratifiedShuffleSplit,
)

__all__ = [
    "SMALLEST_GAIN",
    "SWEEPS",
    "MultilabelStratifiedKFold",
    "MultilabelStratifiedShuffleSplit",
]
