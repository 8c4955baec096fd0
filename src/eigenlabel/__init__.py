"""Multi-label learning through the subspace that labels share."""

from importlib import import_module
from typing import Any

from eigenlabel import datasets, metrics, model_selection, preprocessing, thresholds
from eigenlabel.methods.birelation import BiRelationGraph
from eigenlabel.methods.fasttag import FastTag
from eigenlabel.methods.homogeneity import HomogeneityAnalysis
from eigenlabel.methods.kernel_map import MEKA
from eigenlabel.methods.kernel_sum import KernelSum
from eigenlabel.methods.kgha import KGHA
from eigenlabel.methods.margin import ASOClassifier
from eigenlabel.methods.multiset import MultisetCCA
from eigenlabel.methods.multivariate import SVMPerfClassifier
from eigenlabel.methods.neighbours import MLkNN
from eigenlabel.methods.networks import GaussianFields
from eigenlabel.methods.per_label import OneVsRestSearchCV
from eigenlabel.methods.projected import DimensionsPath, ProjectedClassifierCV, dimensions_path
from eigenlabel.methods.projection import (
    CCA,
    LDA,
    MDDM,
    OPLS,
    HypergraphSpectral,
    OrthogonalCentroid,
)
from eigenlabel.methods.projection_spectral import LPP, MLSI, PCA, PLS, DiscriminativeSelector
from eigenlabel.methods.ridge_tagger import KernelRidgeTagger
from eigenlabel.methods.shared_subspace import SharedSubspaceClassifier
from eigenlabel.methods.shared_subspace_cv import SharedSubspaceClassifierCV
from eigenlabel.methods.sparse_discriminant import MtSDA
from eigenlabel.methods.sparse_discriminant_cv import MtSDACV
from eigenlabel.methods.tagging import JEC, MBRM
from eigenlabel.methods.tagprop import TagProp
from eigenlabel.methods.thresholded import ThresholdedClassifier
from eigenlabel.methods.views import Views

__version__ = "0.1.0"

__all__ = [
    "CCA",
    "JEC",
    "KGHA",
    "LDA",
    "LPP",
    "MBRM",
    "MDDM",
    "MEKA",
    "MLSI",
    "OPLS",
    "PCA",
    "PLS",
    "ASOClassifier",
    "BiRelationGraph",
    "DimensionsPath",
    "DiscriminativeSelector",
    "FastTag",
    "GaussianFields",
    "HomogeneityAnalysis",
    "HypergraphSpectral",
    "KernelRidgeTagger",
    "KernelSum",
    "MLkNN",
    "MtSDA",
    "MtSDACV",
    "MultisetCCA",
    "OneVsRestSearchCV",
    "OrthogonalCentroid",
    "ProjectedClassifierCV",
    "SVMPerfClassifier",
    "SharedSubspaceClassifier",
    "SharedSubspaceClassifierCV",
    "TagProp",
    "ThresholdedClassifier",
    "Views",
    "catalogue",
    "comparison",
    "datasets",
    "dimensions_path",
    "distributed",
    "experiment",
    "metrics",
    "model_selection",
    "persistence",
    "preprocessing",
    "report",
    "reproduce",
    "thresholds",
]

LATER = (
    "catalogue",
    "comparison",
    "distributed",
    "experiment",
    "persistence",
    "report",
    "reproduce",
)


def __getattr__(name: str) -> Any:
    """Import the modules around experiments when they are first asked for."""
    if name in LATER:
        return import_module(f"eigenlabel.{name}")
    raise AttributeError(f"module 'eigenlabel' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
