"""Methods by name, ready to run: those of this package, of the papers and of scikit-learn.

:data:`METHODS` maps names to recipes. Each paper brings its own methods
(:mod:`eigenlabel.reproduce.papers`); the general ones are below. A recipe that is added to the
mapping can be used in ``eigenlabel compare``, in protocol files and in every table of ``eigenlabel
reproduce`` that names it.
"""

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from eigenlabel.estimators.agreement.kgha import KGHA
from eigenlabel.estimators.discriminant.tuned import MtSDACV
from eigenlabel.estimators.meta.blend.blend import MultilabelBlend
from eigenlabel.estimators.meta.thresholded import ThresholdedClassifier
from eigenlabel.estimators.neighbours.mlknn import MLkNN
from eigenlabel.estimators.projection.mddm import MDDM
from eigenlabel.estimators.subspace.classifier import SharedSubspaceClassifier
from eigenlabel.estimators.subspace.tuned import SharedSubspaceClassifierCV
from eigenlabel.experiment.grid_search import LastFits, search
from eigenlabel.experiment.methods import METHODS, configure, make
from eigenlabel.experiment.methods import Recipe as Method
from eigenlabel.experiment.task import chosen_parameters, with_views
from eigenlabel.reproduce.paper_estimators import AtDimensionOfMDDM, OnGaussianKernel
from eigenlabel.reproduce.papers import PAPERS
from eigenlabel.reproduce.papers.zhang2010 import zhang_classifier, zhang_projection

__all__ = [
    "METHODS",
    "AtDimensionOfMDDM",
    "LastFits",
    "Method",
    "OnGaussianKernel",
    "chosen_parameters",
    "configure",
    "make",
    "search",
    "with_views",
    "zhang_classifier",
    "zhang_projection",
]


def _blend() -> Any:
    return MultilabelBlend(random_state=0)


def _shared_subspace_rbf() -> Any:
    return SharedSubspaceClassifierCV(kernel="rbf")


def _many_labels() -> Any:
    return SharedSubspaceClassifier(np.inf, n_components=100, tol=1e-3)


def _ridge() -> Any:
    return SharedSubspaceClassifierCV([0.0])


def _linear_svm() -> Any:
    return OneVsRestClassifier(LinearSVC())


def _thresholded_svm() -> Any:
    return ThresholdedClassifier(_linear_svm())


def _logistic() -> Any:
    return ThresholdedClassifier(OneVsRestClassifier(LogisticRegression(max_iter=1000)))


def _kgha() -> Any:
    return ThresholdedClassifier(KGHA())


def _neighbours_after_mddm() -> Any:
    return make_pipeline(MDDM(), MLkNN())


GENERAL = {
    "blend": Method(_blend, "several kinds of models, calibrated and blended, with thresholds"),
    "shared-subspace": Method(
        SharedSubspaceClassifierCV, "shared-subspace least squares, tuned with its thresholds"
    ),
    "shared-subspace-rbf": Method(_shared_subspace_rbf, "the same with a Gaussian kernel"),
    "many-labels": Method(
        _many_labels,
        "shared subspace of 100 dimensions for thousands of labels; predict with --top",
    ),
    "ridge": Method(_ridge, "one ridge regression a label, tuned, thresholds"),
    "linear-svm": Method(_thresholded_svm, "one-vs-rest linear SVM, C = 1, with our thresholds"),
    "linear-svm-plain": Method(_linear_svm, "one-vs-rest linear SVM without our thresholds"),
    "logistic": Method(_logistic, "one-vs-rest logistic regression with our thresholds"),
    "mtsda": Method(MtSDACV, "sparse discriminant analysis, tuned with its thresholds"),
    "kgha": Method(_kgha, "kernel generalised homogeneity analysis with our thresholds"),
    "MLkNN": Method(MLkNN, "nearest neighbours, label by label"),
    "MDDM+MLkNN": Method(
        _neighbours_after_mddm, "nearest neighbours after MDDM, a projection that depends on labels"
    ),
}

# The names that protocols may use. This mapping is empty until this module is imported, which the
# package does itself.
METHODS.update(GENERAL)
for _paper in PAPERS:
    METHODS.update(_paper.methods)
