"""Look into models and results.

:func:`explain` returns what each feature or training sample adds to the scores of samples, and
:func:`explain_label` the features and the other labels that a label depends on.
:func:`find_label_issues` ranks labels that are probably wrong. Displays draw models and results in
scikit-learn's manner.
"""

from eigenlabel.inspection.displays.bars import LabelBarsDisplay
from eigenlabel.inspection.displays.dimension import DimensionDisplay
from eigenlabel.inspection.displays.explanation import ExplanationDisplay
from eigenlabel.inspection.displays.grid import GridDisplay
from eigenlabel.inspection.displays.label_map import LabelMapDisplay
from eigenlabel.inspection.displays.ranking import LabelPrecisionRecallDisplay, LabelRocDisplay
from eigenlabel.inspection.displays.reliability import ReliabilityDisplay
from eigenlabel.inspection.displays.threshold import ThresholdDisplay
from eigenlabel.inspection.explaining import explain
from eigenlabel.inspection.explaining_labels import explain_label
from eigenlabel.inspection.explanation import Borrowed, Explanation
from eigenlabel.inspection.label_errors.find_issues import find_label_issues
from eigenlabel.inspection.label_errors.label_issues import LabelIssues
from eigenlabel.inspection.label_explanation import Confusion, LabelExplanation
from eigenlabel.inspection.words import MarkedText, Span

__all__ = [
    "Borrowed",
    "Confusion",
    "DimensionDisplay",
    "Explanation",
    "ExplanationDisplay",
    "GridDisplay",
    "LabelBarsDisplay",
    "LabelExplanation",
    "LabelIssues",
    "LabelMapDisplay",
    "LabelPrecisionRecallDisplay",
    "LabelRocDisplay",
    "MarkedText",
    "ReliabilityDisplay",
    "Span",
    "ThresholdDisplay",
    "explain",
    "explain_label",
    "find_label_issues",
]
