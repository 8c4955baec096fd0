"""The kernel: one object with a name or a function, its parameters, and kernel values.

Kernels of several bandwidths share their distances, or inner products, on some samples
(:class:`SharedKernel`).
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import (
    additive_chi2_kernel,
    euclidean_distances,
    manhattan_distances,
    pairwise_kernels,
)
from sklearn.utils.extmath import safe_sparse_dot

from eigenlabel.inputs.parameters import (
    CheckedBy,
    Choice,
    Declaration,
    Maybe,
    Number,
    OrCallable,
    ParameterValueError,
)
from eigenlabel.kernels.bandwidth import DEFAULTS, RULES
from eigenlabel.linalg._types import Floats
from eigenlabel.linalg.operators import is_sparse, row_blocks

KERNELS = (
    "linear",
    "poly",
    "rbf",
    "sigmoid",
    "cosine",
    "laplacian",
    "chi2",
    "intersection",
    "precomputed",
)
HISTOGRAMS = ("chi2", "intersection")

# What an estimator with a kernel declares; those without a callable kernel's arguments lack
# kernel_params.
KERNEL_PARAMETERS: Mapping[str, Declaration] = {
    "kernel": OrCallable(Choice(*KERNELS)),
    "gamma": Maybe(Number(0)),
    "degree": Number(0),
    "coef0": Number(),
    "kernel_params": CheckedBy("Kernel"),
}


def intersection_kernel(X: Any, Z: Any) -> Floats:
    """Return ``sum_k min(x_k, z_k)`` of all pairs of histograms, dense or sparse.

    The minimum of two numbers is half their sum minus half their distance.
    """
    for A in (X, Z):
        _check_histograms("intersection", A)
    sums = _row_sums(X)[:, None] + _row_sums(Z)
    return np.asarray((sums - manhattan_distances(X, Z)) / 2)


def _row_sums(A: Any) -> Floats:
    return np.asarray(A.sum(axis=1), dtype=float).ravel()


def _check_histograms(name: str, X: Any) -> None:
    if (X.data if is_sparse(X) else X).min(initial=0) < 0:
        raise ValueError(
            f"kernel={name!r} compares histograms and needs values >= 0; use 'rbf' or 'linear'."
        )


@dataclass(frozen=True)
class Kernel:
    """A kernel function of two matrices of samples.

    Attributes
    ----------
    name : str or callable
        One of ``KERNELS``, or a function that takes two matrices and returns the kernel matrix of
        their rows.
    gamma : float or None
        The bandwidth. None is replaced by the rule of the kernel in :meth:`settle`.
    degree : float
        The power of "poly".
    coef0 : float
        The constant of "poly" and "sigmoid".
    params : dict or None
        Keyword arguments of a callable.
    """

    name: str | Callable[..., Any]
    gamma: float | None = None
    degree: float = 3
    coef0: float = 1
    params: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.params is not None and not callable(self.name):
            raise ParameterValueError(
                "kernel_params",
                "are the keyword arguments of a callable kernel; for "
                f"kernel={self.name!r} use gamma, degree and coef0.",
            )

    @property
    def linear(self) -> bool:
        """Whether the kernel is the inner product of the features."""
        return isinstance(self.name, str) and self.name == "linear"

    @property
    def precomputed(self) -> bool:
        """Whether samples are given as rows of the kernel matrix."""
        return isinstance(self.name, str) and self.name == "precomputed"

    @property
    def has_bandwidth(self) -> bool:
        """Whether the kernel depends on gamma."""
        return isinstance(self.name, str) and self.name in DEFAULTS

    @property
    def positive_definite(self) -> bool:
        """Whether the kernel matrix of any samples is positive semi-definite."""
        if callable(self.name) or self.name in ("precomputed", "sigmoid"):
            return False
        return self.name != "poly" or (self.coef0 >= 0 and float(self.degree).is_integer())

    def settle(self, X: Any, weights: Floats | None = None) -> "Kernel":
        """Return the kernel with gamma settled by the rule of the kernel on training samples.

        Parameters
        ----------
        X : (n_samples, n_features) array or sparse matrix
            The training samples.
        weights : (n_samples,) array or None
            Sample weights: a weight of k counts like k copies of a sample.
        """
        if callable(self.name):
            return self
        if self.name in HISTOGRAMS:
            _check_histograms(self.name, X)
        if self.name == "chi2" and is_sparse(X):
            raise ValueError(
                "kernel='chi2' accepts dense features only: use 'intersection', or X.toarray()."
            )
        if self.gamma is not None or self.name not in DEFAULTS:
            return self
        return replace(self, gamma=RULES[DEFAULTS[self.name]](X, weights))

    def __call__(self, X: Any, Z: Any) -> Floats:
        """Return the kernel matrix (rows of X, rows of Z), or the kernel of two vectors.

        scikit-learn's Nystroem passes vectors to a callable.
        """
        if np.ndim(X) == 1:
            return np.asarray(self(X[None], Z[None])[0, 0])
        if callable(self.name):
            return self._call(X, Z)
        if self.name == "precomputed":
            return np.asarray(X.toarray() if is_sparse(X) else X)
        if self.name == "intersection":
            return intersection_kernel(X, Z)
        dtype = np.result_type(X.dtype, Z.dtype)
        if self.has_bandwidth:
            B = self.argument(X, Z)
            K = self.evaluate(B, X.shape[1], out=B)
        else:
            X, Z = (A.astype(float, copy=False) for A in (X, Z))
            K = pairwise_kernels(X, Z, metric=self.name)
        with np.errstate(over="ignore"):  # values() raises an error if the result is infinite
            return np.asarray(K.astype(dtype, copy=False))

    def argument(self, X: Any, Z: Any) -> Floats:
        """Return the matrix B, in float64, with ``K(X, Z) = f(gamma B)`` for every bandwidth.

        B holds distances with a negative sign for "rbf" (squared), "laplacian" and "chi2", whose f
        is the exponential function, and inner products for "poly" and "sigmoid".
        """
        # Squares of float32 values may leave their range, although the kernel values do not.
        X, Z = (A.astype(float, copy=False) for A in (X, Z))
        with np.errstate(over="ignore"):
            if self.name == "chi2":
                return np.asarray(additive_chi2_kernel(X, Z))
            if self.name in ("poly", "sigmoid"):
                return np.asarray(safe_sparse_dot(X, Z.T, dense_output=True))
            squared = self.name == "rbf"
            D = euclidean_distances(X, Z, squared=True) if squared else manhattan_distances(X, Z)
            return np.asarray(np.negative(D, out=D))

    def evaluate(self, B: Floats, n_features: int, out: Floats | None = None) -> Floats:
        """Return the kernel values ``f(gamma B)`` of the matrix that :meth:`argument` returns.

        They are written to ``out``, or to a new array if it is None. A bandwidth that is not
        settled is 1 for "chi2" and 1 / n_features for other kernels, as in scikit-learn.
        """
        gamma = self.gamma
        if gamma is None:
            gamma = 1.0 if self.name == "chi2" else 1.0 / n_features
        with np.errstate(over="ignore", invalid="ignore"):
            K = np.multiply(B, gamma, out=out)
            if self.name in ("poly", "sigmoid"):
                K += self.coef0
            if self.name == "poly":
                return np.power(K, self.degree, out=K)
            return np.tanh(K, out=K) if self.name == "sigmoid" else np.exp(K, out=K)

    def _call(self, X: Any, Z: Any) -> Floats:
        assert callable(self.name)
        K = np.asarray(self.name(X, Z, **(self.params or {})))
        if K.shape != (X.shape[0], Z.shape[0]):
            raise ValueError(
                "A callable kernel takes two matrices and returns the kernel matrix of their "
                f"rows: expected shape {(X.shape[0], Z.shape[0])}, got {K.shape}."
            )
        return K if K.dtype.kind == "f" else K.astype(float)

    def values(self, X: Any, Z: Any, where: str = "the training data") -> Floats:
        """Return the kernel matrix; raise ValueError if it contains NaN or infinity.

        ``where`` names the samples in the message.
        """
        K = self(X, Z)
        check_finite_kernel(K, self.name, where)
        return K

    def product(self, X: Any, Z: Any, C: Floats, where: str = "these samples") -> Floats:
        """Return ``K(X, Z) C``, computed by strips of rows."""
        C = C.astype(float, copy=False)  # large terms cancel: float32 would lose digits
        parts = [
            np.asarray(self.values(X[rows], Z, where), dtype=float) @ C
            for rows in row_blocks(X.shape[0], Z.shape[0])
        ]
        return np.concatenate(parts)


def check_finite_kernel(K: Floats, kernel: Any, where: str) -> None:
    """Raise ValueError if the kernel matrix contains NaN or infinity."""
    if not all(np.isfinite(K[rows]).all() for rows in row_blocks(*K.shape)):
        raise ValueError(
            f"kernel={kernel!r} returns NaN or infinity on {where}. Rescale X, or choose another "
            "gamma, degree or coef0: a fractional power needs values >= 0."
        )


def kernel_tags(tags: Any, kernel: Any) -> Any:
    """Set the tags of an estimator that depend on its parameter ``kernel``, and return them."""
    name = kernel if isinstance(kernel, str) else None
    tags.input_tags.pairwise = name == "precomputed"
    tags.input_tags.positive_only = name in HISTOGRAMS
    tags.input_tags.sparse = name != "chi2"
    return tags


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
