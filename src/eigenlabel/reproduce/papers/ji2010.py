"""Ji, Tang, Yu and Ye (TKDD 2010).

"A shared-subspace learning framework for multi-label classification", the journal version of Ji et
al. (2008): the same web pages, with SVM-perf instead of the SVM with a fixed C, 30 splits (10 for
ASO) and p-values of Wilcoxon's test. The images of gene expression patterns are not public.
"""

from typing import Any

from eigenlabel.estimators.margin.aso import ASOClassifier
from eigenlabel.estimators.margin.svm_perf import SVMPerfClassifier
from eigenlabel.estimators.subspace.classifier import SharedSubspaceClassifier
from eigenlabel.experiment import Method, Splits
from eigenlabel.experiment.methods import Recipe
from eigenlabel.reproduce.curves import Curves
from eigenlabel.reproduce.paper import Paper
from eigenlabel.reproduce.papers.ji2008 import (
    BEYOND,
    BUSINESS,
    FIRST_SETS,
    FIRST_SETS_LACKING,
    FIVE_SPLITS,
    LAST_SETS,
    LAST_SETS_LACKING,
    METRICS,
    YAHOO,
    YAHOO_LACKING,
    with_training_thresholds,
)
from eigenlabel.reproduce.published_figures import read_figures
from eigenlabel.reproduce.tables import Table, unavailable

CITATION = "Ji, Tang, Yu, Ye (TKDD 2010)"
THIRTY_SPLITS = Splits("random", 30, 1000)
NO_IMAGES = "the FlyExpress images and their kernels are not public"
ASO_SPLITS = "The paper ran ASO_SVM on 10 splits, all others on 30."
ROWS = ("ML_LS", "CCA+Ridge", "CCA+SVM", "SVM", "ASO_SVM", "SVMperf")


def _svm_perf() -> Any:
    return with_training_thresholds(SVMPerfClassifier("f1", C=5000))


# All other methods are those of Ji et al. (2008), with the same candidates.
METHODS = {"SVMperf": Recipe(_svm_perf, "SVM-perf for F1 in the papers' setting, C = 5000")}


def _web_pages(number: int, title: str, *, last: bool, **parts: Any) -> Table:
    """Describe a table of the first six or the last five sets of web pages."""
    return Table(
        f"mlls-table{number}",
        f"{CITATION}, {title}",
        data=LAST_SETS if last else FIRST_SETS,
        lacking=LAST_SETS_LACKING if last else FIRST_SETS_LACKING,
        metrics=METRICS,
        methods={m: m for m in ROWS},
        beyond=BEYOND,
        splits=THIRTY_SPLITS,
        notes=(*(() if last else (BUSINESS,)), ASO_SPLITS),
        **parts,
    )


def _tables() -> tuple[Table, ...]:
    figures = read_figures("ji2010")

    def lacking(number: int, title: str, why: str) -> Table:
        name = f"mlls-table{number}"
        return unavailable(name, f"{CITATION}, {title}", figures[name], why)

    return (
        Table(
            "mlls-table2",
            f"{CITATION}, Table II: sizes of the web page data",
            kind="counts",
            data=YAHOO,
            lacking=YAHOO_LACKING,
            notes=(BUSINESS,),
        ),
        _web_pages(3, "Table III: web pages, first six sets", last=False),
        _web_pages(4, "Table IV: web pages, last five sets", last=True),
        _web_pages(
            5,
            "Table V: p-values of ML_LS against others on Table III",
            last=False,
            kind="p-values",
            run="mlls-table3",
        ),
        _web_pages(
            6,
            "Table VI: p-values of ML_LS against others on Table IV",
            last=True,
            kind="p-values",
            run="mlls-table4",
        ),
        *(lacking(n, f"Table {n}: gene expression images", NO_IMAGES) for n in (7, 8, 9, 10)),
    )


def _times() -> Curves:
    """Describe Figures 1 and 2."""
    points = {
        ("ML_LS", "fixed"): Method("ML_LS fixed", SharedSubspaceClassifier()),
        ("ML_LS", "tuned"): Method("ML_LS"),
        ("SVM", "fixed"): Method("SVM_C"),
        ("SVM", "tuned"): Method("SVM"),
        ("ASO_SVM", "fixed"): Method("ASO_SVM fixed", ASOClassifier(1.0, 0, random_state=0)),
        ("ASO_SVM", "tuned"): Method("ASO_SVM"),
    }
    return Curves(
        "mlls-figure1",
        f"{CITATION}, Figures 1 and 2: seconds to fit, fixed and tuned",
        x="parameters",
        y="seconds",
        points=points,
        data=dict(YAHOO),
        splits=FIVE_SPLITS,
        notes=("Run it with one worker on a quiet machine.",),
    )


def _penalties() -> Curves:
    """Describe Figure 3."""
    values = (0.0, *(10.0**k for k in range(-5, 3)))
    points = {
        (f"alpha {alpha:g}", f"{beta:g}"): Method(
            f"alpha {alpha:g}, beta {beta:g}",
            with_training_thresholds(SharedSubspaceClassifier(alpha, beta)),
        )
        for alpha in values
        for beta in values
    }
    return Curves(
        "mlls-figure3",
        f"{CITATION}, Figure 3: macro F1 by alpha and beta",
        x="beta",
        y="f1_macro",
        points=points,
        data={name: YAHOO[name] for name in ("Arts", "Science")},
        splits=FIVE_SPLITS,
        notes=(
            "The paper has 5 folds of 1000 pages; here 5 draws of 1000, each tested on all others.",
            "Recreation is not available.",
        ),
    )


PAPER = Paper(CITATION, METHODS, _tables(), figures=(_times(), _penalties()))
