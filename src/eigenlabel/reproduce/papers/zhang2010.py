"""Zhang and Zhou (TKDD 2010), "Multilabel dimensionality reduction via dependence maximization".

Projections to the dimension that MDDM needs for 99.9% of the dependence, with ML-kNN or SVMs after
them, on web pages, images (with Gaussian kernels) and text (Section 4).
"""

from functools import partial
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC

from eigenlabel.estimators.neighbours.mlknn import MLkNN
from eigenlabel.estimators.projection.cca import CCA
from eigenlabel.estimators.projection.discriminative_selector import DiscriminativeSelector
from eigenlabel.estimators.projection.lpp import LPP
from eigenlabel.estimators.projection.mddm import MDDM
from eigenlabel.estimators.projection.mlsi import MLSI
from eigenlabel.estimators.projection.pca import PCA
from eigenlabel.estimators.projection.pls import PLS
from eigenlabel.experiment import Data, Method, Splits
from eigenlabel.experiment.grid_search import search
from eigenlabel.experiment.methods import Recipe
from eigenlabel.reproduce.curves import Curves
from eigenlabel.reproduce.hinge_svms import HingeSVMs
from eigenlabel.reproduce.kernel_search import KernelSearchCV
from eigenlabel.reproduce.paper import Paper
from eigenlabel.reproduce.paper_estimators import AtDimensionOfMDDM, AtShare, OnGaussianKernel
from eigenlabel.reproduce.papers.ji2008 import LIBSVM_ITERATIONS, on_linear_kernel
from eigenlabel.reproduce.published_figures import values_by_method
from eigenlabel.reproduce.tables import Table

CITATION = "Zhang, Zhou (TKDD 2010)"
WIDTHS = 10.0 ** np.arange(-1, 1.5, 0.5)  # of every Gaussian kernel, Section 4.1.2
GAMMAS = 1 / (2 * WIDTHS**2)
COSTS = 10.0 ** np.arange(-2, 3)  # C of every SVM, Section 4
BASES = ("MLkNN", "SVM")

_PROJECTIONS = {
    "MDDM_p": MDDM(),
    "MDDM_f": MDDM(projection="uncorrelated"),
    "MDDM_p^k": MDDM(label_kernel="rbf"),
    "MDDM_f^k": MDDM(projection="uncorrelated", label_kernel="rbf"),
    "PCA": PCA(),
    "PLS": PLS(),
    "CCA": CCA(reg=0.5),
    "LPP": LPP(),
    "MLSI": MLSI(),
    "SEL": DiscriminativeSelector(),
}
WITHOUT_KERNEL = ("MLSI", "LPP", "SEL")
FIND_DIMENSION = ("MDDM_p", "MDDM_p^k")  # the others are reduced to their dimension


def zhang_projection(name: str) -> Any:
    """Return a projection that Zhang and Zhou (2010) compare.

    Parameters
    ----------
    name : str
        Name of the projection in the paper, such as "MDDM_p" or "PCA". "^k" marks a Gaussian
        kernel of labels.

    Returns
    -------
    transformer
        A new projection with the settings of the paper.

    Examples
    --------
    >>> from eigenlabel.catalogue import zhang_projection
    >>> zhang_projection("CCA")
    CCA(reg=0.5)
    """
    return clone(_PROJECTIONS[name])


def zhang_classifier(base: str) -> Any:
    """Return a base classifier of Zhang and Zhou (2010).

    Linear SVMs have the hinge loss and one C, tuned by five folds, and decide at zero. The paper
    does not say how its SVMs decide; its figures suggest zero. It does not name a solver either;
    here it is LIBSVM.

    Parameters
    ----------
    base : {"MLkNN", "SVM", "SVM-squared"}
        The classifier. "SVM-squared" has the squared hinge loss, which LIBLINEAR solves.

    Returns
    -------
    classifier
        A new classifier, or a grid search of it.

    Examples
    --------
    >>> from eigenlabel.catalogue import zhang_classifier
    >>> zhang_classifier("MLkNN")
    MLkNN()
    """
    if base == "MLkNN":
        return MLkNN()
    if base == "SVM-squared":
        return search(OneVsRestClassifier(LinearSVC()), {"estimator__C": COSTS}, "f1_micro")
    svm = HingeSVMs(kernel="precomputed", max_iter=LIBSVM_ITERATIONS)
    return search(on_linear_kernel(svm), {"svm__C": COSTS}, "f1_micro")


def _gaussian_svm(projection: Any, label_widths: dict[str, Any]) -> Any:
    """Return SVMs with Gaussian kernels; projection and SVM share one width, as in the paper.

    The paper does not name the criterion of its folds. It is Hamming loss here, the error of single
    SVMs, which LIBSVM reports. Micro F1 chooses a width so narrow that all images get the same
    labels.
    """
    grid = label_widths | {"gamma": GAMMAS}
    return KernelSearchCV(OnGaussianKernel(projection), grid, COSTS, "hamming_loss")


