"""Xiong, Szedmak and Piater (KGHA); the text of the paper has no year.

"Multi-label learning with kernel generalized homogeneity analysis". Methods for several views:
taggers of images (Tables 3 and 4) and methods on protein networks (Tables 6 and 7). The paper's
eight image features and protein kernels are not public in full, so the comparison is repeated on
other data, with the same effort for each method: nine candidates, four folds. Only "KGHA-eq31", the
method as printed, has the 25 candidates of the paper (Section 7.1). The ranges of the
candidates were chosen by looking at one split of debtags, yeast and, in part, Corel5K, for KGHA and
for the other methods alike; they are not blind choices.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from eigenlabel.estimators.agreement.fasttag import FastTag
from eigenlabel.estimators.agreement.kgha import KGHA
from eigenlabel.estimators.graphs.birelation import BiRelationGraph
from eigenlabel.estimators.graphs.random_fields import GaussianFields
from eigenlabel.estimators.neighbours.jec_and_mbrm import JEC, MBRM
from eigenlabel.estimators.neighbours.tagprop import TagProp
from eigenlabel.experiment import Data, Method, Splits
from eigenlabel.experiment.methods import Recipe
from eigenlabel.reproduce.contests import Contest
from eigenlabel.reproduce.curves import Curves, Point
from eigenlabel.reproduce.paper import Paper
from eigenlabel.reproduce.paper_estimators import ViewChoice
from eigenlabel.reproduce.published_figures import read_figures
from eigenlabel.thresholds import Top

CITATION = "Xiong, Szedmak, Piater"
FIVE = Top(5)  # labels for each sample, Section 7.1
FOLDS = 4
REGRESSION: dict[str, Any] = {"n_components": 1.0, "trade_off": 0.0, "label_ridge": 0.0}

# Nine candidates for each method.
AGREEMENT_GRID = {"trade_off": (0.01, 0.1, 1.0), "ridge": (0.1, 1.0, 10.0)}
PUBLISHED_GRID = {name: tuple(10.0**k for k in range(-5, 0)) for name in ("trade_off", "ridge")}
LINEAR_AGREEMENT_GRID = {"trade_off": (0.01, 0.1, 1.0), "ridge": (0.1, 1.0, 100.0)}
RIDGE_GRID = {"ridge": tuple(10.0 ** np.arange(-3, 1.5, 0.5))}
LINEAR_RIDGE_GRID = {"ridge": tuple(10.0 ** np.arange(-4, 5))}
MBRM_GRID = {"bandwidth": (0.1, 0.2, 0.4), "smoothing": (0.01, 0.1, 0.5)}
JEC_GRID = {"n_neighbors": (2, 3, 5, 8, 12, 20, 30, 50, 100)}
TAGPROP_GRID = {"n_neighbors": (10, 20, 30, 40, 50, 70, 100, 150, 200)}
FASTTAG_GRID = {"ridge": (1e-4, 1e-3, 1e-2), "trade_off": (1.0, 10.0, 100.0)}
FIELDS_GRID = {"smoothness": (0.1, 1.0, 10.0), "n_neighbors": (5, 10, 20)}
WALKS_GRID = {"alpha": (0.2, 0.5, 0.8), "n_neighbors": (5, 10, 20)}


def _recipe(
    make: Callable[..., Any], about: str, grid: Mapping[str, Any], revision: int = 1, **fixed: Any
) -> Recipe:
    """Describe a method that assigns five labels to each sample.

    Methods are tuned by their scores, because label sets of a fixed size depend little on the
    parameters, and not at all if they contain every label.
    """
    about = f"{about}; tuned, five labels a sample"
    made = partial(make, threshold=FIVE, **fixed)
    return Recipe(made, about, grid, FOLDS, "average_precision", revision)


_kgha = partial(KGHA, random_state=0)
_fields = partial(GaussianFields, prior=0.01)

METHODS = {
    "KGHA": _recipe(_kgha, "kernel generalised homogeneity analysis, p/m = 0.5", AGREEMENT_GRID),
    "KGHA-d": _recipe(_kgha, "KGHA without reduction, p = m", AGREEMENT_GRID, n_components=1.0),
    "KGHA-r": _recipe(
        _kgha, "KGHA without co-regularisation, lambda = 1e-6", RIDGE_GRID, trade_off=1e-6
    ),
    "KGHA-eq31": _recipe(
        _kgha,
        "KGHA as printed: decoded by Eq. 31, without intercepts, the paper's candidates",
        PUBLISHED_GRID,
        revision=2,
        decoding="pseudo-inverse",
        fit_intercept=False,
    ),
    "KGHA-eq31-intercept": _recipe(
        _kgha,
        "KGHA decoded by Eq. 31, with intercepts, the paper's candidates",
        PUBLISHED_GRID,
        decoding="pseudo-inverse",
    ),
    "L-HA": _recipe(_kgha, "KGHA with linear kernels", LINEAR_AGREEMENT_GRID, kernel="linear"),
    "r-MLR": _recipe(
        _kgha,
        "mean of the views' linear ridge regressions",
        LINEAR_RIDGE_GRID,
        kernel="linear",
        **REGRESSION,
    ),
    "r-KMLR": _recipe(
        _kgha, "mean of the views' kernel ridge regressions", RIDGE_GRID, **REGRESSION
    ),
    "MBRM": _recipe(MBRM, "multiple Bernoulli relevance model", MBRM_GRID),
    "JEC": _recipe(JEC, "joint equal contribution", JEC_GRID),
    "TagProp": _recipe(TagProp, "TagProp, learnt distances and sigmoids", TAGPROP_GRID),
    "TagProp-ML": _recipe(TagProp, "TagProp, learnt distances alone", TAGPROP_GRID, sigmoid=False),
    "TagProp-RK": _recipe(
        TagProp, "TagProp, weights by rank", TAGPROP_GRID, weights="rank", sigmoid=False
    ),
    "FastTag": _recipe(FastTag, "marginalised blank-out of labels", FASTTAG_GRID),
    "SW": _recipe(
        _fields,
        "Gaussian fields on graphs with simultaneous weights",
        FIELDS_GRID,
        view_weights="simultaneous",
    ),
    "GRF-MK": _recipe(_fields, "Gaussian fields on the sum of graphs", FIELDS_GRID),
    "PfunBG-MK": _recipe(
        BiRelationGraph, "bi-relation graph of the sum of graphs", WALKS_GRID, combine="graphs"
    ),
    "TMEC": _recipe(
        BiRelationGraph, "sum of the scores of the views' bi-relation graphs", WALKS_GRID
    ),
}

YEAST, EMOTIONS = (
    (Data(name, f"multiview/{name}_views.mat", prepare="standard"),)
    for name in ("yeast", "emotions")
)
DEBTAGS = (Data("debtags", "debtags", {}, 300, 20, "tfidf", 2500),)
HUE = (
    Data(
        "corel5k-hue",
        [
            f"multiview/corel5k_guillaumin/corel5k_{part}_DenseHue.hvecs"
            for part in ("train", "test")
        ],
        min_positives=20,
        prepare="standard",
        max_samples=2500,
    ),
)
TAG_DATA = {"debtags": DEBTAGS, "corel5k-hue": HUE, "yeast": YEAST}
NETWORK_DATA = {"debtags": DEBTAGS, "yeast": YEAST, "emotions": EMOTIONS}
TAG_METRICS = {
    name: f"label_{name}_at_5" for name in ("precision", "recall", "f1")
}  # means over tags, Section 7.1
NETWORK_METRICS = {"one_minus_ranking_loss": "ranking_accuracy"}
FURTHER_METRICS = ("labels_recalled_at_5", "label_average_precision", "average_precision")
NOTES = (
    "The paper's figures are of other data: orders of methods can be compared, figures cannot.",
    "Stratified splits with 60% for training, the same for all methods; each method is tuned "
    "over nine candidates by four folds of the training part, for {scoring}.",
    "debtags: 2500 packages drawn at random, tags of 300 packages and more.",
)
HUE_NOTE = (
    "corel5k-hue: 2500 images of Corel5K with one of the paper's eight features, words of 20 and "
    "more images."
)


def _contest(
    number: int,
    topic: str,
    rows: tuple[Method, ...],
    reference: str,
    beyond: tuple[Method, ...] = (),
) -> Contest:
    """Describe one of the paper's tables: tags of images (3, 4) or of proteins (6, 7)."""
    tags = number < 5
    name, scoring = f"kgha-table{number}", "label_f1_at_5" if tags else "ranking_accuracy"
    source = "eight visual features" if tags else "protein kernels"
    notes = [note.format(scoring=scoring) for note in NOTES]
    return Contest(
        name,
        f"{CITATION}, Table {number}: {topic}",
        tuple(replace(method, scoring=scoring) for method in rows),
        reference,
        metrics=TAG_METRICS if tags else NETWORK_METRICS,
        data=TAG_DATA if tags else NETWORK_DATA,
        splits=Splits("shuffle", 10, 0.6),
        lacking=dict.fromkeys(
            (figure.dataset for figure in read_figures("xiong_kgha")[name]),
            f"the {source} are not public in full",
        ),
        beyond=tuple(replace(method, scoring=scoring) for method in beyond),
        further=FURTHER_METRICS,
        notes=(*notes, *([HUE_NOTE] if tags else [])),
    )


