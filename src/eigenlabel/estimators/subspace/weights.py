"""The weights of a fitted model: they turn samples into scores and into the shared subspace.

Weights are *full*, one column for each label, or *factored*: a basis of the shared subspace and the
weights of the labels in it, which is what many labels need. Both apply to the features of samples
(:class:`Linear`) or to their kernel values with the training samples (:class:`Dual`).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from eigenlabel.kernels.kernel import Kernel
from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.memory import readable


class Map(Protocol):
    """A linear map of samples, or of their kernel values with the training samples.

    Attributes
    ----------
    linear : bool
        Whether the map applies to features.
    array : ndarray
        The coefficients, in the form of the public attributes: (k, d) of features, (n, k) of
        training samples.
    """

    linear: ClassVar[bool]

    @property
    def array(self) -> Floats:
        """The coefficients of the map."""
        ...

    @property
    def size(self) -> int:
        """The number of features or training samples."""
        ...

    @property
    def samples(self) -> Any:
        """The training samples, or None if the map applies to features."""
        ...

    def product(self, X: Any) -> Floats:
        """Return the images (n_samples, k) of samples."""
        ...

    def combine(self, V: Floats) -> Floats:
        """Return the coefficients of the map followed by V (k, m)."""
        ...


@dataclass(frozen=True)
class Linear:
    """A map of features, ``x -> C x`` with C (k, d)."""

    linear: ClassVar[bool] = True
    samples: ClassVar[None] = None
    array: Floats

    @property
    def size(self) -> int:
        """The number of features."""
        return int(self.array.shape[1])

    def product(self, X: Any) -> Floats:
        """Return ``X C'``."""
        return np.asarray(X @ self.array.T)

    def combine(self, V: Floats) -> Floats:
        """Return ``V'C``, (m, d)."""
        return np.asarray(V.T @ self.array)


@dataclass(frozen=True)
class Dual:
    """A map of kernel values, ``x -> C'k(x)`` with C (n, k) and n training samples."""

    linear: ClassVar[bool] = False
    array: Floats
    kernel: Kernel
    samples: Any

    @property
    def size(self) -> int:
        """The number of training samples."""
        return len(self.array)

    def product(self, X: Any) -> Floats:
        """Return ``K C`` with the kernel matrix K of X and the training samples."""
        return self.kernel.product(X, self.samples, self.array)

    def combine(self, V: Floats) -> Floats:
        """Return ``C V``, (n, m)."""
        return np.asarray(self.array @ V)


@dataclass(frozen=True)
class Domain:
    """What weights apply to: features, or kernel values with training samples.

    Attributes
    ----------
    kernel : Kernel
        The kernel, with its bandwidth settled.
    dtype : dtype
        The precision of the samples, and of the weights.
    X : (n, d) array or sparse matrix, or None
        The training samples. A linear kernel does not need them.
    """

    kernel: Kernel
    dtype: Any
    X: Any = None

    def map(self, exported: Floats) -> Map:
        """Return the map of the weights (d, k) or dual coefficients (n, k) of a factor."""
        if self.kernel.linear:
            return Linear(exported.T.astype(self.dtype, copy=False))
        return Dual(exported.astype(self.dtype, copy=False), self.kernel, self.X)


@dataclass(frozen=True)
class Weights(ABC):
    """How samples become scores, and points of the shared subspace.

    Attributes
    ----------
    intercept : (m,) array
        The score of each label at the origin.
    subspace : Map
        The map to the shared subspace, Theta.
    offset : (k,) array
        The image of the mean of the training samples in the shared subspace.
    """

    intercept: Floats
    subspace: Map
    offset: Floats

    @property
    def label_weights(self) -> Floats | None:
        """The weights V (k, m) of the labels in the shared subspace; None if weights are full."""
        return None

    @abstractmethod
    def scores(self, X: Any) -> Floats:
        """Return the scores (n_samples, m) of all labels."""

    @abstractmethod
    def full(self, limit: float) -> Floats:
        """Return one row (linear) or column (dual) of coefficients for each label.

        MemoryError is raised if they are not stored and need more than ``limit`` bytes.
        """

    def embed(self, X: Any) -> Floats:
        """Return the samples (n_samples, k) in the shared subspace, about the mean."""
        embedded = self.subspace.product(X) - self.offset
        return embedded.astype(self.intercept.dtype, copy=False)

    def check_size(self, what: str, rows: int, limit: float, advice: str) -> None:
        """Raise MemoryError if an array of ``rows`` rows for each label needs too much memory."""
        m = len(self.intercept)
        needed = float(self.intercept.itemsize) * rows * m
        if needed > limit:
            raise MemoryError(
                f"{what} {rows} x {m} numbers would take {readable(needed)}, max_memory is "
                f"{readable(limit)}: {advice}."
            )


@dataclass(frozen=True)
class Full(Weights):
    """Weights with one column for each label."""

    labels: Map

    def scores(self, X: Any) -> Floats:
        """Return the scores (n_samples, m) of all labels."""
        scores = self.labels.product(X) + self.intercept
        return scores.astype(self.intercept.dtype, copy=False)

    def full(self, limit: float) -> Floats:  # noqa: ARG002
        """Return the coefficients, which are stored."""
        return self.labels.array


@dataclass(frozen=True)
class Factored(Weights):
    """Weights as two factors: ``U = Theta'V``, with Theta the map to the shared subspace.

    Attributes
    ----------
    V : (k, m) array
        The weights of the labels in the shared subspace.
    """

    V: Floats

    @property
    def label_weights(self) -> Floats:
        """The weights V of the labels in the shared subspace."""
        return self.V

    def scores(self, X: Any) -> Floats:
        """Return the scores (n_samples, m) of all labels."""
        scores = self.subspace.product(X) @ self.V + self.intercept
        return scores.astype(self.intercept.dtype, copy=False)

    def full(self, limit: float) -> Floats:
        """Multiply the two factors; MemoryError is raised if the product does not fit."""
        prefix = "" if self.subspace.linear else "dual_"
        advice = f"{prefix}components_ and label_weights_ are its factors"
        self.check_size(f"{prefix}coef_ of", self.subspace.size, limit, advice)
        return self.subspace.combine(self.V)
