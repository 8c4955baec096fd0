"""Kernels of several bandwidths that share their distances, or inner products, on some samples."""

from collections.abc import Collection
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from eigenlabel.inputs.parameters import Maybe, Number
from eigenlabel.kernels.kernel import Kernel
from eigenlabel.linalg._types import Floats


@dataclass(frozen=True)
class SharedKernel(Kernel):
    """A kernel that remembers the argument of its function for all pairs of some samples.

    Kernel values of these samples take n^2 operations for each bandwidth, whatever the number of
    features. Those of other samples are computed from their features.

    Attributes
    ----------
    samples : (n_samples, n_features) array or sparse matrix
        The samples, which are recognised by identity.
    shared : (n_samples, n_samples) array
        The argument, see :meth:`Kernel.argument`.
    """

    samples: Any = field(default=None, compare=False, repr=False)
    shared: Floats | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, kernel: Kernel, samples: Any) -> "SharedKernel":
        """Return a kernel that remembers the argument for all pairs of samples; n^2 numbers."""
        own = {f.name: getattr(kernel, f.name) for f in fields(Kernel)}
        return cls(**own, samples=samples, shared=kernel.argument(samples, samples))

    def __call__(self, X: Any, Z: Any) -> Floats:
        """Return the kernel matrix (rows of X, rows of Z), or the kernel of two vectors."""
        if self.shared is None or X is not self.samples or Z is not self.samples:
            return super().__call__(X, Z)
        return self.evaluate(self.shared, X.shape[1]).astype(X.dtype, copy=False)


def is_list(gamma: Any) -> bool:
    """Return True if several bandwidths are passed."""
    return isinstance(gamma, Collection) and not isinstance(gamma, (str, bytes))


def check_bandwidths(kernel: Kernel, gammas: Collection[float | None]) -> list[float | None]:
    """Check a list of bandwidths, in which None is the rule of the kernel, and return it."""
    given = gammas.tolist() if isinstance(gammas, np.ndarray) else list(gammas)
    if not isinstance(given, list) or not given:
        raise ValueError("gamma is an empty list: pass at least one bandwidth, or None.")
    if not kernel.has_bandwidth:
        raise ValueError(
            f"gamma is a list, but kernel={kernel.name!r} has no bandwidth: pass gamma=None, or "
            "kernel='rbf'."
        )
    for gamma in given:
        Maybe(Number(0)).check("gamma", gamma)
    return given


def settle_bandwidths(
    kernel: Kernel, gammas: Collection[float | None], X: Any, weights: Floats | None = None
) -> list[float]:
    """Return the values of a list of bandwidths for training samples.

    None is replaced by the rule of the kernel, see :meth:`Kernel.settle`.
    """
    given = check_bandwidths(kernel, gammas)
    settled = [replace(kernel, gamma=gamma).settle(X, weights).gamma for gamma in given]
    return [float(gamma) for gamma in settled if gamma is not None]
