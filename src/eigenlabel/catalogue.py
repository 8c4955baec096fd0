"""Methods by name, ready to run: ours, the papers', and what a user would pick instead.

A method that is registered here appears in ``eigenlabel compare`` and in every table of
``eigenlabel reproduce`` that names it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, add_dummy_feature
from sklearn.svm import LinearSVC

from eigenlabel._catalogue_projections import (
    PROJECTION_METHODS,
    AtDimensionOfMDDM,
    OnGaussianKernel,
    zhang_classifier,
    zhang_projection,
)
from eigenlabel._catalogue_search import LastFits, search
from eigenlabel._catalogue_views import FOLDS, VIEW_METHODS
from eigenlabel.estimators.agreement.kgha import KGHA
from eigenlabel.estimators.discriminant.tuned import MtSDACV
from eigenlabel.estimators.margin.aso import ASOClassifier
from eigenlabel.estimators.margin.svm_perf import SVMPerfClassifier
from eigenlabel.estimators.meta.per_label import OneVsRestSearchCV
from eigenlabel.estimators.meta.thresholded import ThresholdedClassifier
from eigenlabel.estimators.neighbours.mlknn import MLkNN
from eigenlabel.estimators.projection.supervised import CCA, LDA, MDDM, HypergraphSpectral
from eigenlabel.estimators.subspace.classifier import SharedSubspaceClassifier
from eigenlabel.estimators.subspace.tuned import PAPER_GRID, SharedSubspaceClassifierCV

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


@dataclass(frozen=True)
class Method:
    """How a method is made, and what it is in a few words.

    A method with a ``grid`` is tuned over it by so many ``folds`` and by the metric ``scoring``,
    unless others are given.
    """

    make: Callable[[], Any]
    about: str
    grid: Mapping[str, Any] = field(default_factory=dict)
    folds: int = 5
    scoring: str = "f1_macro"


def _paper_subspace() -> Any:
    """ML_LS as published: the bias is a penalised feature, thresholds come from training scores."""
    model = SharedSubspaceClassifierCV(
        PAPER_GRID, threshold="f1", threshold_on="training", fit_intercept=False
    )
    return make_pipeline(FunctionTransformer(add_dummy_feature, accept_sparse=True), model)


def _paper_svm(**parameters: Any) -> Any:
    svm = OneVsRestClassifier(LinearSVC(**parameters))
    return ThresholdedClassifier(svm, strategy="f1", cv=None)


def _paper_tuned_svm() -> Any:
    return ThresholdedClassifier(OneVsRestSearchCV(), strategy="f1", cv=None)


def _paper_projection(
    projection: Any, classifier: Any, grid: Mapping[str, Any], scoring: str = "f1_macro"
) -> Any:
    """A projection and a classifier behind it in the papers' setting, both tuned by 5 folds."""
    steps = [("projection", projection), ("then", classifier)]
    pipeline = Pipeline(steps, memory=LastFits())
    model = ThresholdedClassifier(pipeline, strategy="f1", cv=None)
    grid = {f"estimator__then__{name}": values for name, values in grid.items()}
    return search(model, {"estimator__projection__reg": 10.0 ** np.arange(-6, 2), **grid}, scoring)


def _paper_cca_ridge() -> Any:
    return _paper_projection(CCA(), RidgeClassifier(), {"alpha": 10.0 ** np.arange(-6, 1)})


def _paper_cca_svm() -> Any:
    grid = {"estimator__C": 10.0 ** np.arange(-4, 6)}
    return _paper_projection(CCA(), OneVsRestClassifier(LinearSVC()), grid)


def _han_projection(projection: Any) -> Any:
    """Tune a projection and SVMs behind it for the AUC that Han et al. (AAAI 2010) report."""
    svm, grid = OneVsRestClassifier(LinearSVC()), {"estimator__C": 10.0 ** np.arange(-2, 3)}
    return _paper_projection(projection, svm, grid, "auc_micro")


def _han_mtsda(rhos: tuple[float, ...]) -> Any:
    """MtSDA as published: one threshold for all labels, from training scores."""
    return MtSDACV(rhos=rhos, scoring="auc_micro", threshold="global", threshold_on="training")


def _paper_aso() -> Any:
    """ASO as published; with more iterations of LIBLINEAR its small alphas would take hours."""
    aso = ASOClassifier(beta=0, svm_max_iter=1000, random_state=0)
    model = ThresholdedClassifier(aso, strategy="f1", cv=None)
    return search(model, {"estimator__alpha": 10.0 ** np.arange(-4, 4)})


def _view_methods() -> dict[str, Method]:
    """List the methods of paper 003, with the same number of candidates and folds for each.

    They are tuned by their scores: label sets of a fixed size say little, those of all labels
    nothing.
    """
    return {
        name: Method(
            make, f"{about}; tuned, five labels a sample", grid, FOLDS, "average_precision"
        )
        for name, (make, about, grid) in VIEW_METHODS.items()
    }


