"""Rules that turn scores into label sets."""

from eigenlabel.thresholds.base import Rule
from eigenlabel.thresholds.calibration import (
    Calibration,
    Calibrator,
    fit_calibration,
    held_out_probabilities,
)
from eigenlabel.thresholds.probability_rules import PROBABILITY_RULES, Between, Costs, ExpectedF1
from eigenlabel.thresholds.risk import RiskControl
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
    "PROBABILITY_RULES",
    "RULES",
    "Between",
    "Calibration",
    "Calibrator",
    "Costs",
    "ExpectedF1",
    "Global",
    "Mixed",
    "PerLabelF1",
    "Proportional",
    "RiskControl",
    "Rule",
    "Top",
    "Zero",
    "fit_calibration",
    "get_rule",
    "held_out_probabilities",
    "top_labels",
]
