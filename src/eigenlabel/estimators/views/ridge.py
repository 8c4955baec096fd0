"""Ridge regression on each view: hat matrices in fit, coefficients for new samples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenlabel.estimators.views.kernels import KernelView, TrainingView
from eigenlabel.estimators.views.tables import as_float
from eigenlabel.inputs.data import check_scale
from eigenlabel.inputs.views import Part, per_view
from eigenlabel.kernels.gram import gram_matrix
from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.hats import (
    CholeskySystem,
    Hat,
    KernelHat,
    LinearHat,
    WideHat,
    centred_kernel,
)
from eigenlabel.linalg.operators import CentredOperator


@dataclass(kw_only=True)
class RidgeView(KernelView):
    """What predictions of ridge regression on one view need.

    Attributes
    ----------
    coef : (n_view_samples, p) or (n_features, p) array
        The dual coefficients of a kernel, or the weights of the features.
    intercept : (p,) array
        The intercepts.
    """

    coef: Floats
    intercept: Floats

    def embed(self, part: Part) -> Floats:
        """Return the scores (n, p) that this view predicts."""
        table = self.prepare(part)
        if self.X is not None:
            return self.kernel.product(as_float(table), self.X, self.coef) + self.intercept
        return np.asarray(table @ self.coef + self.intercept)


def ridge_hats(
    training: Sequence[TrainingView], ridge: Any, *, centre: bool, repair: bool
) -> list[Hat]:
    """Return the hat matrix of ridge regression on each view.

    Parameters
    ----------
    training : sequence of TrainingView
        The training samples.
    ridge : float, mapping or sequence
        The penalty of each view.
    centre : bool
        Whether the regressions have an intercept.
    repair : bool
        Whether the negative part of an indefinite kernel matrix is left out.
    """
    penalties = per_view("ridge", ridge, [view.name for view in training])
    return [_hat(view, penalties[view.name], centre, repair) for view in training]


def _hat(view: TrainingView, ridge: float, centre: bool, repair: bool) -> Hat:
    if view.linear:
        check_scale(view.samples)
        operator = CentredOperator(view.samples, centre=centre)
        make = LinearHat if operator.shape[1] < operator.shape[0] else WideHat
        return make(operator, ridge, centre)
    where = f"view {view.name!r}"
    gram = gram_matrix(view.kernel, view.samples, f"kernel matrix of {where}", where, repair=repair)
    if not centre:
        return KernelHat(CholeskySystem(gram.K), ridge, False, positive=gram.positive)
    factor, row_mean = centred_kernel(gram.K)
    return KernelHat(factor, ridge, True, row_mean, gram.positive)


def ridge_views(
    views: Mapping[str, KernelView], hats: Sequence[Hat], targets: Sequence[Floats]
) -> dict[str, RidgeView]:
    """Return the views with the regression of the targets (n_view_samples, p) on each of them."""
    found = {}
    for (name, view), hat, B in zip(views.items(), hats, targets, strict=True):
        coef, intercept = hat.coefficients(B)
        found[name] = RidgeView(**vars(view), coef=coef, intercept=intercept)
    return found
