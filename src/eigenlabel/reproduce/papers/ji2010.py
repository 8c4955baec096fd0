"""Ji, Tang, Yu and Ye (TKDD 2010).

"A shared-subspace learning framework for multi-label classification", the journal version of Ji et
al. (2008): the same web pages, with SVM-perf instead of the SVM with a fixed C, 30 splits (10 for
ASO) and p-values of Wilcoxon's test. The images of gene expression patterns and their kernels are
not public (Tables VII to X), so the comparison of kernel methods is repeated on three other data
sets with several kernels each. Names that begin with "kernel:" are the methods of the paper on a
sum of kernels, tuned over the same candidates.
"""

from typing import Any

from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import Pipeline

from eigenlabel.estimators.margin.aso import ASOClassifier
from eigenlabel.estimators.margin.svm_perf import SVMPerfClassifier
from eigenlabel.estimators.meta.one_vs_rest_search import OneVsRestSearchCV
from eigenlabel.estimators.projection.cca import CCA
from eigenlabel.estimators.subspace.classifier import SharedSubspaceClassifier
from eigenlabel.estimators.subspace.tuned import SharedSubspaceClassifierCV
from eigenlabel.experiment import Method, Splits
from eigenlabel.experiment.grid_search import search
from eigenlabel.experiment.methods import Recipe
from eigenlabel.reproduce.contests import Contest
from eigenlabel.reproduce.curves import TIME, Curves
from eigenlabel.reproduce.hinge_svms import HingeSVMs
from eigenlabel.reproduce.paper import Paper
from eigenlabel.reproduce.paper_estimators import Reduced, SeveralKernels
from eigenlabel.reproduce.papers import ji2008
from eigenlabel.reproduce.papers.ji2008 import (
    ASO_PENALTIES,
    BEYOND,
    BUSINESS,
    CCA_SVM_COSTS,
    FIRST_SETS,
    FIRST_SETS_LACKING,
    FIVE_SPLITS,
    LAST_SETS,
    LAST_SETS_LACKING,
    LIBSVM_ITERATIONS,
    METRICS,
    RIDGE_PENALTIES,
    RUN,
    SUBSPACE_PENALTIES,
    SVM_COSTS,
    YAHOO,
    YAHOO_LACKING,
    hinge_svm,
    tuned_projection,
)
from eigenlabel.reproduce.papers.xiong_kgha import DEBTAGS, EMOTIONS, YEAST
from eigenlabel.reproduce.projection_search import with_training_thresholds
from eigenlabel.reproduce.published_figures import read_figures
from eigenlabel.reproduce.tables import Table, unavailable

CITATION = "Ji, Tang, Yu, Ye (TKDD 2010)"
THIRTY_SPLITS = Splits("random", 30, 1000)
NO_IMAGES = "the FlyExpress images and their kernels are not public"
ASO_SPLITS = "The paper ran ASO_SVM on 10 splits, all others on 30."
ROWS = ("ML_LS", "CCA+Ridge", "CCA+SVM", "SVM", "ASO_SVM", "SVMperf")


def _svm_perf() -> Any:
    return with_training_thresholds(SVMPerfClassifier("f1", C=5000))


def _on_kernels(classifier: Any) -> Any:
    """Return a classifier with a precomputed kernel behind a sum of kernels."""
    return Pipeline([("sum", SeveralKernels()), ("then", classifier)])


def _kernel_subspace() -> Any:
    return _on_kernels(
        SharedSubspaceClassifierCV(
            SUBSPACE_PENALTIES,
            betas=SUBSPACE_PENALTIES,
            kernel="precomputed",
            threshold="f1",
            threshold_on="training",
        )
    )


def _kernel_svm() -> Any:
    """Return kernel SVMs. Without a limit, LIBSVM takes hours for a low rank and a large C."""
    svm = HingeSVMs(kernel="precomputed", max_iter=LIBSVM_ITERATIONS)
    tuned = OneVsRestSearchCV(svm, {"C": list(SVM_COSTS)}, calibration=None)
    return with_training_thresholds(_on_kernels(tuned))


def _kernel_cca_ridge() -> Any:
    ridge = {"alpha": RIDGE_PENALTIES}
    return _on_kernels(tuned_projection(CCA(kernel="precomputed"), RidgeClassifier(), ridge))


def _kernel_cca_svm() -> Any:
    costs = {"C": CCA_SVM_COSTS}
    return _on_kernels(tuned_projection(CCA(kernel="precomputed"), hinge_svm(), costs))


def _kernel_aso() -> Any:
    aso = ASOClassifier(beta=0, kernel="precomputed", svm_max_iter=100)
    grid = {"estimator__alpha": ASO_PENALTIES}
    return _on_kernels(search(with_training_thresholds(aso), grid))


