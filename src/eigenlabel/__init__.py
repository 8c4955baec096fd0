"""Multi-label learning through the subspace that labels share."""

from importlib import import_module
from typing import Any

from eigenlabel import catalogue, datasets, metrics, model_selection, preprocessing, thresholds
from eigenlabel._version import __version__ as __version__
from eigenlabel.estimators.agreement.fasttag import FastTag
from eigenlabel.estimators.agreement.homogeneity import HomogeneityAnalysis
from eigenlabel.estimators.agreement.kgha import KGHA
from eigenlabel.estimators.agreement.multiset import MultisetCCA
from eigenlabel.estimators.agreement.ridge_tagger import KernelRidgeTagger
from eigenlabel.estimators.discriminant.mtsda import MtSDA
from eigenlabel.estimators.discriminant.tuned import MtSDACV
from eigenlabel.estimators.graphs.birelation import BiRelationGraph
from eigenlabel.estimators.graphs.random_fields import GaussianFields
from eigenlabel.estimators.margin.aso import ASOClassifier
from eigenlabel.estimators.margin.svm_perf import SVMPerfClassifier
from eigenlabel.estimators.meta.blend.blend import MultilabelBlend
from eigenlabel.estimators.meta.dimensions import DimensionsPath, dimensions_path
from eigenlabel.estimators.meta.one_vs_rest_search import OneVsRestSearchCV
from eigenlabel.estimators.meta.projected import ProjectedClassifierCV
from eigenlabel.estimators.meta.thresholded import ThresholdedClassifier
from eigenlabel.estimators.neighbours.jec_and_mbrm import JEC, MBRM
from eigenlabel.estimators.neighbours.mlknn import MLkNN
from eigenlabel.estimators.neighbours.tagprop import TagProp
from eigenlabel.estimators.projection.cca import CCA
from eigenlabel.estimators.projection.discriminative_selector import DiscriminativeSelector
from eigenlabel.estimators.projection.hypergraph import HypergraphSpectral
from eigenlabel.estimators.projection.lda import LDA
from eigenlabel.estimators.projection.lpp import LPP
from eigenlabel.estimators.projection.mddm import MDDM
from eigenlabel.estimators.projection.mlsi import MLSI
from eigenlabel.estimators.projection.opls import OPLS
from eigenlabel.estimators.projection.orthogonal_centroid import OrthogonalCentroid
from eigenlabel.estimators.projection.pca import PCA
from eigenlabel.estimators.projection.pls import PLS
from eigenlabel.estimators.subspace.classifier import SharedSubspaceClassifier
from eigenlabel.estimators.subspace.tuned import SharedSubspaceClassifierCV
from eigenlabel.estimators.views.kernel_sum import KernelSum
from eigenlabel.inputs.views import Views
from eigenlabel.kernels.meka import MEKA
from eigenlabel.versions import show_versions

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
    "MultilabelBlend",
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
    "inspection",
    "metrics",
    "model_selection",
    "persistence",
    "preprocessing",
    "report",
    "reproduce",
    "show_versions",
    "thresholds",
]

_LAZY = (
    "comparison",
    "distributed",
    "experiment",
    "inspection",
    "persistence",
    "report",
    "reproduce",
)


def __getattr__(name: str) -> Any:
    """Import the modules around models and experiments when they are first asked for."""
    if name in _LAZY:
        return import_module(f"eigenlabel.{name}")
    raise AttributeError(f"module 'eigenlabel' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