def _method(name: str, base: str, kernel: str) -> Any:
    """Return a projection and its classifier; five folds tune the widths of Gaussian kernels.

    MLSI, LPP and SEL, and ML-kNN on the original features, have no kernel in the paper.
    """
    projection, width, label_widths = None, {}, {}
    if name != "ORI":
        projection = zhang_projection(name)
        finds_dimension = name in FIND_DIMENSION
        step = "projection__" if finds_dimension else "projection__projection__"
        if kernel == "rbf" and name not in WITHOUT_KERNEL:
            projection.set_params(kernel="rbf")
            width = {f"{step}gamma": GAMMAS}
        if name.endswith("^k"):
            label_widths = {f"{step}label_gamma": GAMMAS}
        if not finds_dimension:
            parameter = "n_features_to_select" if name == "SEL" else "n_components"
            projection = AtDimensionOfMDDM(projection, parameter)
    if base == "SVM" and kernel == "rbf":
        return _gaussian_svm(projection, label_widths)
    if projection is None:
        return zhang_classifier(base)
    model = Pipeline([("projection", projection), ("classifier", zhang_classifier(base))])
    grid = width | label_widths
    return search(model, grid, "average_precision") if grid else model


def _revision(name: str, base: str, kernel: str) -> int:
    """Return the revision of a method, which grows when its results change.

    Label kernels changed once; linear SVMs twice (hinge loss; a score of -1 for labels without
    training samples); Gaussian ones twice more (all labels at once where kernels are narrow; the
    width by Hamming loss). MDDM_f has the dimension of MDDM_p since the last revision.
    """
    svm = {"linear": 3, "rbf": 5}[kernel]
    neighbours = 2 if name.endswith("^k") else 1
    return (svm if base == "SVM" else neighbours) + name.startswith("MDDM_f")


# "mddm:PCA+SVM-rbf" is PCA with SVMs after it, both with Gaussian kernels.
METHODS = {
    f"mddm:{name}+{base}{'-rbf' if kernel == 'rbf' else ''}": Recipe(
        partial(_method, name, base, kernel),
        f"{name} and {base}, {kernel} kernels, in the setting of Zhang and Zhou",
        revision=_revision(name, base, kernel),
    )
    for base, kernel, name in product(BASES, ("linear", "rbf"), (*_PROJECTIONS, "ORI"))
} | {
    f"mddm:{name}+SVM-squared": Recipe(
        partial(_method, name, "SVM-squared", "linear"),
        f"{name} and SVMs with the squared hinge loss, in the setting of Zhang and Zhou",
        revision=_revision(name, "SVM-squared", "linear"),
    )
    for name in (*_PROJECTIONS, "ORI")
}

METRICS = {
    **{"auc": "auc_macro", "macro_f1": "f1_macro", "micro_f1": "f1_micro"},
    **{
        name: name
        for name in ("hamming_loss", "ranking_loss", "one_error", "coverage", "average_precision")
    },
}
WEB_PAGES = tuple(
    Data(name, f"yahoo_lamda/{name}.mat", prepare="none")
    for name in (
        *("Arts", "Business", "Computers", "Education", "Entertainment", "Health"),
        *("Recreation", "Reference", "Science", "Social", "Society"),
    )
)
COREL_FILES = ["mulan/corel5k/Corel5k-train-sparse.arff", "mulan/corel5k/Corel5k-test-sparse.arff"]
COREL = Data("corel5k", COREL_FILES, min_positives=5, prepare="none")
COREL_WITH_ALL_WORDS = Data("corel5k-374", COREL_FILES, min_positives=1, prepare="none")
# The fourth and fifth subset have columns of their own, and as many as their sources.
RCV1_FEATURES = {1: 47236, 2: 47236, 3: 47236, 4: 47229, 5: 47235}
RCV1 = tuple(
    Data(
        f"rcv1-{k}",
        [f"rcv1/rcv1_topics_{k}_{part}.svm.gz" for part in ("train", "test")],
        {"n_features": n_features, "n_labels": 101},
        min_positives=50,
        min_documents=5,
        prepare="none",
    )
    for k, n_features in RCV1_FEATURES.items()
)
TASKS = {
    "web pages": (WEB_PAGES, Splits("published", 1)),
    "image annotation": ((COREL,), Splits("folds", 5)),
    "text": (RCV1, Splits("published", 1)),
}
DATASETS = {
    "web pages": "Yahoo web pages (11 sets)",
    "image annotation": "Corel5K image annotation",
    "text": "rcv1v2 (5 subsets)",
}
NOTES = {
    "web pages": (),
    "image annotation": (
        "The paper's folds are not known, ours keep the share of each label; it speaks of 500 "
        "features, the data have 499.",
        "The paper says that words with fewer than 50 images were left out. Its figures do not: "
        "those of Tables 3 and 4 come from words of about 5 images or more (297 labels), those of "
        "Tables 9 and 10 from all words (374; see docs/papers).",
    ),
    "text": (
        "The paper has about 4,000 features, ours are 7,100: both leave out words in fewer than "
        "five documents, ours counts those of the training and the test part.",
    ),
}
EMPTY_LABELS = (
    "Macro F1 of the paper is too high for 0/0 = 0: f1_macro_empty_one, in which a label without "
    "positives and predictions counts as one, is compared beside it.",
)
ROWS = ("MDDM_p", "MDDM_f", "PCA", "LPP", "PLS", "CCA", "MLSI", "SEL", "ORI")
LABEL_KERNEL_ROWS = ("MDDM_p^l", "MDDM_p^k", "MDDM_f^l", "MDDM_f^k")


