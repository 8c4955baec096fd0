"""The hat matrix of each view: what ridge regression on it predicts of any scores."""

from typing import Any

from eigenlabel.estimators.views.kernels import ViewKernelsMixin
from eigenlabel.estimators.views.weights import TrainingView
from eigenlabel.inputs.validation import check_number, check_scale
from eigenlabel.inputs.views import Views, per_view
from eigenlabel.kernels.gram import gram_matrix
from eigenlabel.kernels.kernel import Kernel
from eigenlabel.linalg.hats import (
    CholeskySystem,
    Hat,
    KernelHat,
    LinearHat,
    WideHat,
    centred_kernel,
)
from eigenlabel.linalg.operators import CentredOperator


class ViewHatsMixin(ViewKernelsMixin):
    """Settle a kernel and its ridge regression per view.

    Expects the parameters ridge and repair, the attribute fit_intercept, and those of
    :class:`ViewKernelsMixin`.
    """

    def _fit_views(self, views: Views) -> list[TrainingView]:
        """Settle each view's kernel and give its hat matrix with the rows it is of."""
        ridge = per_view("ridge", self.ridge, self.view_names_)
        for value in ridge.values():
            check_number("ridge", value, 0)
        found = []
        for name, samples, rows in self._settle_views(views):
            kernel = self.views_[name].sample_kernel
            hat = self._hat(kernel, samples, ridge[name], f"view {name!r}")
            found.append(TrainingView(rows, kernel, samples, hat))
        return found

    def _hat(self, kernel: Kernel, X: Any, ridge: float, where: str) -> Hat:
        if kernel.linear:
            check_scale(X)
            operator = CentredOperator(X, centre=self.fit_intercept)
            make = LinearHat if X.shape[1] < X.shape[0] else WideHat
            return make(operator, ridge, self.fit_intercept)
        gram = gram_matrix(kernel, X, f"kernel matrix of {where}", where, repair=self.repair)
        K, kept = gram.K, gram.positive
        if not self.fit_intercept:
            return KernelHat(CholeskySystem(K), ridge, False, positive=kept)
        factor, row_mean = centred_kernel(K)
        return KernelHat(factor, ridge, True, row_mean, kept)