METHODS: dict[str, Method] = {
    "shared-subspace": Method(
        SharedSubspaceClassifierCV, "shared-subspace least squares, tuned with its thresholds"
    ),
    "shared-subspace-rbf": Method(
        lambda: SharedSubspaceClassifierCV(kernel="rbf"), "the same with a Gaussian kernel"
    ),
    "many-labels": Method(
        lambda: SharedSubspaceClassifier(np.inf, n_components=100, tol=1e-3),
        "shared subspace of 100 dimensions for thousands of labels; predict with --top",
    ),
    "ridge": Method(
        lambda: SharedSubspaceClassifierCV([0.0]), "one ridge regression a label, tuned, thresholds"
    ),
    "linear-svm": Method(
        lambda: ThresholdedClassifier(OneVsRestClassifier(LinearSVC())),
        "one-vs-rest linear SVM, C = 1, with our thresholds",
    ),
    "linear-svm-plain": Method(
        lambda: OneVsRestClassifier(LinearSVC()), "one-vs-rest linear SVM as it is"
    ),
    "logistic": Method(
        lambda: ThresholdedClassifier(OneVsRestClassifier(LogisticRegression(max_iter=1000))),
        "one-vs-rest logistic regression with our thresholds",
    ),
    "ML_LS": Method(_paper_subspace, "shared subspace in the papers' setting"),
    "SVM": Method(
        _paper_tuned_svm, "linear SVM in the papers' setting, C of each label by 5 folds"
    ),
    "SVM_C": Method(_paper_svm, "linear SVM in the papers' setting, C = 1"),
    "CCA+Ridge": Method(_paper_cca_ridge, "CCA and ridge regression in the papers' setting"),
    "CCA+SVM": Method(_paper_cca_svm, "CCA and a linear SVM in the papers' setting"),
    "ASO_SVM": Method(_paper_aso, "ASO with hinge loss in the papers' setting, alpha by 5 folds"),
    "SVMperf": Method(
        lambda: ThresholdedClassifier(SVMPerfClassifier("f1"), strategy="f1", cv=None),
        "SVM-perf for F1 in the papers' setting, C = 5000",
    ),
    "LDA+SVM": Method(lambda: _han_projection(LDA()), "LDA and a linear SVM, tuned for AUC"),
    "HSML": Method(
        lambda: _han_projection(HypergraphSpectral()),
        "hypergraph spectral learning and a linear SVM, tuned for AUC",
    ),
    "MtSDA(I)": Method(lambda: _han_mtsda((0.0,)), "MtSDA in its paper's setting, Omega = I"),
    "MtSDA(Delta)": Method(
        lambda: _han_mtsda((0.5, 0.2, 0.1)), "the same with equicorrelation, rho tuned"
    ),
    "mtsda": Method(MtSDACV, "sparse discriminant analysis, tuned with its thresholds"),
    "kgha": Method(
        lambda: ThresholdedClassifier(KGHA()),
        "kernel generalised homogeneity analysis with our thresholds",
    ),
    "MLkNN": Method(MLkNN, "nearest neighbours, label by label"),
    "MDDM+MLkNN": Method(
        lambda: make_pipeline(MDDM(), MLkNN()), "nearest neighbours where features tell labels"
    ),
    **_view_methods(),
    **{name: Method(*parts) for name, parts in PROJECTION_METHODS.items()},
}


def make(
    name: str,
    parameters: Mapping[str, Any] | None = None,
    grid: Mapping[str, Any] | None = None,
    scoring: str | None = None,
) -> Any:
    """Make a method of the catalogue, with other parameters or a grid to tune over.

    Parameters that are given are no longer tuned by a method's own grid. An empty grid leaves a
    method untuned; ``scoring`` is the metric that a grid is searched by, that of the method if
    None.

    Examples
    --------
    >>> from eigenlabel.catalogue import make
    >>> make("ridge", {"cv": 3}).cv
    3
    """
    if name not in METHODS:
        close = get_close_matches(name, METHODS, n=3, cutoff=0.4) or METHODS
        raise ValueError(f"No method {name!r}; perhaps: {', '.join(close)}.")
    method = METHODS[name]
    parameters = parameters or {}
    made = _hold(configure(method.make(), parameters), parameters)
    chosen = _without(method.grid, parameters) if grid is None else grid
    return search(made, chosen, scoring or method.scoring, method.folds) if chosen else made


def _without(grid: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: values for name, values in grid.items() if name not in parameters}


def _hold(made: Any, parameters: Mapping[str, Any]) -> Any:
    """Take parameters that were set inside a search out of its grid."""
    if not isinstance(made, GridSearchCV) or "param_grid" in parameters:
        return made
    inside = {name.removeprefix("estimator__"): value for name, value in parameters.items()}
    grid = _without(made.param_grid, inside)
    return made.set_params(param_grid=grid) if grid else made.estimator


def configure(
    estimator: Any,
    parameters: Mapping[str, Any] | None = None,
    grid: Mapping[str, Any] | None = None,
    scoring: str | None = None,
) -> Any:
    """Give a clone of an estimator with other parameters, tuned over a grid if one is given."""
    made = clone(estimator).set_params(**(parameters or {}))
    return search(made, grid, scoring or Method.scoring) if grid else made


def with_views(model: Any, views: Mapping[str, slice]) -> Any:
    """Tell a model that takes views of one matrix, or the one inside it, where they are."""
    parameters = model.get_params()
    asked = [k for k in parameters if k.rpartition("__")[2] == "views" and parameters[k] is None]
    if not views or not asked:
        return model
    return model.set_params(**{min(asked, key=len): dict(views)})  # the outermost one


def chosen_parameters(model: Any) -> dict[str, Any]:
    """Give the parameters that a fitted model chose for itself, wherever in it they were chosen."""
    found: dict[str, Any] = {}
    parts = [getattr(model, name, None) for name in ("estimator_", "best_estimator_")]
    parts += [step for _, step in getattr(model, "steps", ())]
    for part in parts:
        if part is not None and not isinstance(part, str):
            found |= chosen_parameters(part)
    best = getattr(model, "best_params_", {})
    if isinstance(best, list):  # by label
        names = dict.fromkeys(name for one in best for name in one)
        best = {name: [one.get(name) for one in best] for name in names}
    return found | dict(best)