def _table(number: int, rows: tuple[str, ...], task: str, base: str) -> Table:
    """Describe one of the twelve tables: two sets of methods, three tasks, two classifiers."""
    kernel = "-rbf" if task == "image annotation" else ""
    data, splits = TASKS[task]
    label_kernels = rows == LABEL_KERNEL_ROWS
    if data == (COREL,) and label_kernels:
        data = (COREL_WITH_ALL_WORDS,)
    return Table(
        f"mddm-table{number}",
        f"{CITATION}, Table {number}: {task}, {base}{', label kernels' if label_kernels else ''}",
        run=f"mddm-{task.replace(' ', '-')}-{base}",
        data={DATASETS[task]: data},
        metrics=METRICS,
        recorded=(*METRICS.values(), "f1_macro_empty_one"),
        conventions={"macro_f1": "f1_macro_empty_one"},
        t_tests=True,
        methods={m: f"mddm:{m.removesuffix('^l')}+{base}{kernel}" for m in rows},
        splits=splits,
        notes=NOTES[task] + (EMPTY_LABELS if task != "text" else ()),
    )


WIDE_SHARES = (0.01, 0.03, 0.05, 0.09, 0.19, 0.39, 0.59, 0.79, 0.99)
NARROW_SHARES = (0.001, 0.005, 0.02, 0.1)
FIGURE_TASKS = {
    "web": ("web pages", WIDE_SHARES),
    "images": ("image annotation", WIDE_SHARES),
    "text": ("text", NARROW_SHARES),
}


def _losses(task: str, base: str) -> dict[str, float]:
    """Return the published Hamming losses at the dimension of MDDM, Tables I to VI."""
    number = 1 + list(product(TASKS, BASES)).index((task, base))
    dataset = DATASETS[task]
    return values_by_method("zhang2010", f"mddm-table{number}", "hamming_loss", dataset)


def _dimensions(number: int, base: str, word: str) -> Curves:
    """Describe a panel of Figure 2 (ML-kNN) or Figure 3 (SVM)."""
    task, shares = FIGURE_TASKS[word]
    data, splits = TASKS[task]
    points = {}
    for name in ("MDDM_p", "PCA", "LPP", "PLS", "CCA", "MLSI", "SEL"):
        projection = zhang_projection(name)
        if name == "MDDM_p":
            projection = MDDM(complement=True, random_state=0)
        for share in shares:
            model = make_pipeline(AtShare(projection, share, shares[-1]), zhang_classifier(base))
            points[name, f"{share:.3g}"] = Method(f"{name} @ {share:.3g}", model)
    points["ORI", "1"] = Method("ORI @ 1", zhang_classifier(base))
    return Curves(
        f"mddm-figure{number}-{word}",
        f"{CITATION}, Figure {number}: Hamming loss by dimension, {base}, {task}",
        x="share of the dimension",
        y="hamming_loss",
        points=points,
        data={task: data},
        splits=splits,
        notes=(
            "MDDM_p continues with random orthogonal directions when the labels determine no more "
            "(footnote 4 of the paper); CCA ends there.",
            "All projections and SVMs are linear here; the paper has Gaussian kernels for images.",
            f"The paper has about 50 shares of the dimension, we have {len(shares)}.",
        ),
        published={task: _losses(task, base)},
    )


PAPER = Paper(
    CITATION,
    METHODS,
    tables=tuple(
        _table(number, rows, task, base)
        for number, (rows, task, base) in enumerate(
            product((ROWS, LABEL_KERNEL_ROWS), TASKS, BASES), start=1
        )
    ),
    figures=tuple(
        _dimensions(number, base, word)
        for number, base in ((2, "MLkNN"), (3, "SVM"))
        for word in FIGURE_TASKS
    ),
)
