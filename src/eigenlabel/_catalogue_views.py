"""The methods that paper 003 compares on several views, nine candidates each to tune over."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from eigenlabel.estimators.agreement.fasttag import FastTag
from eigenlabel.estimators.agreement.kgha import KGHA
from eigenlabel.estimators.graphs.birelation import BiRelationGraph
from eigenlabel.estimators.graphs.random_fields import GaussianFields
from eigenlabel.estimators.neighbours.tagging import JEC, MBRM
from eigenlabel.estimators.neighbours.tagprop import TagProp
from eigenlabel.thresholds import Top

FIVE = Top(5)  # labels a sample, as Section 7.1 has it
FOLDS = 4
REGRESSION = {"n_components": 1.0, "trade_off": 0.0, "label_ridge": 0.0}

_agreement = partial(KGHA, threshold=FIVE, random_state=0)
_AGREEMENT = {"trade_off": (0.01, 0.1, 1.0), "ridge": (0.1, 1.0, 10.0)}
_RIDGES = {"ridge": tuple(10.0 ** np.arange(-3, 1.5, 0.5))}
_NEIGHBOURS = {"n_neighbors": (10, 20, 30, 40, 50, 70, 100, 150, 200)}
_FIELDS = {"smoothness": (0.1, 1.0, 10.0), "n_neighbors": (5, 10, 20)}
_WALKS = {"alpha": (0.2, 0.5, 0.8), "n_neighbors": (5, 10, 20)}

VIEW_METHODS: Mapping[str, tuple[Callable[[], Any], str, Mapping[str, Any]]] = {
    "KGHA": (_agreement, "kernel generalised homogeneity analysis, p/m = 0.5", _AGREEMENT),
    "KGHA-d": (
        partial(_agreement, n_components=1.0),
        "KGHA without reduction, p = m",
        _AGREEMENT,
    ),
    "KGHA-r": (
        partial(_agreement, trade_off=1e-6),
        "KGHA without co-regularisation, lambda = 1e-6",
        _RIDGES,
    ),
    "KGHA-eq31": (
        partial(_agreement, decoding="pseudo-inverse", fit_intercept=False),
        "KGHA as printed: decoded by Eq. 31, without intercepts",
        _AGREEMENT,
    ),
    "L-HA": (
        partial(_agreement, kernel="linear"),
        "KGHA with linear kernels",
        {"trade_off": (0.01, 0.1, 1.0), "ridge": (0.1, 1.0, 100.0)},
    ),
    "r-MLR": (
        partial(_agreement, kernel="linear", **REGRESSION),
        "mean of the views' linear ridge regressions",
        {"ridge": tuple(10.0 ** np.arange(-4, 5))},
    ),
    "r-KMLR": (
        partial(_agreement, **REGRESSION),
        "mean of the views' kernel ridge regressions",
        _RIDGES,
    ),
    "MBRM": (
        partial(MBRM, threshold=FIVE),
        "multiple Bernoulli relevance model",
        {"bandwidth": (0.1, 0.2, 0.4), "smoothing": (0.01, 0.1, 0.5)},
    ),
    "JEC": (
        partial(JEC, threshold=FIVE),
        "joint equal contribution",
        {"n_neighbors": (2, 3, 5, 8, 12, 20, 30, 50, 100)},
    ),
    "TagProp": (
        partial(TagProp, threshold=FIVE),
        "TagProp, learnt distances and sigmoids",
        _NEIGHBOURS,
    ),
    "TagProp-ML": (
        partial(TagProp, sigmoid=False, threshold=FIVE),
        "TagProp, learnt distances alone",
        _NEIGHBOURS,
    ),
    "TagProp-RK": (
        partial(TagProp, weights="rank", sigmoid=False, threshold=FIVE),
        "TagProp, weights by rank",
        _NEIGHBOURS,
    ),
    "FastTag": (
        partial(FastTag, threshold=FIVE),
        "marginalised blank-out of labels",
        {"ridge": (1e-4, 1e-3, 1e-2), "trade_off": (1.0, 10.0, 100.0)},
    ),
    "SW": (
        partial(GaussianFields, prior=0.01, view_weights="simultaneous", threshold=FIVE),
        "Gaussian fields on graphs with simultaneous weights",
        _FIELDS,
    ),
    "GRF-MK": (
        partial(GaussianFields, prior=0.01, threshold=FIVE),
        "Gaussian fields on the sum of graphs",
        _FIELDS,
    ),
    "PfunBG-MK": (
        partial(BiRelationGraph, combine="graphs", threshold=FIVE),
        "bi-relation graph of the sum of graphs",
        _WALKS,
    ),
    "TMEC": (
        partial(BiRelationGraph, threshold=FIVE),
        "sum of the scores of the views' bi-relation graphs",
        _WALKS,
    ),
}
