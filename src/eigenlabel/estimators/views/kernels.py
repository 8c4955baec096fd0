"""The kernel of each view: columns or tables in, kernels with settled parameters out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics.pairwise import KERNEL_PARAMS

from eigenlabel.inputs.validation import check_choice
from eigenlabel.inputs.views import (
    FittedTable,
    Views,
    ViewsMixin,
    as_float,
    is_precomputed,
    per_view,
)
from eigenlabel.kernels.kernel import HISTOGRAMS, KERNEL_PARAMETERS, Kernel
from eigenlabel.kernels.meka import MEKA

LINEAR = Kernel("linear")
APPROXIMATIONS = {"nystrom": {"n_blocks": 1}, "meka": {}}


@dataclass
class FittedView(FittedTable):
    """What prediction needs of one view.

    Attributes
    ----------
    kernel : with its parameters settled
    features : the fitted transformer that stands for the kernel, or None
    X : training samples, None if the kernel is linear or precomputed
    coef : (samples, p) dual coefficients, or (features, p) weights
    intercept : (p,)
    """

    kernel: Kernel = LINEAR
    features: Any = None
    coef: np.ndarray | None = None
    intercept: np.ndarray | None = None

    @property
    def sample_kernel(self) -> Kernel:
        """The kernel of samples as ``prepare`` gives them."""
        return self.kernel if self.features is None else LINEAR

    def prepare(self, table: Any, name: str) -> Any:
        """Select, transform and map a table's columns as in fit."""
        table = super().prepare(table, name)
        if self.features is not None:
            table = np.asarray(self.features.transform(as_float(table)))
        return table

    def embed(self, table: Any, name: str) -> np.ndarray:
        """Give the scores (n, p) that this view predicts."""
        table = self.prepare(table, name)
        if self.X is not None:
            return self.kernel.product(as_float(table), self.X, self.coef) + self.intercept
        return np.asarray(table @ self.coef) + self.intercept


class ViewKernelsMixin(ViewsMixin):
    """Settle a kernel per view.

    Expects the parameters kernel, gamma, degree, coef0, views, transformers, approximation.
    """

    def _settle_views(self, views: Views) -> list[tuple[str, Any, np.ndarray]]:
        """Fit ``views_``; list name, prepared samples and rows of what is there, view by view."""
        names = self.view_names_
        given = {
            what: per_view(what, getattr(self, what), names)
            for what in ("kernel", "gamma", "approximation")
        }
        transformers = self._fresh_transformers()
        for name in names:
            for what in ("kernel", "gamma"):
                KERNEL_PARAMETERS[what].check(what, given[what][name])
        for what in ("degree", "coef0"):
            KERNEL_PARAMETERS[what].check(what, getattr(self, what))
        self.views_, found = {}, []
        for name, table, here in self._training_tables(views):
            choice = {what: given[what][name] for what in given}
            settle = self._precomputed if is_precomputed(choice["kernel"]) else self._settle
            self.views_[name], samples = settle(
                name, table, views.rows[here], choice, transformers.get(name)
            )
            found.append((name, samples, np.flatnonzero(here)))
        return found

    def _precomputed(
        self, name: str, table: Any, rows: np.ndarray, given: dict[str, Any], transformer: Any
    ) -> tuple[FittedView, Any]:
        more = given["approximation"] if transformer is None else transformer
        self._check_pairs(name, table, rows, more)
        fitted = FittedView(table.shape[1], columns=rows, kernel=Kernel("precomputed"))
        return fitted, fitted.prepare(table, name)

    def _settle(
        self,
        name: str,
        table: Any,
        rows: np.ndarray,  # noqa: ARG002
        given: dict[str, Any],
        transformer: Any,
    ) -> tuple[FittedView, Any]:
        width = table.shape[1]
        if transformer is not None:
            table = transformer.fit_transform(table)
        kernel = Kernel(given["kernel"], given["gamma"], self.degree, self.coef0).settle(table)
        fitted = FittedView(width, transformer, kernel=kernel)
        if kernel.linear:
            return fitted, table
        table = as_float(table)
        if given["approximation"] is None:
            fitted.X = table
            return fitted, table
        chosen = given["approximation"]
        if isinstance(chosen, str):
            check_choice("approximation", chosen, tuple(APPROXIMATIONS))
            chosen = MEKA(**APPROXIMATIONS[chosen], random_state=self.random_state)
        fitted.features = _approximation(chosen, kernel, name)
        return fitted, np.asarray(fitted.features.fit_transform(table))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = self.kernel.values() if isinstance(self.kernel, Mapping) else [self.kernel]
        named = {kernel for kernel in given if isinstance(kernel, str)}
        tags.input_tags.pairwise = self._one_precomputed()
        tags.input_tags.positive_only = bool(named & set(HISTOGRAMS))
        tags.input_tags.sparse = "chi2" not in named
        tags.input_tags.allow_nan = self.views is not None
        return tags


def _approximation(transformer: Any, kernel: Kernel, view: str) -> Any:
    """Give a fresh feature map with the view's kernel."""
    known = transformer.get_params() if hasattr(transformer, "get_params") else {}
    if "kernel" not in known or not hasattr(transformer, "transform"):
        raise TypeError(
            f"approximation of view {view!r} must be None, 'nystrom', 'meka' or a transformer with "
            f"a parameter kernel, such as MEKA or scikit-learn's Nystroem, got {transformer!r}."
        )
    if callable(kernel.name) or kernel.name == "intersection":
        return clone(transformer).set_params(kernel=kernel)
    own = KERNEL_PARAMS[kernel.name]
    settled = {what: getattr(kernel, what) for what in ("gamma", "degree", "coef0") if what in own}
    return clone(transformer).set_params(kernel=kernel.name, **settled)
