"""Multi-label learning through the subspace that labels share."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from eigenlabel._version import __version__ as __version__

if TYPE_CHECKING:
    from eigenlabel import catalogue, datasets, metrics, model_selection, preprocessing, thresholds
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
    from eigenlabel.export.onnx_files import export_onnx
    from eigenlabel.inputs.views import Views
    from eigenlabel.kernels.meka import MEKA
    from eigenlabel.results import to_frame
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
    "export_onnx",
    "inspection",
    "metrics",
    "model_selection",
    "persistence",
    "preprocessing",
    "report",
    "reproduce",
    "show_versions",
    "thresholds",
    "to_frame",
]

_PLACES = {  # where each name is; modules are imported when they are first used
    "FastTag": "estimators.agreement.fasttag",
    "HomogeneityAnalysis": "estimators.agreement.homogeneity",
    "KGHA": "estimators.agreement.kgha",
    "MultisetCCA": "estimators.agreement.multiset",
    "KernelRidgeTagger": "estimators.agreement.ridge_tagger",
    "MtSDA": "estimators.discriminant.mtsda",
    "MtSDACV": "estimators.discriminant.tuned",
    "BiRelationGraph": "estimators.graphs.birelation",
    "GaussianFields": "estimators.graphs.random_fields",
    "ASOClassifier": "estimators.margin.aso",
    "SVMPerfClassifier": "estimators.margin.svm_perf",
    "MultilabelBlend": "estimators.meta.blend.blend",
    "DimensionsPath": "estimators.meta.dimensions",
    "dimensions_path": "estimators.meta.dimensions",
    "OneVsRestSearchCV": "estimators.meta.one_vs_rest_search",
    "ProjectedClassifierCV": "estimators.meta.projected",
    "ThresholdedClassifier": "estimators.meta.thresholded",
    "JEC": "estimators.neighbours.jec_and_mbrm",
    "MBRM": "estimators.neighbours.jec_and_mbrm",
    "MLkNN": "estimators.neighbours.mlknn",
    "TagProp": "estimators.neighbours.tagprop",
    "CCA": "estimators.projection.cca",
    "DiscriminativeSelector": "estimators.projection.discriminative_selector",
    "HypergraphSpectral": "estimators.projection.hypergraph",
    "LDA": "estimators.projection.lda",
    "LPP": "estimators.projection.lpp",
    "MDDM": "estimators.projection.mddm",
    "MLSI": "estimators.projection.mlsi",
    "OPLS": "estimators.projection.opls",
    "OrthogonalCentroid": "estimators.projection.orthogonal_centroid",
    "PCA": "estimators.projection.pca",
    "PLS": "estimators.projection.pls",
    "SharedSubspaceClassifier": "estimators.subspace.classifier",
    "SharedSubspaceClassifierCV": "estimators.subspace.tuned",
    "export_onnx": "export.onnx_files",
    "KernelSum": "estimators.views.kernel_sum",
    "Views": "inputs.views",
    "MEKA": "kernels.meka",
    "show_versions": "versions",
    "to_frame": "results",
}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used, so that ``import eigenlabel`` is quick."""
    if name in _PLACES:
        value = getattr(import_module(f"eigenlabel.{_PLACES[name]}"), name)
    elif name in __all__:
        value = import_module(f"eigenlabel.{name}")
    else:
        raise AttributeError(f"module 'eigenlabel' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
