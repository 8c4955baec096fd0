"""The weights of a fitted model: they turn samples into scores and into the shared subspace.

Weights are *full*, one column for each label, or *factored*: a basis of the shared subspace and the
weights of the labels in it, which is what many labels need. Both apply to the features of samples
(:class:`Linear`) or to their kernel values with the training samples (:class:`Dual`).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
import scipy.sparse as sp

from eigenlabel.kernels.kernel import Kernel
from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.machine import readable
from eigenlabel.linalg.numerics import BLOCK_BYTES, CACHE_NUMBERS, positive_qr
from eigenlabel.linalg.operators import consecutive_rows, row_blocks, sparse_product

LEAST_ROWS = 256  # of a piece, so that a product with all weights is not one with few vectors


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

    @property
    def ready(self) -> bool:
        """Whether the coefficients are there, so that reading them computes nothing."""
        ...

    def product(self, X: Any) -> Floats:
        """Return the images (n_samples, k) of samples."""
        ...

    def image(self, origin: Floats) -> Floats:
        """Return the image (k,) of the features, or kernel values, of one sample."""
        ...

    def combine(self, V: Floats) -> Floats:
        """Return the coefficients of the map followed by V (k, m)."""
        ...


@dataclass(frozen=True)
class Linear:
    """A map of features, ``x -> C x`` with C (k, d)."""

    linear: ClassVar[bool] = True
    ready: ClassVar[bool] = True
    samples: ClassVar[None] = None
    array: Floats

    @property
    def size(self) -> int:
        """The number of features."""
        return int(self.array.shape[1])

    def product(self, X: Any) -> Floats:
        """Return ``X C'``."""
        sparse = sp.issparse(X)
        return sparse_product(X, self.array.T) if sparse else np.asarray(X @ self.array.T)

    def image(self, origin: Floats) -> Floats:
        """Return ``C x`` of one sample."""
        return np.asarray(self.array @ origin)

    def combine(self, V: Floats) -> Floats:
        """Return ``V'C``, (m, d)."""
        return np.asarray(V.T @ self.array)


@dataclass(frozen=True)
class Spanned:
    """A map of features to an orthonormal basis of combinations of other weights.

    The QR decomposition of the combinations, d k^2 operations, takes longer than the fit if there
    are many labels. It is computed when it is first used.

    Attributes
    ----------
    weights : (m, d) array
        The weights.
    W : (m, k) array
        The combinations.
    """

    linear: ClassVar[bool] = True
    samples: ClassVar[None] = None
    weights: Floats
    W: Floats

    @cached_property
    def array(self) -> Floats:
        """The basis (k, d), with orthonormal rows."""
        return positive_qr(self.weights.T @ self.W)[0].T

    @property
    def ready(self) -> bool:
        """Whether the basis has been computed."""
        return "array" in vars(self)

    @property
    def size(self) -> int:
        """The number of features."""
        return int(self.weights.shape[1])

    def product(self, X: Any) -> Floats:
        """Return the coordinates of samples in the basis."""
        return Linear(self.array).product(X)

    def image(self, origin: Floats) -> Floats:
        """Return the coordinates of one sample in the basis."""
        return Linear(self.array).image(origin)

    def combine(self, V: Floats) -> Floats:
        """Return the weights (m, d) of combinations V of the coordinates."""
        return Linear(self.array).combine(V)


@dataclass(frozen=True)
class Dual:
    """A map of kernel values, ``x -> C'k(x)`` with C (n, k) and n training samples."""

    linear: ClassVar[bool] = False
    ready: ClassVar[bool] = True
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

    def image(self, origin: Floats) -> Floats:
        """Return ``C'k`` of the kernel values of one sample."""
        return np.asarray(origin @ self.array)

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

    def lazy_basis(self, weights: Floats, W: Floats) -> Map | None:
        """Return the map to the basis of ``weights W``, or None if it cannot wait.

        That of a kernel needs the metric of the training samples. Weights that are rounded to
        float32 do not determine directions of small eigenvalues.
        """
        if not self.kernel.linear or np.dtype(self.dtype) != np.float64:
            return None
        return Spanned(weights.T, W)


@dataclass(frozen=True)
class Weights(ABC):
    """How samples become scores, and points of the shared subspace.

    Attributes
    ----------
    intercept : (m,) array
        The score of each label at the origin.
    subspace : Map
        The map to the shared subspace, Theta.
    origin : (d,) or (n,) array
        The mean of the features of the training samples, or of their kernel values.
    """

    intercept: Floats
    subspace: Map
    origin: Floats

    @property
    def label_weights(self) -> Floats | None:
        """The weights V (k, m) of the labels in the shared subspace; None if weights are full."""
        return None

    @abstractmethod
    def scores(self, X: Any) -> Floats:
        """Return the scores (n_samples, m) of all labels."""

    def scores_by_rows(self, X: Any) -> Iterator[Floats]:
        """Yield the scores of pieces of rows, which need at most 32 MiB.

        Pieces of a linear model are smaller, so that they are still in the processor's cache when
        they are used. Each piece of another kernel computes the norms of all training samples.
        """
        width = len(self.intercept)
        if self.subspace.linear:
            rows = max(LEAST_ROWS, CACHE_NUMBERS // width)
            width = max(width, BLOCK_BYTES // (8 * rows))
        for piece in row_blocks(X.shape[0], width):
            yield self.scores(consecutive_rows(X, piece))

    @abstractmethod
    def full(self, limit: float) -> Floats:
        """Return one row (linear) or column (dual) of coefficients for each label.

        MemoryError is raised if they are not stored and need more than ``limit`` bytes.
        """

    def embed(self, X: Any) -> Floats:
        """Return the samples (n_samples, k) in the shared subspace, about the mean."""
        embedded = self.subspace.product(X) - self.subspace.image(self.origin)
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
        scores = self.labels.product(X)
        scores += self.intercept
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
        scores = self.subspace.product(X) @ self.V
        scores += self.intercept
        return scores.astype(self.intercept.dtype, copy=False)

    def full(self, limit: float) -> Floats:
        """Multiply the two factors; MemoryError is raised if the product does not fit."""
        prefix = "" if self.subspace.linear else "dual_"
        advice = f"{prefix}components_ and label_weights_ are its factors"
        self.check_size(f"{prefix}coef_ of", self.subspace.size, limit, advice)
        return self.subspace.combine(self.V)
