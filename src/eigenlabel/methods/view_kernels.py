"""The kernel of each view: columns or tables in, kernels with settled parameters out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics.pairwise import KERNEL_PARAMS

from eigenlabel.methods.kernels import Kernel, check_kernel, make_kernel
from eigenlabel.methods.views import Views, ViewsMixin, per_view

LINEAR = Kernel("linear")


def as_float(table: Any) -> Any:
    """Give a table in float64: differences of float32 kernel values would be rounding."""
    return table.astype(float, copy=False)


@dataclass
class FittedView:
    """What prediction needs of one view.

    Attributes
    ----------
    kernel : with its parameters settled
    width : number of columns in fit
    transformer : fitted, or None
    features : the fitted transformer that stands for the kernel, or None
    X : training samples, None if the kernel is linear or precomputed
    columns : those of the training samples in a precomputed kernel, else None
    coef : (samples, p) dual coefficients, or (features, p) weights
    intercept : (p,)
    """

    kernel: Kernel
    width: int
    transformer: Any = None
    features: Any = None
    X: Any = None
    columns: np.ndarray | None = None
    coef: np.ndarray | None = None
    intercept: np.ndarray | None = None

    @property
    def sample_kernel(self) -> Kernel:
        """The kernel of samples as ``prepare`` gives them."""
        return self.kernel if self.features is None else LINEAR

    def prepare(self, table: Any, name: str) -> Any:
        """Select, transform and map a table's columns as in fit."""
        if table.shape[1] != self.width:
            raise ValueError(
                f"View {name!r} has {table.shape[1]} columns, but {self.width} in fit."
            )
        if self.columns is not None:
            table = as_float(table[:, self.columns])
            if not np.isfinite(table).all():
                raise ValueError(
                    f"The kernel of view {name!r} has NaN between samples that are there."
                )
            return table
        if self.transformer is not None:
            table = self.transformer.transform(table)
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
        transformers = self._transformers()
        for name in names:
            check_kernel(given["kernel"][name], given["gamma"][name], self.degree, self.coef0)
        self.views_, found, types = {}, [], set()
        for name, table, here in self._tables(views):
            if not here.any():
                raise ValueError(f"View {name!r} is missing for every sample: leave it out.")
            types.add(np.dtype(table.dtype))
            choice = {what: given[what][name] for what in given}
            settle = self._precomputed if _is_precomputed(choice["kernel"]) else self._settle
            self.views_[name], samples = settle(
                name, table, views.rows[here], choice, transformers.get(name)
            )
            found.append((name, samples, np.flatnonzero(here)))
        self._dtype = np.dtype(np.float32 if types == {np.dtype(np.float32)} else np.float64)
        return found

    def _precomputed(
        self, name: str, table: Any, rows: np.ndarray, given: dict[str, Any], transformer: Any
    ) -> tuple[FittedView, Any]:
        if transformer is not None or given["approximation"] is not None:
            raise ValueError(
                f"View {name!r} is a precomputed kernel: it takes neither transformers nor "
                "approximation."
            )
        if rows.max() >= table.shape[1]:
            raise ValueError(
                f"The kernel of view {name!r} has {table.shape[1]} columns for {rows.max() + 1} "
                "samples: it must be square in fit. To cross-validate pass eigenlabel.Views, which "
                "keeps track of rows and columns."
            )
        fitted = FittedView(Kernel("precomputed"), table.shape[1], columns=rows)
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
        kernel = make_kernel(given["kernel"], table, given["gamma"], self.degree, self.coef0)
        fitted = FittedView(kernel, width, transformer)
        if kernel.linear:
            return fitted, table
        table = as_float(table)
        if given["approximation"] is None:
            fitted.X = table
            return fitted, table
        fitted.features = _approximation(given["approximation"], kernel, name)
        return fitted, np.asarray(fitted.features.fit_transform(table))

    def _transformers(self) -> dict[str, Any]:
        """Give a fresh transformer for each view that has one."""
        if not isinstance(self.transformers, Mapping):
            given = dict.fromkeys(self.view_names_, self.transformers)
        else:
            given = dict(self.transformers)
            strange = sorted(set(given) - set(self.view_names_))
            if strange:
                raise ValueError(
                    f"transformers has {strange[0]!r}; views are {list(self.view_names_)}."
                )
        return {name: clone(t) for name, t in given.items() if t is not None}


def _approximation(transformer: Any, kernel: Kernel, view: str) -> Any:
    """Give a fresh feature map with the view's kernel."""
    known = transformer.get_params() if hasattr(transformer, "get_params") else {}
    if "kernel" not in known or not hasattr(transformer, "transform"):
        raise TypeError(
            f"approximation of view {view!r} must be None or a transformer with a parameter "
            f"kernel, such as sklearn.kernel_approximation.Nystroem, got {transformer!r}."
        )
    if callable(kernel.name) or kernel.name == "intersection":
        return clone(transformer).set_params(kernel=kernel)
    own = KERNEL_PARAMS[kernel.name]
    settled = {what: getattr(kernel, what) for what in ("gamma", "degree", "coef0") if what in own}
    return clone(transformer).set_params(kernel=kernel.name, **settled)


def _is_precomputed(kernel: Any) -> bool:
    return isinstance(kernel, str) and kernel == "precomputed"
