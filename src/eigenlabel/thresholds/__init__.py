"""Rules that turn scores into label sets."""

from eigenlabel.thresholds.rule import Rule
from eigenlabel.thresholds.rules import (
    RULES,
    Global,
    Mixed,
    PerLabelF1,
    Proportional,
    Top,
    Zero,
    get_rule,
    top_labels,
)

__all__ = [
    "RULES",
    "Global",
    "Mixed",
    "PerLabelF1",
    "Proportional",
    "Rule",
    "Top",
    "Zero",
    "get_rule",
    "top_labels",
]
