"""Han, Wu, Jia, Zhuang and Yu (AAAI 2010), "Multi-task sparse discriminant analysis (MtSDA)".

The web pages and training sizes of Ji et al. (2008), figures by the micro-averaged AUC. The paper
tunes rho, lambda_1 and lambda_2 of MtSDA on the first split, keeps them for all splits, and does
not print the candidates. The candidates below are ours, and lambda_1 and lambda_2 have those of
:class:`MtSDACV`. Names that end in "-tuned" are the same methods tuned on every split. NUS-WIDE and
MSRA-MM are not available.
"""

from functools import partial
from typing import Any

import numpy as np

from eigenlabel.estimators.discriminant.mtsda import MtSDA
from eigenlabel.estimators.discriminant.tuned import MtSDACV
from eigenlabel.estimators.projection.hypergraph import HypergraphSpectral
from eigenlabel.estimators.projection.lda import LDA
from eigenlabel.experiment import Data, Method, Splits
from eigenlabel.experiment.methods import Recipe
from eigenlabel.reproduce.contests import Contest
from eigenlabel.reproduce.curves import Curves
from eigenlabel.reproduce.paper import Paper
from eigenlabel.reproduce.paper_estimators import LabelLDA, OwnFeature
from eigenlabel.reproduce.papers.ji2008 import (
    BEYOND,
    BUSINESS,
    FIVE_SPLITS,
    RUN,
    YAHOO,
    YAHOO_LACKING,
    hinge_svm,
    tuned_projection,
)
from eigenlabel.reproduce.published_figures import values_by_method
from eigenlabel.reproduce.tables import Table

CITATION = "Han et al. (AAAI 2010)"
RHOS = (0.5, 0.2, 0.1)  # correlation of the equicorrelation penalty Delta
SVM_COSTS = 10.0 ** np.arange(-2, 3)  # C of the SVM after LDA and HSML
NO_IMAGES = "we have no copy of its features"


def _projection(projection: Any) -> Any:
    """Return a projection and SVMs after it, tuned for the AUC that the paper reports."""
    return tuned_projection(projection, hinge_svm(), {"C": SVM_COSTS}, "auc_micro")


def _lda() -> Any:
    """Return LDA on each label, to one dimension, and the SVM of that label after it."""
    svm = OwnFeature(hinge_svm())
    return tuned_projection(LabelLDA(), svm, {"estimator__C": SVM_COSTS}, "auc_micro")


def _joint_lda() -> Any:
    return _projection(LDA())


def _hypergraph() -> Any:
    return _projection(HypergraphSpectral())


def _mtsda(rhos: tuple[float, ...]) -> Any:
    """Return MtSDA as published: one threshold for all labels, from training scores."""
    return MtSDACV(rhos=rhos, scoring="auc_micro", threshold="global", threshold_on="training")


def _identity() -> Any:
    return _mtsda((0.0,))


def _equicorrelation() -> Any:
    return _mtsda(RHOS)


# The SVM is that of Ji et al. (2008).
_refit = partial(MtSDA, threshold="global")  # which is fitted to training scores
METHODS = {
    "LDA+SVM": Recipe(_lda, "LDA on each label and a linear SVM, tuned for AUC", revision=2),
    "LDA+SVM-joint": Recipe(_joint_lda, "LDA of all labels together and a linear SVM"),
    "HSML": Recipe(
        _hypergraph, "hypergraph spectral learning and a linear SVM, tuned for AUC", revision=2
    ),
    "MtSDA(I)": Recipe(
        _identity, "MtSDA, Omega = I, tuned on the first split", revision=2, refit=_refit
    ),
    "MtSDA(Delta)": Recipe(
        _equicorrelation, "the same with equicorrelation, rho tuned", revision=2, refit=_refit
    ),
    "MtSDA(I)-tuned": Recipe(_identity, "MtSDA, Omega = I, tuned on every split"),
    "MtSDA(Delta)-tuned": Recipe(_equicorrelation, "the same with equicorrelation, rho tuned"),
}


def _correlation() -> Curves:
    """Describe Figure 1."""
    points = {("MtSDA(I)", "0"): Method("MtSDA(I)")}
    for k in range(10, 0, -1):  # lambda_1 and lambda_2 of the first split, whatever rho was there
        points["MtSDA(Delta)", f"1/{k}"] = Method(f"rho = 1/{k}", "MtSDA(Delta)", {"rho": 1 / k})
    return Curves(
        "mtsda-figure1",
        f"{CITATION}, Figure 1: AUC by rho",
        x="rho",
        y="auc_micro",
        points=points,
        data={name: YAHOO[name] for name in ("Education", "Science")},
        splits=FIVE_SPLITS,
        notes=("NUS-6 and NUS-16 are not available.",),
        published={
            name: values_by_method("han2010", "mtsda-table2", "auc", name)
            for name in ("Education", "Science")
        },
    )


def _images() -> Contest:
    """Describe Table 3: the F-measure on images, here on those of scene."""
    rows = ("SVM", "LDA+SVM", "HSML", "MtSDA(I)", "MtSDA(Delta)")
    files = [f"mulan/scene/scene-{part}.arff" for part in ("train", "test")]
    return Contest(
        "mtsda-table3",
        f"{CITATION}, Table 3: F-measure on images, here on other data",
        tuple(Method(name) for name in rows),
        "MtSDA(Delta)",
        metrics={"f_measure": "f1_micro"},
        data={"scene": (Data("scene", files, prepare="standard"),)},
        splits=Splits("shuffle", 5, 0.5),
        lacking=dict.fromkeys(("NUS-6", "NUS-16", "MM2.0"), NO_IMAGES),
        further=("auc_micro",),
        notes=(
            "The paper's figures are of other data: orders of methods can be compared, figures "
            "cannot.",
            "Half of the images of scene for training, as half of those of the paper.",
        ),
    )


PAPER = Paper(
    CITATION,
    METHODS,
    tables=(
        Table(
            "mtsda-table2",
            f"{CITATION}, Table 2: AUC",
            data=YAHOO,
            lacking=YAHOO_LACKING | dict.fromkeys(("NUS-6", "NUS-16", "MM2.0"), NO_IMAGES),
            metrics={"auc": "auc_micro"},
            methods={m: m for m in ("SVM", "LDA+SVM", "HSML", "MtSDA(I)", "MtSDA(Delta)")},
            beyond=BEYOND,
            splits=FIVE_SPLITS,
            conventions={"auc": "auc_micro_of_sets"},
            **RUN,
            notes=(
                BUSINESS,
                "auc_micro is the micro-averaged AUC of scores; auc_micro_of_sets is that of "
                "decided label sets, to which the paper's figures of MtSDA are nearest.",
            ),
        ),
    ),
    contests=(_images(),),
    figures=(_correlation(),),
)
