"""Multi-label learning through the subspace that labels share."""

from eigenlabel import datasets, metrics, model_selection, preprocessing, report, thresholds
from eigenlabel.methods.shared_subspace import SharedSubspaceClassifier
from eigenlabel.methods.shared_subspace_cv import SharedSubspaceClassifierCV
from eigenlabel.methods.thresholded import ThresholdedClassifier

__version__ = "0.1.0"

__all__ = [
    "SharedSubspaceClassifier",
    "SharedSubspaceClassifierCV",
    "ThresholdedClassifier",
    "datasets",
    "metrics",
    "model_selection",
    "preprocessing",
    "report",
    "thresholds",
]