# All other methods are those of Ji et al. (2008), with the same candidates.
METHODS = {
    "SVMperf": Recipe(_svm_perf, "SVM-perf for F1 in the papers' setting, C = 5000"),
    "kernel:ML_LS": Recipe(_kernel_subspace, "shared subspace on a sum of kernels"),
    "kernel:CCA+Ridge": Recipe(_kernel_cca_ridge, "kernel CCA and ridge regression"),
    "kernel:CCA+SVM": Recipe(_kernel_cca_svm, "kernel CCA and a linear SVM"),
    "kernel:SVM": Recipe(
        _kernel_svm, "SVM on a sum of kernels, C of each label by 5 folds", revision=2
    ),
    "kernel:ASO_SVM": Recipe(_kernel_aso, "ASO with hinge loss on a sum of kernels", revision=2),
}
KERNELS = SeveralKernels().kernels


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
        fewer={"ASO_SVM": 10},
        notes=(*(() if last else (BUSINESS,)), ASO_SPLITS),
        **RUN,
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
        ),
        _web_pages(
            6,
            "Table VI: p-values of ML_LS against others on Table IV",
            last=True,
            kind="p-values",
        ),
        lacking(9, "Table IX: p-values on Table VII", f"{NO_IMAGES}; mlls-table7 has our tests"),
        lacking(10, "Table X: p-values on Table VIII", f"{NO_IMAGES}; mlls-table8 has our tests"),
    )


def _kernel_contest(number: int, share: float) -> Contest:
    """Describe Table VII or VIII: kernel methods on the uniform sum, and single or learnt sums."""
    rows = tuple(
        Method(name, f"kernel:{name}")
        for name in ("ML_LS", "CCA+Ridge", "CCA+SVM", "SVM", "ASO_SVM")
    )
    beyond = [
        Method(f"{name}, {kernel}", f"kernel:{name}", {f"{place}__which": kernel})
        for name, place in (("ML_LS", "sum"), ("SVM", "estimator__sum"))
        for kernel in KERNELS
    ]
    beyond += [
        Method(f"{name}, learnt weights", f"kernel:{name}", {f"{place}__weights": "alignment"})
        for name, place in (("ML_LS", "sum"), ("SVM", "estimator__sum"))
    ]
    return Contest(
        f"mlls-table{number}",
        f"{CITATION}, Table {'VII' if number == 7 else 'VIII'}: kernel methods, here on other data",
        rows,
        "ML_LS",
        metrics=METRICS,
        data={"debtags": DEBTAGS, "yeast": YEAST, "emotions": EMOTIONS},
        splits=Splits("shuffle", 30, share),
        lacking={"FlyExpress": NO_IMAGES},
        beyond=tuple(beyond),
        notes=(
            "The paper's figures are of other data: orders of methods can be compared, figures "
            "cannot.",
            f"The kernels of each view are {', '.join(KERNELS)}; rows without a kernel have their "
            "uniform sum. Learnt weights have the largest centred alignment with the labels.",
            f"Stratified splits with {share:.0%} for training. The paper has two ratios in a "
            "table, 20 to 60 terms, and 10 splits for ASO_SVM.",
        ),
    )


PROCESSOR = "Processor time of one thread, which other programs on the machine hardly change."


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
        y=TIME,
        points=points,
        data=dict(YAHOO),
        splits=FIVE_SPLITS,
        notes=(f"{PROCESSOR} The paper does not say which values are fixed.",),
        **RUN,
    )


# Sizes of the training data: samples, labels and features.
SIZES = {
    "n": ("samples", (250, 500, 1000, 2000)),
    "m": ("labels", (5, 10, 15, 22)),
    "d": ("features", (1000, 2000, 4000, 8000, 16000)),
}


def _growth(letter: str) -> Curves:
    """Describe how time grows with one size; only the number of samples is in the paper."""
    what, sizes = SIZES[letter]
    is_n = letter == "n"
    shows = "Figures 1 and 2" if is_n else "costs of Table I"
    sets = ("Health", "Science") if is_n else ("Science",)
    fixed = {} if is_n else {"samples": 1000}
    models = {
        "ML_LS, fixed": SharedSubspaceClassifier(),
        "ML_LS, tuned": ji2008.METHODS["ML_LS"].make(),
        "SVM, fixed": ji2008.METHODS["SVM_C"].make(),
        "SVM, tuned": ji2008.METHODS["SVM"].make(),
        "ASO_SVM, fixed": ASOClassifier(1.0, 0, random_state=0),
    }
    points = {
        (name, str(size)): Method(
            f"{name}, {letter} = {size}", Reduced(model, **fixed, **{what: size})
        )
        for name, model in models.items()
        for size in sizes
    }
    return Curves(
        f"mlls-time-{letter}",
        f"{CITATION}, {shows}: processor seconds of a fit by the number of {what}",
        x=what,
        y=TIME,
        points=points,
        data={name: YAHOO[name] for name in sets},
        splits=Splits("random", 3, sizes[-1] if letter == "n" else 1000),
        notes=(
            PROCESSOR,
            "1000 samples, all labels and all features where they do not vary.",
        ),
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


PAPER = Paper(
    CITATION,
    METHODS,
    _tables(),
    contests=(_kernel_contest(7, 0.3), _kernel_contest(8, 0.6)),
    figures=(_times(), *(_growth(letter) for letter in SIZES), _penalties()),
)
