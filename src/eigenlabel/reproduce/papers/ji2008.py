"""Ji, Tang, Yu and Ye (KDD 2008), "Extracting shared subspace for multi-label classification".

Six methods on the eleven data sets of Yahoo's web pages, six of which are available. All methods
are tuned by five folds for F1, and the threshold of each label maximises F1 on the training data
(Sections 5.1 and 5.2). Ji et al. (2010) and Han et al. (2010) use the same pages and methods. SVMs
have the hinge loss and an intercept without penalty, and LIBSVM solves them, as in the paper; the
same methods with the squared hinge loss and LIBLINEAR have names that end in "-squared".
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.linear_model import RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, add_dummy_feature
from sklearn.svm import LinearSVC

from eigenlabel.estimators.margin.aso import ASOClassifier
from eigenlabel.estimators.meta.one_vs_rest_search import OneVsRestSearchCV
from eigenlabel.estimators.projection.cca import CCA
from eigenlabel.estimators.subspace.tuned import SharedSubspaceClassifierCV
from eigenlabel.estimators.views.kernel_sum import KernelSum
from eigenlabel.experiment import Data, Splits
from eigenlabel.experiment.grid_search import search
from eigenlabel.experiment.methods import Recipe
from eigenlabel.reproduce.hinge_svms import HingeSVMs
from eigenlabel.reproduce.paper import Paper
from eigenlabel.reproduce.projection_search import ProjectionSearchCV, with_training_thresholds
from eigenlabel.reproduce.tables import Table

CITATION = "Ji, Tang, Yu, Ye (KDD 2008)"

# The candidates of Section 5.2.
SUBSPACE_PENALTIES = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)  # alpha, beta
PROJECTION_PENALTIES = 10.0 ** np.arange(-6, 2)  # of CCA
RIDGE_PENALTIES = 10.0 ** np.arange(-6, 1)  # of ridge regression after CCA
CCA_SVM_COSTS = 10.0 ** np.arange(-4, 6)  # C of an SVM after CCA
SVM_COSTS = tuple(10.0**k for k in range(-5, 6))  # C of an SVM for each label
LIBSVM_ITERATIONS = 100_000  # for one label; few features and a large C need more
ASO_PENALTIES = 10.0 ** np.arange(-4, 4)  # alpha of ASO


def _shared_subspace() -> Any:
    """Return ML_LS as published: the bias is a penalised feature."""
    model = SharedSubspaceClassifierCV(
        SUBSPACE_PENALTIES,
        betas=SUBSPACE_PENALTIES,
        threshold="f1",
        threshold_on="training",
        fit_intercept=False,
    )
    return make_pipeline(FunctionTransformer(add_dummy_feature, accept_sparse=True), model)


def tuned_projection(
    projection: Any, classifier: Any, grid: Mapping[str, Any], scoring: str = "f1_macro"
) -> Any:
    """Return a projection and a classifier after it, both tuned by five folds.

    The candidates for the penalty of the projection are those of CCA. ``grid`` contains the
    candidates for the parameters of the classifier.
    """
    return ProjectionSearchCV(projection, classifier, PROJECTION_PENALTIES, grid, scoring)


def hinge_svm() -> Any:
    """Return the linear SVMs of the papers: hinge loss, solved by LIBSVM.

    The number of iterations is limited: with few features and a large C, LIBSVM would take hours.
    """
    return HingeSVMs(max_iter=LIBSVM_ITERATIONS)


def _cca_ridge() -> Any:
    return tuned_projection(CCA(), RidgeClassifier(), {"alpha": RIDGE_PENALTIES})


def _cca_svm() -> Any:
    return tuned_projection(CCA(), hinge_svm(), {"C": CCA_SVM_COSTS})


def _cca_squared() -> Any:
    svm = OneVsRestClassifier(LinearSVC())
    return tuned_projection(CCA(), svm, {"estimator__C": CCA_SVM_COSTS})


def _aso() -> Any:
    """Return ASO as published.

    The iterations of a round are limited: the smallest alphas need thousands, and gain nothing.
    """
    aso = ASOClassifier(beta=0, svm_max_iter=100)
    return search(with_training_thresholds(aso), {"estimator__alpha": ASO_PENALTIES})


def on_linear_kernel(classifier: Any) -> Any:
    """Return a classifier of kernel values behind a linear kernel.

    LIBSVM is fifty times faster on one matrix of kernel values than on sparse samples, whose
    products it computes again for each label, fold and candidate.
    """
    return Pipeline([("kernel", KernelSum(kernel="linear")), ("svm", classifier)])


def _svm() -> Any:
    svm = HingeSVMs(kernel="precomputed", max_iter=LIBSVM_ITERATIONS)
    tuned = OneVsRestSearchCV(svm, {"C": list(SVM_COSTS)}, calibration=None)
    return with_training_thresholds(on_linear_kernel(tuned))


def _svm_with_one_cost() -> Any:
    svm = HingeSVMs(kernel="precomputed")
    return with_training_thresholds(on_linear_kernel(svm))


def _squared() -> Any:
    return with_training_thresholds(
        OneVsRestSearchCV(param_grid={"C": list(SVM_COSTS)}, calibration=None)
    )


def _squared_with_one_cost() -> Any:
    return with_training_thresholds(OneVsRestClassifier(LinearSVC()))


METHODS = {
    "ML_LS": Recipe(_shared_subspace, "shared subspace in the papers' setting"),
    "SVM": Recipe(
        _svm, "linear SVM in the papers' setting, C of each label by 5 folds", revision=2
    ),
    "SVM_C": Recipe(_svm_with_one_cost, "linear SVM in the papers' setting, C = 1", revision=2),
    "CCA+Ridge": Recipe(_cca_ridge, "CCA and ridge regression in the papers' setting"),
    "CCA+SVM": Recipe(_cca_svm, "CCA and a linear SVM in the papers' setting", revision=2),
    "SVM-squared": Recipe(_squared, "SVM with the squared hinge loss, C of each label by 5 folds"),
    "SVM_C-squared": Recipe(_squared_with_one_cost, "SVM with the squared hinge loss, C = 1"),
    "CCA+SVM-squared": Recipe(_cca_squared, "CCA and an SVM with the squared hinge loss"),
    "ASO_SVM": Recipe(
        _aso, "ASO with hinge loss in the papers' setting, alpha by 5 folds", revision=2
    ),
}

# The web pages: topics of fewer than 100 pages and words of fewer than 5 pages are dropped.
YAHOO = {
    name: (Data(name, f"yahoo/{name}.svm.gz", {}, 100, 5, "tfidf"),)
    for name in ("Arts", "Business", "Education", "Health", "Reference", "Science")
}
# The papers print the first six and the last five sets in tables of their own.
LAST_SETS = {name: YAHOO[name] for name in ("Reference", "Science")}
FIRST_SETS = {name: data for name, data in YAHOO.items() if name not in LAST_SETS}
NO_WORD_COUNTS = "no public copy with its full word counts is known to us"
FIRST_SETS_LACKING = dict.fromkeys(("Computers", "Entertainment"), NO_WORD_COUNTS)
LAST_SETS_LACKING = dict.fromkeys(("Recreation", "Social", "Society"), NO_WORD_COUNTS)
YAHOO_LACKING = FIRST_SETS_LACKING | LAST_SETS_LACKING
BUSINESS = "The available Business has 12% more pages than the paper's and is not the same data."
METRICS = {"auc": "auc_macro", "macro_f1": "f1_macro", "micro_f1": "f1_micro"}
# The tables of three papers on these pages share their runs: a split of 5 is one of 30.
RUN: dict[str, Any] = {
    "run": "web-pages",
    "recorded": ("auc_macro", "f1_macro", "f1_micro", "auc_micro", "auc_micro_of_sets"),
}
FIVE_SPLITS = Splits("random", 5, 1000)
BEYOND = ("shared-subspace", "linear-svm")  # methods that the papers do not have


def _web_pages(name: str, title: str, **parts: Any) -> Table:
    """Describe a table of figures on web pages."""
    return Table(
        name,
        f"{CITATION}, {title}",
        metrics=METRICS,
        methods={m: m for m in ("ML_LS", "CCA+Ridge", "CCA+SVM", "ASO_SVM", "SVM_C", "SVM")},
        beyond=BEYOND,
        splits=FIVE_SPLITS,
        **RUN,
        **parts,
    )


PAPER = Paper(
    CITATION,
    METHODS,
    tables=(
        Table(
            "kdd-table2",
            f"{CITATION}, Table 2: sizes of the web page data",
            kind="counts",
            data=YAHOO,
            lacking=YAHOO_LACKING,
            notes=(BUSINESS,),
        ),
        _web_pages(
            "kdd-table3",
            "Table 3: web pages, first six sets",
            data=FIRST_SETS,
            lacking=FIRST_SETS_LACKING,
            notes=(BUSINESS,),
        ),
        _web_pages(
            "kdd-table4",
            "Table 4: web pages, last five sets",
            data=LAST_SETS,
            lacking=LAST_SETS_LACKING,
        ),
    ),
)
