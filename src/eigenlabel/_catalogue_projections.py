"""The methods that Zhang and Zhou (TKDD 2010) compare: projections and classifiers behind them."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.validation import check_is_fitted

from eigenlabel._catalogue_search import LastFits, search
from eigenlabel.estimators.neighbours.mlknn import MLkNN
from eigenlabel.estimators.projection.spectral import LPP, MLSI, PCA, PLS, DiscriminativeSelector
from eigenlabel.estimators.projection.supervised import CCA, MDDM
from eigenlabel.inputs.fitting import TransformerMixin, all_or_nothing


class AtDimensionOfMDDM(TransformerMixin, BaseEstimator):
    """A projection to as many dimensions as MDDM needs for 99.9% of the dependence.

    Zhang and Zhou (TKDD 2010) compare all methods at this dimension; MDDM has the kernel of the
    projection, if that has one.
    """

    def __init__(self, projection: Any, parameter: str = "n_components") -> None:
        self.projection = projection
        self.parameter = parameter

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "AtDimensionOfMDDM":
        """Find the dimension, then the projection."""
        kernel = {
            name: value
            for name, value in self.projection.get_params().items()
            if name in ("kernel", "gamma")
        }
        self.dimension_ = max(1, MDDM(**kernel).fit(X, y).n_components_)
        chosen = clone(self.projection).set_params(**{self.parameter: self.dimension_})
        self.projection_ = chosen.fit(X, y)
        return self

    def transform(self, X: Any) -> Any:
        """Project samples."""
        check_is_fitted(self)
        return self.projection_.transform(X)


# The widths 10^-1 to 10 of every Gaussian kernel in the paper, and C of every SVM.
GAMMAS = 1 / (2 * (10.0 ** np.arange(-1, 1.5, 0.5)) ** 2)
COSTS = 10.0 ** np.arange(-2, 3)


class OnGaussianKernel(TransformerMixin, BaseEstimator):
    """Gaussian kernel values with the training samples, behind a projection of the same width.

    One matrix serves the SVMs of all labels.
    """

    def __init__(self, projection: Any = None, gamma: float = 0.5) -> None:
        self.projection = projection
        self.gamma = gamma

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "OnGaussianKernel":
        """Fit the projection and keep the training samples in it."""
        self.projection_ = None
        if self.projection is not None:
            made = clone(self.projection)
            names = [n for n in made.get_params() if n.rpartition("__")[2] == "gamma"]
            self.projection_ = made.set_params(**dict.fromkeys(names, self.gamma)).fit(X, y)
        self.training_ = self._project(X)
        return self

    def _project(self, X: Any) -> Any:
        return X if self.projection_ is None else self.projection_.transform(X)

    def transform(self, X: Any) -> np.ndarray:
        """Give the kernel values of samples with the training samples."""
        check_is_fitted(self)
        return rbf_kernel(self._project(X), self.training_, self.gamma)


def zhang_classifier(base: str) -> Any:
    """Make ML-kNN, or tune linear SVMs that decide at zero, as Zhang and Zhou seem to do."""
    if base == "MLkNN":
        return MLkNN()
    return search(OneVsRestClassifier(LinearSVC()), {"estimator__C": COSTS}, "f1_micro")


_ZHANG_PROJECTIONS = {
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


def zhang_projection(name: str) -> Any:
    """Give a projection that Zhang and Zhou (TKDD 2010) compare, by its name there."""
    return clone(_ZHANG_PROJECTIONS[name])


def _zhang_svm(projection: Any, labels: dict[str, Any]) -> Any:
    """Make SVMs with Gaussian kernels; the paper speaks of one width for projection and SVM."""
    svm = OneVsRestClassifier(SVC(kernel="precomputed"))
    steps = [("kernel", OnGaussianKernel(projection)), ("svm", svm)]
    inside = {f"kernel__{name}": values for name, values in labels.items()}
    grid = inside | {"kernel__gamma": GAMMAS, "svm__estimator__C": COSTS}
    return search(Pipeline(steps, memory=LastFits()), grid, "f1_micro")


def _zhang_method(name: str, base: str, kernel: str) -> Any:
    """Make a projection and its classifier; widths of Gaussian kernels are tuned by 5 folds.

    MLSI, LPP and SEL, and ML-kNN on the original features, have no kernel in the paper.
    """
    projection, width = None, {}
    labels = {"projection__label_gamma": GAMMAS} if name.endswith("^k") else {}
    if name != "ORI":
        projection = zhang_projection(name)
        own = isinstance(projection, MDDM)  # has its dimension from itself
        if kernel == "rbf" and name not in ("MLSI", "LPP", "SEL"):
            projection.set_params(kernel="rbf")
            width = {f"projection__{'' if own else 'projection__'}gamma": GAMMAS}
        if not own:
            parameter = "n_features_to_select" if name == "SEL" else "n_components"
            projection = AtDimensionOfMDDM(projection, parameter)
    if base == "SVM" and kernel == "rbf":
        return _zhang_svm(projection, labels)
    if projection is None:
        return zhang_classifier(base)
    model = Pipeline([("projection", projection), ("classifier", zhang_classifier(base))])
    grid = width | labels
    return search(model, grid, "average_precision") if grid else model


def _named_methods() -> dict[str, tuple[Callable[[], Any], str]]:
    """List the methods of the paper, with linear and with Gaussian kernels."""
    found: dict[str, tuple[Callable[[], Any], str]] = {}
    for base, kernel, name in product(
        ("MLkNN", "SVM"), ("linear", "rbf"), (*_ZHANG_PROJECTIONS, "ORI")
    ):
        suffix = "-rbf" if kernel == "rbf" else ""
        found[f"mddm:{name}+{base}{suffix}"] = (
            partial(_zhang_method, name, base, kernel),
            f"{name} and {base}, {kernel} kernels, in the setting of Zhang and Zhou",
        )
    return found


PROJECTION_METHODS = _named_methods()