def _shares(number: int) -> Contest:
    shares = ("0.2", "0.4", "0.5", "0.6", "0.8")
    rows = tuple(Method(f"p/m {p}", "KGHA", {"n_components": float(p)}) for p in shares)
    return _contest(number, "KGHA by the dimension of its scores", rows, "p/m 0.5")


def _named(*names: str) -> tuple[Method, ...]:
    return tuple(Method(name) for name in names)


AS_PRINTED = ("KGHA-eq31", "KGHA-eq31-intercept")
VARIANTS = ("KGHA-d", "KGHA-r", "KGHA")
TAGGERS = _named("MBRM", "JEC", "TagProp", "FastTag", "r-MLR", "r-KMLR", "L-HA", *VARIANTS)
ON_NETWORKS = _named("SW", "GRF-MK", "PfunBG-MK", "TMEC", "r-KMLR", *VARIANTS)

SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)  # p/m of the claims


def _claim_points() -> dict[Point, Method]:
    """Return KGHA with other shares and trade-offs, and on single views.

    Gaussian kernels need no repair. ``repair=False`` is in the keys of recorded runs.
    """
    points = {}
    for trade_off in (0.0, 0.1, 1.0):
        for share in SHARES:
            name = f"lambda {trade_off:g}"
            model = KGHA(share, trade_off=trade_off, repair=False, random_state=0)
            points[name, f"{share:g}"] = Method(f"{name}, p/m {share:g}", model)
    alone = KGHA(0.5, repair=False, random_state=0)
    choices: dict[str, int | str] = {"first view": 0, "last view": -1, "joined": "joined"}
    for name, which in choices.items():
        points[name, "0.5"] = Method(name, ViewChoice(alone, which))
    return points


