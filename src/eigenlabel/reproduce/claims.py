"""What the KGHA paper claims of its own method, tried on data with views that can be had."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from eigenlabel.estimators.agreement.kgha import KGHA
from eigenlabel.experiment import Data, Method, Splits
from eigenlabel.inputs.fitting import all_or_nothing
from eigenlabel.reproduce.curves import Curves, Point

SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)


class ViewChoice(ClassifierMixin, BaseEstimator):
    """An estimator on some of the views: one by its position, or all as one ("joined").

    The runner sets ``views`` to those of the data set.
    """

    def __init__(self, estimator: Any, which: int | str, views: Any = None) -> None:
        self.estimator = estimator
        self.which = which
        self.views = views

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> "ViewChoice":
        """Fit to the chosen columns."""
        slices = list(self.views.values())
        kept = slices if self.which == "joined" else [slices[self.which]]
        self.columns_ = np.concatenate([np.arange(X.shape[1])[s] for s in kept])
        self.estimator_ = clone(self.estimator).fit(X[:, self.columns_], y)
        return self

    def decision_function(self, X: Any) -> Any:
        """Give the scores of the chosen columns."""
        check_is_fitted(self)
        return self.estimator_.decision_function(X[:, self.columns_])

    def predict(self, X: Any) -> Any:
        """Give the label sets of the chosen columns."""
        check_is_fitted(self)
        return self.estimator_.predict(X[:, self.columns_])


def _points() -> dict[Point, Method]:
    points = {}
    for trade_off in (0.0, 0.1, 1.0):
        for share in SHARES:
            name = f"lambda {trade_off:g}"
            model = KGHA(share, trade_off=trade_off, random_state=0)
            points[name, f"{share:g}"] = Method(f"{name}, p/m {share:g}", model)
    alone = KGHA(0.5, random_state=0)
    for name, which in (("first view", 0), ("last view", -1), ("joined", "joined")):
        points[name, "0.5"] = Method(name, ViewChoice(alone, which))
    return points


def _claims(name: str, data: dict[str, tuple[Data, ...]], splits: Splits, note: str) -> Curves:
    return Curves(
        name,
        "Xiong, Szedmak, Piater: is p/m = 0.5 best, do co-regularisation and several views help?",
        *("p/m", "average_precision", _points(), data, splits),
        ("The paper's own data cannot be had.", note),
        reference=("lambda 0.1", "0.5"),
    )


CLAIMS = (
    _claims(
        "kgha-claims",
        {
            name: (Data(name, f"multiview/{name}_views.mat", prepare="standard"),)
            for name in ("emotions", "yeast")
        },
        Splits("shuffle", 10),
        "Ten stratified splits of two thirds for training; features scaled to unit deviation.",
    ),
    _claims(
        "kgha-claims-debtags",
        {"debtags": (Data("debtags", "debtags", {}, 300, 20, "none"),)},
        Splits("shuffle", 10, 0.05),
        "Ten stratified splits of a twentieth for training, tags of 300 packages and more.",
    ),
)
