"""The kernel of each view: columns or tables become kernels with settled parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics.pairwise import KERNEL_PARAMS

from eigenlabel.estimators.views.tables import (
    VIEW_PARAMETERS,
    FittedTable,
    as_float,
    check_pairs,
    fresh_transformers,
    view_tags,
)
from eigenlabel.inputs.parameters import ByView, Choice, Declaration
from eigenlabel.inputs.views import Part, per_view
from eigenlabel.kernels.kernel import HISTOGRAMS, KERNEL_PARAMETERS, Kernel
from eigenlabel.kernels.meka import MEKA
from eigenlabel.linalg._types import Ints

LINEAR = Kernel("linear")
APPROXIMATIONS = {"nystrom": 1, "meka": 10}  # MEKA with this number of blocks

# What an estimator with a kernel for each view declares.
VIEW_KERNEL_PARAMETERS: Mapping[str, Declaration] = {
    "kernel": ByView(KERNEL_PARAMETERS["kernel"]),
    "gamma": ByView(KERNEL_PARAMETERS["gamma"]),
    "degree": KERNEL_PARAMETERS["degree"],
    "coef0": KERNEL_PARAMETERS["coef0"],
    **VIEW_PARAMETERS,
}


@dataclass
class KernelView(FittedTable):
    """What kernel values of new samples need of one view.

    ``X`` is None if new samples are not compared with training samples: if the kernel is linear
    (unless the model asks for them), precomputed, or replaced by features.

    Attributes
    ----------
    kernel : Kernel
        The kernel, with its parameters settled.
    features : transformer or None
        The fitted map to features that replace the kernel.
    """

    kernel: Kernel = LINEAR
    features: Any = None

    @property
    def sample_kernel(self) -> Kernel:
        """The kernel of prepared samples: linear if they are features."""
        return self.kernel if self.features is None else LINEAR

    def prepare(self, part: Part) -> Any:
        """Select, transform and map the columns of a table as in fit."""
        table = super().prepare(part)
        if self.features is not None:
            table = np.asarray(self.features.transform(as_float(table)))
        return table


@dataclass(frozen=True)
class TrainingView:
    """The training samples of one view: ``kernel(samples, samples)`` is their kernel matrix.

    Attributes
    ----------
    name : str
        The name of the view.
    rows : (n_view_samples,) array of int
        The samples that the view has.
    kernel : Kernel
        The kernel of the prepared samples.
    samples : array or sparse matrix
        The prepared samples.
    """

    name: str
    rows: Ints
    kernel: Kernel
    samples: Any

    @property
    def linear(self) -> bool:
        """Whether the kernel is the inner product of the samples."""
        return self.kernel.linear


@dataclass(frozen=True)
class KernelSettings:
    """The parameters of an estimator that concern the kernels of its views.

    Attributes
    ----------
    kernel : str, callable, mapping or sequence
        The kernel of each view.
    gamma : float, None, mapping or sequence
        The bandwidth of each view.
    degree : float
        The power of "poly".
    coef0 : float
        The constant of "poly" and "sigmoid".
    transformers : transformer, mapping or None
        What is fitted to the samples of each view before its kernel.
    approximation : str, transformer, None, mapping or sequence
        What replaces the kernel of each view by features.
    random_state : int, RandomState or None
        The seed of a named approximation.
    """

    kernel: Any
    gamma: Any
    degree: float
    coef0: float
    transformers: Any
    approximation: Any = None
    random_state: Any = None


def fit_kernels(
    parts: Sequence[Part], settings: KernelSettings, *, keep_samples: bool = False
) -> tuple[dict[str, KernelView], list[TrainingView]]:
    """Fit the transformers and settle the kernel of each view.

    Parameters
    ----------
    parts : sequence of Part
        The training samples of each view.
    settings : KernelSettings
        The parameters of the estimator.
    keep_samples : bool
        Whether training samples are kept for a linear kernel too.
    """
    names = [part.name for part in parts]
    kernels, gammas, maps = (
        per_view(what, getattr(settings, what), names)
        for what in ("kernel", "gamma", "approximation")
    )
    transformers = fresh_transformers(settings.transformers, names)
    views, training = {}, []
    for part, name in zip(parts, names, strict=True):
        transformer = transformers.get(name)
        kernel = Kernel(kernels[name], gammas[name], settings.degree, settings.coef0)
        if kernel.precomputed:
            check_pairs("kernel", part, maps[name] if transformer is None else transformer)
            view = KernelView(part.table.shape[1], columns=part.source, kernel=kernel)
            samples = view.prepare(part)
        else:
            samples = part.table if transformer is None else transformer.fit_transform(part.table)
            view = KernelView(part.table.shape[1], transformer, kernel=kernel.settle(samples))
            samples = _compare(view, samples, name, maps[name], settings.random_state)
            if keep_samples:
                view.X = as_float(samples)
        views[name] = view
        training.append(TrainingView(name, part.rows, view.sample_kernel, samples))
    return views, training


def _compare(view: KernelView, samples: Any, name: str, chosen: Any, random_state: Any) -> Any:
    """Set what new samples are compared with, and return the training samples or their features.

    A linear kernel needs neither; an approximation is a map to features.
    """
    if view.kernel.linear:
        return samples
    samples = as_float(samples)
    if chosen is None:
        view.X = samples
        return samples
    if isinstance(chosen, str):
        Choice(*APPROXIMATIONS).check("approximation", chosen)
        chosen = MEKA(n_blocks=APPROXIMATIONS[chosen], random_state=random_state)
    view.features = _with_kernel(chosen, view.kernel, name)
    return np.asarray(view.features.fit_transform(samples))


def _with_kernel(transformer: Any, kernel: Kernel, view: str) -> Any:
    """Return an unfitted copy of a feature map that has the kernel of the view."""
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


def view_kernel_tags(tags: Any, columns: Any, kernel: Any) -> Any:
    """Set the tags of an estimator that depend on the kernels of its views, and return them."""
    return view_tags(tags, columns, kernel, HISTOGRAMS, dense=("chi2",))