def _claims(name: str, data: dict[str, tuple[Data, ...]], splits: Splits, note: str) -> Curves:
    """Describe a test of what the paper claims about its own method."""
    return Curves(
        name,
        f"{CITATION}: is p/m = 0.5 best, do co-regularisation and several views help?",
        x="p/m",
        y="average_precision",
        points=_claim_points(),
        data=data,
        splits=splits,
        notes=("The paper's own data are not available.", note),
        reference=("lambda 0.1", "0.5"),
    )


PAPER = Paper(
    CITATION,
    METHODS,
    contests=(
        _shares(3),
        _contest(
            4, "KGHA and taggers", TAGGERS, "KGHA", _named(*AS_PRINTED, "TagProp-ML", "TagProp-RK")
        ),
        _shares(6),
        _contest(7, "KGHA and methods on networks", ON_NETWORKS, "KGHA", _named(*AS_PRINTED)),
    ),
    figures=(
        _claims(
            "kgha-claims",
            {"emotions": EMOTIONS, "yeast": YEAST},
            Splits("shuffle", 10),
            "Ten stratified splits of two thirds for training; features scaled to unit deviation.",
        ),
        _claims(
            "kgha-claims-debtags",
            {"debtags": (Data("debtags", "debtags", {}, 300, 20, "none"),)},
            Splits("shuffle", 10, 0.05),
            "Ten stratified splits of a twentieth for training, tags of 300 packages and more.",
        ),
    ),
)
